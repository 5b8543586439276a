//! An operation under way, as whoever waits for it sees it.

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

/// What the operations of one communicator have in common.
pub(crate) struct CommContext {
    pub(crate) core: Arc<RankContext>,
    pub(crate) group: Group,
    /// The rank in the communicator.
    pub(crate) rank: usize,
    pub(crate) particulars: Arc<ErrorContext>,
}

impl CommContext {
    /// The home of a new communicator, which inherits this handler.
    pub(crate) fn new(
        core: Arc<RankContext>,
        group: Group,
        rank: usize,
        handler: ErrorHandler,
    ) -> Arc<CommContext> {
        let particulars = ErrorContext::new(rank, group.clone(), handler);
        Arc::new(CommContext { core, group, rank, particulars })
    }

    /// The home of a copy of its communicator.
    pub(crate) fn again(&self) -> Arc<CommContext> {
        let ErrorContext { rank, group, .. } = &*self.particulars;
        self.called(*rank, group.clone())
    }

    /// The home of the same rank, which errors call by its rank in another group.
    pub(crate) fn called(&self, rank: usize, group: Group) -> Arc<CommContext> {
        let particulars = ErrorContext::new(rank, group, self.particulars.handler());
        let (core, group) = (self.core.clone(), self.group.clone());
        Arc::new(CommContext { core, group, rank: self.rank, particulars })
    }
}

impl CommContext {
    /// Begins an operation, if there may be another one.
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

    /// The engine, for a call.
    ///
    /// # Errors
    /// That an operator makes the call.
    #[inline]
    pub(crate) fn engine(&self, call: &'static str) -> Result<EngineGuard<'_>> {
        match self.core.free_engine() {
            Some(engine) => Ok(engine),
            None => Err(self.error(call, ErrorKind::WithinOperator)),
        }
    }

    /// Whether a call may be made at all.
    ///
    /// # Errors
    /// That an operator makes it.
    #[inline]
    pub(crate) fn refuse_operator(&self, call: &'static str) -> Result<()> {
        if is_excluded() { Err(self.error(call, ErrorKind::WithinOperator)) } else { Ok(()) }
    }

    /// The status of a receive in terms of its communicator. Of a collective, which receives from
    /// nobody in particular, it means nothing.
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

/// Where an operation began, and by which call.
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
    /// The same origin, for another flight.
    pub(crate) fn again(&self) -> CallOrigin {
        CallOrigin { home: self.home.clone(), call: self.call }
    }

    /// An error of the operation, which has been brought before the handler.
    pub(crate) fn error(&self, kind: impl Into<ErrorKind>) -> Error {
        self.home.error(self.call, kind)
    }
}

/// An operation that has been started, until somebody has taken its outcome.
pub(crate) struct OpHandle {
    pub(crate) origin: CallOrigin,
    pub(crate) id: Id,
    persistent: bool,
    /// Once known, the operation is out of the engine (or, if persistent, inactive in it).
    end: End,
    /// Whether a wait for any of several has already named it.
    pub(crate) reported: bool,
    /// Whether the error handler has seen what went wrong.
    handled: bool,
}

impl OpHandle {
    #[inline]
    pub(crate) fn new(origin: CallOrigin, id: Id, persistent: bool) -> OpHandle {
        OpHandle { origin, id, persistent, end: End::Unknown, reported: false, handled: false }
    }

    /// A persistent operation that has not been started. There is nothing to wait for.
    #[inline]
    pub(crate) fn inactive(origin: CallOrigin, id: Id) -> OpHandle {
        OpHandle { end: End::Well, reported: true, ..OpHandle::new(origin, id, true) }
    }

    /// A send that is over already; the engine never knew it.
    pub(crate) fn over(origin: CallOrigin) -> OpHandle {
        OpHandle { end: End::Well, ..OpHandle::new(origin, Id(0), false) }
    }

    /// Starts another run of a persistent operation, which is not running.
    pub(crate) fn start(&mut self) -> Result<()> {
        let mut engine = self.origin.engine(self.origin.call)?;
        self.end = match engine.start(self.id) {
            StartOutcome::Over => End::Well,
            StartOutcome::UnderWay => End::Unknown,
            StartOutcome::Gone => {
                let reason = engine.why_gone(self.id);
                drop(engine); // an error handler may want it
                return Err(self.origin.error(reason));
            }
        };
        drop(engine);
        self.reported = false;
        self.handled = false;
        Ok(())
    }

