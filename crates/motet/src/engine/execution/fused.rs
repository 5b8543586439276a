//! What is received to be reduced, reduced from wherever it lies.
//!
//! A plan receives into memory and reduces that. Where nobody else reads what came
//! ([`motet_plan::Plan::reduction`]) it need not be copied there: both steps are one, which reads
//! the message in the memory that ranks share. If the message comes in a way that cannot be read
//! there, or the other operand is not ready, it is received and reduced as the plan says.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{Endpoint, InlineRecv, Label, Peer, Region, Token, TransferError};
use motet_plan::{Action, Slice, StepId};

use super::Execution;
use crate::data::kernel::Kernel;

/// A receiving step, and the reducing one that takes what comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// The step that reduces.
    pub(super) step: StepId,
    /// What the address of the message must be a multiple of.
    pub(super) alignment: usize,
}

/// What a reducing step does with what a step before it receives in a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operands {
    /// The operand that is there already.
    pub(super) other: Slice,
    /// On which side of it what is received goes.
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
    /// Reduces so many elements: what has been received, and the other operand.
    ///
    /// # Safety
    /// As [`Kernel::reduce`].
    #[inline]
    pub(super) unsafe fn reduce(
        self,
        kernel: &dyn Kernel,
        [received, other]: [*const u8; 2],
        into: *mut u8,
        count: usize,
    ) {
        let [left, right] = match self {
            OperandSide::Left => [received, other],
            OperandSide::Right => [other, received],
        };
        // SAFETY: passed on.
        unsafe { kernel.reduce(left, right, into, count) };
    }
}

impl Execution {
    /// What a step does that reduces what is received in this place.
    pub(super) fn operands(&self, reduction: StepId, place: Slice) -> Operands {
        let Action::Reduce { left, right, into } = *self.planned.plan.step(reduction) else {
            unreachable!("the plan says that it reduces")
        };
        let (side, other) =
            if left == place { (OperandSide::Left, right) } else { (OperandSide::Right, left) };
        Operands { other, side, into }
    }

    /// The reduction that may take what a step receives from wherever it lies.
    #[inline]
    pub(super) fn reduction(&self, receive: StepId) -> Option<Reduction> {
        let step = self.planned.plan.reduction(receive)?;
        let alignment = self.kernel.as_ref()?.alignment()?;
        Some(Reduction { step, alignment })
    }

    /// Receives what the next message holds and reduces it, if it is there.
    #[inline]
    pub(super) fn receive_and_reduce(
        &mut self,
        receive: StepId,
        reduction: Reduction,
        endpoint: &mut Endpoint,
    ) -> InlineRecv {
        let (from, label, place) = self.awaited(receive);
        let (element, into) = (self.element, self.memory.region_mut(place));
        let read = |received| self.reduce_received(place, received, reduction.step);
        // SAFETY: slices of our own plan; the buffers are bound while the run is active, and the
        // plan keeps other steps off them.
        unsafe { endpoint.read_inline((from, label), element, into, reduction.alignment, read) }
    }

    /// As [`Execution::complete`], of a transfer whose message may lie where it came.
    pub(crate) fn complete_transfer(
        &mut self,
        token: Token,
        outcome: Result<(), TransferError>,
        endpoint: &mut Endpoint,
    ) {
        self.complete(token.step, outcome);
        self.take_lying(StepId(token.step), token, endpoint);
    }

    /// A message has been received; if it lies where it came, it is reduced from there or copied.
    /// The step that received it is complete.
    fn take_lying(&mut self, receive: StepId, token: Token, endpoint: &mut Endpoint) {
        let Some(reduction) = self.planned.plan.reduction(receive) else { return };
        let read = endpoint.consume_in_place(token, |received| {
            let (_, _, place) = self.awaited(receive);
            if self.exec.take_last(&self.planned.plan, reduction) {
                self.reduce_received(place, received, reduction);
                self.exec.complete(&self.planned.plan, reduction);
            } else {
                let into = self.memory.region_mut(place).start();
                // SAFETY: as in `receive_and_reduce`; the message is as long as its place.
                unsafe { into.copy_from_nonoverlapping(received.start(), received.bytes()) };
            }
        });
        if let Err(error) = read {
            self.fail(endpoint.failure().map_or(error, TransferError::Failed));
        }
    }

    /// Reduces what was to be received in this place.
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

    /// From whom a step receives what, and where it goes.
    fn awaited(&self, receive: StepId) -> (Peer, Label, Slice) {
        let Action::Recv { from, ordinal, into } = *self.planned.plan.step(receive) else {
            unreachable!("not a receive")
        };
        (self.peer(from), self.label(ordinal), into)
    }
}
