//! Shared heap: memory of the program in the segment, which all ranks of the host map.
//!
//! A large message that lies in it is copied by its receiver as any other, but by a core and not
//! by the kernel, from where it lies in the receiver's own mapping ([`crate::endpoint`]). So it
//! costs no call of the system, and goes where the kernel refuses to copy between processes.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::free_list::FreeList;
use crate::{SharedSegment, forking, poison};

/// What is given back is given to the system, too, if it is longer than this. To get pages again
/// takes some time.
const KEPT_MAX_BYTES: usize = 128 << 10;

/// The memory of one rank that its program may ask for.
pub struct SharedHeap {
    segment: Arc<SharedSegment>,
    free: Mutex<FreeList>,
    /// Where it is in the segment.
    all: Range<usize>,
}

impl SharedHeap {
    /// That of a seat. Ranks that are threads have none, since they share all memory. There must be
    /// one for each seat.
    pub(crate) fn of(segment: &Arc<SharedSegment>, seat: usize) -> Arc<SharedHeap> {
        let base = segment.at(0).addr().get();
        let all = segment.layout().heap(seat);
        let free = Mutex::new(FreeList::new(base, all.clone()));
        let heap = Arc::new(SharedHeap { segment: Arc::clone(segment), free, all });
        heap.mark(&heap.all, poison::forbid);
        forking::copy_in_children(Arc::<SharedHeap>::downgrade(&heap));
        heap
    }

    /// Marks a part of it.
    fn mark(&self, part: &Range<usize>, mark: fn(*const u8, usize)) {
        if !part.is_empty() {
            mark(self.segment.at(part.start).as_ptr(), part.len());
        }
    }

    /// So many bytes at an address that is a multiple of `alignment`, a power of two, or `None` if
    /// there is no room.
    /// What is in them is nobody's, but it is there.
    pub fn allocate(
        self: &Arc<SharedHeap>,
        bytes: usize,
        alignment: usize,
    ) -> Option<SharedHeapBlock> {
        let part = self.free().take(bytes, alignment)?;
        self.mark(&part, poison::allow);
        Some(SharedHeapBlock { heap: Arc::clone(self), part })
    }

    fn free(&self) -> MutexGuard<'_, FreeList> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl forking::Heap for SharedHeap {
    fn pages_in_use(&self, page: usize) -> Vec<Range<usize>> {
        let base = self.segment.at(0).expose_provenance().get();
        let pages = self.free().pages_in_use(&self.all, page);
        pages.into_iter().map(|part| base + part.start..base + part.end).collect()
    }
}

impl Drop for SharedHeap {
    /// What is mapped there next is another's.
    fn drop(&mut self) {
        self.mark(&self.all, poison::allow);
    }
}

/// Memory of a heap. It goes back when this is dropped, and is there until then, also when the
/// rank has left its world.
pub struct SharedHeapBlock {
    heap: Arc<SharedHeap>,
    part: Range<usize>,
}

impl SharedHeapBlock {
    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.heap.segment.at(self.part.start)
    }
}

impl Drop for SharedHeapBlock {
    fn drop(&mut self) {
        // While it is not free, so that nobody has got it yet.
        if self.part.len() > KEPT_MAX_BYTES {
            self.heap.segment.forget(self.part.clone());
        }
        self.heap.mark(&self.part, poison::forbid);
        self.heap.free().give_back(self.part.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn memory_is_there_until_it_is_dropped_and_long_parts_go_back_to_the_system() {
        let (segment, _file) = SharedSegment::shared(2).unwrap();
        let segment = Arc::new(segment);
        let heap = SharedHeap::of(&segment, 1);
        let memory = heap.allocate(1 << 20, 4096).unwrap();
        let offset = memory.part.start;
        assert!(segment.layout().heap(1).contains(&offset));
        assert!(memory.start().addr().get().is_multiple_of(4096));
        segment.word32(offset + 8).store(7, Ordering::Relaxed);
        drop(segment);
        let segment = Arc::clone(&heap.segment);
        drop(heap);
        assert_eq!(segment.word32(offset + 8).load(Ordering::Relaxed), 7);
        let heap = Arc::clone(&memory.heap);
        drop(memory);
        // Nobody but this test looks at what has been given back.
        poison::allow(heap.segment.at(offset).as_ptr(), 1 << 20);
        assert_eq!(segment.word32(offset + 8).load(Ordering::Relaxed), 0, "the system has it");
        assert_eq!(heap.allocate(8, 1).unwrap().part.start, offset, "and it is free again");
    }

    #[test]
    fn ranks_that_are_threads_have_none() {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        assert!(SharedHeap::of(&segment, 0).allocate(8, 1).is_none());
    }
}
