//! The modelled scheduler: cores, groups of threads, virtual run time and slices.
//!
//! Each core has a queue of groups, and each group has a queue of its threads on that core. On both
//! levels the entity with the earliest deadline runs among those that have had no more than their
//! share (`v` at most the average). It is protected until the shortest slice in its queue is used
//! up. Only ticks, wake-ups and yields check whether another entity should run.

use super::costs::{Costs, MS, Nanos, US};

/// Ticks of all cores happen at the same time.
const TICK: Nanos = 4 * MS;
/// A busy core compares its load with other cores once per this number of ticks.
const TICKS_PER_BALANCE: u64 = 8;
/// The share of its load that a sleeping thread keeps after one tick: half of it after 32 ms.
const KEPT_PER_TICK: f64 = 0.917;
/// A thread that has run within this time is not moved to a core that becomes idle.
const HOT: Nanos = 500 * US;
/// A balance does not move it either, before this number of balances have failed.
const TRIES_IF_HOT: i32 = 1;
/// Loads whose ratio is below this are equal.
const IMBALANCE: f64 = 1.17;
const WAKE_IMBALANCE: f64 = 1.08;
/// The least weight of a group on a core.
const LEAST_WEIGHT: f64 = 0.002;

/// An entry of a queue: a thread in its group, or a group on its core. Times are nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Entity {
    v: f64,
    deadline: f64,
    slice: f64,
    weight: f64,
    protected: f64,
    /// How much it had too little when it left its queue, the average at that time, and the number
    /// of the period between two idle times.
    lag: f64,
    average: f64,
    period: u64,
}

impl Entity {
    fn new(slice: Nanos) -> Entity {
        let slice = slice as f64;
        Entity { deadline: slice, slice, weight: 1.0, ..Entity::default() }
    }

    /// Charges run time. Returns whether the entity has a new deadline.
    fn charge(&mut self, ran: Nanos) -> bool {
        self.v += ran as f64 / self.weight;
        let is_over = self.v >= self.deadline;
        if is_over {
            self.deadline = self.v + self.slice / self.weight;
        }
        is_over
    }

    fn leave(&mut self, average: f64, period: u64) {
        let limit = (2.0 * self.slice).max(TICK as f64) / self.weight;
        self.lag = (average - self.v).clamp(-limit, limit);
        (self.average, self.period) = (average, period);
    }

    /// Enters a queue with this average and weight. An entity that had too much stays in the queue
    /// of the kernel until others have had as much, so that it loses nothing more.
    fn enter(&mut self, average: f64, weight: f64, period: u64) {
        if self.lag < 0.0 {
            let passed = (average - self.average).max(0.0);
            self.lag = if period == self.period { (self.lag + passed).min(0.0) } else { 0.0 };
        }
        let inflated = if weight > 0.0 { self.lag * (weight + self.weight) / weight } else { 0.0 };
        self.v = average - inflated;
        self.deadline = self.v + self.slice / self.weight;
    }
}

/// The action of a thread while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It computes for this time.
    Compute(Nanos),
    /// It spins until this time.
    Spin(Nanos),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Ready,
    Asleep,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) group: usize,
    pub(super) core: usize,
    pub(super) state: State,
    pub(super) action: Action,
    /// When its action ends, if it runs until then.
    pub(super) end: Nanos,
    /// Whether its condition holds.
    pub(super) found: bool,
    /// Whether it spins in place of all threads of its core, which would yield to each other.
    pub(super) for_all: bool,
    /// How long it has run.
    pub(super) ran: Nanos,
    last_ran: Nanos,
    entity: Entity,
    load: f64,
    /// Its part of the weight of its group, as of the last tick.
    share: f64,
    ready_since: Nanos,
    ready_for: Nanos,
}

