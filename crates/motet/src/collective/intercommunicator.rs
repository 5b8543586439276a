//! Intercommunicators: two groups of ranks that talk to each other. (MPI 4.1 §7.6)
//!
//! One consists of two communicators that nobody sees. The **union** has the ranks of both groups,
//! those of the *left* one first: the group whose first rank comes first in the world, which both
//! sides know. All that is collective runs on it: agreeing on ids, and the collectives. The **far**
//! one has the other group, with the caller's rank in its own: a message to rank 2 of it goes to
//! rank 2 of the other group, and its sources are ranks of the other group too. Both have the same
//! id, so that they have the same contexts on all ranks: messages of the far one on this side meet
//! those of the far one on the other side. Name, error handler and hints are shared.

mod collectives;
mod create;
mod messages;

use std::fmt;
use std::sync::Arc;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::group::{Comparison, Group, GroupError};
use crate::base::info::Info;
use crate::comm::attributes::{Attributes, Keyval};
use crate::comm::communicator::Communicator;
use crate::comm::communicator_request::CommunicatorRequest;
use crate::comm::error_handler::ErrorHandler;
use crate::comm::op_handle::CommContext;
pub use create::MergeOrder;

/// Two groups of ranks, of which the caller is in one, its *local* group; what it sends goes to the
/// other one, the *remote* group. (MPI 4.1 §7.6)
///
/// It is made by [`Communicator::intercomm_create`]. Dropping it is local; operations that have
/// been started go on.
pub struct Intercommunicator {
    union: Communicator,
    far: Communicator,
    local: Group,
    attributes: Attributes<Intercommunicator>,
}

/// The two groups of an intercommunicator, as one rank sees them.
#[derive(Clone)]
struct Groups {
    local: Group,
    remote: Group,
}

impl Groups {
    /// Whether the local group comes first in the union.
    fn is_left(&self) -> bool {
        self.local.peer(0) < self.remote.peer(0)
    }

    /// The ranks of both, those of the left one first.
    fn union(&self) -> Group {
        if self.is_left() { self.local.union(&self.remote) } else { self.remote.union(&self.local) }
    }
}

impl Intercommunicator {
    /// The ranks of two groups under an id of their own; the caller has this rank in the local one.
    fn new(parent: &CommContext, groups: Groups, id: u64) -> Intercommunicator {
        let me = parent.core.me();
        let rank = groups.local.rank_of_peer(me).expect("the caller is in its local group");
        let group = groups.union();
        let place = group.rank_of_peer(me).expect("the caller is in the union");
        let home =
            CommContext::new(parent.core.clone(), group, place, parent.particulars.handler());
        let home = home.called(rank, groups.local.clone());
        Intercommunicator::of(Communicator::new(home, id), groups)
    }

    /// An intercommunicator over a union.
    fn of(union: Communicator, groups: Groups) -> Intercommunicator {
        let home = union.home();
        let far = CommContext {
            core: home.core.clone(),
            group: groups.remote,
            rank: home.particulars.rank,
            particulars: home.particulars.clone(),
        };
        let far = Communicator::untold(Arc::new(far), union.id());
        Intercommunicator { union, far, local: groups.local, attributes: Attributes::default() }
    }

    /// The communicator of the ranks of both groups, on which its collectives run.
    pub(crate) fn over_both(&self) -> &Communicator {
        &self.union
    }

    /// The communicator that messages go through: its ranks are those of the remote group.
    pub(crate) fn far(&self) -> &Communicator {
        &self.far
    }

    /// Ranks in the left group.
    pub(crate) fn left(&self) -> u32 {
        let near_is_left = self.union.rank() == self.rank();
        (if near_is_left { self.size() } else { self.remote_size() }) as u32
    }

    /// The first rank of the remote group in the union.
    pub(crate) fn first_far(&self) -> usize {
        let near_is_left = self.union.rank() == self.rank();
        if near_is_left { self.size() } else { 0 }
    }

    /// What belongs to the local and to the remote group in the order of the union.
    pub(crate) fn in_order<T>(&self, near: T, far: T) -> [T; 2] {
        if self.union.rank() == self.rank() { [near, far] } else { [far, near] }
    }

    /// The rank of the caller in its local group. (`MPI_Comm_rank`)
    pub fn rank(&self) -> usize {
        self.far.rank()
    }

    /// Ranks in the local group. (`MPI_Comm_size`)
    pub fn size(&self) -> usize {
        self.local.size()
    }

    /// Ranks in the remote group. (`MPI_Comm_remote_size`)
    pub fn remote_size(&self) -> usize {
        self.far.size()
    }

    /// The local group. (`MPI_Comm_group`)
    pub fn group(&self) -> &Group {
        &self.local
    }

    /// The remote group. (`MPI_Comm_remote_group`)
    pub fn remote_group(&self) -> &Group {
        self.far.group()
    }

