//! Opening and attaching the channels of a rank. The receiver opens a channel, the sender attaches
//! to it. Protocol: `README.md`, "Channels".

use super::Endpoint;
use super::pipeline::Pipelines;
use crate::channel::{CHANNEL_MAX_BYTES, InChannel, OutChannel};
use crate::packet::{self, Packet};
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

impl Endpoint {
    /// Opens a channel of `cells` cells for one message of a persistent operation and notifies its
    /// sender. `None` if that message must be sent as an ordinary message (too long, no cells, no
    /// room, or from another host): both sides then know.
    pub fn open_channel(
        &mut self,
        from: Peer,
        label: Label,
        element: TypeCode,
        bytes: usize,
        cells: usize,
    ) -> Option<InChannel> {
        if bytes > CHANNEL_MAX_BYTES || self.transport.reaches(from) {
            return None;
        }
        let wanted = self.options.channels && cells > 0;
        let ring = if wanted { self.transport.arena.cut(bytes, cells) } else { None };
        let place = ring.map_or((0, 0), |ring| {
            if let Some(part) = self.transport.arena.see_to(&ring) {
                self.transport.segment.prepare(part);
            }
            ring.clear(&self.transport.segment);
            (ring.offset as u64, packet::shape(ring))
        });
        self.announce_channel(from, (label, element), bytes, place);
        let first = self.options.first_position;
        ring.map(|ring| InChannel::new(self.transport.segment.clone(), ring, bytes, first))
    }

    /// Reports that the message of this label, of `bytes` bytes, uses no channel. The sender knows
    /// that, and [forgets](Endpoint::forget_channel) the report, unless the ranks disagree about
    /// the message: then the sender may be waiting for a channel.
    pub fn refuse_channel(&mut self, from: Peer, label: Label, element: TypeCode, bytes: usize) {
        if !self.transport.reaches(from) {
            self.announce_channel(from, (label, element), bytes, (0, 0));
        }
    }

    fn announce_channel(
        &mut self,
        from: Peer,
        (label, element): (Label, TypeCode),
        bytes: usize,
        (offset, shape): (u64, u64),
    ) {
        self.transport.introduce(from, element);
        let packet = Packet::Open { label, element };
        let words = [offset, shape, bytes as u64];
        self.transport.send_control_words(from, packet, words);
    }

    /// Bytes of the segment that the channels of this rank have taken, with free rings.
    pub fn channel_bytes(&self) -> usize {
        let streams = self.pipelines.as_ref().map_or(0, Pipelines::bytes);
        self.transport.arena.taken() - self.bounce.bytes() - streams
    }

    /// Frees the receiving end of a channel. All messages that were sent through it have been
    /// received.
    pub fn close_channel(&mut self, channel: InChannel) {
        self.transport.arena.give_back(channel.ring());
    }

    /// Queries the sending end of a channel. After a final answer the query must not be repeated.
    pub fn attach_channel(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        bytes: usize,
    ) -> Attached {
        if bytes > CHANNEL_MAX_BYTES || self.transport.reaches(to) {
            return Attached::Refused;
        }
        let Some(Some(opened)) = self.offered_channels.remove(&(to, label)) else {
            return Attached::Unknown;
        };
        let from = Sender::new(self.transport.me, label.tag);
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
                let first = self.options.first_position;
                Attached::Channel(OutChannel::new(self.transport.segment.clone(), ring, first))
            }
            None => Attached::Refused,
        }
    }

    /// Reports that the sending end of a channel will never be queried. Only while the answer was
    /// [`Attached::Unknown`]: after any other answer there is nothing to forget.
    pub fn forget_channel(&mut self, to: Peer, label: Label) {
        if self.offered_channels.remove(&(to, label)).is_none() {
            self.offered_channels.insert((to, label), None);
        }
    }
}
