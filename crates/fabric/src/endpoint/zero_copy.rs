//! Zero-copy rendezvous with ranks on other hosts: a large message goes from memory to memory.
//! Protocol: `net/README.md`, "Large messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::time::Instant;

use super::message::Message;
use super::{Completion, Endpoint, PostedRecv, RndvOffer, RndvRecv};
use crate::net::{How, News, TransferIds};
use crate::packet::Packet;
use crate::slab::Id;
use crate::{Peer, Received, TransferError};

impl Endpoint {
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
        (network.has_news() && self.handle_news(done)) || was_told
    }

    fn handle_news(&mut self, done: &mut Vec<Completion>) -> bool {
        let Some(network) = &mut self.transport.network else { return false };
        for news in network.take_news() {
            match news {
                News::Ready { to, ids, upto } => {
                    let packet = Packet::Ready { send: ids.send, recv: ids.recv };
                    let words = [ids.first.into(), upto.into(), 0];
                    self.transport.send_control_words(to, packet, words);
                }
                News::Ended { from, recv, ids, how } => {
                    self.zero_copy_ended(from, recv, how, done);
                    if how == How::Withdrawn {
                        self.transport.send_control(from, Packet::Finished { send: ids.send });
                    }
                }
                News::Sent { send } => {
                    if let Some(large) = self.rndv_sends.get_mut(send) {
                        large.transfer = None;
                    }
                    self.finish_rndv_send(send, done);
                }
            }
        }
        self.advertise_credits();
        self.disconnect.settle(&mut self.transport);
        true
    }

    /// Handles the end of a large message that this rank receives.
    fn zero_copy_ended(&mut self, from: Peer, id: Id, how: How, done: &mut Vec<Completion>) {
        // The receive is gone if it was cancelled.
        let Some(RndvRecv { receive, source, tag, bytes, .. }) = self.rndv_recvs.remove(id) else {
            return;
        };
        let outcome = match how {
            How::Whole => Ok(Received { source, tag, bytes }),
            How::Stopped | How::Withdrawn => Err(TransferError::Revoked(from)),
        };
        done.push(Completion { token: receive.token(), outcome });
    }

    /// Receives a large message from a rank on another host by a zero-copy transfer. `false` if it
    /// must come in another way.
    pub(super) fn recv_zero_copy(
        &mut self,
        message: &Message,
        offer: &RndvOffer,
        receive: &PostedRecv,
        done: &mut Vec<Completion>,
    ) -> bool {
        let (source, bytes) = (message.source, message.bytes);
        if !self.transport.reaches(source) || bytes <= self.transport.inline_max_bytes() {
            return false;
        }
        let (receive, tag) = (*receive, message.label.tag);
        let recv =
            RndvRecv { receive, source, tag, bytes, missing: bytes, transfer: None, offer: None };
        let id = self.rndv_recvs.insert(recv);
        let into = receive.into.part(0, bytes);
        let Some(network) = &mut self.transport.network else { return false };
        // SAFETY: memory of a posted receive. Whoever takes the receive back waits until the
        // transfer has ended (`await_withdrawn`).
        let Some(name) = (unsafe { network.recv((source, offer.send, id), into) }) else {
            self.rndv_recvs.remove(id);
            return false;
        };
        if let Some(recv) = self.rndv_recvs.get_mut(id) {
            recv.transfer = Some(name);
        }
        self.handle_news(done);
        true
    }

    /// The receiver of a large message is ready for segments up to `upto`.
    pub(super) fn send_zero_copy(&mut self, to: Peer, ids: TransferIds, upto: u32) {
        let Some(network) = &mut self.transport.network else { return };
        let Some(large) = self.rndv_sends.get_mut(Id(ids.send)) else {
            let packet = Packet::Stopped { recv: ids.recv };
            self.transport.send_control_words(to, packet, [0; 3]);
            return;
        };
        match large.transfer {
            Some(name) => network.allow(name, upto),
            // SAFETY: memory of a posted send, as in `recv_zero_copy`.
            None => large.transfer = unsafe { network.send(to, (ids, upto), large.data) },
        }
    }

    /// The receiver of a large message has received what it needs: all of it, or it has cancelled
    /// the receive.
    pub(super) fn finish_or_cut_short(&mut self, send: Id, done: &mut Vec<Completion>) {
        let transfer = self.rndv_sends.get_mut(send).and_then(|large| large.transfer);
        match (transfer, &mut self.transport.network) {
            // The network may still use the memory: an event will report the end.
            (Some(name), Some(network)) => network.cut_short(name),
            _ => self.finish_rndv_send(send, done),
        }
    }

    /// This rank withdraws a large message that it is sending.
    pub(super) fn stop_zero_copy(&mut self, to: Peer, name: u64) {
        let Some(network) = &mut self.transport.network else { return };
        if let Some((ids, sent)) = network.withdraw(name) {
            let packet = Packet::Stopped { recv: ids.recv };
            self.transport.send_control_words(to, packet, [sent.into(), 0, 0]);
        }
    }

    /// The sender of a zero-copy message has withdrawn it.
    pub(super) fn stop_recv(&mut self, name: u64, sent: u32, done: &mut Vec<Completion>) {
        if let Some(network) = &mut self.transport.network {
            network.stop(name, sent);
            self.handle_news(done);
        }
    }

    /// This rank cancels a receive into which a zero-copy message comes.
    pub(super) fn withdraw_zero_copy(&mut self, transfer: Option<u64>) {
        if let (Some(name), Some(network)) = (transfer, &mut self.transport.network) {
            network.withdraw(name);
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
