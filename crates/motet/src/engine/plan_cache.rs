//! The plan cache keeps plans by call, with idle executions of each.
//!
//! It is local to the rank: whether a rank finds a plan here does not influence which algorithm is
//! chosen, so the caches of the ranks may differ. Measured choices do influence that, and are kept
//! elsewhere ([`crate::comm::learned`]).

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

/// The rule that chooses the algorithm of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// For this machine: by overrides, wisdom and the cost model.
    #[default]
    Tuned,
    /// By the call alone, so that a reduction has the same bits on every machine.
    Fixed,
    /// No choice: this rank takes no part in the call.
    Nothing,
    /// As `Tuned`, for an operation that overlaps with computation.
    Overlapping,
    /// With few messages: a barrier in `⌈log2 p⌉` rounds of one message each.
    Few,
    /// By the cost model, for a call of the library itself; overrides and wisdom are for user
    /// calls.
    OfLibrary,
}

type Row = &'static dyn Algorithm;

impl Selection {
    /// The number of variants.
    const ALL: usize = 6;
}

/// The rule for the algorithm of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    By(Selection),
    /// A measured choice, unless the user has named algorithms.
    Learned(&'static dyn Algorithm),
}

/// Where the plan of an execution was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheHit {
    /// Nowhere: it was planned now.
    Nowhere,
    /// Among the cached plans.
    Here,
    /// Among the plans that an init has asked to keep.
    Retained,
}

/// The capacity of the cache. When full, it is cleared: programs with more call shapes do not
/// repeat them.
const PLANS_MAX: usize = 1024;
/// The overrides that select algorithms with few messages.
const FEW_MESSAGES_WISDOM: &str = "barrier=dissemination";
/// The number of plans that survive clearing: the latest ones that an init has asked to keep.
const PINNED_PLANS_MAX: usize = 512;
/// The number of idle executions kept for each plan.
const IDLE_RUNS_PER_PLAN_MAX: usize = 4;
/// Bytes that stay in a core's caches from when a rank writes them until other ranks have read
/// them.
const CACHED_BYTES_MAX: usize = 512 << 10;

/// A plan, the reason for its choice, and its modelled cost.
#[derive(Debug)]
pub(crate) struct CachedPlan {
    pub(crate) plan: Plan,
    pub(crate) reason: String,
    /// Consecutive messages over all ranks, by the cost model.
    pub(crate) rounds: usize,
    /// Nanoseconds by the cost model, for at least the bytes that this rank sends or receives.
    pub(crate) nanoseconds: f64,
    pub(crate) element_bytes: usize,
    /// Whether its steps run one after the other.
    pub(crate) in_order: bool,
    /// Whether a message may be shorter than its slice of the output.
    pub(crate) takes_less: bool,
    /// The traffic hint of its sends.
    hint: TrafficHint,
    /// For each step the result of [`CachedPlan::fan_out`]; empty if that is `None` for all.
    readers: Box<[Option<u32>]>,
}

/// Whether each block of a collective is a message of its own, which no rank forwards and whose
/// length only its two ranks know. Then it may be shorter than its place, like a point-to-point
/// message; other libraries accept that, too.
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
            hint: traffic_hint(&plan, call, is_one_way),
            readers: readers(&plan, is_one_way),
            plan,
            reason,
            rounds,
            nanoseconds,
            element_bytes: call.element_bytes,
            in_order: false,
        }
    }

    /// The number of receivers of a step whose data is copied once for all its receivers; 0 for all
    /// but the first of the steps that send this data. `None` for other steps.
    #[inline]
    pub(crate) fn fan_out(&self, step: StepId) -> Option<u32> {
        self.readers.get(step.index()).copied().flatten()
    }

    /// The traffic hint of its sends: whether and how their receivers answer.
    #[inline]
    pub(crate) fn hint(&self) -> TrafficHint {
        self.hint
    }

    /// Chooses in-order execution, if that cannot block any rank: messages of up to `short` bytes
    /// never wait for their receives.
    ///
    /// The verifier has shown that all algorithms may run in order if sends complete at once. So
    /// either all messages of all ranks must be short, as the `longest` one shows if all ranks know
    /// it; or those of this rank are, and it sends nothing after it has begun to receive, so that
    /// no rank waits for it meanwhile.
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

/// The result of [`CachedPlan::fan_out`] for each step.
///
/// Copying a long message without waiting for its receiver, which copies it again, pays if the
/// sender gets no answer, or is to go on because it sends this one message, to any number of ranks.
/// It does not pay if it sends several messages and waits for as many: then both ranks need their
/// turn anyway.
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

/// The slice that a step sends, if it is a send.
fn sent(plan: &Plan, step: StepId) -> Option<Slice> {
    match *plan.step(step) {
        Action::Send { from, .. } => Some(from),
        _ => None,
    }
}

