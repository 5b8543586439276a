//! The ring: each position sends to the next and receives from the one before.
//!
//! ```text
//!   0 -> 1 -> 2 -> 3
//!   ^______________|
//! ```

use std::ops::Range;

use crate::call::Rank;

/// The ring of all ranks, seen from one of them. Position 0 is a given rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    first: usize,
    size: usize,
    /// The own position.
    pub(crate) position: usize,
}

impl Ring {
    /// The ring of `ranks` ranks with `first` at position 0, seen from `me`.
    pub(crate) fn new(ranks: u32, first: Rank, me: Rank) -> Self {
        let size = ranks as usize;
        let position = (me.index() + size - first.index()) % size;
        Self { first: first.index(), size, position }
    }

    /// How many positions there are.
    pub(crate) fn size(self) -> usize {
        self.size
    }

    /// The position `distance` steps before the own one, for a distance up to twice the size.
    pub(crate) fn back(self, distance: usize) -> usize {
        (self.position + 2 * self.size - distance) % self.size
    }

    /// The rank at a position.
    pub(crate) fn rank(self, position: usize) -> Rank {
        Rank::from_index((position + self.first) % self.size)
    }

    /// The ranks at a run of positions, as runs of ranks: the second begins at rank 0, and is
    /// empty unless the run goes on past the last rank.
    pub(crate) fn ranks(self, positions: Range<usize>) -> (Range<usize>, Range<usize>) {
        let start = (self.first + positions.start) % self.size;
        let end = start + positions.len();
        (start..end.min(self.size), 0..end.saturating_sub(self.size))
    }

    /// The position after the own one.
    pub(crate) fn next(self) -> usize {
        (self.position + 1) % self.size
    }

    /// The position before the own one.
    pub(crate) fn previous(self) -> usize {
        self.back(1)
    }
}
