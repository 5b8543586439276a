//! The memory of a run: where the buffers that a plan names really lie.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use motet_fabric::{Region, RegionMut};
use motet_plan::{Buffer, Slice};

use crate::ExceptionId;
use crate::buffer::RawSlice;
use crate::kernel::Kernel;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// The largest alignment that an element of so many bytes can have.
fn alignment_of(element_bytes: usize) -> usize {
    if element_bytes == 0 { 1 } else { 1 << element_bytes.trailing_zeros() }
}

/// Memory of so many bytes is a multiple of this, and begins at one.
fn unit_of(bytes: usize) -> usize {
    if bytes <= Scratch::LITTLE { Scratch::ALIGNMENT } else { LINE }
}

/// Memory that a run owns, or the streams of an operation. It is held as an address, not as a box:
/// transfers use it while its owner is moved and borrowed.
///
/// It is aligned for its elements, whatever their type: the size of a type is a multiple of its
/// alignment. Much of it comes in whole lines and shares none with anybody; a little of it, of
/// which there may be a million pieces, takes no more than it needs. It is there when it is wanted,
/// not before: an init that opens no channels yet need not touch its pages.
pub(super) struct Scratch {
    /// Nowhere until it is wanted.
    start: Option<NonNull<u8>>,
    bytes: usize,
    element_bytes: usize,
}

impl Scratch {
    /// Bytes that take less than a line.
    const LITTLE: usize = 32;
    /// What every basic element is aligned to.
    const ALIGNMENT: usize = 16;

    pub(super) fn new(elements: usize, element_bytes: usize) -> Scratch {
        let bytes = elements * element_bytes;
        Scratch { start: None, bytes: bytes.next_multiple_of(unit_of(bytes)), element_bytes }
    }

    /// It is wanted from now on.
    pub(super) fn want(&mut self) {
        if self.bytes == 0 || self.start.is_some() {
            return;
        }
        let layout = self.layout();
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc::alloc_zeroed(layout) };
        self.start = NonNull::new(start);
        if self.start.is_none() {
            alloc::handle_alloc_error(layout)
        }
    }

    #[inline]
    pub(super) fn address(&self) -> *mut u8 {
        debug_assert!(self.start.is_some() || self.bytes == 0, "used before it was wanted");
        self.start.map_or(NonNull::dangling().as_ptr(), NonNull::as_ptr)
    }

    fn layout(&self) -> Layout {
        let alignment = unit_of(self.bytes).max(alignment_of(self.element_bytes));
        let layout = Layout::from_size_align(self.bytes, alignment);
        layout.expect("what a plan needs can be counted")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(start) = self.start {
            // SAFETY: allocated by `want` with this layout; no transfer uses it, by the promise
            // behind all transfers of the engine.
            unsafe { alloc::dealloc(start.as_ptr(), self.layout()) };
        }
    }
}

/// The three buffers of a run.
///
/// The regions it makes are valid as long as the user's buffers are held by the operation; that
/// is the one promise behind all transfers of the engine (see [`super`]).
pub(crate) struct Memory {
    input: *mut u8,
    output: *mut u8,
    scratch: Scratch,
}

// SAFETY: addresses and owned memory; who may use them when is decided above (see the type).
unsafe impl Send for Memory {}

impl Memory {
    /// Memory with scratch for this many elements, and no buffers yet.
    pub(crate) fn new(scratch: usize, element_bytes: usize) -> Memory {
        Memory {
            input: std::ptr::null_mut(),
            output: std::ptr::null_mut(),
            scratch: Scratch::new(scratch, element_bytes),
        }
    }

    /// Gets the scratch memory, if it is not there yet: before anything runs.
    pub(crate) fn want_scratch(&mut self) {
        self.scratch.want();
    }

    /// Puts zeros into the scratch memory, if it is there: they are values of every type.
    pub(crate) fn clear_scratch(&mut self) {
        if let Some(start) = self.scratch.start {
            // SAFETY: our own memory of this length; nothing of the run is under way.
            unsafe { start.write_bytes(0, self.scratch.bytes) };
        }
    }

