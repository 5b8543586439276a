//! Untyped collectives in their forms: blocking, nonblocking, two-phase and persistent.

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
    /// Runs the blocking form.
    ///
    /// # Safety
    /// All send data can be read and all receive data can be written during the call; meanwhile no
    /// other code accesses the receive data or writes the send data.
    ///
    /// # Errors
    /// The arguments violate the standard; or the error of the operation.
    #[track_caller]
    pub unsafe fn run<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<()> {
        let on = on.into();
        let (communicator, known) = (on.communicator(), self.known(on));
        let replay = |known: &ReplayKey<'_>| {
            if known.is_derived() {
                communicator.replay_derived(self.kind(), known)
            } else {
                communicator.replay_blocking(self.kind(), known)
            }
        };
        let replayed = known.as_ref().and_then(replay);
        if let Some(ended) = replayed {
            return ended;
        }
        // SAFETY: passed on.
        unsafe { self.run_first(on, known.as_ref()) }
    }

    /// Runs the blocking form of a call that is not in the replay cache.
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

    /// Starts the nonblocking form.
    ///
    /// # Safety
    /// As [`Collective::run`], until the request is complete, even if the request is dropped.
    ///
    /// # Errors
    /// The arguments violate the standard.
    #[track_caller]
    pub unsafe fn start<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request<()>> {
        let on = on.into();
        let (communicator, known) = (on.communicator(), self.known(on));
        let replayed =
            known.as_ref().and_then(|known| communicator.replay_nonblocking(self.kind(), known));
        if let Some(request) = replayed {
            return Ok(request);
        }
        // SAFETY: passed on.
        unsafe { self.start_first(on, known.as_ref()) }
    }

    /// Starts the nonblocking form of a call that is not in the replay cache.
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

    /// Starts the nonblocking form, and returns a request of any kind.
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

    /// Begins the collective inside all open phases of the communicator; [`end`](crate::raw::end())
    /// ends the innermost one. A communicator may be freed while phases are open: they go on, like
    /// operations whose requests are freed. (`X_begin` of the two-phase collectives of 1997)
    ///
    /// Several threads may call this on one communicator if the program orders their calls.
    ///
    /// # Safety
    /// As [`Collective::run`], until the collective is complete: at its end or, if it is never
    /// ended, when all data has moved.
    ///
    /// # Errors
    /// The arguments violate the standard; or a [`Phases`](crate::Phases) of the communicator is
    /// alive ([`ErrorKind::Nesting`](crate::ErrorKind)).
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

    /// Makes the persistent form. For a reduction, the hint
    /// [`DETERMINISTIC`](crate::hint::DETERMINISTIC) has an effect; all ranks must give the same
    /// value.
    ///
    /// # Safety
    /// As [`Collective::run`], in each run from its start until it is complete. Between the runs,
    /// and until the operation is freed, the memory stays at its place.
    ///
    /// # Errors
    /// The arguments violate the standard.
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

    /// Makes the persistent form among the members of a group, whose order is that of blocks and of
    /// the operands of reductions. All ranks of the communicator call it, in the same order as all
    /// other inits; the members pass the same group, and the other ranks pass that group or an
    /// empty one. Lists have an entry for each member. The root is a rank of the communicator.
    /// Addresses, counts and datatypes of ranks that are not members are ignored, and their runs
    /// complete at once. (2008 proposal §2.1)
    ///
    /// # Safety
    /// As [`Collective::init`], for members.
    ///
    /// # Errors
    /// The group has a member outside the communicator (`MPI_ERR_GROUP`); the root is outside the
    /// group (`MPI_ERR_ROOT`); the collective is a neighbourhood collective, which takes no group;
    /// or the arguments violate the standard.
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
