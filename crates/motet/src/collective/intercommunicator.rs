//! Intercommunicators: two groups of ranks that communicate with each other. (MPI 4.1 §7.6)
//!
//! An intercommunicator consists of two internal communicators. The **union** has the ranks of both
//! groups, first those of the *left* group: the group whose first rank comes first in the world,
//! which both sides know. All collective calls run on it: the agreement on identifiers, and the
//! collectives. The **far** communicator has the other group, with the caller's rank in its own
//! group: a message to its rank 2 goes to rank 2 of the other group, and the sources of its
//! messages are ranks of the other group, too. Both have the same identifier and thus the same
//! contexts on all ranks: messages of the far communicator on this side match those of the far
//! communicator on the other side. The two share name, error handler and hints.

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

/// Two groups of ranks. The caller is in the *local* group; its messages go to the other one, the
/// *remote* group. (MPI 4.1 §7.6)
///
/// Made by [`Communicator::intercomm_create`]. Dropping it is local; operations that have been
/// started go on.
pub struct Intercommunicator {
    union: Communicator,
    far: Communicator,
    local: Group,
    attributes: Attributes<Intercommunicator>,
}

/// The two groups of an intercommunicator, from the point of view of one rank.
#[derive(Clone)]
struct Groups {
    local: Group,
    remote: Group,
}

impl Groups {
    /// Returns whether the local group comes first in the union.
    fn is_left(&self) -> bool {
        self.local.peer(0) < self.remote.peer(0)
    }

    /// Returns the ranks of both groups, those of the left one first.
    fn union(&self) -> Group {
        if self.is_left() { self.local.union(&self.remote) } else { self.remote.union(&self.local) }
    }
}

impl Intercommunicator {
    /// Makes an intercommunicator of two groups with the identifier `id`; its handle belongs to the
    /// caller's rank in the local group.
    fn new(parent: &CommContext, groups: Groups, id: u64) -> Intercommunicator {
        let me = parent.core.me();
        let rank = groups.local.rank_of_peer(me).expect("the caller is in its local group");
        let group = groups.union();
        let place = group.rank_of_peer(me).expect("the caller is in the union");
        let home =
            CommContext::new(parent.core.clone(), group, place, parent.error_context.handler());
        let home = home.called(rank, groups.local.clone());
        Intercommunicator::of(Communicator::new(home, id), groups)
    }

    /// Makes an intercommunicator over a union.
    fn of(union: Communicator, groups: Groups) -> Intercommunicator {
        let home = union.home();
        let far = CommContext {
            core: home.core.clone(),
            group: groups.remote,
            rank: home.error_context.rank,
            error_context: home.error_context.clone(),
        };
        let far = Communicator::unchecked(Arc::new(far), union.id());
        Intercommunicator { union, far, local: groups.local, attributes: Attributes::default() }
    }

    /// Returns the communicator of the ranks of both groups, on which collectives run.
    pub(crate) fn over_both(&self) -> &Communicator {
        &self.union
    }

    /// Returns the communicator for messages: its ranks are those of the remote group.
    pub(crate) fn far(&self) -> &Communicator {
        &self.far
    }

    /// Returns the size of the left group.
    pub(crate) fn left(&self) -> u32 {
        let near_is_left = self.union.rank() == self.rank();
        (if near_is_left { self.size() } else { self.remote_size() }) as u32
    }

    /// Returns the first rank of the remote group in the union.
    pub(crate) fn first_far(&self) -> usize {
        let near_is_left = self.union.rank() == self.rank();
        if near_is_left { self.size() } else { 0 }
    }

    /// Orders a value of the local and one of the remote group as the union orders the groups.
    pub(crate) fn in_order<T>(&self, near: T, far: T) -> [T; 2] {
        if self.union.rank() == self.rank() { [near, far] } else { [far, near] }
    }

    /// Returns the rank of the caller in its local group. (`MPI_Comm_rank`)
    pub fn rank(&self) -> usize {
        self.far.rank()
    }

    /// Returns the size of the local group. (`MPI_Comm_size`)
    pub fn size(&self) -> usize {
        self.local.size()
    }

    /// Returns the size of the remote group. (`MPI_Comm_remote_size`)
    pub fn remote_size(&self) -> usize {
        self.far.size()
    }

    /// Returns the local group. (`MPI_Comm_group`)
    pub fn group(&self) -> &Group {
        &self.local
    }

