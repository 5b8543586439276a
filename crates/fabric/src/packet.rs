//! Packet headers: the format of what the cells of eager rings carry.

use crate::spsc::Ring;
use crate::{Label, TypeCode};

/// The header of every packet: four words behind the stamp of its cell, so that three words (or
/// 24 bytes of payload) still fit the first cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Header {
    context: u64,
    tag: u64,
    bytes: u64,
    ordinal: u32,
    element: u16,
    kind: u8,
    unused: u8,
}

impl Header {
    /// Bytes behind the header in its cell, which has room for `room` bytes.
    pub(crate) fn bytes_behind(&self, room: usize) -> usize {
        match self.kind {
            EAGER | FIRST | REST | PIECE | INTRODUCTION => (self.bytes as usize).min(room),
            SYNCHRONOUS => SEND_ID_BYTES.saturating_add(self.bytes as usize).min(room),
            _ => WORDS_BYTES,
        }
    }

    /// Whether the header belongs to a message that arrives in a remote bounce buffer.
    #[inline]
    pub(crate) fn is_remote_bounced(&self) -> bool {
        self.kind == REMOTE_BOUNCED
    }

    /// Whether a rank that has left, or leaves, waits for no packet behind this one.
    pub(crate) fn is_farewell(&self) -> bool {
        matches!(self.kind, LEFT | SEEN)
    }

    /// Whether the header belongs to a message in several cells.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        self.kind == FIRST
    }

    /// The header of a message that fits its cell.
    #[inline]
    pub(crate) fn eager(label: Label, element: TypeCode, bytes: usize) -> Header {
        let (Label { context, tag, ordinal }, TypeCode(element)) = (label, element);
        Header { context, tag, bytes: bytes as u64, ordinal, kind: EAGER, element, unused: 0 }
    }

    /// The type of the elements of a message, and its length in bytes.
    #[inline]
    pub(crate) fn contents(&self) -> (TypeCode, usize) {
        (TypeCode(self.element), self.bytes as usize)
    }

    /// Whether the header belongs to a message with this label that fits its cell.
    #[inline]
    pub(crate) fn is_eager(&self, label: Label) -> bool {
        self.kind == EAGER
            && (self.context, self.tag, self.ordinal) == (label.context, label.tag, label.ordinal)
    }
}

/// Words behind the header of a packet, where they are no payload.
pub(crate) type Words = [u64; 3];

/// Bytes of the id of its send before the payload of a [synchronous](Packet::Synchronous) message.
pub(crate) const SEND_ID_BYTES: usize = size_of::<u64>();

/// Bytes of [`Words`].
pub(crate) const WORDS_BYTES: usize = size_of::<Words>();

/// A decoded packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// A whole message; its payload is in the cell.
    Eager { label: Label, element: TypeCode, bytes: usize },
    /// A whole message that is acknowledged; the id of its send and its payload are in the cell.
    /// The answer is `Finished`, once its receive has it.
    Synchronous { label: Label, element: TypeCode, bytes: usize },
    /// The start of a message; its payload is in the cell and in those that follow.
    First { label: Label, element: TypeCode, bytes: usize },
    /// The next `bytes` bytes of that message.
    Rest { bytes: usize },
    /// A large message may be copied. The words are its address, its lease (0 if it has none and
    /// the receiver must ask for pieces) and its id at the sender.
    Large { label: Label, element: TypeCode, bytes: usize },
    /// The receiver cannot copy; it asks for the pieces of this send, for that receive.
    Pieces { send: u64, recv: u64 },
    /// A piece of a large message, in the cell.
    Piece { recv: u64, offset: usize, bytes: usize },
    /// A piece of a large message, in a bounce buffer; the words are the offsets of the buffer.
    Pipelined { recv: u64, offset: usize, bytes: usize },
    /// The receiver copies this large message to that address in its own memory, and the sender may
    /// help.
    Share { send: u64, address: u64 },
    /// The receiver has received what it needs of a large message, or of a synchronous one.
    Finished { send: u64 },
    /// The sender has withdrawn the large message whose pieces this receive awaits.
    Revoked { recv: u64 },
    /// The receiver is ready for segments of a zero-copy message. The words are the number of its
    /// first segment, and how many segments may come.
    Ready { send: u64, recv: u64 },
    /// The sender has withdrawn that zero-copy message. The words are the number of segments that
    /// still come.
    Stopped { recv: u64 },
    /// A message arrives in a remote bounce buffer. The words are the number of the buffer, and how
    /// many remote bounce buffers this rank has granted to the receiver.
    RemoteBounced { label: Label, element: TypeCode, bytes: usize },
    /// The words say how many remote bounce buffers this rank has granted.
    BounceCredits,
    /// A message is in a bounce buffer. The words are the offsets of its counts and of its bytes.
    Bounced { label: Label, element: TypeCode, bytes: usize },
    /// A part of the signature of a structure, which has `total` bytes.
    Introduction { element: TypeCode, total: usize, bytes: usize },
    /// The sender offers the heap of its process. The words are the descriptor of the file, its
    /// number and its length.
    HeapOffer,
    /// The sender has mapped the heap that this rank has offered.
    HeapMapped,
    /// The sender starts no new operation.
    Leaving,
    /// The sender has left the world: this is its last packet, except `Seen`.
    Left,
    /// The sender knows that this rank has left.
    Seen,
    /// The receiver has opened a channel. The words are its offset (0 if there is no room for one),
    /// the [`shape`] of its ring and the bytes of its messages.
    Open { label: Label, element: TypeCode },
}

