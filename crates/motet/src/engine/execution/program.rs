//! A plan program is the compiled form of a short execution in the replay cache: peers, lengths and
//! operators are resolved; only base addresses are supplied per call.
//!
//! It runs like [in-order execution](super::inorder): each step is tried until it can be done, one
//! after the other, and at any point the execution can switch to dataflow execution. In-order
//! execution asks the plan, the group and the counters at each step, which takes as long as a short
//! message; a program holds the answers.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{Endpoint, Fill, InlineRecv, Label, Peer, Region, RegionMut, TrafficHint};
use motet_plan::{Action, Rank, Slice, StepId};

use super::fused::{OperandSide, Operands};
use super::{Advance, Execution, OpKey};
use crate::data::kernel::Kernel;

/// The longest program in steps, of 72 bytes each.
const PROGRAM_STEPS_MAX: usize = 128;

/// The instructions of an execution in the plan's order.
pub(crate) struct PlanProgram {
    legs: Box<[Instr]>,
    reply: TrafficHint,
    /// Whether it only sends or only receives.
    pub(crate) is_one_way: bool,
}

/// A range of bytes in one of the buffers of an execution.
#[derive(Clone, Copy)]
struct BufferSpan {
    /// The index of its buffer among the [bases](super::Memory::bases), the offset and the length.
    base: usize,
    start: usize,
    bytes: usize,
}

/// The base addresses of the buffers in this call.
type Bases = [*mut u8; 3];

impl BufferSpan {
    #[inline]
    fn start(&self, bases: &Bases) -> *mut u8 {
        bases[self.base].wrapping_add(self.start)
    }

    #[inline]
    fn region(&self, bases: &Bases) -> Region {
        Region::new(self.start(bases), self.bytes)
    }

    #[inline]
    fn region_mut(&self, bases: &Bases) -> RegionMut {
        RegionMut::new(self.start(bases), self.bytes)
    }
}

/// An instruction.
enum Instr {
    Send {
        to: Peer,
        ordinal: u32,
        from: BufferSpan,
    },
    Receive {
        from: Peer,
        ordinal: u32,
        into: BufferSpan,
        fill: Fill,
    },
    Copy {
        from: BufferSpan,
        into: BufferSpan,
    },
    Reduce {
        operands: [BufferSpan; 2],
        into: BufferSpan,
        count: usize,
    },
    /// Receives one operand and reduces it in shared memory: this step and the next one.
    ReceiveAndReduce(Box<Fused>),
}

struct Fused {
    from: Peer,
    ordinal: u32,
    /// Where the operand is copied if it cannot be reduced in shared memory.
    place: BufferSpan,
    alignment: usize,
    /// The operand in local memory.
    other: BufferSpan,
    side: OperandSide,
    into: BufferSpan,
    count: usize,
}

/// What all instructions of one call share.
struct ExecContext<'a> {
    bases: Bases,
    number: OpKey,
    element: motet_fabric::TypeCode,
    reply: TrafficHint,
    kernel: Option<&'a dyn Kernel>,
}

impl ExecContext<'_> {
    #[inline]
    fn label(&self, ordinal: u32) -> Label {
        Label { context: self.number.context, tag: self.number.tag, ordinal }
    }

    #[inline]
    fn kernel(&self) -> &dyn Kernel {
        self.kernel.expect("a plan that reduces has a kernel")
    }
}

impl PlanProgram {
    /// Compiles a bound execution; `None` if it may not run in order or is too long.
    pub(crate) fn of(run: &Execution) -> Option<PlanProgram> {
        let order = run.planned.plan.order();
        if !run.may_run_inorder() || order.len() > PROGRAM_STEPS_MAX {
            return None;
        }
        let legs = order.iter().enumerate().map(|(at, &step)| run.leg(step, order.get(at + 1)));
        let legs: Box<[Instr]> = legs.collect();
        let receives =
            |leg: &Instr| matches!(leg, Instr::Receive { .. } | Instr::ReceiveAndReduce(_));
        let sends = |leg: &Instr| matches!(leg, Instr::Send { .. });
        let is_one_way = legs.iter().any(receives) != legs.iter().any(sends);
        Some(PlanProgram { legs, reply: run.planned.hint(), is_one_way })
    }
}

impl Execution {
    fn stretch(&self, slice: Slice) -> BufferSpan {
        let [start, bytes] = [slice.start, slice.len].map(|elements| self.memory.bytes(elements));
        BufferSpan { base: slice.buffer as usize, start, bytes }
    }

    fn leg(&self, step: StepId, next: Option<&StepId>) -> Instr {
        match *self.planned.plan.step(step) {
            Action::Send { to, ordinal, from } => {
                Instr::Send { to: self.peer(to), ordinal, from: self.stretch(from) }
            }
            Action::Recv { from, ordinal, into } => {
                let fused = next.and_then(|&next| self.fused(step, next, (from, ordinal, into)));
                let (source, fill) = (self.peer(from), self.fill(into));
                let leg =
                    || Instr::Receive { from: source, ordinal, into: self.stretch(into), fill };
                fused.map_or_else(leg, |fused| Instr::ReceiveAndReduce(Box::new(fused)))
            }
            Action::Copy { from, into } => {
                Instr::Copy { from: self.stretch(from), into: self.stretch(into) }
            }
            Action::Reduce { left, right, into } => {
                let operands = [left, right].map(|operand| self.stretch(operand));
                Instr::Reduce { operands, into: self.stretch(into), count: into.len }
            }
        }
    }

