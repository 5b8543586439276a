//! In-order execution with messages in the eager rings: a replayed call, which has a program, and
//! any other call, whose instructions are compiled one by one when they are reached.
//!
//! A program is kept only with a bound execution, not with a plan: one plan serves communicators of
//! different ranks and operators of different alignments.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{
    Endpoint, Fill, InlineRecv, Label, Peer, Region, RegionMut, TrafficHint, TransferError,
    TypeCode,
};
use motet_plan::StepId;

use super::inorder::{Executor, Routes};
use super::program::{BufferSpan, PlanProgram};
use super::{Advance, Execution, OpKey};
use crate::ExceptionId;

/// The program of a call in the replay cache: only base addresses are supplied per call.
pub(crate) type ReplayProgram = PlanProgram<BufferSpan>;

/// Why an execution has stopped: [`Advance::Behind`], [`Advance::Waiting`], or an error.
type Stopped = Result<Advance, TransferError>;

/// Each message is the next one in the eager ring from its sender.
struct RingRoutes<'a> {
    endpoint: &'a mut Endpoint,
    // What a message needs is read when it is due: of a short program, most of it never is.
    number: &'a OpKey,
    element: &'a TypeCode,
    hint: &'a TrafficHint,
    /// Why a message was not received. A send that finds no room leaves it as it is.
    stopped: &'a mut Stopped,
}

impl RingRoutes<'_> {
    #[inline]
    fn label(&self, ordinal: u32) -> Label {
        Label { context: self.number.context, tag: self.number.tag, ordinal }
    }

    /// Whether an inline receive has received its message.
    #[inline(always)]
    fn received(&mut self, received: InlineRecv, from: Peer) -> bool {
        if matches!(received, InlineRecv::Done(Ok(_))) {
            return true;
        }
        cold();
        *self.stopped = match received {
            InlineRecv::Done(outcome) => outcome.map(|_| Advance::Complete), // an error
            InlineRecv::Empty => Ok(Advance::Waiting(from)),
            InlineRecv::Blocked => Ok(Advance::Behind),
        };
        false
    }
}

/// Marks a branch as rarely taken, so that values of the loop are moved to the stack there and not
/// in each call.
#[cold]
fn cold() {}

impl Routes for RingRoutes<'_> {
    #[inline]
    fn message(_: StepId, ordinal: u32) -> u32 {
        ordinal
    }

    #[inline]
    fn fuses(_: usize, _: usize) -> bool {
        true
    }

    #[inline]
    fn has_failed(&self) -> bool {
        self.stopped.is_err()
    }

    #[inline(always)]
    unsafe fn send(&mut self, to: Peer, ordinal: u32, from: Region) -> bool {
        let label = self.label(ordinal);
        // SAFETY: passed on.
        unsafe { self.endpoint.send_inline(to, label, *self.element, from, *self.hint) }
    }

    #[inline(always)]
    unsafe fn receive(&mut self, from: Peer, ordinal: u32, into: RegionMut, fill: Fill) -> bool {
        let label = self.label(ordinal);
        // SAFETY: passed on.
        let received = unsafe { self.endpoint.recv_inline(from, label, *self.element, into, fill) };
        self.received(received, from)
    }

    #[inline(always)]
    unsafe fn read(
        &mut self,
        from: Peer,
        ordinal: u32,
        (place, alignment): (RegionMut, usize),
        read: impl FnOnce(Region),
    ) -> bool {
        let message = (from, self.label(ordinal));
        // SAFETY: passed on.
        let received =
            unsafe { self.endpoint.read_inline(message, *self.element, place, alignment, read) };
        self.received(received, from)
    }
}

impl Execution {
    /// Compiles a bound execution for the replay cache; `None` if it may not run in order, or if
    /// its operator may throw.
    pub(crate) fn compile_for_replay(&self) -> Option<ReplayProgram> {
        let may_throw = self.kernel.as_ref().is_some_and(|kernel| kernel.may_throw());
        if may_throw || !self.may_run_inorder() {
            return None;
        }
        let mut program = ReplayProgram::with_capacity(self.planned.plan.order().len());
        program.compile::<RingRoutes<'_>>(self);
        Some(program)
    }

    /// Runs a program from `place` until an instruction must wait, and advances `place`. The
    /// execution need not have begun.
    #[inline(always)] // a replayed call is little more than this
    pub(crate) fn run_program(
        &mut self,
        program: &ReplayProgram,
        place: &mut usize,
        endpoint: &mut Endpoint,
    ) -> Advance {
        let (bases, mut stopped) = (self.memory.bases(), Ok(Advance::Behind));
        // No operator that may throw has a program.
        let mut executor = self.over_rings::<false>(endpoint, &program.hint, &mut stopped);
        let instructions = &program.instructions;
        // SAFETY: the places are those of our own plan, in buffers that are bound; the plan keeps
        // other steps off them.
        if unsafe { executor.run_all(&bases, place, |place| instructions.get(place)) } {
            return Advance::Complete;
        }
        cold();
        self.stop(stopped)
    }

    /// The executor of its instructions, over the eager rings.
    #[inline(always)]
    fn over_rings<'a, const MAY_THROW: bool>(
        &'a self,
        endpoint: &'a mut Endpoint,
        hint: &'a TrafficHint,
        stopped: &'a mut Stopped,
    ) -> Executor<'a, RingRoutes<'a>, MAY_THROW> {
        let (number, element) = (&self.number, &self.element);
        let routes = RingRoutes { endpoint, number, element, hint, stopped };
        Executor { routes, kernel: &self.kernel, thrown: None }
    }

    /// The result of an execution that has stopped.
    #[inline]
    fn stop(&mut self, stopped: Stopped) -> Advance {
        stopped.unwrap_or_else(|error| {
            self.fail(error);
            Advance::Failed
        })
    }

    /// Starts an execution whose program has run to this place, so that it can continue in general.
    pub(crate) fn begin_at(&mut self, place: usize) {
        self.begin();
        self.exec.resume_at(place);
    }

    /// Does the steps in order until one cannot be done yet.
    pub(crate) fn run_inorder(&mut self, endpoint: &mut Endpoint) -> Advance {
        debug_assert!(self.may_run_inorder());
        let (bases, mut stopped) = (self.memory.bases(), Ok(Advance::Behind));
        let hint = self.planned.hint();
        let mut executor = self.over_rings::<true>(endpoint, &hint, &mut stopped);
        let mut place = self.exec.place();
        let order = self.planned.plan.order();
        let instruction = |place: usize| {
            let step = *order.get(place)?;
            Some(self.instruction::<RegionMut, RingRoutes<'_>>(step))
        };
        // SAFETY: slices of our own plan; the buffers are bound while the run is active, and the
        // plan keeps other steps off them. The kernel was made for this type together with them.
        let is_done = unsafe { executor.run_all(&bases, &mut place, instruction) };
        let thrown = executor.thrown;
        self.exec.resume_at(place);
        if is_done {
            return Advance::Complete;
        }
        self.stop(match thrown {
            Some(ExceptionId(id)) => Err(TransferError::Thrown(id)),
            None => stopped,
        })
    }
}
