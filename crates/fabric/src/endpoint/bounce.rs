//! Bounce buffers: the sender copies into shared memory, once for all readers, and completes. For
//! oversubscribed cores or where cross-memory attach is slow: `../README.md`, "Bounce buffers".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::hint::spin_loop;
use std::mem;
use std::sync::atomic::Ordering;

use super::bounce_pool::{BounceBuffer, BouncePool, Readers};
use super::in_place::InPlaceReceives;
use super::message::Message;
use super::nt_copy::CopyStrategy;
use super::protocol::{EXCHANGE_MIN_BYTES, OVERSUBSCRIBED_OPERAND_MAX_BYTES, Thresholds};
use super::recycled_buffers::{RecycledBuffers, give_back};
use super::transfer::{Completion, PostedRecv};
use super::transport::Transport;
use crate::memory::copy_many;
use crate::packet::Packet;
use crate::{Label, Peer, Region, SharedSegment, TrafficHint, TransferError, TypeCode, memcheck};

/// Looks at the sender's progress between two times that the core is given away.
const POLLS_PER_YIELD: u32 = 1000;

/// The bounce buffers of a rank.
#[derive(Debug)]
pub(super) struct BounceSender {
    pool: BouncePool,
    /// Those of others that this rank has read and not given back.
    recycled: RecycledBuffers,
    /// Messages that were received, and are to be read in their bounce buffers.
    pub(super) in_place: InPlaceReceives,
    /// By rank of the world, whether a message of more than `EXCHANGE_MIN_BYTES` has come from it
    /// since this rank last sent it one with the hint [`TrafficHint::Unknown`].
    recent_traffic: Box<[bool]>,
    current: Option<Multicast>,
    copy_strategy: CopyStrategy,
}

impl BounceSender {
    /// Those of a rank of this segment.
    pub(super) fn of(segment: &SharedSegment) -> BounceSender {
        let (pool, recycled) = (BouncePool::default(), RecycledBuffers::of(segment));
        let came = vec![false; segment.layout().ranks()].into_boxed_slice();
        let (in_place, current) = (InPlaceReceives::default(), None);
        let copy_strategy = CopyStrategy::of_round(0); // until the pool is cut
        BounceSender { pool, recycled, in_place, recent_traffic: came, current, copy_strategy }
    }

    /// Those of this rank that are still to be read.
    #[cfg(test)]
    pub(super) fn unread(&self, segment: &SharedSegment) -> usize {
        self.pool.unread(segment)
    }

    /// Bytes of the arena that they have taken.
    pub(super) fn bytes(&self) -> usize {
        self.pool.bytes()
    }
}

/// The message that was copied last for several.
#[derive(Clone, Copy, Debug)]
struct Multicast {
    data: Region,
    operation: u64,
    buffer: BounceBuffer,
    /// Readers to which it has not been announced.
    unannounced: u32,
}

impl BounceSender {
    /// Fills a bounce buffer with the message of a multicast for so many receivers, of which this
    /// is the first one, if there is room for it.
    ///
    /// # Safety
    /// `data` is readable now, and the same until all of them have been sent to.
    pub(super) unsafe fn begin_multicast(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        (operation, data): (u64, Region),
        readers: u32,
    ) {
        let all = if readers == 1 { Readers::One(to) } else { Readers::Several(readers) };
        let Some(buffer) = self.allocate(transport, data, all) else { return };
        // SAFETY: readable by the caller's promise.
        unsafe { self.fill_for(&transport.segment, all, buffer, data) };
        let buffer = BounceBuffer { filled: 0, ..buffer };
        self.current = Some(Multicast { data, operation, buffer, unannounced: readers });
    }

    /// Announces the message of a multicast to its next receiver. `false` if it is in no bounce
    /// buffer.
    pub(super) fn announce_multicast(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        (label, element, data): (Label, TypeCode, Region),
        operation: u64,
    ) -> bool {
        let Some(current) = &mut self.current else { return false };
        if current.data != data || current.operation != operation || current.unannounced == 0 {
            return false;
        }
        current.unannounced -= 1;
        let buffer = current.buffer;
        announce(transport, to, Packet::Bounced { label, element, bytes: data.bytes() }, buffer);
        true
    }

    /// Whether a message of more than `EXCHANGE_MIN_BYTES` has come from this rank since the last
    /// call.
    pub(super) fn take_recent_traffic(&mut self, from: Peer) -> bool {
        mem::take(&mut self.recent_traffic[from.index()])
    }

    /// A message has come.
    #[inline]
    pub(super) fn note_message(&mut self, from: Peer, bytes: usize) {
        if bytes > EXCHANGE_MIN_BYTES {
            self.recent_traffic[from.index()] = true;
        }
    }

    /// Sends a message by a bounce buffer of its own. `false` if it must go as others do.
    ///
    /// # Safety
    /// `data` is readable now.
    pub(super) unsafe fn send(
        &mut self,
        transport: &mut Transport,
        thresholds: &Thresholds,
        to: Peer,
        (label, element, data): (Label, TypeCode, Region),
        hint: TrafficHint,
    ) -> bool {
        if transport.reaches(to) {
            return false;
        }
        let bytes = data.bytes();
        let Some(buffer) = self.allocate(transport, data, Readers::One(to)) else { return false };
        let packet = Packet::Bounced { label, element, bytes };
        if !thresholds.is_read_while_written(bytes, hint) {
            // SAFETY: readable by the caller's promise.
            unsafe { self.copy_strategy.fill(&transport.segment, buffer, data, 0) };
            announce(transport, to, packet, BounceBuffer { filled: 0, ..buffer });
            return true;
        }
        transport.segment.word32(buffer.filled).store(0, Ordering::Relaxed);
        announce(transport, to, packet, buffer);
        let piece_bytes = thresholds.read_while_written_min;
        let mut at = 0;
        while at < bytes {
            let piece = data.part(at, piece_bytes.min(bytes - at));
            // SAFETY: as above.
            unsafe { self.copy_strategy.fill(&transport.segment, buffer, piece, at) };
            at += piece.bytes();
            transport.segment.word32(buffer.filled).store(at as u32, Ordering::Release);
        }
        true
    }

