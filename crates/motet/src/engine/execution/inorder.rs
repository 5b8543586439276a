//! In-order execution: runs the instructions of a [program](super::program) one after the other.
//!
//! No receive is posted: each instruction is tried until it can be done, so at any point at most
//! one waits. At any point the execution can switch to dataflow execution.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::borrow::Borrow;

use motet_fabric::{Fill, Peer, Region, RegionMut, TransferError};
use motet_plan::StepId;

use super::Execution;
use super::program::{Bases, Instr, Span};
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
    pub(crate) fn is_under_way(self) -> bool {
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

    /// The error of a message that has failed.
    fn error(&self) -> Option<TransferError>;

    /// Sends a message, if there is room.
    ///
    /// # Safety
    /// The data is readable now. The message is one that was compiled for these routes.
    unsafe fn send(&mut self, to: Peer, message: u32, from: Region) -> Advance;

    /// Receives a message, if it is there.
    ///
    /// # Safety
    /// `into` is writable now, and nobody else uses it. The message is one that was compiled for
    /// these routes.
    unsafe fn receive(&mut self, from: Peer, message: u32, into: RegionMut, fill: Fill) -> Advance;

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
    ) -> Advance;
}

/// Runs the instructions of one execution. `MAY_THROW` says whether its operator may.
pub(super) struct Executor<'a, R, const MAY_THROW: bool> {
    pub(super) routes: R,
    pub(super) bases: Bases,
    pub(super) kernel: Option<&'a dyn Kernel>,
    /// The exception that the operator has thrown.
    pub(super) thrown: Option<ExceptionId>,
}

impl<R: Routes, const MAY_THROW: bool> Executor<'_, R, MAY_THROW> {
    /// Runs instructions from `place` until one must wait, and advances `place`.
    ///
    /// # Safety
    /// As [`Executor::run`], for each instruction.
    #[inline(always)]
    pub(super) unsafe fn run_all<S: Span, I: Borrow<Instr<S>>>(
        &mut self,
        place: &mut usize,
        instruction_at: impl Fn(usize) -> Option<I>,
    ) -> Advance {
        while let Some(instruction) = instruction_at(*place) {
            // SAFETY: passed on.
            let (advance, steps) = unsafe { self.run(instruction.borrow()) };
            *place += steps;
            if advance != Advance::Complete {
                return advance;
            }
        }
        Advance::Complete
    }

    /// Runs an instruction if that is possible now. Returns the number of steps done, too.
    ///
    /// # Safety
    /// What it reads is readable, and what it writes is writable and used by nobody else. It was
    /// compiled for these routes, and the kernel is that of its run.
    #[inline(always)]
    unsafe fn run<S: Span>(&mut self, instruction: &Instr<S>) -> (Advance, usize) {
        let bases = &self.bases;
        match *instruction {
            Instr::Send { to, message, from } => {
                // SAFETY: passed on.
                counted(unsafe { self.routes.send(to, message, from.region(bases)) }, 1)
            }
            Instr::Receive { from, message, into, fill } => {
                let into = into.region_mut(bases);
                // SAFETY: passed on.
                counted(unsafe { self.routes.receive(from, message, into, fill) }, 1)
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
                    let operands = [received.start(), other.start(bases).cast_const()];
                    let [left, right] = side.in_order(operands);
                    // SAFETY: passed on, as for `Reduce`; what is received is as long as its place,
                    // and aligned well enough for this kernel.
                    thrown = unsafe {
                        reduce::<MAY_THROW>(
                            kernel,
                            [left, right],
                            into.start(bases),
                            count as usize,
                        )
                    };
                };
                let place = (place.region_mut(bases), usize::from(alignment));
                // SAFETY: passed on.
                let read = unsafe { self.routes.read(from, message, place, read) };
                if MAY_THROW && thrown.is_some() {
                    self.thrown = thrown;
                    return (Advance::Failed, 2);
                }
                counted(read, 2)
            }
            Instr::Copy { from, into } => {
                let (from, into) = (from.region(bases), into.start(bases));
                // SAFETY: passed on; a plan copies between slices that do not overlap.
                unsafe { into.copy_from_nonoverlapping(from.start(), from.bytes()) };
                (Advance::Complete, 1)
            }
            Instr::Reduce { left, right, into, count } => {
                let operands = [left, right].map(|operand| operand.start(bases).cast_const());
                // SAFETY: passed on; slices overlap only as plans allow, which is what kernels
                // allow.
                let thrown =
                    unsafe { reduce::<MAY_THROW>(self.kernel, operands, into.start(bases), count) };
                if MAY_THROW && thrown.is_some() {
                    self.thrown = thrown;
                    return (Advance::Failed, 1);
                }
                (Advance::Complete, 1)
            }
        }
    }

    /// The error after [`Advance::Failed`].
    #[cold]
    pub(super) fn error(&self) -> TransferError {
        let thrown = self.thrown.map(|ExceptionId(id)| TransferError::Thrown(id));
        thrown.or_else(|| self.routes.error()).expect("a message or an operator has failed")
    }
}

/// `into = left ∘ right`.
///
/// # Safety
/// As [`Kernel::reduce`].
#[inline(always)]
unsafe fn reduce<const MAY_THROW: bool>(
    kernel: Option<&dyn Kernel>,
    [left, right]: [*const u8; 2],
    into: *mut u8,
    count: usize,
) -> Option<ExceptionId> {
    let kernel = kernel.expect("a plan that reduces has a kernel");
    if MAY_THROW {
        // SAFETY: passed on.
        return unsafe { kernel.try_reduce(left, right, into, count) }.err();
    }
    // SAFETY: passed on.
    unsafe { kernel.reduce(left, right, into, count) };
    None
}

/// The number of steps that an instruction of so many has done. After an error they are done, too.
#[inline(always)]
fn counted(advance: Advance, steps: usize) -> (Advance, usize) {
    if advance.is_under_way() { (advance, 0) } else { (advance, steps) }
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
