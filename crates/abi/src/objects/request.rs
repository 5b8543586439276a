//! Requests.
//!
//! A request is in its arena while nobody works on it. Whoever waits for it, starts it or looks at
//! it takes the operation out, and puts it back if the request is to stay; so nothing is locked while
//! anything is waited for, and a thread that uses a request at the same time (which the standard
//! forbids) is told that it is in use.

use std::sync::Arc;

use motet::raw;
use motet::{Completer, ErrorClass};

use super::Comm;
use crate::arena::Arena;
use crate::fault::{Answer, Fault};
use crate::handle::{Kind, MPI_Request};

/// A request.
pub(crate) struct Request {
    /// The operation, unless somebody works on it.
    pub(crate) operation: Option<raw::Request>,
    /// Whose error handler is told what goes wrong; that of `MPI_COMM_SELF` if there is none.
    pub(crate) comm: Option<Arc<Comm>>,
    /// Completes a generalized request.
    pub(crate) completer: Option<Completer>,
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
    pub(crate) fn publish(operation: impl Into<raw::Request>, comm: &Arc<Comm>) -> MPI_Request {
        let (operation, comm) = (Some(operation.into()), Some(comm.clone()));
        MPI_Request::keep(Request { operation, comm, completer: None })
    }
}

impl MPI_Request {
    /// Takes the operation out, to work on it, and says whose it is.
    ///
    /// # Errors
    /// A wrong handle; a request that somebody else works on.
    pub(crate) fn borrow(self) -> Answer<(raw::Request, Option<Arc<Comm>>)> {
        let found = self.with(|request| {
            request.operation.take().map(|operation| (operation, request.comm.clone()))
        })?;
        found.ok_or_else(|| {
            Fault::new(ErrorClass::Request, "another thread works on the same request")
        })
    }

    /// Puts the operation back.
    pub(crate) fn give_back(self, operation: raw::Request) {
        // Nobody else can have freed it meanwhile: whoever tries is told that it is in use.
        let _ = self.with(|request| request.operation = Some(operation));
    }
}
