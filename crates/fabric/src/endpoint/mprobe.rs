//! Matched probe and receive (`MPI_Mprobe`, `MPI_Mrecv`), and cancelling of posted receives.
//!
//! A message that a probe has taken is out of matching: no receive of any thread can get it. It
//! belongs to whoever holds it, who receives it or lets it go; as far as its sender can tell it has
//! been received in both cases.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::packet::Packet;
use super::{Completion, Endpoint, PostedRecv, UnexpectedBody, UnexpectedMsg};
use crate::matching::Ticket;
use crate::{Label, Peer, Received, RegionMut, Selector, Token, TypeCode};

/// A message that has been taken out of matching.
#[derive(Debug)]
#[must_use = "whoever has taken a message receives it or discards it"]
pub struct MatchedMessage {
    pub(super) source: Peer,
    pub(super) label: Label,
    pub(super) early: UnexpectedMsg,
}

impl MatchedMessage {
    /// What a receive of it would get.
    pub fn received(&self) -> Received {
        Received { source: self.source, tag: self.label.tag, bytes: self.early.bytes }
    }
}

impl Endpoint {
    /// Takes the message that such a receive would get now, if it is there.
    pub fn mprobe(&mut self, selector: Selector) -> Option<MatchedMessage> {
        let (source, label, early) = self.matching.take_early(&selector)?;
        self.unexpected[source.index()] -= 1;
        self.idle_polls = 0;
        Some(MatchedMessage { source, label, early })
    }

    /// Receives a message that has been taken.
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

    /// Lets a message go that has been taken: its sender is told that it has been received.
    pub fn discard(&mut self, taken: MatchedMessage) {
        match taken.early.body {
            UnexpectedBody::Exposed(exposure) => {
                self.send_control(taken.source, Packet::Finished { send: exposure.send });
            }
            UnexpectedBody::Berthed(berth) => {
                self.release_remote_bounce(taken.source, berth);
            }
            UnexpectedBody::Shared(block) => self.leave_block(block),
            UnexpectedBody::Whole(_) => {}
        }
    }

    /// Takes back a receive that has met no message yet. On return its memory is no longer used,
    /// and it will not complete. `false` if it has met one: then it completes.
    pub fn cancel_receive(&mut self, ticket: Ticket, token: Token) -> bool {
        self.matching.withdraw_one(ticket, |receive| receive.token() == token).is_some()
    }
}
