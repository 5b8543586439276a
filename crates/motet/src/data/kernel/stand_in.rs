//! A kernel that stands for another one where only the time counts.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Kernel, looped};

/// Combines bytes, and knows how many of them an element has.
struct StandIn {
    element_bytes: usize,
    bytes: Box<dyn Kernel>,
}

/// A kernel for elements of so many bytes, any bytes, which costs what a sum costs.
pub(crate) fn stand_in(element_bytes: usize) -> Box<dyn Kernel> {
    Box::new(StandIn { element_bytes, bytes: looped(|left: u8, right: u8| left ^ right) })
}

impl Kernel for StandIn {
    fn alignment(&self) -> Option<usize> {
        Some(1)
    }

    unsafe fn reduce(&self, left: *const u8, right: *const u8, into: *mut u8, count: usize) {
        // SAFETY: passed on: so many elements are so many bytes, and all are valid.
        unsafe { self.bytes.reduce(left, right, into, count * self.element_bytes) }
    }
}
