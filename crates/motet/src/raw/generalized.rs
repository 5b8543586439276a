//! Generalized requests with callbacks. (MPI 4.1 §13.2)

use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, mem};

use super::{Request, Status};
use crate::base::error::Result;
use crate::comm::communicator::Communicator;
use crate::comm::generalized::{CompletionHook, Free};
use crate::comm::op_handle::OpHandle;

/// The state of a generalized operation when it is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The operation has not been reported as complete.
    Pending,
    /// The operation is complete.
    Complete,
}

/// Fills in a status.
type Query = Box<dyn FnMut(&mut Status) -> Result<()> + Send>;
/// Cancels an operation.
type Cancel = Box<dyn FnMut(Stage) -> Result<()> + Send>;

/// The callbacks of a generalized request. The thread that waits, tests or frees calls them, never
/// while it holds the lock of the rank, so they may call the library.
pub struct Callbacks {
    /// Fills an empty status with the result of a complete operation.
    pub query: Query,
    /// Frees the operation: called once, when it is complete and its request is freed.
    pub free: Free,
    /// Called when the request is cancelled.
    pub cancel: Cancel,
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Callbacks")
    }
}

/// The state that a request shares with its completers.
pub(crate) struct Shared(Mutex<Account>);

#[derive(Default)]
struct Account {
    /// `None` while a callback runs, and after the operation has been freed.
    callbacks: Option<Callbacks>,
    complete: bool,
    freed: bool,
}

impl Account {
    /// Takes the `free` callback, if the operation is complete and its request is freed.
    fn last(&mut self) -> Option<Free> {
        let last = self.complete && self.freed;
        last.then(|| self.callbacks.take()).flatten().map(|callbacks| callbacks.free)
    }
}

impl Shared {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls one of the callbacks without holding the lock.
    fn call<T>(&self, call: impl FnOnce(&mut Callbacks) -> Result<T>, without: T) -> Result<T> {
        let Some(mut callbacks) = mem::take(&mut self.account().callbacks) else {
            return Ok(without);
        };
        let called = call(&mut callbacks);
        self.account().callbacks = Some(callbacks);
        called
    }

    pub(super) fn query(&self) -> Result<Status> {
        let query = |callbacks: &mut Callbacks| {
            let mut status = Status::EMPTY;
            (callbacks.query)(&mut status).map(|()| status)
        };
        self.call(query, Status::EMPTY)
    }

    pub(super) fn cancel(&self) -> Result<()> {
        let stage = if self.account().complete { Stage::Complete } else { Stage::Pending };
        self.call(|callbacks| (callbacks.cancel)(stage), ())
    }

    /// Frees the request.
    pub(super) fn free(&self) -> Result<()> {
        let mut account = self.account();
        account.freed = true;
        let last = account.last();
        drop(account);
        last.map_or(Ok(()), |free| free())
    }
}

impl CompletionHook for Shared {
    fn complete(&self) -> Option<Free> {
        let mut account = self.account();
        account.complete = true;
        account.last()
    }
}

/// Starts an operation outside the library. [`Completer::complete`](crate::Completer::complete),
/// called by any thread, reports its completion. Its request can be waited for together with any
/// other requests of this rank. (`MPI_Grequest_start`, MPI 4.1 §13.2)
pub fn grequest_start(rank: &Communicator, callbacks: Callbacks) -> Request {
    let id = rank.core().engine().start_generalized();
    let account = Account { callbacks: Some(callbacks), ..Account::default() };
    let handle = OpHandle::new(rank.origin("grequest_start"), id, false);
    Request::generalized(handle, Arc::new(Shared(Mutex::new(account))))
}
