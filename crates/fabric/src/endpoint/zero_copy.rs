//! Zero-copy rendezvous with ranks on other hosts: a large message goes from memory to memory.
//! Protocol: `net/README.md`, "Large messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::time::Instant;

use super::packet::Packet;
use super::recv::Message;
use super::send::Outgoing;
use super::{Completion, Endpoint, PostedRecv, RndvOffer, RndvRecv};
use crate::net::{How, News, TransferIds};
use crate::slab::Id;
use crate::{Peer, Received, TransferError};

impl Endpoint {
    /// The first half of [`Endpoint::progress`]: what the network does. It puts cells into the
    /// rings, which are left there. Says whether anything moved.
    #[inline]
    pub fn poll_network(&mut self, done: &mut Vec<Completion>) -> bool {
        self.network.is_some() && self.carry(done)
    }

    /// Moves the network, and handles what it says. Says whether that was anything.
    fn carry(&mut self, done: &mut Vec<Completion>) -> bool {
        done.append(&mut self.late);
        let Some(wire) = &mut self.network else { return false };
        let was_told = wire.progress();
        self.notify_remaining();
        let Some(wire) = &mut self.network else { return false };
        (wire.has_news() && self.handle_news(done)) || was_told
    }

    fn handle_news(&mut self, done: &mut Vec<Completion>) -> bool {
        let Some(wire) = &mut self.network else { return false };
        for news in wire.take_news() {
            match news {
                News::Ready { to, course, upto } => {
                    let packet = Packet::Ready { send: course.send, landing: course.landing };
                    let words = [course.first.into(), upto.into(), 0];
                    let _ = self.submit(to, Outgoing::Words { packet, words });
                }
                News::Landed { from, landing, course, how } => {
                    self.straight_landed(from, landing, how, done);
                    if how == How::Withdrawn {
                        self.send_control(from, Packet::Finished { send: course.send });
                    }
                }
                News::Sent { send } => {
                    if let Some(large) = self.rndv_sends.get_mut(send) {
                        large.straight = None;
                    }
                    self.finish_rndv_send(send, done);
                }
            }
        }
        self.advertise_credits();
        self.settle_disconnects();
        true
    }

    /// A large message has ended.
    fn straight_landed(&mut self, from: Peer, id: Id, how: How, done: &mut Vec<Completion>) {
        // It is gone if it was taken back.
        let Some(RndvRecv { receive, source, tag, bytes, .. }) = self.rndv_recvs.remove(id) else {
            return;
        };
        let outcome = match how {
            How::Whole => Ok(Received { source, tag, bytes }),
            How::Stopped | How::Withdrawn => Err(TransferError::Revoked(from)),
        };
        done.push(Completion { token: receive.token(), outcome });
    }

    /// Has a large message from a rank elsewhere come straight. `false` if it must come otherwise.
    pub(super) fn land_straight(
        &mut self,
        message: &Message,
        exposure: &RndvOffer,
        receive: &PostedRecv,
        done: &mut Vec<Completion>,
    ) -> bool {
        let (source, bytes) = (message.source, message.bytes);
        if !self.reaches(source) || bytes <= self.inline_max_bytes() {
            return false;
        }
        let (receive, tag) = (*receive, message.label.tag);
        let landing = RndvRecv {
            receive,
            source,
            tag,
            bytes,
            missing: bytes,
            straight: None,
            exposure: None,
        };
        let id = self.rndv_recvs.insert(landing);
        let into = receive.into.part(0, bytes);
        let Some(wire) = &mut self.network else { return false };
        // SAFETY: memory of a posted receive. Whoever takes the receive back waits until the
        // transfer has ended (`await_withdrawn`).
        let Some(name) = (unsafe { wire.land((source, exposure.send, id), into) }) else {
            self.rndv_recvs.remove(id);
            return false;
        };
        if let Some(landing) = self.rndv_recvs.get_mut(id) {
            landing.straight = Some(name);
        }
        self.handle_news(done);
        true
    }

    /// The receiver of a large message is ready for so many of its segments.
    pub(super) fn send_straight(&mut self, to: Peer, course: TransferIds, upto: u32) {
        let Some(wire) = &mut self.network else { return };
        let Some(large) = self.rndv_sends.get_mut(Id(course.send)) else {
            let packet = Packet::Stopped { landing: course.landing };
            let _ = self.submit(to, Outgoing::Words { packet, words: [0; 3] });
            return;
        };
        match large.straight {
            Some(name) => wire.allow(name, upto),
            // SAFETY: memory of a posted send, as in `land_straight`.
            None => large.straight = unsafe { wire.send(to, (course, upto), large.data) },
        }
    }

    /// The receiver of a large message has what it wants of it: all of it, or it was taken back.
    pub(super) fn finish_or_cut_short(&mut self, send: Id, done: &mut Vec<Completion>) {
        let straight = self.rndv_sends.get_mut(send).and_then(|large| large.straight);
        match (straight, &mut self.network) {
            // The network may be using the memory still: there will be news.
            (Some(name), Some(wire)) => wire.cut_short(name),
            _ => self.finish_rndv_send(send, done),
        }
    }

    /// A large message that is on its way is taken back by this rank, which sends it.
    pub(super) fn stop_straight(&mut self, to: Peer, name: u64) {
        let Some(wire) = &mut self.network else { return };
        if let Some((course, sent)) = wire.withdraw(name) {
            let packet = Packet::Stopped { landing: course.landing };
            let _ = self.submit(to, Outgoing::Words { packet, words: [sent.into(), 0, 0] });
        }
    }

    /// The sender of a large message that comes straight has taken it back.
    pub(super) fn stop_landing(&mut self, name: u64, sent: u32, done: &mut Vec<Completion>) {
        if let Some(wire) = &mut self.network {
            wire.stop(name, sent);
            self.handle_news(done);
        }
    }

    /// A receive is taken back into which a message comes straight.
    pub(super) fn take_back_straight(&mut self, straight: Option<u64>) {
        if let (Some(name), Some(wire)) = (straight, &mut self.network) {
            wire.withdraw(name);
        }
    }

    /// Waits until the memory of transfers that were taken back is used by nobody. Their other
    /// sides let it go whenever they look; those that have died are lost, and the world fails.
    pub(super) fn await_withdrawn(&mut self) {
        let begun = Instant::now();
        loop {
            let Some(wire) = &mut self.network else { return };
            if !wire.has_withdrawn() {
                return;
            }
            if self.segment.failure().is_some() {
                // Others may be dead, and never let it go.
                return wire.close();
            }
            if wire.is_time_to_say() {
                self.publish_awaited_peers();
            } else if begun.elapsed() > wire.timeout() {
                wire.give_up_withdrawn();
            }
            let mut done = std::mem::take(&mut self.late);
            self.progress(&mut done);
            self.late = done;
            self.segment.pause();
        }
    }
}
