//! Shared heap: memory of the program in the segment, which all ranks of the host map.
//!
//! A large message that lies in it is copied by its receiver as any other, but by a core and not
//! by the kernel, from where it lies in the receiver's own mapping ([`crate::endpoint`]). So it
//! costs no call of the system, and goes where the kernel refuses to copy between processes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::layout::LINE;
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

/// Free memory, as offsets. Whoever asks gets the first part that is long enough; what comes back
/// is one part again with its neighbours.
#[derive(Debug)]
struct FreeList {
    /// The address that offsets count from.
    base: usize,
    /// The ends of free parts by their starts. No two touch each other.
    parts: BTreeMap<usize, usize>,
}

impl FreeList {
    /// All of this is free.
    fn new(base: usize, all: Range<usize>) -> FreeList {
        let part = if all.is_empty() { None } else { Some((all.start, all.end)) };
        FreeList { base, parts: part.into_iter().collect() }
    }

    /// So many bytes whose address is a multiple of `alignment`, or `None` if there is no such
    /// part. They are whole lines: nobody else gets a part of theirs.
    fn take(&mut self, bytes: usize, alignment: usize) -> Option<Range<usize>> {
        let bytes = whole_lines(bytes)?;
        let fitting = |(&start, &end): (&usize, &usize)| {
            let address = self.base.checked_add(start)?;
            let at = address.checked_next_multiple_of(alignment.max(LINE))? - self.base;
            let part = at..at.checked_add(bytes)?;
            (part.end <= end).then_some((start, end, part))
        };
        let (start, end, part) = self.parts.iter().find_map(fitting)?;
        self.parts.remove(&start);
        self.note(start..part.start);
        self.note(part.end..end);
        Some(part)
    }

    /// Takes a part back.
    fn give_back(&mut self, part: Range<usize>) {
        let mut free = part;
        if let Some((&start, &end)) = self.parts.range(..free.start).next_back() {
            debug_assert!(end <= free.start, "given back twice");
            if end == free.start {
                free.start = start;
            }
        }
        if let Some(end) = self.parts.remove(&free.end) {
            free.end = end;
        }
        self.note(free);
    }

    /// The pages of which a part is not free, where `all` is what there was, as offsets.
    fn pages_in_use(&self, all: &Range<usize>, page: usize) -> Vec<Range<usize>> {
        let mut pages: Vec<Range<usize>> = Vec::new();
        let mut from = all.start;
        for (&start, &end) in self.parts.iter().chain([(&all.end, &all.end)]) {
            if from < start {
                let part = from / page * page..start.next_multiple_of(page);
                match pages.last_mut() {
                    Some(last) if part.start <= last.end => last.end = part.end,
                    _ => pages.push(part),
                }
            }
            from = end;
        }
        pages
    }

    fn note(&mut self, free: Range<usize>) {
        if !free.is_empty() {
            self.parts.insert(free.start, free.end);
        }
    }
}

/// Bytes of the lines that so many bytes take; one at least, so that each part has a place of its
/// own. `None` if there are no such numbers.
fn whole_lines(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(LINE)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    const ALL: Range<usize> = 4096..4096 + (1 << 20);
    /// Aligned to a page, as mappings are, and to no more.
    const BASE: usize = 0x7000_0000_1000;

    #[test]
    fn parts_are_apart_aligned_and_one_again_when_all_came_back() {
        let mut free = FreeList::new(BASE, ALL);
        let mut taken: Vec<Range<usize>> = Vec::new();
        // Numbers without a pattern, the same in each run.
        let mut state = 12345_usize;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..5000 {
            if taken.len() > 40 || (!taken.is_empty() && random(3) == 0) {
                let part = taken.swap_remove(random(taken.len()));
                free.give_back(part);
                continue;
            }
            let (bytes, alignment) = (random(60_000), 1 << random(17));
            let Some(part) = free.take(bytes, alignment) else { continue };
            let address = BASE + part.start;
            assert!(part.len() >= bytes.max(1) && address.is_multiple_of(alignment.max(LINE)));
            assert!(ALL.start <= part.start && part.end <= ALL.end);
            assert!(taken.iter().all(|it| it.end <= part.start || part.end <= it.start));
            taken.push(part);
        }
        assert!(!taken.is_empty());
        for part in taken {
            free.give_back(part);
        }
        assert_eq!(free.take(ALL.len(), 1), Some(ALL));
    }

    #[test]
    fn pages_in_use_have_a_part_that_is_not_free() {
        let (all, page) = (8192..8192 + 10 * 4096, 4096);
        let mut free = FreeList::new(0, all.clone());
        assert_eq!(free.pages_in_use(&all, page), []);
        let first = free.take(100, 1).unwrap();
        assert_eq!(free.pages_in_use(&all, page), std::slice::from_ref(&(8192..12288)));
        // From the first page into the third.
        free.take(8192, 1).unwrap();
        let near = 8192..8192 + 3 * page;
        assert_eq!(free.pages_in_use(&all, page), std::slice::from_ref(&near));
        free.take(64, 8 * page).unwrap();
        let far = 8 * page..9 * page;
        assert_eq!(free.pages_in_use(&all, page), [near.clone(), far]);
        free.give_back(first);
        assert_eq!(free.pages_in_use(&all, page)[0], near, "the second part is there");
        while free.take(64, 1).is_some() {}
        assert_eq!(free.pages_in_use(&all, page), [all]);
    }

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

    #[test]
    fn what_is_too_much_is_refused() {
        let mut free = FreeList::new(BASE, ALL);
        for bytes in [ALL.len() + 1, usize::MAX, usize::MAX - 100] {
            assert_eq!(free.take(bytes, 1), None);
        }
        assert_eq!(free.take(1, 1 << 40), None);
        assert_eq!(FreeList::new(BASE, 4096..4096).take(0, 1), None, "there is none at all");
    }
}
