//! In-order execution: runs the instructions of a [program](super::program) one after the other.
//!
//! No receive is posted: each instruction is tried until it can be done, so at any point at most
//! one waits. At any point the execution can switch to dataflow execution.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::borrow::Borrow;

use motet_fabric::memory::copy_many;
use motet_fabric::{Fill, Peer, Region, RegionMut};
use motet_plan::StepId;

use super::Execution;
use super::program::{Bases, Instr, OperandSpan};
use crate::ExceptionId;
use crate::data::kernel::Kernel;

/// The result of an in-order execution, or of one instruction of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    Complete,
    /// The message of a step has not arrived from this peer.
    Waiting(Peer),
    /// Another operation or message must move first.
    Behind,
    /// An error occurred, of which other ranks must be told.
    Failed,
}

impl Advance {
    /// Whether it is incomplete and has not failed.
    #[inline]
    pub(crate) fn is_pending(self) -> bool {
        matches!(self, Advance::Waiting(_) | Advance::Behind)
    }
}

/// How the messages of a program travel.
pub(super) trait Routes {
    /// The name by which these routes know the message of a step, which has this ordinal.
    fn message(step: StepId, ordinal: u32) -> u32;

    /// Whether a message of so many bytes can be reduced where it is, by a kernel that needs this
    /// alignment.
    fn fuses(alignment: usize, bytes: usize) -> bool;

    /// Whether the last message that was not transferred has failed, and need not wait.
    fn has_failed(&self) -> bool;

    /// Sends a message, if there is room. Returns whether it was sent.
    ///
    /// # Safety
    /// The data is readable now. The message is one that was compiled for these routes.
    unsafe fn send(&mut self, to: Peer, message: u32, from: Region) -> bool;

    /// Receives a message, if it is there. Returns whether it was received; else the routes know
    /// why not.
    ///
    /// # Safety
    /// `into` is writable now, and nobody else uses it. The message is one that was compiled for
    /// these routes.
    unsafe fn receive(&mut self, from: Peer, message: u32, into: RegionMut, fill: Fill) -> bool;

    /// Reads a message where it is, if it is there and has this alignment, else at `place`.
    ///
    /// # Safety
    /// As [`Routes::receive`].
    unsafe fn read(
        &mut self,
        from: Peer,
        message: u32,
        place: (RegionMut, usize),
        read: impl FnOnce(Region),
    ) -> bool;
}

/// Runs the instructions of one execution. `MAY_THROW` says whether its operator may.
pub(super) struct Executor<'a, R, const MAY_THROW: bool> {
    pub(super) routes: R,
    pub(super) kernel: &'a Option<Box<dyn Kernel>>,
    /// The exception that the operator has thrown.
    pub(super) thrown: Option<ExceptionId>,
}