#[derive(Clone, Debug)]
struct Core {
    current: Option<usize>,
    since: Nanos,
    /// Groups with threads on this core, and those threads.
    present: Vec<usize>,
    members: Vec<Vec<usize>>,
    groups: Vec<Entity>,
    /// The averages of the queues when they were last not empty: of groups, and of each group.
    root_average: f64,
    averages: Vec<f64>,
    /// How often it has been idle.
    period: u64,
    failed_balances: i32,
    /// The sum of the shares of its threads.
    load: f64,
    idle: Nanos,
}

impl Core {
    fn ready(&self) -> usize {
        self.present.iter().map(|&group| self.members[group].len()).sum()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protection {
    Kept,
    Lifted,
}

fn average<'a>(entities: impl Iterator<Item = &'a Entity>) -> (f64, f64) {
    let sums = entities.fold((0.0, 0.0), |(v, w), one| (v + one.v * one.weight, w + one.weight));
    (sums.0 / sums.1, sums.1)
}

/// The entity of a queue that should run.
fn pick<'a>(
    ids: &[usize],
    entity: impl Fn(usize) -> &'a Entity,
    current: Option<usize>,
    protection: Protection,
) -> usize {
    if let [only] = ids {
        return *only;
    }
    let (average, _) = average(ids.iter().map(|&id| entity(id)));
    let is_eligible = |id: usize| entity(id).v <= average + 1e-3;
    let is_protected = |id: usize| entity(id).v < entity(id).protected;
    if let Some(current) = current
        && protection == Protection::Kept
        && is_eligible(current)
        && is_protected(current)
    {
        return current;
    }
    let eligible = ids.iter().copied().filter(|&id| is_eligible(id));
    let first = eligible.min_by(|&a, &b| entity(a).deadline.total_cmp(&entity(b).deadline));
    first.expect("one is not above the average")
}

#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    pub(super) now: Nanos,
    pub(super) tasks: Vec<Task>,
    cores: Vec<Core>,
    next_tick: Nanos,
    ticks: u64,
    costs: Costs,
}

impl Scheduler {
    pub(super) fn new(cores: usize, groups: usize, costs: Costs) -> Scheduler {
        let core = Core {
            current: None,
            since: 0,
            present: Vec::new(),
            members: vec![Vec::new(); groups],
            groups: vec![Entity::new(costs.slice); groups],
            root_average: 0.0,
            averages: vec![0.0; groups],
            period: 0,
            failed_balances: 0,
            load: 0.0,
            idle: 0,
        };
        let cores = vec![core; cores];
        Scheduler { now: 0, tasks: Vec::new(), cores, next_tick: TICK, ticks: 0, costs }
    }

    /// Starts a thread on a core.
    pub(super) fn spawn(
        &mut self,
        group: usize,
        core: usize,
        slice: Nanos,
        action: Action,
    ) -> usize {
        let task = Task {
            group,
            core,
            state: State::Asleep,
            action,
            end: 0,
            found: false,
            for_all: false,
            ran: 0,
            last_ran: 0,
            entity: Entity::new(slice),
            load: 1.0,
            share: 0.0,
            ready_since: 0,
            ready_for: 0,
        };
        self.tasks.push(task);
        let id = self.tasks.len() - 1;
        self.wake_on(id, core);
        id
    }

    pub(super) fn cores(&self) -> usize {
        self.cores.len()
    }

    pub(super) fn idle(&self) -> Nanos {
        let now = self.now;
        let idle =
            |core: &Core| core.idle + if core.current.is_none() { now - core.since } else { 0 };
        self.cores.iter().map(idle).sum()
    }

    /// How long current threads have run since their last charge.
    pub(super) fn unaccounted(&self) -> Nanos {
        let busy = self.cores.iter().filter(|core| core.current.is_some());
        busy.map(|core| self.now - core.since).sum()
    }

    /// Runnable threads.
    pub(super) fn runnable(&self) -> usize {
        self.cores.iter().map(Core::ready).sum()
    }

    /// When the next event happens, and the thread whose action ends then, if the event is no tick.
    pub(super) fn next(&self) -> (Nanos, Option<usize>) {
        let current = self.cores.iter().filter_map(|core| core.current);
        let ends = current.map(|task| (self.tasks[task].end, Some(task)));
        let first = ends.min_by_key(|&(end, _)| end).unwrap_or((Nanos::MAX, None));
        if self.next_tick < first.0 { (self.next_tick, None) } else { first }
    }

