//! Holding back and flushing of coalesced frames: `../README.md`, "Coalesced frames".

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use super::Network;
use crate::Peer;
use crate::net::FlushSignal;
use crate::net::burst::SendClass;

/// Cells that wait in the rings of one rank, held back or not yet taken by libfabric.
#[derive(Debug)]
pub(super) struct PendingSends {
    held_back: Arc<FlushSignal>,
    /// The number that the flush thread got last.
    number: u64,
    /// Links in whose rings cells wait.
    links: usize,
    /// When this rank last polled or sent.
    seen: Instant,
}

impl PendingSends {
    pub(super) fn new() -> PendingSends {
        PendingSends { held_back: Arc::default(), number: 0, links: 0, seen: Instant::now() }
    }

    /// Notes whether cells of a ring wait now, and whether they waited before.
    pub(super) fn note(&mut self, (waits, waited): (bool, bool)) {
        if waits {
            self.links += usize::from(!waited);
            self.number += 1;
            self.held_back.hold(self.number);
        } else if waited {
            self.links -= 1;
            if self.links == 0 {
                self.held_back.let_go();
            }
        }
    }

    /// Records that no more cells are sent.
    pub(super) fn close(&mut self) {
        self.held_back.let_go();
    }
}

impl Network {
    /// The signal by which this rank informs its flush thread.
    pub fn flush_signal(&self) -> &Arc<FlushSignal> {
        &self.pending_sends.held_back
    }

    /// A cell may have been put into the ring to a rank, or read from the ring from there.
    pub(crate) fn give(&mut self, peer: Peer) {
        if !self.holds_back(peer) {
            self.push(peer);
        }
    }

    fn holds_back(&mut self, peer: Peer) -> bool {
        let Some(link) = &mut self.links[peer.index()] else { return false };
        let given = link.take_given();
        if self.is_closed || !matches!(given, Some(SendClass::First | SendClass::InBurst)) {
            return false;
        }
        let pending_sends = &mut self.pending_sends;
        let now = Instant::now();
        let away = now - mem::replace(&mut pending_sends.seen, now);
        if given == Some(SendClass::First) || !pending_sends.held_back.is_served() {
            return false;
        }
        let holds = link.hold(away);
        if holds {
            pending_sends.note(link.note_waits());
        }
        holds
    }

    /// Counts a poll of this rank in all bursts.
    pub(super) fn end_bursts(&mut self) {
        for peer in &self.active {
            if let Some(link) = &mut self.links[peer.index()] {
                link.count_poll();
            }
        }
        self.pending_sends.seen = Instant::now();
    }

    /// Sends the cells that are held back.
    pub(super) fn flush_pending(&mut self) {
        if self.pending_sends.links == 0 {
            return;
        }
        for at in 0..self.active.len() {
            let peer = self.active[at];
            if self.links[peer.index()].as_ref().is_some_and(|link| link.holds()) {
                self.push(peer);
            }
        }
    }
}
