//! What the ranks of a communicator have learned about their calls, and how all come to know it.
//!
//! **Why it is kept with the communicator.** All ranks of a call must choose the same algorithm,
//! and an init that is local asks nobody. So a choice that was measured may only be used where all
//! ranks know it at the same point. The calls of one communicator are made in one order on all its
//! ranks; what an enforced init learns is the same on all of them; and it is entered here, and
//! looked up here, in that order. So at each call all ranks hold the same table. A rank's own cache
//! could not do this: what it holds depends on what else the rank did.
//!
//! A copy of the communicator takes a copy of the table when the call that copies it is made, which
//! has a place in the same order. What either of the two learns later the other does not know.
//!
//! **Keys.** What all ranks of a call know to be equal: the collective, the number of ranks, the
//! size, the root, whether the operator commutes, the hint for overlap, and the group. Of an
//! irregular call they know too little of each other for that, so what was learned of it is kept by
//! the rank's own call under the number of the init that learned it, and is used in an enforced
//! init only, where the ranks can compare these numbers: all must have found the same.
//!
//! **Wisdom** is the same in lines, for other runs of a program and for all calls, not only those
//! with the hint `previous`. What [`Communicator::merge_wisdom`] brings together counts for later
//! calls of that communicator and of its copies, for the same reason.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use motet_plan::select::Wisdom;
use motet_plan::{Algorithm, Call, Collective};

use crate::base::hints::Overlap;
use crate::comm::communicator::Communicator;
use crate::engine::CacheCounters;

/// Choices kept by one communicator. The inits that would learn more learn in vain: which are
/// forgotten would have to be the same on all ranks.
const CHOICES: usize = 1024;

/// What is equal on all ranks of a call, or of an irregular one what this rank knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    what: What,
    overlap: Overlap,
    /// A fingerprint of the group, if the call takes one.
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

    /// Whether all ranks that make the call have the same key.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.what, What::Regular { .. })
    }
}

/// Whether all ranks know the sizes of all. What is not named here is kept by each rank's own call:
/// that is always safe.
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

/// A choice that was measured.
#[derive(Clone, Debug)]
pub(crate) struct Lesson {
    pub(crate) algorithm: &'static dyn Algorithm,
    /// What was measured, for people.
    pub(crate) reason: String,
    /// The number of the init that learned it.
    pub(crate) number: u64,
}

#[derive(Clone, Default)]
struct Table {
    lessons: HashMap<Key, Lesson>,
    wisdom: Wisdom,
}

/// What the ranks of a communicator have learned.
#[derive(Default)]
pub(crate) struct CommWisdom {
    table: Mutex<Table>,
    /// Whether there is wisdom. Most communicators have none, and their calls need not look.
    is_wise: AtomicBool,
}

impl CommWisdom {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, for a copy of the communicator.
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

    /// Takes wisdom for later calls.
    pub(crate) fn take_wisdom(&self, wisdom: &Wisdom) {
        let mut table = self.table();
        table.wisdom.absorb(wisdom);
        self.is_wise.store(!table.wisdom.is_empty(), Ordering::Relaxed);
    }

    /// Whether wisdom says anything at all.
    #[inline]
    pub(crate) fn is_wise(&self) -> bool {
        self.is_wise.load(Ordering::Relaxed)
    }

    /// What wisdom says of a call.
    #[inline]
    pub(crate) fn advice(&self, call: &Call) -> Option<&'static dyn Algorithm> {
        if !self.is_wise() {
            return None;
        }
        self.table().wisdom.find(call).map(|(algorithm, _)| algorithm)
    }
}

impl Communicator {
    /// Lets lines of wisdom count for later calls on this communicator and its copies, before what
    /// is known. Local, but all ranks must do the same between the same two calls.
    #[doc(hidden)]
    pub fn advise(&self, lines: &str) {
        self.learned().take_wisdom(&Wisdom::read(lines).0);
    }

    /// What the caches of this rank did so far, whatever the communicator. Local.
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
