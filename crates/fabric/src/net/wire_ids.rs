//! Wire ids: tags, immediate data and context ids of messages, remote writes and transfers.

use super::transfer::WRITTEN;
use super::{remote_bounce, zero_copy};
use crate::Peer;

/// The bits of a tag below this one are the rank of the sender; those above are the kind.
const KIND_AT: u32 = 32;
/// Kinds of messages: a cell, and a report of how much the sender has read.
pub(super) const CELL: u64 = 0;
pub(super) const ROOM: u64 = 1 << KIND_AT;
/// The bits in which tags of messages for posted buffers differ.
pub(super) const ANY: u64 = (2 << KIND_AT) - 1;

/// The bits of a context id below this one name the rank; those above are the kind of transfer.
const WHAT_AT: u32 = 56;
/// The context id of a posted buffer has the number of the buffer below this bit.
pub(super) const BUFFER: u64 = 1 << WHAT_AT;
/// The bits of the context id of a send below the rank: the cell.
const PEER_AT: u32 = 16;

/// A context id, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextId {
    /// The send of a cell.
    Cell(Peer, usize),
    /// A posted buffer, with its number.
    Buffer(usize),
    /// A segment of a large message.
    Segment,
    /// A receive in a remote bounce buffer.
    RemoteBounce,
    /// A cell that another rank has written into its place.
    Written,
}

pub(super) fn read(name: u64) -> ContextId {
    if name & WRITTEN != 0 {
        return ContextId::Written;
    }
    if name & remote_bounce::NAME != 0 {
        return ContextId::RemoteBounce;
    }
    if name & zero_copy::NAME != 0 {
        return ContextId::Segment;
    }
    if name & BUFFER != 0 {
        return ContextId::Buffer((name & !BUFFER) as usize);
    }
    ContextId::Cell(Peer((name >> PEER_AT) as u32), (name & ((1 << PEER_AT) - 1)) as usize)
}

/// The word before a cell on its way: its stamp, and how far its sender has read the other ring,
/// each cut to 32 bits.
pub(super) fn word(stamp: u64, read: u64) -> u64 {
    read << 32 | u64::from(stamp as u32)
}

/// The immediate data of a cell that is written into its place: its writer, its index, and how far
/// the writer has read the other ring, cut to 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImmData {
    pub(super) from: Peer,
    pub(super) cell: usize,
    pub(super) read: u16,
}

impl ImmData {
    const CELL_AT: u32 = u16::BITS;
    const FROM_AT: u32 = ImmData::CELL_AT + u64::BITS.ilog2();
    /// Number of ranks that the remaining bits can name.
    const RANKS: usize = 1 << (u32::BITS - ImmData::FROM_AT);

    pub(super) fn word(self) -> u32 {
        self.from.0 << ImmData::FROM_AT
            | (self.cell as u32) << ImmData::CELL_AT
            | u32::from(self.read)
    }

    pub(super) fn of(word: u32) -> ImmData {
        let cell = (word >> ImmData::CELL_AT) as usize % u64::BITS as usize;
        ImmData { from: Peer(word >> ImmData::FROM_AT), cell, read: word as u16 }
    }

    /// The smallest number from `least` on that ends in the bits of `read`.
    pub(super) fn whole(self, least: u64) -> u64 {
        least + u64::from(self.read.wrapping_sub(least as u16))
    }
}

const _: () = assert!(crate::layout::MAX_RANKS <= ImmData::RANKS);

/// The smallest number from `least` on that ends in these 32 bits.
pub(super) fn whole(half: u32, least: u64) -> u64 {
    least + u64::from(half.wrapping_sub(least as u32))
}

/// The context id of the send of a cell to this rank.
pub(super) fn cell(to: Peer, cell: usize) -> u64 {
    u64::from(to.0) << PEER_AT | cell as u64
}

/// The sender of a message with this tag.
pub(super) fn source(tag: u64) -> Peer {
    Peer(tag as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::world_tag;

    #[test]
    fn a_word_holds_two_numbers() {
        for (stamp, read) in [(1, 0), (9, 5), (1 << 32, (1 << 32) - 1), ((5 << 32) + 3, 7 << 33)] {
            let word = word(stamp, read);
            for before in [0, 1, 32].map(|before| stamp.saturating_sub(before)) {
                assert_eq!(whole(word as u32, before), stamp);
            }
            assert_eq!(whole((word >> 32) as u32, read), read);
            // What is older than known seems to be far ahead.
            assert!(whole((word >> 32) as u32, read + 1) > read + 64);
        }
    }

    #[test]
    fn a_note_comes_back() {
        for (from, cell, read) in [(0, 0, 0), (1023, 63, u16::MAX), (5, 31, 1)] {
            let note = ImmData { from: Peer(from), cell, read };
            assert_eq!(ImmData::of(note.word()), note);
        }
        let note = |read: u64| ImmData { from: Peer(0), cell: 0, read: read as u16 };
        for read in [0_u64, 5, 1 << 16, (7 << 32) + 65_535] {
            for before in [0, 1, 64].map(|before| read.saturating_sub(before)) {
                assert_eq!(note(read).whole(before), read);
            }
            // What is older than known seems to be far ahead.
            assert!(note(read).whole(read + 1) > read + 64);
        }
    }

    #[test]
    fn all_tags_leave_room_for_the_world() {
        for tag in [ROOM | 5, ANY, remote_bounce::tag(Peer(u32::MAX), 3), zero_copy::TAG | 9] {
            assert_eq!(world_tag::without(tag), tag);
        }
    }

    #[test]
    fn names_come_back() {
        assert_eq!(read(WRITTEN), ContextId::Written);
        assert_eq!(read(BUFFER | 77), ContextId::Buffer(77));
        let name = cell(Peer(u32::MAX), 31);
        assert_eq!(read(name), ContextId::Cell(Peer(u32::MAX), 31));
        assert_eq!(source(ROOM | 5), Peer(5));
        assert_eq!(source(CELL | 6), Peer(6));
        assert_eq!((ROOM | CELL | u64::from(u32::MAX)) & !ANY, 0);
    }
}
