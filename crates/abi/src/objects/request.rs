//! Requests.
//!
//! One thread at a time owns the operation of a request. A call that waits for the operation,
//! starts it or queries it claims the operation, and returns it if the request stays. So no lock is
//! held during a wait, and a thread that uses the request at the same time (which the standard
//! forbids) gets the error that it is in use.
//!
//! All sends that complete at once share one handle without an object; all collectives that
//! complete at once share another.
//!
//! A freed generalized request lives until the program calls `MPI_Grequest_complete`, which needs
//! its handle.

use std::sync::{Mutex, MutexGuard, PoisonError};

use motet::raw::{self, Partitions, Past};
use motet::{Completer, ErrorClass};

use super::FoundComm;
use crate::arena::Arena;
use crate::constants::MPI_REQUEST_NULL;
use crate::error::{AbiError, AbiErrorSite, AbiResult};
use crate::handle::{ClaimOf, FoundOf, Kind, MPI_ABI_Request, MPI_Request};

/// The handle of all sends that completed when they started.
const OVER_SEND: MPI_Request = MPI_Request::without_object(0);
/// The handle of all collectives that completed when they started.
const OVER_COLLECTIVE: MPI_Request = MPI_Request::without_object(1);

/// A request, without its operation.
pub(crate) struct Request {
    /// The communicator whose error handler receives errors; that of `MPI_COMM_SELF` if there is
    /// none.
    comm: Option<FoundComm>,
    rare: Option<Box<Rare>>,
}

/// Data that few requests have, on which threads work while another thread waits for the operation.
enum Rare {
    /// The data of a generalized request.
    Generalized { completer: Completer, stage: Mutex<Stage> },
    /// The parts of a partitioned message.
    Parts(Partitions),
}

/// The progress of a generalized request.
struct Stage {
    /// The program has marked it as complete.
    is_complete: bool,
    /// Its handle is valid only for marking it as complete.
    is_freed: bool,
}

impl Kind for MPI_ABI_Request {
    type Object = Request;
    type Own = raw::Request;
    const CODE: u8 = 8;
    const NAME: &'static str = "MPI_Request";
    const CLASS: ErrorClass = ErrorClass::Request;

    fn arena() -> &'static Arena<Request, raw::Request> {
        static ARENA: Arena<Request, raw::Request> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<FoundOf<MPI_ABI_Request>> {
        None
    }
}

impl Request {
    /// Gives a handle to an operation on a communicator.
    #[inline(always)] // a request that is moved is read before it has been written
    pub(crate) fn publish(operation: impl Into<raw::Request>, comm: &FoundComm) -> MPI_Request {
        Request::keep(operation.into(), || Some(comm.clone()))
    }

    /// Gives a handle to a receive that has been posted on a communicator.
    #[inline(always)] // as above
    pub(crate) fn publish_posted(posted: raw::PostedReceive, comm: &FoundComm) -> MPI_Request {
        MPI_Request::keep_parts(|_| {
            (Request { comm: Some(comm.clone()), rare: None }, posted.request(comm.on()))
        })
    }

    /// Gives a handle to an operation without a communicator: a generalized one, or the flush of a
    /// buffer of the process.
    pub(crate) fn publish_alone(operation: impl Into<raw::Request>) -> MPI_Request {
        Request::keep(operation.into(), || None)
    }

    #[inline(always)] // as above
    fn keep(operation: raw::Request, comm: impl FnOnce() -> Option<FoundComm>) -> MPI_Request {
        if let Some(past) = operation.past() {
            return MPI_Request::of_past(past);
        }
        let comm = comm();
        let rare = Rare::of(&operation).map(Box::new);
        MPI_Request::keep_parts(|_| (Request { comm, rare }, operation))
    }

    /// The site of errors of the request.
    #[cold]
    fn site(&self) -> AbiErrorSite {
        self.comm.as_ref().map_or(AbiErrorSite::UNKNOWN, FoundComm::site)
    }

    /// Whether its slot is not needed any more, now that it has no operation.
    #[inline]
    fn is_done_with(&self) -> bool {
        match self.rare.as_deref() {
            None | Some(Rare::Parts(_)) => true,
            Some(Rare::Generalized { stage, .. }) => {
                let mut stage = lock(stage);
                stage.is_freed = true;
                stage.is_complete
            }
        }
    }
}

impl Rare {
    #[inline(always)] // as above
    fn of(operation: &raw::Request) -> Option<Rare> {
        if operation.is_plain() {
            return None;
        }
        let stage = || Mutex::new(Stage { is_complete: false, is_freed: false });
        let generalized = operation.completer();
        let generalized =
            generalized.map(|completer| Rare::Generalized { completer, stage: stage() });
        generalized.or_else(|| operation.parts().map(Rare::Parts))
    }
}

/// Locks the progress of a generalized request.
fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request on whose operation a thread works.
pub(crate) struct Borrowed {
    handle: MPI_Request,
    /// `None` for the null request, and for an operation that completed when it started.
    claim: Option<ClaimOf<MPI_ABI_Request>>,
    /// The operation that completed when it started, if no call has completed the request.
    past: Option<Past>,
}

