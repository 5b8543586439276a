//! The receive queues of a rank: its posted receives, and the messages that came before theirs.

use super::message::Message;
use super::mprobe::MatchedMessage;
use super::transfer::{PostedRecv, UnexpectedBody, UnexpectedMsg};
use crate::matching::{Matching, Ticket};
use crate::{Received, Selector, Token};

/// Messages of one peer that are kept before more are taken reluctantly, if this rank has posted
/// fewer receives.
pub(super) const UNEXPECTED_MAX: usize = 256;

/// The posted receives and the unexpected messages of a rank.
pub(super) struct RecvQueues {
    pub(super) matching: Matching<PostedRecv, UnexpectedMsg>,
    /// Per peer: its messages that wait for their receives.
    pub(super) unexpected: Vec<usize>,
    /// Polls since a packet arrived, or an unexpected message was received.
    pub(super) idle_polls: u32,
}

impl RecvQueues {
    /// Empty ones of a rank among so many.
    pub(super) fn new(ranks: usize) -> RecvQueues {
        RecvQueues { matching: Matching::default(), unexpected: vec![0; ranks], idle_polls: 0 }
    }

    /// The message that such a receive would get now, without receiving it.
    pub(super) fn probe(&self, selector: Selector) -> Option<Received> {
        let (source, label, unexpected) = self.matching.peek_unexpected(&selector)?;
        Some(Received { source, tag: label.tag, bytes: unexpected.bytes })
    }

    /// Takes the message that a receive with this selector would get now, if there is one.
    pub(super) fn mprobe(&mut self, selector: Selector) -> Option<MatchedMessage> {
        let (source, label, unexpected) = self.matching.take_unexpected(&selector)?;
        self.unexpected[source.index()] -= 1;
        self.idle_polls = 0;
        Some(MatchedMessage { source, label, unexpected })
    }

    /// Keeps a message until its receive is posted.
    pub(super) fn enqueue_unexpected(&mut self, message: Message, body: UnexpectedBody) {
        let Message { source, label, element, bytes } = message;
        self.unexpected[source.index()] += 1;
        self.matching.keep(source, label, UnexpectedMsg { element, bytes, body });
    }

    /// Whether so many messages of a peer are kept that more are taken reluctantly.
    pub(super) fn keeps_many(&self, peer: usize) -> bool {
        self.unexpected[peer] >= UNEXPECTED_MAX.max(self.matching.posted())
    }

    /// Cancels a receive that has met no message yet. After it returns, its memory is not used any
    /// more, and it will not complete. `false` if it has met a message: then it completes.
    pub(super) fn cancel_receive(&mut self, ticket: Ticket, token: Token) -> bool {
        self.matching.withdraw_one(ticket, |receive| receive.token() == token).is_some()
    }
}
