//! The modelled ranks: they compute, exchange messages and wait beside threads of other programs.

use super::costs::{Costs, MS, Nanos, US};
use super::knowledge::{Census, Knowledge};
use super::policy::{AWAKE_BESIDE, Granularity, LONG_WAIT, Patience, Policy};
use super::scheduler::{Action, Scheduler, State};

/// The variation of work from step to step, as a share of the work.
const JITTER: f64 = 0.02;
/// Slow yields between two checks of a rank.
const REST: u32 = 32;
/// The cost of a migration to another core.
const MOVE: Nanos = 20 * US;
/// A yield of this length has let another thread run.
const OTHERS_TURN: Nanos = US;
/// How often at least a rank that reacts to foreign load checks for it, even where its yields would
/// find only ranks that yield.
const CHECK_INTERVAL: Nanos = 100 * US;

/// A thread that computes beside the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disturber {
    /// All the time.
    Loop,
    /// Every other 5 ms.
    Pulse,
}

const PULSE: Nanos = 5 * MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Session {
    Same,
    Own,
}

/// One point: a program on a machine, and the threads beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scene {
    pub(super) cores: usize,
    pub(super) ranks: usize,
    /// Work between two waits, twice per step, in nanoseconds.
    pub(super) work: Nanos,
    pub(super) disturbers: &'static [Disturber],
    pub(super) session: Session,
    pub(super) policy: Policy,
    /// The slice that ranks request, if any.
    pub(super) slice: Option<Nanos>,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Work(Nanos),
    Send(usize),
    Receive(usize),
}

/// Operations of a rank in a step: an exchange in a ring, and twice work and an allreduce.
fn program(rank: usize, ranks: usize, work: Nanos) -> Vec<Op> {
    let mut ops = Vec::new();
    if ranks > 1 {
        ops.extend([Op::Send((rank + 1) % ranks), Op::Receive((rank + ranks - 1) % ranks)]);
    }
    for _ in 0..2 {
        ops.push(Op::Work(work));
        allreduce(rank, ranks, &mut ops);
    }
    ops
}

fn allreduce(rank: usize, ranks: usize, ops: &mut Vec<Op>) {
    let rounds = (0..).map(|bit| 1 << bit).take_while(|&bit| bit < ranks);
    if ranks.is_power_of_two() {
        let peers = rounds.map(|bit| rank ^ bit);
        return ops.extend(peers.flat_map(|peer| [Op::Send(peer), Op::Receive(peer)]));
    }
    // Up a binomial tree, and down again.
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for bit in rounds {
        if rank & bit != 0 {
            up.push(Op::Send(rank - bit));
            down.push(Op::Receive(rank - bit));
            break;
        }
        if rank + bit < ranks {
            up.push(Op::Receive(rank + bit));
            down.push(Op::Send(rank + bit));
        }
    }
    ops.extend(up.into_iter().chain(down.into_iter().rev()));
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Does something that only takes time.
    Busy,
    Sending(usize),
    Polling,
    /// Has yielded that core at that time.
    Yielded(usize, Nanos),
    /// Is about to sleep.
    Dozing,
    Asleep,
    Woken,
    Foreign(Disturber),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Begin,
    /// This many yields, each with a check, have been made for one operation.
    Turns(u32),
    /// Is about to choose how long to stay awake.
    Settle,
    Spin,
    Yields(u32),
    Rest,
}

/// The next action of a waiting rank, as far as foreign load matters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    /// It yields, as without foreign load.
    Yield,
    /// It yields for `AWAKE_BESIDE` at most: foreign threads run on other cores.
    YieldBriefly,
    /// It migrates to that core, on which no foreign thread is known.
    Go(usize),
    Sleep,
}

#[derive(Clone, Debug)]
struct Rank {
    ops: Vec<Op>,
    at: usize,
    steps: u64,
    stage: Stage,
    inbox: Vec<u32>,
    waits_for: Option<usize>,
    /// Whether a message has arrived since the rank last began to stay awake.
    has_message: bool,
    phase: Phase,
    /// When this phase began.
    since: Nanos,
    wait_policy: Patience,
    granularity: Granularity,
    /// The core that the rank has recorded, and yields until its next check.
    noted: usize,
    rest: u32,
}

