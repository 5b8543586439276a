//! Layout of a segment: offsets computed from the number of ranks, without access to memory.
//!
//! ```text
//!  | header page | rank blocks (one each) | lanes (ranks x ranks) | arenas (one each) | heaps |
//! ```
//!
//! The file behind a segment is sparse: a page of a ring, an arena or a heap that no rank has
//! touched costs address space only. Rings are grouped by receiver, so that the rings that one rank
//! polls are contiguous.
//!
//! Where a world has ranks on other hosts, the segment of a host has blocks for all ranks, so that
//! a rank has the same number everywhere. It has rings and arenas only for its *local ranks*,
//! counted in their order. Each local rank also has a segment of its own, with a ring to and from
//! every rank on another host, and one arena for the messages that arrive.

mod ring;

use std::ops::Range;

use crate::{Error, Result};
pub use ring::Ring;

/// Bytes of a cache line: the unit in which cores exchange memory.
pub const LINE: usize = 64;
/// Bytes of a page: header, rank blocks, rings and arenas start on page borders.
pub const PAGE: usize = 4096;
/// Most ranks on one machine: the address space of the rings is sized for this number.
pub const MAX_RANKS: usize = 1024;
/// Leases per rank: how many large messages a rank may expose at once.
pub const LEASES_PER_RANK: usize = 1024;

/// Bytes of the block of a rank: one line for the doorbell, one for its state, then one for each
/// lease.
const RANK_BLOCK: usize = page_up(2 * LINE + LEASES_PER_RANK * LINE);
/// Annexes of a ring between ranks that share cores. All annexes together should fit a cache; a
/// sender that finds no free annex puts its message into a block.
const MOST_ANNEXES: usize = 16;
/// Bytes of an arena where the system allows little memory, and where there are many ranks.
const SMALL_ARENA: usize = 8 << 20;
/// Bytes before the cells of a ring: one line that the receiver writes, and one that the sender
/// writes.
pub const LANE_HEAD: usize = 2 * LINE;
/// Bytes of a cell's stamp.
pub const STAMP_BYTES: usize = 8;

/// Rounds up to a whole number of pages.
const fn page_up(bytes: usize) -> usize {
    bytes.div_ceil(PAGE) * PAGE
}

/// Sizes and offsets of a segment, all in bytes unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    ranks: usize,
    seats: usize,
    lanes: usize,
    arenas: usize,
    /// The form of each ring where each rank has its own core, and where ranks share cores; the
    /// offsets are 0. A sender that shares a core with its receiver profits from being far ahead of
    /// it, since each of the two runs for some time. But the first use of each cell costs a part of
    /// a page, and the number of rings grows with the number of ranks. A sender with its own core
    /// is ahead by a stream of messages at most, often 64: beyond the end of its ring each takes
    /// twice as long. Cells that are far apart, and few enough for a cache, are faster then.
    dedicated: Ring,
    oversubscribed: Ring,
    arena_bytes: usize,
    heap_bytes: usize,
}

impl Layout {
    /// The layout for this many ranks. The rings become smaller with more ranks, to bound the total
    /// size.
    ///
    /// # Errors
    /// [`Error::Ranks`] unless `1 <= ranks <= MAX_RANKS`.
    pub fn new(ranks: usize) -> Result<Layout> {
        Layout::of_host(ranks, ranks)
    }

