//! The sending half of an endpoint: protocol selection, and flushing of queues.

use std::mem;

use super::peer_tx::{Attempt, Outgoing};
use super::protocol::{
    EXCHANGE_MIN_BYTES, Outbound, Protocol, choose, choose_without_bounce, is_multicast,
};
use super::{Completion, Endpoint, Posted, RndvSend};
use crate::packet::Packet;
use crate::read_lease::ReadLease;
use crate::{Label, Peer, Region, Token, TrafficHint, TypeCode};

/// How often a sender looks whether its receiver has made room: half a ring of short messages takes
/// that one some microseconds.
const ROOM_POLLS: u32 = 256;

impl Endpoint {
    /// Sends a message. Waits for nobody, but for some microseconds if a ring is full.
    ///
    /// # Safety
    /// Until the send is done (now, by its completion, or after [`Endpoint::cancel`]) `data` stays
    /// readable and nobody writes it.
    pub unsafe fn send(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        data: Region,
        token: Token,
    ) -> Posted {
        // SAFETY: passed on.
        unsafe { self.send_with(TrafficHint::Unknown, to, (label, element, data), token) }
    }

    /// Sends a message like [`Endpoint::send`], with a hint whether the receiver replies. The hint
    /// decides which lengths go in a bounce buffer; without room for one the message goes in
    /// another way.
    ///
    /// If sender and receiver share a core and no reply comes, somewhat longer messages go in
    /// bounce buffers: the sender then continues without waiting for its receiver.
    ///
    /// # Safety
    /// As [`Endpoint::send`].
    pub unsafe fn send_with(
        &mut self,
        hint: TrafficHint,
        to: Peer,
        (label, element, data): (Label, TypeCode, Region),
        token: Token,
    ) -> Posted {
        self.transport.introduce(to, element);
        let message = self.outbound(to, data, hint);
        let ring = self.transport.peer_tx[to.index()].thresholds();
        let mut protocol = choose(&self.thresholds, ring, message);
        if let Protocol::Bounce | Protocol::BounceReadWhileWritten = protocol {
            // SAFETY: readable, by the caller's promise.
            let is_sent = unsafe { self.send_bounce(to, (label, element, data), hint) };
            if is_sent {
                return Posted::Done;
            }
            let ring = self.transport.peer_tx[to.index()].thresholds();
            protocol = choose_without_bounce(ring, message.bytes);
        }
        let message = match protocol {
            Protocol::Ring | Protocol::RingFragments => {
                Outgoing::Eager { label, element, data, token }
            }
            _ => Outgoing::Large { label, element, data, token, is_synchronous: false },
        };
        self.submit(to, message)
    }

    /// Sends the message of a multicast to its next receiver. The first call of an operation passes
    /// the number of receivers and fills the bounce buffer; the later ones pass 0. `false` if the
    /// caller must send the message in another way.
    ///
    /// # Safety
    /// `data` is readable now, and the same until all of them have been sent to.
    pub unsafe fn send_multicast(
        &mut self,
        to: Peer,
        (label, element, data): (Label, TypeCode, Region),
        (operation, hint): (u64, TrafficHint),
        readers: u32,
    ) -> bool {
        self.transport.introduce(to, element);
        if readers > 0 {
            self.bounce.release_unannounced(&self.transport);
            let hint = self.thresholds.multicast_hint(hint);
            // With a network some of them may be on other hosts: a bounce buffer that is for all
            // would be filled in vain, for some or for all of them.
            let are_here = self.transport.network.is_none();
            let may = are_here && data.bytes() > self.thresholds.cell_max && {
                let message = self.outbound(to, data, hint);
                is_multicast(&self.thresholds, message, readers)
            };
            if may {
                let message = (operation, data);
                // SAFETY: passed on.
                unsafe { self.bounce.begin_multicast(&mut self.transport, to, message, readers) };
            }
        }
        let message = (label, element, data);
        self.bounce.announce_multicast(&mut self.transport, to, message, operation)
    }

    /// Sends a message by a bounce buffer of its own. `false` if it must go as others do.
    ///
    /// # Safety
    /// `data` is readable now.
    #[inline(never)] // a short message that goes in a cell keeps its registers
    pub(super) unsafe fn send_bounce(
        &mut self,
        to: Peer,
        message: (Label, TypeCode, Region),
        hint: TrafficHint,
    ) -> bool {
        // SAFETY: passed on.
        unsafe { self.bounce.send(&mut self.transport, &self.thresholds, to, message, hint) }
    }

    /// Describes a message to `choose`, which decides how it travels. If its [hint](TrafficHint) is
    /// `Unknown`, it counts as the reply to a message that has come from the receiver before.
    #[inline]
    pub(super) fn outbound(&mut self, to: Peer, data: Region, hint: TrafficHint) -> Outbound {
        let bytes = data.bytes();
        if bytes <= EXCHANGE_MIN_BYTES {
            return Outbound { bytes, hint, lies_in_heap: false };
        }
        let lies_in_heap =
            bytes > self.thresholds.heap_min(hint) && self.is_in_shared_heap(to, data);
        let hint = match hint {
            TrafficHint::Unknown if !lies_in_heap && self.bounce.take_recent_traffic(to) => {
                TrafficHint::Expected
            }
            hint => hint,
        };
        Outbound { bytes, hint, lies_in_heap }
    }

