//! Remote bounce buffers of the network: `../README.md`, "Remote bounce buffers".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::Network;
use crate::net::fi_endpoint::Event;
use crate::net::remote_bounce;
use crate::slab::Id;
use crate::{Peer, Region};

impl Network {
    /// Handles an event of a remote bounce buffer: a cell and its message have arrived, or the
    /// receive has ended.
    pub(super) fn note_credit_event(&mut self, event: &Event) {
        let (from, cell) = self.bounce_credits.note(event);
        if event.error != 0 {
            return self.lose(from, event.error);
        }
        let accepted = match (cell, &mut self.links[from.index()]) {
            (Some(cell), Some(link)) => {
                // SAFETY: that many bytes have come into the buffer, where nobody writes now.
                let cell = unsafe { std::slice::from_raw_parts(cell.start(), cell.bytes()) };
                let accepted = link.accept_remote_bounced(cell);
                self.detector.shared.note_arrived(from, link.arrived());
                accepted.is_ok()
            }
            _ => false,
        };
        if !accepted {
            self.lose(from, libc::EBADMSG);
        }
    }

    /// Grants the remote bounce buffers for which libfabric had no room before.
    pub(super) fn grant_credits(&mut self) {
        for peer in self.bounce_credits.take_waiting() {
            let granted = self.bounce_credits.grant(&mut self.ep, peer);
            self.mind(peer, granted);
        }
    }

    fn mind(&mut self, peer: Peer, outcome: Result<(), i32>) {
        if let Err(error) = outcome {
            self.lose(peer, error);
        }
    }

    /// A rank has announced a message that would have fitted a remote bounce buffer.
    pub(crate) fn request_remote_bounce(&mut self, to: Peer) {
        if !self.is_closed {
            let offered = self.bounce_credits.offer(&mut self.ep, to);
            self.mind(to, offered);
        }
    }

    /// Ranks that do not know yet how many remote bounce buffers are granted to them.
    pub(crate) fn unadvertised_peers(&self) -> Vec<Peer> {
        self.bounce_credits.unadvertised().to_vec()
    }

    /// How many remote bounce buffers have been granted to a rank. The caller reports the number to
    /// it.
    pub(crate) fn advertise_credits(&mut self, to: Peer) -> u64 {
        self.bounce_credits.advertise(to)
    }

    /// Handles the report of a rank how many remote bounce buffers it has granted.
    pub(crate) fn note_granted(&mut self, by: Peer, granted: u64) {
        self.bounce_credits.note_granted(by, granted);
    }

    /// Prepares to send a message into a remote bounce buffer, if one is granted. The next packet
    /// that announces such a message sends it. Returns the ids of the transfer and of the remote
    /// bounce buffer.
    ///
    /// # Safety
    /// Until the event of its end, or until the network is closed, nobody writes the memory.
    pub(crate) unsafe fn send_remote_bounce(
        &mut self,
        to: Peer,
        send: Id,
        data: Region,
    ) -> Option<(u64, u64)> {
        let slot = self.bounce_credits.next(to).filter(|_| self.ep.joins() && !self.is_closed)?;
        let link = self.links[to.index()].as_mut()?;
        let how = (to, link.target(), remote_bounce::tag(self.me, slot));
        // SAFETY: passed on.
        let sent = unsafe { self.transfers.send_remote_bounce(&mut self.ep, how, send, data) };
        // If the memory cannot be registered, the rank announces the message instead.
        let name = sent.ok()?;
        link.begin_remote_bounce(name);
        self.bounce_credits.note_used(to);
        Some((name, slot))
    }

    /// The message in a remote bounce buffer. It stays there until
    /// [`Network::release_remote_bounce`]. If the buffer does not hold the announced message, the
    /// sender is declared lost.
    pub(crate) fn remote_bounced(&mut self, from: Peer, slot: u64, bytes: usize) -> Option<Region> {
        let memory = self.bounce_credits.contents(from, slot, bytes);
        if memory.is_none() {
            self.lose(from, libc::EBADMSG);
        }
        memory.map(|memory| memory.as_region())
    }

    /// Frees a remote bounce buffer whose message is not needed any more.
    pub(crate) fn release_remote_bounce(&mut self, from: Peer, slot: u64) {
        if !self.is_closed {
            let emptied = self.bounce_credits.empty(&mut self.ep, from, slot);
            self.mind(from, emptied);
        }
    }
}
