//! Plans that were made before, and runs that are idle.
//!
//! All of this is the rank's own affair: whether it finds a plan here has no influence on which
//! algorithm is taken, so ranks need not find the same. What is learned, and does have that
//! influence, is kept elsewhere ([`crate::comm::learned`]).

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use motet_fabric::TrafficHint;
use motet_plan::plan::PlanParts;
use motet_plan::select::Reason;
use motet_plan::{
    Action, Algorithm, Call, Choice, Operation, Plan, Rank, Slice, StepId, Tuning, select,
};

use super::quick_hash::Quick;
use super::{Closing, Execution};
use crate::base::error::ErrorKind;
use crate::base::hints::Keep;

/// By which rule the algorithm of a call is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// For this machine, by names, wisdom and prices.
    #[default]
    Tuned,
    /// By the call alone, so that a reduction has the same bits wherever it runs.
    Fixed,
    /// There is nothing to choose: this rank takes no part in the call.
    Nothing,
    /// As tuned, for an operation that goes on while its rank computes.
    Overlapping,
    /// With few messages: a barrier in logarithmically many rounds of one message each.
    Few,
    /// Of a call that the library makes itself: by prices. Names and wisdom are for the user's.
    OfLibrary,
}

type Row = &'static dyn Algorithm;

impl Selection {
    /// How many there are.
    const ALL: usize = 6;
}

/// What decides on the algorithm of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    By(Selection),
    /// It was learned, unless others are asked for by name.
    Learned(&'static dyn Algorithm),
}

/// Where the plan of a run was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheHit {
    /// Nowhere: it was made.
    Nowhere,
    /// Among those that were made before.
    Here,
    /// Among those that an init asked to keep.
    Retained,
}

/// Plans kept. Beyond it the cache starts afresh: programs with that many shapes do not repeat
/// them.
const PLANS_MAX: usize = 1024;
/// The algorithms with few messages.
const FEW_MESSAGES_WISDOM: &str = "barrier=dissemination";
/// Plans that outlive that, the latest ones that were to be kept.
const PINNED_PLANS_MAX: usize = 512;
/// Idle runs kept for each plan.
const IDLE_RUNS_PER_PLAN_MAX: usize = 4;
/// Bytes that stay in the caches of a core from when it writes them until others have read them.
const CACHED_BYTES_MAX: usize = 512 << 10;

/// A plan, why it was chosen, and what it should cost.
#[derive(Debug)]
pub(crate) struct CachedPlan {
    pub(crate) plan: Plan,
    pub(crate) reason: String,
    /// Messages one after the other, over all ranks, by the model.
    pub(crate) rounds: usize,
    /// Time by the model, with what this rank has to move at least.
    pub(crate) nanoseconds: f64,
    pub(crate) element_bytes: usize,
    /// Whether its steps are taken one after the other.
    pub(crate) in_order: bool,
    /// Whether a message may be shorter than its place in the output.
    pub(crate) takes_less: bool,
    /// What those do with its messages to whom this rank sends.
    reply: TrafficHint,
    /// For each step what [`CachedPlan::readers`] says of it; empty if that is nothing for all.
    readers: Box<[Option<u32>]>,
}

/// Whether each block of a collective is a message of its own, which nobody passes on, and of which
/// only its two ranks know the length. Then it may be shorter than its place, as a message between
/// two ranks may: other libraries take no offence.
fn takes_less(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Gatherv { .. }
            | Operation::Scatterv { .. }
            | Operation::Alltoallv { .. }
            | Operation::Exchangev { .. }
    )
}

impl CachedPlan {
    fn new(
        plan: Plan,
        reason: String,
        (rounds, nanoseconds): (usize, f64),
        call: &Call,
    ) -> CachedPlan {
        let is_one_way = is_one_way(&plan);
        CachedPlan {
            takes_less: takes_less(&call.operation),
            reply: reply(&plan, call, is_one_way),
            readers: readers(&plan, is_one_way),
            plan,
            reason,
            rounds,
            nanoseconds,
            element_bytes: call.element_bytes,
            in_order: false,
        }
    }

