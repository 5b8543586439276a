//! The receiving half of an endpoint: handles packets, matches messages and completes receives.

use super::bounce_pool::BounceBuffer;
use super::in_place::InPlaceSource;
use super::message::Message;
use super::mprobe::MatchedMessage;
use super::protocol::{RndvProtocol, choose_rndv};
use super::reassembly::Parts;
use super::recv_queues::UNEXPECTED_MAX;
use super::shared_heap::is_in_heap;
use super::{Completion, Endpoint, Fill, PostedRecv, RndvOffer, UnexpectedBody};
use crate::cooperative_copy::Copied;
use crate::layout::LINE;
use crate::matching::Ticket;
use crate::net::TransferIds;
use crate::packet::{Header, Packet};
use crate::read_lease::{self, ReadLease};
use crate::slab::Id;
use crate::{Peer, Region, RegionMut, Selector, Token, TransferError, TypeCode};

/// Packets that are taken from one peer before the next peer has its turn.
const PACKETS_PER_PEER_MAX: usize = 64;
/// Looks without anything new after which we are that reluctant no more.
const UNEXPECTED_IDLE_POLLS: u32 = 16;

impl Endpoint {
    /// Takes what has come. Says whether anything had.
    ///
    /// Messages that come before their receives are kept in our memory, and a fast sender would
    /// have us keep any number of them. So of a peer that has many kept already nothing more is
    /// taken while there is something else to do; its lane fills, and it waits. Only when we find
    /// nothing time and again may what we wait for lie behind: then we take one at a time. A rank
    /// that has posted many receives has as many operations, and what it waits for is likely to lie
    /// behind messages for others of them: it keeps as many messages of each peer.
    pub(super) fn poll_readers(&mut self, done: &mut Vec<Completion>) -> bool {
        let (mut came, mut hoarded) = (false, false);
        for peer in 0..self.transport.readers.len() {
            // Most rings are empty at most polls.
            if !self.transport.readers[peer].has_message() {
                continue;
            }
            if self.recv_queues.unexpected[peer] < UNEXPECTED_MAX
                || !self.recv_queues.keeps_many(peer)
            {
                came |= self.poll_reader(peer, PACKETS_PER_PEER_MAX, done);
            } else {
                hoarded = true;
            }
        }
        self.recv_queues.idle_polls =
            if came { 0 } else { self.recv_queues.idle_polls.saturating_add(1) };
        if !hoarded || self.recv_queues.idle_polls < UNEXPECTED_IDLE_POLLS {
            return came || hoarded;
        }
        for peer in 0..self.transport.readers.len() {
            if self.recv_queues.keeps_many(peer) {
                came |= self.poll_reader(peer, 1, done);
            }
        }
        came
    }

    /// Takes up to `turn` packets from one peer.
    fn poll_reader(&mut self, peer: usize, turn: usize, done: &mut Vec<Completion>) -> bool {
        for taken in 0..turn {
            // SAFETY: peers push nothing but `Header`s into standing lanes, and any bits are one.
            let Some(header) = (unsafe { self.transport.readers[peer].peek::<Header>() }) else {
                return taken > 0;
            };
            if header.is_first() && !self.begin_reassembly(Peer(peer as u32), header, done) {
                return true;
            }
            let source = Peer(peer as u32);
            match Packet::read(header) {
                Packet::Eager { label, element, bytes } => {
                    self.handle_eager(Message { source, label, element, bytes }, done);
                }
                packet => self.handle(source, packet, done),
            }
            if self.transport.readers[peer].advance() {
                self.transport.notify(Peer(peer as u32));
            }
        }
        true
    }

