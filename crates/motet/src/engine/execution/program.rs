//! A plan program is the compiled form of an execution whose steps run one after the other: a list
//! of instructions, in which peers, lengths and operators are resolved.
//!
//! There is one type of instruction and one function that compiles a step,
//! [`Execution::instruction`]. How a program names an operand and a message depends on its use:
//!
//! | execution | program | operands | messages |
//! |---|---|---|---|
//! | a persistent start | compiled once | addresses | [channels](super::channel_routes) |
//! | a replayed call | compiled once | offsets from bases | [eager rings](super::ring_routes) |
//! | any other call | each instruction when it is reached | addresses | eager rings |
//!
//! [`Executor`](super::inorder::Executor) runs all of them. A program is as long as its plan.

use motet_fabric::{Fill, Peer, Region, RegionMut, TrafficHint};
use motet_plan::{Action, Buffer, Slice, StepId};

use super::fused::{OperandSide, Operands};
use super::inorder::Routes;
use super::{Execution, Memory};

/// The base addresses of the buffers of an execution, in the order of [`Buffer`].
pub(crate) type Bases = [*mut u8; 3];

/// The memory of an operand.
pub(crate) trait OperandSpan: Copy {
    fn of(memory: &Memory, slice: Slice) -> Self;

    /// The memory, if the buffers are at these addresses.
    fn region_mut(self, bases: &Bases) -> RegionMut;

    #[inline]
    fn start(self, bases: &Bases) -> *mut u8 {
        self.region_mut(bases).start()
    }

    #[inline]
    fn region(self, bases: &Bases) -> Region {
        let region = self.region_mut(bases);
        Region::new(region.start(), region.bytes())
    }
}

/// Memory at a fixed address.
impl OperandSpan for RegionMut {
    #[inline]
    fn of(memory: &Memory, slice: Slice) -> RegionMut {
        memory.region_mut(slice)
    }

    #[inline]
    fn region_mut(self, _: &Bases) -> RegionMut {
        self
    }
}

/// A range of bytes in one of the buffers of an execution.
#[derive(Clone, Copy)]
pub(crate) struct BufferSpan {
    buffer: Buffer,
    offset: usize,
    bytes: usize,
}

impl OperandSpan for BufferSpan {
    #[inline]
    fn of(memory: &Memory, slice: Slice) -> BufferSpan {
        let [offset, bytes] = [slice.start, slice.len].map(|elements| memory.bytes(elements));
        BufferSpan { buffer: slice.buffer, offset, bytes }
    }

    #[inline]
    fn region_mut(self, bases: &Bases) -> RegionMut {
        RegionMut::new(bases[self.buffer as usize].wrapping_add(self.offset), self.bytes)
    }
}

/// An instruction: a step, or a receive with the reduction of what it receives.
pub(super) enum Instr<S> {
    Send {
        to: Peer,
        /// The name of the message for its [routes](Routes::message).
        message: u32,
        from: S,
    },
    Receive {
        from: Peer,
        message: u32,
        into: S,
        fill: Fill,
    },
    /// Receives one operand and reduces it in shared memory: this step and the next one.
    ReceiveAndReduce {
        from: Peer,
        message: u32,
        /// Where the operand is copied if it cannot be reduced in shared memory.
        place: S,
        /// In bytes: at most a cache line.
        alignment: u8,
        /// The operand in local memory.
        other: S,
        side: OperandSide,
        into: S,
        /// The number of elements: only a message of an eager ring or of a cell is reduced, and
        /// only if it is as long as its place.
        count: u32,
    },
    Copy {
        from: S,
        into: S,
    },
    Reduce {
        left: S,
        right: S,
        into: S,
        count: usize,
    },
}

/// The instructions of an execution in the plan's order.
pub(crate) struct PlanProgram<S> {
    pub(super) instructions: Vec<Instr<S>>,
    /// The traffic hint of its sends.
    pub(super) hint: TrafficHint,
    /// Whether it only sends or only receives.
    pub(crate) is_one_way: bool,
}

impl<S: OperandSpan> PlanProgram<S> {
    /// A program without instructions, with room for so many.
    pub(super) fn with_capacity(steps: usize) -> PlanProgram<S> {
        let instructions = Vec::with_capacity(steps);
        PlanProgram { instructions, hint: TrafficHint::OneWay, is_one_way: false }
    }

    /// Compiles a bound execution, for these routes.
    pub(super) fn compile<R: Routes>(&mut self, run: &Execution) {
        let order = run.planned.plan.order().iter();
        self.instructions.clear();
        self.instructions.extend(order.map(|&step| run.instruction::<S, R>(step)));
        let receives = |instruction: &Instr<S>| {
            matches!(instruction, Instr::Receive { .. } | Instr::ReceiveAndReduce { .. })
        };
        let sends = |instruction: &Instr<S>| matches!(instruction, Instr::Send { .. });
        let instructions = &self.instructions;
        self.is_one_way = instructions.iter().any(receives) != instructions.iter().any(sends);
        self.hint = run.planned.hint();
    }
}

impl Execution {
    /// Compiles a step, for these routes.
    ///
    /// The step after a fused receive is compiled as well: so an instruction is at the place of its
    /// step in the plan's order, and an execution can go on at the same place without a program.
    #[inline]
    pub(super) fn instruction<S: OperandSpan, R: Routes>(&self, step: StepId) -> Instr<S> {
        let span = |slice: Slice| S::of(&self.memory, slice);
        match *self.planned.plan.step(step) {
            Action::Send { to, ordinal, from } => Instr::Send {
                to: self.peer(to),
                message: R::message(step, ordinal),
                from: span(from),
            },
            Action::Recv { from, ordinal, into: place } => {
                let (from, message) = (self.peer(from), R::message(step, ordinal));
                let bytes = self.memory.bytes(place.len);
                let reduction =
                    self.reduction(step).filter(|reduction| R::fuses(reduction.alignment, bytes));
                let Some(reduction) = reduction else {
                    return Instr::Receive {
                        from,
                        message,
                        into: span(place),
                        fill: self.fill(place),
                    };
                };
                debug_assert!(u8::try_from(reduction.alignment).is_ok(), "at most a cache line");
                let Operands { other, side, into } = self.operands(reduction.step, place);
                Instr::ReceiveAndReduce {
                    from,
                    message,
                    place: span(place),
                    alignment: reduction.alignment as u8,
                    other: span(other),
                    side,
                    into: span(into),
                    count: into.len as u32,
                }
            }
            Action::Copy { from, into } => Instr::Copy { from: span(from), into: span(into) },
            Action::Reduce { left, right, into } => Instr::Reduce {
                left: span(left),
                right: span(right),
                into: span(into),
                count: into.len,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes for each step of a persistent operation, and of a call in the replay cache.
    #[test]
    fn instructions_are_small() {
        assert_eq!((size_of::<Instr<RegionMut>>(), size_of::<Instr<BufferSpan>>()), (64, 88));
    }
}
