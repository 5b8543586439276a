//! Pipelined rendezvous: a long message goes in pieces through bounce buffers of a pool of their
//! own, so that both ranks copy at the same time. Used where cross-memory attach is slow. Protocol
//! and proof: `../README.md`, "Pipelined messages".

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ops::RangeInclusive;

use super::bounce_pool::{BouncePool, Readers};
use super::nt_copy::CopyStrategy;
use super::peer_tx::{Attempt, Fragments, Outgoing};
use super::protocol::Thresholds;
use super::transfer::{Posted, RndvRecv};
use super::transport::Transport;
use crate::Peer;
use crate::foreign_load::now;
use crate::packet::Packet;
use crate::slab::{Id, Slab};

/// Bytes of the shortest and of the longest piece.
pub(super) const FRAGMENT_BYTES: RangeInclusive<usize> = 32 << 10..=128 << 10;
/// A receiver copies the rest of a message by itself when nothing of it has come for so many
/// nanoseconds per KiB of the message: then it has waited for as long as a copy by the kernel
/// takes, where that is slow. A sender that itself copies a piece is busy for less.
const PATIENCE_NS_PER_KIB: u64 = 100;
/// Polls between two readings of the clock.
const POLLS_PER_CLOCK: u32 = 64;

/// A message that comes in pieces, unless it is over.
#[derive(Debug)]
struct Stream {
    recv: Id,
    /// How long this rank waits until it copies the rest by itself.
    patience_ns: u64,
    /// When the clock was first read since a piece came, if it has been read since.
    idle_since: Option<u64>,
}

/// The streams of a rank.
#[derive(Debug)]
pub(super) struct Pipelines {
    pool: BouncePool,
    copy_strategy: CopyStrategy,
    streams: Vec<Stream>,
    /// Polls while there were any.
    polls: u32,
}

impl Pipelines {
    /// Those of a rank, if it has any. Where ranks share cores there are none: each piece would
    /// have to wait for its turn.
    pub(super) fn of(thresholds: &Thresholds) -> Option<Pipelines> {
        thresholds.may_pipeline().then(|| Pipelines {
            pool: BouncePool::default(),
            copy_strategy: CopyStrategy::of_round(0), // until the pool is cut
            streams: Vec::new(),
            polls: 0,
        })
    }

    /// Remembers a receive, in case that the rest of its message must be got without its sender.
    pub(super) fn note(&mut self, recvs: &mut Slab<RndvRecv>, recv: Id, bytes: usize) {
        self.streams.retain(|stream| recvs.get_mut(stream.recv).is_some());
        self.streams.push(Stream { recv, patience_ns: patience_ns(bytes), idle_since: None });
    }

    /// A piece of a message has come.
    pub(super) fn note_piece(&mut self, recv: Id) {
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.recv == recv) {
            stream.idle_since = None;
        }
    }

    /// Sends the next piece of a message in a bounce buffer. `None` if it must go in a cell.
    pub(super) fn send_fragment(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        pieces: Fragments,
    ) -> Option<Attempt> {
        if to == transport.me || transport.reaches(to) {
            return None;
        }
        if !transport.peer_tx[to.index()].has_room() {
            return Some(Attempt::NoRoom);
        }
        let Fragments { recv, data, sent: offset, .. } = pieces;
        let piece = data.part(offset, next_fragment_bytes(data.bytes(), offset));
        let allocated =
            self.pool.allocate(&mut transport.arena, &transport.segment, (piece, Readers::One(to)));
        let Some(buffer) = allocated else {
            return self.pool.is_read_by(&transport.segment, to).then_some(Attempt::NoRoom);
        };
        self.copy_strategy.adapt_to(&mut self.pool);
        // SAFETY: memory of a posted send: readable, by the promise of its poster.
        unsafe { self.copy_strategy.fill(&transport.segment, buffer, piece, 0) };
        let (bytes, sent) = (piece.bytes(), offset + piece.bytes());
        let packet = Packet::Pipelined { recv, offset, bytes };
        let pushed = transport.peer_tx[to.index()].push_words(packet, &buffer.words());
        assert!(pushed, "there was room for it");
        if sent < data.bytes() {
            return Some(Attempt::Partly(Outgoing::Fragments(Fragments { sent, ..pieces })));
        }
        Some(Attempt::Gone(Posted::Done))
    }

    /// Counts a poll. Returns a message whose sender seems to be busy with other work, whatever
    /// else comes meanwhile; the message is no longer remembered.
    #[inline]
    pub(super) fn take_overdue(&mut self) -> Option<Id> {
        if self.streams.is_empty() {
            return None;
        }
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS_PER_CLOCK) { self.take_overdue_at(now()) } else { None }
    }

    fn take_overdue_at(&mut self, now: u64) -> Option<Id> {
        let is_overdue = |stream: &mut Stream| {
            let idle_since = *stream.idle_since.get_or_insert(now);
            now - idle_since >= stream.patience_ns
        };
        let at = self.streams.iter_mut().position(is_overdue)?;
        Some(self.streams.remove(at).recv)
    }

    /// The first message that comes in pieces, which is no longer remembered.
    pub(super) fn take_first(&mut self) -> Option<Id> {
        (!self.streams.is_empty()).then(|| self.streams.remove(0).recv)
    }

    /// Bytes of the arena that they have taken.
    pub(super) fn bytes(&self) -> usize {
        self.pool.bytes()
    }
}

