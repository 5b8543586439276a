//! Ends operations that do not complete: abandoned ones, and those that a death or leaving ends.

use motet_fabric::slab::Id;
use motet_fabric::{Received, TransferError};

use super::{Engine, OpExtras, Postponed, State, Work};
use crate::engine::context::{ContextKind, split_context};

impl Engine {
    /// Abandons an operation. After the return no rank uses its memory.
    pub(crate) fn abandon(&mut self, id: Id) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        if operation.state == State::Active {
            self.active -= operation.work.transfers();
            self.endpoint.cancel(|token| token.operation == id.0);
        }
        self.remove(id);
    }

    /// Frees an operation without pending transfers.
    pub(super) fn remove(&mut self, id: Id) {
        let Some(mut operation) = self.operations.remove(id) else { return };
        if let Some(rare) = &mut operation.rare {
            self.remove_rare(rare, &operation.work);
        }
        if let Work::Run(mut run) = operation.work {
            if run.disagreement().is_some() || self.has_death_among(&run) {
                // Other ranks may not know of it yet, and go on with their starts.
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

    /// The part of [`Engine::remove`] for operations with [`OpExtras`].
    #[cold]
    fn remove_rare(&mut self, rare: &mut OpExtras, work: &Work) {
        if let Some(waker) = rare.waker.take() {
            // Waking it does no harm; dropping it here might run foreign code under the lock.
            self.wakers -= 1;
            self.postponed.push(Postponed::Wake(waker));
        }
        if let Work::Run(run) = work {
            self.release_packed(run, &mut rare.staging);
        }
    }

    /// The outcome of a transfer. If a sender has revoked its message because another rank has
    /// died, the outcome names that death.
    #[inline]
    pub(super) fn after_a_death(
        &self,
        outcome: Result<Received, TransferError>,
    ) -> Result<Received, TransferError> {
        let Err(TransferError::Revoked(_)) = outcome else { return outcome };
        self.endpoint.failure().map_or(outcome, |failure| Err(TransferError::Failed(failure)))
    }

    /// Whether no operation of this rank is pending.
    pub(crate) fn is_quiet(&self) -> bool {
        self.active == 0 && self.endpoint.all_sent()
    }

    /// Announces to all ranks that this rank starts nothing more.
    pub(crate) fn begin_leaving(&mut self) {
        self.endpoint.begin_leaving();
    }

    /// Whether all ranks have announced that they start nothing more.
    pub(crate) fn all_leaving(&self) -> bool {
        self.endpoint.all_leaving()
    }

    /// Announces to all ranks that this rank has left in good order.
    pub(crate) fn leave(&mut self) {
        self.endpoint.leave();
    }

    /// The error of every operation that is not complete when the rank leaves.
    pub(crate) fn has_left_itself(&self) -> TransferError {
        TransferError::Left(self.endpoint.me())
    }

    /// Ends all pending operations, because the rank leaves, and refuses new ones: as after a
    /// death, there is no room, so each new operation must ask for it. Remaining handles get this
    /// error.
    pub(crate) fn close(&mut self) {
        self.has_left = true;
        self.room = 0;
        self.deferred_starts.clear();
        self.endpoint.cancel(|_| true);
        let all: Vec<(Id, State)> =
            self.operations.iter().map(|(id, operation)| (id, operation.state)).collect();
        all.into_iter().for_each(|(id, state)| self.close_one(id, state));
    }

    fn close_one(&mut self, id: Id, state: State) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let left = Err(TransferError::Left(self.endpoint.me()));
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
                self.finish(id, left);
            }
            // Otherwise it would become inactive when its outcome is taken, and could be started
            // again.
            State::Succeeded | State::Complete(_) if is_persistent => {
                operation.state = State::Complete(left);
            }
            State::Succeeded | State::Complete(_) => {}
        }
    }

    /// Whether the rank has left its world.
    pub(crate) fn has_left(&self) -> bool {
        self.has_left
    }

    /// Whether all ranks that must know that this rank has left do.
    pub(crate) fn is_gone(&self) -> bool {
        self.endpoint.is_gone()
    }
}