pub(super) struct World {
    pub(super) scheduler: Scheduler,
    scene: Scene,
    costs: Costs,
    ranks: Vec<Rank>,
    pub(super) knowledge: Knowledge,
    /// When disturbers wake.
    alarms: Vec<(Nanos, usize)>,
    random: u64,
}

impl World {
    pub(super) fn new(scene: Scene, costs: Costs, seed: u64) -> World {
        let slice = scene.slice.unwrap_or(costs.slice);
        let mut scheduler = Scheduler::new(scene.cores, 2, costs);
        let wait_policy = scene.policy.wait_policy(scene.ranks, scene.cores);
        let foreign_group = usize::from(scene.session == Session::Own);
        let begin = Action::Compute(0);
        for place in 0..scene.disturbers.len() {
            let core = (place + seed as usize) % scene.cores;
            scheduler.spawn(foreign_group, core, costs.slice, begin);
        }
        let foreign = scene.disturbers.iter().map(|&one| Stage::Foreign(one));
        let mut threads: Vec<Rank> = Vec::new();
        for stage in foreign.chain((0..scene.ranks).map(|_| Stage::Busy)) {
            let number = threads.len().saturating_sub(scene.disturbers.len());
            let is_foreign = matches!(stage, Stage::Foreign(_));
            let noted = number % scene.cores;
            if !is_foreign {
                scheduler.spawn(0, noted, slice, begin);
            }
            threads.push(Rank {
                ops: if is_foreign { vec![] } else { program(number, scene.ranks, scene.work) },
                at: 0,
                steps: 0,
                stage,
                inbox: vec![0; scene.ranks],
                waits_for: None,
                has_message: false,
                phase: Phase::Begin,
                since: 0,
                wait_policy,
                granularity: Granularity::default(),
                noted,
                rest: 0,
            });
        }
        let knowledge = Knowledge::new(scene.cores);
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        World { scheduler, scene, costs, ranks: threads, knowledge, alarms: vec![], random }
    }

    fn now(&self) -> Nanos {
        self.scheduler.now
    }

    /// Advances the time.
    pub(super) fn run_until(&mut self, end: Nanos) {
        loop {
            let (at, task) = self.scheduler.next();
            let alarm = self.alarms.iter().map(|&(at, _)| at).min().unwrap_or(Nanos::MAX);
            if at.min(alarm) > end {
                self.scheduler.now = end;
                return;
            }
            self.scheduler.now = at.min(alarm);
            if alarm < at {
                let index = self.alarms.iter().position(|one| one.0 == alarm).expect("it is there");
                let (_, task) = self.alarms.swap_remove(index);
                self.scheduler.tasks[task].action = Action::Spin(alarm + PULSE);
                self.scheduler.wake(task, None);
            } else if let Some(task) = task {
                self.advance(task);
            } else {
                self.scheduler.tick();
            }
        }
    }

    /// Steps that all ranks have completed, on average.
    pub(super) fn steps(&self) -> f64 {
        let ranks = self.ranks[self.first_rank()..].iter();
        let steps = ranks.map(|rank| rank.steps as f64 + rank.at as f64 / rank.ops.len() as f64);
        steps.sum::<f64>() / self.scene.ranks as f64
    }

    fn first_rank(&self) -> usize {
        self.scene.disturbers.len()
    }

    fn census(&self) -> Census {
        let ranks = &self.ranks[self.first_rank()..];
        let awake = ranks.iter().filter(|rank| rank.stage != Stage::Asleep).count();
        Census { ready: self.scheduler.runnable(), awake }
    }