/// How long a receiver waits in vain for a message of so many bytes.
fn patience_ns(bytes: usize) -> u64 {
    (bytes >> 10) as u64 * PATIENCE_NS_PER_KIB
}

/// Bytes of the next piece of a message, so many of which have been sent. The first and the last
/// ones are short, since meanwhile one of the two ranks waits; each of the others is as long as all
/// before it, since each costs something besides its copies.
pub(super) fn next_fragment_bytes(bytes: usize, sent: usize) -> usize {
    let left = bytes - sent;
    sent.min(left / 2).clamp(*FRAGMENT_BYTES.start(), *FRAGMENT_BYTES.end()).min(left)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::endpoint::bounce_pool::BUFFERS_IN_USE_MAX;
    use crate::endpoint::protocol::PIPELINE_MIN_BYTES;
    use crate::endpoint::{Completion, Endpoint, Options};
    use crate::layout::Layout;
    use crate::watchdog::Watchdog;
    use crate::{
        Label, Region, RegionMut, Selector, SharedSegment, Token, TransferError, TypeCode,
    };

    const BYTES: usize = (1 << 20) + 17;
    /// Longer than any pool.
    const LONG: usize = (9 << 20) + 17;
    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };

    /// So many ranks, each with a core, where the kernel copies slowly.
    fn ranks<const RANKS: usize>(options: Options) -> [Endpoint; RANKS] {
        let (segment, _file) =
            SharedSegment::shared_by(Layout::new(RANKS).unwrap(), RANKS).unwrap();
        segment.set_prefers_memcpy(true);
        let segment = Arc::new(segment);
        std::array::from_fn(|rank| {
            segment.enter(Peer(rank as u32), std::process::id());
            Endpoint::new(segment.clone(), Peer(rank as u32), options)
        })
    }

    /// Each byte tells where it is, and in which message.
    fn pattern(bytes: usize, message: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at % 251 + message) as u8).collect()
    }

    fn token(step: u32) -> Token {
        Token { operation: 7, step }
    }

    /// Sends data that outlives the send.
    fn send(sender: &mut Endpoint, to: u32, data: &[u8]) -> Posted {
        // SAFETY: as the function says.
        unsafe { sender.send(Peer(to), LABEL, TypeCode::BYTES, Region::of(data), token(0)) }
    }

    /// Posts a receive into memory that outlives it.
    fn post(receiver: &mut Endpoint, from: u32, into: &mut [u8], done: &mut Vec<Completion>) {
        let (selector, into) = (Selector::exactly(Peer(from), LABEL), RegionMut::of(into));
        // SAFETY: as the function says.
        unsafe { receiver.recv(selector, TypeCode::BYTES, into, token(1), done) };
    }

    fn streams(rank: &Endpoint) -> &Pipelines {
        rank.rndv.pipelines.as_ref().unwrap()
    }

    /// Pieces of a rank that are still to be read.
    fn unread(rank: &Endpoint) -> usize {
        streams(rank).pool.unread(&rank.transport.segment)
    }

    /// Of all pieces of a message.
    fn lengths(bytes: usize) -> Vec<usize> {
        let (mut lengths, mut sent) = (Vec::new(), 0);
        while sent < bytes {
            lengths.push(next_fragment_bytes(bytes, sent));
            sent += lengths[lengths.len() - 1];
        }
        lengths
    }

    #[test]
    fn the_first_and_last_pieces_of_a_message_are_short() {
        let kib = |bytes: usize| -> Vec<usize> {
            assert_eq!(lengths(bytes).iter().sum::<usize>(), bytes);
            lengths(bytes).into_iter().map(|length| length >> 10).collect()
        };
        assert_eq!(kib(64 << 10), [32, 32]);
        assert_eq!(kib(80 << 10), [32, 32, 16]);
        assert_eq!(kib(512 << 10), [32, 32, 64, 128, 128, 64, 32, 32]);
        assert_eq!(kib(1 << 20), [32, 32, 64, 128, 128, 128, 128, 128, 128, 64, 32, 32]);
    }

    fn is_whole(done: &[Completion], bytes: usize) -> bool {
        done.len() == 1 && done[0].outcome.is_ok_and(|received| received.bytes == bytes)
    }

    #[test]
    fn a_long_message_comes_in_pieces_of_which_not_all_are_there_at_a_time() {
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = ranks(Options::default());
        let (data, mut into) = (pattern(LONG, 0), vec![0; LONG]);
        let (mut sent, mut came) = (Vec::new(), Vec::new());
        assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
        receiver.progress(&mut came);
        sender.progress(&mut sent);
        assert_eq!(sender.packets(), 1, "nobody wants it yet");
        post(&mut receiver, 0, &mut into, &mut came);
        for _ in 0..2 * BUFFERS_IN_USE_MAX {
            sender.progress(&mut sent);
        }
        let there = unread(&sender);
        assert!(
            (8..BUFFERS_IN_USE_MAX).contains(&there) && sent.is_empty(),
            "{there} pieces fill the pool"
        );
        while came.is_empty() {
            receiver.progress(&mut came);
            sender.progress(&mut sent);
        }
        assert!(is_whole(&came, LONG) && is_whole(&sent, LONG) && into == data);
        assert_eq!(sender.packets(), 1 + lengths(LONG).len() as u64);
        assert_eq!((unread(&sender), receiver.packets()), (0, 1), "it asked for them, no more");
        assert!(sender.all_sent() && sender.channel_bytes() == 0, "they are no channels");
    }

    #[test]
    fn who_waits_for_a_sender_that_does_something_else_gets_the_rest_by_itself() {
        let _watchdog = Watchdog::start();
        for turns in [0, 3, 9] {
            let [mut sender, mut receiver] = ranks(Options::default());
            let (mut data, mut into) = (pattern(BYTES, 0), vec![0; BYTES]);
            let (mut sent, mut came) = (Vec::new(), Vec::new());
            assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
            post(&mut receiver, 0, &mut into, &mut came);
            receiver.progress(&mut came);
            for _ in 0..turns {
                sender.progress(&mut sent);
                receiver.progress(&mut came);
            }
            sender.progress(&mut sent); // One piece may still be on its way.
            let begun = now();
            while came.is_empty() {
                assert!(sent.is_empty());
                receiver.progress(&mut came);
            }
            assert!(now() - begun >= patience_ns(BYTES), "that is too early");
            assert!(is_whole(&came, BYTES) && into == data, "after {turns} turns");
            sender.progress(&mut sent);
            assert!(is_whole(&sent, BYTES) && sender.all_sent());
            // The memory is the sender's again, and nothing of it goes out any more.
            data.fill(0);
            for _ in 0..10 {
                sender.progress(&mut sent);
                receiver.progress(&mut came);
            }
            assert_eq!((came.len(), sent.len(), unread(&sender)), (1, 1, 0));
            assert!(
                into == pattern(BYTES, 0) && receiver.rndv.pipelines.unwrap().streams.is_empty()
            );
        }
    }

    #[test]
    fn other_messages_do_not_make_a_receiver_wait_for_a_busy_sender() {
        let [mut sender, mut receiver, mut other] = ranks(Options::default());
        let (data, mut into, short) = (pattern(BYTES, 0), vec![0; BYTES], [7; 4]);
        let (mut came, mut sent) = (Vec::new(), Vec::new());
        assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
        post(&mut receiver, 0, &mut into, &mut came);
        let begun = now();
        for poll in 0..10_000_000 {
            if !came.is_empty() {
                break;
            }
            if poll % 32 == 0 {
                let _ = send(&mut other, 1, &short); // It may wait for room.
                other.progress(&mut sent);
            }
            receiver.progress(&mut came);
        }
        assert!(is_whole(&came, BYTES) && into == data);
        assert!(now() - begun >= patience_ns(BYTES), "that is too early");
    }

    #[test]
    fn only_the_first_of_several_is_got_by_the_kernel_if_the_sender_comes_back_meanwhile() {
        let _watchdog = Watchdog::start();
        for comes_back in [true, false] {
            let [mut sender, mut receiver] = ranks(Options::default());
            let data = [0, 1].map(|message| pattern(BYTES, message));
            let mut into = [vec![0; BYTES], vec![0; BYTES]];
            let (mut sent, mut came) = (Vec::new(), Vec::new());
            for data in &data {
                assert_eq!(send(&mut sender, 1, data), Posted::Pending);
            }
            for into in &mut into {
                post(&mut receiver, 0, into, &mut came);
            }
            while came.is_empty() {
                receiver.progress(&mut came);
            }
            assert!(is_whole(&came, BYTES) && into[0] == data[0]);
            let mut polls = 0;
            while came.len() < 2 {
                if comes_back {
                    sender.progress(&mut sent);
                }
                receiver.progress(&mut came);
                polls += 1;
                assert!(comes_back || polls <= POLLS_PER_CLOCK, "the other one at the next look");
            }
            assert!(into[1] == data[1]);
            assert_eq!(sender.packets() > 2, comes_back, "pieces, besides two announcements");
            while sent.len() < 2 {
                sender.progress(&mut sent);
            }
        }
    }

    #[test]
    fn who_is_about_to_sleep_does_not_wait_for_the_sender() {
        let [mut sender, mut receiver] = ranks(Options::default());
        let (data, mut into, mut came) = (pattern(BYTES, 0), vec![0; BYTES], Vec::new());
        assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
        post(&mut receiver, 0, &mut into, &mut came);
        receiver.progress(&mut came);
        receiver.complete_without_senders(&mut came);
        assert!(came.is_empty(), "the message has just come");
        receiver.progress(&mut came);
        receiver.complete_without_senders(&mut came);
        assert!(is_whole(&came, BYTES) && into == data);
        sender.progress(&mut came);
        assert!(sender.all_sent());
    }

    #[test]
    fn where_the_kernel_refuses_there_is_nothing_but_pieces() {
        let _watchdog = Watchdog::start();
        let options = Options { single_copy: Some(false), ..Options::default() };
        let [mut sender, mut receiver] = ranks(options);
        let (data, mut into, mut came) = (pattern(BYTES, 0), vec![0; BYTES], Vec::new());
        assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
        post(&mut receiver, 0, &mut into, &mut came);
        let begun = now();
        while now() - begun < 2 * patience_ns(BYTES) {
            receiver.progress(&mut came);
        }
        receiver.complete_without_senders(&mut came);
        assert!(came.is_empty());
        while came.is_empty() {
            sender.progress(&mut Vec::new());
            receiver.progress(&mut came);
        }
        assert!(is_whole(&came, BYTES) && into == data);
    }

    #[test]
    fn a_receive_that_is_cancelled_lets_its_pieces_go() {
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = ranks(Options::default());
        let (data, mut into) = (pattern(BYTES, 0), vec![0; BYTES]);
        let (mut sent, mut came) = (Vec::new(), Vec::new());
        assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
        post(&mut receiver, 0, &mut into, &mut came);
        receiver.progress(&mut came);
        sender.progress(&mut sent);
        receiver.progress(&mut came);
        receiver.cancel(|_| true);
        let so_far = into.clone();
        let first = lengths(BYTES)[0];
        assert!(so_far[..first] == data[..first]);
        while sent.is_empty() {
            sender.progress(&mut sent);
            receiver.progress(&mut came);
        }
        receiver.progress(&mut came);
        assert!(is_whole(&sent, BYTES) && came.is_empty() && into == so_far);
        assert_eq!(unread(&sender), 0);
    }

    #[test]
    fn a_send_that_is_cancelled_in_the_middle_ends_its_receive() {
        let _watchdog = Watchdog::start();
        let [mut sender, mut receiver] = ranks(Options::default());
        let (data, mut into) = (pattern(BYTES, 0), vec![0; BYTES]);
        let (mut sent, mut came) = (Vec::new(), Vec::new());
        assert_eq!(send(&mut sender, 1, &data), Posted::Pending);
        post(&mut receiver, 0, &mut into, &mut came);
        receiver.progress(&mut came);
        sender.progress(&mut sent);
        sender.cancel(|_| true);
        drop(data);
        receiver.read_rest(&mut came);
        assert!(came.is_empty(), "the claim is withdrawn");
        while came.is_empty() {
            sender.progress(&mut sent);
            receiver.progress(&mut came);
        }
        assert_eq!(came[0].outcome, Err(TransferError::Revoked(Peer(0))));
        assert_eq!((sent.len(), unread(&sender)), (0, 0));
    }

    #[test]
    fn who_leaves_pieces_unread_stops_nobody_else() {
        let _watchdog = Watchdog::start();
        let options = Options { single_copy: Some(false), ..Options::default() };
        let [mut sender, mut slow, mut other] = ranks(options);
        let (data, mut into, mut came) = (pattern(LONG, 0), vec![0; LONG], Vec::new());
        let (mut later, mut sent) = (vec![0; LONG], Vec::new());
        for to in [1, 2] {
            assert_eq!(send(&mut sender, to, &data), Posted::Pending);
        }
        post(&mut slow, 0, &mut later, &mut came);
        slow.progress(&mut came);
        for _ in 0..2 * BUFFERS_IN_USE_MAX {
            sender.progress(&mut sent);
        }
        let there = unread(&sender);
        assert!(
            (8..BUFFERS_IN_USE_MAX).contains(&there) && sent.is_empty(),
            "all room is with one rank"
        );
        post(&mut other, 0, &mut into, &mut came);
        while came.is_empty() {
            sender.progress(&mut sent);
            other.progress(&mut came);
        }
        assert!(is_whole(&came, LONG) && into == data);
        came.clear();
        while came.is_empty() {
            sender.progress(&mut sent);
            slow.progress(&mut came);
        }
        assert!(is_whole(&came, LONG) && later == data && sent.len() == 2);
    }

    #[test]
    fn messages_to_oneself_and_shorter_ones_are_copied_at_once() {
        let [mut alone, mut other] = ranks(Options::default());
        let (data, mut into, mut came) = (pattern(BYTES, 0), vec![0; BYTES], Vec::new());
        post(&mut alone, 0, &mut into, &mut came);
        assert_eq!(send(&mut alone, 0, &data), Posted::Pending);
        alone.progress(&mut came);
        assert!(came.len() == 2 && into == data, "both ends of it are here");
        // It is to be received before it ends, and so goes in no bounce buffer.
        let (short, mut into) = (&data[..PIPELINE_MIN_BYTES], vec![0; PIPELINE_MIN_BYTES]);
        let (to, region) = (Peer(1), Region::of(short));
        // SAFETY: the data outlives the send.
        let posted =
            unsafe { alone.send_synchronously(to, LABEL, TypeCode::BYTES, region, token(0)) };
        assert_eq!(posted, Posted::Pending);
        came.clear();
        post(&mut other, 0, &mut into, &mut came);
        other.progress(&mut came);
        assert!(is_whole(&came, PIPELINE_MIN_BYTES) && into == short);
        alone.progress(&mut came);
        assert!(alone.all_sent() && unread(&alone) == 0);
    }

    /// Both send and receive at the same time, and now and then one looks away for long enough
    /// that the other pulls.
    #[test]
    fn two_threads_exchange_streams() {
        let _watchdog = Watchdog::start();
        let rounds = if cfg!(debug_assertions) { 60 } else { 300 };
        thread::scope(|scope| {
            for (me, mut rank) in ranks::<2>(Options::default()).into_iter().enumerate() {
                scope.spawn(move || {
                    let other = 1 - me as u32;
                    for round in 0..rounds {
                        let bytes = (600 << 10) + round * 4099;
                        let (data, mut into) = (pattern(bytes, me + round), vec![0; bytes]);
                        let mut done = Vec::new();
                        post(&mut rank, other, &mut into, &mut done);
                        assert_eq!(send(&mut rank, other, &data), Posted::Pending);
                        let mut polls = 0;
                        while done.len() < 2 {
                            rank.progress(&mut done);
                            polls += 1;
                            if polls % 50 == 0 && (round + me).is_multiple_of(7) {
                                thread::sleep(std::time::Duration::from_micros(200));
                            }
                            thread::yield_now();
                        }
                        assert!(done.iter().all(|it| it.outcome.is_ok()), "{done:?}");
                        assert!(into == pattern(bytes, other as usize + round), "round {round}");
                    }
                });
            }
        });
    }
}
