//! Communicators: a group of ranks that talk among themselves.

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

/// Numbers for operations that all ranks begin in one order: all count alike.
pub(crate) struct Sequence {
    context: u64,
    next: AtomicU64,
}

impl Sequence {
    pub(crate) fn new(context: u64, first: u64) -> Sequence {
        Sequence { context, next: AtomicU64::new(first) }
    }

    /// Threads that take numbers at the same time may take the same one: then nobody can say in
    /// which order their operations begin, which all ranks must agree on.
    #[inline]
    fn next(&self) -> OpKey {
        let tag = self.next.load(Ordering::Relaxed);
        self.next.store(tag + 1, Ordering::Relaxed);
        OpKey { context: self.context, tag }
    }

    /// The number that comes next.
    fn peek(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }
}

/// A group of ranks, with a context of its own: its messages never meet those of another
/// communicator. (MPI 4.1 §7)
///
/// All ranks of a communicator must call its collectives in the same order. A rank may use a
/// communicator from several threads as long as that order stays clear.
///
/// Dropping a communicator is local; operations that have been started go on, and persistent ones
/// can still be started.
pub struct Communicator {
    home: Arc<CommContext>,
    /// Unique in the world, and the same on all ranks of the communicator.
    id: u64,
    collectives: Sequence,
    persistents: Sequence,
    topology: Option<Arc<Placed>>,
    /// Where a buffer for buffered sends may be attached.
    slot: Slot,
    /// Of messages in parts.
    inits: PartitionedSequence,
    info: Mutex<Info>,
    /// What the hints say of it.
    deterministic: AtomicBool,
    attributes: Attributes<Communicator>,
    learned: CommWisdom,
    /// Of its two-phase collectives.
    nesting: Nesting,
    /// Which of its ranks share a node.
    division: OnceLock<NodeMap>,
    /// In check mode: what tells the other ranks of its calls.
    membership: Option<CheckedComm>,
}