    /// Of a step that sends what may be copied once for all who get it: how many they are, or 0 if
    /// it is not the first of the steps that send it to them.
    #[inline]
    pub(crate) fn fan_out(&self, step: StepId) -> Option<u32> {
        self.readers.get(step.index()).copied().flatten()
    }

    /// Whether those to whom this rank sends send it some in turn.
    #[inline]
    pub(crate) fn hint(&self) -> TrafficHint {
        self.reply
    }

    /// Takes the steps one after the other, if no rank can come to harm by that: messages up to
    /// this length never wait for their receives.
    ///
    /// That all algorithms may be run so is verified, if sends are complete at once. So either all
    /// messages of all ranks must be short, as the `longest` of them tells, unless each rank knows
    /// its own part only; or those of this rank, and it sends nothing after it has begun to
    /// receive, so that nobody waits for it meanwhile.
    fn may_run_inorder(mut self, short: usize, call: &Call, longest: usize) -> CachedPlan {
        let is_message = |step: &&Action| matches!(step, Action::Send { .. } | Action::Recv { .. });
        let mut messages = self.plan.steps().iter().filter(is_message);
        let all_short = messages.all(|step| step.elements() * self.element_bytes <= short);
        let known = matches!(call.operation, Operation::Barrier) || call.bytes() > 0;
        let mut order = self.plan.order().iter().map(|&step| self.plan.step(step));
        let receives = order.by_ref().any(|step| matches!(step, Action::Recv { .. }));
        let replies = receives && order.any(|step| matches!(step, Action::Send { .. }));
        let known_short = known && longest <= short;
        self.in_order = all_short && (known_short || !replies);
        self
    }
}

/// For each step what [`CachedPlan::readers`] says of it.
///
/// To copy a long message without waiting for its receiver, who copies it again, pays where the
/// sender gets nothing in turn, or is to go on: it sends that one message, to whomever. It does not
/// where it sends several, and waits for as many: then both ends have to have their turn anyway.
fn readers(plan: &Plan, is_one_way: bool) -> Box<[Option<u32>]> {
    let mut readers = vec![None; plan.steps().len()];
    for burst in bursts(plan) {
        let is_same = |one: &StepId, next: &StepId| sent(plan, *one) == sent(plan, *next);
        let messages: Vec<_> = burst.chunk_by(is_same).collect();
        let is_alone = messages.len() == 1;
        for steps in messages.into_iter().filter(|to| is_one_way || is_alone || to.len() > 1) {
            steps.iter().for_each(|step| readers[step.index()] = Some(0));
            readers[steps[0].index()] = Some(steps.len() as u32);
        }
    }
    if readers.iter().all(Option::is_none) { Box::default() } else { readers.into() }
}

/// What a step sends, if it sends something.
fn sent(plan: &Plan, step: StepId) -> Option<Slice> {
    match *plan.step(step) {
        Action::Send { from, .. } => Some(from),
        _ => None,
    }
}

/// The steps that send something one right after the other.
fn bursts(plan: &Plan) -> impl Iterator<Item = &[StepId]> {
    let sends = |step: &StepId| sent(plan, *step).is_some();
    let both_send = move |one: &StepId, next: &StepId| sends(one) == sends(next);
    plan.order().chunk_by(both_send).filter(move |burst| sends(&burst[0]))
}

/// Whether all that a rank sends at once stays in the caches until it is read.
fn stays_near(plan: &Plan, element_bytes: usize) -> bool {
    let elements = |burst: &[StepId]| burst.iter().map(|&step| plan.step(step).elements()).sum();
    let most: usize = bursts(plan).map(elements).max().unwrap_or(0);
    most.saturating_mul(element_bytes) <= CACHED_BYTES_MAX
}