    /// Returns the remote group. (`MPI_Comm_remote_group`)
    pub fn remote_group(&self) -> &Group {
        self.far.group()
    }

    /// Compares two intercommunicators, both their local and their remote groups. Local.
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

    /// Returns the name, which appears in error messages; empty unless one was set. Local.
    /// (`MPI_Comm_get_name`)
    pub fn name(&self) -> String {
        self.union.name()
    }

    /// Sets the name. Local; copies do not inherit it. (`MPI_Comm_set_name`)
    pub fn set_name(&self, name: impl Into<String>) {
        self.union.set_name(name);
    }

    /// Returns the hints in force. (`MPI_Comm_get_info`)
    pub fn info(&self) -> Info {
        self.union.info()
    }

    /// Sets hints; hints that `info` does not name keep their values. (`MPI_Comm_set_info`)
    pub fn set_info(&self, info: &Info) {
        self.union.set_info(info);
    }

    /// Returns the error handler. (`MPI_Comm_get_errhandler`)
    pub fn error_handler(&self) -> ErrorHandler {
        self.union.error_handler()
    }

    /// Sets the error handler for all later errors. Local. (`MPI_Comm_set_errhandler`)
    pub fn set_error_handler(&self, handler: ErrorHandler) {
        self.union.set_error_handler(handler);
    }

    /// Passes an error of the program to the handler. (`MPI_Comm_call_errhandler`)
    pub fn call_error_handler(&self, error: &Error) {
        self.union.call_error_handler(error);
    }

    /// Ends the job; see [`Communicator::abort`]. (`MPI_Abort`)
    pub fn abort(&self, code: u8) -> ! {
        self.union.abort(code)
    }

    /// Attaches a value; see [`Communicator::set_attribute`]. (`MPI_Comm_set_attr`)
    ///
    /// # Errors
    /// The delete callback of the former value failed; that value stays then.
    pub fn set_attribute<T>(&self, keyval: &Keyval<T, Intercommunicator>, value: T) -> Result<()>
    where
        T: Send + Sync + 'static,
    {
        let set = self.attributes.set(self, keyval, Arc::new(value));
        set.map_err(|error| self.home().error_of_callback("set_attribute", error))
    }

    /// Returns the value of a key. Local. (`MPI_Comm_get_attr`)
    pub fn attribute<T>(&self, keyval: &Keyval<T, Intercommunicator>) -> Option<Arc<T>>
    where
        T: Send + Sync + 'static,
    {
        self.attributes.get(keyval)
    }

    /// Deletes a value, and returns whether there was one. Local. (`MPI_Comm_delete_attr`)
    ///
    /// # Errors
    /// The delete callback failed; the value stays then.
    pub fn delete_attribute<T>(&self, keyval: &Keyval<T, Intercommunicator>) -> Result<bool> {
        let deleted = self.attributes.delete(self, keyval);
        deleted.map_err(|error| self.home().error_of_callback("delete_attribute", error))
    }

    /// Makes an intercommunicator of the same groups with a new context; see [`Communicator::dup`].
    /// Collective over both groups. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// A rank has died or left; or a copy callback failed (at the rank where it failed).
    #[track_caller]
    pub fn dup(&self) -> Result<Intercommunicator> {
        self.duplicate("dup", &Info::new())?.wait()
    }

    /// Does the same as [`dup`](Intercommunicator::dup), and sets hints on the copy.
    /// (`MPI_Comm_dup_with_info`)
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
    /// A copy callback failed.
    #[track_caller]
    pub fn idup(&self) -> Result<CommunicatorRequest<Intercommunicator>> {
        self.duplicate("idup", &Info::new())
    }

    /// Nonblocking [`dup_with_info`](Intercommunicator::dup_with_info).
    /// (`MPI_Comm_idup_with_info`)
    ///
    /// # Errors
    /// A copy callback failed.
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

    /// Frees the intercommunicator, as dropping it does, and reports errors of its delete
    /// callbacks. Local. (`MPI_Comm_free`)
    ///
    /// # Errors
    /// The error of the first delete callback that fails; the intercommunicator is freed
    /// nevertheless.
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
        // A drop cannot return the error of a callback; `free` does.
        let _ = self.attributes.clear(self);
    }
}

impl fmt::Debug for Intercommunicator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, size, remote) = (self.rank(), self.size(), self.remote_size());
        write!(out, "Intercommunicator(rank {rank} of {size}, with {remote} others)")
    }
}
