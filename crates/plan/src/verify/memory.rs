//! The symbolic memory of one rank.

use super::value::{ValueId, Values};
use crate::call::{Call, Collective};
use crate::plan::{Buffer, Plan, Slice};
use crate::spec::Expected;

/// What an element of a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Scratch memory that no step has written.
    Unset,
    /// What the caller left in the output, which is no part of the call.
    Foreign,
    /// A receive into the element is in progress.
    Arriving,
    /// A value of the call.
    Value(ValueId),
}

#[derive(Clone, Copy, Debug)]
struct Element {
    content: Content,
    /// The collective says that the element stays unchanged, so nothing may write it.
    protected: bool,
    /// How many sends that read the element are in progress.
    sending: u32,
}

impl Element {
    /// Why a step may not write it, if it may not.
    fn write_fault(&self) -> Option<Fault> {
        match self {
            Element { protected: true, .. } => Some(Fault::WriteProtected),
            Element { content: Content::Arriving, .. } => Some(Fault::WriteArriving),
            Element { sending: 1.., .. } => Some(Fault::WriteSending),
            _ => None,
        }
    }
}

/// Why a step may not touch an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It reads an element that holds no value of the call.
    ReadUnset,
    /// It reads an element into which a receive is in progress.
    ReadArriving,
    /// It writes an element into which a receive is in progress.
    WriteArriving,
    /// It writes an element that a send in progress reads.
    WriteSending,
    /// It writes an element that must stay unchanged.
    WriteProtected,
}

/// The first fault of a step, and where.
pub(super) type Faulty = (Fault, Buffer, usize);

/// The three buffers of one rank.
pub(super) struct Memory {
    buffers: [Vec<Element>; 3],
}

impl Memory {
    /// The memory at the start of a call.
    pub(super) fn new(
        call: &Call,
        plan: &Plan,
        expected: &[Expected],
        values: &mut Values,
    ) -> Self {
        let element = |content| Element { content, protected: false, sending: 0 };
        let output = expected.iter().map(|expected| Element {
            protected: *expected == Expected::Unchanged,
            ..element(Content::Foreign)
        });
        let mut memory = Self {
            buffers: [
                vec![element(Content::Foreign); call.input_len()],
                output.collect(),
                vec![element(Content::Unset); plan.scratch_len()],
            ],
        };
        // The first token of a barrier is that of the rank itself.
        let own = match call.collective() {
            Collective::Barrier | Collective::InterBarrier => {
                Slice { buffer: Buffer::Scratch, start: 0, len: plan.scratch_len().min(1) }
            }
            _ => call.contribution(),
        };
        for (index, element) in memory.slice_mut(own).iter_mut().enumerate() {
            element.content = Content::Value(values.contribution(call.rank, index));
        }
        memory
    }

    fn slice_mut(&mut self, slice: Slice) -> &mut [Element] {
        &mut self.buffers[slice.buffer as usize][slice.positions()]
    }

    /// What one buffer holds.
    pub(super) fn contents(&self, buffer: Buffer) -> impl Iterator<Item = Content> {
        self.buffers[buffer as usize].iter().map(|element| element.content)
    }

    /// Reads values.
    pub(super) fn read(&self, slice: Slice) -> Result<Vec<ValueId>, Faulty> {
        let elements = &self.buffers[slice.buffer as usize][slice.positions()];
        let value = |(offset, element): (usize, &Element)| match element.content {
            Content::Value(value) => Ok(value),
            Content::Arriving => Err((Fault::ReadArriving, slice.buffer, slice.start + offset)),
            Content::Unset | Content::Foreign => {
                Err((Fault::ReadUnset, slice.buffer, slice.start + offset))
            }
        };
        elements.iter().enumerate().map(value).collect()
    }

    /// Writes values.
    pub(super) fn write(&mut self, slice: Slice, values: &[ValueId]) -> Result<(), Faulty> {
        self.set(slice, values.iter().map(|value| Content::Value(*value)))
    }

    /// Marks the elements as those of a receive in progress.
    pub(super) fn begin_recv(&mut self, slice: Slice) -> Result<(), Faulty> {
        self.set(slice, std::iter::repeat(Content::Arriving))
    }

    /// Ends a receive with the values that have arrived.
    pub(super) fn end_recv(&mut self, slice: Slice, values: &[ValueId]) {
        for (element, value) in self.slice_mut(slice).iter_mut().zip(values) {
            debug_assert_eq!(element.content, Content::Arriving, "writes respect a receive");
            element.content = Content::Value(*value);
        }
    }

    /// Ends a receive whose message has been left where it is, or a reduction whose result has been
    /// used before it was written whole: the elements hold nothing that a step may read.
    pub(super) fn forget(&mut self, slice: Slice) {
        self.slice_mut(slice).iter_mut().for_each(|element| element.content = Content::Unset);
    }

    /// Puts a message that was left where it is into the place of its receive.
    pub(super) fn bring(&mut self, slice: Slice, values: &[ValueId]) {
        for (element, value) in self.slice_mut(slice).iter_mut().zip(values) {
            element.content = Content::Value(*value);
        }
    }

    /// Checks that a step may write these elements.
    pub(super) fn may_write(&self, slice: Slice) -> Result<(), Faulty> {
        let elements = self.buffers[slice.buffer as usize][slice.positions()].iter();
        let faults = elements.enumerate().filter_map(|(offset, element)| {
            Some((element.write_fault()?, slice.buffer, slice.start + offset))
        });
        faults.take(1).try_for_each(Err)
    }

    /// Keeps the elements from being written while a send is in progress.
    pub(super) fn begin_send(&mut self, slice: Slice) {
        self.slice_mut(slice).iter_mut().for_each(|element| element.sending += 1);
    }

    /// Undoes [`Memory::begin_send`].
    pub(super) fn end_send(&mut self, slice: Slice) {
        self.slice_mut(slice).iter_mut().for_each(|element| element.sending -= 1);
    }

    fn set(&mut self, slice: Slice, contents: impl Iterator<Item = Content>) -> Result<(), Faulty> {
        for (offset, (element, content)) in
            self.slice_mut(slice).iter_mut().zip(contents).enumerate()
        {
            if let Some(fault) = element.write_fault() {
                return Err((fault, slice.buffer, slice.start + offset));
            }
            element.content = content;
        }
        Ok(())
    }
}
