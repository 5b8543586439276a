//! Communicators: a group of ranks that talk among themselves.

mod create;
mod duplicate;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::check::Membership;
use crate::core::Core;
use crate::engine::Number;
use crate::flight::{Home, Origin};
use crate::group::{Comparison, Group};
use crate::info::Info;
pub use create::SplitType;
pub use duplicate::CommunicatorRequest;

/// The separate worlds of one communicator: messages of different kinds never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    PointToPoint,
    Collective,
    Persistent,
    /// What a part of the ranks needs to agree on a communicator of their own.
    Creation,
    /// What the ranks tell each other of their calls, in check mode.
    Check,
}

/// Numbers for operations that all ranks begin in one order: all count alike.
struct Sequence {
    context: u64,
    next: AtomicU64,
}

impl Sequence {
    fn new(context: u64, first: u64) -> Sequence {
        Sequence { context, next: AtomicU64::new(first) }
    }

    fn next(&self) -> Number {
        Number { context: self.context, tag: self.next.fetch_add(1, Ordering::Relaxed) }
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
/// Dropping a communicator is local; operations that have been started go on.
pub struct Communicator {
    home: Arc<Home>,
    /// Unique in the world, and the same on all ranks of the communicator.
    id: u64,
    collectives: Sequence,
    persistents: Sequence,
    info: Info,
    name: Mutex<String>,
    /// In check mode: what tells the other ranks of its calls.
    membership: Option<Membership>,
}

impl Communicator {
    /// The communicator of all ranks.
    pub(crate) fn world(core: Arc<Core>) -> Communicator {
        let group = Group::world(core.ranks());
        let rank = core.me().index();
        let world = Communicator::new(Arc::new(Home { core, group, rank }), 0);
        world.set_name("world");
        world
    }

    fn new(home: Arc<Home>, id: u64) -> Communicator {
        let membership = Membership::begin(home.core.watch(), &home, id);
        Communicator { membership, ..Communicator::untold(home, id) }
    }

    /// One of whose calls nobody is told.
    fn untold(home: Arc<Home>, id: u64) -> Communicator {
        let first = home.core.watch().first;
        Communicator {
            membership: None,
            home,
            id,
            collectives: Sequence::new(context(id, Traffic::Collective), first),
            persistents: Sequence::new(context(id, Traffic::Persistent), first),
            info: Info::new(),
            name: Mutex::default(),
        }
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
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives it a name. Local; copies do not inherit it. (`MPI_Comm_set_name`)
    pub fn set_name(&self, name: impl Into<String>) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name.into();
    }

    /// The hints that it was made with. Copies do not inherit them. (`MPI_Comm_get_info`,
    /// MPI 4.1 §7.4.4)
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The context of one kind of traffic.
    pub(crate) fn context(&self, traffic: Traffic) -> u64 {
        context(self.id, traffic)
    }

    /// The number of the next collective.
    pub(crate) fn next_collective(&self) -> Number {
        self.collectives.next()
    }

    /// The number of the next persistent collective, counted apart: those match by their inits.
    pub(crate) fn next_persistent(&self) -> Number {
        self.persistents.next()
    }

    /// The number that the next collective that is not persistent will have.
    pub(crate) fn collectives_begun(&self) -> u64 {
        self.collectives.peek()
    }

    /// What tells the other ranks of calls, if anything does.
    #[inline]
    pub(crate) fn membership(&self) -> Option<&Membership> {
        self.membership.as_ref()
    }

    pub(crate) fn origin(&self, call: &'static str) -> Origin {
        Origin { home: self.home.clone(), call }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.home.core
    }
}

/// The context of one kind of traffic of the communicator with this id.
fn context(id: u64, traffic: Traffic) -> u64 {
    id * 8 + traffic as u64
}

/// The communicator and the kind of traffic of a context.
pub(crate) fn split_context(context: u64) -> (u64, Traffic) {
    let all = [
        Traffic::PointToPoint,
        Traffic::Collective,
        Traffic::Persistent,
        Traffic::Creation,
        Traffic::Check,
    ];
    (context / 8, all[(context % 8) as usize])
}

impl fmt::Debug for Communicator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
