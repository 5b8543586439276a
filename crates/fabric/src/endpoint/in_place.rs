//! In-place receive: the receiver reads a message in shared memory without copying it.
//!
//! A receiver that reduces a message reads it once and needs no copy of it. So it may read the
//! message in its bounce buffer or, if the message lies in a [heap](crate::shared_heap), in the
//! memory of its sender, which waits for that as for a copy. The receiver posts the receive by
//! [`recv_in_place`](crate::Endpoint::recv_in_place). From its completion on it may call
//! [`open_in_place`](crate::Endpoint::open_in_place) with the same token, whenever it is ready to
//! reduce: this gives the message, if it has been left in place.
//! [`close_in_place`](crate::Endpoint::close_in_place) then ends the receive. A message that has
//! not been left in place is in the memory of its receive, as always.
//!
//! The lease of a message in a heap is taken only when the message is opened. So its sender can
//! take it back until then, and waits for no longer than the receiver reads.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::bounce_pool::BounceBuffer;
use super::introductions::Introductions;
use super::message::Message;
use super::transfer::{PostedRecv, RndvOffer};
use super::transport::Transport;
use crate::Token;
use crate::read_lease::ReadLease;

/// A message that has been received and left in place.
#[derive(Debug)]
pub(super) struct InPlaceReceive {
    token: Token,
    message: Message,
    place: InPlaceSource,
}

/// Where a message lies.
#[derive(Debug)]
pub(super) enum InPlaceSource {
    Bounced(BounceBuffer),
    /// In a heap; its lease, and whether it is taken.
    Heap(RndvOffer, ReadLease, bool),
}

/// The messages that a rank has received and left in place.
#[derive(Debug, Default)]
pub(super) struct InPlaceReceives {
    pub(super) messages: Vec<InPlaceReceive>,
    pub(super) counters: InPlaceCounters,
}

/// What reductions of a rank have read in place: for tests, since a result does not show whether
/// an operand was copied before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlaceCounters {
    /// Messages that reductions have read where they lay.
    pub operands: u64,
    /// Passes of two or more reductions.
    pub passes: u64,
}

impl InPlaceReceives {
    /// The message that was received with this token, if it has been left in place.
    #[inline]
    pub(super) fn get_mut(&mut self, token: Token) -> Option<(&Message, &mut InPlaceSource)> {
        let receive = self.messages.iter_mut().find(|receive| receive.token == token)?;
        Some((&receive.message, &mut receive.place))
    }

    /// The same message, which is then no longer in place.
    #[inline]
    pub(super) fn take(&mut self, token: Token) -> Option<(Message, InPlaceSource)> {
        let at = self.messages.iter().position(|receive| receive.token == token)?;
        let InPlaceReceive { message, place, .. } = self.messages.swap_remove(at);
        Some((message, place))
    }

    /// A token that the predicate names, of a message that is in place.
    #[inline]
    pub(super) fn find(&self, mut is_it: impl FnMut(Token) -> bool) -> Option<Token> {
        self.messages.iter().map(|receive| receive.token).find(|&token| is_it(token))
    }

    /// Leaves a message in its bounce buffer, to be read there, if its receive allows it. Returns
    /// whether it does.
    #[inline]
    pub(super) fn leave_bounced(
        &mut self,
        message: &Message,
        buffer: BounceBuffer,
        receive: &PostedRecv,
        introductions: &Introductions,
    ) -> bool {
        let lies = receive.may_stay_in_place()
            && buffer.is_full()
            && is_read_at_once(message, receive, introductions);
        if lies {
            let place = InPlaceSource::Bounced(buffer);
            self.messages.push(InPlaceReceive { token: receive.token(), message: *message, place });
        }
        lies
    }

    /// Leaves a message in the heap of its sender, to be read there, if its receive lets it. Says
    /// whether it does.
    pub(super) fn leave_offer(
        &mut self,
        transport: &Transport,
        message: &Message,
        offer: &RndvOffer,
        receive: &PostedRecv,
    ) -> bool {
        let may_stay_in_place = receive.may_stay_in_place()
            && is_read_at_once(message, receive, &transport.introductions);
        let Some(lease) = offer.lease.filter(|_| may_stay_in_place) else { return false };
        let alignment = u64::from(receive.in_place_alignment);
        let lies = offer.address.is_multiple_of(alignment) && message.bytes > 0;
        if lies {
            let place = InPlaceSource::Heap(*offer, lease, false);
            self.messages.push(InPlaceReceive { token: receive.token(), message: *message, place });
        }
        lies
    }
}

