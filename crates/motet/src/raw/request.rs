//! The untyped request: one type for nonblocking, persistent, generalized and null requests.

use std::sync::Arc;
use std::{fmt, mem};

use motet_fabric::Received;
use motet_fabric::slab::Id;

use super::generalized::Shared;
use super::misuse::{
    ACTIVE, INACTIVE, NEVER_FREED, NOT_PERSISTENT, NOT_TO_CANCEL, NOT_TO_FREE, NULL,
};
pub use super::state::Past;
pub(crate) use super::state::State;
use super::{Partitions, Status};
use crate::base::error::{Error, ErrorKind, Result};
use crate::comm::generalized::Completer;
use crate::comm::op_handle::{CallOrigin, OpHandle};
use crate::engine::{BufferGuard, CANCELLED, Engine};
use crate::rank::RankContext;

/// An operation of any kind, or the null request. (MPI 4.1 §3.7)
///
/// When an operation that runs once completes, its request becomes null. A persistent request
/// becomes inactive and can be started again. Dropping a request frees it; an active operation goes
/// on. A request allocates no memory of its own, so a program that stores its requests in one place
/// reuses that memory.
#[derive(Default)]
pub struct Request(Subject);

/// The operation of a request.
#[derive(Default)]
enum Subject {
    #[default]
    Nothing,
    /// An operation that was complete when it started; only its kind is known.
    Over(Past),
    Operation(Inner),
}

/// Called with the result of a complete operation.
type Delivery = Box<dyn FnOnce(&OpHandle) + Send>;

/// The operation of a request. Kept small: a program may have a million of them in flight.
pub(super) struct Inner {
    handle: OpHandle,
    hold: Hold,
    kind: Kind,
    persistent: bool,
    /// The operation has been started, and no call has completed it.
    active: bool,
}

/// What the request holds for its operation.
enum Hold {
    /// The buffers, held until the operation is complete, even if the request is freed before.
    Buffers(BufferGuard),
    /// Nothing: the caller keeps the buffers valid.
    Bare,
    /// The callback of an operation whose result is more than a status.
    Delivery(Delivery),
    /// Nothing any more: the result has been delivered.
    Nothing,
}

/// The kind of an operation.
enum Kind {
    /// A send, or another operation that receives nothing and may be freed.
    Send,
    Receive,
    /// A partitioned message.
    InParts {
        parts: Partitions,
        receives: bool,
    },
    Collective,
    Generalized(Arc<Shared>),
}

impl Drop for Inner {
    #[inline]
    fn drop(&mut self) {
        if !(matches!(self.hold, Hold::Bare) && self.handle.is_gone()) {
            self.let_go();
        }
    }
}

impl Inner {
    /// Leaves the operation, and what is held for it, to the engine.
    #[inline(never)] // most messages are over when their requests are dropped
    fn let_go(&mut self) {
        match mem::replace(&mut self.hold, Hold::Nothing) {
            Hold::Bare => self.handle.release(Box::new(())),
            Hold::Buffers(keeper) => self.handle.release(keeper),
            Hold::Delivery(_) | Hold::Nothing => {}
        }
    }

    /// Returns the kind of a message or a collective.
    fn kind(handle: &OpHandle) -> Kind {
        let mut engine = handle.origin.core.engine();
        if engine.is_collective(handle.id) {
            return Kind::Collective;
        }
        // Of one whose outcome is here already, only that of a receive is of interest.
        match engine.receives_nothing(handle.id) {
            true => Kind::Send,
            false => Kind::Receive,
        }
    }

    pub(super) fn core(&self) -> &Arc<RankContext> {
        &self.handle.origin.core
    }

    pub(super) fn id(&self) -> Id {
        self.handle.id
    }

    /// Takes the outcome if the operation is complete.
    pub(super) fn collect(&mut self, engine: &mut Engine) -> bool {
        self.handle.collect_from(engine)
    }

    /// Returns whether the operation is complete. Waits for about the time that a short message
    /// takes: for a receive before which no other one is posted, or for `any` operation.
    pub(super) fn ends_soon(&mut self, any: bool) -> bool {
        if any { self.handle.ends_soon() } else { self.handle.ends_in_order() }
    }

    /// Returns the result of a complete operation.
    #[inline]
    pub(super) fn tell(&mut self) -> Result<Status> {
        match (&self.hold, &self.kind) {
            (Hold::Delivery(_), _) => self.tell_all(),
            _ if self.handle.ended_well() => Ok(Status::EMPTY),
            (_, Kind::Receive) if let Some(received) = self.handle.received() => {
                Ok(Status::of_receive(&self.handle.origin, received))
            }
            _ => self.tell_all(),
        }
    }