/// The form of a ring in one word: the number of its cells, then the bytes of each.
pub(crate) fn shape(ring: Ring) -> u64 {
    (ring.cells as u64) << 32 | ring.cell_bytes as u64
}

/// The ring with this shape at this offset.
pub(crate) fn ring(offset: usize, shape: u64) -> Ring {
    Ring::of_cells(offset, (shape >> 32) as usize, shape as u32 as usize)
}

const EAGER: u8 = 1;
const LARGE: u8 = 2;
const PIECES: u8 = 3;
const PIECE: u8 = 4;
const FINISHED: u8 = 5;
const OPEN: u8 = 6;
const REVOKED: u8 = 7;
const SHARE: u8 = 8;
const FIRST: u8 = 9;
const REST: u8 = 10;
const LEAVING: u8 = 11;
const LEFT: u8 = 12;
const SEEN: u8 = 13;
const READY: u8 = 14;
const STOPPED: u8 = 15;
const REMOTE_BOUNCED: u8 = 16;
const BOUNCE_CREDITS: u8 = 17;
const BOUNCED: u8 = 18;
const STREAMED: u8 = 19;
const INTRODUCTION: u8 = 20;
const HEAP_OFFER: u8 = 21;
const HEAP_MAPPED: u8 = 22;
const SYNCHRONOUS: u8 = 23;

impl Packet {
    pub(crate) fn header(self) -> Header {
        let none = Label { context: 0, tag: 0, ordinal: 0 };
        let (kind, label, element, bytes) = match self {
            Packet::Eager { label, element, bytes } => return Header::eager(label, element, bytes),
            Packet::Synchronous { label, element, bytes } => (SYNCHRONOUS, label, element, bytes),
            Packet::First { label, element, bytes } => (FIRST, label, element, bytes),
            Packet::Rest { bytes } => (REST, none, TypeCode::BYTES, bytes),
            Packet::Large { label, element, bytes } => (LARGE, label, element, bytes),
            Packet::Open { label, element } => (OPEN, label, element, 0),
            Packet::Pieces { send, recv } => {
                (PIECES, Label { context: recv, tag: send, ..none }, TypeCode::BYTES, 0)
            }
            Packet::Ready { send, recv } => {
                (READY, Label { context: recv, tag: send, ..none }, TypeCode::BYTES, 0)
            }
            Packet::Stopped { recv } => (STOPPED, Label { tag: recv, ..none }, TypeCode::BYTES, 0),
            Packet::Piece { recv, offset, bytes } => {
                let label = Label { context: offset as u64, tag: recv, ..none };
                (PIECE, label, TypeCode::BYTES, bytes)
            }
            Packet::Pipelined { recv, offset, bytes } => {
                let label = Label { context: offset as u64, tag: recv, ..none };
                (STREAMED, label, TypeCode::BYTES, bytes)
            }
            Packet::Share { send, address } => {
                (SHARE, Label { context: address, tag: send, ..none }, TypeCode::BYTES, 0)
            }
            Packet::Finished { send } => {
                (FINISHED, Label { tag: send, ..none }, TypeCode::BYTES, 0)
            }
            Packet::Revoked { recv } => (REVOKED, Label { tag: recv, ..none }, TypeCode::BYTES, 0),
            Packet::RemoteBounced { label, element, bytes } => {
                (REMOTE_BOUNCED, label, element, bytes)
            }
            Packet::BounceCredits => (BOUNCE_CREDITS, none, TypeCode::BYTES, 0),
            Packet::Bounced { label, element, bytes } => (BOUNCED, label, element, bytes),
            Packet::Introduction { element, total, bytes } => {
                (INTRODUCTION, Label { context: total as u64, ..none }, element, bytes)
            }
            Packet::HeapOffer => (HEAP_OFFER, none, TypeCode::BYTES, 0),
            Packet::HeapMapped => (HEAP_MAPPED, none, TypeCode::BYTES, 0),
            Packet::Leaving => (LEAVING, none, TypeCode::BYTES, 0),
            Packet::Left => (LEFT, none, TypeCode::BYTES, 0),
            Packet::Seen => (SEEN, none, TypeCode::BYTES, 0),
        };
        Header {
            context: label.context,
            tag: label.tag,
            bytes: bytes as u64,
            ordinal: label.ordinal,
            kind,
            element: element.0,
            unused: 0,
        }
    }

