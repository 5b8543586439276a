//! Synchronous sends, which are done only when a receive has taken their message.
//!
//! A short message travels in its cell, behind the id of its send. Its receiver answers with that
//! id, as it does for a large message that it has copied; a rank that computes keeps no receiver
//! waiting. A longer one, or one for which the ring has no room now, is announced, and its receiver
//! tells when it has it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::Endpoint;
use super::message::Message;
use super::peer_tx::Outgoing;
use super::protocol::is_synchronous_in_cell;
use super::transfer::{Completion, Posted, RndvSend, UnexpectedBody};
use crate::memory::copy_many;
use crate::packet::{Header, Packet, SEND_ID_BYTES};
use crate::{Label, Peer, Region, RegionMut, Token, TypeCode};

impl Endpoint {
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

    /// Sends a synchronous message in a cell, if it fits one: then it says whether there was room
    /// for it. One that needs an annex, and finds none, is to be announced: that takes a short
    /// cell, and keeps nothing behind it waiting.
    pub(super) fn try_send_in_cell(
        &mut self,
        to: Peer,
        (label, element, data, token): (Label, TypeCode, Region, Token),
    ) -> Option<bool> {
        let (bytes, lease, transfer) = (data.bytes(), None, None);
        let standing = &mut self.transport.peer_tx[to.index()];
        let ring = standing.thresholds();
        let needs_annex = SEND_ID_BYTES + bytes > ring.short_max;
        if !is_synchronous_in_cell(ring, bytes) || (needs_annex && !standing.has_room()) {
            return None;
        }
        let send = self.rndv.sends.insert(RndvSend { to, label, data, lease, token, transfer });
        let cell = &mut self.synchronous_cell;
        cell.clear();
        cell.extend_from_slice(&send.0.to_ne_bytes());
        cell.reserve(bytes);
        let behind_id = cell.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: memory of a posted send: readable, by the promise of its poster; there is room
        // for it behind the id.
        unsafe { copy_many(data.start(), behind_id, bytes) };
        // SAFETY: the id and the data, which have been written.
        unsafe { cell.set_len(SEND_ID_BYTES + bytes) };
        let packet = Packet::Synchronous { label, element, bytes };
        if self.transport.peer_tx[to.index()].push(packet, Region::of(cell)) {
            return Some(true);
        }
        self.rndv.remove_send(&mut self.transport, send);
        Some(false)
    }

    /// A short message that is to be acknowledged is in the next cell.
    pub(super) fn handle_synchronous(&mut self, message: Message, done: &mut Vec<Completion>) {
        let reader = &self.transport.readers[message.source.index()];
        let cell = reader.payload_of::<Header>(SEND_ID_BYTES.saturating_add(message.bytes));
        let (mut send, data) = ([0; SEND_ID_BYTES], cell.part(SEND_ID_BYTES, message.bytes));
        // SAFETY: the cell is published, and ours to read until we advance.
        unsafe { copy_many(cell.start(), send.as_mut_ptr(), SEND_ID_BYTES) };
        let send = u64::from_ne_bytes(send);
        let Some(receive) = self.recv_queues.matching.take_posted(message.source, message.label)
        else {
            let mut whole = vec![0; message.bytes].into_boxed_slice();
            let into = RegionMut::of(&mut whole).start();
            // SAFETY: a live box of this length; the cell is ours to read.
            unsafe { copy_many(data.start(), into, message.bytes) };
            let body = UnexpectedBody::Unacknowledged(whole, send);
            return self.recv_queues.enqueue_unexpected(message, body);
        };
        let fits = message.fits(&receive, &self.transport.introductions);
        if fits.is_ok() {
            // SAFETY: a posted receive: writable, by the promise of its poster, and long enough, as
            // just checked; the cell is ours to read.
            unsafe { copy_many(data.start(), receive.into.start(), message.bytes) };
        }
        self.transport.send_control(message.source, Packet::Finished { send });
        done.push(message.completion(receive.token(), fits));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::Options;
    use crate::watchdog::Watchdog;
    use crate::{Selector, SharedSegment, TransferError};

    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };
    const DATA: [u8; 3] = [7, 8, 9];

    fn token(operation: u64) -> Token {
        Token { operation, step: 0 }
    }

    /// Two ranks of which nobody may copy from the memory of the other.
    fn pair() -> [Endpoint; 2] {
        pair_of(2)
    }