/// What those do with the messages of a plan who get them. The blocks of a gather or a scatter are
/// as they are, unless this rank passes on those of others. What flows one way in a reduction or a
/// scan is reduced; in an exclusive scan it is a result as well. Of what more than two exchange in
/// a reduction most is reduced.
fn reply(plan: &Plan, call: &Call, is_one_way: bool) -> TrafficHint {
    use Operation::{
        Allreduce, Gather, Gatherv, Reduce, ReduceScatter, ReduceScatterBlock, Scan, Scatter,
        Scatterv,
    };
    let receives = plan.steps().iter().any(|step| matches!(step, Action::Recv { .. }));
    match call.operation {
        Allreduce { .. } | Reduce { .. } | ReduceScatter { .. } | ReduceScatterBlock { .. }
            if !is_one_way && call.ranks > 2 && stays_near(plan, call.element_bytes) =>
        {
            TrafficHint::Operands
        }
        _ if !is_one_way => TrafficHint::Expected,
        Reduce { .. } | Scan { .. } => TrafficHint::Reduced,
        Gather { .. } | Gatherv { .. } | Scatter { .. } | Scatterv { .. } if !receives => {
            TrafficHint::Untouched { among_several: plan.messages() > 1 }
        }
        _ => TrafficHint::Never,
    }
}

/// Whether the rank of a plan gets nothing from those to whom it sends.
fn is_one_way(plan: &Plan) -> bool {
    let sources: HashSet<Rank> = plan
        .steps()
        .iter()
        .filter_map(|step| if let Action::Recv { from, .. } = step { Some(*from) } else { None })
        .collect();
    let replies = |step: &Action| matches!(step, Action::Send { to, .. } if sources.contains(to));
    !plan.steps().iter().any(replies)
}

struct Entry {
    planned: Arc<CachedPlan>,
    #[expect(clippy::vec_box, reason = "a run keeps its box from use to use")]
    idle: Vec<Box<Execution>>,
    keep: Keep,
}

type ByCall = HashMap<Call, usize, BuildHasherDefault<Quick>>;

/// Where the plans of calls are.
#[derive(Default)]
struct PlanIndex {
    /// By selection, since one call may have a plan by each.
    by: [ByCall; Selection::ALL],
    /// By the name of the algorithm.
    named: HashMap<&'static str, ByCall>,
}

impl PlanIndex {
    fn get(&self, call: &Call, rule: Rule) -> Option<usize> {
        match rule {
            Rule::By(selection) => self.by[selection as usize].get(call).copied(),
            Rule::Learned(row) => self.named.get(row.name())?.get(call).copied(),
        }
    }

    fn insert(&mut self, call: Call, rule: Rule, place: usize) {
        match rule {
            Rule::By(selection) => self.by[selection as usize].insert(call, place),
            Rule::Learned(row) => self.named.entry(row.name()).or_default().insert(call, place),
        };
    }

    /// Moves all places, and forgets those that go nowhere.
    fn moved(&mut self, to: &[Option<usize>]) {
        let all = self.by.iter_mut().chain(self.named.values_mut());
        all.for_each(|places| {
            places.retain(|_, place| to[*place].map(|to| *place = to).is_some());
        });
    }
}

/// What the caches of a rank did, since it joined the world: counted over all its communicators.
/// A program can see by them whether its hints `reuse` and `previous` meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounters {
    /// Plans that were made, those that were only measured included.
    pub plans_made: u64,
    /// Calls whose plan was there already.
    pub plans_found: u64,
    /// Choices that were made by measurement.
    pub choices_learned: u64,
    /// Inits with the hint `previous` that found what one with `reuse` has kept.
    pub previous_hits: u64,
    /// Inits with the hint `previous` that found nothing.
    pub previous_misses: u64,
}

/// Plans and idle runs by call.
pub(crate) struct PlanCache {
    /// Bytes up to which messages never wait for their receives.
    short: usize,
    tuning: Tuning,
    overlapping: Tuning,
    of_library: Tuning,
    /// By the way in which calls end.
    places: [PlanIndex; Closing::ALL],
    entries: Vec<Entry>,
    counters: CacheCounters,
}