    fn tell_all(&mut self) -> Result<Status> {
        let received = self.handle.result();
        if matches!(self.hold, Hold::Delivery(_))
            && let Hold::Delivery(deliver) = mem::replace(&mut self.hold, Hold::Nothing)
        {
            deliver(&self.handle);
        }
        let received: Received = received?;
        match &self.kind {
            Kind::Receive | Kind::InParts { receives: true, .. } => {
                Ok(Status::of_receive(&self.handle.origin, received))
            }
            Kind::Send if received == CANCELLED => Ok(Status { cancelled: true, ..Status::EMPTY }),
            Kind::Send | Kind::InParts { .. } | Kind::Collective => Ok(Status::EMPTY),
            Kind::Generalized(shared) => shared.query().map_err(|error| self.brought(error)),
        }
    }

    /// Passes the error of a callback to the error handler, and returns the result.
    fn brought(&self, error: Error) -> Error {
        let CallOrigin { home, call } = &self.handle.origin;
        home.error_of_callback(call, error)
    }

    fn error(&self, problem: &str) -> Error {
        self.handle.origin.error(ErrorKind::of_request(problem))
    }
}

impl Request {
    /// Makes the null request.
    pub const fn null() -> Request {
        Request(Subject::Nothing)
    }

    /// Makes the request of an operation that was complete when it started. All such sends are
    /// equal, and so are all such collectives.
    pub const fn over(past: Past) -> Request {
        Request(Subject::Over(past))
    }