    /// Handles a packet that is not a message of one cell.
    #[inline(never)] // the addresses of the parts that it needs are not taken for a short message
    fn handle(&mut self, source: Peer, packet: Packet, done: &mut Vec<Completion>) {
        match packet {
            Packet::Eager { .. } => unreachable!("handled where it is polled"),
            // Whoever polls has begun to assemble it.
            Packet::First { bytes, .. } => self.bounce.note_message(source, bytes),
            Packet::Rest { bytes } => self.continue_reassembly(source, bytes, done),
            Packet::RemoteBounced { label, element, bytes } => {
                self.note_remote_bounced(Message { source, label, element, bytes }, done);
            }
            Packet::BounceCredits => self.transport.note_credits(source),
            Packet::Bounced { label, element, bytes } => {
                self.handle_bounced(Message { source, label, element, bytes }, done);
            }
            Packet::Synchronous { label, element, bytes } => {
                self.handle_synchronous(Message { source, label, element, bytes }, done);
            }
            Packet::Large { label, element, bytes } => {
                self.handle_offer(Message { source, label, element, bytes }, done);
            }
            Packet::Pieces { send, recv } => {
                self.rndv.queue_fragments(&mut self.transport, source, Id(send), recv);
            }
            Packet::Piece { recv, offset, bytes } => {
                self.rndv.handle_fragment(&self.transport, source, (Id(recv), offset, bytes), done);
            }
            Packet::Pipelined { recv, offset, bytes } => {
                let buffer = BounceBuffer::from_words(self.transport.words(source));
                let piece = (Id(recv), offset, bytes);
                self.rndv.handle_pipelined_fragment(&self.transport, source, piece, buffer, done);
            }
            Packet::Ready { send, recv } => {
                let [first, upto, _] = self.transport.words(source);
                let ids = TransferIds { send, recv, first: first as u32 };
                self.rndv.send_zero_copy(&mut self.transport, source, ids, upto as u32);
            }
            Packet::Stopped { recv } => {
                let [sent, ..] = self.transport.words(source);
                self.stop_recv(recv, sent as u32, done);
            }
            Packet::Share { send, address } => self.help_or_defer(Id(send), address),
            Packet::Finished { send } => {
                self.rndv.finish_or_cut_short(&mut self.transport, Id(send), done)
            }
            Packet::Revoked { recv } => {
                self.rndv.handle_revoked(source, Id(recv), done);
            }
            Packet::Introduction { element, total, bytes } => {
                self.transport.handle_introduction(source, element, total, bytes);
            }
            Packet::HeapOffer => self.process_heaps.handle_offer(&mut self.transport, source),
            Packet::HeapMapped => self.process_heaps.note_mapped(source),
            Packet::Leaving | Packet::Left | Packet::Seen => {
                self.disconnect.note(&mut self.transport, source, packet)
            }
            Packet::Open { label, element } => {
                self.channels.note_opened(&self.transport, source, label, element);
            }
        }
    }

    /// Handles the announcement of a large message.
    fn handle_offer(&mut self, message: Message, done: &mut Vec<Completion>) {
        self.transport.request_remote_bounce(message.source, message.bytes);
        let [address, lease, send] = self.transport.words(message.source);
        let offer = RndvOffer { address, lease: ReadLease::from_word(lease), send };
        match self.recv_queues.matching.take_posted(message.source, message.label) {
            Some(receive) => self.start_rndv(message, offer, receive, done),
            None => self.recv_queues.enqueue_unexpected(message, UnexpectedBody::Offered(offer)),
        }
    }

    fn handle_bounced(&mut self, message: Message, done: &mut Vec<Completion>) {
        self.bounce.note_message(message.source, message.bytes);
        let buffer = BounceBuffer::from_words(self.transport.words(message.source));
        match self.recv_queues.matching.take_posted(message.source, message.label) {
            Some(receive) => self.bounce.receive(&self.transport, message, buffer, &receive, done),
            None => self.recv_queues.enqueue_unexpected(message, UnexpectedBody::Shared(buffer)),
        }
    }

    /// Handles a message that has arrived in a remote bounce buffer.
    fn note_remote_bounced(&mut self, message: Message, done: &mut Vec<Completion>) {
        let [slot, granted, _] = self.transport.words(message.source);
        let Some(network) = &mut self.transport.network else { return };
        network.note_granted(message.source, granted);
        match self.recv_queues.matching.take_posted(message.source, message.label) {
            Some(receive) => self.transport.receive_remote_bounced(message, slot, receive, done),
            None => {
                self.recv_queues.enqueue_unexpected(message, UnexpectedBody::RemoteBounced(slot))
            }
        }
    }