    /// The layout for a host with `seats` of the ranks.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn of_host(ranks: usize, seats: usize) -> Result<Layout> {
        let ((few, cell_bytes), (many, short_bytes), arena_bytes, heap_bytes) = match ranks {
            1..=4 => ((64, 8192 + LINE), (512, 1024 + 2 * LINE), 64 << 20, 256 << 20),
            5..=8 => ((64, 8192 + LINE), (256, 1024 + 2 * LINE), 64 << 20, 256 << 20),
            9..=16 => ((32, 8192 + LINE), (128, 1024 + 2 * LINE), 64 << 20, 256 << 20),
            17..=64 => ((16, 4096 + LINE), (128, 3 * LINE), 32 << 20, 64 << 20),
            65..=MAX_RANKS => ((8, 1024 + LINE), (16, 3 * LINE), 8 << 20, 8 << 20),
            _ => return Err(Error::Ranks { asked: ranks, most: MAX_RANKS }),
        };
        let dedicated = Ring::of_cells(0, few, cell_bytes);
        let annexes = (few.min(MOST_ANNEXES), cell_bytes);
        let oversubscribed = Ring::with_annexes(0, (many, short_bytes), annexes);
        let (lanes, arenas) = (seats * seats, seats);
        Ok(Layout {
            ranks,
            seats,
            lanes,
            arenas,
            dedicated,
            oversubscribed,
            arena_bytes,
            heap_bytes,
        })
    }

    /// The same layout without heaps: for ranks that share all their memory in any case.
    #[must_use]
    pub fn without_heaps(self) -> Layout {
        Layout { heap_bytes: 0, ..self }
    }

    /// The next smaller form, for a system that allows less memory. First without heaps, so that
    /// the memory that programs allocate is ordinary memory; then with small arenas, so that fewer
    /// messages and channels have room at once. `None` if this form is the smallest.
    #[must_use]
    pub fn smaller(self) -> Option<Layout> {
        if self.heap_bytes > 0 {
            Some(self.without_heaps())
        } else if self.arena_bytes > SMALL_ARENA {
            Some(Layout { arena_bytes: SMALL_ARENA, ..self })
        } else {
            None
        }
    }

    /// All forms of the layout, from this one to the smallest.
    pub fn forms(self) -> impl Iterator<Item = Layout> {
        std::iter::successors(Some(self), |form| form.smaller())
    }

    /// The layout of the segment that one rank has for ranks on other hosts: rings to and from each
    /// of them, and an arena of `arena_cells` cells. These cells are longer than those in shared
    /// memory: each is a network message, which costs at least one system call. With few ranks each
    /// ring has more cells, so that a rank that shares its core with a receiver gets far before it
    /// must wait.
    ///
    /// # Errors
    /// As [`Layout::new`].
    pub fn elsewhere(ranks: usize, arena_cells: usize) -> Result<Layout> {
        let layout = Layout::new(ranks)?;
        let (cells, cell_bytes) = match ranks {
            0..=16 => (64, (32 << 10) + LINE),
            17..=64 => (16, (16 << 10) + LINE),
            _ => (8, (4 << 10) + LINE),
        };
        let dedicated = Ring::of_cells(0, cells, cell_bytes);
        let arena_bytes = page_up(arena_cells * cell_bytes);
        let lanes = 2 * ranks;
        let layout = layout.without_heaps();
        Ok(Layout {
            seats: 1,
            lanes,
            arenas: 1,
            dedicated,
            oversubscribed: dedicated,
            arena_bytes,
            ..layout
        })
    }

    /// Ranks of the world.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Ranks that share the segment.
    pub fn seats(&self) -> usize {
        self.seats
    }

    /// The ring at an offset. `is_oversubscribed` says whether its ranks share cores.
    pub fn lane_at(&self, offset: usize, is_oversubscribed: bool) -> Ring {
        Ring { offset, ..if is_oversubscribed { self.oversubscribed } else { self.dedicated } }
    }

    /// Bytes of a cell that holds the longest message of one cell, with its stamp.
    pub fn cell_bytes(&self) -> usize {
        self.dedicated.cell_bytes
    }

    /// Bytes of the arena of one rank, from which its channels are allocated.
    pub fn arena_bytes(&self) -> usize {
        self.arena_bytes
    }

    /// Bytes of one ring with its head, in whole pages.
    pub fn lane_bytes(&self) -> usize {
        page_up(self.dedicated.bytes().max(self.oversubscribed.bytes()))
    }

    /// Offset of the block of a rank.
    #[inline]
    pub fn rank_block(&self, rank: usize) -> usize {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        PAGE + rank * RANK_BLOCK
    }

    /// Offset of the ring from one seat to another.
    pub fn lane(&self, from: usize, to: usize) -> usize {
        assert!(from < self.seats && to < self.seats, "lane {from} -> {to} of {}", self.seats);
        self.nth_lane(to * self.seats + from)
    }

    /// Offset of the ring to a rank on another host, where ranks have such rings.
    pub fn lane_to(&self, rank: usize) -> usize {
        self.nth_lane(2 * rank)
    }

    /// Offset of the ring from a rank on another host, where ranks have such rings.
    pub fn lane_from(&self, rank: usize) -> usize {
        self.nth_lane(2 * rank + 1)
    }

    /// The range of all rings.
    pub fn lanes(&self) -> Range<usize> {
        let start = PAGE + self.ranks * RANK_BLOCK;
        start..start + self.lanes * self.lane_bytes()
    }

    fn nth_lane(&self, place: usize) -> usize {
        assert!(place < self.lanes, "lane {place} of {}", self.lanes);
        self.lanes().start + place * self.lane_bytes()
    }

    /// Offset of the arena of a seat.
    pub fn arena(&self, seat: usize) -> usize {
        assert!(seat < self.arenas, "arena {seat} of {}", self.arenas);
        self.lanes().end + seat * self.arena_bytes
    }

    /// The range of the heaps of all seats, in which programs allocate memory; empty if there is
    /// none.
    pub fn heaps(&self) -> Range<usize> {
        let start = self.arena(self.arenas - 1) + self.arena_bytes;
        start..start + self.arenas * self.heap_bytes
    }

    /// The range of the heap of one seat.
    pub fn heap(&self, seat: usize) -> Range<usize> {
        assert!(seat < self.arenas, "heap {seat} of {}", self.arenas);
        let start = self.heaps().start + seat * self.heap_bytes;
        start..start + self.heap_bytes
    }

    /// Bytes of the whole segment: address space, not memory in use.
    pub fn total(&self) -> usize {
        self.heaps().end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_on_page_borders() {
        for ranks in [1, 2, 3, 16, 17, 64, 65, 1024] {
            let layout = Layout::new(ranks).unwrap();
            let last = ranks - 1;
            let [dedicated, oversubscribed] =
                [false, true].map(|oversubscribed| layout.lane_at(0, oversubscribed));
            assert!(dedicated.is_sound() && oversubscribed.is_sound());
            assert_eq!(
                dedicated.payload(32),
                oversubscribed.payload(32),
                "what is short does not change"
            );
            assert!(layout.rank_block(last) + RANK_BLOCK <= layout.lane(0, 0));
            assert!(layout.lane(last, last) + layout.lane_bytes() <= layout.arena(0));
            assert!(layout.arena(last) + layout.arena_bytes() <= layout.heap(0).start);
            assert_eq!(layout.heap(last).end, layout.total());
            assert_eq!(layout.without_heaps().total(), layout.heap(0).start);
            let heap = layout.heap(last).start;
            for offset in
                [layout.rank_block(last), layout.lane(last, last), layout.arena(last), heap]
            {
                assert_eq!(offset % PAGE, 0);
            }
        }
    }

    #[test]
    fn a_host_has_lanes_for_its_own_and_blocks_for_all() {
        let (host, all) = (Layout::of_host(6, 2).unwrap(), Layout::new(6).unwrap());
        assert_eq!((host.ranks(), host.seats(), host.rank_block(5)), (6, 2, all.rank_block(5)));
        assert!(host.rank_block(5) + RANK_BLOCK <= host.lane(0, 0));
        assert!(host.lane(1, 1) + host.lane_bytes() <= host.arena(0));
        assert_eq!(host.heaps().start, host.arena(1) + host.arena_bytes());
        assert_eq!((host.total(), host.heap(1).end), (host.heaps().end, host.heaps().end));
        let own = Layout::elsewhere(6, 10).unwrap();
        let longest = |layout: &Layout| layout.lane_at(0, false).payload(32);
        assert!(longest(&own) >= longest(&host), "what is short here is short there");
        assert!(own.lane_to(5) < own.lane_from(5) && own.lane_from(5) < own.arena(0));
        assert!(own.arena(0) + 10 * own.cell_bytes() <= own.total() && own.heaps().is_empty());
    }

    #[test]
    fn each_form_is_smaller_than_the_one_before_and_has_the_same_lanes() {
        for ranks in [1, 8, 16, 64, 100] {
            let forms: Vec<_> = Layout::new(ranks).unwrap().forms().collect();
            assert!(forms.is_sorted_by(|one, next| one.total() > next.total()), "{forms:?}");
            assert!(forms.iter().all(|form| form.lanes() == forms[0].lanes()));
            let last = forms[forms.len() - 1];
            assert!(last.heaps().is_empty() && last.arena_bytes() == SMALL_ARENA, "{last:?}");
        }
    }

    #[test]
    fn no_ranks_and_too_many_are_refused() {
        assert!(Layout::new(0).is_err());
        assert!(Layout::new(100_000).is_err());
    }
}
