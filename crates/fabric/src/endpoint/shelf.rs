//! Where blocks lie: so many of one length, in a part of a rank's arena.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::packet::Words;
use crate::Segment;
use crate::channel::Arena;
use crate::layout::{LINE, PAGE};

/// Where a block lies: offsets in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The word that counts those who are still to read it.
    pub(super) readers: usize,
    /// The word that counts the bytes that are there, of a block that is read while it is filled;
    /// 0 of one in which all is there when somebody hears of it.
    pub(super) filled: usize,
    /// Its bytes.
    pub(super) data: usize,
}

impl Block {
    /// As the words of a packet say.
    pub(super) fn from_words([readers, filled, data]: Words) -> Block {
        Block { readers: readers as usize, filled: filled as usize, data: data as usize }
    }

    /// As a packet says it.
    pub(super) fn words(self) -> Words {
        [self.readers as u64, self.filled as u64, self.data as u64]
    }
}

/// What blocks lie on a shelf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Bytes of the longest message that one takes.
    pub(super) longest: usize,
    /// How many there are, if there is room.
    pub(super) most: usize,
    /// All of them take at most such a share of the arena.
    pub(super) share: usize,
}

impl Sizes {
    /// Bytes of the words that count readers, which lie together: whoever looks for a block that
    /// is free asks one after the other.
    fn counts(self) -> usize {
        (self.most * size_of::<u32>()).next_multiple_of(LINE)
    }

    /// Bytes from one block to the next. Of messages that are shorter the starts lie in different
    /// places of a cache then.
    fn stride(self) -> usize {
        LINE + self.longest + PAGE + LINE
    }
}

/// The blocks of one length that a rank has.
#[derive(Debug)]
pub(super) struct Shelf {
    sizes: Sizes,
    /// Those that have been used; the one that was used last comes last.
    used: Vec<Block>,
    /// The part of the arena that is theirs, once there are any.
    place: Option<Range<usize>>,
}

impl Shelf {
    pub(super) fn new(sizes: Sizes) -> Shelf {
        Shelf { sizes, used: Vec::new(), place: None }
    }

    /// Bytes of the longest message that one of its blocks takes.
    pub(super) fn longest(&self) -> usize {
        self.sizes.longest
    }

    /// Bytes of the arena that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.place.as_ref().map_or(0, Range::len)
    }

    /// The blocks that have been used.
    #[cfg(test)]
    pub(super) fn used(&self) -> &[Block] {
        &self.used
    }

    /// A block that nobody reads, for so many to read; the one that was used last, if there are
    /// several, as it is in the cache.
    pub(super) fn lend(
        &mut self,
        arena: &mut Arena,
        segment: &Segment,
        readers: u32,
    ) -> Option<Block> {
        let is_free = |block: &Block| segment.word32(block.readers).load(Ordering::Acquire) == 0;
        let block = match self.used.iter().rposition(is_free) {
            Some(at) => self.used.remove(at),
            None => self.unused(arena, segment.layout().arena_bytes())?,
        };
        self.used.push(block);
        segment.word32(block.readers).store(readers, Ordering::Relaxed);
        Some(block)
    }

    /// One that has not been used, if there is room in the arena, which has so many bytes.
    fn unused(&mut self, arena: &mut Arena, bytes: usize) -> Option<Block> {
        let Sizes { longest, most, share } = self.sizes;
        let (counts, stride) = (self.sizes.counts(), self.sizes.stride());
        if self.place.is_none() {
            let blocks = most.min((bytes / share).checked_sub(counts)? / stride);
            let bytes = counts + blocks * stride;
            let start = arena.cut_for_good(bytes)?;
            self.place = Some(start..start + bytes);
            self.used.reserve_exact(blocks); // no allocation when a message is sent later
        }
        let (place, number) = (self.place.as_ref()?, self.used.len());
        let filled = place.start + counts + number * stride;
        let (readers, data) = (place.start + number * size_of::<u32>(), filled + LINE);
        let fits = number < most && data + longest <= place.end;
        fits.then_some(Block { readers, filled, data })
    }
}
