//! Generalized requests with callbacks. (MPI 4.1 §13.2)

use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, mem};

use super::{Request, Status};
use crate::base::error::Result;
use crate::comm::communicator::Communicator;
use crate::comm::generalized::{CompletionHook, Free};
use crate::comm::op_handle::OpHandle;

/// How far a generalized operation is when it is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nobody has said that it is complete.
    UnderWay,
    /// It is complete.
    Complete,
}

/// Fills in a status.
type Query = Box<dyn FnMut(&mut Status) -> Result<()> + Send>;
/// Asks an operation to end.
type Cancel = Box<dyn FnMut(Stage) -> Result<()> + Send>;

/// What a generalized operation does when it is asked. They are called by whoever waits, tests or
/// frees, and never while the rank is locked, so they may use the library.
pub struct Callbacks {
    /// Says what a complete operation came to, by filling in an empty status.
    pub query: Query,
    /// Called once, when the operation is complete and its request is gone.
    pub free: Free,
    /// Called when the request is cancelled.
    pub cancel: Cancel,
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Callbacks")
    }
}

/// What a request and those who complete it have in common.
pub(crate) struct Shared(Mutex<Account>);

#[derive(Default)]
struct Account {
    /// Gone while one of them runs, and after the operation has been freed.
    callbacks: Option<Callbacks>,
    complete: bool,
    freed: bool,
}

impl Account {
    /// What frees the operation, once it is complete and its request is gone.
    fn last(&mut self) -> Option<Free> {
        let last = self.complete && self.freed;
        last.then(|| self.callbacks.take()).flatten().map(|callbacks| callbacks.free)
    }
}

impl Shared {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls one of the callbacks, unlocked.
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
        let stage = if self.account().complete { Stage::Complete } else { Stage::UnderWay };
        self.call(|callbacks| (callbacks.cancel)(stage), ())
    }

    /// The request is gone.
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

/// Begins an operation outside the library, whose end it is told by
/// [`Completer::complete`](crate::Completer::complete), from whatever thread. Its request
/// can be waited for together with any others of this rank. (`MPI_Grequest_start`, MPI 4.1 §13.2)
pub fn grequest_start(rank: &Communicator, callbacks: Callbacks) -> Request {
    let id = rank.core().engine().start_generalized();
    let account = Account { callbacks: Some(callbacks), ..Account::default() };
    let flight = OpHandle::new(rank.origin("grequest_start"), id, false);
    Request::generalized(flight, Arc::new(Shared(Mutex::new(account))))
}
