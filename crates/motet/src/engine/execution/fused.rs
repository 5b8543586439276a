//! Fuses a receive with the reduction of what it receives: the rank reduces the message in shared
//! memory.
//!
//! A plan receives into memory and then reduces that memory. If no other step reads what was
//! received ([`motet_plan::Plan::reduction`]), the copy is unnecessary, and one fused step reads
//! the message in shared memory. If the message cannot be read there, or the other operand is not
//! ready, the rank receives and reduces in two steps, as the plan says.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::memory::copy_many;
use motet_fabric::{Endpoint, Region, Token, TransferError};
use motet_plan::{Action, Slice, StepId};

use super::Execution;

/// The reduction that is fused with a receive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// The step that reduces.
    pub(super) step: StepId,
    /// The alignment of the message in bytes that the operator needs.
    pub(super) alignment: usize,
}

/// The operands of a fused reduction beside the received one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    /// The operand in local memory.
    pub(super) other: Slice,
    /// The side on which the received operand goes.
    pub(super) side: OperandSide,
    pub(super) into: Slice,
}

/// Which operand of a reduction is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandSide {
    Left,
    Right,
}

impl OperandSide {
    /// The left and the right operand.
    #[inline]
    pub(super) fn in_order<T>(self, [received, other]: [T; 2]) -> [T; 2] {
        match self {
            OperandSide::Left => [received, other],
            OperandSide::Right => [other, received],
        }
    }
}

impl Execution {
    /// The operands of a step that reduces what is received in this place.
    pub(super) fn operands(&self, reduction: StepId, place: Slice) -> Operands {
        let Action::Reduce { left, right, into } = *self.planned.plan.step(reduction) else {
            unreachable!("the plan says that it reduces")
        };
        let (side, other) =
            if left == place { (OperandSide::Left, right) } else { (OperandSide::Right, left) };
        Operands { other, side, into }
    }

    /// The reduction that may be fused with this receive.
    #[inline]
    pub(super) fn reduction(&self, receive: StepId) -> Option<Reduction> {
        let step = self.planned.plan.reduction(receive)?;
        let alignment = self.kernel.as_ref()?.alignment()?;
        Some(Reduction { step, alignment })
    }

    /// Like [`Execution::complete`], for a transfer whose message may still be in shared memory.
    pub(crate) fn complete_transfer(
        &mut self,
        token: Token,
        outcome: Result<(), TransferError>,
        endpoint: &mut Endpoint,
    ) {
        self.complete(token.step, outcome);
        self.consume_in_place(StepId(token.step), token, endpoint);
    }

    /// Consumes a message that was received in place: reduces it there or copies it out. The
    /// receiving step is complete.
    fn consume_in_place(&mut self, receive: StepId, token: Token, endpoint: &mut Endpoint) {
        let Some(reduction) = self.planned.plan.reduction(receive) else { return };
        let read = endpoint.consume_in_place(token, |received| {
            let Action::Recv { into: place, .. } = *self.planned.plan.step(receive) else {
                unreachable!("not a receive")
            };
            if self.exec.take_last(&self.planned.plan, reduction) {
                self.reduce_received(place, received, reduction);
                self.exec.complete(&self.planned.plan, reduction);
            } else {
                let into = self.memory.region_mut(place).start();
                // SAFETY: as in `reduce_received`; the message is as long as its place.
                unsafe { copy_many(received.start(), into, received.bytes()) };
            }
        });
        if let Err(error) = read {
            self.fail(endpoint.failure().map_or(error, TransferError::Failed));
        }
    }

    /// Reduces a received message instead of copying it to its place.
    #[inline]
    fn reduce_received(&mut self, place: Slice, received: Region, reduction: StepId) {
        let Action::Reduce { left, right, into } = *self.planned.plan.step(reduction) else {
            unreachable!("the plan says that it reduces")
        };
        let kernel = self.kernel.as_deref().expect("a plan that reduces has a kernel");
        // SAFETY: slices of our own plan, in buffers that are bound while the run is active; the
        // kernel was made for this type together with them. The message was as long as its place,
        // and is aligned.
        let reduced =
            unsafe { self.memory.reduce_received(kernel, (place, received), [left, right], into) };
        self.check_operator(reduced);
    }
}
