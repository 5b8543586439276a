//! Disconnect: a rank leaves the world. Peers of its host see this in the segment; the rank sends a
//! packet to peers of other hosts. Protocol: `net/README.md`, "Leaving".

use super::Endpoint;
use crate::packet::Packet;
use crate::segment::State;
use crate::{Failure, Peer, TransferError};

/// The progress of this rank in leaving.
#[derive(Default)]
pub(super) struct Disconnect {
    pub(super) has_left: bool,
    /// Whether the ranks on other hosts that had not left have been notified.
    was_told: bool,
}

impl Disconnect {
    /// Whether other ranks may know that this rank has left.
    pub(super) fn was_told(&self) -> bool {
        self.was_told
    }
}

impl Endpoint {
    /// This rank will start no new operation; it only finishes what other ranks may wait for.
    pub fn begin_leaving(&mut self) {
        self.transport.segment.begin_leaving(self.transport.me);
        self.notify_remote(Packet::Leaving);
    }

    /// Whether no rank will start a new operation.
    pub fn all_leaving(&self) -> bool {
        let mut ranks = (0..self.transport.segment.ranks() as u32).map(Peer);
        ranks.all(|rank| self.transport.memory_of(rank).is_leaving(rank))
    }

    /// This rank leaves the world in good order. It notifies all ranks that may wait for it. It has
    /// left completely when [`Endpoint::is_gone`] is `true`, and makes progress until then.
    pub fn leave(&mut self) {
        self.transport.segment.leave(self.transport.me);
        self.disconnect.has_left = true;
        if let Some(network) = &mut self.transport.network {
            network.leave();
        }
        self.disconnect.was_told = self.notify_remote(Packet::Left);
    }

    /// Whether every rank knows that this one has left, and so has received all that was sent to
    /// it.
    pub fn is_gone(&self) -> bool {
        let Some(network) = &self.transport.network else { return true };
        network.is_drained()
            && network.peers().all(|peer| self.has_seen[peer.index()] || self.is_known_left(peer))
    }

    /// Whether a rank has left the world in good order and this rank has read all that it sent.
    ///
    /// After a death the answer is `false` for all ranks: some leave because of the death, and a
    /// rank that waits for them should report the death. The death is checked last, since a rank
    /// that leaves for that reason has known of it before.
    pub fn has_left(&self, peer: Peer) -> bool {
        matches!(self.why_silent(peer), Some(TransferError::Left(_)))
    }

    /// Why nothing more comes from a rank that has left the world in good order and whose messages
    /// have all been read: that it has left or, after a death, that death.
    pub fn why_silent(&self, peer: Peer) -> Option<TransferError> {
        let is_silent =
            self.is_known_left(peer) && !self.transport.readers[peer.index()].has_news();
        is_silent.then(|| self.why_left(peer))
    }

    /// The error for a rank that has left.
    pub(super) fn why_left(&self, peer: Peer) -> TransferError {
        self.transport.failure().map_or(TransferError::Left(peer), TransferError::Failed)
    }

    /// The known deaths, the first one first: those of ranks of this host, and others as far as
    /// they have been reported.
    pub fn deaths(&self) -> impl Iterator<Item = Failure> + '_ {
        let first = self.transport.failure();
        let ranks = (0..self.transport.segment.ranks() as u32).map(Peer);
        let deaths = ranks.filter_map(|rank| self.transport.segment.death(rank));
        first.into_iter().chain(deaths.filter(move |death| Some(*death) != first))
    }

    /// Whether all deaths are known, and not only the first one: that is so on one host.
    pub fn knows_all_deaths(&self) -> bool {
        self.transport.network.is_none()
    }

    pub(super) fn is_known_left(&self, peer: Peer) -> bool {
        self.transport.memory_of(peer).state(peer) == State::Left
    }

    /// Notifies all ranks that are not known to have left. After a death it notifies none: other
    /// ranks should report that death, and not the leaving of this rank. Returns whether the ranks
    /// were notified.
    fn notify_remote(&mut self, packet: Packet) -> bool {
        let Some(network) = &self.transport.network else { return false };
        if self.transport.segment.failure().is_some() {
            return false;
        }
        let there: Vec<_> = network.peers().filter(|&peer| !self.is_known_left(peer)).collect();
        there.into_iter().for_each(|peer| self.transport.send_control(peer, packet));
        true
    }

    /// Ranks whose last large messages have arrived count as left now.
    pub(super) fn settle_disconnects(&mut self) {
        for peer in std::mem::take(&mut self.disconnecting) {
            self.note_disconnect(peer, Packet::Left);
        }
    }

    /// Handles the notice of a rank on another host that it leaves.
    pub(super) fn note_disconnect(&mut self, peer: Peer, packet: Packet) {
        let Some(network) = &self.transport.network else { return };
        match packet {
            Packet::Leaving => network.segment().note_leaving(peer),
            Packet::Left if network.comes_from(peer) => self.disconnecting.push(peer),
            Packet::Left => {
                let network = self.transport.network.as_mut().expect("it is there");
                network.note_left(peer);
                // If this rank has sent its own notice, that is enough: a rank that has left closes
                // its endpoint when it reads that notice, and would not accept this packet.
                if !self.disconnect.was_told {
                    self.transport.send_control(peer, Packet::Seen);
                }
            }
            Packet::Seen => self.has_seen[peer.index()] = true,
            _ => {}
        }
    }
}
