//! The global allocator of Rust programs that take their large blocks from the process heap.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};

use super::{BLOCK_MIN_BYTES, ProcessHeap};

/// The heap of this process.
static HEAP: ProcessHeap = ProcessHeap::new();

/// An allocator for Rust programs. Blocks of 16 KiB and more lie in memory that the other ranks of
/// the host can map; all other blocks are those of [`System`].
///
/// Ranks that are processes then copy large messages and operands once, by a core, without a system
/// call, wherever the program has allocated them. For ranks that are threads it changes nothing.
/// Memory on the stack and in statics is as before.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: motet_fabric::process_heap::SharedAllocator =
///     motet_fabric::process_heap::SharedAllocator;
///
/// let values = vec![1.0_f64; 100_000];
/// assert_eq!(values.iter().sum::<f64>(), 100_000.0);
/// ```
///
/// The heap is as large as the memory of the machine, and takes memory as its pages are written.
/// Blocks that find no room, and all blocks where the address space or the length of files is
/// limited (`ulimit -v`, `ulimit -f`), come from the system. `fork` copies all blocks, so that
/// parent and child do not see each other's writes; it takes time and memory in proportion.
/// A child allocates from the system only.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedAllocator;

impl SharedAllocator {
    /// The heap from which large blocks come.
    pub(super) fn heap() -> &'static ProcessHeap {
        &HEAP
    }
}

fn block(layout: Layout, zeroed: bool) -> Option<NonNull<u8>> {
    HEAP.guard();
    let is_large = layout.size() >= BLOCK_MIN_BYTES;
    is_large.then(|| HEAP.allocate(layout.size(), layout.align(), zeroed)).flatten()
}

// SAFETY: blocks of the heap are disjoint, as long and aligned as asked for, and stay until they
// are freed; all others are those of the system's allocator. The heap tells by the address which
// is which.
unsafe impl GlobalAlloc for SharedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match block(layout, false) {
            Some(block) => block.as_ptr(),
            // SAFETY: passed on.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match block(layout, true) {
            Some(block) => block.as_ptr(),
            // SAFETY: passed on.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match NonNull::new(start).filter(|_| HEAP.contains(start)) {
            // SAFETY: passed on.
            Some(block) => unsafe { HEAP.free(block) },
            // SAFETY: passed on.
            None => unsafe { System.dealloc(start, layout) },
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let block = NonNull::new(start).filter(|_| HEAP.contains(start));
        if block.is_none() && bytes < BLOCK_MIN_BYTES {
            // SAFETY: passed on.
            return unsafe { System.realloc(start, layout, bytes) };
        }
        if block.is_some_and(|block| bytes >= BLOCK_MIN_BYTES && HEAP.resize(block, bytes)) {
            return start;
        }
        let Ok(new) = Layout::from_size_align(bytes, layout.align()) else {
            return ptr::null_mut();
        };
        // SAFETY: the length is not 0, by the caller's promise.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            // SAFETY: both have so many bytes, and the new block overlaps nothing.
            unsafe { moved.copy_from_nonoverlapping(start, layout.size().min(bytes)) };
            // SAFETY: passed on.
            unsafe { self.dealloc(start, layout) };
        }
        moved
    }
}