    /// The next action of a thread whose action has ended.
    fn advance(&mut self, id: usize) {
        match self.ranks[id].stage {
            Stage::Foreign(Disturber::Loop) => {
                self.scheduler.act(id, Action::Compute(Nanos::MAX / 2));
            }
            Stage::Foreign(Disturber::Pulse) => {
                self.alarms.push((self.now() + PULSE, id));
                self.scheduler.sleep(id);
            }
            Stage::Busy => self.next_op(id),
            Stage::Sending(to) => {
                if self.deliver(id, to) {
                    self.ranks[id].stage = Stage::Busy;
                    self.scheduler.act(id, Action::Compute(self.costs.futex / 2));
                } else {
                    self.next_op(id);
                }
            }
            Stage::Polling => self.poll_again(id),
            Stage::Yielded(core, at) => {
                if !self.parts_after_yield(id, core, at) {
                    self.poll_again(id);
                }
            }
            Stage::Dozing => {
                if self.scheduler.tasks[id].found || self.ranks[id].has_message {
                    self.woken(id);
                } else {
                    self.ranks[id].stage = Stage::Asleep;
                    self.scheduler.tasks[id].action = Action::Compute(self.costs.futex / 2);
                    self.scheduler.sleep(id);
                }
            }
            Stage::Asleep | Stage::Woken => {
                self.ranks[id].stage = Stage::Woken;
                let core = self.scheduler.tasks[id].core;
                self.knowledge.note_rank(core, self.now());
                self.woken(id);
            }
        }
    }

