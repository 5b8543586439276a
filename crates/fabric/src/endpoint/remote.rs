//! The endpoint's view of other hosts: local indices, wake-ups, network progress, and awaited
//! peers.

use super::Endpoint;
use crate::Peer;

impl Endpoint {
    /// Tells the failure detector which ranks on other hosts this rank waits for.
    #[cold]
    pub(super) fn publish_awaited_peers(&mut self) {
        let Some(network) = &self.transport.network else { return };
        network.await_takers();
        let mut anybody = false;
        self.matching.each_posted(|selector, _| match selector.source {
            Some(source) => network.await_peer(source),
            None => anybody = true,
        });
        self.rndv_recvs.iter().for_each(|(_, recv)| network.await_peer(recv.source));
        self.rndv_sends.iter().for_each(|(_, send)| network.await_peer(send.to));
        for (peer, standing) in (0..).map(Peer).zip(&self.transport.peer_tx) {
            let is_unseen = self.disconnect.is_unseen_by(peer);
            if anybody || is_unseen || !standing.is_flushed() {
                network.await_peer(peer);
            }
        }
        // Ranks that have left do not answer any more, and need not.
        for peer in network.peers().filter(|&peer| self.transport.is_known_left(peer)) {
            network.await_no_more(peer);
        }
    }
}
