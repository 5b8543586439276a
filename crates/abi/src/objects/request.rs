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
use crate::error::{AbiError, AbiErrorSite, AbiResult};
use crate::exports::MPI_REQUEST_NULL;
use crate::handle::{ClaimOf, FoundOf, Kind, MPI_Request};

/// The handle of all sends that were over when they began.
const OVER_SEND: MPI_Request = MPI_Request::without_object(0);
/// The same of collectives.
const OVER_COLLECTIVE: MPI_Request = MPI_Request::without_object(1);

/// A request, but for its operation.
pub(crate) struct Request {
    /// Whose error handler is told what goes wrong; that of `MPI_COMM_SELF` if there is none.
    comm: Option<FoundComm>,
    rare: Option<Box<Rare>>,
}

/// What few requests have, and threads work on while another one waits for the operation.
enum Rare {
    /// What belongs to a generalized request.
    Generalized { completer: Completer, stage: Mutex<Stage> },
    /// Of a message in parts.
    Parts(Partitions),
}

/// How far a generalized request has come.
struct Stage {
    /// Somebody has said that it is complete.
    is_complete: bool,
    /// Its handle is good for nothing but saying that it is complete.
    is_freed: bool,
}

impl Kind for Request {
    type Object = Request;
    type Own = raw::Request;
    const CODE: u8 = 8;
    const NAME: &'static str = "MPI_Request";
    const CLASS: ErrorClass = ErrorClass::Request;

    fn arena() -> &'static Arena<Request, raw::Request> {
        static ARENA: Arena<Request, raw::Request> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<FoundOf<Request>> {
        None
    }
}

impl Request {
    /// Gives a handle to an operation on a communicator.
    #[inline(always)] // a request that is moved is read before it has been written
    pub(crate) fn publish(operation: impl Into<raw::Request>, comm: &FoundComm) -> MPI_Request {
        Request::keep(operation.into(), || Some(comm.clone()))
    }

    /// Gives a handle to an operation that is on no communicator: a generalized one, or the flush
    /// of a buffer of the process.
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

    /// Whose error handler is told of the request.
    #[cold]
    fn site(&self) -> AbiErrorSite {
        self.comm.clone().map_or(AbiErrorSite::Unknown, AbiErrorSite::Comm)
    }

    /// Whether nothing needs its place any more, now that it has no operation.
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

/// What has become of a generalized request, for this thread alone.
fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request whose operation somebody works on.
pub(crate) struct Borrowed {
    handle: MPI_Request,
    /// None of the null request, and of what was over when it began.
    claim: Option<ClaimOf<Request>>,
    /// What that was, if no call has completed it.
    past: Option<Past>,
}

impl Borrowed {
    /// Works on its operation.
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

    /// Whose error handler is told of the request.
    #[cold]
    pub(crate) fn site(&self) -> AbiErrorSite {
        self.claim.as_ref().map_or(AbiErrorSite::Unknown, |claim| claim.shared().site())
    }

    /// Gives the operation back, if there still is one; else the handle is gone. Says which handle
    /// there is now.
    #[inline]
    pub(crate) fn give_back(self) -> MPI_Request {
        let Some(mut claim) = self.claim else {
            return self.past.map_or(MPI_REQUEST_NULL, MPI_Request::of_past);
        };
        if !claim.own().is_null() {
            return self.handle;
        }
        end(claim);
        MPI_REQUEST_NULL
    }
}

/// The operation is over, and so is its place unless something else needs that.
#[inline(never)] // what stays is given back without a look at what goes
fn end(claim: ClaimOf<Request>) {
    if claim.shared().is_done_with() {
        claim.retire();
    }
}

impl MPI_Request {
    /// The handle of what was over when it began.
    fn of_past(past: Past) -> MPI_Request {
        match past {
            Past::Send => OVER_SEND,
            Past::Collective => OVER_COLLECTIVE,
        }
    }

    /// What was over when it began, if it is the handle of that.
    #[inline]
    pub(crate) fn past(self) -> Option<Past> {
        if self == OVER_SEND {
            return Some(Past::Send);
        }
        (self == OVER_COLLECTIVE).then_some(Past::Collective)
    }

    /// Claims the operation, to work on it: the null request of the null handle.
    ///
    /// # Errors
    /// A wrong handle; a request that somebody else works on.
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

    /// Whose error handler is told of the request.
    #[cold]
    pub(crate) fn site(self) -> AbiErrorSite {
        self.object().map_or(AbiErrorSite::Unknown, |request| request.site())
    }

    /// The parts of its message.
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

    /// Says that a generalized request is complete.
    ///
    /// # Errors
    /// A wrong handle; a request of another kind; of the function that frees it.
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

    /// Retires all requests; the calls of those that nobody has completed.
    pub(crate) fn retire_all() -> Vec<&'static str> {
        let mut calls = Vec::new();
        for place in Request::arena().places() {
            let Some(mut claim) = Request::arena().claim(place) else { continue };
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
