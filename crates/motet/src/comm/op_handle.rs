//! Operation handle: what a request holds of an operation in flight.

use std::ops::Deref;
use std::sync::Arc;
use std::task::{Context, Poll};

use motet_fabric::Received;
use motet_fabric::biased_lock::is_excluded;
use motet_fabric::slab::Id;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::group::Group;
use crate::base::status::{Status, Tag};
use crate::comm::error_handler::{ErrorContext, ErrorHandler};
use crate::engine::{BufferGuard, CANCELLED, End, Engine, NOBODY, NOTHING, Outcome, StartOutcome};
use crate::rank::{EngineGuard, RankContext};

/// State that all operations of one communicator share.
pub(crate) struct CommContext {
    pub(crate) core: Arc<RankContext>,
    pub(crate) group: Group,
    /// The caller's rank in the communicator.
    pub(crate) rank: usize,
    pub(crate) error_context: Arc<ErrorContext>,
}

impl CommContext {
    /// Makes the context of a new communicator, which inherits this handler.
    pub(crate) fn new(
        core: Arc<RankContext>,
        group: Group,
        rank: usize,
        handler: ErrorHandler,
    ) -> Arc<CommContext> {
        let error_context = ErrorContext::new(rank, group.clone(), handler);
        Arc::new(CommContext { core, group, rank, error_context })
    }

    /// Makes the context of a copy of the communicator.
    pub(crate) fn duplicate(&self) -> Arc<CommContext> {
        let ErrorContext { rank, group, .. } = &*self.error_context;
        self.called(*rank, group.clone())
    }

    /// Makes the context of the same rank whose errors name its rank in another group.
    pub(crate) fn called(&self, rank: usize, group: Group) -> Arc<CommContext> {
        let error_context = ErrorContext::new(rank, group, self.error_context.handler());
        let (core, group) = (self.core.clone(), self.group.clone());
        Arc::new(CommContext { core, group, rank: self.rank, error_context })
    }
}

impl CommContext {
    /// Starts an operation, if the limit on pending operations allows another one.
    pub(crate) fn with_room<T>(
        &self,
        call: &'static str,
        begin: impl FnOnce(&mut Engine) -> T,
    ) -> Result<T> {
        let mut engine = self.engine(call)?;
        let begun = engine.make_room().map(|()| begin(&mut engine));
        drop(engine); // an error handler may want it
        begun.map_err(|kind| self.error(call, kind))
    }

    /// Locks the engine for a call.
    ///
    /// # Errors
    /// The caller is a reduction operator.
    #[inline]
    pub(crate) fn engine(&self, call: &'static str) -> Result<EngineGuard<'_>> {
        match self.core.free_engine() {
            Some(engine) => Ok(engine),
            None => Err(self.error(call, ErrorKind::WithinOperator)),
        }
    }

    /// Checks that a call is allowed.
    ///
    /// # Errors
    /// The caller is a reduction operator.
    #[inline]
    pub(crate) fn refuse_operator(&self, call: &'static str) -> Result<()> {
        if is_excluded() { Err(self.error(call, ErrorKind::WithinOperator)) } else { Ok(()) }
    }

    /// Converts the result of a receive to a status with ranks of the communicator. For a
    /// collective, which has no single source, the status has no meaning.
    pub(crate) fn status(&self, received: Received) -> Status {
        if received == NOBODY {
            return Status::NOBODY;
        }
        if received == CANCELLED {
            return Status { cancelled: true, ..Status::NOBODY };
        }
        Status {
            source: self.group.rank_of_peer(received.source).unwrap_or(self.rank),
            tag: Tag(received.tag as u32),
            bytes: received.bytes,
            cancelled: false,
        }
    }
}

/// The communicator and the call that started an operation.
pub(crate) struct CallOrigin {
    pub(crate) home: Arc<CommContext>,
    pub(crate) call: &'static str,
}

impl Deref for CallOrigin {
    type Target = CommContext;

    fn deref(&self) -> &CommContext {
        &self.home
    }
}

impl CallOrigin {
    /// Copies the origin for another handle.
    pub(crate) fn duplicate(&self) -> CallOrigin {
        CallOrigin { home: self.home.clone(), call: self.call }
    }

