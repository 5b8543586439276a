//! Zero-copy transfers of the network: `../README.md`, "Large messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::time::Duration;

use super::Network;
use crate::net::fi_endpoint::Event;
use crate::net::zero_copy::{TransferEvent, TransferIds};
use crate::segment::State;
use crate::slab::Id;
use crate::{Failure, How, Peer, Region, RegionMut};

impl Network {
    /// Handles the end of a segment of a large message.
    pub(super) fn note_segment(&mut self, event: &Event) {
        let Some((name, peer, has_come)) = self.transfers.note(event) else { return };
        if let Some(link) = &mut self.links[peer.index()] {
            link.note_remote_bounced(name);
            if has_come {
                link.note_landed();
                self.detector.shared.note_arrived(peer, link.arrived());
            }
        }
        if event.error != 0 && event.error != libc::ECANCELED {
            self.transfers.fail(&mut self.ep, name);
            return self.lose(peer, event.error);
        }
        self.go_on(name);
    }

    /// Posts the segments of a large message that can be posted.
    pub(super) fn go_on(&mut self, name: u64) {
        match self.transfers.go_on(&mut self.ep, name) {
            Ok(Some((to, segments))) => {
                if let Some(link) = &mut self.links[to.index()] {
                    link.note_sent(segments);
                    self.detector.shared.note_offered(to, link.offered(self.first));
                }
            }
            Ok(None) => {}
            Err((peer, error)) => self.lose(peer, error),
        }
    }

    /// Prepares to receive a large message that a rank has announced: its sender, and its ids there
    /// and here. Returns the id of the transfer; `None` if the memory cannot be used for it.
    ///
    /// # Safety
    /// Until the event of its end, or until the network is closed, nobody else uses the memory.
    pub(crate) unsafe fn recv(&mut self, what: (Peer, u64, Id), into: RegionMut) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        // SAFETY: passed on.
        let name = unsafe { self.transfers.recv(&mut self.ep, what, into) }.ok()?;
        self.go_on(name);
        Some(name)
    }

    /// Starts to send a large message whose receiver is ready for `upto` segments. Returns the id
    /// of the transfer; `None` if the world fails by that.
    ///
    /// # Safety
    /// As [`Network::recv`]; nobody writes the memory.
    pub(crate) unsafe fn send(
        &mut self,
        to: Peer,
        (ids, upto): (TransferIds, u32),
        data: Region,
    ) -> Option<u64> {
        let target = self.links[to.index()].as_ref().filter(|_| !self.is_closed)?.target();
        // SAFETY: passed on.
        let sent = unsafe { self.transfers.send(&mut self.ep, (to, target), ids, data) };
        match sent {
            Ok(name) => {
                self.allow(name, upto);
                Some(name)
            }
            Err(_) => {
                self.lose(to, libc::ENOMEM);
                None
            }
        }
    }

    /// The receiver of a large message is ready for segments up to `upto`.
    pub(crate) fn allow(&mut self, name: u64, upto: u32) {
        self.transfers.allow(name, upto);
        self.go_on(name);
    }

    /// The sender of a large message stops after `sent` segments.
    pub(crate) fn stop(&mut self, name: u64, sent: u32) {
        self.transfers.stop(&mut self.ep, name, sent);
    }

    /// The receiver of a large message has received all that it needs.
    pub(crate) fn cut_short(&mut self, name: u64) {
        self.transfers.cut_short(&mut self.ep, name);
    }

    /// Withdraws a large message. Its memory may be in use until [`Network::has_withdrawn`] returns
    /// `false`. For a message that is sent, returns what this rank must report to the receiver.
    pub(crate) fn withdraw(&mut self, name: u64) -> Option<(TransferIds, u32)> {
        self.transfers.withdraw(&mut self.ep, name)
    }

    /// Whether memory of withdrawn messages is still in use.
    pub(crate) fn has_withdrawn(&self) -> bool {
        self.transfers.has_withdrawn()
    }

    /// Whether a part of a large message from a rank is on its way.
    pub(crate) fn comes_from(&self, peer: Peer) -> bool {
        self.transfers.comes_from(peer)
    }

    /// Ends the transfers with ranks that have left and do not answer. Such ranks are not lost, but
    /// the wait for their transfers has taken too long.
    pub(crate) fn give_up_withdrawn(&mut self) {
        let has_left = |rank: &Peer| self.segment.state(*rank) == State::Left;
        let gone = self.transfers.withdrawn_from().find(has_left);
        if let Some(rank) = gone
            && self.home.failure().is_none()
        {
            self.home.fail(Failure { rank, how: How::Cut });
        }
    }

    /// How long this rank waits for a rank that does not answer.
    pub(crate) fn timeout(&self) -> Duration {
        self.detector.timeout()
    }

    /// Whether there is any event of a large message.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        !self.transfers.events.is_empty() || self.bounce_credits.has_unadvertised()
    }

    /// Takes the events of large messages.
    pub(crate) fn take_events(&mut self) -> Vec<TransferEvent> {
        std::mem::take(&mut self.transfers.events)
    }
}
