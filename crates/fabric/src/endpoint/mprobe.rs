//! Matched probe and receive (`MPI_Mprobe`, `MPI_Mrecv`), and cancelling of posted receives.
//!
//! A message that a probe has taken is out of matching: no receive of any thread can get it. The
//! holder receives it or discards it; for its sender it has been received in both cases.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Completion, Endpoint, PostedRecv, UnexpectedBody, UnexpectedMsg};
use crate::matching::Ticket;
use crate::packet::Packet;
use crate::{Label, Peer, Received, RegionMut, Selector, Token, TypeCode};

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
}

impl Endpoint {
    /// Takes the message that a receive with this selector would get now, if there is one.
    pub fn mprobe(&mut self, selector: Selector) -> Option<MatchedMessage> {
        let (source, label, unexpected) = self.matching.take_unexpected(&selector)?;
        self.unexpected[source.index()] -= 1;
        self.idle_polls = 0;
        Some(MatchedMessage { source, label, unexpected })
    }

    /// Receives a message that a probe has taken.
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    pub unsafe fn mrecv(
        &mut self,
        taken: MatchedMessage,
        element: TypeCode,
        into: RegionMut,
        token: Token,
        done: &mut Vec<Completion>,
    ) {
        self.receive_unexpected(taken, PostedRecv::new(into, element, token), done);
    }

    /// Discards a message that a probe has taken: for its sender it has been received.
    pub fn discard(&mut self, taken: MatchedMessage) {
        match taken.unexpected.body {
            UnexpectedBody::Offered(offer) => {
                self.transport.send_control(taken.source, Packet::Finished { send: offer.send });
            }
            UnexpectedBody::RemoteBounced(slot) => {
                self.transport.release_remote_bounce(taken.source, slot);
            }
            UnexpectedBody::Shared(buffer) => buffer.release(&self.transport.segment),
            UnexpectedBody::Whole(_) => {}
        }
    }

    /// Cancels a receive that has met no message yet. After it returns, its memory is not used any
    /// more, and it will not complete. `false` if it has met a message: then it completes.
    pub fn cancel_receive(&mut self, ticket: Ticket, token: Token) -> bool {
        self.matching.withdraw_one(ticket, |receive| receive.token() == token).is_some()
    }
}