impl PlanCache {
    pub(crate) fn new(tuning: Tuning, short: usize) -> PlanCache {
        let overlapping = PlanCache::overlapping(&tuning);
        let of_library = Tuning { machine: tuning.machine, ..Tuning::default() };
        let (places, entries) = (<[PlanIndex; Closing::ALL]>::default(), Vec::new());
        let counters = CacheCounters::default();
        PlanCache { short, tuning, overlapping, of_library, places, entries, counters }
    }

    fn overlapping(tuning: &Tuning) -> Tuning {
        Tuning { machine: tuning.machine.for_overlap(), ..tuning.clone() }
    }

    /// Takes other wisdom. Only before any call is planned, as all ranks must have the same.
    pub(crate) fn take_wisdom(&mut self, wisdom: select::Wisdom) {
        self.tuning.wisdom = wisdom;
        self.overlapping = PlanCache::overlapping(&self.tuning);
    }

    /// What choices depend on besides the call.
    pub(crate) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(crate) fn counters(&mut self) -> &mut CacheCounters {
        &mut self.counters
    }

    /// A run of the plan for this call: an idle one if there is one. Says where the plan was found.
    pub(crate) fn take(
        &mut self,
        call: &Call,
        rule: Rule,
        keep: Keep,
        closing: Closing,
    ) -> Result<(Box<Execution>, CacheHit), ErrorKind> {
        let rule = match rule {
            Rule::Learned(_) if self.tuning.overrides.names(call.collective()) => {
                Rule::By(Selection::Tuned)
            }
            rule => rule,
        };
        let place = self.places[closing as usize].get(call, rule);
        let at = match place {
            Some(at) => at,
            None => self.plan(call, rule, closing)?,
        };
        let Entry { planned, idle, keep: kept } = &mut self.entries[at];
        let found = match (place, *kept) {
            (None, _) => CacheHit::Nowhere,
            (Some(_), Keep::AsLong) => CacheHit::Here,
            (Some(_), Keep::Before) => CacheHit::Retained,
        };
        if keep == Keep::Before {
            *kept = keep;
        }
        self.counters.plans_found += u64::from(place.is_some());
        let new = || Box::new(Execution::new(planned.clone(), at as u16, call));
        Ok((idle.pop().unwrap_or_else(new), found))
    }

    /// Takes back a run that is over.
    pub(crate) fn give_back(&mut self, run: Box<Execution>) {
        // Another plan may lie there since the cache has started afresh.
        if let Some(Entry { planned, idle, .. }) = self.entries.get_mut(usize::from(run.place()))
            && Arc::ptr_eq(planned, run.planned())
            && idle.len() < IDLE_RUNS_PER_PLAN_MAX
        {
            idle.push(run);
        }
    }

    fn plan(&mut self, call: &Call, rule: Rule, closing: Closing) -> Result<usize, ErrorKind> {
        let planned = self.planned(call, rule, closing)?;
        if self.entries.len() == PLANS_MAX {
            self.start_afresh();
        }
        self.counters.plans_made += 1;
        let (planned, idle) = (Arc::new(planned), Vec::new());
        self.entries.push(Entry { planned, idle, keep: Keep::AsLong });
        self.places[closing as usize].insert(call.clone(), rule, self.entries.len() - 1);
        Ok(self.entries.len() - 1)
    }

