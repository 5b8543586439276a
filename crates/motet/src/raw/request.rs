//! One type for every kind of request.

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

/// An operation of whatever kind, or none. (MPI 4.1 §3.7)
///
/// An operation that runs once is gone when it has been completed: the request is null then. A
/// persistent one becomes inactive, and can be started again. Dropping a request frees it; an
/// operation that is active goes on by itself. Whoever keeps requests in one place reuses their
/// memory: a request allocates none of its own.
#[derive(Default)]
pub struct Request(Subject);

/// What a request stands for.
#[derive(Default)]
enum Subject {
    #[default]
    Nothing,
    /// Something that was over when it began: there is nothing to be known of it but what it was.
    Over(Past),
    Operation(Inner),
}

/// What is done with the result of an operation that is over.
type Delivery = Box<dyn FnOnce(&OpHandle) + Send>;

/// An operation that a request stands for. A million of them may be under way.
pub(super) struct Inner {
    flight: OpHandle,
    hold: Hold,
    kind: Kind,
    persistent: bool,
    /// Started, and not completed by a call.
    active: bool,
}

/// What holds the buffers of an operation.
enum Hold {
    /// Until the operation is over, if that is later than the end of the request.
    Buffers(BufferGuard),
    /// They are the caller's business.
    Bare,
    /// Of one whose result is more than a status: holds what that is made of.
    Delivery(Delivery),
    /// It has been delivered.
    Nothing,
}

/// What an operation does.
enum Kind {
    /// Or something else that receives nothing, and may be freed.
    Send,
    Receive,
    /// A message in parts.
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
        match mem::replace(&mut self.hold, Hold::Nothing) {
            Hold::Bare if self.flight.is_gone() => {}
            Hold::Bare => self.flight.release(Box::new(())),
            Hold::Buffers(keeper) => self.flight.release(keeper),
            Hold::Delivery(_) | Hold::Nothing => {}
        }
    }
}

impl Inner {
    /// The kind of a message or a collective.
    fn kind(flight: &OpHandle) -> Kind {
        let mut engine = flight.origin.core.engine();
        if engine.is_collective(flight.id) {
            return Kind::Collective;
        }
        // Of one whose outcome is here already, only that of a receive is of interest.
        match engine.receives_nothing(flight.id) {
            true => Kind::Send,
            false => Kind::Receive,
        }
    }

    pub(super) fn core(&self) -> &Arc<RankContext> {
        &self.flight.origin.core
    }

    pub(super) fn id(&self) -> Id {
        self.flight.id
    }

    /// Takes the outcome if it is there.
    pub(super) fn collect(&mut self, engine: &mut Engine) -> bool {
        self.flight.collect_from(engine)
    }

    /// Waits as long as a message may take. Says whether it is over.
    pub(super) fn ends_soon(&mut self) -> bool {
        self.flight.ends_soon()
    }

    /// What an operation that is over came to.
    #[inline]
    pub(super) fn tell(&mut self) -> Result<Status> {
        match (&self.hold, &self.kind) {
            (Hold::Delivery(_), _) => self.tell_all(),
            _ if self.flight.ended_well() => Ok(Status::EMPTY),
            (_, Kind::Receive) if let Some(received) = self.flight.received() => {
                Ok(Status::of_receive(&self.flight.origin, received))
            }
            _ => self.tell_all(),
        }
    }

    fn tell_all(&mut self) -> Result<Status> {
        let received = self.flight.result();
        if matches!(self.hold, Hold::Delivery(_))
            && let Hold::Delivery(deliver) = mem::replace(&mut self.hold, Hold::Nothing)
        {
            deliver(&self.flight);
        }
        let received: Received = received?;
        match &self.kind {
            Kind::Receive | Kind::InParts { receives: true, .. } => {
                Ok(Status::of_receive(&self.flight.origin, received))
            }
            Kind::Send if received == CANCELLED => Ok(Status { cancelled: true, ..Status::EMPTY }),
            Kind::Send | Kind::InParts { .. } | Kind::Collective => Ok(Status::EMPTY),
            Kind::Generalized(shared) => shared.query().map_err(|error| self.brought(error)),
        }
    }

    /// What a callback has said, once it has been brought before the error handler.
    fn brought(&self, error: Error) -> Error {
        let CallOrigin { home, call } = &self.flight.origin;
        home.error_of_callback(call, error)
    }

    fn error(&self, problem: &str) -> Error {
        self.flight.origin.error(ErrorKind::of_request(problem))
    }
}

impl Request {
    /// The null request.
    pub const fn null() -> Request {
        Request(Subject::Nothing)
    }

    /// Something that was over when it began. All such sends are alike, and so are all such
    /// collectives.
    pub const fn over(past: Past) -> Request {
        Request(Subject::Over(past))
    }