    /// Returns whether it was made by [`over`](Request::over), and no call has completed it.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.past().is_some()
    }

    /// Returns the kind of operation, if it was made by [`over`](Request::over) and no call has
    /// completed it.
    #[inline]
    pub fn past(&self) -> Option<Past> {
        if let Subject::Over(past) = self.0 { Some(past) } else { None }
    }

    /// Makes a request of an operation that runs once and is in flight, or of a persistent
    /// operation in any state.
    ///
    /// The keeper holds the buffers of the operation, if it has any.
    pub(crate) fn message_or_collective(
        handle: OpHandle,
        keeper: BufferGuard,
        state: State,
    ) -> Request {
        let kind = Inner::kind(&handle);
        Request::with(handle, Hold::Buffers(keeper), kind, state)
    }

    /// Makes a request of a message in flight without buffers.
    #[inline(always)] // as `with`
    pub(super) fn of_message(handle: OpHandle, receives: bool) -> Request {
        let kind = if receives { Kind::Receive } else { Kind::Send };
        Request::with(handle, Hold::Bare, kind, State::Once)
    }

    /// Makes a request of a collective in flight that runs once and has no buffers.
    #[inline(always)] // as `with`
    pub(super) fn of_collective(handle: OpHandle) -> Request {
        Request::with(handle, Hold::Bare, Kind::Collective, State::Once)
    }

    pub(super) fn generalized(handle: OpHandle, shared: Arc<Shared>) -> Request {
        Request::with(handle, Hold::Bare, Kind::Generalized(shared), State::Once)
    }

    /// Makes a request of an inactive persistent message.
    pub(super) fn stored(handle: OpHandle) -> Request {
        Request::message_or_collective(handle, Box::new(()), State::Inactive)
    }

    /// Makes a request of an inactive partitioned message.
    pub(super) fn in_parts(handle: OpHandle, parts: Partitions) -> Request {
        let mut request = Request::stored(handle);
        if let Subject::Operation(inner) = &mut request.0 {
            let receives = matches!(inner.kind, Kind::Receive);
            inner.kind = Kind::InParts { parts, receives };
        }
        request
    }

    /// Makes a request of a collective in flight that runs once. `deliver` holds its buffers; the
    /// first call that reports the completion calls it.
    pub(crate) fn delivering(
        handle: OpHandle,
        deliver: impl FnOnce(&OpHandle) + Send + 'static,
    ) -> Request {
        let hold = Hold::Delivery(Box::new(deliver));
        Request::with(handle, hold, Kind::Collective, State::Once)
    }

    #[inline(always)] // a request that is moved is read before it has been written
    fn with(handle: OpHandle, hold: Hold, kind: Kind, state: State) -> Request {
        let (persistent, active) = (state != State::Once, state != State::Inactive);
        let inner = Inner { handle, hold, kind, persistent, active };
        Request(Subject::Operation(inner))
    }

    /// Returns whether it is the null request. (`MPI_REQUEST_NULL`)
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self.0, Subject::Nothing)
    }

    /// Returns whether its operation has been started and no call has completed it.
    pub fn is_active(&self) -> bool {
        self.is_over() || self.inner().is_some_and(|inner| inner.active)
    }

    /// Returns the name of the call that made it; `None` if it has no operation.
    pub fn call(&self) -> Option<&'static str> {
        self.inner().map(|inner| inner.handle.origin.call)
    }

    /// Returns whether it is persistent: its operation can be started repeatedly.
    pub fn is_persistent(&self) -> bool {
        self.inner().is_some_and(|inner| inner.persistent)
    }

    /// Returns whether it has neither a [completer](Request::completer) nor
    /// [parts](Request::parts).
    #[inline(always)] // as `with`
    pub fn is_plain(&self) -> bool {
        let is_plain =
            |inner: &Inner| !matches!(inner.kind, Kind::InParts { .. } | Kind::Generalized(_));
        self.inner().is_none_or(is_plain)
    }

    #[inline(always)] // as `with`
    fn inner(&self) -> Option<&Inner> {
        if let Subject::Operation(inner) = &self.0 { Some(inner) } else { None }
    }

    #[inline(always)] // as `with`
    fn inner_mut(&mut self) -> Option<&mut Inner> {
        if let Subject::Operation(inner) = &mut self.0 { Some(inner) } else { None }
    }

    /// Returns the operation, if it is active. `None` for a send that was complete when it started.
    pub(super) fn active(&mut self) -> Option<&mut Inner> {
        self.inner_mut().filter(|inner| inner.active)
    }

    /// Describes the algorithm of a collective and the reason for it, like
    /// [`Persistent::explain`](crate::Persistent::explain). For other operations and the null
    /// request, the text says that there is nothing to explain.
    pub fn explain(&self) -> String {
        let explain = |inner: &Inner| inner.handle.explain();
        self.inner().map_or_else(|| "no operation".to_owned(), explain)
    }

    /// Starts a persistent operation. (`MPI_Start`, MPI 4.1 §3.9)
    ///
    /// # Errors
    /// The request is not an inactive persistent one; or a rank has died.
    pub fn start(&mut self) -> Result<()> {
        self.check_start()?;
        let inner = self.inner_mut().expect("checked");
        inner.handle.start()?;
        inner.active = true;
        if let Kind::InParts { parts, .. } = &inner.kind {
            parts.begin();
        }
        Ok(())
    }

    /// Checks whether a start is possible.
    pub(super) fn check_start(&self) -> Result<()> {
        match &self.0 {
            Subject::Nothing => Err(Error::from(ErrorKind::of_request(NULL))),
            Subject::Over(_) => Err(Error::from(ErrorKind::of_request(NOT_PERSISTENT))),
            Subject::Operation(inner) if !inner.persistent => Err(inner.error(NOT_PERSISTENT)),
            Subject::Operation(inner) if inner.active => Err(inner.error(ACTIVE)),
            Subject::Operation(_) => Ok(()),
        }
    }

    /// Waits until the operation is complete, and completes the request. Returns at once if no
    /// operation is active. (`MPI_Wait`, MPI 4.1 §3.7.3)
    ///
    /// # Errors
    /// The error of the operation, which counts as completed then.
    pub fn wait(&mut self) -> Result<Status> {
        if let Some(inner) = self.active() {
            inner.handle.await_end()?;
        }
        self.conclude()
    }

    /// Completes the request if its operation is complete. Makes progress if possible, and never
    /// waits. (`MPI_Test`)
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn test(&mut self) -> Result<Option<Status>> {
        if let Some(inner) = self.active()
            && !inner.handle.try_complete()
        {
            return inner.handle.not_yet();
        }
        self.conclude().map(Some)
    }

    /// Does the same as [`Request::test`] without completing the request, so that the next call
    /// returns the same. (`MPI_Request_get_status`, MPI 4.1 §3.7.6)
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn get_status(&mut self) -> Result<Option<Status>> {
        let Some(inner) = self.active() else { return Ok(Some(Status::EMPTY)) };
        if inner.handle.try_complete() { inner.tell().map(Some) } else { inner.handle.not_yet() }
    }

    /// Frees the request. A message in flight goes on, and the library holds its buffers until it
    /// is complete. (`MPI_Request_free`, MPI 4.1 §3.7.3, §7.12, §7.13)
    ///
    /// A collective may be freed once it is complete, whether a call has completed it or
    /// [`Request::get_status`] has reported the completion. The standard does not allow to free a
    /// collective that runs once, and check mode refuses it.
    ///
    /// # Errors
    /// The request is null; or it is an active collective, which goes on undisturbed.
    pub fn free(&mut self) -> Result<()> {
        match &mut self.0 {
            Subject::Nothing => return Err(Error::from(ErrorKind::of_request(NULL))),
            Subject::Operation(inner) if inner.active && matches!(inner.kind, Kind::Collective) => {
                if inner.core().watch().check && !inner.persistent {
                    return Err(inner.error(NEVER_FREED));
                }
                if !inner.handle.collect() {
                    inner.handle.refuse_operator()?;
                    return Err(inner.error(NOT_TO_FREE));
                }
            }
            Subject::Over(_) | Subject::Operation(_) => {}
        }
        self.release()
    }

    /// Cancels a receive that has not matched a message, ends a send, or asks a generalized
    /// operation to end. The request must still be completed, which does not wait for any other
    /// rank; the status reports whether the operation was cancelled. (`MPI_Cancel`, MPI 5.0 §3.8.4)
    ///
    /// If the receiver does not know of a message yet, its send is withdrawn. Otherwise the library
    /// sends the message from a copy and the send counts as not cancelled; a synchronous send then
    /// completes before it is received. Data that the network between hosts already transfers is
    /// transferred to its end before the send completes.
    ///
    /// # Errors
    /// The request is not active; it is a collective, which goes on undisturbed; or the error of
    /// the callback of a generalized operation.
    pub fn cancel(&mut self) -> Result<()> {
        let inner = match &mut self.0 {
            Subject::Nothing => return Err(Error::from(ErrorKind::of_request(NULL))),
            Subject::Over(Past::Send) => return Ok(()),
            Subject::Over(Past::Collective) => {
                return Err(Error::from(ErrorKind::of_request(NOT_TO_CANCEL)));
            }
            Subject::Operation(inner) => inner,
        };
        match &inner.kind {
            Kind::Collective => Err(inner.error(NOT_TO_CANCEL)),
            _ if !inner.active => Err(inner.error(INACTIVE)),
            Kind::Generalized(shared) => shared.cancel().map_err(|error| inner.brought(error)),
            Kind::Send | Kind::Receive | Kind::InParts { .. } => inner.handle.cancel(),
        }
    }

    /// Returns the completer of a generalized operation. (`MPI_Grequest_complete` is
    /// [`Completer::complete`])
    pub fn completer(&self) -> Option<Completer> {
        let inner = self.inner()?;
        match &inner.kind {
            Kind::Generalized(shared) => {
                Some(Completer::new(inner.core().clone(), inner.handle.id, Some(shared.clone())))
            }
            _ => None,
        }
    }

    /// Returns the parts of a partitioned message.
    pub fn parts(&self) -> Option<Partitions> {
        match &self.inner()?.kind {
            Kind::InParts { parts, .. } => Some(parts.clone()),
            _ => None,
        }
    }

    /// Completes the request of a complete operation: it becomes null or inactive.
    pub(super) fn conclude(&mut self) -> Result<Status> {
        let Some(inner) = self.active() else {
            if self.is_over() {
                mem::forget(mem::take(&mut self.0)); // It holds nothing.
            }
            return Ok(Status::EMPTY);
        };
        let status = inner.tell();
        if inner.persistent {
            inner.active = false;
            return status;
        }
        let freed = self.release();
        status.and_then(|status| freed.map(|()| status))
    }

    fn release(&mut self) -> Result<()> {
        let Some(Inner { kind: Kind::Generalized(shared), handle, .. }) = self.inner() else {
            self.0 = Subject::Nothing;
            return Ok(());
        };
        let (shared, CallOrigin { home, call }) = (shared.clone(), handle.origin.duplicate());
        self.0 = Subject::Nothing;
        shared.free().map_err(|error| home.error_of_callback(call, error))
    }
}

impl Drop for Request {
    #[inline]
    fn drop(&mut self) {
        if self.inner().is_some() {
            // A drop cannot return the error of a callback.
            let _ = self.release();
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Subject::Nothing => out.write_str("Request(null)"),
            Subject::Over(past) => write!(out, "Request({past:?} that is over)"),
            Subject::Operation(inner) => {
                let state = if inner.active { "active" } else { "inactive" };
                write!(out, "Request({}, {state})", inner.handle.origin.call)
            }
        }
    }
}
