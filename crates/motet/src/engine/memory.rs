//! The memory of a run: where the buffers that a plan names really lie.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_fabric::{Region, RegionMut};
use motet_plan::{Buffer, Slice};

use crate::buffer::Span;
use crate::kernel::Kernel;

/// Scratch memory comes in lines, so that it is aligned for every element and shares no line with
/// anybody.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Line {
    _bytes: [u8; 64],
}

/// Lines for this many bytes.
pub(super) fn lines(bytes: usize) -> Box<[Line]> {
    vec![Line { _bytes: [0; 64] }; bytes.div_ceil(size_of::<Line>())].into_boxed_slice()
}

/// The three buffers of a run.
///
/// The regions it makes are valid as long as the user's buffers are held by the operation; that
/// is the one promise behind all transfers of the engine (see [`super`]).
pub(crate) struct Memory {
    input: *mut u8,
    output: *mut u8,
    scratch: Box<[Line]>,
    element_bytes: usize,
}

// SAFETY: addresses and owned memory; who may use them when is decided above (see the type).
unsafe impl Send for Memory {}

impl Memory {
    /// Memory with scratch for this many elements, and no buffers yet.
    pub(crate) fn new(scratch: usize, element_bytes: usize) -> Memory {
        Memory {
            input: std::ptr::null_mut(),
            output: std::ptr::null_mut(),
            scratch: lines(scratch * element_bytes),
            element_bytes,
        }
    }

    /// Takes these buffers from now on.
    pub(crate) fn bind(&mut self, input: Span, output: Span) {
        self.input = input.start;
        self.output = output.start;
    }

    /// Bytes of this many elements.
    pub(crate) fn bytes(&self, elements: usize) -> usize {
        elements * self.element_bytes
    }

    #[inline]
    fn address(&mut self, slice: Slice) -> *mut u8 {
        let base = match slice.buffer {
            Buffer::Input => self.input,
            Buffer::Output => self.output,
            Buffer::Scratch => self.scratch.as_mut_ptr().cast(),
        };
        base.wrapping_add(slice.start * self.element_bytes)
    }

    /// The elements of a slice, to be read.
    #[inline]
    pub(crate) fn region(&mut self, slice: Slice) -> Region {
        Region::new(self.address(slice), slice.len * self.element_bytes)
    }

    /// The elements of a slice, to be written.
    #[inline]
    pub(crate) fn region_mut(&mut self, slice: Slice) -> RegionMut {
        RegionMut::new(self.address(slice), slice.len * self.element_bytes)
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
    ) {
        let count = into.len;
        let (left, right) = (self.address(left), self.address(right));
        let into = self.address(into);
        // SAFETY: slices of bound buffers, overlapping only as plans allow, which is what kernels
        // allow; aligned, since buffers are and slices count in elements.
        unsafe { kernel.reduce(left, right, into, count) };
    }
}
