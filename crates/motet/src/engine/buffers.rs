//! The memory of an execution maps the buffers that a plan names to addresses.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::memory::copy_many;
use motet_fabric::{Region, RegionMut};
use motet_plan::{Buffer, Slice};

use crate::data::buffer::RawSlice;
use crate::data::scratch::Scratch;

/// The input, output and scratch buffers of an execution.
///
/// The regions it makes are valid as long as the operation holds the user's buffers; all transfers
/// of the engine rely on this one promise (see [`super`]).
pub(crate) struct Memory {
    input: *mut u8,
    output: *mut u8,
    scratch: Scratch,
}

// SAFETY: addresses and owned memory; who may use them when is decided above (see the type).
unsafe impl Send for Memory {}

impl Memory {
    /// Memory with scratch for this many elements, without input and output.
    pub(crate) fn new(scratch: usize, element_bytes: usize) -> Memory {
        Memory {
            input: std::ptr::null_mut(),
            output: std::ptr::null_mut(),
            scratch: Scratch::new(scratch, element_bytes),
        }
    }

    /// Allocates the scratch memory, if it is not there yet; called before the execution starts.
    pub(crate) fn want_scratch(&mut self) {
        self.scratch.want();
    }

    /// Bytes of the scratch memory, allocated or not.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.scratch.bytes
    }

    /// Zeroes the scratch memory, if it is allocated: zeros are values of every type.
    pub(crate) fn clear_scratch(&mut self) {
        if let Some(start) = self.scratch.start {
            // SAFETY: our own memory of this length; nothing of the run is under way.
            unsafe { start.write_bytes(0, self.scratch.bytes) };
        }
    }

    /// Sets the input and output buffers.
    pub(crate) fn bind(&mut self, input: RawSlice, output: RawSlice) {
        self.bind_at(input.start, output.start);
    }

    /// Sets new addresses of buffers as long as those before.
    pub(crate) fn bind_at(&mut self, input: *mut u8, output: *mut u8) {
        self.input = input;
        self.output = output;
    }

    /// The length in bytes of this many elements.
    pub(crate) fn bytes(&self, elements: usize) -> usize {
        elements * self.scratch.element_bytes
    }

    /// The base addresses of the buffers, in the order of [`Buffer`].
    #[inline]
    pub(crate) fn bases(&self) -> [*mut u8; 3] {
        [self.input, self.output, self.scratch.address()]
    }

    #[inline]
    fn address(&self, slice: Slice) -> *mut u8 {
        let base = match slice.buffer {
            Buffer::Input => self.input,
            Buffer::Output => self.output,
            Buffer::Scratch => self.scratch.address(),
        };
        base.wrapping_add(self.bytes(slice.start))
    }

    /// The elements of a slice, to be read.
    #[inline]
    pub(crate) fn region(&self, slice: Slice) -> Region {
        Region::new(self.address(slice), self.bytes(slice.len))
    }

    /// The elements of a slice, to be written.
    #[inline]
    pub(crate) fn region_mut(&self, slice: Slice) -> RegionMut {
        RegionMut::new(self.address(slice), self.bytes(slice.len))
    }

    /// Copies the elements of one slice into another that does not overlap it.
    ///
    /// # Safety
    /// The slices are of the plan this memory was made for, and its buffers are bound.
    pub(crate) unsafe fn copy(&mut self, from: Slice, into: Slice) {
        let bytes = self.bytes(from.len);
        let (from, into) = (self.address(from), self.address(into));
        // SAFETY: slices of bound buffers, disjoint by the promise of every plan; the plan's
        // order keeps other steps off them.
        unsafe { copy_many(from, into, bytes) };
    }
}
