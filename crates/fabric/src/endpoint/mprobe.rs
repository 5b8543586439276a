//! Matched probe and receive (`MPI_Mprobe`, `MPI_Mrecv`), and cancelling of posted receives.
//!
//! A message that a probe has taken is out of matching: no receive of any thread can get it. The
//! holder receives it or discards it; for its sender it has been received in both cases.

use super::transfer::{UnexpectedBody, UnexpectedMsg};
use super::transport::Transport;
use crate::packet::Packet;
use crate::{Label, Peer, Received};

/// A message that has been taken out of matching.
#[derive(Debug)]
#[must_use = "whoever has taken a message receives it or discards it"]
pub struct MatchedMessage {
    pub(super) source: Peer,
    pub(super) label: Label,
    pub(super) unexpected: UnexpectedMsg,
}

impl MatchedMessage {
    /// The result of a receive of this message.
    pub fn received(&self) -> Received {
        Received { source: self.source, tag: self.label.tag, bytes: self.unexpected.bytes }
    }

    /// Discards a message that a probe has taken: for its sender it has been received.
    pub(super) fn discard(self, transport: &mut Transport) {
        match self.unexpected.body {
            UnexpectedBody::Offered(offer) => {
                transport.send_control(self.source, Packet::Finished { send: offer.send });
            }
            UnexpectedBody::RemoteBounced(slot) => {
                transport.release_remote_bounce(self.source, slot);
            }
            UnexpectedBody::Shared(buffer) => buffer.release(&transport.segment),
            UnexpectedBody::Unacknowledged(_, send) => {
                transport.send_control(self.source, Packet::Finished { send });
            }
            UnexpectedBody::Whole(_) => {}
        }
    }
}
