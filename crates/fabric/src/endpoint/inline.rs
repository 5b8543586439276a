//! Inline fast path: sends a short message if the ring has room, and receives one if it is the next
//! in its ring.
//!
//! The protocol is that of all messages; only the order of the checks differs. A receiver that
//! waits for one message from one rank does not post a receive: it polls the next cell from that
//! rank and, if the cell holds the message, copies it into place. [`Endpoint::progress`] handles
//! any other cell.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::bounce::copy_bounced;
use super::bounce_pool::BounceBuffer;
use super::in_place::is_read_at_once;
use super::message::Message;
use super::protocol::is_bounced;
use super::{Endpoint, Fill, MatchedMessage, PostedRecv, UnexpectedBody};
use crate::layout::LINE;
use crate::memory::copy_many;
use crate::packet::{Header, Packet};
use crate::{
    Label, Peer, Region, RegionMut, Selector, Token, TrafficHint, TransferError, TypeCode,
};

/// The result of an attempt to receive a short message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum InlineRecv {
    /// The message has been received and has this length in bytes, or it was refused.
    Done(Result<usize, TransferError>),
    /// The ring is empty.
    Empty,
    /// Another message or packet is next: make progress, then poll again.
    Blocked,
}

impl Endpoint {
    /// Bytes of the longest message that never waits for its receive.
    pub fn inline_max_bytes(&self) -> usize {
        self.transport.inline_max_bytes()
    }

    /// Whether a message from this rank cannot have come yet, nor be for somebody else: none is
    /// kept, and no receive waits for one.
    #[inline]
    pub fn is_next_in_ring(&self, from: Peer) -> bool {
        self.recv_queues.unexpected[from.index()] == 0 && self.recv_queues.matching.posted() == 0
    }

    /// The number of receives that are posted.
    #[inline]
    pub fn posted_receives(&self) -> usize {
        self.recv_queues.matching.posted()
    }

    /// Sends a short message if there is room and nothing waits before it. Says whether it did.
    ///
    /// # Safety
    /// `data` is readable now.
    #[inline]
    pub unsafe fn send_inline(
        &mut self,
        to: Peer,
        label: Label,
        element: TypeCode,
        data: Region,
        hint: TrafficHint,
    ) -> bool {
        self.transport.introduce(to, element);
        if !self.transport.peer_tx[to.index()].is_flushed() {
            return false;
        }
        let message = self.outbound(to, data, hint);
        if is_bounced(&self.thresholds, message) && self.transport.peer_tx[to.index()].has_room() {
            // SAFETY: readable, by the caller's promise.
            let is_sent = unsafe { self.send_bounce(to, (label, element, data), hint) };
            if is_sent {
                return true;
            }
        }
        let standing = &mut self.transport.peer_tx[to.index()];
        let sent = standing.push_header(Header::eager(label, element, data.bytes()), data);
        if sent {
            self.transport.notify(to);
        }
        sent
    }

    /// Receives a short message if it has arrived. Does not poll the network: see
    /// [`Endpoint::fetch_from`].
    ///
    /// # Safety
    /// `into` is writable now, and nobody else uses it.
    #[inline]
    pub unsafe fn recv_inline(
        &mut self,
        from: Peer,
        label: Label,
        element: TypeCode,
        into: RegionMut,
        fill: Fill,
    ) -> InlineRecv {
        let receive = PostedRecv::new(into, element, Token { operation: 0, step: 0 }).filled(fill);
        // SAFETY: passed on.
        unsafe { self.recv_by(from, label, receive, None::<(usize, fn(Region))>) }
    }

    /// As [`Endpoint::recv_inline`], for a caller that reads the message once. The message is as
    /// long as `into`. `read` gets it in place, if its address is a multiple of this alignment,
    /// else in `into`. The alignment is at most a line. `read` is not called for a refused message.
    ///
    /// # Safety
    /// As [`Endpoint::recv_inline`].
    #[inline]
    pub unsafe fn read_inline(
        &mut self,
        (from, label): (Peer, Label),
        element: TypeCode,
        into: RegionMut,
        alignment: usize,
        read: impl FnOnce(Region),
    ) -> InlineRecv {
        let receive =
            PostedRecv::new(into, element, Token { operation: 0, step: 0 }).filled(Fill::Whole);
        // SAFETY: passed on.
        unsafe { self.recv_by(from, label, receive, Some((alignment, read))) }
    }