    /// The same, for whoever stands for the operation from now on.
    pub(crate) fn take_over(&mut self) -> OpHandle {
        let OpHandle { ref origin, id, persistent, end, reported, handled } = *self;
        OpHandle { origin: origin.again(), id, persistent, end, reported, handled }
    }

    /// It is over, as another one is that stands for the same operation.
    pub(crate) fn end_as(&mut self, other: &OpHandle) {
        (self.end, self.handled) = (other.end, other.handled);
    }

    /// Gives the operation up: what keeps its buffers is dropped when it is over.
    pub(crate) fn release(&mut self, keeper: BufferGuard) {
        if !self.is_gone() {
            self.origin.core.detach(self.id, keeper);
        }
    }

    /// Whether the engine does not know it any more.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.end.is_known() && !self.persistent
    }

    /// What it has received, if it has ended well.
    #[inline]
    pub(crate) fn received(&self) -> Option<Received> {
        if let End::As(Ok(received)) = self.end { Some(received) } else { None }
    }

    /// Whether the outcome is known.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_known()
    }

    /// Waits for the outcome.
    pub(crate) fn wait(&mut self) -> Result<Received> {
        self.await_end()?;
        self.result()
    }

    /// Waits until it is over.
    ///
    /// # Errors
    /// That an operator waits, which nothing happens to.
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

    /// What is told of an operation that is not over, as far as anybody can know.
    pub(crate) fn not_yet<T>(&self) -> Result<Option<T>> {
        self.refuse_operator().map(|()| None)
    }

    /// The error of an operator that asks for what only the engine knows.
    pub(crate) fn refuse_operator(&self) -> Result<()> {
        self.origin.home.refuse_operator(self.origin.call)
    }

    /// Waits as long as a message may take. Says whether it is over.
    #[inline]
    pub(crate) fn ends_soon(&mut self) -> bool {
        if !self.end.is_known() {
            self.end = self.origin.core.ends(self.id, self.persistent);
        }
        self.end.is_known()
    }

    /// Whether it is over, was a collective and ended well: there is nothing else to tell.
    #[inline]
    pub(crate) fn ended_well(&self) -> bool {
        matches!(self.end, End::Well)
    }

    /// Whether it has ended; makes progress.
    pub(crate) fn test(&mut self) -> Result<bool> {
        if !self.look() {
            return self.refuse_operator().map(|()| false);
        }
        self.result().map(|_| true)
    }

    /// Makes progress, and takes the outcome if it is there. Says whether it is known now.
    pub(crate) fn look(&mut self) -> bool {
        if !self.end.is_known()
            && let Some(mut engine) = self.origin.core.free_engine()
        {
            engine.progress_now_and_then_thoroughly();
            self.end = End::of(self.take(&mut engine));
            drop(engine);
            if !self.end.is_known() {
                self.origin.core.has_polled_in_vain();
            }
        }
        self.end.is_known()
    }

    /// Takes the outcome if it is there, without making progress.
    pub(crate) fn collect(&mut self) -> bool {
        if !self.end.is_known()
            && let Some(mut engine) = self.origin.core.free_engine()
        {
            self.end = End::of(self.take(&mut engine));
        }
        self.end.is_known()
    }

    /// Takes the outcome if it is there, from an engine that is locked already. Says whether it is
    /// known now.
    pub(crate) fn collect_from(&mut self, engine: &mut Engine) -> bool {
        if !self.end.is_known() {
            self.end = End::of(engine.take(self.id, self.persistent));
        }
        self.end.is_known()
    }

    /// The outcome if it is there; a death ends those that it concerns.
    fn take(&self, engine: &mut Engine) -> Option<Outcome> {
        let outcome = engine.take(self.id, self.persistent);
        outcome.or_else(|| engine.failure().and_then(|_| engine.take(self.id, self.persistent)))
    }

    /// For futures: the outcome, or a promise to wake.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Received>> {
        // Asked for the wake-up first, no completion can slip through between the two.
        if !self.end.is_known() {
            let waker = context.waker();
            // The waker that it replaces is dropped when the engine is unlocked.
            let _former = self.origin.engine(self.origin.call)?.wake_on_completion(self.id, waker);
        }
        if self.look() {
            return Poll::Ready(self.result());
        }
        match self.origin.core.help() {
            Ok(()) => Poll::Pending,
            Err(refusal) => Poll::Ready(Err(self.origin.error(refusal))),
        }
    }

    /// What the outcome says. An error is brought before the handler once.
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

    /// Cancels a receive that has met no message yet, and ends a send; see [`Engine::cancel`].
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
