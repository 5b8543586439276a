//! The endpoint's view of other hosts: local indices, wake-ups, network progress, and awaited
//! peers.

use super::Endpoint;
use crate::net::Network;
use crate::{Peer, SharedSegment};

impl Endpoint {
    /// How many cells this rank has put into its rings to ranks on other hosts: one for each short
    /// message, several for a long one.
    pub fn cells_to_other_hosts(&self) -> u64 {
        self.network.as_ref().map_or(0, |network| network.offered())
    }

    /// The network to ranks on other hosts, if there are any.
    pub fn network(&self) -> Option<&Network> {
        self.network.as_deref()
    }

    /// Sends the cells that wait in rings to other hosts, and puts arrived cells into rings; reads
    /// none of them.
    pub fn progress_network(&mut self) {
        if let Some(network) = &mut self.network {
            network.progress();
        }
    }

    /// Whether a rank is on another host.
    #[inline]
    pub fn reaches(&self, peer: Peer) -> bool {
        self.network.as_ref().is_some_and(|network| network.reaches(peer))
    }

    /// The local index of a rank in the segment, if it shares this segment.
    #[inline]
    pub(super) fn local_index(&self, peer: Peer) -> Option<usize> {
        match &self.network {
            Some(network) => network.local_index(peer),
            None => Some(peer.index()),
        }
    }

    /// The segment that records the state of a rank.
    pub(super) fn memory_of(&self, peer: Peer) -> &SharedSegment {
        match &self.network {
            Some(network) if network.reaches(peer) => network.segment(),
            _ => &self.segment,
        }
    }

    /// Notifies a rank of new cells in the ring to it, or of room in the ring from it.
    #[inline]
    pub(super) fn notify(&mut self, peer: Peer) {
        match &mut self.network {
            Some(network) if network.reaches(peer) => network.give(peer),
            _ => self.wake(peer),
        }
    }

    /// Tells the failure detector which ranks on other hosts this rank waits for.
    #[cold]
    pub(super) fn publish_awaited_peers(&mut self) {
        let Some(network) = &self.network else { return };
        network.await_takers();
        let mut anybody = false;
        self.matching.each_posted(|selector, _| match selector.source {
            Some(source) => network.await_peer(source),
            None => anybody = true,
        });
        self.rndv_recvs.iter().for_each(|(_, recv)| network.await_peer(recv.source));
        self.rndv_sends.iter().for_each(|(_, send)| network.await_peer(send.to));
        for (peer, standing) in (0..).map(Peer).zip(&self.peer_tx) {
            let is_unseen = self.disconnect.has_left && !self.has_seen[peer.index()];
            if anybody || is_unseen || !standing.is_flushed() {
                network.await_peer(peer);
            }
        }
        // Ranks that have left do not answer any more, and need not.
        for peer in network.peers().filter(|&peer| self.is_known_left(peer)) {
            network.await_no_more(peer);
        }
    }
}
