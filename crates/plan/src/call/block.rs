//! Blocks: where the elements lie that a rank exchanges with another one.

use std::sync::Arc;

use super::Rank;
use crate::slice::{Buffer, Slice};

/// A run of elements in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// First element.
    pub start: usize,
    /// Number of elements.
    pub count: usize,
}

/// The blocks of all ranks, as far as a rank knows them: in a gatherv or a scatterv only the root
/// knows all, so nobody can pass on the block of another rank, or choose an algorithm by lengths.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// What the root knows: where the block of each rank lies in its buffer.
    All(Arc<[Block]>),
    /// What any other rank knows: the length of its own block.
    Own(usize),
}

/// A block exchanged with one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// The other rank; may be the calling rank itself.
    pub rank: Rank,
    /// First element in the input (of a destination) or the output (of a source).
    pub start: usize,
    /// Number of elements.
    pub count: usize,
}

impl Block {
    /// The elements in a buffer. A block of none may lie anywhere, also outside the buffer; its
    /// slice is at the start.
    pub fn slice(self, buffer: Buffer) -> Slice {
        let start = if self.count == 0 { 0 } else { self.start };
        Slice { buffer, start, len: self.count }
    }
}

impl Blocks {
    /// The blocks of all ranks: none where they are not known.
    pub fn all(&self) -> &[Block] {
        match self {
            Self::All(blocks) => blocks,
            Self::Own(_) => &[],
        }
    }

    /// The length of the block of `rank`, which is the calling rank.
    pub fn own(&self, rank: Rank) -> usize {
        match self {
            Self::All(blocks) => blocks[rank.index()].count,
            Self::Own(count) => *count,
        }
    }
}

impl Neighbour {
    /// The elements, without the rank.
    pub fn block(&self) -> Block {
        Block { start: self.start, count: self.count }
    }
}