impl<R: Routes, const MAY_THROW: bool> Executor<'_, R, MAY_THROW> {
    /// Runs instructions from `place` until one must wait or fails, and advances `place`. Returns
    /// whether all are done. The addresses of the buffers are no field: an index into them that the
    /// compiler does not know would keep all fields out of registers.
    ///
    /// # Safety
    /// As [`Executor::run`], for each instruction.
    #[inline(always)]
    pub(super) unsafe fn run_all<S: OperandSpan, I: Borrow<Instr<S>>>(
        &mut self,
        bases: &Bases,
        place: &mut usize,
        instruction_at: impl Fn(usize) -> Option<I>,
    ) -> bool {
        while let Some(instruction) = instruction_at(*place) {
            // SAFETY: passed on.
            let (is_done, steps) = unsafe { self.run(instruction.borrow(), bases) };
            *place += steps;
            if !is_done {
                return false;
            }
        }
        true
    }

    /// Runs an instruction if that is possible now. Returns whether it is done without an error,
    /// and the number of steps done.
    ///
    /// # Safety
    /// What it reads is readable, and what it writes is writable and used by nobody else. It was
    /// compiled for these routes, and the kernel is that of its run.
    #[inline(always)]
    unsafe fn run<S: OperandSpan>(
        &mut self,
        instruction: &Instr<S>,
        bases: &Bases,
    ) -> (bool, usize) {
        match *instruction {
            Instr::Send { to, message, from } => {
                // SAFETY: passed on.
                let is_sent = unsafe { self.routes.send(to, message, from.region(bases)) };
                self.transferred(is_sent, 1)
            }
            Instr::Receive { from, message, into, fill } => {
                let into = into.region_mut(bases);
                // SAFETY: passed on.
                let is_received = unsafe { self.routes.receive(from, message, into, fill) };
                self.transferred(is_received, 1)
            }
            Instr::ReceiveAndReduce {
                from,
                message,
                place,
                alignment,
                other,
                side,
                into,
                count,
            } => {
                let (kernel, mut thrown) = (self.kernel, None);
                let read = |received: Region| {
                    let operands =
                        side.in_order([received.start(), other.start(bases).cast_const()]);
                    let (into, count) = (into.start(bases), count as usize);
                    // SAFETY: passed on, as for `Reduce`; what is received is as long as its place,
                    // and aligned well enough for this kernel.
                    thrown = unsafe { reduce::<MAY_THROW>(kernel, operands, into, count) };
                };
                let place = (place.region_mut(bases), usize::from(alignment));
                // SAFETY: passed on.
                let is_read = unsafe { self.routes.read(from, message, place, read) };
                if MAY_THROW && thrown.is_some() {
                    self.thrown = thrown;
                    return (false, 2);
                }
                self.transferred(is_read, 2)
            }
            Instr::Copy { from, into } => {
                let (from, into) = (from.region(bases), into.start(bases));
                // SAFETY: passed on; a plan copies between slices that do not overlap.
                unsafe { copy_many(from.start(), into, from.bytes()) };
                (true, 1)
            }
            Instr::Reduce { left, right, into, count } => {
                let operands = [left, right].map(|operand| operand.start(bases).cast_const());
                // SAFETY: passed on; slices overlap only as plans allow, which is what kernels
                // allow.
                let thrown =
                    unsafe { reduce::<MAY_THROW>(self.kernel, operands, into.start(bases), count) };
                if MAY_THROW && thrown.is_some() {
                    self.thrown = thrown;
                    return (false, 1);
                }
                (true, 1)
            }
        }
    }

    /// The result of an instruction of so many steps that transfers a message. After an error they
    /// are done, too.
    #[inline(always)]
    fn transferred(&self, is_transferred: bool, steps: usize) -> (bool, usize) {
        let is_over = is_transferred || self.routes.has_failed();
        (is_transferred, if is_over { steps } else { 0 })
    }
}

/// `into = left ∘ right`.
///
/// # Safety
/// As [`Kernel::reduce`].
#[inline(always)]
unsafe fn reduce<const MAY_THROW: bool>(
    kernel: &Option<Box<dyn Kernel>>,
    [left, right]: [*const u8; 2],
    into: *mut u8,
    count: usize,
) -> Option<ExceptionId> {
    let kernel = kernel.as_deref().expect("a plan that reduces has a kernel");
    if MAY_THROW {
        // SAFETY: passed on.
        return unsafe { kernel.try_reduce(left, right, into, count) }.err();
    }
    // SAFETY: passed on.
    unsafe { kernel.reduce(left, right, into, count) };
    None
}

impl Execution {
    /// Whether its steps run one after the other, so that it may run inline.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.exec.is_in_order()
    }

    /// Whether it may go on in order without posted receives: no step has been posted, no step has
    /// a channel, and no error has occurred of which other ranks must be told.
    #[inline]
    pub(crate) fn may_run_inorder(&self) -> bool {
        self.is_in_order()
            && self.channels.is_none()
            && self.fault.is_none()
            && !self.exec.is_at_step()
    }

    /// Whether it waits for exactly one channel.
    #[inline]
    pub(crate) fn waits_for_channel(&self) -> bool {
        self.is_in_order() && self.is_blocked()
    }
}