    /// Makes an error of the operation and passes it to the error handler.
    pub(crate) fn error(&self, kind: impl Into<ErrorKind>) -> Error {
        self.home.error(self.call, kind)
    }
}

/// A started operation whose outcome the program has not taken yet.
pub(crate) struct OpHandle {
    pub(crate) origin: CallOrigin,
    pub(crate) id: Id,
    persistent: bool,
    /// Once it is known, the engine has removed the operation (or, if it is persistent, made it
    /// inactive).
    end: End,
    /// Whether a wait for one of several operations has already reported it.
    pub(crate) reported: bool,
    /// Whether the error has been passed to the error handler.
    handled: bool,
}

impl OpHandle {
    #[inline]
    pub(crate) fn new(origin: CallOrigin, id: Id, persistent: bool) -> OpHandle {
        OpHandle { origin, id, persistent, end: End::Unknown, reported: false, handled: false }
    }

    /// Makes the handle of an inactive persistent operation, for which there is nothing to wait.
    #[inline]
    pub(crate) fn inactive(origin: CallOrigin, id: Id) -> OpHandle {
        OpHandle { end: End::Well, reported: true, ..OpHandle::new(origin, id, true) }
    }

    /// Makes the handle of a send that is already complete and that the engine never had.
    pub(crate) fn over(origin: CallOrigin) -> OpHandle {
        OpHandle { end: End::Well, ..OpHandle::new(origin, Id(0), false) }
    }

    /// Starts another run of an inactive persistent operation.
    pub(crate) fn start(&mut self) -> Result<()> {
        let mut engine = self.origin.engine(self.origin.call)?;
        self.end = match engine.start(self.id) {
            StartOutcome::Over => End::Well,
            StartOutcome::Pending => End::Unknown,
            StartOutcome::Removed => {
                let reason = engine.why_removed(self.id);
                drop(engine); // an error handler may want it
                return Err(self.origin.error(reason));
            }
        };
        drop(engine);
        self.reported = false;
        self.handled = false;
        Ok(())
    }

    /// Copies the handle, for a new owner of the operation.
    pub(crate) fn take_over(&mut self) -> OpHandle {
        let OpHandle { ref origin, id, persistent, end, reported, handled } = *self;
        OpHandle { origin: origin.duplicate(), id, persistent, end, reported, handled }
    }

    /// Takes over the outcome of another handle of the same operation.
    pub(crate) fn end_as(&mut self, other: &OpHandle) {
        (self.end, self.handled) = (other.end, other.handled);
    }

    /// Detaches the operation: when it is complete, the engine drops `keeper`, which holds its
    /// buffers.
    pub(crate) fn release(&mut self, keeper: BufferGuard) {
        if !self.is_gone() {
            self.origin.core.detach(self.id, keeper);
        }
    }

    /// Returns whether the engine has removed the operation.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.end.is_known() && !self.persistent
    }

    /// Returns the result of a receive that completed without error.
    #[inline]
    pub(crate) fn received(&self) -> Option<Received> {
        if let End::As(Ok(received)) = self.end { Some(received) } else { None }
    }