    /// Takes the first cell of a message that lies in several. `false` if the cell stays in the
    /// ring, to be polled again.
    fn begin_reassembly(
        &mut self,
        source: Peer,
        header: Header,
        done: &mut Vec<Completion>,
    ) -> bool {
        let Endpoint { transport, recv_queues, rndv, reassemblies, .. } = self;
        reassemblies.begin(&mut Parts { transport, recv_queues, rndv }, source, header, done)
    }

    /// Another cell of the message that has begun to come.
    fn continue_reassembly(&mut self, source: Peer, bytes: usize, done: &mut Vec<Completion>) {
        let Endpoint { transport, recv_queues, rndv, reassemblies, .. } = self;
        reassemblies.resume(&mut Parts { transport, recv_queues, rndv }, source, bytes, done);
    }

    fn handle_eager(&mut self, message: Message, done: &mut Vec<Completion>) {
        self.bounce.note_message(message.source, message.bytes);
        let reader = &self.transport.readers[message.source.index()];
        match self.recv_queues.matching.take_posted(message.source, message.label) {
            Some(receive) => {
                let fits = message.fits(&receive, &self.transport.introductions);
                if fits.is_ok() {
                    let into = receive.into.part(0, message.bytes);
                    // SAFETY: a posted receive: writable, by the promise of its poster.
                    unsafe { reader.copy_payload::<Header>(into) };
                }
                done.push(message.completion(receive.token(), fits));
            }
            None => {
                let mut whole = vec![0; message.bytes].into_boxed_slice();
                // SAFETY: a live box of this length.
                unsafe { reader.copy_payload::<Header>(RegionMut::of(&mut whole)) };
                self.recv_queues.enqueue_unexpected(message, UnexpectedBody::Whole(whole));
            }
        }
    }

    /// Posts a receive, or receives with it what has come.
    pub(super) fn post(
        &mut self,
        selector: Selector,
        receive: PostedRecv,
        done: &mut Vec<Completion>,
    ) -> Ticket {
        match self.recv_queues.mprobe(selector) {
            None => self.recv_queues.matching.post(selector, receive),
            Some(taken) => {
                self.receive_unexpected(taken, receive, done);
                Ticket::default()
            }
        }
    }

    /// As [`Endpoint::recv`]; but the message is as long as `into`, and the endpoint may leave it
    /// in place, where it has this alignment in bytes, a power of two up to a line. The caller then
    /// reads it by [`Endpoint::open_in_place`] after the completion, and ends the receive by
    /// [`Endpoint::close_in_place`].
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    pub unsafe fn recv_in_place(
        &mut self,
        selector: Selector,
        element: TypeCode,
        (into, alignment): (RegionMut, usize),
        token: Token,
        done: &mut Vec<Completion>,
    ) -> Ticket {
        debug_assert!((1..=LINE).contains(&alignment), "a message begins a line, or anywhere");
        let receive = PostedRecv::new(into, element, token).filled(Fill::Whole);
        let receive = PostedRecv { in_place_alignment: alignment as u8, ..receive };
        self.post(selector, receive, done)
    }

    /// The message that was received with this token, if it has been left in place: readable until
    /// [`Endpoint::close_in_place`]. Its address has the alignment that was asked for.
    ///
    /// # Errors
    /// [`TransferError::Revoked`] if its sender has taken it back meanwhile.
    #[inline]
    pub fn open_in_place(&mut self, token: Token) -> Option<Result<Region, TransferError>> {
        let (&message, place) = self.bounce.in_place.get_mut(token)?;
        let offer = match place {
            InPlaceSource::Bounced(buffer) => {
                return Some(Ok(buffer.message(&self.transport.segment, message.bytes)));
            }
            InPlaceSource::Heap(offer, lease, is_taken) => {
                *is_taken =
                    *is_taken || read_lease::take(&self.transport.segment, message.source, *lease);
                if !*is_taken {
                    return Some(Err(TransferError::Revoked(message.source)));
                }
                *offer
            }
        };
        Some(Ok(self.in_heap(message.source, offer.address, message.bytes)))
    }

