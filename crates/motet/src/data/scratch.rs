//! Memory that an operation owns: scratch memory of a plan, and streams of packed data.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::alloc::{self, Layout};
use std::ptr::NonNull;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// The largest alignment that an element of so many bytes can have.
fn alignment_of(element_bytes: usize) -> usize {
    if element_bytes == 0 { 1 } else { 1 << element_bytes.trailing_zeros() }
}

/// The size and the start of memory of so many bytes are multiples of this.
fn unit_of(bytes: usize) -> usize {
    if bytes <= Scratch::LITTLE { Scratch::ALIGNMENT } else { LINE }
}

/// Memory that an execution owns, or the streams of an operation. It is held as an address, not as
/// a box: transfers use it while its owner is moved and borrowed.
///
/// It is aligned for its elements, whatever their type: the size of a type is a multiple of its
/// alignment. A large block consists of whole cache lines and shares none with other data; a small
/// one, of which there may be a million, takes no more than it needs. It is allocated at first use:
/// an init that opens no channels yet need not touch its pages.
pub(crate) struct Scratch {
    /// `None` until it is allocated.
    pub(crate) start: Option<NonNull<u8>>,
    pub(crate) bytes: usize,
    pub(crate) element_bytes: usize,
}

impl Scratch {
    /// The greatest size in bytes that is not rounded up to cache lines.
    const LITTLE: usize = 32;
    /// The alignment in bytes that every basic element accepts.
    const ALIGNMENT: usize = 16;

    pub(crate) fn new(elements: usize, element_bytes: usize) -> Scratch {
        let bytes = elements * element_bytes;
        Scratch { start: None, bytes: bytes.next_multiple_of(unit_of(bytes)), element_bytes }
    }

    /// Allocates it, if it is not there yet.
    pub(crate) fn want(&mut self) {
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
    pub(crate) fn address(&self) -> *mut u8 {
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