    /// Receives a short message if it is there, and has it read, if somebody wants to.
    ///
    /// # Safety
    /// As [`Endpoint::recv_inline`].
    #[inline(always)] // it is two functions: with a reader and without one
    unsafe fn recv_by(
        &mut self,
        from: Peer,
        label: Label,
        receive: PostedRecv,
        reader: Option<(usize, impl FnOnce(Region))>,
    ) -> InlineRecv {
        if self.recv_queues.unexpected[from.index()] > 0
            && let Some(taken) = self.recv_queues.mprobe(Selector::exactly(from, label))
        {
            return InlineRecv::Done(self.recv_kept(taken, &receive, reader.map(|(_, read)| read)));
        }
        let ring = &mut self.transport.readers[from.index()];
        // SAFETY: peers push nothing but `Header`s into standing lanes, and any bits are one.
        let Some(header) = (unsafe { ring.peek::<Header>() }) else {
            return InlineRecv::Empty;
        };
        if !header.is_eager(label) {
            return self.recv_next_bounced(
                (from, label),
                header,
                &receive,
                reader.map(|(_, read)| read),
            );
        }
        let (element, bytes) = header.contents();
        let message = Message { source: from, label, element, bytes };
        if let Err(error) = message.fits(&receive, &self.transport.introductions) {
            self.take_next(from, bytes);
            return InlineRecv::Done(Err(error));
        }
        let payload = ring.payload_of::<Header>(bytes);
        match reader {
            Some((alignment, read)) if is_aligned_for(payload, alignment) => {
                read(payload);
            }
            reader => {
                // SAFETY: writable by the caller's promise; as long as the message, as just
                // checked.
                unsafe { ring.copy_payload::<Header>(receive.into.part(0, bytes)) };
                if let Some((_, read)) = reader {
                    read(receive.into.as_region());
                }
            }
        }
        self.take_next(from, bytes);
        InlineRecv::Done(Ok(bytes))
    }

    /// Takes the next message of a rank, of so many bytes, which has been looked at where it lies.
    #[inline(always)] // it is a part of each short receive
    fn take_next(&mut self, from: Peer, bytes: usize) {
        if self.transport.readers[from.index()].advance() {
            self.transport.notify(from);
        }
        self.bounce.note_message(from, bytes);
    }

    /// Posts a receive, if no message is kept and the list of receives has room (see
    /// [`Matching`](crate::matching)). Says whether it did; its ticket is the default one.
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    #[inline]
    pub unsafe fn post_in_list(
        &mut self,
        from: Peer,
        label: Label,
        element: TypeCode,
        into: RegionMut,
        token: Token,
    ) -> bool {
        let receive = PostedRecv::new(into, element, token);
        self.recv_queues.matching.unexpected_len() == 0
            && self.recv_queues.matching.post_in_list(from, label, receive)
    }

    /// Receives what the posted receive of this token waits for, if no other one was posted before
    /// it and if the message is there: then the receive is over. `None` if it is not the first.
    /// What else a message from there can be is left to [`Endpoint::progress`], as by
    /// [`Endpoint::recv_inline`].
    #[inline]
    pub fn recv_first(&mut self, token: Token) -> Option<(Peer, u64, InlineRecv)> {
        let (from, label, receive) = self.recv_queues.matching.first()?;
        if receive.token() != token {
            return None;
        }
        let (element, into) = (receive.element, receive.into);
        // SAFETY: the receive is posted: writable, by the promise of its poster.
        let short = unsafe { self.recv_inline(from, label, element, into, Fill::Part) };
        if let InlineRecv::Done(_) = short {
            self.recv_queues.matching.meet_first();
        }
        Some((from, label.tag, short))
    }

    /// Receives the message that is next in the lane, if it is this one and lies in a bounce
    /// buffer.
    #[cold]
    fn recv_next_bounced(
        &mut self,
        (from, label): (Peer, Label),
        header: Header,
        receive: &PostedRecv,
        read: Option<impl FnOnce(Region)>,
    ) -> InlineRecv {
        let message = match Packet::read(header) {
            Packet::Bounced { label: its, element, bytes } if its == label => {
                Message { source: from, label, element, bytes }
            }
            _ => return InlineRecv::Blocked,
        };
        self.bounce.note_message(from, message.bytes);
        let buffer = BounceBuffer::from_words(self.transport.words(from));
        let fits = match read {
            Some(read)
                if buffer.is_full()
                    && is_read_at_once(&message, receive, &self.transport.introductions) =>
            {
                read(buffer.message(&self.transport.segment, message.bytes));
                self.bounce.recycle(&self.transport, from, buffer, message.bytes);
                Ok(())
            }
            read => {
                let fits = self.bounce.take(&self.transport, &message, buffer, receive);
                read_copy(read, receive, fits)
            }
        };
        if self.transport.readers[from.index()].advance() {
            self.transport.notify(from);
        }
        InlineRecv::Done(fits.map(|()| message.bytes))
    }

    /// Polls the network, so that it puts arrived cells into the rings, if messages from this rank
    /// come over the network. A caller that polls for a message without [`Endpoint::progress`]
    /// calls this between polls.
    #[inline]
    pub fn fetch_from(&mut self, from: Peer) {
        if let Some(network) = &mut self.transport.network
            && network.reaches(from)
        {
            network.progress();
        }
    }