    /// Returns whether the outcome is known.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_known()
    }

    /// Waits for the outcome and returns it.
    pub(crate) fn wait(&mut self) -> Result<Received> {
        self.await_end()?;
        self.result()
    }

    /// Waits until the operation is complete.
    ///
    /// # Errors
    /// The caller is a reduction operator; the operation is unaffected.
    #[inline]
    pub(crate) fn await_end(&mut self) -> Result<()> {
        if self.ends_soon() { Ok(()) } else { self.await_end_for_long() }
    }

    #[inline(never)]
    fn await_end_for_long(&mut self) -> Result<()> {
        self.refuse_operator()?;
        self.end = End::As(self.origin.core.wait(self.id, self.persistent));
        Ok(())
    }

    /// Returns `None` for an operation that is not known to be complete, or the error of an
    /// operator.
    pub(crate) fn not_yet<T>(&self) -> Result<Option<T>> {
        self.refuse_operator().map(|()| None)
    }

    /// Returns an error if a reduction operator asks for a result that only the engine knows.
    pub(crate) fn refuse_operator(&self) -> Result<()> {
        self.origin.home.refuse_operator(self.origin.call)
    }

    /// Waits for about the time that a short message takes. Returns whether the operation is
    /// complete.
    #[inline]
    pub(crate) fn ends_soon(&mut self) -> bool {
        if self.end.is_known() {
            return true;
        }
        let end = self.origin.core.ends(self.id, self.persistent);
        let is_known = end.is_known();
        if is_known {
            self.end = end;
        }
        is_known
    }

    /// Does the same, but waits only for a receive before which no other one is posted.
    #[inline]
    pub(crate) fn ends_in_order(&mut self) -> bool {
        self.end.is_known() || self.ends_as(self.origin.core.end_in_order(self.id, self.persistent))
    }

    /// Notes the outcome if there is one, and returns whether there is. Writes nothing else: to
    /// copy what was just written takes long.
    #[inline(always)]
    fn ends_as(&mut self, outcome: Option<Outcome>) -> bool {
        let Some(outcome) = outcome else { return false };
        self.end = End::As(outcome);
        true
    }

    /// Returns whether a collective has completed without error: there is no further result.
    #[inline]
    pub(crate) fn ended_well(&self) -> bool {
        matches!(self.end, End::Well)
    }

    /// Makes progress, and returns whether the operation is complete.
    pub(crate) fn test(&mut self) -> Result<bool> {
        if !self.try_complete() {
            return self.refuse_operator().map(|()| false);
        }
        self.result().map(|_| true)
    }

    /// Makes progress, and takes the outcome if the operation is complete. Returns whether it is
    /// known.
    pub(crate) fn try_complete(&mut self) -> bool {
        if self.end.is_known() {
            return true;
        }
        let Some(mut engine) = self.origin.core.free_engine() else { return false };
        engine.progress_now_and_then_thoroughly(1);
        engine.poll_awaited(self.id);
        let outcome = self.take(&mut engine);
        drop(engine);
        if outcome.is_none() {
            self.origin.core.has_polled_in_vain();
        }
        self.ends_as(outcome)
    }

    /// Takes the outcome if the operation is complete, without making progress.
    pub(crate) fn collect(&mut self) -> bool {
        if self.end.is_known() {
            return true;
        }
        let Some(mut engine) = self.origin.core.free_engine() else { return false };
        let outcome = self.take(&mut engine);
        drop(engine);
        self.ends_as(outcome)
    }

    /// Takes the outcome if the operation is complete, from an engine that the caller has locked.
    /// Returns whether it is known.
    pub(crate) fn collect_from(&mut self, engine: &mut Engine) -> bool {
        self.end.is_known() || self.ends_as(engine.take(self.id, self.persistent))
    }

    /// Takes the outcome from the engine if the operation is complete; a death ends the operations
    /// that it affects.
    fn take(&self, engine: &mut Engine) -> Option<Outcome> {
        let outcome = engine.take(self.id, self.persistent);
        outcome.or_else(|| engine.failure().and_then(|_| engine.take(self.id, self.persistent)))
    }

    /// Polls for a future: returns the outcome, or registers the waker.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Received>> {
        // Asked for the wake-up first, no completion can slip through between the two.
        if !self.end.is_known() {
            let waker = context.waker();
            // The waker that it replaces is dropped when the engine is unlocked.
            let _former = self.origin.engine(self.origin.call)?.wake_on_completion(self.id, waker);
        }
        if self.try_complete() {
            return Poll::Ready(self.result());
        }
        match self.origin.core.start_progress_thread() {
            Ok(()) => Poll::Pending,
            Err(refusal) => Poll::Ready(Err(self.origin.error(refusal))),
        }
    }

    /// Returns the outcome. Passes an error to the error handler, once.
    pub(crate) fn result(&mut self) -> Result<Received> {
        let outcome = match self.end {
            End::Unknown => unreachable!("only asked when known"),
            End::Well => return Ok(NOTHING),
            End::As(outcome) => outcome,
        };
        outcome.map_err(|error| {
            if std::mem::replace(&mut self.handled, true) {
                return self.origin.home.silent_error_of_transfer(self.origin.call, error);
            }
            self.origin.home.error_of_transfer(self.origin.call, error)
        })
    }

    /// The status of a receive; see [`CommContext::status`].
    pub(crate) fn status(&self, received: Received) -> Status {
        self.origin.status(received)
    }

    /// Cancels a receive that has not matched a message, and ends a send; see [`Engine::cancel`].
    pub(crate) fn cancel(&mut self) -> Result<()> {
        if self.end.is_known() {
            return Ok(());
        }
        let mut engine = self.origin.engine(self.origin.call)?;
        let refused = engine.is_collective(self.id);
        if !refused {
            engine.cancel(self.id);
        }
        drop(engine);
        if refused {
            return Err(self
                .origin
                .error(ErrorKind::of_request("is of a collective, which cannot be cancelled")));
        }
        Ok(())
    }
}
