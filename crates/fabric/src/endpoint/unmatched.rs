//! Queries of messages and channels that have arrived without a matching receive or attach.

use super::Endpoint;
use crate::{Label, Peer, TypeCode};

impl Endpoint {
    /// Whether messages have come that no receive has asked for, or channels of which nobody has
    /// asked.
    #[inline]
    pub fn has_unmatched(&self) -> bool {
        self.matching.unexpected_len() > 0 || !self.offered_channels.is_empty()
    }

    /// Looks at each message that has come and that no receive has asked for: who has sent it, as
    /// what, the type of its elements, and its length.
    pub fn each_early(&self, mut look: impl FnMut(Peer, Label, TypeCode, usize)) {
        self.matching
            .each_early(|from, label, early| look(from, label, early.element, early.bytes));
    }

    /// Looks at each channel that a receiver has opened and of which nobody has asked: for whom it
    /// sends, and as what.
    pub fn each_announced(&self, mut look: impl FnMut(Peer, Label)) {
        let announced = self.offered_channels.iter().filter(|(_, opened)| opened.is_some());
        announced.for_each(|(&(to, label), _)| look(to, label));
    }
}
