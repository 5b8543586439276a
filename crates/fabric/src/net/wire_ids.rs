//! Wire ids: tags, immediate data and context ids of messages, remote writes and transfers.

use super::transfer::WRITTEN;
use super::{remote_bounce, zero_copy};
use crate::Peer;

/// Bits of a tag below its kind: the rank that sends.
const KIND_AT: u32 = 32;
/// Messages that are a cell, and those that say how much has been read.
pub(super) const CELL: u64 = 0;
pub(super) const ROOM: u64 = 1 << KIND_AT;
/// The bits in which tags of messages that go into buffers differ.
pub(super) const ANY: u64 = (2 << KIND_AT) - 1;

/// Bits of the name of a transfer: which rank, and above that what.
const WHAT_AT: u32 = 56;
/// The name of a buffer that is posted has its number below this.
pub(super) const BUFFER: u64 = 1 << WHAT_AT;
/// Bits of the name of a send below the rank: the cell.
const PEER_AT: u32 = 16;

/// The name of a transfer, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextId {
    /// A cell that is sent.
    Cell(Peer, usize),
    /// A buffer into which something comes.
    Buffer(usize),
    /// A segment of a large message.
    Segment,
    /// Something that comes into a remote bounce buffer.
    Berth,
    /// A cell that another rank has written into its place.
    Written,
}

pub(super) fn read(name: u64) -> ContextId {
    if name & WRITTEN != 0 {
        return ContextId::Written;
    }
    if name & remote_bounce::NAME != 0 {
        return ContextId::Berth;
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
/// as far as each goes into a half.
pub(super) fn word(stamp: u64, read: u64) -> u64 {
    read << 32 | u64::from(stamp as u32)
}

/// What is told of a cell that is written into its place: who has written it, which one it is, and
/// how far its sender has read the other ring, as far as that goes into a half of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImmData {
    pub(super) from: Peer,
    pub(super) cell: usize,
    pub(super) read: u16,
}

impl ImmData {
    const CELL_AT: u32 = u16::BITS;
    const FROM_AT: u32 = ImmData::CELL_AT + u64::BITS.ilog2();
    /// So many bits are left for the rank.
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

    /// The number that ends in what is told of it here, and is not below this one.
    pub(super) fn whole(self, least: u64) -> u64 {
        least + u64::from(self.read.wrapping_sub(least as u16))
    }
}

const _: () = assert!(crate::layout::MAX_RANKS <= ImmData::RANKS);

/// The number that ends in this half, and is not below that one.
pub(super) fn whole(half: u32, least: u64) -> u64 {
    least + u64::from(half.wrapping_sub(least as u32))
}

/// The name of the send of a cell to this rank.
pub(super) fn cell(to: Peer, cell: usize) -> u64 {
    u64::from(to.0) << PEER_AT | cell as u64
}

/// Who has sent a message with this tag.
pub(super) fn source(tag: u64) -> Peer {
    Peer(tag as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

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