    /// The first two of so many ranks.
    fn pair_of(ranks: usize) -> [Endpoint; 2] {
        let segment = Arc::new(SharedSegment::private(ranks).unwrap());
        let options = Options { single_copy: Some(false), ..Options::default() };
        [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), options))
    }

    fn send(sender: &mut Endpoint, data: &[u8], operation: u64) {
        let (region, token) = (Region::of(data), token(operation));
        // SAFETY: the tests keep the data until the send is done.
        let posted =
            unsafe { sender.send_synchronously(Peer(1), LABEL, TypeCode::BYTES, region, token) };
        assert_eq!(posted, Posted::Pending);
    }

    fn receive(receiver: &mut Endpoint, into: &mut [u8]) -> Vec<Completion> {
        let (selector, into) = (Selector::exactly(Peer(0), LABEL), RegionMut::of(into));
        let mut done = Vec::new();
        // SAFETY: the tests keep the memory until the receive is done.
        unsafe { receiver.recv(selector, TypeCode::BYTES, into, token(9), &mut done) };
        receiver.progress(&mut done);
        done
    }

    /// What a sender hears in two polls.
    fn heard(sender: &mut Endpoint) -> Vec<Completion> {
        let mut done = Vec::new();
        sender.progress(&mut done);
        sender.progress(&mut done);
        done
    }

    #[test]
    fn a_short_message_is_there_at_once_and_its_send_ends_when_it_is_received() {
        let _watchdog = Watchdog::start();
        let cell = pair()[0].transport.peer_tx[1].thresholds().cell_max - SEND_ID_BYTES;
        for bytes in [0, 1, 3, cell] {
            for is_unexpected in [false, true] {
                let [mut sender, mut receiver] = pair();
                let (data, mut into) = (vec![7; bytes], vec![0; bytes]);
                send(&mut sender, &data, 5);
                if is_unexpected {
                    receiver.progress(&mut Vec::new());
                }
                assert!(heard(&mut sender).is_empty() && !sender.all_sent());
                let received = receive(&mut receiver, &mut into);
                assert!(received[0].outcome.is_ok_and(|received| received.bytes == bytes));
                assert_eq!(into, data, "without a further word of the sender");
                let sent = heard(&mut sender);
                assert_eq!((sent.len(), sent[0].token), (1, token(5)));
                assert!(sender.all_sent());
            }
        }
    }

    /// For its sender it has been received.
    #[test]
    fn a_message_that_does_not_fit_or_is_discarded_is_acknowledged() {
        let _watchdog = Watchdog::start();
        for is_unexpected in [false, true] {
            let [mut sender, mut receiver] = pair();
            send(&mut sender, &DATA, 5);
            if is_unexpected {
                receiver.progress(&mut Vec::new());
            }
            let received = receive(&mut receiver, &mut [0; 2]);
            assert!(matches!(received[0].outcome, Err(TransferError::Truncated { .. })));
            assert_eq!(heard(&mut sender).len(), 1);
        }
        let [mut sender, mut receiver] = pair();
        send(&mut sender, &DATA, 5);
        receiver.progress(&mut Vec::new());
        let taken = receiver.mprobe(Selector::exactly(Peer(0), LABEL)).unwrap();
        assert!(heard(&mut sender).is_empty(), "a probe does not receive");
        receiver.discard(taken);
        assert_eq!(heard(&mut sender).len(), 1);
    }

    #[test]
    fn a_message_that_finds_no_annex_is_announced_and_keeps_nothing_waiting() {
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = pair_of(64); // their rings have fewer annexes than cells
        let bytes = sender.transport.peer_tx[1].thresholds().cell_max - SEND_ID_BYTES;
        let (data, mut sends) = (vec![7; bytes], 0);
        while sender.transport.peer_tx[1].has_room() {
            send(&mut sender, &data, sends);
            sends += 1;
        }
        let packets = sender.transport.peer_tx[1].packets();
        send(&mut sender, &data, sends);
        assert_eq!(sender.transport.peer_tx[1].waiting().count(), 0);
        assert_eq!(sender.transport.peer_tx[1].packets(), packets + 1, "the announcement");
        let mut done = Vec::new();
        for _ in 0..=sends {
            let mut into = vec![0; bytes];
            let (selector, region) = (Selector::exactly(Peer(0), LABEL), RegionMut::of(&mut into));
            // SAFETY: the memory is kept until the receive is done, below.
            unsafe { receiver.recv(selector, TypeCode::BYTES, region, token(9), &mut done) };
            while done.is_empty() {
                receiver.progress(&mut done);
                sender.progress(&mut Vec::new());
            }
            assert!(done.pop().unwrap().outcome.is_ok() && into == data);
        }
        sender.progress(&mut done);
        assert!(sender.all_sent());
    }

    #[test]
    fn a_send_that_is_cancelled_hears_nothing_more() {
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = pair();
        send(&mut sender, &DATA, 5);
        send(&mut sender, &DATA, 6);
        // SAFETY: the copy is kept until the end.
        let _copied = unsafe { sender.copy_send(token(5), token(7)) }.unwrap();
        sender.cancel(|of| of == token(6));
        for _ in 0..2 {
            let mut into = [0; 3];
            assert!(receive(&mut receiver, &mut into)[0].outcome.is_ok() && into == DATA);
        }
        let sent = heard(&mut sender);
        assert_eq!((sent.len(), sent[0].token), (1, token(7)), "the stand-in of the first one");
        assert!(sender.all_sent());
    }
}
