//! Channels: fixed landing places for the messages of persistent operations.
//!
//! A channel is a small ring of its own between two ranks for one message of one operation. The
//! receiver cuts it from its arena when the operation is linked and tells the sender where it is
//! with one control message; nobody waits. From then on a start is a copy and a stamp: no tag, no
//! matching, no request. The ring has several cells, so that a fast rank may be rounds ahead.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lane::{Inlet, Outlet, Ring, STAMP};
use crate::layout::LINE;
use crate::{Region, RegionMut, Segment};

/// The longest message that goes through a channel; longer ones are worth a single copy.
pub const LONGEST: usize = 8192;

/// The cells of a channel for messages of this length: a line for the shortest, else the next
/// power of two and a line for the stamp, so that rings of few sizes can be used again.
fn cell_bytes(bytes: usize) -> usize {
    if STAMP + bytes <= LINE { LINE } else { bytes.next_power_of_two() + LINE }
}

/// The number of cells: rounds that a sender may be ahead of its receiver. The shorter the
/// messages, the more there are, and the less they cost.
fn rounds(cell_bytes: usize) -> usize {
    match cell_bytes {
        0..=320 => 32,
        321..=2112 => 8,
        _ => 4,
    }
}

/// The ring at this place with cells of this size.
fn ring_at(offset: usize, cell_bytes: usize) -> Ring {
    Ring { offset, cells: rounds(cell_bytes), cell_bytes }
}

/// Cuts rings from the arena of one rank. Freed rings are kept by size.
#[derive(Debug)]
pub(crate) struct Arena {
    next: usize,
    end: usize,
    free: HashMap<usize, Vec<usize>>,
}

impl Arena {
    pub(crate) fn new(start: usize, bytes: usize) -> Arena {
        Arena { next: start, end: start + bytes, free: HashMap::new() }
    }

    /// A ring for messages of this length, or `None` if it does not fit any more.
    pub(crate) fn cut(&mut self, bytes: usize) -> Option<Ring> {
        let cell_bytes = cell_bytes(bytes);
        let offset = match self.free.get_mut(&cell_bytes).and_then(Vec::pop) {
            Some(offset) => offset,
            None => self.grow(cell_bytes)?,
        };
        Some(ring_at(offset, cell_bytes))
    }

    fn grow(&mut self, cell_bytes: usize) -> Option<usize> {
        let offset = self.next;
        let next = offset + ring_at(offset, cell_bytes).bytes();
        if next > self.end {
            return None;
        }
        self.next = next;
        Some(offset)
    }

    /// Takes a ring back.
    pub(crate) fn give_back(&mut self, ring: Ring) {
        self.free.entry(ring.cell_bytes).or_default().push(ring.offset);
    }
}

/// The receiving end of a channel.
pub struct InChannel {
    inlet: Inlet,
    ring: Ring,
    bytes: usize,
}

impl InChannel {
    pub(crate) fn new(segment: Arc<Segment>, ring: Ring, bytes: usize, first: u64) -> InChannel {
        InChannel { inlet: Inlet::starting_at(segment, ring, first), ring, bytes }
    }

    /// The ring that a receiver told of.
    pub(crate) fn ring_at(offset: usize, cell_bytes: usize) -> Ring {
        ring_at(offset, cell_bytes)
    }

    pub(crate) fn ring(&self) -> Ring {
        self.ring
    }

    /// Whether a message waits.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.inlet.has_news()
    }

    /// Takes the next message if one waits. The second value says that the sender must be rung.
    ///
    /// # Safety
    /// `into` is writable, used by nobody else, and as long as the channel was opened for.
    #[allow(unsafe_code)]
    pub unsafe fn try_recv(&mut self, into: RegionMut) -> Option<bool> {
        debug_assert_eq!(into.bytes(), self.bytes);
        if !self.inlet.has_news() {
            return None;
        }
        // SAFETY: passed on; channels carry no header.
        unsafe { self.inlet.copy_payload::<()>(into) };
        Some(self.inlet.advance())
    }
}

/// The sending end of a channel, once the receiver has said where it lies.
pub struct OutChannel {
    outlet: Outlet,
}

impl OutChannel {
    pub(crate) fn new(segment: Arc<Segment>, ring: Ring, first: u64) -> OutChannel {
        OutChannel { outlet: Outlet::starting_at(segment, ring, first) }
    }

    /// Sends if the receiver is not too many rounds behind; the caller rings it.
    ///
    /// # Safety
    /// `data` is readable now.
    #[allow(unsafe_code)]
    pub unsafe fn try_send(&mut self, data: Region) -> bool {
        // SAFETY: passed on.
        unsafe { self.outlet.push((), data) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arena_reuses_what_came_back_and_ends() {
        let mut arena = Arena::new(4096, 5000);
        let first = arena.cut(8).unwrap();
        assert_eq!((first.cells, first.cell_bytes), (32, 64));
        arena.give_back(first);
        assert_eq!(arena.cut(56), Some(first), "a freed ring of the same size");
        assert!(arena.cut(LONGEST).is_none(), "no room left");
    }
}