    /// Receives a message that had been kept.
    #[cold]
    fn recv_kept(
        &mut self,
        taken: MatchedMessage,
        receive: &PostedRecv,
        read: Option<impl FnOnce(Region)>,
    ) -> Result<usize, TransferError> {
        let MatchedMessage { source, label, unexpected } = &taken;
        let (source, label) = (*source, *label);
        let message =
            Message { source, label, element: unexpected.element, bytes: unexpected.bytes };
        let mut fits = message.fits(receive, &self.transport.introductions);
        match (&unexpected.body, fits) {
            (UnexpectedBody::Whole(whole) | UnexpectedBody::Unacknowledged(whole, _), Ok(())) => {
                let into = receive.into.start();
                // SAFETY: writable by the promise of `recv_inline`; long enough, as just checked.
                unsafe { copy_many(whole.as_ptr(), into, whole.len()) };
            }
            (&UnexpectedBody::Shared(buffer), Ok(())) => {
                fits = copy_bounced(&self.transport, &message, buffer, receive)
            }
            (UnexpectedBody::Offered(_) | UnexpectedBody::RemoteBounced(_), Ok(())) => {
                // Nobody exposes what is short: the other side runs another operation.
                fits = Err(message.truncated(self.transport.inline_max_bytes()));
            }
            (_, Err(_)) => {}
        }
        taken.discard(&mut self.transport);
        read_copy(read, receive, fits).map(|()| message.bytes)
    }
}

/// Whether a message is read faster in its cell than it is copied: if it is aligned and takes no
/// more than one line. Of 128 bytes to 1 KiB a sum takes 1.2 to 1.6 times as long in the cell.
fn is_aligned_for(payload: Region, alignment: usize) -> bool {
    let address = payload.start().addr();
    address.is_multiple_of(alignment) && address % LINE + payload.bytes() <= LINE
}