    /// Ends the receive of a message that has been left in place, whether it has been opened or
    /// not. Nothing happens if the message is not in place.
    ///
    /// # Errors
    /// [`TransferError::Revoked`] if its sender has taken it back while it was open, because a rank
    /// has died: then the bytes that were read are not reliable.
    #[inline]
    pub fn close_in_place(&mut self, token: Token) -> Result<(), TransferError> {
        let Some((message, place)) = self.bounce.in_place.take(token) else { return Ok(()) };
        match place {
            InPlaceSource::Bounced(buffer) => {
                self.bounce.recycle(&self.transport, message.source, buffer, message.bytes);
                Ok(())
            }
            InPlaceSource::Heap(offer, lease, true) => {
                let copied = self.settle((message.source, lease), &offer, Copied::All);
                copied.expect("there was nothing that the system could refuse")
            }
            InPlaceSource::Heap(offer, ..) => {
                let finished = Packet::Finished { send: offer.send };
                self.transport.send_control(message.source, finished);
                Ok(())
            }
        }
    }

    /// Whether any message has been left in place and its receive has not ended.
    #[inline]
    pub fn has_in_place(&self) -> bool {
        !self.bounce.in_place.messages.is_empty()
    }

    /// A token that the predicate names, of a message that has been left in place.
    #[inline]
    pub fn left_in_place(&self, is_it: impl FnMut(Token) -> bool) -> Option<Token> {
        self.bounce.in_place.find(is_it)
    }

    /// Releases the message that was received with this token without reading it.
    pub fn release_in_place(&mut self, token: Token) {
        let _ = self.close_in_place(token); // The bytes are not used.
    }

    /// Receives a message that a probe has taken.
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    pub unsafe fn mrecv(
        &mut self,
        taken: MatchedMessage,
        element: TypeCode,
        into: RegionMut,
        token: Token,
        done: &mut Vec<Completion>,
    ) {
        self.receive_unexpected(taken, PostedRecv::new(into, element, token), done);
    }

    /// A receive is posted for a message that came before it.
    pub(super) fn receive_unexpected(
        &mut self,
        MatchedMessage { source, label, unexpected }: MatchedMessage,
        receive: PostedRecv,
        done: &mut Vec<Completion>,
    ) {
        let message =
            Message { source, label, element: unexpected.element, bytes: unexpected.bytes };
        match unexpected.body {
            UnexpectedBody::Offered(offer) => self.start_rndv(message, offer, receive, done),
            UnexpectedBody::RemoteBounced(slot) => {
                self.transport.receive_remote_bounced(message, slot, receive, done)
            }
            UnexpectedBody::Shared(buffer) => {
                self.bounce.receive(&self.transport, message, buffer, &receive, done)
            }
            UnexpectedBody::Whole(whole) => {
                message.deliver(&whole, receive, &self.transport.introductions, done)
            }
            UnexpectedBody::Unacknowledged(whole, send) => {
                message.deliver(&whole, receive, &self.transport.introductions, done);
                self.transport.send_control(source, Packet::Finished { send });
            }
        }
    }

