//! Requests.
//!
//! A request is in its arena while nobody works on it. Whoever waits for it, starts it or looks at
//! it takes the operation out, and puts it back if the request is to stay; so nothing is locked
//! while anything is waited for, and a thread that uses a request at the same time (which the
//! standard forbids) is told that it is in use.
//!
//! A generalized request that has been freed stays until somebody has said that it is complete,
//! since that is said by its handle.

use std::sync::Arc;

use motet::raw::{self, Parts};
use motet::{Completer, ErrorClass};

use super::Comm;
use crate::arena::Arena;
use crate::exports::MPI_REQUEST_NULL;
use crate::fault::{Answer, Fault, Site};
use crate::handle::{Kind, MPI_Request};

/// A request.
pub(crate) struct Request {
    /// The operation, unless somebody works on it.
    operation: Option<raw::Request>,
    /// Whose error handler is told what goes wrong; that of `MPI_COMM_SELF` if there is none.
    comm: Option<Arc<Comm>>,
    /// Of a generalized request.
    generalized: Option<Generalized>,
    /// Of a message in parts, which threads work on while another one waits for it.
    parts: Option<Parts>,
}

/// What belongs to a generalized request.
struct Generalized {
    completer: Completer,
    /// Somebody has said that it is complete.
    is_complete: bool,
    /// Its handle is good for nothing but saying that it is complete.
    is_freed: bool,
}

impl Kind for Request {
    type Object = Request;
    const CODE: u8 = 8;
    const NAME: &'static str = "MPI_Request";
    const CLASS: ErrorClass = ErrorClass::Request;

    fn arena() -> &'static Arena<Request> {
        static ARENA: Arena<Request> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<Request> {
        None
    }
}

impl Request {
    /// Gives a handle to an operation on a communicator.
    #[inline]
    pub(crate) fn publish(operation: impl Into<raw::Request>, comm: &Arc<Comm>) -> MPI_Request {
        Request::keep(operation.into(), Some(comm.clone()))
    }

    /// Gives a handle to an operation that is on no communicator: a generalized one, or the flush
    /// of a buffer of the process.
    pub(crate) fn publish_alone(operation: impl Into<raw::Request>) -> MPI_Request {
        Request::keep(operation.into(), None)
    }

    #[inline]
    fn keep(operation: raw::Request, comm: Option<Arc<Comm>>) -> MPI_Request {
        let generalized = operation.completer().map(|completer| Generalized {
            completer,
            is_complete: false,
            is_freed: false,
        });
        let parts = operation.parts();
        MPI_Request::keep(Request { operation: Some(operation), comm, generalized, parts })
    }

    /// The call of an operation that nobody has completed.
    pub(crate) fn uncompleted(&self) -> Option<&'static str> {
        self.operation.as_ref().filter(|operation| operation.is_active())?.call()
    }

    /// Whether nothing needs its place any more, now that it has no operation.
    fn is_done_with(&mut self) -> bool {
        match &mut self.generalized {
            None => true,
            Some(generalized) => {
                generalized.is_freed = true;
                generalized.is_complete
            }
        }
    }
}

impl MPI_Request {
    /// Takes the operation out, to work on it: the null request of the null handle.
    ///
    /// # Errors
    /// A wrong handle; a request that somebody else works on.
    #[inline]
    pub(crate) fn borrow(self) -> Answer<raw::Request> {
        if self == MPI_REQUEST_NULL {
            return Ok(raw::Request::null());
        }
        self.with(|request| request.operation.take())?.ok_or_else(in_use)
    }

    /// Puts the operation back, if there still is one; else the handle is gone. Says which handle
    /// there is now.
    #[inline]
    pub(crate) fn give_back(self, operation: raw::Request) -> MPI_Request {
        // Nobody else can have freed it meanwhile: whoever tries is told that it is in use.
        if !operation.is_null() {
            let _ = self.with(|request| request.operation = Some(operation));
            return self;
        }
        if self != MPI_REQUEST_NULL && self.with(Request::is_done_with).is_ok_and(|done| done) {
            drop(self.take());
        }
        MPI_REQUEST_NULL
    }

    /// Whose error handler is told of the request.
    #[cold]
    pub(crate) fn site(self) -> Site {
        let comm = self.with(|request| request.comm.clone());
        comm.ok().flatten().map_or(Site::Unknown, Site::Comm)
    }

    /// The parts of its message.
    ///
    /// # Errors
    /// A wrong handle; a request of another kind.
    pub(crate) fn parts(self) -> Answer<Parts> {
        let parts = self.with(|request| request.parts.clone())?;
        parts.ok_or_else(|| {
            let text = "not a request of partitioned communication";
            Fault::new(ErrorClass::Request, text)
        })
    }

    /// Says that a generalized request is complete.
    ///
    /// # Errors
    /// A wrong handle; a request of another kind; of the function that frees it.
    pub(crate) fn complete(self) -> Answer {
        let found = self.with(|request| {
            let generalized = request.generalized.as_mut()?;
            generalized.is_complete = true;
            Some((generalized.completer.clone(), generalized.is_freed))
        })?;
        let (completer, is_freed) = found.ok_or_else(|| {
            let text = "not a generalized request: it is complete when its operation is";
            Fault::new(ErrorClass::Request, text)
        })?;
        if is_freed {
            drop(self.take());
        }
        Ok(completer.complete()?)
    }
}

#[cold]
fn in_use() -> Fault {
    let text = "the request is in use: by another thread, or twice in one list";
    Fault::new(ErrorClass::Request, text)
}