    /// Whether it is [one of those](Request::over), and no call has completed it.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.past().is_some()
    }

    /// What it was, if it is [one of those](Request::over), and no call has completed it.
    #[inline]
    pub fn past(&self) -> Option<Past> {
        if let Subject::Over(past) = self.0 { Some(past) } else { None }
    }

    /// An operation that runs once and is under way, or a persistent one in whatever state.
    ///
    /// The keeper holds the buffers of the operation, if it has any.
    pub(crate) fn message_or_collective(
        flight: OpHandle,
        keeper: BufferGuard,
        state: State,
    ) -> Request {
        let kind = Inner::kind(&flight);
        Request::with(flight, Hold::Buffers(keeper), kind, state)
    }

    /// A message without buffers that is under way.
    #[inline(always)] // as `with`
    pub(super) fn of_message(flight: OpHandle, receives: bool) -> Request {
        let kind = if receives { Kind::Receive } else { Kind::Send };
        Request::with(flight, Hold::Bare, kind, State::Once)
    }

    /// A collective without buffers that runs once and is under way.
    #[inline(always)] // as `with`
    pub(super) fn of_collective(flight: OpHandle) -> Request {
        Request::with(flight, Hold::Bare, Kind::Collective, State::Once)
    }

    pub(super) fn generalized(flight: OpHandle, shared: Arc<Shared>) -> Request {
        Request::with(flight, Hold::Bare, Kind::Generalized(shared), State::Once)
    }

    /// A persistent message that is inactive.
    pub(super) fn stored(flight: OpHandle) -> Request {
        Request::message_or_collective(flight, Box::new(()), State::Inactive)
    }

    /// The same, of a message in parts.
    pub(super) fn in_parts(flight: OpHandle, parts: Partitions) -> Request {
        let mut request = Request::stored(flight);
        if let Subject::Operation(inner) = &mut request.0 {
            let receives = matches!(inner.kind, Kind::Receive);
            inner.kind = Kind::InParts { parts, receives };
        }
        request
    }

    /// A collective that runs once and is under way. `deliver` holds its buffers; it is called when
    /// the operation is over and somebody is told so.
    pub(crate) fn delivering(
        flight: OpHandle,
        deliver: impl FnOnce(&OpHandle) + Send + 'static,
    ) -> Request {
        let hold = Hold::Delivery(Box::new(deliver));
        Request::with(flight, hold, Kind::Collective, State::Once)
    }

    #[inline(always)] // a request that is moved is read before it has been written
    fn with(flight: OpHandle, hold: Hold, kind: Kind, state: State) -> Request {
        let (persistent, active) = (state != State::Once, state != State::Inactive);
        let inner = Inner { flight, hold, kind, persistent, active };
        Request(Subject::Operation(inner))
    }

    /// Whether it stands for no operation. (`MPI_REQUEST_NULL`)
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self.0, Subject::Nothing)
    }

    /// Whether its operation has been started and no call has completed it.
    pub fn is_active(&self) -> bool {
        self.is_over() || self.inner().is_some_and(|inner| inner.active)
    }

    /// The call that has made it, unless there is no operation.
    pub fn call(&self) -> Option<&'static str> {
        self.inner().map(|inner| inner.flight.origin.call)
    }

    /// Whether its operation can be started again and again.
    pub fn is_persistent(&self) -> bool {
        self.inner().is_some_and(|inner| inner.persistent)
    }

    /// Whether it has neither a [completer](Request::completer) nor [parts](Request::parts).
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

    /// The operation, if it is active. Of a send that was over when it began there is none.
    pub(super) fn active(&mut self) -> Option<&mut Inner> {
        self.inner_mut().filter(|inner| inner.active)
    }

    /// What a collective does and why, as [`Persistent::explain`](crate::Persistent::explain) says
    /// it; of any other operation, and of none, that there is nothing to tell.
    pub fn explain(&self) -> String {
        let explain = |inner: &Inner| inner.flight.explain();
        self.inner().map_or_else(|| "no operation".to_owned(), explain)
    }

    /// Starts a persistent operation. (`MPI_Start`, MPI 4.1 §3.9)
    ///
    /// # Errors
    /// A request that is not an inactive persistent one; that a rank has died.
    pub fn start(&mut self) -> Result<()> {
        self.check_start()?;
        let inner = self.inner_mut().expect("checked");
        inner.flight.start()?;
        inner.active = true;
        if let Kind::InParts { parts, .. } = &inner.kind {
            parts.begin();
        }
        Ok(())
    }

    /// Whether a start is possible.
    pub(super) fn check_start(&self) -> Result<()> {
        match &self.0 {
            Subject::Nothing => Err(Error::from(ErrorKind::of_request(NULL))),
            Subject::Over(_) => Err(Error::from(ErrorKind::of_request(NOT_PERSISTENT))),
            Subject::Operation(inner) if !inner.persistent => Err(inner.error(NOT_PERSISTENT)),
            Subject::Operation(inner) if inner.active => Err(inner.error(ACTIVE)),
            Subject::Operation(_) => Ok(()),
        }
    }

    /// Waits until the operation is complete. Returns at once if there is none that is active.
    /// (`MPI_Wait`, MPI 4.1 §3.7.3)
    ///
    /// # Errors
    /// What went wrong with the operation; it counts as completed then.
    pub fn wait(&mut self) -> Result<Status> {
        if let Some(inner) = self.active() {
            inner.flight.await_end()?;
        }
        self.conclude()
    }

    /// Completes the operation if it is over. Moves it on if it can; never waits. (`MPI_Test`)
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn test(&mut self) -> Result<Option<Status>> {
        if let Some(inner) = self.active()
            && !inner.flight.look()
        {
            return inner.flight.not_yet();
        }
        self.conclude().map(Some)
    }

    /// As [`Request::test`], but leaves the operation as it is, so that the next call says the
    /// same. (`MPI_Request_get_status`, MPI 4.1 §3.7.6)
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn get_status(&mut self) -> Result<Option<Status>> {
        let Some(inner) = self.active() else { return Ok(Some(Status::EMPTY)) };
        if inner.flight.look() { inner.tell().map(Some) } else { inner.flight.not_yet() }
    }

    /// Gives the operation up. A message that is under way goes on by itself, and its buffers are
    /// kept until it is complete. (`MPI_Request_free`, MPI 4.1 §3.7.3, §7.12, §7.13)
    ///
    /// A collective may be freed once it is complete, whether a call has completed it or
    /// [`Request::get_status`] has said so. The standard does not allow that of one that runs once,
    /// and check mode refuses it.
    ///
    /// # Errors
    /// A null request; a collective that is active, which goes on unharmed.
    pub fn free(&mut self) -> Result<()> {
        match &mut self.0 {
            Subject::Nothing => return Err(Error::from(ErrorKind::of_request(NULL))),
            Subject::Operation(inner) if inner.active && matches!(inner.kind, Kind::Collective) => {
                if inner.core().watch().check && !inner.persistent {
                    return Err(inner.error(NEVER_FREED));
                }
                if !inner.flight.collect() {
                    inner.flight.refuse_operator()?;
                    return Err(inner.error(NOT_TO_FREE));
                }
            }
            Subject::Over(_) | Subject::Operation(_) => {}
        }
        self.release()
    }

    /// Cancels a receive that has met no message yet, ends a send, or asks a generalized operation
    /// to end. The operation must still be completed, which does not wait for any other rank; its
    /// status says whether it was cancelled. (`MPI_Cancel`, MPI 5.0 §3.8.4)
    ///
    /// A send is taken back if its receiver knows nothing of it. Else its message goes on from a
    /// copy and was not cancelled; a synchronous one ends before it is received then. What the
    /// network between hosts moves already ends when it has been moved.
    ///
    /// # Errors
    /// A request that is not active; a collective, which goes on unharmed; what the callback of a
    /// generalized operation says.
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
            Kind::Send | Kind::Receive | Kind::InParts { .. } => inner.flight.cancel(),
        }
    }

    /// What ends a generalized operation. (`MPI_Grequest_complete` is
    /// [`Completer::complete`])
    pub fn completer(&self) -> Option<Completer> {
        let inner = self.inner()?;
        match &inner.kind {
            Kind::Generalized(shared) => {
                Some(Completer::new(inner.core().clone(), inner.flight.id, Some(shared.clone())))
            }
            _ => None,
        }
    }

    /// The parts of a message that is sent or received in parts.
    pub fn parts(&self) -> Option<Partitions> {
        match &self.inner()?.kind {
            Kind::InParts { parts, .. } => Some(parts.clone()),
            _ => None,
        }
    }

    /// Completes an operation that is over: the request becomes null or inactive.
    pub(super) fn conclude(&mut self) -> Result<Status> {
        let Some(inner) = self.active() else {
            if self.is_over() {
                mem::forget(mem::take(&mut self.0)); // It holds nothing.
            }
            return Ok(Status::EMPTY);
        };
        let told = inner.tell();
        if inner.persistent {
            inner.active = false;
            return told;
        }
        let freed = self.release();
        told.and_then(|status| freed.map(|()| status))
    }

    fn release(&mut self) -> Result<()> {
        let Some(Inner { kind: Kind::Generalized(shared), flight, .. }) = self.inner() else {
            self.0 = Subject::Nothing;
            return Ok(());
        };
        let (shared, CallOrigin { home, call }) = (shared.clone(), flight.origin.again());
        self.0 = Subject::Nothing;
        shared.free().map_err(|error| home.error_of_callback(call, error))
    }
}

impl Drop for Request {
    #[inline]
    fn drop(&mut self) {
        if self.inner().is_some() {
            // Nobody is there to be told what a callback says.
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
                write!(out, "Request({}, {state})", inner.flight.origin.call)
            }
        }
    }
}