    /// A large message meets its receive: copy it, or ask for its pieces.
    fn start_rndv(
        &mut self,
        message: Message,
        offer: RndvOffer,
        receive: PostedRecv,
        done: &mut Vec<Completion>,
    ) {
        if let Err(error) = message.fits(&receive, &self.transport.introductions) {
            self.transport.send_control(message.source, Packet::Finished { send: offer.send });
            done.push(message.completion(receive.token(), Err(error)));
            return;
        }
        let lies_in_heap = is_in_heap(offer.address);
        let protocol =
            choose_rndv(&self.thresholds, message.bytes, lies_in_heap, receive.may_stay_in_place());
        // A message of this rank to itself, or from another host, never comes in bounce buffers.
        let is_of_a_neighbour =
            message.source != self.transport.me && !self.transport.reaches(message.source);
        if protocol == RndvProtocol::Pipelined && is_of_a_neighbour {
            return self.rndv.request_fragments(&mut self.transport, message, offer, receive);
        }
        if protocol == RndvProtocol::HeapInPlace
            && self.bounce.in_place.leave_offer(&self.transport, &message, &offer, &receive)
        {
            return done.push(message.completion(receive.token(), Ok(())));
        }
        // What cannot be read in place is copied. Whether both ends copy depends on what they have
        // to do (`is_shared`); a copy that is not possible becomes pieces.
        if self.try_defer(&message, &offer, &receive) {
            return;
        }
        match self.copy_once(&message, &offer, &receive) {
            Some(outcome) => done.push(message.completion(receive.token(), outcome)),
            None if self.rndv.recv_zero_copy(&mut self.transport, &message, &offer, &receive) => {
                self.handle_network_events(done);
            }
            None => self.rndv.request_fragments(&mut self.transport, message, offer, receive),
        }
    }
}

#[cfg(test)]
impl Endpoint {
    /// As [`Endpoint::recv_in_place`], for whole lines.
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    pub(super) unsafe fn recv_lines(
        &mut self,
        selector: Selector,
        element: TypeCode,
        into: RegionMut,
        token: Token,
        done: &mut Vec<Completion>,
    ) -> Ticket {
        // SAFETY: passed on.
        unsafe { self.recv_in_place(selector, element, (into, LINE), token, done) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Label;
    use crate::endpoint::Options;
    use crate::segment::SharedSegment;

    const MANY: u64 = 8 * UNEXPECTED_MAX as u64;
    /// The tag of the awaited message, which is sent last.
    const LAST: u64 = 2 * MANY;

    fn label(tag: u64) -> Label {
        Label { context: 0, tag, ordinal: 0 }
    }

    /// Calls of progress until a rank gets a message behind many others, for which no receives are
    /// posted, while it has posted so many receives of messages that do not come.
    fn calls_for_the_last(receives: u64) -> usize {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        let endpoint = |rank| Endpoint::new(segment.clone(), Peer(rank), Options::default());
        let [mut sender, mut receiver] = [0, 1].map(endpoint);
        let (data, mut into, mut done) = ([7_u8], vec![0_u8; receives as usize + 1], Vec::new());
        for (tag, into) in (MANY..MANY + receives).chain([LAST]).zip(into.chunks_mut(1)) {
            let (selector, into) = (Selector::exactly(Peer(0), label(tag)), RegionMut::of(into));
            let token = Token { operation: tag, step: 0 };
            // SAFETY: the memory outlives both endpoints' use of it.
            unsafe { receiver.recv(selector, TypeCode::BYTES, into, token, &mut done) };
        }
        for tag in (0..MANY).chain([LAST]) {
            let (token, data) = (Token { operation: tag, step: 0 }, Region::of(&data));
            // SAFETY: as above.
            let _ = unsafe { sender.send(Peer(1), label(tag), TypeCode::BYTES, data, token) };
        }
        let (mut calls, mut sent) = (0, Vec::new());
        while done.is_empty() {
            assert!(calls < 4 * MANY as usize, "the message does not come");
            sender.progress(&mut sent);
            receiver.progress(&mut done);
            calls += 1;
        }
        assert_eq!(done[0].token.operation, LAST);
        calls
    }

    #[test]
    fn a_rank_with_many_receives_takes_many_messages() {
        let calls = [0, MANY].map(calls_for_the_last);
        let least = MANY as usize / PACKETS_PER_PEER_MAX;
        assert!(calls[0] > MANY as usize / 2, "few receives: taken one at a time, {calls:?}");
        assert!(calls[1] <= 4 * least, "{calls:?} calls");
    }
}
