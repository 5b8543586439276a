//! The sending side of the ring to one peer, and the queue of what waits for room in it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::Arc;

use super::protocol::RingThresholds;
use super::transfer::Posted;
use crate::chunked::ChunkedQueue;
use crate::packet::{Header, Packet, Words};
use crate::slab::Id;
use crate::spsc::{Ring, RingWriter};
use crate::{Label, Region, SharedSegment, Token, TypeCode};

/// The lane to one peer, and what waits for room in it. The queue has no limit but memory: each
/// entry stands for memory that its poster keeps anyway.
pub(super) struct PeerTx {
    writer: RingWriter,
    thresholds: RingThresholds,
    pub(super) waiting: ChunkedQueue<Outgoing>,
}

impl PeerTx {
    /// The lane in this ring, whose first message has this position.
    pub(super) fn new(segment: Arc<SharedSegment>, ring: Ring, first: u64) -> PeerTx {
        let writer = RingWriter::starting_at(segment, ring, first);
        let thresholds = RingThresholds::of(&ring);
        PeerTx { writer, thresholds, waiting: ChunkedQueue::default() }
    }

    /// At which lengths messages on this ring change their protocol.
    pub(super) fn thresholds(&self) -> &RingThresholds {
        &self.thresholds
    }

    /// Bytes of a message that fit a cell.
    pub(super) fn payload(&self) -> usize {
        self.writer.payload::<Header>()
    }

    /// Whether there is room for a packet.
    pub(super) fn has_room(&mut self) -> bool {
        self.writer.has_room(1)
    }

    /// Puts a message into as many cells as it takes, if there is room for all of it.
    pub(super) fn push_eager(&mut self, label: Label, element: TypeCode, data: Region) -> bool {
        let (bytes, cell) = (data.bytes(), self.payload());
        if bytes <= cell {
            return self.push(Packet::Eager { label, element, bytes }, data);
        }
        if !self.writer.has_room(bytes.div_ceil(cell)) {
            return false;
        }
        let mut pushed = self.push(Packet::First { label, element, bytes }, data.part(0, cell));
        for from in (cell..bytes).step_by(cell) {
            let rest = data.part(from, cell.min(bytes - from));
            pushed &= self.push(Packet::Rest { bytes: rest.bytes() }, rest);
        }
        assert!(pushed, "there was room for all cells");
        true
    }

    /// Packets that have gone into the lane.
    pub(super) fn packets(&self) -> u64 {
        self.writer.filled()
    }

    /// Whether nothing waits for room.
    pub(super) fn is_flushed(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What waits for room.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Outgoing> {
        self.waiting.iter()
    }

    /// Works on each message that waits for room.
    pub(super) fn each_waiting(&mut self, mut work: impl FnMut(&mut Outgoing)) {
        self.waiting.retain_mut(|outgoing| {
            work(outgoing);
            true
        });
    }

    /// Removes the message with this token of which nothing has gone. Says whether there was one.
    pub(super) fn take_back(&mut self, wanted: Token) -> bool {
        let before = self.waiting.len();
        self.waiting.retain_mut(|outgoing| match *outgoing {
            Outgoing::Eager { token, .. } | Outgoing::Large { token, .. } => token != wanted,
            Outgoing::Fragments(_) | Outgoing::Words { .. } | Outgoing::Introduction(_) => true,
        });
        self.waiting.len() < before
    }

    /// Whether the receiver has made room for a short message that found none.
    pub(super) fn sees_room(&self) -> bool {
        self.writer.sees_room()
    }

    pub(super) fn enqueue(&mut self, outgoing: Outgoing) {
        self.waiting.push(outgoing);
    }

    #[inline]
    pub(super) fn push(&mut self, packet: Packet, payload: Region) -> bool {
        self.push_header(packet.header(), payload)
    }

    #[inline]
    pub(super) fn push_header(&mut self, header: Header, payload: Region) -> bool {
        // SAFETY: the payload belongs to a posted send, whose poster promises that it is readable,
        // or is a live local value.
        unsafe { self.writer.push(header, payload) }
    }

    /// Sends as much of a signature as there is room for.
    pub(super) fn push_introduction(&mut self, introduction: Introduction) -> Attempt {
        let Introduction { code: element, signature, sent: before } = introduction;
        let (data, total) = (Region::of(signature.as_bytes()), signature.len());
        let mut sent = before;
        while sent < total {
            let bytes = self.payload().min(total - sent);
            let packet = Packet::Introduction { element, total, bytes };
            if !self.push(packet, data.part(sent, bytes)) {
                let rest = Outgoing::Introduction(Introduction { sent, ..introduction });
                return if sent > before { Attempt::Partly(rest) } else { Attempt::NoRoom };
            }
            sent += bytes;
        }
        Attempt::Gone(Posted::Done)
    }

    pub(super) fn push_words(&mut self, packet: Packet, words: &Words) -> bool {
        self.push(packet, Region::new(words.as_ptr().cast(), size_of::<Words>()))
    }
}

/// Something on its way into a lane. A million of them may wait, so they are small.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outgoing {
    /// A message that goes in cells.
    Eager { label: Label, element: TypeCode, data: Region, token: Token },
    /// A message that does not.
    Large { label: Label, element: TypeCode, data: Region, token: Token, is_synchronous: bool },
    /// A packet without user data.
    Words { packet: Packet, words: Words },
    /// A large message on its way in pieces.
    Fragments(Fragments),
    /// The signature of a structure, which introduces it to the peer.
    Introduction(Introduction),
}

/// The pieces of a large message, of which the first `sent` bytes have gone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragments {
    pub(super) send: Id,
    pub(super) recv: u64,
    pub(super) data: Region,
    pub(super) sent: usize,
}

/// A signature of which `sent` bytes have been sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Introduction {
    pub(super) code: TypeCode,
    pub(super) signature: &'static str,
    pub(super) sent: usize,
}

/// The result of an attempt to send.
pub(super) enum Attempt {
    Gone(Posted),
    NoRoom,
    /// Some of it went; this is the rest, for which there is no room.
    Partly(Outgoing),
}
