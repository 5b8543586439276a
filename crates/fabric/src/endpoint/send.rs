//! The sending half of an endpoint: protocol selection, and flushing of queues.

use super::peer_tx::{Attempt, Fragments, Outgoing};
use super::protocol::{
    EXCHANGE_MIN_BYTES, Outbound, Protocol, choose, choose_without_bounce, is_multicast,
};
use super::{Completion, Endpoint, Posted, RndvSend};
use crate::packet::Packet;
use crate::read_lease::ReadLease;
use crate::slab::Id;
use crate::{Label, Peer, Received, Region, Token, TrafficHint, TypeCode};

impl Endpoint {
    /// Sends a message. Never waits.
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
            let is_sent = unsafe {
                self.bounce.send(
                    &mut self.transport,
                    &self.thresholds,
                    to,
                    (label, element, data),
                    hint,
                )
            };
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

    /// Sends a message like [`Endpoint::send`], but is done only when a receive has taken it,
    /// however short it is.
    ///
    /// # Safety
    /// As [`Endpoint::send`].
    pub unsafe fn send_synchronously(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        data: Region,
        token: Token,
    ) -> Posted {
        self.transport.introduce(to, element);
        let is_synchronous = true;
        self.submit(to, Outgoing::Large { label, element, data, token, is_synchronous })
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

    /// Describes a message to `choose`, which decides how it travels. If its [hint](TrafficHint) is
    /// `Unknown`, it counts as the reply to a message that has come from the receiver before.
    #[inline]
    pub(super) fn outbound(&mut self, to: Peer, data: Region, hint: TrafficHint) -> Outbound {
        let bytes = data.bytes();
        if bytes <= EXCHANGE_MIN_BYTES {
            return Outbound { bytes, hint, lies_in_heap: false };
        }
        let lies_in_heap = bytes > self.thresholds.heap_min(hint) && self.is_in_shared_heap(data);
        let hint = match hint {
            TrafficHint::Unknown if !lies_in_heap && self.bounce.take_recent_traffic(to) => {
                TrafficHint::Expected
            }
            hint => hint,
        };
        Outbound { bytes, hint, lies_in_heap }
    }

    /// Sends now if there is room and nothing waits before it, else puts the message into a bounce
    /// buffer, or queues it.
    pub(super) fn submit(&mut self, to: Peer, outgoing: Outgoing) -> Posted {
        if self.transport.peer_tx[to.index()].is_flushed() {
            match self.attempt(to, &outgoing, &mut Vec::new()) {
                Attempt::Gone(posted) => {
                    self.transport.notify(to);
                    return posted;
                }
                Attempt::NoRoom => {}
                Attempt::Partly(_) => unreachable!("pieces are queued, not submitted"),
            }
        }
        if let Outgoing::Eager { label, element, data, .. } = outgoing
            && data.bytes() > self.transport.peer_tx[to.index()].thresholds().short_max
            && self.thresholds.may_bounce_if_full(data.bytes())
        {
            // SAFETY: that of a send that is being posted: readable, by its poster's promise.
            if unsafe {
                self.bounce.send(
                    &mut self.transport,
                    &self.thresholds,
                    to,
                    (label, element, data),
                    TrafficHint::Unknown,
                )
            } {
                return Posted::Done;
            }
        }
        self.transport.peer_tx[to.index()].enqueue(outgoing);
        self.transport.waiting += 1;
        Posted::Pending
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
                        done.push(self.sent(token, label.tag, data.bytes()));
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
                let is_remote_bounced = !is_synchronous && self.send_remote_bounce(to, message);
                match is_remote_bounced || self.send_rts(to, label, element, data, token) {
                    true => Attempt::Gone(Posted::Pending),
                    false => Attempt::NoRoom,
                }
            }
            Outgoing::Fragments(pieces) => self.push_fragments(to, pieces, done),
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
        let lease = if self.transport.reaches(to) { None } else { self.leases.grant() };
        let transfer = None;
        let send = self.rndv_sends.insert(RndvSend { to, label, data, lease, token, transfer });
        let address = self.heap_address(data);
        let packet = Packet::Large { label, element, bytes: data.bytes() };
        let words = [address, ReadLease::to_word(lease), send.0];
        if self.transport.peer_tx[to.index()].push_words(packet, &words) {
            return true;
        }
        self.remove_rndv_send(send);
        false
    }

