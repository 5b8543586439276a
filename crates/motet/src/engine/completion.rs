//! Takes outcomes of complete operations, detaches operations whose requests are gone, and copies
//! messages that must not stay where they are.

use motet_fabric::TransferError;
use motet_fabric::slab::Id;

use super::{BufferGuard, Engine, Execution, NOTHING, Outcome, State, Work};

/// What is known of the end of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Unknown,
    /// A collective or a send has succeeded.
    Well,
    As(Outcome),
}

impl End {
    pub(crate) fn of(outcome: Option<Outcome>) -> End {
        outcome.map_or(End::Unknown, End::As)
    }

    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, End::Unknown)
    }
}

impl Engine {
    /// Copies the messages out of their places that must not wait there for their reductions, all
    /// of which have had their chance to read them.
    #[cold]
    pub(super) fn copy_out(&mut self) {
        self.copy_out_if(|run, receive| !run.may_wait(receive));
    }

    /// Copies all messages out of their places, also those that may wait there. Returns whether
    /// there was any. For a rank that has nothing else to do: it lets their senders go.
    pub(super) fn copy_out_all(&mut self) -> bool {
        self.endpoint.has_in_place() && self.copy_out_if(|_, _| true)
    }

    fn copy_out_if(&mut self, is_to_go: impl Fn(&Execution, u32) -> bool) -> bool {
        let (operations, endpoint) = (&mut self.operations, &mut self.endpoint);
        let mut any = false;
        while let Some(token) = endpoint.left_in_place(|token| {
            let operation = operations.get_mut(Id(token.operation));
            operation.is_some_and(|operation| match &operation.work {
                Work::Run(run) => is_to_go(run, token.step),
                _ => false,
            })
        }) {
            let Some(operation) = operations.get_mut(Id(token.operation)) else { break };
            let Work::Run(run) = &mut operation.work else { break };
            run.copy_out(token, endpoint);
            any = true;
        }
        any
    }

    /// Whether an operation is complete or has been removed.
    pub(crate) fn is_complete(&mut self, id: Id) -> bool {
        self.operations.get_mut(id).is_none_or(|operation| operation.state != State::Active)
    }

    /// Takes the outcome of an operation if it is complete. A nonpersistent operation is then
    /// removed; a persistent one becomes inactive.
    #[inline]
    pub(crate) fn take(&mut self, id: Id, persistent: bool) -> Option<Outcome> {
        let operation = self.operations.get_mut(id)?;
        let outcome = match operation.state {
            State::Succeeded => Ok(NOTHING),
            State::Complete(Ok(received)) => Ok(received),
            State::Complete(Err(error)) => {
                return Some(Err(self.take_error(id, persistent, error)));
            }
            State::Inactive | State::Active => return None,
        };
        if persistent {
            operation.state = State::Inactive;
        } else {
            self.remove(id);
        }
        Some(outcome)
    }

    /// Like [`Engine::take`], for an operation that has ended with this error.
    #[cold]
    fn take_error(&mut self, id: Id, persistent: bool, error: TransferError) -> TransferError {
        let is_for_good =
            self.has_left || matches!(error, TransferError::Ended(_) | TransferError::Failed(_));
        if matches!(error, TransferError::Failed(_)) && !self.has_mourned {
            self.failure(); // Now this rank has been told, so the removal keeps the channels.
        }
        match self.operations.get_mut(id) {
            Some(operation) if persistent && !is_for_good => operation.state = State::Inactive,
            _ => self.remove(id),
        }
        error
    }

    /// Like [`Engine::take`], for a collective that has succeeded. Returns whether it has.
    #[inline]
    pub(crate) fn take_well(&mut self, id: Id, persistent: bool) -> bool {
        let Some(operation) = self.operations.get_mut(id) else { return false };
        let is_well = matches!(operation.state, State::Succeeded);
        if is_well && persistent {
            operation.state = State::Inactive;
        } else if is_well {
            self.remove(id);
        }
        is_well
    }

    /// For a scope that holds an operation: whether it has ended, and its outcome if no request is
    /// left to report it.
    pub(crate) fn take_for_scope(&mut self, id: Id) -> Option<Result<(), TransferError>> {
        match self.operations.get_mut(id) {
            None => Some(Ok(())),
            Some(operation) if operation.state == State::Active => None,
            Some(operation) if operation.dropped => {
                self.take(id, false).map(|outcome| outcome.map(drop))
            }
            Some(operation) => {
                operation.held = false;
                Some(Ok(()))
            }
        }
    }

    /// Holds an operation for a scope, which takes the outcome if the request does not.
    pub(crate) fn hold(&mut self, id: Id) {
        if let Some(operation) = self.operations.get_mut(id) {
            operation.held = true;
        }
    }

    /// Detaches an operation from its dropped request: the buffers are freed when it completes, and
    /// so is the operation, unless a scope holds it.
    pub(crate) fn detach(&mut self, id: Id, keeper: BufferGuard) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        operation.dropped = true;
        if operation.state == State::Active {
            operation.rare().detached = Some(keeper);
        } else if !operation.held {
            self.remove(id);
        }
    }
}