    /// Takes these buffers from now on.
    pub(crate) fn bind(&mut self, input: RawSlice, output: RawSlice) {
        self.bind_at(input.start, output.start);
    }

    /// The same, of buffers that are as long as those before.
    pub(crate) fn bind_at(&mut self, input: *mut u8, output: *mut u8) {
        self.input = input;
        self.output = output;
    }

    /// Bytes of this many elements.
    pub(crate) fn bytes(&self, elements: usize) -> usize {
        elements * self.scratch.element_bytes
    }

    /// Where the buffers begin, in the order of [`Buffer`].
    #[inline]
    pub(crate) fn bases(&self) -> [*mut u8; 3] {
        [self.input, self.output, self.scratch.address()]
    }

    #[inline]
    fn address(&mut self, slice: Slice) -> *mut u8 {
        let base = match slice.buffer {
            Buffer::Input => self.input,
            Buffer::Output => self.output,
            Buffer::Scratch => self.scratch.address(),
        };
        base.wrapping_add(self.bytes(slice.start))
    }

    /// The elements of a slice, to be read.
    #[inline]
    pub(crate) fn region(&mut self, slice: Slice) -> Region {
        Region::new(self.address(slice), self.bytes(slice.len))
    }

    /// The elements of a slice, to be written.
    #[inline]
    pub(crate) fn region_mut(&mut self, slice: Slice) -> RegionMut {
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
        unsafe { into.copy_from_nonoverlapping(from, bytes) };
    }

    /// `into = left ∘ right`.
    ///
    /// # Safety
    /// As [`Memory::copy`], and the kernel is for the type of the elements.
    pub(crate) unsafe fn reduce(
        &mut self,
        kernel: &dyn Kernel,
        left: Slice,
        right: Slice,
        into: Slice,
    ) -> Result<(), ExceptionId> {
        let operands = [left, right].map(|operand| self.address(operand).cast_const());
        // SAFETY: passed on.
        unsafe { self.reduce_at(kernel, operands, into) }
    }

    /// The same, where one operand lies elsewhere: it is what would have been received there.
    ///
    /// # Safety
    /// As [`Memory::reduce`]; what is received is as long as the result, and aligned.
    pub(crate) unsafe fn reduce_received(
        &mut self,
        kernel: &dyn Kernel,
        (place, received): (Slice, Region),
        [left, right]: [Slice; 2],
        into: Slice,
    ) -> Result<(), ExceptionId> {
        let operands = [left, right]
            .map(|operand| if operand == place { received.start() } else { self.address(operand) });
        // SAFETY: passed on.
        unsafe { self.reduce_at(kernel, operands, into) }
    }

    /// `into = left ∘ right`, with the operands at these addresses.
    ///
    /// # Safety
    /// As [`Memory::reduce`].
    unsafe fn reduce_at(
        &mut self,
        kernel: &dyn Kernel,
        [left, right]: [*const u8; 2],
        into: Slice,
    ) -> Result<(), ExceptionId> {
        let count = into.len;
        let into = self.address(into);
        // SAFETY: slices of bound buffers, overlapping only as plans allow, which is what kernels
        // allow; aligned, since buffers are and slices count in elements.
        unsafe { kernel.try_reduce(left, right, into, count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_aligned_and_long_enough() {
        for element in [1, 2, 3, 8, 12, 32, 40, 64, 96, 128, 4096, 8192, 3 << 14] {
            for count in [0, 1, 2, 3, 4, 16, 17, 32, 33, 65, 100] {
                let (mut scratch, bytes) = (Scratch::new(count, element), count * element);
                scratch.want();
                let least = if bytes > Scratch::LITTLE { 64 } else { 16 };
                assert!(scratch.bytes >= bytes && scratch.bytes < bytes + least);
                let alignment = alignment_of(element).max(least);
                assert!(bytes == 0 || scratch.address().addr().is_multiple_of(alignment));
            }
        }
    }
}