/// Has a message read in the memory of its receive, if it is there.
fn read_copy(
    read: Option<impl FnOnce(Region)>,
    receive: &PostedRecv,
    fits: Result<(), TransferError>,
) -> Result<(), TransferError> {
    if let (Some(read), Ok(())) = (read, fits) {
        read(receive.into.as_region());
    }
    fits
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::{Options, Posted};
    use crate::segment::SharedSegment;
    use crate::watchdog::Watchdog;

    const TOKEN: Token = Token { operation: 7, step: 0 };

    fn label(tag: u64) -> Label {
        Label { context: 1, tag, ordinal: 0 }
    }

    fn pair() -> [Endpoint; 2] {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), Options::default()))
    }

    fn send(sender: &mut Endpoint, tag: u64, data: &[u8]) {
        let token = Token { operation: 1, step: 0 };
        // SAFETY: the data outlives the send, which is done at once.
        let posted =
            unsafe { sender.send(Peer(1), label(tag), TypeCode::BYTES, Region::of(data), token) };
        assert_eq!(posted, Posted::Done);
    }

    /// Posts a receive of a message with this tag into this memory, which must outlive it.
    fn post(receiver: &mut Endpoint, tag: u64, into: &mut [u8]) -> bool {
        let into = RegionMut::of(into);
        // SAFETY: as the function says.
        unsafe { receiver.post_in_list(Peer(0), label(tag), TypeCode::BYTES, into, TOKEN) }
    }

    #[test]
    fn the_first_receive_gets_its_message_and_no_other() {
        let [mut sender, mut receiver] = pair();
        let (mut into, mut done) = ([0; 3], Vec::new());
        assert_eq!(receiver.recv_first(TOKEN), None);
        assert!(post(&mut receiver, 1, &mut into));
        let mut second = [0; 3];
        assert!(post(&mut receiver, 5, &mut second));
        let other = Token { step: 1, ..TOKEN };
        assert_eq!(receiver.recv_first(other), None);
        assert_eq!(receiver.recv_first(TOKEN), Some((Peer(0), 1, InlineRecv::Empty)));
        send(&mut sender, 2, &[9; 3]);
        send(&mut sender, 1, &[1, 2]);
        assert_eq!(receiver.recv_first(TOKEN), Some((Peer(0), 1, InlineRecv::Blocked)));
        // Who makes progress meanwhile meets the receive as any other one.
        receiver.progress(&mut done);
        assert_eq!((done.len(), into, receiver.recv_queues.matching.posted()), (1, [1, 2, 0], 1));
        assert!(receiver.recv_queues.matching.take_posted(Peer(0), label(5)).is_some());
        assert_eq!(receiver.recv_first(TOKEN), None);
        // One message is kept, for which a receive is not posted.
        assert!(!post(&mut receiver, 2, &mut into));
        // SAFETY: the memory outlives the call.
        let recycled = unsafe {
            receiver.recv_inline(
                Peer(0),
                label(2),
                TypeCode::BYTES,
                RegionMut::of(&mut into),
                Fill::Part,
            )
        };
        assert_eq!((recycled, into), (InlineRecv::Done(Ok(3)), [9; 3]));
    }

    fn send_at_once(sender: &mut Endpoint, value: u64) -> bool {
        let (data, hint) = (value.to_ne_bytes(), TrafficHint::Unknown);
        // SAFETY: the data outlives the call.
        unsafe { sender.send_inline(Peer(1), label(1), TypeCode::BYTES, Region::of(&data), hint) }
    }

    /// Sends short messages until the ring is full. Returns how many it took.
    fn fill(sender: &mut Endpoint) -> u64 {
        (0..).take_while(|&value| send_at_once(sender, value)).count() as u64
    }

    /// Sends the value, which outlives the send, as one that may be queued.
    fn submit(sender: &mut Endpoint, value: &[u8; 8]) -> Posted {
        let data = Region::of(value);
        // SAFETY: as the function says.
        unsafe { sender.send(Peer(1), label(1), TypeCode::BYTES, data, TOKEN) }
    }

    #[test]
    fn a_message_that_finds_no_room_for_long_is_queued() {
        let _watchdog = Watchdog::start();
        for answers in [false, true] {
            let [mut sender, mut receiver] = pair();
            let sent = fill(&mut sender);
            if answers {
                let data = Region::of(b"busy");
                // SAFETY: the data outlives the send, which is done at once.
                let posted =
                    unsafe { receiver.send(Peer(0), label(1), TypeCode::BYTES, data, TOKEN) };
                assert_eq!(posted, Posted::Done);
            }
            assert!(sent >= 2 && !sender.has_waiting());
            assert_eq!(submit(&mut sender, &[1; 8]), Posted::Pending);
            assert!(!send_at_once(&mut sender, sent), "another one waits before it");
            while sender.has_waiting() {
                receiver.progress(&mut Vec::new());
                sender.progress(&mut Vec::new());
            }
            receiver.progress(&mut Vec::new());
            assert!(send_at_once(&mut sender, sent), "there is room again");
        }
    }

    /// Whether they find room at once, soon or only when others that waited have gone.
    #[test]
    fn messages_to_a_receiver_that_is_slower_come_in_order() {
        const MESSAGES: u64 = 20_000;
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = pair();
        let values: Vec<_> = (0..MESSAGES).map(u64::to_ne_bytes).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for value in &values {
                    if !send_at_once(&mut sender, u64::from_ne_bytes(*value)) {
                        let _posted = submit(&mut sender, value);
                        sender.progress(&mut Vec::new());
                    }
                }
                while !sender.all_sent() {
                    sender.progress(&mut Vec::new());
                }
            });
            for each in 0..MESSAGES {
                let mut into = [0; 8];
                // SAFETY: the memory outlives the call.
                let mut receive = || unsafe {
                    let into = RegionMut::of(&mut into);
                    receiver.recv_inline(Peer(0), label(1), TypeCode::BYTES, into, Fill::Whole)
                };
                while receive() == InlineRecv::Empty {
                    std::hint::spin_loop();
                }
                assert_eq!(u64::from_ne_bytes(into), each);
            }
        });
    }

    #[test]
    fn the_first_receive_ends_with_what_came() {
        let [mut sender, mut receiver] = pair();
        let mut into = [0; 3];
        send(&mut sender, 1, &[5; 3]);
        assert!(post(&mut receiver, 1, &mut into));
        assert_eq!(receiver.recv_first(TOKEN), Some((Peer(0), 1, InlineRecv::Done(Ok(3)))));
        assert_eq!((into, receiver.recv_queues.matching.posted()), ([5; 3], 0));
        send(&mut sender, 1, &[6; 4]);
        assert!(post(&mut receiver, 1, &mut into));
        let refused = Err(TransferError::truncated(crate::Sender::new(Peer(0), 1), 4, 3));
        assert_eq!(receiver.recv_first(TOKEN), Some((Peer(0), 1, InlineRecv::Done(refused))));
        assert_eq!((into, receiver.recv_queues.matching.posted()), ([5; 3], 0), "it is as it was");
        // Messages are received in the order in which they were sent, by any way to receive.
        for value in 0..3 {
            send(&mut sender, 1, &[value]);
        }
        for value in 0..3 {
            assert!(post(&mut receiver, 1, &mut into));
            assert_eq!(receiver.recv_first(TOKEN), Some((Peer(0), 1, InlineRecv::Done(Ok(1)))));
            assert_eq!(into[0], value);
        }
    }
}
