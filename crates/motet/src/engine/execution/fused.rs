//! Fuses a receive with the reduction of what it receives: the rank reduces the message in shared
//! memory.
//!
//! A plan receives into memory and then reduces that memory. If no other step reads what was
//! received ([`motet_plan::Plan::reduction_of`]), the copy is unnecessary, and the reduction reads
//! the message in shared memory. If the message cannot be read there, the rank receives and reduces
//! in two steps, as the plan says.
//!
//! A message that may be read there stays there until its reduction is ready. Only if the reduction
//! waits for a send of this rank ([`motet_plan::Plan::may_wait`]) and is not ready at once, the
//! message is copied to its place: the receiver of that send may wait for this rank to read.
//!
//! **A pass.** If a reduction is ready whose result only the next reduction reads, and so on, the
//! rank does all of them together, part by part. A part of the sum then never leaves the nearest
//! cache: each operand is read once, and the last result is written once.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ops::Range;

use motet_fabric::endpoint::InPlaceCounters;
use motet_fabric::memory::copy_many;
use motet_fabric::{Completion, Endpoint, Token, TransferError};
use motet_plan::{Action, Slice, StepId};

use super::{Execution, of_collective};

/// The most reductions of one pass.
const PASS_MAX_STEPS: usize = 8;
/// Bytes of each operand that go through all reductions of a pass before the next ones do: what a
/// part of the sum, an operand and the result take together is less than the nearest cache.
const PASS_PART_BYTES: usize = 8 << 10;

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

/// Where an operand or a result of a pass lies.
#[derive(Clone, Copy)]
struct PassSpan {
    start: *mut u8,
    /// Whether all parts lie in the same place, one after the other: nobody reads them later.
    is_reused: bool,
}

impl PassSpan {
    const NONE: PassSpan = PassSpan { start: std::ptr::null_mut(), is_reused: false };

    /// The address of the part that begins so many bytes after the start, if the work began at
    /// `first`.
    #[inline]
    fn at(self, first: usize, offset: usize) -> *mut u8 {
        self.start.wrapping_add(if self.is_reused { first } else { offset })
    }
}

/// The reductions of a pass.
struct ReductionPass {
    steps: [StepId; PASS_MAX_STEPS],
    len: usize,
    /// Of each step its left operand, its right one and its result.
    spans: [[PassSpan; 3]; PASS_MAX_STEPS],
}

