//! The communicator: a group of ranks whose messages are separate from all other communicators.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use motet_plan::NodeMap;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::group::{Comparison, Group};
use crate::base::info::{DETERMINISTIC, Info};
use crate::comm::attributes::Attributes;
use crate::comm::checked_comm::CheckedComm;
use crate::comm::error_handler::ErrorHandler;
use crate::comm::learned::CommWisdom;
use crate::comm::nesting::Nesting;
use crate::comm::op_handle::{CallOrigin, CommContext};
use crate::comm::partitioned_sequence::PartitionedSequence;
use crate::comm::topology::Placed;
use crate::engine::context::{ContextKind, context};
use crate::engine::{OpKey, Selection, Slot};
use crate::rank::RankContext;

/// Numbers the operations that all ranks begin in the same order. Equal numbers match across ranks.
pub(crate) struct Sequence {
    context: u64,
    next: AtomicU64,
}

impl Sequence {
    pub(crate) fn new(context: u64, first: u64) -> Sequence {
        Sequence { context, next: AtomicU64::new(first) }
    }

    /// Takes the next number. Two threads that call this at the same time may get the same number:
    /// in that case the program has not fixed the order of its operations, on which all ranks must
    /// agree.
    #[inline]
    fn next(&self) -> OpKey {
        let tag = self.next.load(Ordering::Relaxed);
        self.next.store(tag + 1, Ordering::Relaxed);
        OpKey { context: self.context, tag }
    }