    /// Sends as many pieces of a large message as there is room for.
    fn push_fragments(
        &mut self,
        to: Peer,
        pieces: Fragments,
        done: &mut Vec<Completion>,
    ) -> Attempt {
        let Fragments { send, recv, data, sent: before } = pieces;
        if self.rndv_sends.get_mut(send).is_none() {
            return Attempt::Gone(Posted::Done); // Its receiver has got the rest by itself.
        }
        if let Some(attempt) = self.send_pipelined_fragment(to, pieces, done) {
            return attempt;
        }
        let standing = &mut self.transport.peer_tx[to.index()];
        let mut sent = before;
        while sent < data.bytes() {
            let bytes = standing.payload().min(data.bytes() - sent);
            let packet = Packet::Piece { recv, offset: sent, bytes };
            if !standing.push(packet, data.part(sent, bytes)) {
                let rest = Outgoing::Fragments(Fragments { sent, ..pieces });
                return if sent > before { Attempt::Partly(rest) } else { Attempt::NoRoom };
            }
            sent += bytes;
        }
        self.finish_rndv_send(send, done);
        Attempt::Gone(Posted::Done)
    }

    /// The receiver of a large message has it.
    pub(super) fn finish_rndv_send(&mut self, send: Id, done: &mut Vec<Completion>) {
        // A message that was cancelled meanwhile is no longer ours to finish.
        if let Some(large) = self.remove_rndv_send(send) {
            done.push(self.sent(large.token, large.label.tag, large.data.bytes()));
        }
    }

    /// Forgets a large message: no rank reads it on return or, for a zero-copy transfer, once
    /// [`Endpoint::await_withdrawn`] has returned.
    fn remove_rndv_send(&mut self, send: Id) -> Option<RndvSend> {
        let large = self.rndv_sends.remove(send)?;
        if let Some(lease) = large.lease {
            self.leases.revoke(lease);
        }
        if let Some(name) = large.transfer {
            self.stop_zero_copy(large.to, name);
        }
        Some(large)
    }

    fn sent(&self, token: Token, tag: u64, bytes: usize) -> Completion {
        Completion { token, outcome: Ok(Received { source: self.transport.me, tag, bytes }) }
    }

    /// Takes back the sends that the predicate names, in whatever state they are. A receiver that
    /// awaits pieces of one gets a packet `Revoked` in their place.
    pub(super) fn drop_sends(&mut self, mut gone: impl FnMut(Peer, Token) -> bool) {
        let large = self.rndv_sends.iter();
        let ended: Vec<Id> =
            large.filter_map(|(id, send)| gone(send.to, send.token).then_some(id)).collect();
        for id in ended {
            self.remove_rndv_send(id);
        }
        for (peer, standing) in self.transport.peer_tx.iter_mut().enumerate() {
            let before = standing.waiting.len();
            standing.waiting.retain_mut(|outgoing| {
                match *outgoing {
                    Outgoing::Eager { token, .. } | Outgoing::Large { token, .. } => {
                        return !gone(Peer(peer as u32), token);
                    }
                    Outgoing::Fragments(Fragments { send, recv, .. })
                        if self.rndv_sends.get_mut(send).is_none() =>
                    {
                        let packet = Packet::Revoked { recv };
                        *outgoing = Outgoing::Words { packet, words: [0; 3] };
                    }
                    Outgoing::Fragments(_) | Outgoing::Words { .. } | Outgoing::Introduction(_) => {
                    }
                }
                true
            });
            self.transport.waiting -= before - standing.waiting.len();
        }
    }
}