    pub(super) fn act(&mut self, task: usize, action: Action) {
        (self.tasks[task].action, self.tasks[task].for_all) = (action, false);
        self.set_end(task, 0);
    }

    /// A thread spins while the others of its group on its core would only yield to it, as far as
    /// other groups permit that.
    pub(super) fn poll_for_all(&mut self, task: usize, until: Nanos) {
        let (core, group) = (self.tasks[task].core, self.tasks[task].group);
        self.account(core);
        let until = until.min(self.now.saturating_add(self.left_to_group(core, group)));
        self.act(task, Action::Spin(until));
        self.tasks[task].for_all = true;
    }

    /// The other threads of the group of a thread on its core.
    pub(super) fn beside(&self, task: usize) -> impl Iterator<Item = usize> {
        let members = &self.cores[self.tasks[task].core].members[self.tasks[task].group];
        members.iter().copied().filter(move |&other| other != task)
    }

    /// How long the group of the running thread keeps a core, whichever of its threads yield: until
    /// the group has had its share, or its slice is over.
    fn left_to_group(&self, at: usize, group: usize) -> Nanos {
        let core = &self.cores[at];
        if core.present.len() == 1 {
            return Nanos::MAX;
        }
        let others = core.present.iter().filter(|&&other| other != group);
        let (average, _) = average(others.map(|&other| &core.groups[other]));
        let entity = core.groups[group];
        ((entity.protected.min(average) - entity.v) * entity.weight).max(0.0) as Nanos
    }

    /// Whether the group of a running thread has its core to itself, or for longer.
    pub(super) fn group_keeps_core(&self, task: usize) -> bool {
        let (core, group) = (self.tasks[task].core, self.tasks[task].group);
        self.left_to_group(core, group) > self.now - self.cores[core].since + US
    }

    /// The condition of a thread holds, or another thread needs its core.
    pub(super) fn end_spin(&mut self, task: usize, after: Nanos) {
        let (now, task) = (self.now, &mut self.tasks[task]);
        if task.state == State::Running && matches!(task.action, Action::Spin(_)) {
            task.end = task.end.min(now + after);
        }
    }

    /// Ends the spinning of a thread that spins for all on this core.
    pub(super) fn disturb(&mut self, core: usize) {
        if let Some(current) = self.cores[core].current
            && self.tasks[current].for_all
        {
            self.end_spin(current, self.costs.yield_alone);
        }
    }

    fn set_end(&mut self, task: usize, overhead: Nanos) {
        let (begun, poll) = (self.now + overhead, self.costs.poll);
        let task = &mut self.tasks[task];
        task.end = match task.action {
            Action::Compute(left) => begun.saturating_add(left),
            Action::Spin(_) if task.found => begun + poll,
            Action::Spin(until) => until.max(begun),
        };
    }

    /// Charges the run time since the last charge. Returns whether another thread may have to run.
    fn account(&mut self, at: usize) -> bool {
        let core = &mut self.cores[at];
        let ran = self.now - core.since;
        core.since = self.now;
        let Some(current) = core.current else {
            core.idle += ran;
            return false;
        };
        let task = &mut self.tasks[current];
        (task.ran, task.last_ran) = (task.ran + ran, self.now);
        // Threads that yield to each other all advance alike.
        let is_over = !task.for_all && task.entity.charge(ran);
        let is_alone = core.members[task.group].len() == 1;
        let entity = &task.entity;
        let inside = !is_alone && (is_over || entity.v >= entity.protected);
        let group = &mut core.groups[task.group];
        let is_over = group.charge(ran);
        inside || (core.present.len() > 1 && (is_over || group.v >= group.protected))
    }