/// Whether a message is what its receive expects: then it can be read where it lies.
pub(super) fn is_read_at_once(
    message: &Message,
    receive: &PostedRecv,
    introductions: &Introductions,
) -> bool {
    message.bytes == receive.into.bytes() && message.fits(receive, introductions).is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::{Endpoint, Options};
    use crate::layout::{LINE, Layout};
    use crate::{
        InlineRecv, Label, Peer, Region, RegionMut, Selector, SharedSegment, TransferError,
        TypeCode,
    };

    const TOKEN: Token = Token { operation: 3, step: 1 };

    fn label(tag: u64) -> Label {
        Label { context: 1, tag, ordinal: 0 }
    }

    /// Two ranks that share a core, so that what fits no cell goes in bounce buffers.
    fn pair() -> [Endpoint; 2] {
        let (segment, _file) = SharedSegment::shared_by(Layout::new(2).unwrap(), 1).unwrap();
        let segment = Arc::new(segment);
        [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), Options::default()))
    }

    fn send(sender: &mut Endpoint, tag: u64, data: &[u8]) {
        let (element, data) = (TypeCode::BYTES, Region::of(data));
        // SAFETY: the data outlives the send, which is done at once.
        let posted = unsafe { sender.send(Peer(1), label(tag), element, data, TOKEN) };
        assert_eq!(posted, crate::endpoint::Posted::Done);
    }

    /// Receives a message that may lie. Says what it is where it lies, if it does.
    fn receive(receiver: &mut Endpoint, tag: u64, into: &mut [u8]) -> Option<Vec<u8>> {
        let selector = Selector::exactly(Peer(0), label(tag));
        let (into, mut done, mut lies) = (RegionMut::of(into), Vec::new(), None);
        // SAFETY: the memory outlives the receive.
        unsafe { receiver.recv_lines(selector, TypeCode::BYTES, into, TOKEN, &mut done) };
        receiver.progress(&mut done);
        assert_eq!((done.len(), done[0].token), (1, TOKEN));
        if let Some(message) = receiver.open_in_place(TOKEN) {
            let message = message.unwrap();
            assert!(message.start().addr().is_multiple_of(LINE));
            // SAFETY: a message that lies in its bounce buffer, and is read there.
            let bytes = unsafe { std::slice::from_raw_parts(message.start(), message.bytes()) };
            lies = Some(bytes.to_vec());
        }
        assert_eq!(receiver.close_in_place(TOKEN), Ok(()));
        assert!(receiver.bounce.in_place.messages.is_empty());
        lies
    }

    fn unread(sender: &Endpoint) -> usize {
        sender.bounce.unread(&sender.transport.segment)
    }

    #[test]
    fn a_bounced_message_is_read_in_place_whenever_it_came() {
        let [mut sender, mut receiver] = pair();
        let bytes = receiver.inline_max_bytes() + 1;
        let data: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        let mut into = vec![0; bytes];
        send(&mut sender, 1, &data);
        send(&mut sender, 2, &data);
        // The first one comes early, when the second one is asked for.
        for tag in [2, 1] {
            assert_eq!(unread(&sender), tag as usize);
            assert_eq!(receive(&mut receiver, tag, &mut into), Some(data.clone()));
            assert!(into.iter().all(|&byte| byte == 0), "it is not copied");
        }
        assert_eq!(unread(&sender), 0);
    }

    #[test]
    fn what_is_not_as_expected_is_copied_or_refused() {
        let [mut sender, mut receiver] = pair();
        let bytes = receiver.inline_max_bytes() + 1;
        let data = vec![7; bytes];
        for (tag, sent, room) in [(1, bytes, bytes + 1), (2, 100, 100), (3, bytes, bytes - 1)] {
            let mut into = vec![0; room];
            send(&mut sender, tag, &data[..sent]);
            assert_eq!(receive(&mut receiver, tag, &mut into), None);
            let came = if sent == room { sent } else { 0 };
            assert_eq!(into.iter().filter(|&&byte| byte == 7).count(), came);
        }
        assert_eq!(unread(&sender), 0);
    }

    #[test]
    fn who_does_not_want_it_any_more_lets_it_go() {
        let [mut sender, mut receiver] = pair();
        let (data, mut into, mut done) = (vec![7; 40 << 10], vec![0; 40 << 10], Vec::new());
        send(&mut sender, 1, &data);
        let selector = Selector::exactly(Peer(0), label(1));
        let place = RegionMut::of(&mut into);
        // SAFETY: the memory outlives the receive.
        unsafe { receiver.recv_lines(selector, TypeCode::BYTES, place, TOKEN, &mut done) };
        receiver.progress(&mut done);
        assert_eq!((done.len(), unread(&sender)), (1, 1));
        receiver.release_in_place(Token { step: 2, ..TOKEN });
        assert_eq!(unread(&sender), 1, "that is another one");
        receiver.release_in_place(TOKEN);
        assert_eq!(unread(&sender), 0);
    }

    #[test]
    fn whoever_cancels_a_receive_lets_its_message_go() {
        let [mut sender, mut receiver] = pair();
        let (data, mut into, mut done) = (vec![7; 40 << 10], vec![0; 40 << 10], Vec::new());
        send(&mut sender, 1, &data);
        let selector = Selector::exactly(Peer(0), label(1));
        let place = RegionMut::of(&mut into);
        // SAFETY: the memory outlives the receive.
        unsafe { receiver.recv_lines(selector, TypeCode::BYTES, place, TOKEN, &mut done) };
        receiver.progress(&mut done);
        receiver.cancel(|token| token.operation != TOKEN.operation);
        assert_eq!((done.len(), unread(&sender)), (1, 1), "that was another one");
        receiver.cancel(|token| token == TOKEN);
        assert_eq!(unread(&sender), 0);
        assert!(receiver.left_in_place(|_| true).is_none());
    }

    /// Reads the next message. Says what became of it, and what was read, if it was not in `into`.
    fn read_short(
        receiver: &mut Endpoint,
        tag: u64,
        into: &mut [u8],
        alignment: usize,
    ) -> (InlineRecv, Option<Vec<u8>>) {
        let (message, place) = ((Peer(0), label(tag)), RegionMut::of(into));
        let mut read = None;
        let take = |message: Region| {
            let is_elsewhere = message.start() != place.start().cast_const();
            // SAFETY: what is to be read is readable.
            let bytes = unsafe { std::slice::from_raw_parts(message.start(), message.bytes()) };
            read = is_elsewhere.then(|| bytes.to_vec());
        };
        // SAFETY: the memory outlives the call.
        let short =
            unsafe { receiver.read_inline(message, TypeCode::BYTES, place, alignment, take) };
        (short, read)
    }

    #[test]
    fn a_short_message_is_read_in_its_cell_if_it_takes_no_more_than_a_line() {
        let [mut sender, mut receiver] = pair();
        let data = vec![7; 40 << 10];
        let buffer = receiver.inline_max_bytes() + 8;
        for (tag, (bytes, alignment, lies)) in
            [(8, 8, true), (8, 16, false), (64, 8, false), (buffer, 16, true)]
                .into_iter()
                .enumerate()
        {
            let mut into = vec![0; bytes];
            send(&mut sender, tag as u64, &data[..bytes]);
            let (short, read) = read_short(&mut receiver, tag as u64, &mut into, alignment);
            assert_eq!((short, read.is_some()), (InlineRecv::Done(Ok(bytes)), lies), "{bytes}");
            let came = read.as_ref().unwrap_or(&into);
            assert!(came.len() == bytes && came.iter().all(|&byte| byte == 7));
            assert_eq!(into.iter().all(|&byte| byte == 0), lies, "copied, or not");
        }
        assert_eq!((unread(&sender), receiver.bounce.in_place.messages.len()), (0, 0));
    }

    #[test]
    fn what_is_refused_is_not_read_and_what_came_early_is() {
        let [mut sender, mut receiver] = pair();
        for tag in [1, 2, 3] {
            send(&mut sender, tag, &[tag as u8; 8]);
        }
        let (short, read) = read_short(&mut receiver, 1, &mut [0; 4], 1);
        let refused = TransferError::truncated(crate::Sender::new(Peer(0), 1), 8, 4);
        assert_eq!((short, read), (InlineRecv::Done(Err(refused)), None));
        receiver.progress(&mut Vec::new());
        let mut into = [0; 8];
        let (short, _) = read_short(&mut receiver, 3, &mut into, 1);
        assert_eq!(
            (short, into),
            (InlineRecv::Done(Ok(8)), [3; 8]),
            "in the memory of its receive"
        );
        assert_eq!(read_short(&mut receiver, 4, &mut into, 1).0, InlineRecv::Empty);
    }
}
