//! Queries of messages and channels that have arrived without a matching receive or attach.

use super::Endpoint;
use crate::{Label, Peer, TypeCode};

impl Endpoint {
    /// Whether there are unexpected messages, or opened channels that this rank has not attached.
    #[inline]
    pub fn has_unmatched(&self) -> bool {
        self.matching.unexpected_len() > 0 || !self.offered_channels.is_empty()
    }

    /// Calls `look` with each unexpected message: its sender, its label, the type of its elements,
    /// and its length in bytes.
    pub fn each_early(&self, mut visit: impl FnMut(Peer, Label, TypeCode, usize)) {
        self.matching
            .each_early(|from, label, early| visit(from, label, early.element, early.bytes));
    }

    /// Calls `look` with each opened channel that this rank has not attached: its receiver and its
    /// label.
    pub fn each_announced(&self, mut visit: impl FnMut(Peer, Label)) {
        let announced = self.offered_channels.iter().filter(|(_, opened)| opened.is_some());
        announced.for_each(|(&(to, label), _)| visit(to, label));
    }
}