    /// # Panics
    /// If [`Packet::header`] has not made this header: then memory is damaged.
    pub(crate) fn read(header: Header) -> Packet {
        let Header { context, tag, ordinal, .. } = header;
        let label = Label { context, tag, ordinal };
        let (element, bytes) = header.contents();
        match header.kind {
            EAGER => Packet::Eager { label, element, bytes },
            SYNCHRONOUS => Packet::Synchronous { label, element, bytes },
            FIRST => Packet::First { label, element, bytes },
            REST => Packet::Rest { bytes },
            LARGE => Packet::Large { label, element, bytes },
            PIECES => Packet::Pieces { send: tag, recv: context },
            PIECE => Packet::Piece { recv: tag, offset: context as usize, bytes },
            STREAMED => Packet::Pipelined { recv: tag, offset: context as usize, bytes },
            SHARE => Packet::Share { send: tag, address: context },
            FINISHED => Packet::Finished { send: tag },
            REVOKED => Packet::Revoked { recv: tag },
            OPEN => Packet::Open { label, element },
            READY => Packet::Ready { send: tag, recv: context },
            STOPPED => Packet::Stopped { recv: tag },
            REMOTE_BOUNCED => Packet::RemoteBounced { label, element, bytes },
            BOUNCE_CREDITS => Packet::BounceCredits,
            BOUNCED => Packet::Bounced { label, element, bytes },
            HEAP_OFFER => Packet::HeapOffer,
            HEAP_MAPPED => Packet::HeapMapped,
            INTRODUCTION => Packet::Introduction { element, total: context as usize, bytes },
            LEAVING => Packet::Leaving,
            LEFT => Packet::Left,
            SEEN => Packet::Seen,
            kind => panic!("packet of unknown kind {kind}: the shared segment is damaged"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_how_much_of_its_cell_is_used() {
        let label = Label { context: 1, tag: 2, ordinal: 3 };
        let behind = |packet: Packet| packet.header().bytes_behind(100);
        let element = TypeCode::BYTES;
        assert_eq!(behind(Packet::Eager { label, element, bytes: 17 }), 17);
        assert_eq!(behind(Packet::Synchronous { label, element, bytes: 17 }), 17 + SEND_ID_BYTES);
        assert_eq!(behind(Packet::First { label, element, bytes: 300 }), 100);
        assert_eq!(behind(Packet::Rest { bytes: 5 }), 5);
        assert_eq!(behind(Packet::Piece { recv: 1, offset: 300, bytes: 9 }), 9);
        assert_eq!(behind(Packet::Introduction { element, total: 90, bytes: 9 }), 9);
        for packet in [Packet::Large { label, element, bytes: 17 }, Packet::Left, Packet::Seen] {
            assert_eq!(behind(packet), WORDS_BYTES);
        }
    }

    #[test]
    fn a_shape_tells_the_ring() {
        let told = Ring::of_cells(4096, 32, 8256);
        assert_eq!(ring(4096, shape(told)), told);
    }

    #[test]
    fn headers_are_four_words_and_lose_nothing() {
        assert_eq!(size_of::<Header>(), 32);
        assert_eq!(
            crate::spsc::STAMP_BYTES + size_of::<Header>() + WORDS_BYTES,
            crate::layout::LINE
        );
        let label = Label { context: u64::MAX, tag: u64::MAX - 1, ordinal: u32::MAX };
        let element = TypeCode(200);
        for packet in [
            Packet::Eager { label, element, bytes: 17 },
            Packet::Synchronous { label, element, bytes: 17 },
            Packet::First { label, element, bytes: usize::MAX },
            Packet::Rest { bytes: 18 },
            Packet::Large { label, element, bytes: usize::MAX },
            Packet::Pieces { send: 3, recv: 4 },
            Packet::Piece { recv: 5, offset: 6, bytes: 7 },
            Packet::Pipelined { recv: 5, offset: 6, bytes: 7 },
            Packet::Share { send: 10, address: u64::MAX },
            Packet::Finished { send: 8 },
            Packet::Revoked { recv: 9 },
            Packet::Open { label, element },
            Packet::Ready { send: 11, recv: 12 },
            Packet::Stopped { recv: 13 },
            Packet::RemoteBounced { label, element, bytes: usize::MAX },
            Packet::BounceCredits,
            Packet::Bounced { label, element, bytes: usize::MAX },
            Packet::Introduction { element, total: 900, bytes: 17 },
            Packet::Leaving,
            Packet::Left,
            Packet::Seen,
        ] {
            assert_eq!(Packet::read(packet.header()), packet);
        }
    }
}
