//! The plan cache keeps plans by call, with idle executions of each.
//!
//! It is local to the rank: whether a rank finds a plan here does not influence which algorithm is
//! chosen, so the caches of the ranks may differ. Measured choices do influence that, and are kept
//! elsewhere ([`crate::comm::learned`]).

mod cached_plan;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use motet_plan::select::Reason;
use motet_plan::{Algorithm, Call, Choice, Plan, Tuning, select};

pub(crate) use self::cached_plan::CachedPlan;
use self::cached_plan::nothing;
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
/// The greatest length in bytes of the scratch memory of all idle executions together. For one more
/// the others are freed, since a program that moves on to other calls does not repeat the former
/// ones. Of the executions that have more than this alone, only the last one is kept beside them:
/// to allocate that much again takes a quarter of the time of the call.
const IDLE_SCRATCH_BYTES_MAX: usize = 64 << 20;
/// The scratch memory of an execution that does not count, in bytes: all idle executions together
/// have at most 16 MiB of this.
const SMALL_SCRATCH_BYTES: usize = (16 << 20) / (PLANS_MAX * IDLE_RUNS_PER_PLAN_MAX);
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
    /// The bytes of the scratch memory of all idle executions for which it counts.
    idle_scratch_bytes: usize,
    counters: CacheCounters,
}

impl PlanCache {
    pub(crate) fn new(tuning: Tuning, short: usize) -> PlanCache {
        let overlapping = PlanCache::overlapping(&tuning);
        let of_library = Tuning { machine: tuning.machine, ..Tuning::default() };
        let (places, entries) = (<[PlanIndex; Closing::ALL]>::default(), Vec::new());
        let counters = CacheCounters::default();
        let idle_scratch_bytes = 0;
        PlanCache {
            short,
            tuning,
            overlapping,
            of_library,
            places,
            entries,
            idle_scratch_bytes,
            counters,
        }
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
        let run = match idle.pop() {
            Some(run) => {
                if run.scratch_bytes() > SMALL_SCRATCH_BYTES {
                    self.idle_scratch_bytes -= counted_bytes(&run);
                }
                run
            }
            None => Box::new(Execution::new(planned.clone(), at as u16, call)),
        };
        Ok((run, found))
    }

    /// Takes back an execution that has ended.
    pub(crate) fn give_back(&mut self, run: Box<Execution>) {
        if run.scratch_bytes() > SMALL_SCRATCH_BYTES {
            self.make_room(&run);
        }
        // Another plan may have this place if the cache has been cleared meanwhile.
        if let Some(Entry { planned, idle, .. }) = self.entries.get_mut(usize::from(run.place()))
            && Arc::ptr_eq(planned, run.planned())
            && idle.len() < IDLE_RUNS_PER_PLAN_MAX
        {
            idle.push(run);
        }
    }

    /// Counts the scratch memory of an execution that becomes idle. If there is no room for it,
    /// frees idle executions: those that are large if it is large, else all others that count.
    #[inline(never)] // so the common case stays short
    fn make_room(&mut self, run: &Execution) {
        let becomes_idle = |Entry { planned, idle, .. }: &Entry| {
            Arc::ptr_eq(planned, run.planned()) && idle.len() < IDLE_RUNS_PER_PLAN_MAX
        };
        if !self.entries.get(usize::from(run.place())).is_some_and(becomes_idle) {
            return;
        }
        if is_large(run) {
            self.entries.iter_mut().for_each(|entry| entry.idle.retain(|idle| !is_large(idle)));
        } else if self.idle_scratch_bytes + run.scratch_bytes() > IDLE_SCRATCH_BYTES_MAX {
            let stays = |idle: &Execution| counted_bytes(idle) == 0;
            self.entries.iter_mut().for_each(|entry| entry.idle.retain(|idle| stays(idle)));
            self.idle_scratch_bytes = 0;
        }
        self.idle_scratch_bytes += counted_bytes(run);
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
        self.idle_scratch_bytes = 0;
        self.places.iter_mut().for_each(|places| places.moved(&to));
    }
}

/// Whether an execution alone has more scratch memory than idle executions may have together.
fn is_large(run: &Execution) -> bool {
    run.scratch_bytes() > IDLE_SCRATCH_BYTES_MAX
}

/// The bytes of scratch memory that count for an idle execution.
fn counted_bytes(run: &Execution) -> usize {
    let bytes = run.scratch_bytes();
    if bytes > SMALL_SCRATCH_BYTES && !is_large(run) { bytes } else { 0 }
}

/// The tuning that minimizes messages instead of time.
fn few() -> Tuning {
    let overrides = FEW_MESSAGES_WISDOM.parse().expect("the table has this row");
    Tuning { overrides, ..Tuning::default() }
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
    /// Idle executions have little scratch memory together, and it is that of the last calls.
    #[test]
    fn the_scratch_memory_of_idle_executions_is_limited() {
        const MOST: usize = IDLE_SCRATCH_BYTES_MAX / 8;
        let overrides = "allreduce=recursive_doubling".parse().expect("it is in the table");
        let mut cache = PlanCache::new(Tuning { overrides, ..Tuning::default() }, 0);
        let take = |cache: &mut PlanCache, count: usize| {
            let operation = Operation::Allreduce { count, commutative: true };
            // In place, since a sum then needs scratch memory for what it receives.
            let call = Call { ranks: 2, in_place: true, operation, ..call(count) };
            let rule = Rule::By(Selection::Tuned);
            let (run, _) =
                cache.take(&call, rule, Keep::AsLong, Closing::Alone).expect("a valid call");
            assert!((8 * count..8 * count + 64).contains(&run.scratch_bytes()));
            run
        };
        let idle = |cache: &PlanCache| -> usize {
            let runs = cache.entries.iter().flat_map(|entry| &entry.idle);
            runs.map(|run| run.scratch_bytes()).sum()
        };
        for round in 0..60 {
            let count = MOST / (3 + round % 7) - 1000 * (round % 3);
            let runs = [(); 3].map(|()| take(&mut cache, count));
            let last = std::ptr::from_ref(&*runs[2]);
            for run in runs {
                cache.give_back(run);
                assert_eq!(idle(&cache), cache.idle_scratch_bytes, "round {round}");
                assert!(idle(&cache) <= IDLE_SCRATCH_BYTES_MAX, "round {round}");
            }
            let again = take(&mut cache, count);
            assert!(std::ptr::eq(last, &*again), "it is kept");
            cache.give_back(again);
        }
        // Of more executions of one plan than are kept, the others do not count.
        let more = [(); IDLE_RUNS_PER_PLAN_MAX + 2].map(|()| take(&mut cache, 1000));
        more.into_iter().for_each(|run| cache.give_back(run));
        assert_eq!(idle(&cache), cache.idle_scratch_bytes, "some are not kept");
        let before = idle(&cache);
        for more in 1..4 {
            let large = [(); 2].map(|()| take(&mut cache, MOST + more));
            let bytes = large[0].scratch_bytes();
            large.into_iter().for_each(|run| cache.give_back(run));
            assert_eq!(idle(&cache), before + bytes, "one, beside those that are not large");
            assert_eq!(cache.idle_scratch_bytes, before);
        }
        (0..PLANS_MAX).for_each(|count| drop(take(&mut cache, count)));
        assert_eq!((idle(&cache), cache.idle_scratch_bytes), (0, 0));
        let run = take(&mut cache, MOST);
        cache.give_back(run);
        assert_eq!(idle(&cache), IDLE_SCRATCH_BYTES_MAX);
    }
}
