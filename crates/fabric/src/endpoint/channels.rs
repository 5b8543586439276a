//! Opening and attaching the channels of a rank. The receiver opens a channel, the sender attaches
//! to it. Protocol: `README.md`, "Channels".

use std::collections::HashMap;

use super::transport::Transport;
use crate::channel::{CHANNEL_MAX_BYTES, InChannel, OutChannel};
use crate::packet::{self, Packet};
use crate::spsc::Ring;
use crate::{Label, Peer, Sender, TransferError, TypeCode};

/// The result of a query for the sending end of a channel.
pub enum Attached {
    /// The receiver has not answered yet.
    Unknown,
    /// The sending end.
    Channel(OutChannel),
    /// The receiver had no room: this message of the operation is always sent as an ordinary
    /// message.
    Refused,
    /// The receiver opened it for something else: the ranks disagree on the operation.
    Mismatch(TransferError),
}

/// A channel that a receiver has opened and this rank has not attached.
#[derive(Clone, Copy, Debug)]
struct Opened {
    ring: Option<Ring>,
    element: TypeCode,
    bytes: usize,
}

/// The channels of a rank that are offered, and how it opens them.
pub(super) struct Channels {
    /// Whether channels may be opened; without them everything travels as messages.
    may_open: bool,
    first_position: u64,
    /// Channels that receivers have announced and we have not asked for yet; `None` marks one
    /// that we shall never ask for.
    offered: HashMap<(Peer, Label), Option<Opened>>,
}

impl Channels {
    /// None yet. The first message of each will have this position in its ring.
    pub(super) fn new(may_open: bool, first_position: u64) -> Channels {
        Channels { may_open, first_position, offered: HashMap::new() }
    }

    /// Opens a channel of `cells` cells and notifies its sender, if there is room.
    pub(super) fn open(
        &mut self,
        transport: &mut Transport,
        from: Peer,
        (label, element): (Label, TypeCode),
        bytes: usize,
        cells: usize,
    ) -> Option<InChannel> {
        if bytes > CHANNEL_MAX_BYTES || transport.reaches(from) {
            return None;
        }
        let wanted = self.may_open && cells > 0;
        let ring = if wanted { transport.arena.cut(bytes, cells) } else { None };
        let place = ring.map_or((0, 0), |ring| {
            if let Some(part) = transport.arena.see_to(&ring) {
                transport.segment.prepare(part);
            }
            ring.clear(&transport.segment);
            (ring.offset as u64, packet::shape(ring))
        });
        announce(transport, from, (label, element), bytes, place);
        let first = self.first_position;
        ring.map(|ring| InChannel::new(transport.segment.clone(), ring, bytes, first))
    }

    /// Reports that the message of this label uses no channel.
    pub(super) fn refuse(
        transport: &mut Transport,
        from: Peer,
        (label, element): (Label, TypeCode),
        bytes: usize,
    ) {
        if !transport.reaches(from) {
            announce(transport, from, (label, element), bytes, (0, 0));
        }
    }

    /// The sending end of a channel, if its receiver has opened it.
    pub(super) fn attach(
        &mut self,
        transport: &Transport,
        to: Peer,
        (label, element): (Label, TypeCode),
        bytes: usize,
    ) -> Attached {
        if bytes > CHANNEL_MAX_BYTES || transport.reaches(to) {
            return Attached::Refused;
        }
        let Some(Some(opened)) = self.offered.remove(&(to, label)) else {
            return Attached::Unknown;
        };
        let from = Sender::new(transport.me, label.tag);
        if !element.fits(opened.element) {
            let (sent, expected) = (element, opened.element);
            let error = TransferError::TypeMismatch { sent, expected, from };
            return Attached::Mismatch(error);
        }
        if opened.bytes != bytes {
            return Attached::Mismatch(TransferError::truncated(from, bytes, opened.bytes));
        }
        match opened.ring {
            Some(ring) => {
                let first = self.first_position;
                Attached::Channel(OutChannel::new(transport.segment.clone(), ring, first))
            }
            None => Attached::Refused,
        }
    }

    /// The sending end of a channel will never be attached.
    pub(super) fn forget(&mut self, to: Peer, label: Label) {
        if self.offered.remove(&(to, label)).is_none() {
            self.offered.insert((to, label), None);
        }
    }

    /// A receiver tells where its channel lies: keep that until it is asked for.
    pub(super) fn note_opened(
        &mut self,
        transport: &Transport,
        to: Peer,
        label: Label,
        element: TypeCode,
    ) {
        let [offset, shape, bytes] = transport.words(to);
        let ring = (offset != 0).then(|| packet::ring(offset as usize, shape));
        let element = transport.introductions.own(to, element);
        let opened = Opened { ring, element, bytes: bytes as usize };
        if let Some(None) = self.offered.insert((to, label), Some(opened)) {
            // The operation was freed here before it was opened there.
            self.offered.remove(&(to, label));
        }
    }

    /// Whether there are opened channels that this rank has not attached, or will not attach.
    #[inline]
    pub(super) fn has_offered(&self) -> bool {
        !self.offered.is_empty()
    }

    /// The opened channels that this rank has not attached: their receivers and their labels.
    pub(super) fn announced(&self) -> impl Iterator<Item = (Peer, Label)> + '_ {
        let announced = self.offered.iter().filter(|(_, opened)| opened.is_some());
        announced.map(|(&of, _)| of)
    }
}

/// Tells the sender of a message where its channel lies, or that there is none.
fn announce(
    transport: &mut Transport,
    from: Peer,
    (label, element): (Label, TypeCode),
    bytes: usize,
    (offset, shape): (u64, u64),
) {
    transport.introduce(from, element);
    let packet = Packet::Open { label, element };
    let words = [offset, shape, bytes as u64];
    transport.send_control_words(from, packet, words);
}