    fn pick_task(&self, at: usize) -> Option<usize> {
        let core = &self.cores[at];
        if core.present.is_empty() {
            return None;
        }
        let current = core.current.filter(|&task| self.tasks[task].state == State::Running);
        let group = current.map(|task| self.tasks[task].group);
        let chosen = pick(&core.present, |one| &core.groups[one], group, Protection::Kept);
        let current = current.filter(|_| group == Some(chosen));
        let members = &core.members[chosen];
        Some(pick(members, |one| &self.tasks[one].entity, current, Protection::Kept))
    }

    /// Lets the next thread run. The run time of the last one has been charged.
    fn schedule(&mut self, at: usize) {
        let next = self.pick_task(at);
        let current = self.cores[at].current;
        if next == current {
            return;
        }
        if let Some(current) = current.filter(|&task| self.tasks[task].state == State::Running) {
            let (now, task) = (self.now, &mut self.tasks[current]);
            task.state = State::Ready;
            match task.action {
                Action::Compute(_) => task.action = Action::Compute(task.end.saturating_sub(now)),
                Action::Spin(_) if task.for_all => task.action = Action::Spin(0),
                Action::Spin(_) => {}
            }
            task.for_all = false;
        }
        let Some(next) = next else {
            self.cores[at].current = None;
            self.cores[at].period += 1;
            return self.pull(at, HOT);
        };
        let overhead = if current.is_none() { self.costs.idle_wake } else { self.costs.switch };
        self.set_running(at, next);
        self.set_end(next, overhead);
    }

    fn set_running(&mut self, at: usize, next: usize) {
        let core = &mut self.cores[at];
        let group = self.tasks[next].group;
        let is_other_group = core.current.is_none_or(|task| self.tasks[task].group != group);
        core.current = Some(next);
        core.since = self.now;
        if is_other_group {
            let slices = core.present.iter().map(|&one| core.groups[one].slice);
            let shortest = slices.fold(f64::MAX, f64::min);
            let group = &mut core.groups[group];
            group.protected = group.deadline.min(group.v + shortest / group.weight);
        }
        let slices = core.members[group].iter().map(|&one| self.tasks[one].entity.slice);
        let shortest = slices.fold(f64::MAX, f64::min);
        let task = &mut self.tasks[next];
        task.state = State::Running;
        task.entity.protected = task.entity.deadline.min(task.entity.v + shortest);
    }

    /// `sched_yield`: forfeits the rest of the slice if the thread has had no more than its share.
    pub(super) fn yield_core(&mut self, task: usize) {
        let (at, group) = (self.tasks[task].core, self.tasks[task].group);
        if self.cores[at].ready() == 1 {
            return;
        }
        self.account(at);
        let members = &self.cores[at].members[group];
        let (average, _) = average(members.iter().map(|&one| &self.tasks[one].entity));
        let entity = &mut self.tasks[task].entity;
        if entity.v <= average + 1e-3 {
            entity.v = entity.deadline;
            entity.deadline += entity.slice;
        }
        self.schedule(at);
    }

    /// The thread leaves its core until another thread wakes it.
    pub(super) fn sleep(&mut self, task: usize) {
        let at = self.tasks[task].core;
        self.account(at);
        self.tasks[task].state = State::Asleep;
        self.remove(task);
        self.schedule(at);
    }

    fn remove(&mut self, id: usize) {
        let (core, now) = (&mut self.cores[self.tasks[id].core], self.now);
        let group = self.tasks[id].group;
        let (average_inside, _) =
            average(core.members[group].iter().map(|&one| &self.tasks[one].entity));
        core.averages[group] = average_inside;
        let task = &mut self.tasks[id];
        task.entity.leave(average_inside, core.period);
        task.ready_for += now - task.ready_since;
        core.members[group].retain(|&one| one != id);
        if core.members[group].is_empty() {
            let (root, _) = average(core.present.iter().map(|&one| &core.groups[one]));
            core.root_average = root;
            core.groups[group].leave(root, core.period);
            core.present.retain(|&one| one != group);
        }
        self.weigh(self.tasks[id].core, group);
    }