    /// Copies a message into a free bounce buffer. What several ranks read at once that have cores,
    /// each takes from the cache into which it was written, or from where the first one has put it;
    /// from memory it takes each of them longer.
    ///
    /// # Safety
    /// `data` is readable now.
    unsafe fn fill_for(
        &mut self,
        segment: &SharedSegment,
        readers: Readers,
        buffer: BounceBuffer,
        data: Region,
    ) {
        if matches!(readers, Readers::One(_)) || segment.is_oversubscribed() {
            // SAFETY: passed on.
            return unsafe { self.copy_strategy.fill(segment, buffer, data, 0) };
        }
        let into = segment.at(buffer.data);
        // SAFETY: as in `fill`.
        unsafe { copy_many(data.start(), into.as_ptr(), data.bytes()) };
        memcheck::mark_written(Region::new(into.as_ptr(), data.bytes()));
    }

    /// Takes the pool from the arena, with room for two of the longest messages of ranks that have
    /// a core each, on any machine.
    #[cfg(test)]
    pub(super) fn cut_pool(&mut self, transport: &mut Transport) {
        self.pool.cut_for(
            &mut transport.arena,
            &transport.segment,
            2 * crate::copy_bandwidth::CopyBandwidth::LONGEST,
        );
    }

    /// Allocates a free bounce buffer for this message, or takes a recycled one.
    fn allocate(
        &mut self,
        transport: &mut Transport,
        data: Region,
        readers: Readers,
    ) -> Option<BounceBuffer> {
        if let Readers::One(to) = readers
            && let Some(seat) = transport.local_index(to)
            && let Some(buffer) = self.recycled.take(seat, data)
        {
            transport.segment.word32(buffer.readers).store(1, Ordering::Relaxed);
            return Some(buffer);
        }
        let buffer = self.pool.allocate(&mut transport.arena, &transport.segment, (data, readers));
        self.copy_strategy.adapt_to(&mut self.pool);
        buffer
    }

    /// Gives up the receivers to which the last multicast has not been announced, after an error:
    /// no announcement will follow.
    pub(super) fn release_unannounced(&mut self, transport: &Transport) {
        if let Some(Multicast { buffer, unannounced, .. }) = self.current.take()
            && unannounced > 0
        {
            transport.segment.word32(buffer.readers).fetch_sub(unannounced, Ordering::Release);
        }
    }

    /// A message in a bounce buffer meets its receive.
    pub(super) fn receive(
        &mut self,
        transport: &Transport,
        message: Message,
        buffer: BounceBuffer,
        receive: &PostedRecv,
        done: &mut Vec<Completion>,
    ) {
        let outcome =
            if self.in_place.leave_bounced(&message, buffer, receive, &transport.introductions) {
                Ok(())
            } else {
                self.take(transport, &message, buffer, receive)
            };
        done.push(message.completion(receive.token(), outcome));
    }

    /// Copies a message out of its bounce buffer, if it fits, and leaves the bounce buffer.
    pub(super) fn take(
        &mut self,
        transport: &Transport,
        message: &Message,
        buffer: BounceBuffer,
        receive: &PostedRecv,
    ) -> Result<(), TransferError> {
        let outcome = message.fits(receive, &transport.introductions);
        let outcome = outcome.and_then(|()| copy_bounced(transport, message, buffer, receive));
        match outcome {
            Ok(()) => self.recycle(transport, message.source, buffer, message.bytes),
            Err(_) => buffer.release(&transport.segment),
        }
        outcome
    }

    /// This rank has read the whole bounce buffer of a message of so many bytes. It keeps it, or
    /// leaves it.
    pub(super) fn recycle(
        &mut self,
        transport: &Transport,
        from: Peer,
        buffer: BounceBuffer,
        bytes: usize,
    ) {
        let is_last = transport.segment.word32(buffer.readers).load(Ordering::Acquire) == 1;
        let Some(seat) = transport.local_index(from).filter(|_| is_last) else {
            return buffer.release(&transport.segment);
        };
        if !self.recycled.keep(&transport.segment, seat, (buffer, bytes)) {
            give_back(&transport.segment, buffer);
        }
    }
}

/// Sends the place of a message that is, or will be, in a bounce buffer.
fn announce(transport: &mut Transport, to: Peer, packet: Packet, buffer: BounceBuffer) {
    // It may have to wait for room in the lane, but the data need not.
    transport.send_control_words(to, packet, buffer.words());
}

/// Copies a message that fits out of its bounce buffer: what the sender has written, and then
/// the rest as it comes.
pub(super) fn copy_bounced(
    transport: &Transport,
    message: &Message,
    buffer: BounceBuffer,
    receive: &PostedRecv,
) -> Result<(), TransferError> {
    assert!(message.bytes <= OVERSUBSCRIBED_OPERAND_MAX_BYTES, "the shared segment is damaged");
    let _last = transport.segment.at(buffer.data + message.bytes.saturating_sub(1));
    let mut at = 0;
    while at < message.bytes {
        let Some(upto) = filled(transport, message, buffer, at) else {
            return Err(TransferError::Revoked(message.source));
        };
        let from = transport.segment.at(buffer.data + at);
        let into = receive.into.part(at, upto - at);
        // SAFETY: a posted receive: writable, by the promise of its poster, and long enough, as
        // `part` checks. The bytes lie in the segment, and nobody writes them until we say that
        // we have read the bounce buffer (README, "Bounce buffers").
        unsafe { copy_many(from.as_ptr(), into.start(), into.bytes()) };
        at = upto;
    }
    Ok(())
}

