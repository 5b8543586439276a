//! The endpoint's view of other hosts: network progress, and awaited peers.

use std::time::Instant;

use super::{Completion, Endpoint};
use crate::Peer;
use crate::net::{How, TransferEvent};
use crate::packet::Packet;

impl Endpoint {
    /// Tells the failure detector which ranks on other hosts this rank waits for.
    #[cold]
    pub(super) fn publish_awaited_peers(&mut self) {
        let Some(network) = &self.transport.network else { return };
        network.await_takers();
        let mut anybody = false;
        self.recv_queues.matching.each_posted(|selector, _| match selector.source {
            Some(source) => network.await_peer(source),
            None => anybody = true,
        });
        self.rndv.recvs.iter().for_each(|(_, recv)| network.await_peer(recv.source));
        self.rndv.sends.iter().for_each(|(_, send)| network.await_peer(send.to));
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

    /// The first half of [`Endpoint::progress`]: makes progress on the network, which puts cells
    /// into the rings, and reads none of them. Returns whether anything moved.
    #[inline]
    pub fn poll_network(&mut self, done: &mut Vec<Completion>) -> bool {
        self.transport.network.is_some() && self.carry(done)
    }

    /// Makes progress on the network, and handles its events. Returns whether there were any.
    fn carry(&mut self, done: &mut Vec<Completion>) -> bool {
        done.append(&mut self.late_completions);
        let Some(network) = &mut self.transport.network else { return false };
        let was_told = network.progress();
        (network.has_events() && self.handle_network_events(done)) || was_told
    }

    /// Handles the events of the network. Returns whether there may have been any.
    pub(super) fn handle_network_events(&mut self, done: &mut Vec<Completion>) -> bool {
        let Some(network) = &mut self.transport.network else { return false };
        for event in network.take_events() {
            match event {
                TransferEvent::Ready { to, ids, upto } => {
                    let packet = Packet::Ready { send: ids.send, recv: ids.recv };
                    let words = [ids.first.into(), upto.into(), 0];
                    self.transport.send_control_words(to, packet, words);
                }
                TransferEvent::Ended { from, recv, ids, how } => {
                    self.rndv.zero_copy_ended(from, recv, how, done);
                    if how == How::Withdrawn {
                        self.transport.send_control(from, Packet::Finished { send: ids.send });
                    }
                }
                TransferEvent::Sent { send } => {
                    if let Some(large) = self.rndv.sends.get_mut(send) {
                        large.transfer = None;
                    }
                    self.rndv.finish_send(&mut self.transport, send, done);
                }
            }
        }
        self.transport.advertise_credits(&self.disconnect);
        self.disconnect.settle(&mut self.transport);
        true
    }

    /// The sender of a zero-copy message has withdrawn it.
    pub(super) fn stop_recv(&mut self, name: u64, sent: u32, done: &mut Vec<Completion>) {
        if let Some(network) = &mut self.transport.network {
            network.stop(name, sent);
            self.handle_network_events(done);
        }
    }

    /// Waits until the network does not use the memory of withdrawn transfers any more. Their other
    /// sides release it when they poll; a side that has died is declared lost, and the world fails.
    pub(super) fn await_withdrawn(&mut self) {
        let begun = Instant::now();
        loop {
            let Some(network) = &mut self.transport.network else { return };
            if !network.has_withdrawn() {
                return;
            }
            if self.transport.segment.failure().is_some() {
                // Other ranks may be dead, and never release it.
                return network.close();
            }
            if network.is_time_to_say() {
                self.publish_awaited_peers();
            } else if begun.elapsed() > network.timeout() {
                network.give_up_withdrawn();
            }
            let mut done = std::mem::take(&mut self.late_completions);
            self.progress(&mut done);
            self.late_completions = done;
            self.transport.segment.pause();
        }
    }
}
