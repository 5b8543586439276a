//! Learned choices: the algorithms that measurements have selected for the calls of a communicator.
//!
//! **Why the communicator keeps them.** All ranks of a call must choose the same algorithm, and a
//! local init does not communicate. A measured choice may therefore be used only where all ranks
//! know it at the same point. The calls of one communicator are made in one order on all its ranks;
//! an enforced init learns the same on all of them; and choices are entered and looked up here in
//! that order. So at each call all ranks hold the same table. A cache of the rank could not do
//! this: its contents depend on everything else the rank did.
//!
//! A copy of the communicator copies the table when the copying call is made, which has a place in
//! the same order. Later choices of the one are not known to the other.
//!
//! **Keys** consist of the values that all ranks of a call know to be equal: the collective, the
//! number of ranks, the size, the root, whether the operator commutes, the hint for overlap, and
//! the group. The ranks of an irregular call know too little of each other for that. Its choice is
//! stored under the rank's own call with the number of the init that learned it, and is used only
//! by an enforced init, in which the ranks compare these numbers: all must have found the same.
//!
//! **Wisdom** is the same information as lines of text, for later runs of a program and for all
//! calls, not only those with the hint `previous`. The lines that [`Communicator::merge_wisdom`]
//! merges apply to later calls of that communicator and of its copies, for the same reason.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use motet_plan::select::Wisdom;
use motet_plan::{Algorithm, Call, Collective};

use crate::base::hints::Overlap;
use crate::comm::communicator::Communicator;
use crate::engine::CacheCounters;
use crate::engine::quick_hash::Quick;

/// Maximum number of choices of one communicator. Further choices are not stored: to evict old
/// ones, all ranks would have to evict the same.
const CHOICES: usize = 1024;

/// The key of a choice: values that are equal on all ranks of a call or, for an irregular call, the
/// rank's own call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    what: What,
    overlap: Overlap,
    /// Fingerprint of the group, if the call takes one.
    group: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum What {
    Regular {
        collective: Collective,
        ranks: u32,
        bytes: usize,
        root: Option<u32>,
        commutative: Option<bool>,
    },
    Irregular(Call),
}

impl Key {
    pub(crate) fn of(call: &Call, overlap: Overlap, group: u64) -> Key {
        let what = if is_regular(call.collective()) {
            What::Regular {
                collective: call.collective(),
                ranks: call.ranks,
                bytes: call.bytes(),
                root: call.operation.root().map(|root| root.0),
                commutative: call.operation.commutative(),
            }
        } else {
            What::Irregular(call.clone())
        };
        Key { what, overlap, group }
    }

    /// Returns whether all ranks that make the call have the same key.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.what, What::Regular { .. })
    }
}

/// Returns whether all ranks know the sizes of all ranks. Other collectives are stored under each
/// rank's own call, which is always safe.
fn is_regular(collective: Collective) -> bool {
    matches!(
        collective,
        Collective::Barrier
            | Collective::Bcast
            | Collective::Gather
            | Collective::Scatter
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::ReduceScatterBlock
            | Collective::ReduceScatter
            | Collective::Scan
            | Collective::Exscan
            | Collective::Allgather
            | Collective::Allgatherv
            | Collective::Alltoall
            | Collective::InterBarrier
            | Collective::InterAllgather
            | Collective::InterReduce
            | Collective::InterAllreduce
            | Collective::InterReduceScatterBlock
            | Collective::InterReduceScatter
    )
}

/// A measured choice.
#[derive(Clone, Debug)]
pub(crate) struct Lesson {
    pub(crate) algorithm: &'static dyn Algorithm,
    /// The measurement, as text.
    pub(crate) reason: String,
    /// The number of the init that learned it.
    pub(crate) number: u64,
}

#[derive(Clone, Default)]
struct Table {
    lessons: HashMap<Key, Lesson, BuildHasherDefault<Quick>>,
    wisdom: Wisdom,
}

/// The choices that the ranks of a communicator have learned.
#[derive(Default)]
pub(crate) struct CommWisdom {
    table: Mutex<Table>,
    /// Whether the table has wisdom. Most communicators have none, and their calls skip the lookup.
    is_wise: AtomicBool,
}

impl CommWisdom {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the table for a copy of the communicator.
    pub(crate) fn copied(&self) -> CommWisdom {
        let table = self.table().clone();
        let is_wise = AtomicBool::new(!table.wisdom.is_empty());
        CommWisdom { table: Mutex::new(table), is_wise }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Lesson> {
        self.table().lessons.get(key).cloned()
    }

    pub(crate) fn insert(&self, key: Key, lesson: Lesson) {
        let mut table = self.table();
        if table.lessons.len() < CHOICES || table.lessons.contains_key(&key) {
            table.lessons.insert(key, lesson);
        }
    }

    /// Adds wisdom for later calls.
    pub(crate) fn take_wisdom(&self, wisdom: &Wisdom) {
        let mut table = self.table();
        table.wisdom.absorb(wisdom);
        self.is_wise.store(!table.wisdom.is_empty(), Ordering::Relaxed);
    }

    /// Returns whether there is any wisdom.
    #[inline]
    pub(crate) fn is_wise(&self) -> bool {
        self.is_wise.load(Ordering::Relaxed)
    }

    /// Returns the algorithm that wisdom gives for a call.
    #[inline]
    pub(crate) fn advice(&self, call: &Call) -> Option<&'static dyn Algorithm> {
        if !self.is_wise() {
            return None;
        }
        self.table().wisdom.find(call).map(|(algorithm, _)| algorithm)
    }
}

impl Communicator {
    /// Adds lines of wisdom for later calls on this communicator and its copies; they take
    /// precedence over lines added before. Local, but all ranks must add the same lines between the
    /// same two calls.
    #[doc(hidden)]
    pub fn advise(&self, lines: &str) {
        self.learned().take_wisdom(&Wisdom::read(lines).0);
    }

    /// What reductions of this rank have read in place, for tests. Local.
    #[doc(hidden)]
    pub fn in_place_counters(&self) -> motet_fabric::endpoint::InPlaceCounters {
        self.core().engine().in_place_counters()
    }

    /// Returns the counters of the caches of this rank, for all communicators. Local.
    ///
    /// ```
    /// use motet::{Info, PREVIOUS, REUSE, Sum};
    ///
    /// motet::threads(2, |world| {
    ///     let hint = |key| Info::new().with(key, "true");
    ///     drop(world.allreduce_init(vec![1], Sum, &hint(REUSE))?);
    ///     drop(world.dup()?.allreduce_init(vec![2], Sum, &hint(PREVIOUS))?);
    ///     assert_eq!(world.cache_counters().previous_hits, 1);
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn cache_counters(&self) -> CacheCounters {
        *self.core().engine().cache().counters()
    }
}