/// Waits until more than so many bytes of a message are in its bounce buffer, and says how many
/// are; nothing if its sender has died before.
fn filled(
    transport: &Transport,
    message: &Message,
    buffer: BounceBuffer,
    at: usize,
) -> Option<usize> {
    if buffer.is_full() {
        return Some(message.bytes);
    }
    let filled = transport.segment.word32(buffer.filled);
    loop {
        for _ in 0..POLLS_PER_YIELD {
            let filled = filled.load(Ordering::Acquire) as usize;
            if filled > at {
                return Some(filled.min(message.bytes));
            }
            spin_loop();
        }
        if transport.segment.has_died(message.source) {
            return None;
        }
        transport.segment.pause();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::Fill;
    use crate::copy_bandwidth::CopyBandwidth;
    use crate::endpoint::bounce_pool::BUFFERS_IN_USE_MAX;
    use crate::endpoint::protocol::{
        BOUNCE_MAX_BYTES, BOUNCE_MIN_BYTES, EXCHANGE_MAX_BYTES, EXCHANGE_MIN_BYTES, ONE_WAY_BYTES,
        OVERSUBSCRIBED_EXCHANGE_MIN_BYTES, READ_WHILE_WRITTEN_BYTES, SizeRange,
        UNTOUCHED_MAX_BYTES, WAITING_RANKS_PER_CORE_MAX, is_bounced,
    };
    use crate::endpoint::{Endpoint, InlineRecv, Options, Posted};
    use crate::layout::Layout;
    use crate::packet::Header;
    use crate::watchdog::Watchdog;
    use crate::{Failure, How, RegionMut, Selector, Token};

    /// So long that a pool takes [`UNLIMITED_MIN_BYTES`] of them.
    const BYTES: usize = 40 << 10;

    fn label(tag: u64) -> Label {
        Label { context: 1, tag, ordinal: 0 }
    }

    /// So many ranks that share a core.
    fn ranks(ranks: usize) -> Vec<Endpoint> {
        let (segment, _file) = SharedSegment::shared_by(Layout::new(ranks).unwrap(), 1).unwrap();
        let segment = Arc::new(segment);
        let rank = |rank| Endpoint::new(segment.clone(), Peer(rank as u32), Options::default());
        (0..ranks).map(rank).collect()
    }

    /// Sends a message to all others. Says to how many of them it went in a bounce buffer.
    fn send_to_all(sender: &mut Endpoint, tag: u64, data: &[u8]) -> usize {
        let others = sender.transport.segment.ranks() as u32 - 1;
        let shared = |to: &u32| {
            let message = (label(tag), TypeCode::BYTES, Region::of(data));
            let readers = if *to == 1 { others } else { 0 };
            // SAFETY: the data is borrowed for as long as they are sent to.
            unsafe {
                sender.send_multicast(Peer(*to), message, (tag, TrafficHint::OneWay), readers)
            }
        };
        (1..=others).filter(shared).count()
    }

    /// Whether a message to rank 1 is to go in a bounce buffer.
    fn is_bounced_to_peer(sender: &mut Endpoint, data: &[u8], hint: TrafficHint) -> bool {
        let message = sender.outbound(Peer(1), Region::of(data), hint);
        is_bounced(&sender.thresholds, message)
    }

    /// Blocks that are still to be read.
    fn unread(sender: &Endpoint) -> usize {
        sender.bounce.unread(&sender.transport.segment)
    }

    fn yield_until(mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never comes to that");
            std::thread::yield_now();
        }
    }

    fn receive(
        receiver: &mut Endpoint,
        tag: u64,
        bytes: usize,
    ) -> (Vec<u8>, Result<(), TransferError>) {
        receive_from(receiver, Peer(0), tag, bytes)
    }

    fn receive_from(
        receiver: &mut Endpoint,
        source: Peer,
        tag: u64,
        bytes: usize,
    ) -> (Vec<u8>, Result<(), TransferError>) {
        let (mut into, mut done) = (vec![0; bytes], Vec::new());
        let (selector, token) =
            (Selector::exactly(source, label(tag)), Token { operation: tag, step: 0 });
        let region = RegionMut::of(&mut into);
        // SAFETY: the memory outlives the receive: its end is waited for.
        unsafe { receiver.recv(selector, TypeCode::BYTES, region, token, &mut done) };
        yield_until(|| {
            receiver.progress(&mut done);
            !done.is_empty()
        });
        (into, done[0].outcome.map(drop))
    }

    #[test]
    fn what_all_have_read_makes_room_for_the_next() {
        let mut world = ranks(4);
        for round in 0..20 {
            let data = vec![round as u8; BYTES + round as usize];
            assert_eq!(send_to_all(&mut world[0], round, &data), 3);
            for receiver in &mut world[1..] {
                assert_eq!(receive(receiver, round, data.len()), (data.clone(), Ok(())));
            }
            assert_eq!(unread(&world[0]), 0, "all have read it");
        }
    }

    /// One rank sends data to another one, in a bounce buffer, which receives it.
    fn pass(world: &mut [Endpoint], (from, to): (usize, usize), data: &[u8]) {
        let (region, token) = (Region::of(data), Token { operation: 1, step: 0 });
        let (source, peer) = (Peer(from as u32), Peer(to as u32));
        // SAFETY: the data outlives the send, which is done at once.
        let posted = unsafe { world[from].send(peer, label(1), TypeCode::BYTES, region, token) };
        assert_eq!(posted, Posted::Done);
        let got = receive_from(&mut world[to], source, 1, data.len());
        assert!(got == (data.to_vec(), Ok(())), "{} bytes", data.len());
    }

    #[test]
    fn an_answer_goes_in_the_buffer_that_it_answers() {
        let mut world = ranks(3);
        let message = |round: usize| vec![round as u8; 12 << 10];
        pass(&mut world, (1, 0), &message(0));
        assert_eq!(unread(&world[1]), 0, "who has sent nothing answers nothing");
        for round in 1..50 {
            pass(&mut world, (0, 1), &message(round));
            pass(&mut world, (1, 0), &message(round + 100));
            assert_eq!((unread(&world[0]), unread(&world[1])), (1, 0), "it goes to and fro");
        }
        for round in 0..50 {
            pass(&mut world, (0, 2), &message(round));
            assert_eq!(unread(&world[0]), 1, "that is for another one, which has sent nothing");
        }
        for round in 0..50 {
            pass(&mut world, (1, 0), &message(round));
            assert!(unread(&world[1]) <= 1, "one of each is kept");
        }
        pass(&mut world, (0, 1), &[7; 16 << 10]);
        assert_eq!(unread(&world[0]), 2, "what does not fit has a block of its own");
        pass(&mut world, (1, 0), &[7; 16 << 10]);
        assert_eq!(unread(&world[0]), 1, "the last one is kept instead of that before");
        pass(&mut world, (0, 1), &[7; 13 << 10]);
        assert_eq!(unread(&world[0]), 1, "shorter ones fit");
    }

    #[test]
    fn an_exchange_of_several_messages_finds_a_buffer_for_each() {
        const MESSAGES: usize = 3;
        let mut world = dedicated(2);
        let message = |round: usize, at: usize| vec![(7 * round + at) as u8; 24 << 10];
        let mut pools = Vec::new();
        for round in 0..20 {
            // Both send before they receive.
            for (from, to) in [(0, 1), (1, 0)] {
                for at in 0..MESSAGES {
                    let (data, token) = (message(round, at), Token { operation: 1, step: 0 });
                    let region = Region::of(&data);
                    // SAFETY: the data outlives the send, which is done at once.
                    let posted = unsafe {
                        let peer = Peer(to as u32);
                        world[from].send(peer, label(at as u64), TypeCode::BYTES, region, token)
                    };
                    assert_eq!(posted, Posted::Done);
                }
            }
            for (from, to) in [(0, 1), (1, 0)] {
                for at in 0..MESSAGES {
                    let data = message(round, at);
                    let got =
                        receive_from(&mut world[to], Peer(from as u32), at as u64, data.len());
                    assert!(got == (data, Ok(())), "round {round} message {at}");
                }
            }
            pools.push([0, 1].map(|rank: usize| unread(&world[rank])));
        }
        assert!(pools.iter().all(|pool| *pool == [MESSAGES, MESSAGES]), "kept: {pools:?}");
    }

    /// Its sender may be filling it still.
    #[test]
    fn who_refuses_a_message_does_not_keep_its_block() {
        for mut world in [ranks(2), dedicated(2)] {
            let data = vec![1; 12 << 10];
            pass(&mut world, (1, 0), &data);
            let (region, token) = (Region::of(&data), Token { operation: 1, step: 0 });
            // SAFETY: the data outlives the send, which is done at once.
            let posted =
                unsafe { world[0].send(Peer(1), label(1), TypeCode::BYTES, region, token) };
            let (_, outcome) = receive(&mut world[1], 1, data.len() - 1);
            assert!(matches!(outcome, Err(TransferError::Truncated { .. })));
            assert_eq!((posted, unread(&world[0])), (Posted::Done, 0));
        }
    }

    #[test]
    fn what_several_have_read_is_kept_by_the_last_of_them() {
        let mut world = ranks(3);
        let data = vec![5; 12 << 10];
        for reader in [1, 2] {
            pass(&mut world, (reader, 0), &data); // so an answer is likely
        }
        assert_eq!(send_to_all(&mut world[0], 1, &data), 2);
        for (reader, recycled) in [(1, 1), (2, 1)] {
            assert_eq!(receive(&mut world[reader], 1, data.len()), (data.clone(), Ok(())));
            assert_eq!(unread(&world[0]), recycled);
        }
        pass(&mut world, (2, 0), &data);
        assert_eq!((unread(&world[0]), unread(&world[2])), (0, 0));
    }

    /// No message lies there: its owner is not ahead of anybody.
    #[test]
    fn a_buffer_that_is_kept_keeps_no_long_message_out() {
        let mut world = ranks(2);
        pass(&mut world, (0, 1), &[1; 12 << 10]);
        pass(&mut world, (1, 0), &[1; 12 << 10]);
        assert_eq!(unread(&world[1]), 1, "rank 0 keeps it for its next message");
        let long = vec![2; 3 << 20];
        let mut send = |tag| {
            let message = (label(tag), TypeCode::BYTES, Region::of(&long));
            // SAFETY: the data outlives the send, which is done at once.
            unsafe { world[1].send_bounce(Peer(0), message, TrafficHint::Reduced) }
        };
        assert!(send(1));
        assert!(!send(2), "the first one is unread");
        assert_eq!(receive_from(&mut world[0], Peer(1), 1, long.len()), (long.clone(), Ok(())));
    }

    #[test]
    fn long_messages_and_those_of_very_many_ranks_are_not_recycled() {
        let exchange = |ranks_of: Vec<Endpoint>, bytes: usize| {
            let mut world = ranks_of;
            let data = vec![1; bytes];
            pass(&mut world, (0, 1), &data);
            pass(&mut world, (1, 0), &data);
            unread(&world[0]) + unread(&world[1])
        };
        assert_eq!(exchange(ranks(BUFFERS_IN_USE_MAX / 2), 12 << 10), 1);
        assert_eq!(exchange(ranks(BUFFERS_IN_USE_MAX / 2 + 1), 12 << 10), 0);
        assert_eq!(exchange(dedicated(2), CopyBandwidth::LONGEST), 1);
        assert_eq!(exchange(dedicated(8), 100 << 10), 1);
        assert_eq!(
            exchange(
                dedicated(8),
                1 + BouncePool::longest(&dedicated(8)[0].transport.segment) / 14
            ),
            0
        );
    }

    #[test]
    fn messages_wait_in_their_buffers_and_those_without_one_go_as_others_do() {
        let mut world = ranks(3);
        let message = |tag: u64| vec![tag as u8; BYTES];
        for tag in 0..BUFFERS_IN_USE_MAX as u64 {
            assert_eq!(send_to_all(&mut world[0], tag, &message(tag)), 2);
        }
        assert_eq!(send_to_all(&mut world[0], 99, &message(99)), 0, "all blocks are full");
        for receiver in &mut world[1..] {
            receiver.progress(&mut Vec::new());
        }
        // The last first, of what has come before its receive.
        for tag in (0..BUFFERS_IN_USE_MAX as u64).rev() {
            assert_eq!(receive(&mut world[1], tag, BYTES), (message(tag), Ok(())));
        }
        assert_eq!(send_to_all(&mut world[0], 99, &message(99)), 0, "one has read none");
        assert_eq!(receive(&mut world[2], 5, BYTES), (message(5), Ok(())));
        assert_eq!(send_to_all(&mut world[0], 99, &message(99)), 2);
        assert_eq!(unread(&world[0]), BUFFERS_IN_USE_MAX, "one is new");
        assert_eq!(world[0].channel_bytes(), 0, "they are no channels");
    }

    #[test]
    fn who_refuses_a_message_or_lets_it_go_has_read_it() {
        let mut world = ranks(3);
        let data = vec![1; BYTES];
        assert_eq!(send_to_all(&mut world[0], 7, &data), 2);
        let (_, refused) = receive(&mut world[1], 7, BYTES - 1);
        let from = crate::Sender::new(Peer(0), 7);
        assert_eq!(refused, Err(TransferError::truncated(from, BYTES, BYTES - 1)));
        world[2].progress(&mut Vec::new());
        let taken = world[2].mprobe(Selector::exactly(Peer(0), label(7))).unwrap();
        world[2].discard(taken);
        assert_eq!(unread(&world[0]), 0);
    }

    #[test]
    fn a_buffer_that_not_all_were_told_of_is_free_again() {
        let mut world = ranks(3);
        let data = vec![1; BYTES];
        let message = (label(1), TypeCode::BYTES, Region::of(&data));
        // SAFETY: the data outlives its sends, here and below.
        assert!(unsafe { world[0].send_multicast(Peer(1), message, (1, TrafficHint::OneWay), 2) });
        // Another operation, or another message, is not in that bounce buffer.
        // SAFETY: as above.
        assert!(!unsafe { world[0].send_multicast(Peer(2), message, (2, TrafficHint::OneWay), 0) });
        assert_eq!(send_to_all(&mut world[0], 3, &data), 2);
        assert_eq!(receive(&mut world[1], 1, BYTES), (data.clone(), Ok(())));
        assert_eq!(receive(&mut world[1], 3, BYTES), (data.clone(), Ok(())));
        assert_eq!(receive(&mut world[2], 3, BYTES), (data.clone(), Ok(())));
        assert_eq!(unread(&world[0]), 0);
    }

    #[test]
    fn short_and_very_long_messages_go_as_others_do() {
        let mut world = ranks(3);
        let short = world[0].inline_max_bytes();
        for (bytes, shared) in
            [(8, 0), (short, 0), (short + 1, 2), (BOUNCE_MAX_BYTES, 2), (BOUNCE_MAX_BYTES + 1, 0)]
        {
            let data = vec![5; bytes];
            assert_eq!(send_to_all(&mut world[0], bytes as u64, &data), shared, "{bytes} bytes");
        }
        // A sender that also sends to other ranks may be as far ahead.
        let data = vec![6; BOUNCE_MAX_BYTES];
        let message = (label(9), TypeCode::BYTES, Region::of(&data));
        // SAFETY: the data outlives the send.
        assert!(unsafe {
            world[0].send_multicast(Peer(1), message, (9, TrafficHint::Expected), 1)
        });
    }

    /// Also where the kernel copies fast: several receivers of one sender wait for each other in
    /// the kernel.
    #[test]
    fn where_ranks_have_cores_what_several_get_goes_in_one_block() {
        for favours_cores in [true, false] {
            let mut world = dedicated_with(3, favours_cores);
            let short = world[0].inline_max_bytes();
            for (bytes, shared) in [
                (short, 0),
                (short + 1, 2),
                (CopyBandwidth::LONGEST, 2),
                (CopyBandwidth::LONGEST + 1, 0),
            ] {
                let data = pattern(bytes);
                let tag = bytes as u64;
                assert_eq!(send_to_all(&mut world[0], tag, &data), shared, "{bytes} bytes");
                for receiver in world[1..].iter_mut().filter(|_| shared > 0) {
                    assert!(receive(receiver, tag, bytes) == (data.clone(), Ok(())), "{bytes}");
                }
                assert_eq!(unread(&world[0]), 0);
            }
        }
    }

    /// A long untouched message is copied once; one alone only where few ranks share a core.
    #[test]
    fn long_messages_that_stay_as_they_are_are_not_bounced() {
        let alone = TrafficHint::Untouched { among_several: false };
        let among_several = TrafficHint::Untouched { among_several: true };
        for (company, may_wait) in
            [(WAITING_RANKS_PER_CORE_MAX, true), (WAITING_RANKS_PER_CORE_MAX + 1, false)]
        {
            let mut world = ranks(company);
            for (bytes, is_short) in [(UNTOUCHED_MAX_BYTES, true), (UNTOUCHED_MAX_BYTES + 1, false)]
            {
                let data = vec![1; bytes];
                let mut goes = |hint| is_bounced_to_peer(&mut world[0], &data, hint);
                assert_eq!(goes(alone), is_short || !may_wait, "{company} ranks, {bytes} bytes");
                assert_eq!(goes(among_several), is_short, "{company} ranks, {bytes} bytes");
                assert!(goes(TrafficHint::OneWay));
            }
        }
    }

    #[test]
    fn any_message_of_some_length_is_bounced() {
        let mut world = ranks(3);
        let (short, longest) = (OVERSUBSCRIBED_EXCHANGE_MIN_BYTES, 16 << 10);
        for (tag, bytes, buffers) in [(0, short, 0), (1, short + 1, 1), (2, longest, 1)] {
            let data = vec![tag as u8; bytes];
            let (region, token) = (Region::of(&data), Token { operation: 1, step: 0 });
            let message = (label(tag), TypeCode::BYTES, region);
            // SAFETY: the data outlives the send, which is done at once.
            let posted =
                unsafe { world[0].send_with(TrafficHint::Expected, Peer(1), message, token) };
            assert_eq!((posted, unread(&world[0])), (Posted::Done, buffers), "{bytes} bytes");
            assert_eq!(receive(&mut world[1], tag, bytes), (data, Ok(())));
            assert_eq!(unread(&world[0]), 0);
        }
        let (data, token) = (vec![1; longest + 1], Token { operation: 1, step: 0 });
        let message = (label(3), TypeCode::BYTES, Region::of(&data));
        // SAFETY: the send is taken back before the data is gone.
        let posted = unsafe { world[0].send_with(TrafficHint::Expected, Peer(1), message, token) };
        assert_eq!((posted, unread(&world[0])), (Posted::Pending, 0), "it is copied once");
        world[0].cancel(|_| true);
        for (bytes, is_operand) in
            [(short, false), (CopyBandwidth::LONGEST, true), (CopyBandwidth::LONGEST + 1, false)]
        {
            let data = vec![1; bytes];
            let goes = is_bounced_to_peer(
                &mut world[0],
                &data,
                TrafficHint::Operands { stay_cached: true },
            );
            assert_eq!(goes, is_operand, "{bytes} bytes, to be reduced");
        }
    }

    /// So many ranks, each with a core, where the kernel copies slowly.
    fn dedicated(ranks: usize) -> Vec<Endpoint> {
        dedicated_with(ranks, true)
    }

    /// The same, where the kernel copies slowly or not.
    fn dedicated_with(ranks: usize, favours_cores: bool) -> Vec<Endpoint> {
        let (segment, _file) =
            SharedSegment::shared_by(Layout::new(ranks).unwrap(), ranks).unwrap();
        segment.set_prefers_memcpy(favours_cores);
        let segment = Arc::new(segment);
        let rank = |rank| Endpoint::new(segment.clone(), Peer(rank as u32), Options::default());
        (0..ranks).map(rank).collect()
    }

    /// Each byte tells where it is.
    fn pattern(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn long_messages_are_read_while_they_are_written() {
        const LENGTHS: [usize; 6] = [
            READ_WHILE_WRITTEN_BYTES,
            READ_WHILE_WRITTEN_BYTES + 1,
            3 * READ_WHILE_WRITTEN_BYTES,
            BOUNCE_MAX_BYTES,
            BOUNCE_MAX_BYTES + 1,
            CopyBandwidth::LONGEST,
        ];
        let mut world = dedicated(2);
        let (mut receiver, mut sender) = (world.pop().unwrap(), world.pop().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for (tag, bytes) in (0..).zip(LENGTHS.repeat(20)) {
                    let got = receive(&mut receiver, tag, bytes);
                    assert!(got == (pattern(bytes), Ok(())), "{bytes} bytes");
                }
            });
            for (tag, bytes) in (0..).zip(LENGTHS.repeat(20)) {
                let (data, token) = (pattern(bytes), Token { operation: 1, step: 0 });
                yield_until(|| unread(&sender) < 3); // there is room for one more
                let (label, region) = (label(tag), Region::of(&data));
                // SAFETY: the data outlives the send, which is done at once.
                let posted = unsafe { sender.send(Peer(1), label, TypeCode::BYTES, region, token) };
                assert_eq!(posted, Posted::Done, "{bytes} bytes");
            }
            yield_until(|| {
                sender.progress(&mut Vec::new());
                sender.all_sent() && unread(&sender) == 0
            });
        });
    }

    #[test]
    fn what_is_longer_or_finds_no_room_goes_as_others_do() {
        let mut world = dedicated(2);
        let (data, token) = (pattern(CopyBandwidth::LONGEST + 1), Token { operation: 1, step: 0 });
        let mut send = |tag: u64, bytes: usize| {
            let region = Region::of(&data[..bytes]);
            // SAFETY: the data outlives the send: what is not done is taken back below.
            unsafe { world[0].send(Peer(1), label(tag), TypeCode::BYTES, region, token) }
        };
        assert_eq!(send(50, CopyBandwidth::LONGEST + 1), Posted::Pending);
        let gone =
            (0..).take_while(|&tag| send(tag, CopyBandwidth::LONGEST) == Posted::Done).count();
        assert!((3..BUFFERS_IN_USE_MAX).contains(&gone), "{gone} are in the pool");
        assert_eq!(send(52, BOUNCE_MAX_BYTES), Posted::Done, "there is room for a shorter one");
        // They may be received much later, and in another order.
        for tag in (0..gone as u64).rev() {
            let got = receive(&mut world[1], tag, CopyBandwidth::LONGEST);
            assert!(got == (pattern(CopyBandwidth::LONGEST), Ok(())));
        }
        world[0].cancel(|_| true);
    }

    #[test]
    fn where_the_kernel_copies_long_messages_go_in_blocks_if_they_are_reduced() {
        let segment = dedicated(2)[0].transport.segment.clone();
        let options = Options { single_copy: Some(true), ..Options::default() };
        let mut sender = Endpoint::new(segment, Peer(0), options);
        let mut may = |bytes, hint| {
            let data = vec![0; bytes];
            is_bounced_to_peer(&mut sender, &data, hint)
        };
        let SizeRange { above, longest } = ONE_WAY_BYTES;
        for (bytes, in_exchange, one_way, reduced) in [
            (EXCHANGE_MIN_BYTES, false, false, false),
            (EXCHANGE_MIN_BYTES + 1, true, false, false),
            (EXCHANGE_MAX_BYTES, true, false, false),
            (EXCHANGE_MAX_BYTES + 1, false, true, true),
            (above, true, false, false),
            (above + 1, false, true, true),
            (longest, false, true, true),
            (longest + 1, false, false, true),
            (CopyBandwidth::LONGEST, false, false, true),
            (CopyBandwidth::LONGEST + 1, false, false, false),
        ] {
            assert_eq!(may(bytes, TrafficHint::Expected), in_exchange, "{bytes}");
            for hint in [
                TrafficHint::OneWay,
                TrafficHint::Unknown,
                TrafficHint::Untouched { among_several: true },
            ] {
                assert_eq!(may(bytes, hint), one_way, "{bytes}");
            }
            assert_eq!(may(bytes, TrafficHint::Reduced), reduced, "{bytes}");
            let is_operand = bytes > EXCHANGE_MIN_BYTES && bytes <= CopyBandwidth::LONGEST;
            assert_eq!(
                may(bytes, TrafficHint::Operands { stay_cached: true }),
                is_operand,
                "{bytes}"
            );
        }
    }

    /// What was found of a short pool says nothing of one that is twice as long.
    #[test]
    fn a_pool_that_has_become_longer_is_judged_anew() {
        let mut world = dedicated(2);
        let data = pattern(BYTES);
        let mut doublings = 0;
        for tag in 0..1000 {
            let was_new = world[0].bounce.copy_strategy.is_new();
            let message = (label(tag), TypeCode::BYTES, Region::of(&data));
            // SAFETY: the data outlives the sends, which are done at once.
            assert!(unsafe { world[0].send_bounce(Peer(1), message, TrafficHint::Reduced) });
            assert_eq!(receive(&mut world[1], tag, BYTES).1, Ok(()));
            doublings += u32::from(!was_new && world[0].bounce.copy_strategy.is_new());
        }
        assert!(
            (1..10).contains(&doublings),
            "a pool doubles some times, and then no more: {doublings}"
        );
    }

    /// Each is there as a whole, to be read where it lies.
    #[test]
    fn a_long_operand_of_an_exchange_is_read_in_place() {
        let segment = dedicated(2)[0].transport.segment.clone();
        let options = Options { single_copy: Some(true), ..Options::default() };
        let mut world = [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), options));
        let (data, token) = (pattern(CopyBandwidth::LONGEST), Token { operation: 1, step: 0 });
        let message = (label(1), TypeCode::BYTES, Region::of(&data));
        // SAFETY: the data outlives the send, which is done at once.
        let sent = unsafe {
            world[0].send_with(TrafficHint::Operands { stay_cached: true }, Peer(1), message, token)
        };
        assert_eq!((sent, unread(&world[0])), (Posted::Done, 1));
        let (mut place, mut done) = (vec![0; data.len()], Vec::new());
        let selector = Selector::exactly(Peer(0), label(1));
        // SAFETY: the memory outlives the receive.
        unsafe {
            let into = RegionMut::of(&mut place);
            world[1].recv_lines(selector, TypeCode::BYTES, into, token, &mut done);
        }
        world[1].progress(&mut done);
        assert_eq!((done.len(), world[1].bounce.in_place.messages.len()), (1, 1));
        world[1].release_in_place(token);
        assert_eq!(unread(&world[0]), 0);
    }

    #[test]
    fn a_long_operand_is_read_in_place() {
        let mut world = dedicated_with(2, false);
        let (data, token) = (pattern(CopyBandwidth::LONGEST), Token { operation: 1, step: 0 });
        let message = (label(1), TypeCode::BYTES, Region::of(&data));
        // SAFETY: the data outlives the send, which is done at once.
        assert!(unsafe { world[0].send_multicast(Peer(1), message, (1, TrafficHint::Reduced), 1) });
        let (mut place, mut done) = (vec![0; data.len()], Vec::new());
        let (selector, into) = (Selector::exactly(Peer(0), label(1)), RegionMut::of(&mut place));
        // SAFETY: the memory outlives the receive.
        unsafe { world[1].recv_lines(selector, TypeCode::BYTES, into, token, &mut done) };
        world[1].progress(&mut done);
        assert_eq!(
            (done.len(), world[1].bounce.in_place.messages.len(), unread(&world[0])),
            (1, 1, 1)
        );
        world[1].release_in_place(token);
        assert!(place.iter().all(|&byte| byte == 0), "nobody has copied it");
        assert_eq!(unread(&world[0]), 0);
    }

    /// Two that answer each other are found out by that, and one that only gets an answer of a few
    /// bytes is not taken for one of them.
    #[test]
    fn who_answers_is_answered_in_a_block() {
        let _watchdog = Watchdog::start();
        let segment = dedicated(2)[0].transport.segment.clone();
        let options = Options { single_copy: Some(true), ..Options::default() };
        let mut world = [0, 1].map(|rank| Endpoint::new(segment.clone(), Peer(rank), options));
        // Who sends, how much, and whether it goes in a bounce buffer.
        for (tag, (from, bytes, is_bounced)) in [
            (0, 4096, false),
            (0, 4096, false),
            (1, 8, false),
            (0, 4096, false),
            (1, 4096, true),
            (1, 4096, false),
            (0, 4096, true),
            (0, 12 << 10, false),
            (1, 12 << 10, true),
        ]
        .into_iter()
        .enumerate()
        {
            let (data, mut into) = (pattern(bytes), vec![0; bytes]);
            let (label, token) = (label(tag as u64), Token { operation: 1, step: 0 });
            let to = 1 - from;
            let (peer, source) = (Peer(to as u32), Peer(from as u32));
            // SAFETY: the data outlives the send, which is done at once.
            let sent =
                unsafe { world[from].send(peer, label, TypeCode::BYTES, Region::of(&data), token) };
            // SAFETY: peers push nothing but `Header`s into standing lanes, and any bits are one.
            let header = unsafe { world[to].transport.readers[from].peek::<Header>() }.unwrap();
            let was_bounced = matches!(Packet::read(header), Packet::Bounced { .. });
            assert_eq!((sent, was_bounced), (Posted::Done, is_bounced), "{tag}");
            let mut done = Vec::new();
            // SAFETY: the memory outlives the receive.
            unsafe {
                let selector = Selector::exactly(source, label);
                world[to].recv(
                    selector,
                    TypeCode::BYTES,
                    RegionMut::of(&mut into),
                    token,
                    &mut done,
                );
            }
            while done.is_empty() {
                world[to].progress(&mut done);
            }
            assert_eq!(into, data, "{tag}");
        }
    }

    /// It would be copied twice, too, and out of what has left the caches.
    #[test]
    fn where_the_kernel_copies_what_flows_one_way_waits_for_cells() {
        let segment = dedicated(2)[0].transport.segment.clone();
        let options = Options { single_copy: Some(true), ..Options::default() };
        let mut sender = Endpoint::new(segment, Peer(0), options);
        let data = vec![0; EXCHANGE_MAX_BYTES];
        let token = Token { operation: 1, step: 0 };
        let mut send = |tag| {
            let region = Region::of(&data);
            // SAFETY: the send is done at once or taken back, before the data is gone.
            unsafe {
                sender.send_with(
                    TrafficHint::OneWay,
                    Peer(1),
                    (label(tag), TypeCode::BYTES, region),
                    token,
                )
            }
        };
        assert_eq!((0..1000).map(&mut send).last(), Some(Posted::Pending));
        assert_eq!(unread(&sender), 0);
        sender.cancel(|_| true);
    }

    #[test]
    fn a_sender_that_dies_in_the_middle_is_not_waited_for() {
        let mut world = dedicated(2);
        let Endpoint { bounce, transport, .. } = &mut world[0];
        let data = Region::of(&[0; BYTES]);
        let buffer = bounce.allocate(transport, data, Readers::Several(1)).unwrap();
        world[0]
            .transport
            .segment
            .word32(buffer.filled)
            .store(READ_WHILE_WRITTEN_BYTES as u32, Ordering::Release);
        let packet = Packet::Bounced { label: label(1), element: TypeCode::BYTES, bytes: BYTES };
        announce(&mut world[0].transport, Peer(1), packet, buffer);
        world[0].transport.segment.fail(Failure { rank: Peer(0), how: How::Signal(9) });
        let (_, outcome) = receive(&mut world[1], 1, BYTES);
        assert_eq!(outcome, Err(TransferError::Revoked(Peer(0))));
    }

    #[test]
    fn a_short_message_is_bounced_where_that_is_better() {
        for (mut world, hint, shortest) in [
            (dedicated(2), TrafficHint::OneWay, BOUNCE_MIN_BYTES),
            (dedicated(2), TrafficHint::Expected, EXCHANGE_MIN_BYTES),
            (ranks(2), TrafficHint::OneWay, usize::MAX),
            (ranks(2), TrafficHint::Expected, OVERSUBSCRIBED_EXCHANGE_MIN_BYTES),
        ] {
            for bytes in [8, BOUNCE_MIN_BYTES, BOUNCE_MIN_BYTES + 1, world[0].inline_max_bytes()] {
                let (data, mut into) = (pattern(bytes), vec![0; bytes]);
                let (from, to) = (Region::of(&data), RegionMut::of(&mut into));
                let label = label(bytes as u64);
                // SAFETY: the data outlives the call.
                let sent =
                    unsafe { world[0].send_inline(Peer(1), label, TypeCode::BYTES, from, hint) };
                assert!(sent && unread(&world[0]) == usize::from(bytes > shortest), "{bytes}");
                // SAFETY: the memory outlives the call.
                let got = unsafe {
                    world[1].recv_inline(Peer(0), label, TypeCode::BYTES, to, Fill::Part)
                };
                assert!(matches!(got, InlineRecv::Done(Ok(all)) if all == bytes), "{got:?}");
                assert!(into == data, "{bytes} bytes");
                assert_eq!(unread(&world[0]), 0);
            }
        }
    }

    /// A receiver that waits for a short message also finds it in a bounce buffer, recycled or not.
    #[test]
    fn who_finds_no_annex_puts_a_short_message_into_a_block() {
        const SHORT: usize = 4 << 10;
        for keeps in [false, true] {
            let mut world = ranks(3);
            for tag in 0..40 {
                let (data, token) = (vec![tag as u8; SHORT], Token { operation: 1, step: 0 });
                let (label, region) = (label(tag), Region::of(&data));
                // SAFETY: the data outlives the send, which is done at once.
                let posted =
                    unsafe { world[0].send(Peer(1), label, TypeCode::BYTES, region, token) };
                assert_eq!(posted, Posted::Done);
            }
            assert!((1..40).contains(&unread(&world[0])), "some in annexes, some in blocks");
            if keeps {
                world[1].progress(&mut Vec::new());
            }
            for tag in 0..40 {
                let mut into = vec![0; SHORT];
                let region = RegionMut::of(&mut into);
                // SAFETY: the memory outlives the call.
                let got = unsafe {
                    world[1].recv_inline(Peer(0), label(tag), TypeCode::BYTES, region, Fill::Part)
                };
                assert!(matches!(got, InlineRecv::Done(Ok(SHORT))), "{got:?}");
                assert!(into.iter().all(|&byte| byte == tag as u8), "message {tag}");
            }
            assert_eq!(unread(&world[0]), 0);
        }
    }

    #[test]
    fn without_room_in_the_arena_messages_go_as_others_do() {
        let mut world = ranks(3);
        let rest = world[0].transport.segment.layout().arena_bytes() / 2;
        while world[0].transport.arena.cut_for_good(rest).is_some() {}
        assert_eq!(send_to_all(&mut world[0], 1, &[7; BYTES]), 0);
        assert_eq!(world[0].bounce.bytes(), 0);
    }

    /// Some ranks of the machine share no memory with the sender: bounce buffers are for those that
    /// do.
    #[test]
    fn over_a_network_messages_go_as_others_do() {
        if let Err(error) = crate::net::Library::open() {
            eprintln!("not tested: {error}");
            return;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let ranks = (cores + 1).max(4);
        let seats = crate::bootstrap::threads_apart(ranks, ranks - 1, None).unwrap();
        let rank = |seat: crate::bootstrap::JoinedRank| {
            Endpoint::reaching(seat.segment, seat.network, seat.rank, Options::default())
        };
        let mut world: Vec<_> = seats.into_iter().map(rank).collect();
        let (home, away) = (1, ranks - 1);
        for (tag, bytes) in [(0, world[0].inline_max_bytes() + 1), (1, 12 << 10), (2, 16 << 10)] {
            for (to, buffers) in [(home, 1), (away, 0)] {
                let data = vec![to as u8; bytes];
                let (region, token) = (Region::of(&data), Token { operation: 1, step: 0 });
                let peer = Peer(to as u32);
                // SAFETY: the data outlives the send, which has been received when it ends.
                let _ = unsafe { world[0].send(peer, label(tag), TypeCode::BYTES, region, token) };
                assert_eq!(unread(&world[0]), buffers, "{bytes} bytes to rank {to}");
                let mut sender = world.remove(0);
                let got = std::thread::scope(|scope| {
                    let receiver = &mut world[to - 1];
                    let got = scope.spawn(move || receive(receiver, tag, bytes));
                    yield_until(|| {
                        sender.progress(&mut Vec::new());
                        got.is_finished()
                    });
                    got.join().unwrap()
                });
                world.insert(0, sender);
                assert_eq!((got, unread(&world[0])), ((data, Ok(())), 0));
            }
        }
        assert_eq!(send_to_all(&mut world[0], 7, &[0; BYTES]), 0, "not all of them could read it");
    }

    /// Two ranks answer each other, sometimes before they have read, sometimes after that.
    fn answer_each_other(world: Vec<Endpoint>, longest: usize) {
        const ROUNDS: u64 = 3000;
        let bytes = |round: u64| (9 << 10) + (round * 7919) as usize % (longest - (9 << 10));
        let byte = |who: u32, round: u64| (round * 2 + u64::from(who)) as u8;
        let read = |rank: &mut Endpoint, other: u32, round: u64| {
            let (got, outcome) = receive_from(rank, Peer(other), round, bytes(round));
            assert_eq!(outcome, Ok(()));
            assert!(got.iter().all(|&it| it == byte(other, round)), "round {round}");
        };
        let write = |rank: &mut Endpoint, me: u32, round: u64| {
            let data = vec![byte(me, round); bytes(round)];
            let (region, token) = (Region::of(&data), Token { operation: round, step: 0 });
            let (to, label) = (Peer(1 - me), label(round));
            // SAFETY: the data outlives the send, which is done when all has been sent.
            let _ = unsafe { rank.send(to, label, TypeCode::BYTES, region, token) };
            yield_until(|| {
                rank.progress(&mut Vec::new());
                rank.all_sent()
            });
        };
        let answer = |me: u32, mut rank: Endpoint| {
            for round in 0..ROUNDS {
                let is_late = (round / 10 + u64::from(me)).is_multiple_of(3);
                if is_late {
                    read(&mut rank, 1 - me, round);
                }
                write(&mut rank, me, round);
                if !is_late {
                    read(&mut rank, 1 - me, round);
                }
            }
        };
        std::thread::scope(|scope| {
            let answer = &answer;
            for (me, rank) in (0..).zip(world) {
                scope.spawn(move || answer(me, rank));
            }
        });
    }

    #[test]
    fn threads_that_answer_each_other_read_what_was_written_for_them() {
        answer_each_other(ranks(2), 16 << 10);
        answer_each_other(dedicated(2), 60 << 10);
    }

    #[test]
    fn threads_read_what_was_written_for_them() {
        const ROUNDS: u64 = 3000;
        let mut world = ranks(4);
        let mut sender = world.remove(0);
        std::thread::scope(|scope| {
            for mut receiver in world {
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let bytes = BYTES + (round % 97) as usize;
                        let (got, outcome) = receive(&mut receiver, round, bytes);
                        assert_eq!(outcome, Ok(()));
                        assert!(got.iter().all(|&byte| byte == round as u8), "round {round}");
                    }
                });
            }
            for round in 0..ROUNDS {
                let data = vec![round as u8; BYTES + (round % 97) as usize];
                yield_until(|| unread(&sender) < BUFFERS_IN_USE_MAX);
                assert_eq!(send_to_all(&mut sender, round, &data), 3);
                yield_until(|| {
                    sender.progress(&mut Vec::new());
                    sender.all_sent()
                });
            }
        });
    }
}