impl ReductionPass {
    fn steps(&self) -> &[StepId] {
        &self.steps[..self.len]
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

    /// The reduction that is fused with this receive where steps run one after the other.
    #[inline]
    pub(super) fn reduction(&self, receive: StepId) -> Option<Reduction> {
        let step = self.planned.plan.reduction(receive)?;
        let alignment = self.kernel.as_ref()?.alignment()?;
        Some(Reduction { step, alignment })
    }

    /// The alignment in bytes with which the message of this receive may stay where it is until it
    /// is reduced. `None` if it must not.
    #[inline]
    pub(super) fn in_place_alignment(&self, receive: StepId) -> Option<usize> {
        self.planned.plan.reduction_of(receive)?;
        self.kernel.as_ref()?.alignment()
    }

    /// Whether the message of this receive, which is complete, may stay where it is although its
    /// reduction is not ready.
    #[inline]
    pub(in crate::engine) fn may_wait(&self, receive: u32) -> bool {
        self.planned.plan.may_wait(StepId(receive))
    }

    /// Copies a message that is in place to the place of its receive.
    pub(in crate::engine) fn copy_out(&mut self, token: Token, endpoint: &mut Endpoint) {
        let Some(opened) = endpoint.open_in_place(token) else { return };
        if let (Ok(received), Action::Recv { into, .. }) =
            (opened, *self.planned.plan.step(StepId(token.step)))
        {
            let into = self.memory.region_mut(into).start();
            // SAFETY: a slice of our own plan, in buffers that are bound while the run is active,
            // for which nobody but the reduction has a use; the message is as long.
            unsafe { copy_many(received.start(), into, received.bytes()) };
        }
        let closed = endpoint.close_in_place(token);
        if let Err(error) = opened.and(closed) {
            self.fail_in_place(error, endpoint);
        }
    }

    /// Releases all messages that are in place, if an error has occurred: nobody reads them.
    pub(super) fn release_after_fault(&self, operation: u64, endpoint: &mut Endpoint) {
        if self.fault.is_some() {
            while let Some(token) = endpoint.left_in_place(|token| token.operation == operation) {
                endpoint.release_in_place(token);
            }
        }
    }

    /// Records that a message in place could not be read.
    #[cold]
    fn fail_in_place(&mut self, error: TransferError, endpoint: &Endpoint) {
        let told = of_collective(error, endpoint);
        self.fail(endpoint.failure().map_or(told, TransferError::Failed));
    }

    /// Does a step that reduces, and those that may follow it in one pass. Returns the last one;
    /// all others are complete.
    pub(super) fn reduce(
        &mut self,
        first: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> StepId {
        if self.planned.plan.next_of_pass(first).is_none() {
            if let Err(error) = self.reduce_alone(first, operation, endpoint, done) {
                self.fail_in_place(error, endpoint);
            }
            return first;
        }
        let mut pass = self.pass_from(first);
        if let Err(error) = self.find_spans(&mut pass, operation, endpoint) {
            self.fail_in_place(error, endpoint);
            return first;
        }
        let passes = u64::from(pass.len > 1);
        endpoint.count_in_place(InPlaceCounters { operands: 0, passes });
        let elements = self.planned.plan.step(first).elements();
        self.part_by_part(elements, endpoint, done, |run, part| run.reduce_part(&pass, part));
        for &step in pass.steps() {
            self.close_operands(step, operation, endpoint);
        }
        for pair in pass.steps().windows(2) {
            self.exec.complete(&self.planned.plan, pair[0]);
            let is_taken = self.exec.take_ready(&self.planned.plan, pair[1]);
            debug_assert!(is_taken, "step {} waits only for step {}", pair[1], pair[0]);
        }
        pass.steps[pass.len - 1]
    }

    /// Does a step that reduces and is in no pass.
    fn reduce_alone(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> Result<(), TransferError> {
        let Action::Reduce { left, right, into } = *self.planned.plan.step(step) else {
            unreachable!("only called for a reduction")
        };
        let [mut left, mut right, result] =
            [left, right, into].map(|slice| self.memory.region_mut(slice).start());
        if endpoint.has_in_place() {
            let received = self.planned.plan.received_for(step);
            for (operand, receive) in [&mut left, &mut right].into_iter().zip(received) {
                let token = receive.map(|receive| Token { operation, step: receive.0 });
                if let Some(message) = token.and_then(|token| endpoint.open_in_place(token)) {
                    *operand = message?.start().cast_mut();
                    endpoint.count_in_place(InPlaceCounters { operands: 1, passes: 0 });
                }
            }
        }
        self.part_by_part(into.len, endpoint, done, |run, part| {
            if run.fault.is_some() {
                return;
            }
            let offset = run.memory.bytes(part.start);
            let [left, right, into] = [left, right, result].map(|start| start.wrapping_add(offset));
            let kernel = run.kernel.as_deref().expect("a plan that reduces has a kernel");
            // SAFETY: slices of our own plan, in buffers that are bound while the run is active, or
            // messages that are open, as long as the slices and aligned; the kernel was made for
            // this type together with the buffers.
            let reduced = unsafe { kernel.try_reduce(left, right, into, part.len()) };
            run.check_operator(reduced);
        });
        self.close_operands(step, operation, endpoint);
        Ok(())
    }

    /// Ends the receives of the operands of a reduction that were read where they were.
    fn close_operands(&mut self, reduction: StepId, operation: u64, endpoint: &mut Endpoint) {
        if !endpoint.has_in_place() {
            return;
        }
        for receive in self.planned.plan.received_for(reduction).into_iter().flatten() {
            let closed = endpoint.close_in_place(Token { operation, step: receive.0 });
            if let Err(error) = closed {
                self.fail_in_place(error, endpoint);
            }
        }
    }

    /// The reductions that can be done in one pass now, from this one on, which is ready. For a
    /// function of the user it is this one alone.
    fn pass_from(&mut self, first: StepId) -> ReductionPass {
        let plan = &self.planned.plan;
        let (mut steps, mut len) = ([first; PASS_MAX_STEPS], 1);
        if self.kernel.as_ref().is_some_and(|kernel| kernel.alignment().is_some()) {
            while len < PASS_MAX_STEPS
                && let Some(next) = plan.next_of_pass(steps[len - 1])
                && self.exec.waits_for_one(plan, next)
            {
                steps[len] = next;
                len += 1;
            }
        }
        ReductionPass { steps, len, spans: [[PassSpan::NONE; 3]; PASS_MAX_STEPS] }
    }

    /// Finds where the operands and results of a pass lie.
    fn find_spans(
        &self,
        pass: &mut ReductionPass,
        operation: u64,
        endpoint: &mut Endpoint,
    ) -> Result<(), TransferError> {
        let plan = &self.planned.plan;
        let last = plan.step(pass.steps[pass.len - 1]).writes();
        let mut sum = None;
        for at in 0..pass.len {
            let step = pass.steps[at];
            let Action::Reduce { left, right, into } = *plan.step(step) else {
                unreachable!("a pass consists of reductions")
            };
            let result = PassSpan {
                start: self.memory.region_mut(into).start(),
                is_reused: Some(into) != last,
            };
            let mut operands = [PassSpan::NONE; 2];
            for (side, slice) in [left, right].into_iter().enumerate() {
                if let Some((_, span)) = sum.filter(|&(sum, _)| sum == slice) {
                    operands[side] = span;
                    continue;
                }
                let token = |receive: StepId| Token { operation, step: receive.0 };
                let received = plan.received_for(step)[side].map(token);
                let start = match received.and_then(|token| endpoint.open_in_place(token)) {
                    Some(message) => {
                        endpoint.count_in_place(InPlaceCounters { operands: 1, passes: 0 });
                        message?.start().cast_mut()
                    }
                    None => self.memory.region_mut(slice).start(),
                };
                operands[side] = PassSpan { start, is_reused: false };
            }
            pass.spans[at] = [operands[0], operands[1], result];
            sum = Some((into, result));
        }
        Ok(())
    }

    /// Does all reductions of a pass for these elements.
    fn reduce_part(&mut self, pass: &ReductionPass, part: Range<usize>) {
        let bytes = self.memory.bytes(1);
        let each = if pass.len == 1 { part.len() } else { PASS_PART_BYTES / bytes.max(1) }.max(1);
        let (first, mut start) = (self.memory.bytes(part.start), part.start);
        loop {
            let count = each.min(part.end - start);
            let offset = self.memory.bytes(start);
            for spans in &pass.spans[..pass.len] {
                if self.fault.is_some() {
                    return;
                }
                let [left, right, into] = spans.map(|span| span.at(first, offset));
                let kernel = self.kernel.as_deref().expect("a plan that reduces has a kernel");
                // SAFETY: slices of our own plan, in buffers that are bound while the run is
                // active, or messages that are open, as long as the slices and aligned; the kernel
                // was made for this type together with the buffers. Results overlap operands only
                // as kernels allow: those of one step by the promise of the plan, and those of
                // several steps of a pass by that of `Plan::next_of_pass`.
                let reduced = unsafe { kernel.try_reduce(left, right, into, count) };
                self.check_operator(reduced);
            }
            start += count;
            if start >= part.end {
                return;
            }
        }
    }
}
