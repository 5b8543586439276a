//! What a run does about what goes wrong: it goes on, so that the others can end theirs, but tells
//! them that it has nothing to send.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{Endpoint, Fill, Peer, Posted, Region, Token, TransferError, TypeCode};
use motet_plan::{Action, StepId};

use super::{Execution, MessageRoute, StepAttempt};
use crate::ExceptionId;
use crate::engine::context::{ContextKind, is_of};

/// What went wrong in an execution.
pub(super) struct Fault {
    /// The first thing.
    first: TransferError,
    /// The first thing that says that the ranks disagree.
    disagreement: Option<TransferError>,
}

/// Whether the ranks of a call that has met this error disagree, so that some may wait for others
/// in vain.
fn tells_of_disagreement(error: &TransferError) -> bool {
    let is_told = matches!(error, TransferError::TypeMismatch { .. } | TransferError::Spoiled(_));
    is_told || tells_lengths_apart(error)
}

/// Whether they disagree on how long something is.
pub(in crate::engine) fn tells_lengths_apart(error: &TransferError) -> bool {
    use TransferError::{Astray, OtherElements, Short, Truncated};
    matches!(error, Truncated { .. } | Short { .. } | OtherElements { .. } | Astray(_))
}

impl Execution {
    /// Something went wrong.
    pub(in crate::engine) fn fail(&mut self, error: TransferError) {
        self.invalidate();
        let none_yet = || Box::new(Fault { first: error, disagreement: None });
        let fault = self.fault.get_or_insert_with(none_yet);
        if tells_of_disagreement(&error) {
            fault.disagreement.get_or_insert(error);
        }
    }

    /// What says that the ranks disagree, if anything does: then another execution would come to
    /// nothing, too.
    #[inline]
    pub(in crate::engine) fn disagreement(&self) -> Option<TransferError> {
        self.fault.as_deref().and_then(|fault| fault.disagreement)
    }

    /// Whether anything went wrong in the execution before.
    #[inline]
    pub(in crate::engine) fn has_failed(&self) -> bool {
        self.fault.is_some()
    }

    /// Forgets what went wrong in the execution before, unless that says that the ranks disagree.
    /// Says whether it could.
    #[cold]
    pub(in crate::engine) fn forget_fault(&mut self) -> bool {
        let may_forget = self.disagreement().is_none();
        if may_forget {
            self.fault = None;
        }
        may_forget
    }

    /// Goes on after a reduction, which has failed if the operator has thrown.
    #[inline]
    pub(super) fn check_operator(&mut self, reduced: Result<(), ExceptionId>) {
        if let Err(ExceptionId(id)) = reduced {
            self.fail(TransferError::Thrown(id));
        }
    }

    /// What went wrong, if anything did.
    #[inline]
    pub(crate) fn error(&self) -> Option<TransferError> {
        self.fault.as_deref().map(|fault| fault.first)
    }

    /// Whether it may be started again, by its number.
    #[inline]
    pub(in crate::engine) fn is_persistent(&self) -> bool {
        is_of(self.number.context, ContextKind::Persistent)
    }

    /// Whether a step receives this message, of so many bytes, from that rank.
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

    /// Whether a step sends this message to that rank.
    pub(in crate::engine) fn sends(&self, to: Peer, ordinal: u32) -> bool {
        self.planned.plan.steps().iter().any(|step| match *step {
            Action::Send { to: rank, ordinal: its, .. } => its == ordinal && self.peer(rank) == to,
            _ => false,
        })
    }

    /// Tells the receiver of a step that there is nothing to send, since something went wrong here:
    /// it must not take what we have for a result. From now on this step goes as a message, so that
    /// the rounds of its channel and its messages cannot be taken for one another.
    #[cold]
    pub(super) fn send_spoiled(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
    ) -> StepAttempt {
        if let Some(MessageRoute::Unknown) = self.link_of(step) {
            let (to, label, _) = self.message(step);
            endpoint.forget_channel(to, label);
        }
        self.invalidate();
        if let Some(channels) = &mut self.channels {
            channels.links[step.index()] = MessageRoute::Message;
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
