//! Disconnect: a rank leaves the world. Peers of its host see this in the segment; the rank sends a
//! packet to peers of other hosts. Protocol: `net/README.md`, "Leaving".

use super::transport::Transport;
use crate::packet::Packet;
use crate::segment::State;
use crate::{Failure, Peer, TransferError};

/// The progress of this rank in leaving.
pub(super) struct Disconnect {
    has_left: bool,
    /// Whether the ranks on other hosts that had not left have been notified.
    was_told: bool,
    /// Per peer: whether it knows that this rank has left, if it is on another host.
    has_seen: Vec<bool>,
    /// Ranks that have left, but whose packets have not all arrived.
    disconnecting: Vec<Peer>,
}

impl Disconnect {
    /// That of a rank that has not left.
    pub(super) fn of(transport: &Transport) -> Disconnect {
        let has_network = transport.network.is_some();
        let ranks = if has_network { transport.segment.layout().ranks() } else { 0 };
        let (has_seen, disconnecting) = (vec![false; ranks], Vec::new());
        Disconnect { has_left: false, was_told: false, has_seen, disconnecting }
    }

    /// Whether other ranks may know that this rank has left.
    pub(super) fn was_told(&self) -> bool {
        self.was_told
    }

    /// Whether this rank has left, and this peer on another host does not know that yet.
    pub(super) fn is_unseen_by(&self, peer: Peer) -> bool {
        self.has_left && !self.has_seen[peer.index()]
    }

    /// This rank leaves the world in good order, and notifies all ranks that may wait for it.
    pub(super) fn leave(&mut self, transport: &mut Transport) {
        transport.segment.leave(transport.me);
        self.has_left = true;
        if let Some(network) = &mut transport.network {
            network.leave();
        }
        self.was_told = transport.notify_remote(Packet::Left);
    }

    /// Whether every rank knows that this one has left, and so has received all that was sent to
    /// it.
    pub(super) fn is_gone(&self, transport: &Transport) -> bool {
        let Some(network) = &transport.network else { return true };
        network.is_drained()
            && network
                .peers()
                .all(|peer| self.has_seen[peer.index()] || transport.is_known_left(peer))
    }

    /// Ranks whose last large messages have arrived count as left now.
    pub(super) fn settle(&mut self, transport: &mut Transport) {
        for peer in std::mem::take(&mut self.disconnecting) {
            self.note(transport, peer, Packet::Left);
        }
    }

    /// Handles the notice of a rank on another host that it leaves.
    pub(super) fn note(&mut self, transport: &mut Transport, peer: Peer, packet: Packet) {
        let Some(network) = &transport.network else { return };
        match packet {
            Packet::Leaving => network.segment().note_leaving(peer),
            Packet::Left if network.comes_from(peer) => self.disconnecting.push(peer),
            Packet::Left => {
                let network = transport.network.as_mut().expect("it is there");
                network.note_left(peer);
                // If this rank has sent its own notice, that is enough: a rank that has left closes
                // its endpoint when it reads that notice, and would not accept this packet.
                if !self.was_told {
                    transport.send_control(peer, Packet::Seen);
                }
            }
            Packet::Seen => self.has_seen[peer.index()] = true,
            _ => {}
        }
    }
}

impl Transport {
    /// This rank will start no new operation.
    pub(super) fn begin_leaving(&mut self) {
        self.segment.begin_leaving(self.me);
        self.notify_remote(Packet::Leaving);
    }

    /// Whether no rank will start a new operation.
    pub(super) fn all_leaving(&self) -> bool {
        let mut ranks = (0..self.segment.ranks() as u32).map(Peer);
        ranks.all(|rank| self.memory_of(rank).is_leaving(rank))
    }

    /// Whether a rank has left the world in good order and this rank has read all that it sent.
    pub(super) fn has_left(&self, peer: Peer) -> bool {
        matches!(self.why_silent(peer), Some(TransferError::Left(_)))
    }

    /// Why nothing more comes from a rank that has left the world in good order and whose messages
    /// have all been read: that it has left or, after a death, that death.
    pub(super) fn why_silent(&self, peer: Peer) -> Option<TransferError> {
        let is_silent = self.is_known_left(peer) && !self.readers[peer.index()].has_message();
        is_silent.then(|| self.why_left(peer))
    }

    /// The error for a rank that has left.
    pub(super) fn why_left(&self, peer: Peer) -> TransferError {
        self.failure().map_or(TransferError::Left(peer), TransferError::Failed)
    }

    /// The known deaths, the first one first.
    pub(super) fn deaths(&self) -> impl Iterator<Item = Failure> + '_ {
        let first = self.failure();
        let ranks = (0..self.segment.ranks() as u32).map(Peer);
        let deaths = ranks.filter_map(|rank| self.segment.death(rank));
        first.into_iter().chain(deaths.filter(move |death| Some(*death) != first))
    }

    /// Whether a rank is known to have left the world in good order.
    pub(super) fn is_known_left(&self, peer: Peer) -> bool {
        self.memory_of(peer).state(peer) == State::Left
    }

    /// Notifies all ranks that are not known to have left. After a death it notifies none: other
    /// ranks should report that death, and not the leaving of this rank. Returns whether the ranks
    /// were notified.
    fn notify_remote(&mut self, packet: Packet) -> bool {
        let Some(network) = &self.network else { return false };
        if self.segment.failure().is_some() {
            return false;
        }
        let there: Vec<_> = network.peers().filter(|&peer| !self.is_known_left(peer)).collect();
        there.into_iter().for_each(|peer| self.send_control(peer, packet));
        true
    }
}