    /// Wakes a thread: on an idle core if there is one, else on the core of the waking thread or on
    /// its former core, the one with less load.
    pub(super) fn wake(&mut self, task: usize, by: Option<usize>) {
        let before = self.tasks[task].core;
        let is_idle = |core: &usize| self.cores[*core].current.is_none();
        let idle = Some(before).filter(is_idle).or_else(|| (0..self.cores()).find(is_idle));
        let core = idle.unwrap_or_else(|| {
            let other = by.map_or(before, |by| self.tasks[by].core);
            let load = self.tasks[task].share;
            let [here, there] = [before, other].map(|core| self.cores[core].load);
            if there + load < (here - load) * WAKE_IMBALANCE { other } else { before }
        });
        self.wake_on(task, core);
    }

    fn wake_on(&mut self, task: usize, at: usize) {
        let is_to_schedule = self.account(at);
        self.add(task, at);
        if is_to_schedule || self.preempts(task, at) {
            self.schedule(at);
        }
        self.disturb(at);
    }

    fn add(&mut self, id: usize, at: usize) {
        let core = &mut self.cores[at];
        let (task, now) = (&mut self.tasks[id], self.now);
        let group = task.group;
        (task.core, task.state, task.ready_since) = (at, State::Ready, now);
        let (inside, weight) = if core.members[group].is_empty() {
            (core.averages[group], 0.0)
        } else {
            average(core.members[group].iter().map(|&one| &self.tasks[one].entity))
        };
        self.tasks[id].entity.enter(inside, weight, core.period);
        core.members[group].push(id);
        let is_new = core.members[group].len() == 1;
        self.weigh(at, group);
        let core = &mut self.cores[at];
        if is_new {
            let (root, weight) = if core.present.is_empty() {
                (core.root_average, 0.0)
            } else {
                average(core.present.iter().map(|&one| &core.groups[one]))
            };
            core.groups[group].enter(root, weight, core.period);
            core.present.push(group);
        }
    }

    /// The weight of a group is that of one thread, divided among cores by the load there.
    fn weigh(&mut self, at: usize, group: usize) {
        let mut loads = [0.0, 0.0];
        for task in self.tasks.iter().filter(|task| task.group == group) {
            loads[usize::from(task.core != at)] += task.load;
        }
        let members = &self.cores[at].members[group];
        let here = loads[0].max(members.len() as f64);
        let slices = members.iter().map(|&one| self.tasks[one].entity.slice);
        let shortest = slices.fold(f64::MAX, f64::min);
        let entity = &mut self.cores[at].groups[group];
        let weight = (here / (here + loads[1]).max(1e-9)).max(LEAST_WEIGHT);
        // The rest of its slice stays the same.
        let ratio = entity.weight / weight;
        entity.deadline = entity.v + (entity.deadline - entity.v) * ratio;
        entity.protected = entity.v + (entity.protected - entity.v) * ratio;
        entity.weight = weight;
        if shortest < f64::MAX {
            entity.slice = shortest;
        }
    }

    /// Whether a thread that has just been woken runs at once.
    fn preempts(&self, woken: usize, at: usize) -> bool {
        let core = &self.cores[at];
        let Some(current) = core.current else { return true };
        let [own, theirs] = [woken, current].map(|task| self.tasks[task].group);
        let protection = |own: &Entity, theirs: &Entity| {
            if own.slice < theirs.slice { Protection::Lifted } else { Protection::Kept }
        };
        if own != theirs {
            let protection = protection(&core.groups[own], &core.groups[theirs]);
            return pick(&core.present, |one| &core.groups[one], Some(theirs), protection) == own;
        }
        let entity = |one: usize| &self.tasks[one].entity;
        let protection = protection(entity(woken), entity(current));
        pick(&core.members[own], entity, Some(current), protection) == woken
    }

