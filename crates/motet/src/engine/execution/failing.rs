//! Handles errors of an execution: it goes on, so that the other ranks can end theirs, but tells
//! them that it has nothing to send.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{Endpoint, Fill, Peer, Posted, Region, Token, TransferError, TypeCode};
use motet_plan::{Action, StepId};

use super::dataflow::StepAttempt;
use super::{Execution, MessageRoute};
use crate::ExceptionId;
use crate::engine::context::{ContextKind, is_of};

/// The errors of an execution.
pub(super) struct Fault {
    /// The first error.
    first: TransferError,
    /// The first error that shows that the ranks disagree.
    disagreement: Option<TransferError>,
}

/// Whether this error shows that the ranks of the call disagree, so that a rank may wait for a
/// message that never comes.
fn tells_of_disagreement(error: &TransferError) -> bool {
    let is_told = matches!(error, TransferError::TypeMismatch { .. } | TransferError::Spoiled(_));
    is_told || tells_lengths_apart(error)
}

/// Whether this error shows that the ranks disagree on a length.
pub(in crate::engine) fn tells_lengths_apart(error: &TransferError) -> bool {
    use TransferError::{Astray, OtherElements, Short, Truncated};
    matches!(error, Truncated { .. } | Short { .. } | OtherElements { .. } | Astray(_))
}

/// The error of a transfer of a collective. A peer that has revoked its message and is still alive
/// has ended the collective with an error.
pub(in crate::engine) fn of_collective(error: TransferError, endpoint: &Endpoint) -> TransferError {
    match error {
        TransferError::Revoked(peer) if endpoint.why_silent(peer).is_none() => {
            TransferError::Spoiled(peer)
        }
        error => error,
    }
}

impl Execution {
    /// Records an error.
    pub(in crate::engine) fn fail(&mut self, error: TransferError) {
        self.invalidate();
        let none_yet = || Box::new(Fault { first: error, disagreement: None });
        let fault = self.fault.get_or_insert_with(none_yet);
        if tells_of_disagreement(&error) {
            fault.disagreement.get_or_insert(error);
        }
    }

    /// The error that shows that the ranks disagree, if any. Another execution would fail, too.
    #[inline]
    pub(in crate::engine) fn disagreement(&self) -> Option<TransferError> {
        self.fault.as_deref().and_then(|fault| fault.disagreement)
    }

    /// Whether the previous execution failed.
    #[inline]
    pub(in crate::engine) fn has_failed(&self) -> bool {
        self.fault.is_some()
    }

    /// Forgets the error of the previous execution, unless it shows that the ranks disagree.
    /// Returns whether the error could be forgotten.
    #[cold]
    pub(in crate::engine) fn forget_fault(&mut self) -> bool {
        let may_forget = self.disagreement().is_none();
        if may_forget {
            self.fault = None;
        }
        may_forget
    }

    /// Records an error if the operator has thrown.
    #[inline]
    pub(super) fn check_operator(&mut self, reduced: Result<(), ExceptionId>) {
        if let Err(ExceptionId(id)) = reduced {
            self.fail(TransferError::Thrown(id));
        }
    }

    /// The first error, if any.
    #[inline]
    pub(crate) fn error(&self) -> Option<TransferError> {
        self.fault.as_deref().map(|fault| fault.first)
    }

    /// Whether its number is that of a persistent collective, which may be started again.
    #[inline]
    pub(in crate::engine) fn is_persistent(&self) -> bool {
        is_of(self.number.context, ContextKind::Persistent)
    }

    /// Whether a step receives this message of so many bytes from this peer.
    pub(in crate::engine) fn receives(&self, from: Peer, ordinal: u32, bytes: usize) -> bool {
        self.planned.plan.steps().iter().any(|step| match *step {
            Action::Recv { from: rank, ordinal: its, into } => {
                let room = self.memory.bytes(into.len);
                let fits = bytes == room || self.fill(into) == Fill::Part;
                its == ordinal && self.peer(rank) == from && fits
            }
            _ => false,
        })
    }

    /// Whether a step sends this message to this peer.
    pub(in crate::engine) fn sends(&self, to: Peer, ordinal: u32) -> bool {
        self.planned.plan.steps().iter().any(|step| match *step {
            Action::Send { to: rank, ordinal: its, .. } => its == ordinal && self.peer(rank) == to,
            _ => false,
        })
    }

    /// Sends an empty message that tells the receiver of a step that this rank has failed: the
    /// receiver must not take this rank's data for a result. From now on the step sends tagged
    /// messages, so that no round of its channel is mistaken for one of these messages.
    #[cold]
    pub(super) fn send_spoiled(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
    ) -> StepAttempt {
        if let Some(MessageRoute::Unknown) = self.route_of(step) {
            let (to, label, _) = self.message(step);
            endpoint.forget_channel(to, label);
        }
        self.invalidate();
        if let Some(channels) = &mut self.channels {
            channels.routes[step.index()] = MessageRoute::Message;
        }
        let (to, label, _) = self.message(step);
        let token = Token { operation, step: step.0 };
        let reason = match self.error() {
            Some(TransferError::Thrown(_) | TransferError::OperatorFailed(_)) => {
                TypeCode::OPERATOR_FAILED
            }
            _ => TypeCode::SPOILED,
        };
        // SAFETY: no memory at all.
        match unsafe { endpoint.send(to, label, reason, Region::EMPTY, token) } {
            Posted::Done => StepAttempt::Done,
            Posted::Pending => StepAttempt::Posted,
        }
    }
}
