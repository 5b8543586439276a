//! Finds the heap from which this process takes its large blocks.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::CStr;
use std::hint::black_box;
use std::mem;

use super::{BLOCK_MIN_BYTES, HeapDescription, SharedAllocator};
use crate::Region;

/// The function by which the library that is loaded before a program describes its heap.
pub const DESCRIPTION_SYMBOL: &CStr = c"motet_process_heap";

/// The type of that function: the description, or null.
type Describe = unsafe extern "C" fn() -> *const HeapDescription;

/// The heap of this process, if its large blocks lie in one: that of [`SharedAllocator`] if it is
/// the global allocator of the program, or that of the library which `motet run --shared-heap`
/// has loaded.
#[must_use]
pub fn installed() -> Option<HeapDescription> {
    own().or_else(preloaded)
}

/// Asks the global allocator for a large block, and looks where it lies.
fn own() -> Option<HeapDescription> {
    let block = black_box(Vec::<u8>::with_capacity(BLOCK_MIN_BYTES));
    let heap = SharedAllocator::heap();
    heap.contains(block.as_ptr()).then(|| heap.description()).flatten()
}

fn preloaded() -> Option<HeapDescription> {
    // SAFETY: a constant name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, DESCRIPTION_SYMBOL.as_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: a function of this name is the one of Motet, which has this type.
    let describe = unsafe { mem::transmute::<*mut libc::c_void, Describe>(found) };
    // SAFETY: it has no demands.
    let description = unsafe { describe() };
    // SAFETY: null, or a description that lives as long as the process; all versions begin with
    // their number.
    let version = unsafe { description.cast::<u32>().as_ref() }?;
    if *version != HeapDescription::VERSION {
        return None;
    }
    // SAFETY: as above, and of this version.
    let description = unsafe { description.as_ref() }.copied()?;
    // A program may have another allocator all the same.
    // SAFETY: a new block, which is only looked at.
    let block = unsafe { libc::malloc(BLOCK_MIN_BYTES) };
    let lies_there = description.offset_of(Region::new(block.cast(), BLOCK_MIN_BYTES)).is_some();
    // SAFETY: the block from above.
    unsafe { libc::free(block) };
    lies_there.then_some(description)
}