    /// Sends now if there is room, perhaps after some microseconds, and nothing waits before it;
    /// else puts the message into a bounce buffer, or queues it.
    pub(super) fn submit(&mut self, to: Peer, outgoing: Outgoing) -> Posted {
        let mut may_wait = true;
        while self.transport.peer_tx[to.index()].is_flushed() {
            match self.attempt(to, &outgoing, &mut Vec::new()) {
                Attempt::Gone(posted) => {
                    self.transport.notify(to);
                    return posted;
                }
                Attempt::NoRoom if mem::take(&mut may_wait) && self.finds_room_soon(to) => {}
                Attempt::NoRoom => break,
                Attempt::Partly(_) => unreachable!("pieces are queued, not submitted"),
            }
        }
        if let Outgoing::Eager { label, element, data, .. } = outgoing
            && data.bytes() > self.transport.peer_tx[to.index()].thresholds().short_max
            && self.thresholds.may_bounce_if_full(data.bytes())
        {
            // SAFETY: that of a send that is being posted: readable, by its poster's promise.
            if unsafe { self.send_bounce(to, (label, element, data), TrafficHint::Unknown) } {
                return Posted::Done;
            }
        }
        self.transport.enqueue(to, outgoing);
        Posted::Pending
    }

    /// Waits until a full ring has room, if that is soon. Messages that wait in an operation of
    /// their own take twice as long as others, and so do those that are sent behind them, so it
    /// pays for who sends faster than its receiver receives. A receiver that is not at it costs
    /// one such time, since what is sent next finds others that wait. One that sends to us
    /// meanwhile may wait until we receive; and where ranks share cores it may wait for our core.
    #[cold]
    fn finds_room_soon(&self, to: Peer) -> bool {
        if self.thresholds.is_oversubscribed || self.transport.reaches(to) {
            return false;
        }
        for _ in 0..ROOM_POLLS {
            if self.transport.peer_tx[to.index()].sees_room() {
                return true;
            }
            if self.transport.readers[to.index()].has_message() {
                return false;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// Sends what waits, as far as there is room. Says whether anything went.
    pub(super) fn flush(&mut self, done: &mut Vec<Completion>) -> bool {
        let mut went = false;
        for peer in (0..self.transport.peer_tx.len() as u32).map(Peer) {
            if self.flush_ring(peer, done) {
                self.transport.notify(peer);
                went = true;
            }
        }
        went
    }

    /// Sends what waits for one peer. Returns whether any cell went, even if only a part of a
    /// message: then the caller must ring the doorbell of that peer. A peer that sleeps would
    /// leave the ring full.
    fn flush_ring(&mut self, peer: Peer, done: &mut Vec<Completion>) -> bool {
        let mut went = false;
        while let Some(&mut outgoing) = self.transport.peer_tx[peer.index()].waiting.front_mut() {
            match self.attempt(peer, &outgoing, done) {
                Attempt::NoRoom => break,
                Attempt::Partly(rest) => {
                    went = true;
                    if let Some(first) = self.transport.peer_tx[peer.index()].waiting.front_mut() {
                        *first = rest;
                    }
                    break;
                }
                Attempt::Gone(_) => {
                    went = true;
                    self.transport.waiting -= 1;
                    self.transport.peer_tx[peer.index()].waiting.pop();
                    // It has waited, so its poster awaits a completion.
                    if let Outgoing::Eager { label, data, token, .. } = outgoing {
                        done.push(self.transport.sent(token, label.tag, data.bytes()));
                    }
                }
            }
        }
        went
    }

    fn attempt(&mut self, to: Peer, outgoing: &Outgoing, done: &mut Vec<Completion>) -> Attempt {
        match *outgoing {
            Outgoing::Eager { label, element, data, .. } => {
                match self.transport.peer_tx[to.index()].push_eager(label, element, data) {
                    true => Attempt::Gone(Posted::Done),
                    false => Attempt::NoRoom,
                }
            }
            Outgoing::Words { packet, ref words } => {
                match self.transport.peer_tx[to.index()].push_words(packet, words) {
                    true => Attempt::Gone(Posted::Done),
                    false => Attempt::NoRoom,
                }
            }
            Outgoing::Large { label, element, data, token, is_synchronous } => {
                let message = (label, element, data, token);
                let is_sent = if is_synchronous {
                    self.try_send_in_cell(to, message)
                } else {
                    self.rndv.send_remote_bounce(&mut self.transport, to, message).then_some(true)
                };
                match is_sent.unwrap_or_else(|| self.send_rts(to, label, element, data, token)) {
                    true => Attempt::Gone(Posted::Pending),
                    false => Attempt::NoRoom,
                }
            }
            Outgoing::Fragments(pieces) => {
                self.rndv.push_fragments(&mut self.transport, to, pieces, done)
            }
            Outgoing::Introduction(introduction) => {
                self.transport.peer_tx[to.index()].push_introduction(introduction)
            }
        }
    }

    /// Announces a large message. `false` if there is no room for that now.
    ///
    /// One for which no lease is left goes in pieces. To wait for a lease would be wrong: the
    /// leases in use may belong to messages that their receivers want only after this one.
    fn send_rts(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        data: Region,
        token: Token,
    ) -> bool {
        // Nobody elsewhere can copy from here.
        let lease = if self.transport.reaches(to) { None } else { self.rndv.leases.grant() };
        let transfer = None;
        let send = self.rndv.sends.insert(RndvSend { to, label, data, lease, token, transfer });
        let address = self.heap_address(to, data);
        let packet = Packet::Large { label, element, bytes: data.bytes() };
        let words = [address, ReadLease::to_word(lease), send.0];
        if self.transport.peer_tx[to.index()].push_words(packet, &words) {
            return true;
        }
        self.rndv.remove_send(&mut self.transport, send);
        false
    }
}