    fn next_op(&mut self, id: usize) {
        let first_rank = self.first_rank();
        let rank = &mut self.ranks[id];
        if rank.at == rank.ops.len() {
            (rank.at, rank.steps) = (0, rank.steps + 1);
        }
        let op = rank.ops[rank.at];
        rank.at += 1;
        rank.stage = Stage::Busy;
        let takes = match op {
            Op::Work(work) => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                let part = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
                (work as f64 * self.costs.work * (1.0 + JITTER * (2.0 * part - 1.0))) as Nanos
            }
            Op::Send(to) => {
                rank.stage = Stage::Sending(first_rank + to);
                self.costs.message
            }
            Op::Receive(from) => {
                rank.waits_for = Some(from);
                (rank.phase, rank.has_message) = (Phase::Begin, false);
                if rank.inbox[from] > 0 {
                    return self.take(id);
                }
                self.scheduler.tasks[id].found = false;
                return self.poll_for(id, self.ranks[id].wait_policy.first_poll);
            }
        };
        self.scheduler.act(id, Action::Compute(takes));
    }

    /// Takes the message for which the rank has waited.
    fn take(&mut self, id: usize) {
        let (now, census) = (self.now(), self.census());
        let rank = &mut self.ranks[id];
        let has_waited = rank.phase != Phase::Begin;
        if has_waited
            && rank.wait_policy.parks_when_contended
            && self.knowledge.is_contended(now, census)
        {
            rank.granularity.wait_ends(now);
        }
        let from = rank.waits_for.take().expect("it waits");
        rank.inbox[from] -= 1;
        rank.stage = Stage::Busy;
        self.scheduler.act(id, Action::Compute(self.costs.message));
    }

    /// Delivers a message. Returns whether a sleeping rank has been woken.
    fn deliver(&mut self, from: usize, to: usize) -> bool {
        let first_rank = self.first_rank();
        let from = from - first_rank;
        let rank = &mut self.ranks[to];
        rank.inbox[from] += 1;
        rank.has_message = true;
        let task = &mut self.scheduler.tasks[to];
        if rank.waits_for == Some(from) {
            task.found = true;
            self.scheduler.end_spin(to, self.costs.poll);
        }
        let task = &self.scheduler.tasks[to];
        if rank.stage == Stage::Asleep && task.state == State::Asleep {
            rank.stage = Stage::Woken;
            self.scheduler.wake(to, Some(from + first_rank));
            return true;
        }
        if task.state == State::Ready && task.found {
            self.scheduler.disturb(task.core);
        }
        false
    }

    fn poll_for(&mut self, id: usize, time: Nanos) {
        self.ranks[id].stage = Stage::Polling;
        self.scheduler.act(id, Action::Spin(self.now() + time));
    }

    /// Checks, and continues to wait if there is no message.
    fn poll_again(&mut self, id: usize) {
        if self.scheduler.tasks[id].found { self.take(id) } else { self.wait_on(id) }
    }

    fn woken(&mut self, id: usize) {
        if self.scheduler.tasks[id].found {
            return self.take(id);
        }
        if std::mem::take(&mut self.ranks[id].has_message) {
            self.ranks[id].phase = Phase::Settle;
        }
        self.wait_on(id);
    }

    /// The best action, as far as the rank knows of foreign load.
    fn choose(&mut self, id: usize) -> Choice {
        let (now, census) = (self.now(), self.census());
        let core = self.scheduler.tasks[id].core;
        let Rank { wait_policy, granularity, .. } = &mut self.ranks[id];
        if !wait_policy.parks_when_contended || !self.knowledge.is_contended(now, census) {
            return Choice::Yield;
        }
        if wait_policy.has_core {
            return Choice::Sleep;
        }
        granularity.wait_begins(now);
        if !granularity.is_fine() {
            return Choice::Sleep;
        }
        if !self.knowledge.is_contended_on(core, now, census) {
            return Choice::YieldBriefly;
        }
        let free = self.knowledge.free_core(id - self.first_rank(), now);
        free.map_or(Choice::Sleep, Choice::Go)
    }

    /// Begins to stay awake, under the present conditions.
    fn settle(&mut self, id: usize, choice: Choice) {
        let mut wait_policy = self.scene.policy.wait_policy(self.scene.ranks, self.scene.cores);
        match choice {
            Choice::Yield | Choice::Go(_) => {}
            Choice::YieldBriefly => wait_policy = wait_policy.beside(),
            Choice::Sleep => wait_policy = wait_policy.asleep(),
        }
        let now = self.now();
        let rank = &mut self.ranks[id];
        (rank.wait_policy, rank.since, rank.has_message) = (wait_policy, now, false);
        rank.phase = match (wait_policy.spin, wait_policy.yields) {
            (0, 0) => Phase::Rest,
            (0, _) => Phase::Yields(0),
            _ => Phase::Spin,
        };
    }

    /// The next action of a rank that has checked and found nothing.
    fn wait_on(&mut self, id: usize) {
        let now = self.now();
        loop {
            let Rank { phase, wait_policy, since, stage, .. } = self.ranks[id];
            match phase {
                Phase::Begin => self.ranks[id].phase = Phase::Turns(0),
                Phase::Turns(turns) if turns < wait_policy.turns => match self.choose(id) {
                    Choice::Go(core) => return self.go(id, core),
                    Choice::Sleep => self.ranks[id].phase = Phase::Settle,
                    Choice::Yield | Choice::YieldBriefly => {
                        self.ranks[id].phase = Phase::Turns(turns + 1);
                        return self.yield_core(id, Nanos::MAX);
                    }
                },
                Phase::Turns(_) => self.ranks[id].phase = Phase::Settle,
                Phase::Settle => match self.choose(id) {
                    Choice::Go(core) => return self.go(id, core),
                    choice => self.settle(id, choice),
                },
                Phase::Spin if now - since >= wait_policy.spin => {
                    self.ranks[id].since = now;
                    self.ranks[id].phase =
                        if wait_policy.yields > 0 { Phase::Yields(0) } else { Phase::Rest };
                }
                Phase::Spin if now - since < wait_policy.spin_before_yield => {
                    return self.poll_for(id, wait_policy.spin_before_yield - (now - since));
                }
                Phase::Spin if matches!(stage, Stage::Yielded(..)) => {
                    return self.poll_for(id, wait_policy.burst);
                }
                Phase::Spin => return self.yield_core(id, since + wait_policy.spin),
                Phase::Yields(yields) => {
                    let waited = now - since;
                    let choice = if yields > 0 {
                        self.choose_after_yield(id, waited)
                    } else {
                        Choice::Yield
                    };
                    let is_to_stay = yields < wait_policy.yields || waited < wait_policy.awake;
                    match choice {
                        Choice::Go(core) => return self.go(id, core),
                        Choice::Yield | Choice::YieldBriefly if is_to_stay => {
                            self.ranks[id].phase = Phase::Yields(yields + 1);
                            return self.yield_core(id, now + CHECK_INTERVAL);
                        }
                        _ => self.ranks[id].phase = Phase::Rest,
                    }
                }
                Phase::Rest if wait_policy.parks => {
                    (self.ranks[id].stage, self.ranks[id].has_message) = (Stage::Dozing, false);
                    return self.scheduler.act(id, Action::Compute(self.costs.futex / 2));
                }
                Phase::Rest => self.ranks[id].phase = Phase::Settle,
            }
        }
    }

    /// The action after a yield of a rank that has waited for `waited`.
    fn choose_after_yield(&mut self, id: usize, waited: Nanos) -> Choice {
        if !self.ranks[id].wait_policy.parks_when_contended {
            return Choice::Yield;
        }
        if waited >= LONG_WAIT {
            self.knowledge.note_long_wait(self.now(), waited, self.census());
        }
        match self.choose(id) {
            Choice::YieldBriefly if waited >= AWAKE_BESIDE => Choice::Sleep,
            choice => choice,
        }
    }

    /// Migrates to another core, and records it for the other ranks.
    fn go(&mut self, id: usize, core: usize) {
        (self.ranks[id].noted, self.ranks[id].stage) = (core, Stage::Polling);
        self.scheduler.act(id, Action::Compute(MOVE));
        self.scheduler.go_to(id, core);
    }

    /// Yields. Where all runnable threads of the core would yield, too, the rank spins for all of
    /// them until then.
    fn yield_core(&mut self, id: usize, until: Nanos) {
        let now = self.now();
        let is_idle = |other: usize| {
            let rank = &self.ranks[other];
            matches!(rank.stage, Stage::Yielded(..) | Stage::Polling)
                && matches!(rank.phase, Phase::Spin | Phase::Yields(_))
                && !self.scheduler.tasks[other].found
        };
        let is_alone = self.scheduler.beside(id).all(is_idle);
        if until < Nanos::MAX && until > now && is_alone && self.scheduler.group_keeps_core(id) {
            self.knowledge.note_rank(self.scheduler.tasks[id].core, now);
            self.ranks[id].stage = Stage::Polling;
            let until = if self.ranks[id].wait_policy.parks_when_contended {
                until.min(now + CHECK_INTERVAL)
            } else {
                until
            };
            return self.scheduler.poll_for_all(id, until);
        }
        self.ranks[id].stage = Stage::Yielded(self.scheduler.tasks[id].core, now);
        self.scheduler.act(id, Action::Compute(self.costs.yield_alone));
        self.scheduler.yield_core(id);
    }

    /// Ends a yield of a core. The system may have moved the rank meanwhile. Returns whether the
    /// rank migrates to its home core now, since too many ranks are on this one.
    fn parts_after_yield(&mut self, id: usize, core: usize, at: Nanos) -> bool {
        let (now, census) = (self.now(), self.census());
        if now - at < OTHERS_TURN {
            return false;
        }
        self.knowledge.note_turn(core, now, now - at, census);
        if self.knowledge.is_contended(now, census) {
            return false;
        }
        let core = self.scheduler.tasks[id].core;
        let rank = &mut self.ranks[id];
        if rank.rest > 0 {
            rank.rest -= 1;
            return false;
        }
        (rank.rest, rank.noted) = (REST, core);
        let own = (id - self.first_rank()) % self.scene.cores;
        let share = self.scene.ranks.div_ceil(self.scene.cores);
        let here = self.ranks[self.first_rank()..].iter().filter(|rank| rank.noted == core);
        let parts = here.count() > share && own != core;
        if parts {
            self.go(id, own);
        }
        parts
    }
}
