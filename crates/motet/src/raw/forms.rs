//! Collectives in each of their forms.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::panic::Location;

use crate::base::collective_kind::Form;
use crate::base::error::Result;
use crate::base::group::Group;
use crate::base::info::Info;
use crate::collective::untyped::{Collective, CommRef};
use crate::comm::communicator::Communicator;
use crate::comm::persistent::Persistent;
use crate::comm::request::Request;
use crate::engine::ReplayKey;
use crate::raw;

impl Collective<'_> {
    /// The blocking form.
    ///
    /// # Safety
    /// All data can be read, and what is received can be written; nobody else uses that while
    /// the call takes, nor writes what is sent.
    ///
    /// # Errors
    /// Arguments that the standard does not allow; what went wrong with the operation.
    #[track_caller]
    pub unsafe fn run<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<()> {
        let on = on.into();
        let (communicator, known) = (on.communicator(), self.known(on));
        let again =
            known.as_ref().and_then(|known| communicator.blocking_again(self.kind(), known));
        if let Some(ended) = again {
            return ended;
        }
        // SAFETY: passed on.
        unsafe { self.run_first(on, known.as_ref()) }
    }

    /// The blocking form of a call that has not been made before.
    ///
    /// # Safety
    /// As [`Collective::run`].
    #[track_caller]
    pub(super) unsafe fn run_first(
        &self,
        on: CommRef<'_>,
        known: Option<&ReplayKey<'_>>,
    ) -> Result<()> {
        let (call, communicator) = (self.call(Form::Blocking), on.communicator());
        let at = Location::caller();
        // SAFETY: passed on.
        let prepared = unsafe { self.translate(call, on) };
        let prepared = prepared.map_err(|error| communicator.refused(error, at))?;
        communicator.blocking_known(prepared, known)
    }

    /// The nonblocking form.
    ///
    /// # Safety
    /// As [`Collective::run`], until the request is complete: whatever becomes of it meanwhile.
    ///
    /// # Errors
    /// Arguments that the standard does not allow.
    #[track_caller]
    pub unsafe fn start<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request<()>> {
        let on = on.into();
        let (communicator, known) = (on.communicator(), self.known(on));
        let again = known.as_ref().and_then(|known| communicator.start_again(self.kind(), known));
        if let Some(request) = again {
            return Ok(request);
        }
        // SAFETY: passed on.
        unsafe { self.start_first(on, known.as_ref()) }
    }

    /// The nonblocking form of a call that has not been made before.
    ///
    /// # Safety
    /// As [`Collective::start`].
    #[track_caller]
    pub(super) unsafe fn start_first(
        &self,
        on: CommRef<'_>,
        known: Option<&ReplayKey<'_>>,
    ) -> Result<Request<()>> {
        let (call, communicator) = (self.call(Form::Nonblocking), on.communicator());
        let at = Location::caller();
        // SAFETY: passed on.
        let prepared = unsafe { self.translate(call, on) };
        let prepared = prepared.map_err(|error| communicator.refused(error, at))?;
        communicator.start_known(prepared, known)
    }

    /// The same, as a request of any kind.
    ///
    /// # Safety
    /// As [`Collective::start`].
    ///
    /// # Errors
    /// As [`Collective::start`].
    #[track_caller]
    pub unsafe fn start_request<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<raw::Request> {
        // SAFETY: passed on.
        let request = unsafe { self.start(on) }?;
        Ok(raw::Request::of_collective(request.into_flight()))
    }

    /// The first of two phases: begins the collective inside all that are open on the
    /// communicator; [`end`](crate::raw::end()) ends the innermost one. A communicator may be freed
    /// while phases are open: they go on, as operations do whose requests are freed.
    /// (`X_begin` of the two-phase collectives of 1997)
    ///
    /// Several threads may do this on one communicator if it is clear who comes first.
    ///
    /// # Safety
    /// As [`Collective::run`], until the collective is complete: at its end, or whenever all data
    /// has moved if it is never ended.
    ///
    /// # Errors
    /// Arguments that the standard does not allow; [`ErrorKind::Nesting`](crate::ErrorKind) if a
    /// [`Phases`](crate::Phases) of the communicator is alive.
    #[track_caller]
    pub unsafe fn begin<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<()> {
        let (on, at, kind) = (on.into(), Location::caller(), self.kind());
        let communicator = on.communicator();
        let (nesting, call) = (communicator.nesting(), kind.begin_name());
        let allowed = nesting.check_begin(kind).map_err(|kind| communicator.error(call, kind));
        // SAFETY: passed on.
        let prepared = allowed.and_then(|()| unsafe { self.translate(call, on) });
        // SAFETY: there is no buffer; the memory of the data is the caller's promise.
        let request = unsafe { communicator.nonblocking((), |()| prepared) }?;
        nesting.push(kind, at, request);
        Ok(())
    }

    /// The persistent form. Of hints a reduction knows
    /// [`DETERMINISTIC`](crate::DETERMINISTIC); all ranks give the same.
    ///
    /// # Safety
    /// As [`Collective::run`], in each run from its start until it is complete; in between the
    /// memory stays where it is until the operation is freed.
    ///
    /// # Errors
    /// Arguments that the standard does not allow.
    #[track_caller]
    pub unsafe fn init<'on>(
        &self,
        on: impl Into<CommRef<'on>>,
        info: &Info,
    ) -> Result<Persistent<()>> {
        let on = on.into();
        // SAFETY: passed on.
        let prepared = unsafe { self.translate(self.call(Form::Persistent), on) };
        on.communicator().persistent_with((), info, |()| prepared)
    }

    /// The persistent form among the members of a group, in whose order data and reductions come.
    /// All ranks of the communicator call it, in one order with all others; the members pass the
    /// same group, the others that group or an empty one. Lists have an entry for each member. The
    /// root is a rank of the communicator. Of ranks that are no members no address, count or
    /// datatype is looked at, and their runs are over at once. (2008 proposal §2.1)
    ///
    /// # Safety
    /// As [`Collective::init`], for members.
    ///
    /// # Errors
    /// A group with a member outside the communicator (`MPI_ERR_GROUP`); a root outside the group
    /// (`MPI_ERR_ROOT`); a collective among neighbours, which takes no group; arguments that the
    /// standard does not allow.
    #[track_caller]
    pub unsafe fn init_among(
        &self,
        communicator: &Communicator,
        group: &Group,
        info: &Info,
    ) -> Result<Persistent<()>> {
        communicator.persistent_with((), info, |()| {
            let members = communicator.members_for(self.call(Form::Persistent), group)?;
            // SAFETY: passed on.
            unsafe { self.translate_among(&members) }
        })
    }
}