    /// Returns the next number without taking it.
    fn peek(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

/// A group of ranks with its own communication context: its messages never match those of another
/// communicator. (MPI 4.1 §7)
///
/// All ranks of a communicator must call its collectives in the same order. Several threads of a
/// rank may use a communicator if the program fixes that order.
///
/// Dropping a communicator is local: operations that have been started go on, and persistent
/// operations can still be started.
pub struct Communicator {
    home: Arc<CommContext>,
    /// Identifier: unique in the world, and equal on all ranks of the communicator.
    id: u64,
    collectives: Sequence,
    persistents: Sequence,
    topology: Option<Arc<Placed>>,
    /// Holds the buffer for buffered sends, if one is attached.
    slot: Slot,
    /// Numbers the inits of partitioned messages.
    inits: PartitionedSequence,
    info: Mutex<Info>,
    /// Whether the hints ask for deterministic reductions.
    deterministic: AtomicBool,
    attributes: Attributes<Communicator>,
    learned: CommWisdom,
    /// The open two-phase collectives.
    nesting: Nesting,
    /// The node of each rank, computed on first use.
    division: OnceLock<NodeMap>,
    /// In check mode: reports the calls of this rank to the other ranks.
    membership: Option<CheckedComm>,
}

impl Communicator {
    /// Makes the communicator of all ranks.
    pub(crate) fn world(core: Arc<RankContext>) -> Communicator {
        let group = Group::world(core.ranks());
        let rank = core.me().index();
        let world =
            Communicator::new(CommContext::new(core, group, rank, ErrorHandler::default()), 0);
        world.set_name("world");
        world
    }

    pub(crate) fn new(home: Arc<CommContext>, id: u64) -> Communicator {
        let membership = CheckedComm::begin(home.core.watch(), &home, id);
        let mut communicator = Communicator::unchecked(home, id);
        communicator.membership = membership;
        communicator
    }

    /// Makes a communicator whose calls check mode does not report to the other ranks.
    pub(crate) fn unchecked(home: Arc<CommContext>, id: u64) -> Communicator {
        let first = home.core.watch().first;
        Communicator {
            membership: None,
            home,
            id,
            collectives: Sequence::new(context(id, ContextKind::Collective), first),
            persistents: Sequence::new(context(id, ContextKind::Persistent), first),
            slot: Slot::default(),
            inits: PartitionedSequence::default(),
            info: Mutex::default(),
            deterministic: AtomicBool::new(false),
            attributes: Attributes::default(),
            learned: CommWisdom::default(),
            nesting: Nesting::default(),
            division: OnceLock::new(),
            topology: None,
        }
    }

    /// Replaces the numbering of the collectives. Used when only some of the ranks agree on a new
    /// communicator, while the other ranks do not take part.
    pub(crate) fn with_collectives(mut self, collectives: Sequence) -> Communicator {
        self.collectives = collectives;
        self
    }

    /// Attaches a topology.
    pub(crate) fn place(mut self, placed: Placed) -> Communicator {
        self.topology = Some(Arc::new(placed));
        self
    }

    /// Sets what a copy inherits from its original: attributes, topology and learned choices.
    pub(crate) fn taking_over(
        mut self,
        attributes: Attributes<Communicator>,
        topology: Option<Arc<Placed>>,
        learned: CommWisdom,
    ) -> Communicator {
        self.attributes = attributes;
        self.topology = topology;
        self.learned = learned;
        self
    }

    pub(crate) fn shared_topology(&self) -> Option<Arc<Placed>> {
        self.topology.clone()
    }

    pub(crate) fn placed(&self) -> Option<&Placed> {
        self.topology.as_deref()
    }

    /// Returns the division of the ranks into nodes; calls `make` only the first time.
    pub(crate) fn kept_division(&self, make: impl FnOnce() -> NodeMap) -> &NodeMap {
        self.division.get_or_init(make)
    }

    /// Returns the rank of the caller, less than [`size`](Communicator::size). (`MPI_Comm_rank`)
    pub fn rank(&self) -> usize {
        self.home.rank
    }

    /// Returns the number of ranks. (`MPI_Comm_size`)
    pub fn size(&self) -> usize {
        self.home.group.size()
    }

    /// Returns the group of the ranks, in rank order. (`MPI_Comm_group`)
    pub fn group(&self) -> &Group {
        &self.home.group
    }

    /// Returns the caller's rank in a group, or `None` if it is not a member. (`MPI_Group_rank`)
    pub fn place_in(&self, group: &Group) -> Option<usize> {
        group.rank_of_peer(self.core().me())
    }

    /// Compares the contexts and groups of two communicators. Communicators of different worlds, or
    /// handles of different ranks, are [`Unequal`](Comparison::Unequal). Local.
    /// (`MPI_Comm_compare`, MPI 4.1 §7.4.1)
    pub fn compare(&self, other: &Communicator) -> Comparison {
        if !Arc::ptr_eq(self.core(), other.core()) {
            return Comparison::Unequal;
        }
        match self.group().compare(other.group()) {
            Comparison::Identical if self.id != other.id => Comparison::Congruent,
            alike => alike,
        }
    }

    /// Returns the name, which appears in error messages. It is empty until
    /// [`set_name`](Communicator::set_name) is called, except for the world. Local.
    /// (`MPI_Comm_get_name`, MPI 4.1 §7.8)
    pub fn name(&self) -> String {
        self.home.error_context.name()
    }

    /// Sets the name. Local; copies do not inherit it. (`MPI_Comm_set_name`)
    pub fn set_name(&self, name: impl Into<String>) {
        let name = name.into();
        if let Some(membership) = self.membership() {
            membership.name(&name);
        }
        self.home.error_context.set_name(name);
    }

    /// Returns the hints in force: those given at creation and those set since. Copies do not
    /// inherit hints. (`MPI_Comm_get_info`, MPI 4.1 §7.4.4)
    pub fn info(&self) -> Info {
        self.info.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets hints; hints that `info` does not name keep their values. All ranks must call this with
    /// the same hints, but the call does not wait. (`MPI_Comm_set_info`, MPI 4.1 §7.4.4)
    ///
    /// The hint [`DETERMINISTIC`] with the value `true` makes every later reduction (for a
    /// persistent one, every later init) bitwise reproducible for the same data, ranks and type:
    /// ranks may be threads or processes on any number of cores, may arrive in any order, and any
    /// algorithm may be requested by name or by wisdom. The library then chooses the algorithm by
    /// the call alone, which may be slower. A hint given to a persistent operation overrides the
    /// hint of the communicator. Ranks that set different values may wait for each other forever;
    /// check mode reports them.
    pub fn set_info(&self, info: &Info) {
        let mut hints = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        hints.update(info);
        self.deterministic.store(hints.says(DETERMINISTIC) == Some(true), Ordering::Relaxed);
    }

    /// Returns how to choose the algorithm of a reduction; `own` is its own hint, if it has one.
    pub(crate) fn selection(&self, own: Option<bool>) -> Selection {
        let deterministic = own.unwrap_or_else(|| self.deterministic.load(Ordering::Relaxed));
        if deterministic { Selection::Fixed } else { Selection::Tuned }
    }

    /// Returns the selection rule for a repeated call if the rule is fixed. `None` if learned
    /// choices may change it at any call.
    pub(crate) fn replay_selection(&self) -> Option<Selection> {
        (!self.learned().is_wise()).then(|| self.selection(None))
    }

    /// Frees the communicator, as dropping it does, and reports errors of its delete callbacks.
    /// Local: operations that have been started go on. (`MPI_Comm_free`)
    ///
    /// # Errors
    /// The error of the first delete callback that fails; the communicator is freed nevertheless.
    pub fn free(self) -> Result<()> {
        let cleared = self.attributes.clear(&self);
        cleared.map_err(|error| self.home.error_of_callback("free", error))
    }

    /// Returns the identifier: unique in the world, and equal on all ranks of the communicator.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn home(&self) -> &Arc<CommContext> {
        &self.home
    }

    /// Returns the algorithm choices that its ranks have learned from measured calls.
    pub(crate) fn learned(&self) -> &CommWisdom {
        &self.learned
    }

    pub(crate) fn attributes(&self) -> &Attributes<Communicator> {
        &self.attributes
    }

    /// Makes the error of a call and passes it to the error handler.
    pub(crate) fn error(&self, call: &'static str, kind: ErrorKind) -> Error {
        self.home.error(call, kind)
    }

    /// Returns the context of one kind of traffic.
    pub(crate) fn context(&self, traffic: ContextKind) -> u64 {
        context(self.id, traffic)
    }

    /// Returns the counter of partitioned inits.
    pub(crate) fn inits(&self) -> &PartitionedSequence {
        &self.inits
    }

    /// Takes the number of the next collective.
    pub(crate) fn next_collective(&self) -> OpKey {
        self.collectives.next()
    }

    /// Takes the number of the next persistent collective. These are counted apart: they match by
    /// the order of their inits.
    pub(crate) fn next_persistent(&self) -> OpKey {
        self.persistents.next()
    }

    /// Returns the number that the next non-persistent collective will take.
    pub(crate) fn collectives_begun(&self) -> u64 {
        self.collectives.peek()
    }

    /// Returns the part that reports calls to the other ranks; `None` outside check mode.
    #[inline]
    pub(crate) fn membership(&self) -> Option<&CheckedComm> {
        self.membership.as_ref()
    }

    pub(crate) fn origin(&self, call: &'static str) -> CallOrigin {
        CallOrigin { home: self.home.clone(), call }
    }

    pub(crate) fn core(&self) -> &Arc<RankContext> {
        &self.home.core
    }

    /// Returns the record of open two-phase collectives.
    pub(crate) fn nesting(&self) -> &Nesting {
        &self.nesting
    }

    /// Returns the slot that may hold a buffer for buffered sends.
    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        // A drop cannot return the error of a callback; `free` does.
        let _ = self.attributes.clear(self);
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