    /// Fuses a receive with the next step, if that reduces what is received.
    fn fused(
        &self,
        receive: StepId,
        next: StepId,
        (from, ordinal, place): (Rank, u32, Slice),
    ) -> Option<Fused> {
        let reduction = self.reduction(receive).filter(|reduction| reduction.step == next)?;
        let Operands { other, side, into } = self.operands(next, place);
        Some(Fused {
            from: self.peer(from),
            ordinal,
            place: self.stretch(place),
            alignment: reduction.alignment,
            other: self.stretch(other),
            side,
            into: self.stretch(into),
            count: into.len,
        })
    }

    /// Runs instructions from `place` until one must wait, and advances `place`. The execution need
    /// not have begun.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        course: &PlanProgram,
        place: &mut usize,
        endpoint: &mut Endpoint,
    ) -> Advance {
        let (number, element, reply) = (self.number, self.element, course.reply);
        let (bases, kernel) = (self.memory.bases(), self.kernel.as_deref());
        let time = ExecContext { bases, number, element, reply, kernel };
        while let Some(leg) = course.legs.get(*place) {
            // SAFETY: the places are those of our own plan, in buffers that are bound; the plan
            // keeps other steps off them.
            let (pace, steps) = unsafe { leg.go(&time, endpoint) };
            *place += steps;
            match pace {
                Ok(Advance::Complete) => {}
                Ok(pace) => return pace,
                Err(error) => {
                    self.fail(error);
                    return Advance::Failed;
                }
            }
        }
        Advance::Complete
    }

    /// Starts an execution whose program has run to this place, so that it can continue in general.
    pub(crate) fn begin_at(&mut self, place: usize) {
        self.begin();
        self.exec.resume_at(place);
    }
}

/// The result of an instruction and the number of steps done.
type StepResult = (Result<Advance, motet_fabric::TransferError>, usize);

impl Instr {
    /// Runs the instruction if that is possible now.
    ///
    /// # Safety
    /// What it reads is readable, and what it writes is writable and used by nobody else. The
    /// kernel is that of its run.
    #[inline]
    unsafe fn go(&self, time: &ExecContext<'_>, endpoint: &mut Endpoint) -> StepResult {
        let bases = &time.bases;
        match *self {
            Instr::Send { to, ordinal, from } => {
                let (label, data) = (time.label(ordinal), from.region(bases));
                // SAFETY: passed on.
                if !unsafe { endpoint.send_inline(to, label, time.element, data, time.reply) } {
                    return (Ok(Advance::Behind), 0);
                }
            }
            Instr::Receive { from, ordinal, into, fill } => {
                let (label, into) = (time.label(ordinal), into.region_mut(bases));
                // SAFETY: passed on.
                let short = unsafe { endpoint.recv_inline(from, label, time.element, into, fill) };
                return gone(short, from, 1);
            }
            Instr::Copy { from, into } => {
                let into = into.start(bases);
                // SAFETY: passed on; a plan copies between slices that do not overlap.
                unsafe { into.copy_from_nonoverlapping(from.start(bases), from.bytes) };
            }
            Instr::Reduce { ref operands, into, count } => {
                let [left, right] = operands.each_ref().map(|operand| operand.start(bases));
                // SAFETY: passed on; slices overlap only as plans allow, which is what kernels
                // allow.
                unsafe { time.kernel().reduce(left, right, into.start(bases), count) };
            }
            // SAFETY: passed on.
            Instr::ReceiveAndReduce(ref fused) => return unsafe { fused.go(time, endpoint) },
        }
        (Ok(Advance::Complete), 1)
    }
}

impl Fused {
    /// # Safety
    /// As [`Instr::go`].
    #[inline]
    unsafe fn go(&self, time: &ExecContext<'_>, endpoint: &mut Endpoint) -> StepResult {
        let bases = &time.bases;
        let read = |received: Region| {
            let operands = [received.start(), self.other.start(bases).cast_const()];
            let into = self.into.start(bases);
            // SAFETY: passed on, as for a step that reduces; what is received is as long as its
            // place, and aligned well enough for this kernel.
            unsafe { self.side.reduce(time.kernel(), operands, into, self.count) };
        };
        let (message, place) =
            ((self.from, time.label(self.ordinal)), self.place.region_mut(bases));
        // SAFETY: passed on.
        let short =
            unsafe { endpoint.read_inline(message, time.element, place, self.alignment, read) };
        gone(short, self.from, 2)
    }
}

/// Converts the result of an inline receive to that of so many steps.
#[inline]
fn gone(short: InlineRecv, from: Peer, steps: usize) -> StepResult {
    match short {
        InlineRecv::Done(Ok(_)) => (Ok(Advance::Complete), steps),
        InlineRecv::Done(Err(error)) => (Err(error), steps),
        InlineRecv::Empty => (Ok(Advance::Waiting(from)), 0),
        InlineRecv::Blocked => (Ok(Advance::Behind), 0),
    }
}
