//! Communicator duplication: the same ranks with a new context. (MPI 4.1 §7.4.2)
//!
//! The copy inherits attributes, topology, error handler and learned choices as they are when the
//! call is made, since the original may change or be freed before the ranks have agreed on an
//! identifier.

use std::sync::Arc;

use super::CollectiveArgs;
use crate::base::error::Result;
use crate::base::info::Info;
use crate::comm::attributes::Attributes;
use crate::comm::communicator::Communicator;
use crate::comm::communicator_request::CommunicatorRequest;
use crate::comm::learned::CommWisdom;
use crate::comm::op_handle::CommContext;
use crate::comm::request::Request;
use crate::comm::topology::Placed;
use crate::data::buffer::SendBuffer;

/// Makes `clone` fail to compile with a message that names `dup`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a communicator is not copied by `clone`",
    label = "call `dup` instead",
    note = "`dup` makes a communicator of the same ranks, which messages do not pass to others by \
            mistake: all ranks call it",
    note = "threads of one rank share a communicator by `&` (in `std::thread::scope`) or in an \
            `Arc`"
)]
pub trait IsCopiedByDup<'a> {}

impl Communicator {
    /// Does not compile; the message says to use `dup`.
    #[doc(hidden)]
    #[allow(clippy::should_implement_trait)] // there is no such thing as a copy
    pub fn clone(&self) -> Communicator
    where
        for<'a> Communicator: IsCopiedByDup<'a>,
    {
        unreachable!("nothing implements the trait")
    }

    /// Makes a communicator of the same ranks with a new context. The copy inherits the topology,
    /// the error handler, and the attributes whose keyvals allow it, but neither name nor hints.
    /// Collective. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// A rank has died or left; or a copy callback failed (at the rank where it failed).
    #[track_caller]
    pub fn dup(&self) -> Result<Communicator> {
        self.duplicate("dup", &Info::new())?.wait()
    }

    /// Does the same as [`dup`](Communicator::dup), and sets hints on the copy. Unknown hints are
    /// kept and have no effect. (`MPI_Comm_dup_with_info`)
    ///
    /// # Errors
    /// As [`dup`](Communicator::dup).
    #[track_caller]
    pub fn dup_with_info(&self, info: &Info) -> Result<Communicator> {
        self.duplicate("dup_with_info", info)?.wait()
    }

    /// Nonblocking [`dup`](Communicator::dup). (`MPI_Comm_idup`)
    ///
    /// ```
    /// # motet::threads(3, |world| {
    /// let pending = world.idup()?;
    /// // ... something useful meanwhile ...
    /// let copy = pending.wait()?;
    /// assert_eq!(world.compare(&copy), motet::Comparison::Congruent);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// A copy callback failed.
    #[track_caller]
    pub fn idup(&self) -> Result<CommunicatorRequest> {
        self.duplicate("idup", &Info::new())
    }

    /// Nonblocking [`dup_with_info`](Communicator::dup_with_info). (`MPI_Comm_idup_with_info`)
    ///
    /// # Errors
    /// A copy callback failed.
    #[track_caller]
    pub fn idup_with_info(&self, info: &Info) -> Result<CommunicatorRequest> {
        self.duplicate("idup_with_info", info)
    }

    #[track_caller]
    pub(crate) fn duplicate(&self, call: &'static str, info: &Info) -> Result<CommunicatorRequest> {
        let copied = self.attributes().copied(self);
        // Also if a callback has failed here: the others must not wait for this rank.
        let id = self.agree_on_id(call)?;
        let attributes = copied.map_err(|error| self.home().error_of_callback(call, error))?;
        let copy = Copied {
            home: self.home().duplicate(),
            info: info.clone(),
            attributes,
            topology: self.shared_topology(),
            learned: self.learned().copied(),
        };
        Ok(CommunicatorRequest::new(id, |id| copy.communicator(id)))
    }

    /// Makes a communicator of the same ranks that inherits only the error handler.
    #[track_caller]
    pub(crate) fn bare_copy(&self, call: &'static str) -> Result<Communicator> {
        let id = self.agree_on_id(call)?.wait()?[0];
        Ok(Communicator::new(self.home().duplicate(), id))
    }

    /// Starts the agreement on an unused identifier, which rank 0 takes.
    #[track_caller]
    pub(super) fn agree_on_id(&self, call: &'static str) -> Result<Request<Vec<u64>>> {
        let id = if self.rank() == 0 { self.core().fresh_id() } else { 0 };
        self.post(vec![id], |parts| {
            self.prepare_own::<u64>(call, CollectiveArgs::bcast(self, Vec::span(parts), 0), None)
        })
    }
}

/// The parts of a copy, before its identifier is known.
struct Copied {
    home: Arc<CommContext>,
    info: Info,
    attributes: Attributes<Communicator>,
    topology: Option<Arc<Placed>>,
    learned: CommWisdom,
}

impl Copied {
    fn communicator(self, id: u64) -> Communicator {
        let copy = Communicator::new(self.home, id);
        copy.set_info(&self.info);
        copy.taking_over(self.attributes, self.topology, self.learned)
    }
}
