//! Free list: which parts of a heap are free.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::layout::LINE;

/// Free memory, as offsets. Whoever asks gets the first part that is long enough; what comes back
/// is one part again with its neighbours.
#[derive(Debug)]
pub(crate) struct FreeList {
    /// The address that offsets count from.
    base: usize,
    /// The ends of free parts by their starts. No two touch each other.
    parts: BTreeMap<usize, usize>,
}

impl FreeList {
    /// All of this is free.
    pub(crate) fn new(base: usize, all: Range<usize>) -> FreeList {
        let part = if all.is_empty() { None } else { Some((all.start, all.end)) };
        FreeList { base, parts: part.into_iter().collect() }
    }

    /// So many bytes whose address is a multiple of `alignment`, or `None` if there is no such
    /// part. They are whole lines: nobody else gets a part of theirs.
    pub(crate) fn take(&mut self, bytes: usize, alignment: usize) -> Option<Range<usize>> {
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
    pub(crate) fn give_back(&mut self, part: Range<usize>) {
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

    /// Gives a taken part another length, where it is; the new end. `None` if there is no room.
    pub(crate) fn resize(&mut self, part: Range<usize>, bytes: usize) -> Option<usize> {
        let end = part.start.checked_add(whole_lines(bytes)?)?;
        if end < part.end {
            self.give_back(end..part.end);
        } else if end > part.end {
            let free_end = *self.parts.get(&part.end).filter(|&&free_end| end <= free_end)?;
            self.parts.remove(&part.end);
            self.note(end..free_end);
        }
        Some(end)
    }

    /// The pages of which a part is not free, where `all` is what there was, as offsets.
    pub(crate) fn pages_in_use(&self, all: &Range<usize>, page: usize) -> Vec<Range<usize>> {
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
    fn a_part_grows_into_what_is_free_behind_it() {
        let mut free = FreeList::new(BASE, ALL);
        let first = free.take(100, 1).unwrap();
        assert_eq!(first, ALL.start..ALL.start + 128);
        assert_eq!(free.resize(first.clone(), 1000), Some(ALL.start + 1024));
        let second = free.take(64, 1).unwrap();
        assert_eq!(second.start, ALL.start + 1024);
        let first = first.start..ALL.start + 1024;
        assert_eq!(free.resize(first.clone(), 1025), None, "the second part is there");
        assert_eq!(free.resize(first.clone(), 64), Some(ALL.start + 64));
        assert_eq!(free.take(900, 1), Some(ALL.start + 64..ALL.start + 1024));
        assert_eq!(free.resize(second.clone(), ALL.end - second.start + 1), None);
        assert_eq!(free.resize(second.clone(), ALL.end - second.start), Some(ALL.end));
        assert_eq!(free.take(1, 1), None);
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