/// The groups of consecutive sends.
fn bursts(plan: &Plan) -> impl Iterator<Item = &[StepId]> {
    let sends = |step: &StepId| sent(plan, *step).is_some();
    let both_send = move |one: &StepId, next: &StepId| sends(one) == sends(next);
    plan.order().chunk_by(both_send).filter(move |burst| sends(&burst[0]))
}

/// Whether the data of each group of consecutive sends stays in the caches until it is read.
fn stays_near(plan: &Plan, element_bytes: usize) -> bool {
    let elements = |burst: &[StepId]| burst.iter().map(|&step| plan.step(step).elements()).sum();
    let most: usize = bursts(plan).map(elements).max().unwrap_or(0);
    most.saturating_mul(element_bytes) <= CACHED_BYTES_MAX
}

/// The traffic hint of a plan: what receivers do with its messages. In a gather or scatter they
/// leave the blocks unchanged, unless this rank forwards blocks of others. A one-way message of a
/// reduction or a scan is reduced; in an exclusive scan it is a result as well. Of the messages
/// that more than two ranks exchange in a reduction most are reduced.
fn traffic_hint(plan: &Plan, call: &Call, is_one_way: bool) -> TrafficHint {
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
        _ => TrafficHint::OneWay,
    }
}

/// Whether this rank receives nothing from the ranks to which it sends.
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

/// An index from calls to plans.
#[derive(Default)]
struct PlanIndex {
    /// By selection, since one call may have a plan for each.
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

    /// Renumbers all places, and removes those without a new number.
    fn moved(&mut self, to: &[Option<usize>]) {
        let all = self.by.iter_mut().chain(self.named.values_mut());
        all.for_each(|places| {
            places.retain(|_, place| to[*place].map(|to| *place = to).is_some());
        });
    }
}

/// Counts of the plan cache of a rank since it joined the world, over all its communicators. A
/// program can see from them whether its hints `reuse` and `previous` have an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheCounters {
    /// Plans made, including those only made to be measured.
    pub plans_made: u64,
    /// Calls whose plan was found in the cache. A repeated call that is replayed looks for none.
    pub plans_found: u64,
    /// Choices made by measurement.
    pub choices_learned: u64,
    /// Inits with the hint `previous` that found a plan which an init with `reuse` has kept.
    pub previous_hits: u64,
    /// Inits with the hint `previous` that found none.
    pub previous_misses: u64,
}

/// Plans and idle executions by call.
pub(crate) struct PlanCache {
    /// The greatest length in bytes of messages that never wait for their receives.
    short: usize,
    tuning: Tuning,
    overlapping: Tuning,
    of_library: Tuning,
    /// One index for each way in which ranks end a call.
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

    /// Replaces the wisdom. Only before any call is planned, because all ranks must have the same.
    pub(crate) fn take_wisdom(&mut self, wisdom: select::Wisdom) {
        self.tuning.wisdom = wisdom;
        self.overlapping = PlanCache::overlapping(&self.tuning);
    }

    /// What choices depend on beside the call.
    pub(crate) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(crate) fn counters(&mut self) -> &mut CacheCounters {
        &mut self.counters
    }

    /// Takes an execution of the plan for this call, an idle one if there is one. Returns where the
    /// plan was found, too.
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

    /// Takes back an execution that has ended.
    pub(crate) fn give_back(&mut self, run: Box<Execution>) {
        // Another plan may have this place if the cache has been cleared meanwhile.
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
            // A measured choice may not accept another call; all ranks see that.
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
        // If blocks differ, this rank may move more bytes than all ranks know of.
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

    /// Clears the cache except the plans that an init has asked to keep.
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
        // Idle executions hold the old places.
        self.entries.iter_mut().for_each(|entry| entry.idle.clear());
        self.places.iter_mut().for_each(|places| places.moved(&to));
    }
}