    /// How alike the two are: both their local and their remote groups count. Local.
    /// (`MPI_Comm_compare`)
    pub fn compare(&self, other: &Intercommunicator) -> Comparison {
        if !Arc::ptr_eq(self.union.core(), other.union.core()) {
            return Comparison::Unequal;
        }
        let local = self.group().compare(other.group());
        match (local, self.remote_group().compare(other.remote_group())) {
            (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal,
            (Comparison::Identical, Comparison::Identical) => {
                let same = self.union.id() == other.union.id();
                if same { Comparison::Identical } else { Comparison::Congruent }
            }
            _ => Comparison::Similar,
        }
    }

    /// The name, for messages to people; empty unless one was given. Local.
    /// (`MPI_Comm_get_name`)
    pub fn name(&self) -> String {
        self.union.name()
    }

    /// Gives it a name. Local; copies do not inherit it. (`MPI_Comm_set_name`)
    pub fn set_name(&self, name: impl Into<String>) {
        self.union.set_name(name);
    }

    /// The hints that are in force. (`MPI_Comm_get_info`)
    pub fn info(&self) -> Info {
        self.union.info()
    }

    /// Sets hints; those that are not named stay as they are. (`MPI_Comm_set_info`)
    pub fn set_info(&self, info: &Info) {
        self.union.set_info(info);
    }

    /// What happens to its errors. (`MPI_Comm_get_errhandler`)
    pub fn error_handler(&self) -> ErrorHandler {
        self.union.error_handler()
    }

    /// Sets what happens to its errors from now on. Local. (`MPI_Comm_set_errhandler`)
    pub fn set_error_handler(&self, handler: ErrorHandler) {
        self.union.set_error_handler(handler);
    }

    /// Brings an error of the program's own before the handler. (`MPI_Comm_call_errhandler`)
    pub fn call_error_handler(&self, error: &Error) {
        self.union.call_error_handler(error);
    }

    /// Ends the job; see [`Communicator::abort`]. (`MPI_Abort`)
    pub fn abort(&self, code: u8) -> ! {
        self.union.abort(code)
    }

    /// Keeps a value with it; see [`Communicator::set_attribute`]. (`MPI_Comm_set_attr`)
    ///
    /// # Errors
    /// That of the delete callback for the former value, which stays then.
    pub fn set_attribute<T>(&self, keyval: &Keyval<T, Intercommunicator>, value: T) -> Result<()>
    where
        T: Send + Sync + 'static,
    {
        let set = self.attributes.set(self, keyval, Arc::new(value));
        set.map_err(|error| self.home().error_of_callback("set_attribute", error))
    }

    /// The value that is kept under a key. Local. (`MPI_Comm_get_attr`)
    pub fn attribute<T>(&self, keyval: &Keyval<T, Intercommunicator>) -> Option<Arc<T>>
    where
        T: Send + Sync + 'static,
    {
        self.attributes.get(keyval)
    }

    /// Takes a value away. Says whether there was one. Local. (`MPI_Comm_delete_attr`)
    ///
    /// # Errors
    /// That of the delete callback; the value stays then.
    pub fn delete_attribute<T>(&self, keyval: &Keyval<T, Intercommunicator>) -> Result<bool> {
        let deleted = self.attributes.delete(self, keyval);
        deleted.map_err(|error| self.home().error_of_callback("delete_attribute", error))
    }

    /// One of the same groups with a context of its own; see [`Communicator::dup`]. Collective
    /// over both groups. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// That a rank has died or left; that of a copy callback, at the rank where it fails.
    #[track_caller]
    pub fn dup(&self) -> Result<Intercommunicator> {
        self.duplicate("dup", &Info::new())?.wait()
    }

    /// As [`dup`](Intercommunicator::dup), with hints. (`MPI_Comm_dup_with_info`)
    ///
    /// # Errors
    /// As [`dup`](Intercommunicator::dup).
    #[track_caller]
    pub fn dup_with_info(&self, info: &Info) -> Result<Intercommunicator> {
        self.duplicate("dup_with_info", info)?.wait()
    }

    /// Nonblocking [`dup`](Intercommunicator::dup). (`MPI_Comm_idup`)
    ///
    /// # Errors
    /// That of a copy callback.
    #[track_caller]
    pub fn idup(&self) -> Result<CommunicatorRequest<Intercommunicator>> {
        self.duplicate("idup", &Info::new())
    }

    /// Nonblocking [`dup_with_info`](Intercommunicator::dup_with_info).
    /// (`MPI_Comm_idup_with_info`)
    ///
    /// # Errors
    /// That of a copy callback.
    #[track_caller]
    pub fn idup_with_info(&self, info: &Info) -> Result<CommunicatorRequest<Intercommunicator>> {
        self.duplicate("idup_with_info", info)
    }

    #[track_caller]
    fn duplicate(
        &self,
        call: &'static str,
        info: &Info,
    ) -> Result<CommunicatorRequest<Intercommunicator>> {
        let copied = self.attributes.copied(self);
        // Also if a callback has failed here: the others must not wait for this rank.
        let request = self.union.duplicate(call, info)?;
        let attributes = copied.map_err(|error| self.home().error_of_callback(call, error))?;
        let groups = self.groups();
        Ok(request.map(|union| {
            let mut copy = Intercommunicator::of(union, groups);
            copy.attributes = attributes;
            copy
        }))
    }

    /// Ends it, as dropping it does, and tells what its delete callbacks say. Local.
    /// (`MPI_Comm_free`)
    ///
    /// # Errors
    /// That of the first delete callback that fails; it is gone nevertheless.
    pub fn free(self) -> Result<()> {
        let cleared = self.attributes.clear(&self);
        cleared.map_err(|error| self.home().error_of_callback("free", error))
    }

    fn groups(&self) -> Groups {
        Groups { local: self.local.clone(), remote: self.remote_group().clone() }
    }

    fn home(&self) -> &Arc<CommContext> {
        self.union.home()
    }

    fn group_error(&self, call: &'static str, error: GroupError) -> Error {
        self.union.error(call, ErrorKind::Group(error))
    }
}

impl Drop for Intercommunicator {
    fn drop(&mut self) {
        // There is nobody to tell an error to; `free` is for those who want to know.
        let _ = self.attributes.clear(self);
    }
}

impl fmt::Debug for Intercommunicator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size, remote) = (self.rank(), self.size(), self.remote_size());
        write!(out, "Intercommunicator(rank {rank} of {size}, with {remote} others)")
    }
}