impl Communicator {
    /// The communicator of all ranks.
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
        let mut told = Communicator::untold(home, id);
        told.membership = membership;
        told
    }

    /// One of whose calls nobody is told.
    pub(crate) fn untold(home: Arc<CommContext>, id: u64) -> Communicator {
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

    /// The same, but its collectives are numbered otherwise: those of a few ranks, that agree on a
    /// communicator of their own while the others do what they like.
    pub(crate) fn with_collectives(mut self, collectives: Sequence) -> Communicator {
        self.collectives = collectives;
        self
    }

    /// The same, with a topology.
    pub(crate) fn place(mut self, placed: Placed) -> Communicator {
        self.topology = Some(Arc::new(placed));
        self
    }

    /// The same, with what a copy takes over from its original.
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

    /// The division into nodes; made the first time.
    pub(crate) fn kept_division(&self, make: impl FnOnce() -> NodeMap) -> &NodeMap {
        self.division.get_or_init(make)
    }

    /// The rank of the caller, below [`size`](Communicator::size).
    pub fn rank(&self) -> usize {
        self.home.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.home.group.size()
    }

    /// The ranks, in order.
    pub fn group(&self) -> &Group {
        &self.home.group
    }

    /// The caller's rank in a group, if it is a member. (`MPI_Group_rank`)
    pub fn place_in(&self, group: &Group) -> Option<usize> {
        group.rank_of_peer(self.core().me())
    }

    /// How alike the two are; of different worlds or ranks they are
    /// [`Unequal`](Comparison::Unequal). Local. (`MPI_Comm_compare`, MPI 4.1 §7.4.1)
    pub fn compare(&self, other: &Communicator) -> Comparison {
        if !Arc::ptr_eq(self.core(), other.core()) {
            return Comparison::Unequal;
        }
        match self.group().compare(other.group()) {
            Comparison::Identical if self.id != other.id => Comparison::Congruent,
            alike => alike,
        }
    }

    /// The name, for messages to people; empty unless one was given, except that of the world.
    /// Local. (`MPI_Comm_get_name`, MPI 4.1 §7.8)
    pub fn name(&self) -> String {
        self.home.particulars.name()
    }

    /// Gives it a name. Local; copies do not inherit it. (`MPI_Comm_set_name`)
    pub fn set_name(&self, name: impl Into<String>) {
        let name = name.into();
        if let Some(membership) = self.membership() {
            membership.name(&name);
        }
        self.home.particulars.set_name(name);
    }

    /// The hints that are in force: those that it was made with, and those that were set since.
    /// Copies do not inherit them. (`MPI_Comm_get_info`, MPI 4.1 §7.4.4)
    pub fn info(&self) -> Info {
        self.info.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets hints; those that are not named stay as they are. All ranks must call this with the
    /// same hints, but nothing is waited for. (`MPI_Comm_set_info`, MPI 4.1 §7.4.4)
    ///
    /// The hint [`DETERMINISTIC`], `true`, says that each reduction that is
    /// begun from now on (or, if persistent, initialized) has the same result, bit by bit, for the
    /// same data, ranks and type: whether ranks are threads or processes, on however many cores,
    /// whatever algorithms are asked for by name or by wisdom, and in whatever order ranks arrive.
    /// The algorithm then follows from the call alone, which may be a slower one. The hint of a
    /// persistent operation of its own counts before that of the communicator. Ranks that say
    /// different things may wait for each other without end; check mode tells them.
    pub fn set_info(&self, info: &Info) {
        let mut hints = self.info.lock().unwrap_or_else(PoisonError::into_inner);
        hints.update(info);
        self.deterministic.store(hints.says(DETERMINISTIC) == Some(true), Ordering::Relaxed);
    }

    /// How the algorithm of a reduction is chosen whose own hint, if it has one, is this.
    pub(crate) fn selection(&self, own: Option<bool>) -> Selection {
        let deterministic = own.unwrap_or_else(|| self.deterministic.load(Ordering::Relaxed));
        if deterministic { Selection::Fixed } else { Selection::Tuned }
    }

    /// The rule of a call that is made again, if that has not changed: what is learned may change
    /// it at any call.
    pub(crate) fn selection_again(&self) -> Option<Selection> {
        (!self.learned().is_wise()).then(|| self.selection(None))
    }

    /// Ends the communicator, as dropping it does, and tells what its delete callbacks say. Local:
    /// operations that have been started go on. (`MPI_Comm_free`)
    ///
    /// # Errors
    /// That of the first delete callback that fails; the communicator is gone nevertheless.
    pub fn free(self) -> Result<()> {
        let cleared = self.attributes.clear(&self);
        cleared.map_err(|error| self.home.error_of_callback("free", error))
    }

    /// Unique in the world, and the same on all ranks of the communicator.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn home(&self) -> &Arc<CommContext> {
        &self.home
    }

    /// What its ranks have learned about their calls.
    pub(crate) fn learned(&self) -> &CommWisdom {
        &self.learned
    }

    pub(crate) fn attributes(&self) -> &Attributes<Communicator> {
        &self.attributes
    }

    /// An error of a call, which has been brought before the error handler.
    pub(crate) fn error(&self, call: &'static str, kind: ErrorKind) -> Error {
        self.home.error(call, kind)
    }

    /// The context of one kind of traffic.
    pub(crate) fn context(&self, traffic: ContextKind) -> u64 {
        context(self.id, traffic)
    }

    /// Counts the inits of messages in parts.
    pub(crate) fn inits(&self) -> &PartitionedSequence {
        &self.inits
    }

    /// The number of the next collective.
    pub(crate) fn next_collective(&self) -> OpKey {
        self.collectives.next()
    }

    /// The number of the next persistent collective, counted apart: those match by their inits.
    pub(crate) fn next_persistent(&self) -> OpKey {
        self.persistents.next()
    }

    /// The number that the next collective that is not persistent will have.
    pub(crate) fn collectives_begun(&self) -> u64 {
        self.collectives.peek()
    }

    /// What tells the other ranks of calls, if anything does.
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

    /// Which of its two-phase collectives are open.
    pub(crate) fn nesting(&self) -> &Nesting {
        &self.nesting
    }

    /// Where its buffer for buffered sends may be attached.
    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        // There is nobody to tell an error to; `free` is for those who want to know.
        let _ = self.attributes.clear(self);
    }
}

impl fmt::Debug for Communicator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