    fn planned(&self, call: &Call, rule: Rule, closing: Closing) -> Result<CachedPlan, ErrorKind> {
        if let Rule::By(Selection::Nothing) = rule {
            return Ok(nothing(call));
        }
        call.check()?;
        let choice = match rule {
            Rule::By(Selection::Fixed) => select::fixed(call)?,
            Rule::By(Selection::Overlapping) => select::choose(call, &self.overlapping)?,
            Rule::By(Selection::Few) => select::choose(call, &few())?,
            Rule::By(Selection::OfLibrary) => select::choose(call, &self.of_library)?,
            Rule::Learned(row) if row.accepts(call).is_ok() => {
                let plan =
                    closing.of_plan(row.plan(call).expect("it has just accepted the call"), call);
                return Ok(self.priced(plan, row, call, "learned by measurement".into()));
            }
            // What was learned need not fit another call; all ranks see that.
            _ => select::choose(call, &self.tuning)?,
        };
        let Choice { algorithm, reason } = choice;
        let plan = algorithm.plan(call).expect("a chosen algorithm accepts the call");
        let plan = closing.of_plan(plan, call);
        let reason = match (rule, reason) {
            (Rule::By(Selection::Overlapping), Reason::Cost { .. }) => {
                format!("{reason}, with rounds dearer, for overlap")
            }
            _ => reason.to_string(),
        };
        Ok(self.priced(plan, algorithm, call, reason))
    }

    fn priced(&self, plan: Plan, row: Row, call: &Call, reason: String) -> CachedPlan {
        let (mut cost, element_bytes) = (row.cost(call), call.element_bytes);
        // Where blocks differ, what all ranks know is less than what this one has to move.
        let own = plan.sent().elements.max(plan.received().elements) * element_bytes;
        cost.bytes = cost.bytes.max(own);
        let machine = &self.tuning.machine;
        let nanoseconds = match call.nodes.is_one() {
            true => machine.time(&cost, &row.work(call)),
            false => row.time(call, machine),
        };
        let planned = CachedPlan::new(plan, reason, (cost.rounds, nanoseconds), call);
        planned.may_run_inorder(self.short, call, row.longest(call))
    }

    /// Forgets all but what was to be kept.
    fn start_afresh(&mut self) {
        let mut room = PINNED_PLANS_MAX;
        let is_kept = |entry: &Entry| {
            let is_kept = entry.keep == Keep::Before && room > 0;
            room -= usize::from(is_kept);
            is_kept
        };
        let mut kept: Vec<bool> = self.entries.iter().rev().map(is_kept).collect();
        kept.reverse();
        let mut count = 0;
        let to: Vec<Option<usize>> = kept
            .iter()
            .map(|&kept| {
                count += usize::from(kept);
                kept.then(|| count - 1)
            })
            .collect();
        let mut kept = kept.into_iter();
        self.entries.retain(|_| kept.next().expect("one for each"));
        // Idle runs know the old places.
        self.entries.iter_mut().for_each(|entry| entry.idle.clear());
        self.places.iter_mut().for_each(|places| places.moved(&to));
    }
}

/// Where messages count, not time.
fn few() -> Tuning {
    let overrides = FEW_MESSAGES_WISDOM.parse().expect("the table has this row");
    Tuning { overrides, ..Tuning::default() }
}

/// A plan without steps.
fn nothing(call: &Call) -> CachedPlan {
    let plan = Plan::assemble(PlanParts {
        algorithm: "none",
        rank: call.rank,
        ranks: call.ranks,
        input_len: 0,
        output_len: 0,
        scratch_len: 0,
        steps: Vec::new(),
        edges: Vec::new(),
    });
    let reason = "there is nothing to do for this rank".into();
    CachedPlan::new(plan, reason, (0, 0.0), call)
}

#[cfg(test)]
mod tests {
    use motet_plan::{NodeMap, Operation, Rank};

    use super::*;