impl Borrowed {
    /// Works on the operation.
    #[inline]
    pub(crate) fn work<T>(&mut self, work: impl FnOnce(&mut raw::Request) -> T) -> T {
        match &mut self.claim {
            Some(claim) => work(claim.own()),
            None => {
                let mut request = self.past.map(raw::Request::over).unwrap_or_default();
                let worked = work(&mut request);
                self.past = request.past();
                worked
            }
        }
    }

    /// The site of errors of the request.
    #[cold]
    pub(crate) fn site(&self) -> AbiErrorSite {
        self.claim.as_ref().map_or(AbiErrorSite::UNKNOWN, |claim| claim.shared().site())
    }

    /// The operation in its slot, if it has one.
    #[inline]
    pub(crate) fn own(&mut self) -> Option<&mut raw::Request> {
        self.claim.as_mut().map(ClaimOf::<MPI_ABI_Request>::own)
    }

    /// Whether the request has a slot.
    #[inline]
    pub(crate) fn has_slot(&self) -> bool {
        self.claim.is_some()
    }

    /// The operation that completed when it started, if no call has completed the request.
    #[inline]
    pub(crate) fn past(&self) -> Option<Past> {
        self.past
    }

    /// Returns the operation, if it still exists; else the handle is gone. Returns the present
    /// handle.
    #[inline]
    pub(crate) fn give_back(self) -> MPI_Request {
        let past = self.past;
        self.give_back_with(past)
    }

    /// The same of a request that is this one now, if it has no slot.
    #[inline]
    pub(crate) fn give_back_with(self, past: Option<Past>) -> MPI_Request {
        let Some(mut claim) = self.claim else {
            return past.map_or(MPI_REQUEST_NULL, MPI_Request::of_past);
        };
        if !claim.own().is_null() {
            return self.handle;
        }
        end(claim);
        MPI_REQUEST_NULL
    }
}

/// Ends the request: the operation has ended, and the slot is freed unless something else needs it.
#[inline(never)] // what stays is given back without a look at what goes
fn end(claim: ClaimOf<MPI_ABI_Request>) {
    if claim.shared().is_done_with() {
        claim.retire();
    }
}

impl MPI_Request {
    /// The handle of an operation that completed when it started.
    #[inline]
    pub(crate) fn of_past(past: Past) -> MPI_Request {
        match past {
            Past::Send => OVER_SEND,
            Past::Collective => OVER_COLLECTIVE,
        }
    }

    /// The operation that completed when it started, if this is its handle.
    #[inline]
    pub(crate) fn past(self) -> Option<Past> {
        if self == OVER_SEND {
            return Some(Past::Send);
        }
        (self == OVER_COLLECTIVE).then_some(Past::Collective)
    }

    /// Claims the operation, to work on it: the null request for the null handle.
    ///
    /// # Errors
    /// A wrong handle; another thread works on the request.
    #[inline(always)] // few calls begin with it, and those are short
    pub(crate) fn borrow(self) -> AbiResult<Borrowed> {
        let past = self.past();
        if self == MPI_REQUEST_NULL || past.is_some() {
            return Ok(Borrowed { handle: self, claim: None, past });
        }
        let mut claim = self.claim()?.ok_or_else(in_use)?;
        if claim.own().is_null() {
            return Err(self.wrong());
        }
        Ok(Borrowed { handle: self, claim: Some(claim), past: None })
    }

    /// The site of errors of the request.
    #[cold]
    pub(crate) fn site(self) -> AbiErrorSite {
        self.object().map_or(AbiErrorSite::UNKNOWN, |request| request.site())
    }

    /// The parts of its partitioned message.
    ///
    /// # Errors
    /// A wrong handle; a request of another kind.
    pub(crate) fn parts(self) -> AbiResult<Partitions> {
        match self.object()?.rare.as_deref() {
            Some(Rare::Parts(parts)) => Ok(parts.clone()),
            _ => {
                let text = "not a request of partitioned communication";
                Err(AbiError::new(ErrorClass::Request, text))
            }
        }
    }

    /// Marks a generalized request as complete.
    ///
    /// # Errors
    /// A wrong handle; a request of another kind; the error of the function that frees it.
    pub(crate) fn complete(self) -> AbiResult {
        let request = self.object()?;
        let Some(Rare::Generalized { completer, stage }) = request.rare.as_deref() else {
            let text = "not a generalized request: it is complete when its operation is";
            return Err(AbiError::new(ErrorClass::Request, text));
        };
        let mut stage = lock(stage);
        stage.is_complete = true;
        let is_freed = stage.is_freed;
        drop(stage);
        if is_freed {
            self.retire()?;
        }
        Ok(completer.complete()?)
    }

    /// Retires all requests. Returns the calls of those that the program has not completed.
    pub(crate) fn retire_all() -> Vec<&'static str> {
        let mut calls = Vec::new();
        for place in MPI_ABI_Request::arena().places() {
            let Some(mut claim) = MPI_ABI_Request::arena().claim(place) else { continue };
            let operation = claim.own();
            calls.extend(if operation.is_active() { operation.call() } else { None });
            claim.retire();
        }
        calls
    }
}

#[cold]
fn in_use() -> AbiError {
    let text = "the request is in use: by another thread, or twice in one list";
    AbiError::new(ErrorClass::Request, text)
}
