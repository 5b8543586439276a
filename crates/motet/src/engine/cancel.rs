//! How operations end that do not complete: taken back, or by the death of a rank.

use motet_fabric::slab::Id;
use motet_fabric::{Endpoint, Failure, How, Received, TransferError};

use super::{Engine, Postponed, State, Work};
use crate::engine::context::{ContextKind, split_context};

impl Engine {
    /// Ends an operation that will never complete. On return nobody uses its memory.
    pub(crate) fn abandon(&mut self, id: Id) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        if operation.state == State::Active {
            self.active -= operation.work.transfers();
            self.endpoint.cancel(|token| token.operation == id.0);
        }
        self.remove(id);
    }

    /// Frees an operation that has no transfers any more.
    pub(super) fn remove(&mut self, id: Id) {
        let Some(mut operation) = self.operations.remove(id) else { return };
        if let Some(waker) = operation.take_waker() {
            // To wake it does no harm; to drop it here might run foreign code under the lock.
            self.wakers -= 1;
            self.postponed.push(Postponed::Wake(waker));
        }
        if let Work::Run(mut run) = operation.work {
            if run.disagreement().is_some() {
                // Others may not know yet, and go on with their starts.
                run.cut_off(&mut self.endpoint);
            } else {
                run.unlink(&mut self.endpoint);
            }
            if run.is_persistent() {
                self.freed.add(run.number());
            }
            if let Some(books) = &mut self.books {
                books.forget(run.number());
            }
            self.release(run);
        }
    }

    /// The outcome of a transfer. Who takes its message back since another rank has died is not to
    /// blame.
    #[inline]
    pub(super) fn after_a_death(
        &self,
        outcome: Result<Received, TransferError>,
    ) -> Result<Received, TransferError> {
        let Err(TransferError::Revoked(_)) = outcome else { return outcome };
        self.endpoint.failure().map_or(outcome, |failure| Err(TransferError::Failed(failure)))
    }

    /// Whether nothing that this rank began is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.active == 0 && self.endpoint.all_sent()
    }

    /// The rank begins nothing more, and all are told.
    pub(crate) fn begin_leaving(&mut self) {
        self.endpoint.begin_leaving();
    }

    /// Whether no rank begins anything more.
    pub(crate) fn all_leaving(&self) -> bool {
        self.endpoint.all_leaving()
    }

    /// The rank leaves in good order, and all are told.
    pub(crate) fn leave(&mut self) {
        self.endpoint.leave();
    }

    /// What is told of all that is not over when the rank leaves.
    pub(crate) fn has_left_itself(&self) -> TransferError {
        TransferError::Left(self.endpoint.me())
    }

    /// Ends all that is under way, since the rank leaves, and begins nothing any more: as after a
    /// death, without room each operation that begins has to ask for it. Handles may still be
    /// there; they are told so.
    pub(crate) fn close(&mut self) {
        self.has_left = true;
        self.room = 0;
        self.left.clear();
        self.endpoint.cancel(|_| true);
        let all: Vec<(Id, State)> =
            self.operations.iter().map(|(id, operation)| (id, operation.state)).collect();
        all.into_iter().for_each(|(id, state)| self.close_one(id, state));
    }

    fn close_one(&mut self, id: Id, state: State) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let gone = Err(TransferError::Left(self.endpoint.me()));
        let is_persistent = match &operation.work {
            Work::Run(run) => split_context(run.number().context).1 == ContextKind::Persistent,
            Work::Stored(_) => true,
            _ => false,
        };
        match state {
            State::Inactive => self.remove(id),
            State::Active => {
                if let Work::Run(run) = &mut operation.work {
                    run.cut_off(&mut self.endpoint);
                }
                self.finish(id, gone);
            }
            // It would become inactive when its end is taken, and could be started again.
            State::Succeeded | State::Complete(_) if is_persistent => {
                operation.state = State::Complete(gone);
            }
            State::Succeeded | State::Complete(_) => {}
        }
    }

    /// Whether the rank has left its world.
    pub(crate) fn has_left(&self) -> bool {
        self.has_left
    }

    /// Whether all who must know that the rank has left do.
    pub(crate) fn is_gone(&self) -> bool {
        self.endpoint.is_gone()
    }

    /// The rank dies: everybody is told, and on return nobody uses memory of its operations.
    #[cold]
    pub(crate) fn die(&mut self) {
        let failure = Failure { rank: self.endpoint.me(), how: How::Panic };
        self.endpoint.segment().fail(failure);
        self.endpoint.cancel(|_| true);
    }

    /// Ends all transfers that are still under way, for good.
    pub(crate) fn abandon_all(&mut self) {
        self.left.clear();
        self.endpoint.cancel(|_| true);
        self.active = 0;
    }
}

/// What a transfer of a collective has come to. Who has taken its message back and is still there
/// has ended the collective with an error.
#[inline]
pub(super) fn of_collective(
    outcome: Result<Received, TransferError>,
    endpoint: &Endpoint,
) -> Result<(), TransferError> {
    match outcome {
        Err(TransferError::Revoked(peer)) if endpoint.why_silent(peer).is_none() => {
            Err(TransferError::Spoiled(peer))
        }
        outcome => outcome.map(drop),
    }
}