    fn call(count: usize) -> Call {
        let operation = Operation::Bcast { count, root: Rank(0) };
        let (rank, nodes) = (Rank(1), NodeMap::ONE);
        Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation }
    }

    /// What is to be kept is kept when the cache is full, at most so much, and found where it then
    /// is.
    ///
    /// spec: 127
    #[test]
    fn what_is_to_be_kept_stays() {
        let mut cache = PlanCache::new(Tuning::default(), 0);
        let rule = Rule::By(Selection::Tuned);
        let mut take = |count, keep| {
            let (run, found) =
                cache.take(&call(count), rule, keep, Closing::Alone).expect("a call");
            assert_eq!(run.planned().plan.output_len(), count);
            found
        };
        assert_eq!(take(1, Keep::AsLong), CacheHit::Nowhere);
        assert_eq!(take(2, Keep::Before), CacheHit::Nowhere);
        assert_eq!(
            (take(1, Keep::AsLong), take(2, Keep::AsLong)),
            (CacheHit::Here, CacheHit::Retained)
        );
        for count in 0..PLANS_MAX {
            take(100 + count, Keep::AsLong);
        }
        assert_eq!(
            (take(2, Keep::AsLong), take(1, Keep::AsLong)),
            (CacheHit::Retained, CacheHit::Nowhere)
        );
        for count in 0..2 * PLANS_MAX {
            take(10_000 + count, Keep::Before);
        }
        assert_eq!(take(10_000, Keep::AsLong), CacheHit::Nowhere);
        assert_eq!(take(10_000 + 2 * PLANS_MAX - 1, Keep::AsLong), CacheHit::Retained);
    }

    /// The plan of a call by the algorithm of this name.
    fn plan_of(name: &str, call: &Call) -> Plan {
        let mut rows = motet_plan::algo::of(call.collective());
        let row = rows.find(|row| row.name() == name).expect("an algorithm of this name");
        row.plan(call).expect("a plan")
    }

    /// What the steps of a plan that send say of their readers, in the plan's order.
    fn readers_of(name: &str, operation: Operation, rank: u32) -> Vec<Option<u32>> {
        let (rank, nodes) = (Rank(rank), NodeMap::ONE);
        let call = Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation };
        let plan = plan_of(name, &call);
        let readers = readers(&plan, is_one_way(&plan));
        let is_send = |step: &&StepId| matches!(plan.step(**step), Action::Send { .. });
        let of = |step: &StepId| readers.get(step.index()).copied().flatten();
        plan.order().iter().filter(is_send).map(of).collect()
    }

    /// Whether all of 4 ranks take the steps one after the other, with blocks of so many words.
    fn all_in_order(name: &str, operation: impl Fn(usize) -> Operation, count: usize) -> bool {
        const SHORT: usize = 8 << 10;
        let in_order = (0..4).map(|rank| {
            let (rank, nodes) = (Rank(rank), NodeMap::ONE);
            let operation = operation(count);
            let call = Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation };
            let row = motet_plan::algo::find(call.collective(), name).expect("of this name");
            let plan = row.plan(&call).expect("a plan");
            let planned = CachedPlan::new(plan, String::new(), (0, 0.0), &call);
            planned.may_run_inorder(SHORT, &call, row.longest(&call)).in_order
        });
        let in_order: Vec<_> = in_order.collect();
        assert!(in_order.iter().all(|&one| one == in_order[0]), "{name}: {in_order:?}");
        in_order[0]
    }

    #[test]
    fn steps_follow_each_other_while_no_message_waits_for_its_receive() {
        let gather = |count| Operation::Gather { count, root: Rank(0) };
        let (alltoall, allgather) =
            (|count| Operation::Alltoall { count }, |count| Operation::Allgather { count });
        // Who sends nothing after it has begun to receive looks at its own messages.
        for (count, is_short) in [(1, true), (1024, true), (1025, false)] {
            assert_eq!(all_in_order("direct", gather, count), is_short, "{count}");
            assert_eq!(all_in_order("direct", alltoall, count), is_short, "{count}");
        }
        // Others look at the longest of all: two blocks, one, or all four.
        for (name, longest) in [("recursive_doubling", 512), ("ring", 1024), ("star", 256)] {
            assert!(all_in_order(name, allgather, longest), "{name}");
            assert!(!all_in_order(name, allgather, longest + 1), "{name}");
        }
    }

    #[test]
    fn what_several_get_or_what_is_alone_is_copied_once() {
        let bcast = Operation::Bcast { count: 9, root: Rank(0) };
        assert_eq!(readers_of("direct", bcast.clone(), 0), [Some(3), Some(0), Some(0)]);
        assert_eq!(readers_of("direct", bcast.clone(), 1), []);
        assert_eq!(readers_of("binomial", bcast, 0), [Some(2), Some(0)]);
        let scatter = Operation::Scatter { count: 9, root: Rank(0) };
        assert_eq!(readers_of("direct", scatter, 0), [Some(1); 3], "nothing comes back");
        let all = Operation::Alltoall { count: 9 };
        assert_eq!(readers_of("direct", all.clone(), 0), [None; 3], "as much comes back");
        assert_eq!(readers_of("pairwise", all, 0), [Some(1); 3], "one by one");
        let all = Operation::Allgather { count: 9 };
        assert_eq!(readers_of("direct", all, 0), [Some(3), Some(0), Some(0)]);
    }

    /// Blocks of a gather or a scatter stay as they are, unless ranks pass on those of others.
    #[test]
    fn replies_tell_what_becomes_of_messages() {
        let reply_of = |name: &str, operation: &Operation, rank| {
            let call = Call { rank: Rank(rank), operation: operation.clone(), ..call(9) };
            let plan = plan_of(name, &call);
            reply(&plan, &call, is_one_way(&plan))
        };
        let root = Rank(0);
        let untouched = |among_several| TrafficHint::Untouched { among_several };
        let gather = Operation::Gather { count: 9, root };
        let scatter = Operation::Scatter { count: 9, root };
        assert_eq!(reply_of("direct", &scatter, 0), untouched(true));
        assert_eq!(reply_of("direct", &gather, 1), untouched(false));
        assert_eq!(reply_of("binomial", &gather, 1), untouched(false), "a leaf");
        assert_eq!(
            reply_of("binomial", &gather, 2),
            TrafficHint::Never,
            "it has that of rank 3, too"
        );
        assert_eq!(reply_of("direct", &Operation::Bcast { count: 9, root }, 0), TrafficHint::Never);
        let reduce = Operation::Reduce { count: 9, root, commutative: true };
        assert_eq!(reply_of("direct", &reduce, 1), TrafficHint::Reduced);
        assert_eq!(reply_of("binomial", &reduce, 2), TrafficHint::Reduced, "with that of rank 3");
        assert_eq!(reply_of("pieces", &reduce, 1), TrafficHint::Operands, "it gets one, too");
        let both = Call { ranks: 2, ..call(9) };
        let allreduce = Operation::Allreduce { count: 9, commutative: true };
        assert_eq!(reply_of("recursive_doubling", &allreduce, 1), TrafficHint::Operands);
        let both = Call { rank: Rank(1), operation: allreduce, ..both };
        let plan = plan_of("recursive_doubling", &both);
        assert_eq!(
            reply(&plan, &both, is_one_way(&plan)),
            TrafficHint::Expected,
            "there are only two"
        );
        let halves = |count| Operation::Allreduce { count, commutative: true };
        let count = 2 * CACHED_BYTES_MAX / call(9).element_bytes;
        let replies = [count, count + 4].map(|count| {
            let name = "reduce_scatter_allgather";
            [name, "pieces"].map(|name| reply_of(name, &halves(count), 1))
        });
        let far = [TrafficHint::Expected; 2];
        assert_eq!(
            replies,
            [[TrafficHint::Operands, TrafficHint::Expected], far],
            "half, or three quarters"
        );
        let scan = Operation::Scan { count: 9, commutative: true };
        assert_eq!(reply_of("chain", &scan, 1), TrafficHint::Reduced);
        let exscan = Operation::Exscan { count: 9, commutative: true };
        assert_eq!(reply_of("chain", &exscan, 1), TrafficHint::Never, "it is a result, too");
        assert_eq!(reply_of("direct", &Operation::Alltoall { count: 9 }, 0), TrafficHint::Expected);
    }
}