/// The tuning that minimizes messages instead of time.
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

    /// Plans to be kept survive a full cache, up to a limit, and are found at their new places.
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

    /// The fan-out of each send of a plan, in the plan's order.
    fn readers_of(name: &str, operation: Operation, rank: u32) -> Vec<Option<u32>> {
        let (rank, nodes) = (Rank(rank), NodeMap::ONE);
        let call = Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation };
        let plan = plan_of(name, &call);
        let readers = readers(&plan, is_one_way(&plan));
        let is_send = |step: &&StepId| matches!(plan.step(**step), Action::Send { .. });
        let of = |step: &StepId| readers.get(step.index()).copied().flatten();
        plan.order().iter().filter(is_send).map(of).collect()
    }

    /// Whether each of 4 ranks runs in order, with blocks of so many words.
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
        // A rank that sends nothing after it has begun to receive checks only its own messages.
        for (count, is_short) in [(1, true), (1024, true), (1025, false)] {
            assert_eq!(all_in_order("linear", gather, count), is_short, "{count}");
            assert_eq!(all_in_order("linear", alltoall, count), is_short, "{count}");
        }
        // Other ranks check the longest message of all ranks: two blocks, one, or all four.
        for (name, longest) in [("recursive_doubling", 512), ("ring", 1024), ("via_root", 256)] {
            assert!(all_in_order(name, allgather, longest), "{name}");
            assert!(!all_in_order(name, allgather, longest + 1), "{name}");
        }
    }

    #[test]
    fn what_several_get_or_what_is_alone_is_copied_once() {
        let bcast = Operation::Bcast { count: 9, root: Rank(0) };
        assert_eq!(readers_of("linear", bcast.clone(), 0), [Some(3), Some(0), Some(0)]);
        assert_eq!(readers_of("linear", bcast.clone(), 1), []);
        assert_eq!(readers_of("binomial", bcast, 0), [Some(2), Some(0)]);
        let scatter = Operation::Scatter { count: 9, root: Rank(0) };
        assert_eq!(readers_of("linear", scatter, 0), [Some(1); 3], "nothing comes back");
        let all = Operation::Alltoall { count: 9 };
        assert_eq!(readers_of("linear", all.clone(), 0), [None; 3], "as much comes back");
        assert_eq!(readers_of("pairwise", all, 0), [Some(1); 3], "one by one");
        let all = Operation::Allgather { count: 9 };
        assert_eq!(readers_of("linear", all, 0), [Some(3), Some(0), Some(0)]);
    }

    /// Blocks of a gather or a scatter are unchanged, unless ranks forward those of others.
    #[test]
    fn replies_tell_what_becomes_of_messages() {
        let hint_of = |name: &str, operation: &Operation, rank| {
            let call = Call { rank: Rank(rank), operation: operation.clone(), ..call(9) };
            let plan = plan_of(name, &call);
            traffic_hint(&plan, &call, is_one_way(&plan))
        };
        let root = Rank(0);
        let untouched = |among_several| TrafficHint::Untouched { among_several };
        let gather = Operation::Gather { count: 9, root };
        let scatter = Operation::Scatter { count: 9, root };
        assert_eq!(hint_of("linear", &scatter, 0), untouched(true));
        assert_eq!(hint_of("linear", &gather, 1), untouched(false));
        assert_eq!(hint_of("binomial", &gather, 1), untouched(false), "a leaf");
        assert_eq!(
            hint_of("binomial", &gather, 2),
            TrafficHint::OneWay,
            "it has that of rank 3, too"
        );
        assert_eq!(hint_of("linear", &Operation::Bcast { count: 9, root }, 0), TrafficHint::OneWay);
        let reduce = Operation::Reduce { count: 9, root, commutative: true };
        assert_eq!(hint_of("linear", &reduce, 1), TrafficHint::Reduced);
        assert_eq!(hint_of("binomial", &reduce, 2), TrafficHint::Reduced, "with that of rank 3");
        assert_eq!(
            hint_of("linear_reduce_scatter_gather", &reduce, 1),
            TrafficHint::Operands,
            "it gets one, too"
        );
        let both = Call { ranks: 2, ..call(9) };
        let allreduce = Operation::Allreduce { count: 9, commutative: true };
        assert_eq!(hint_of("recursive_doubling", &allreduce, 1), TrafficHint::Operands);
        let both = Call { rank: Rank(1), operation: allreduce, ..both };
        let plan = plan_of("recursive_doubling", &both);
        assert_eq!(
            traffic_hint(&plan, &both, is_one_way(&plan)),
            TrafficHint::Expected,
            "there are only two"
        );
        let halves = |count| Operation::Allreduce { count, commutative: true };
        let count = 2 * CACHED_BYTES_MAX / call(9).element_bytes;
        let hints = [count, count + 4].map(|count| {
            let names = ["reduce_scatter_allgather", "linear_reduce_scatter_allgather"];
            names.map(|name| hint_of(name, &halves(count), 1))
        });
        let far = [TrafficHint::Expected; 2];
        assert_eq!(
            hints,
            [[TrafficHint::Operands, TrafficHint::Expected], far],
            "half, or three quarters"
        );
        let scan = Operation::Scan { count: 9, commutative: true };
        assert_eq!(hint_of("chain", &scan, 1), TrafficHint::Reduced);
        let exscan = Operation::Exscan { count: 9, commutative: true };
        assert_eq!(hint_of("chain", &exscan, 1), TrafficHint::OneWay, "it is a result, too");
        assert_eq!(hint_of("linear", &Operation::Alltoall { count: 9 }, 0), TrafficHint::Expected);
    }
}
