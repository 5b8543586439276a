//! Prefaulting: the sender populates the pages of an eager ring before it first writes to them.
//!
//! To get pages one by one takes several times as long as to get some of them at once. That matters
//! where ranks share cores: there many cells share a page, rings are long, and there are as many
//! rings as pairs of ranks. Only their rings are seen to, which are those that have annexes.
//!
//! First a few pages, then each time as many as there are already: so a ring that is hardly used
//! takes little memory, and one that is used has all of it after a few steps.

use super::{MappedRing, Ring};
use crate::layout::{LANE_HEAD, PAGE};

/// Bytes that are seen to at first.
const PREFAULT_MIN_BYTES: usize = 4 * PAGE;

/// What of a ring has its pages.
pub(super) struct Prefault {
    /// Cells before this one, as they lie: rings begin with the first one.
    cells: usize,
    has_annexes: bool,
}

impl Prefault {
    /// Of a ring that is new.
    pub(super) fn of(ring: &Ring) -> Prefault {
        let is_seen_to = ring.annexes > 0;
        Prefault { cells: if is_seen_to { 0 } else { ring.cells }, has_annexes: !is_seen_to }
    }

    /// Cells that have their pages, or get them one by one.
    pub(super) fn cells(&self) -> u64 {
        self.cells as u64
    }

    /// Sees to more cells if so many have been filled, and the next has no pages. Says how many
    /// have them; nothing once it is all of them.
    pub(super) fn prefault_cells(&mut self, place: &MappedRing, filled: u64) -> Option<u64> {
        let ring = &place.ring;
        if filled >= self.cells() && self.cells < ring.cells {
            let more = self.cells.max(PREFAULT_MIN_BYTES.div_ceil(ring.cell_bytes));
            let upto = ring.cells.min(self.cells + more);
            let at = |cell| ring.offset + LANE_HEAD + cell * ring.cell_bytes;
            place.segment.prepare(at(self.cells)..at(upto));
            self.cells = upto;
        }
        (self.cells < ring.cells).then(|| self.cells())
    }

    /// Sees to all annexes, when the first one is to be filled.
    #[inline]
    pub(super) fn prefault_overflow(&mut self, place: &MappedRing) {
        if !self.has_annexes {
            self.has_annexes = true;
            let ring = &place.ring;
            place.segment.prepare(ring.offset + ring.annexes_at()..ring.offset + ring.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::SharedSegment;

    const CELLS: usize = 128;

    fn place(annexes: usize) -> MappedRing {
        let segment = Arc::new(SharedSegment::private(1).unwrap());
        let ring = Ring::with_annexes(segment.layout().arena(0), (CELLS, 1152), (annexes, 8256));
        MappedRing::new(segment, ring)
    }

    #[test]
    fn each_time_as_many_pages_as_there_are_already() {
        let place = place(16);
        let mut pages = Prefault::of(&place.ring);
        let mut steps = vec![pages.cells()];
        for filled in 0..2 * CELLS as u64 {
            let seen_to = pages.prefault_cells(&place, filled);
            assert!(seen_to.is_none_or(|cells| cells > filled));
            steps.push(pages.cells());
        }
        steps.dedup();
        assert_eq!(steps, [0, 15, 30, 60, 120, 128]);
    }

    #[test]
    fn annexes_all_at_once() {
        let place = place(16);
        let mut pages = Prefault::of(&place.ring);
        for _ in 0..2 {
            pages.prefault_overflow(&place);
            assert!(pages.has_annexes && pages.cells == 0);
        }
    }

    #[test]
    fn rings_without_annexes_are_left_alone() {
        let place = place(0);
        let mut pages = Prefault::of(&place.ring);
        assert!(pages.has_annexes && pages.cells == CELLS);
        assert_eq!(pages.prefault_cells(&place, 0), None);
    }
}