    /// The actions of a tick.
    pub(super) fn tick(&mut self) {
        (self.next_tick, self.ticks) = (self.next_tick + TICK, self.ticks + 1);
        let now = self.now;
        for task in &mut self.tasks {
            if task.state != State::Asleep {
                task.ready_for += now - task.ready_since;
                task.ready_since = now;
            }
            let share = task.ready_for as f64 / TICK as f64;
            task.load = task.load * KEPT_PER_TICK + share * (1.0 - KEPT_PER_TICK);
            task.ready_for = 0;
        }
        self.share_out();
        for core in 0..self.cores() {
            for group in 0..self.cores[core].groups.len() {
                self.weigh(core, group);
            }
            if self.account(core) {
                self.schedule(core);
            }
            if self.cores[core].current.is_none() {
                self.pull(core, 0);
            } else if (self.ticks + core as u64).is_multiple_of(TICKS_PER_BALANCE) {
                self.balance(core);
            }
        }
    }

    /// A core without work takes a thread that waits on another core and has not run for `cold`.
    fn pull(&mut self, to: usize, cold: Nanos) {
        let from = (0..self.cores()).max_by_key(|&core| self.cores[core].ready());
        let Some(from) = from.filter(|&core| self.cores[core].ready() > 1) else { return };
        let members = self.cores[from].members.iter().flatten().copied();
        let is_cold = |&one: &usize| self.now - self.tasks[one].last_ran >= cold;
        let mut waiting = members.filter(|one| self.cores[from].current != Some(*one));
        if let Some(task) = waiting.find(is_cold) {
            self.go_to(task, to);
        }
    }

    /// Moves a runnable thread, or a running one, to another core.
    pub(super) fn go_to(&mut self, task: usize, to: usize) {
        let from = self.tasks[task].core;
        let is_running = self.cores[from].current == Some(task);
        self.account(from);
        if is_running && let Action::Compute(_) = self.tasks[task].action {
            let left = self.tasks[task].end.saturating_sub(self.now);
            self.tasks[task].action = Action::Compute(left);
        }
        self.tasks[task].state = State::Asleep;
        self.remove(task);
        if is_running {
            self.schedule(from);
        }
        self.wake_on(task, to);
    }

    /// The contribution of each thread to the load of its core: its part of the weight of its
    /// group.
    fn share_out(&mut self) {
        for group in 0..self.cores[0].groups.len() {
            let members = || self.tasks.iter().filter(|one| one.group == group);
            let all = members().map(|one| one.load).sum::<f64>().max(1e-9);
            let members = self.tasks.iter_mut().filter(|one| one.group == group);
            members.for_each(|one| one.share = one.load / all);
        }
        for (at, core) in self.cores.iter_mut().enumerate() {
            core.load = self.tasks.iter().filter(|one| one.core == at).map(|one| one.share).sum();
        }
    }

    /// A core takes waiting threads from the core with the most load, until both loads are equal.
    /// The more balances fail, the larger the threads may be.
    fn balance(&mut self, to: usize) {
        let loads: Vec<f64> = self.cores.iter().map(|core| core.load).collect();
        let from = (0..self.cores()).max_by(|&a, &b| loads[a].total_cmp(&loads[b]));
        let from = from.expect("there are cores");
        if loads[from] <= loads[to] * IMBALANCE || self.cores[from].ready() < 2 {
            self.cores[to].failed_balances = 0;
            return;
        }
        let mut left = (loads[from] - loads[to]) / 2.0;
        let halvings = f64::from(1 << self.cores[to].failed_balances.min(10));
        let mut moved = Vec::new();
        for task in self.cores[from].members.iter().flatten().copied() {
            let share = self.tasks[task].share;
            let is_hot = self.now - self.tasks[task].last_ran < HOT;
            if is_hot && self.cores[to].failed_balances <= TRIES_IF_HOT {
                continue;
            }
            if left > 0.0 && self.cores[from].current != Some(task) && share / halvings <= left {
                moved.push(task);
                left -= share;
            }
        }
        let failed = &mut self.cores[to].failed_balances;
        *failed = if moved.is_empty() { *failed + 1 } else { 0 };
        for task in moved {
            self.go_to(task, to);
        }
        self.share_out();
    }
}
