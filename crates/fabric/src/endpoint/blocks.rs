//! Messages that wait neither for their receivers, where ranks share cores, nor for the kernel,
//! where it copies slowly: copied into a block of the shared segment, once for all who read it.
//! Protocol and proof: `../README.md`, "Blocks".

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::incoming::Message;
use super::outgoing::Outgoing;
use super::packet::{Packet, Words};
use super::{Completion, Endpoint, Receive};
use crate::layout::{LINE, PAGE};
use crate::{Label, Peer, Region, Segment, TransferError, TypeCode};

/// Bytes of the longest message that goes in a block.
const LONGEST: usize = 64 << 10;
/// The same of an exchange, if one copy by the kernel is faster than two: that is what counts then,
/// since each end waits for the other in any case.
const LONGEST_OF_EXCHANGE: usize = 16 << 10;
/// Bytes from one block to the next. Of messages that are shorter the starts lie in different
/// places of a cache then.
const STRIDE: usize = LONGEST + PAGE + LINE;
/// Blocks of a rank, which may be so many messages ahead: with none free, they go as others do.
const MOST: usize = 128;
/// All blocks of a rank take at most such a share of its arena.
const SHARE: usize = 6;
/// Bytes of the words that count readers.
const COUNTS: usize = MOST * size_of::<u32>();

/// Where a block lies: offsets in the segment of the word that counts those who are still to read
/// it, and of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    readers: usize,
    data: usize,
}

impl Block {
    /// As the words of a packet say.
    pub(super) fn from_words([readers, data, _]: Words) -> Block {
        Block { readers: readers as usize, data: data as usize }
    }

    fn words(self) -> Words {
        [self.readers as u64, self.data as u64, 0]
    }
}

/// The blocks of a rank.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Bytes of the longest message that goes in one; 0 if none does.
    longest: usize,
    /// The same of those whose receivers send some in turn.
    longest_of_exchange: usize,
    /// Those that have been used; the one that was used last comes last.
    used: Vec<Block>,
    /// The part of the arena that is theirs, once there are any.
    shelf: Option<Range<usize>>,
    current: Option<Current>,
}

impl Blocks {
    /// Those of a rank of this segment, who may have said whether the kernel is to copy.
    pub(super) fn of(segment: &Segment, single_copy: Option<bool>) -> Blocks {
        let favours_cores = segment.favours_cores() && single_copy != Some(true);
        let (longest, longest_of_exchange) = match (favours_cores, segment.is_crowded()) {
            (true, _) => (LONGEST, LONGEST),
            (false, true) => (LONGEST, LONGEST_OF_EXCHANGE),
            (false, false) => (0, 0),
        };
        Blocks { longest, longest_of_exchange, used: Vec::new(), shelf: None, current: None }
    }

    /// Bytes of the longest message that goes in one.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Bytes of the longest that does so if its receiver sends one in turn.
    pub(super) fn longest_of_exchange(&self) -> usize {
        self.longest_of_exchange
    }

    /// Bytes of the arena that they have taken.
    pub(super) fn bytes(&self) -> usize {
        self.shelf.as_ref().map_or(0, Range::len)
    }

    /// One that has not been used, if there is room.
    fn unused(&self) -> Option<Block> {
        let (shelf, number) = (self.shelf.as_ref()?, self.used.len());
        let readers = shelf.start + number * size_of::<u32>();
        let data = shelf.start + COUNTS + number * STRIDE;
        (number < MOST && data + LONGEST <= shelf.end).then_some(Block { readers, data })
    }
}

/// The message that was copied last for several.
#[derive(Clone, Copy, Debug)]
struct Current {
    data: Region,
    operation: u64,
    block: Block,
    /// Readers that have not been told of it.
    untold: u32,
}

impl Endpoint {
    /// Sends a message that so many ranks get from this operation, one after the other, to the next
    /// of them; who is not the first says 0. `false` if it must go as others do.
    ///
    /// # Safety
    /// `data` is readable now, and the same until all of them have been sent to.
    pub unsafe fn send_shared(
        &mut self,
        to: Peer,
        (label, element, data): (Label, TypeCode, Region),
        operation: u64,
        readers: u32,
    ) -> bool {
        if readers > 0 {
            self.release_untold();
            // With a wire some of them may be on other hosts: a block that is for all would be
            // filled in vain, for some or for all of them.
            let may = self.wire.is_none() && data.bytes() > self.short();
            // SAFETY: passed on.
            let block = if may { unsafe { self.fill_block(data, readers) } } else { None };
            let current = |block| Current { data, operation, block, untold: readers };
            self.blocks.current = block.map(current);
        }
        let Some(current) = &mut self.blocks.current else { return false };
        if current.data != data || current.operation != operation || current.untold == 0 {
            return false;
        }
        current.untold -= 1;
        let block = current.block;
        self.tell_of_block(to, Packet::Block { label, element, bytes: data.bytes() }, block);
        true
    }

    /// Sends a message by a block of its own. `false` if it must go as others do.
    ///
    /// # Safety
    /// `data` is readable now.
    pub(super) unsafe fn send_in_block(
        &mut self,
        to: Peer,
        (label, element, data): (Label, TypeCode, Region),
    ) -> bool {
        if self.reaches(to) {
            return false;
        }
        // SAFETY: passed on.
        let Some(block) = (unsafe { self.fill_block(data, 1) }) else { return false };
        self.tell_of_block(to, Packet::Block { label, element, bytes: data.bytes() }, block);
        true
    }

    fn tell_of_block(&mut self, to: Peer, packet: Packet, block: Block) {
        // It may have to wait for room in the lane, but the data need not.
        let _ = self.submit(to, Outgoing::Words { packet, words: block.words() });
    }

    /// Copies a message into a free block, if there is one.
    ///
    /// # Safety
    /// `data` is readable now.
    unsafe fn fill_block(&mut self, data: Region, readers: u32) -> Option<Block> {
        if data.bytes() > self.blocks.longest {
            return None;
        }
        let block = self.free_block()?;
        let into = self.segment.at(block.data);
        // SAFETY: as long as the message, as just checked, and read by nobody (README, "Blocks");
        // the data is readable, by the caller's promise, and no user memory lies in the segment.
        unsafe { into.as_ptr().copy_from_nonoverlapping(data.start(), data.bytes()) };
        self.segment.word32(block.readers).store(readers, Ordering::Relaxed);
        Some(block)
    }

    /// A block that nobody reads; the one that was used last, if there are several, as it is in the
    /// cache.
    fn free_block(&mut self) -> Option<Block> {
        let is_free =
            |block: &Block| self.segment.word32(block.readers).load(Ordering::Acquire) == 0;
        let block = match self.blocks.used.iter().rposition(is_free) {
            Some(at) => self.blocks.used.remove(at),
            None => self.unused_block()?,
        };
        self.blocks.used.push(block);
        Some(block)
    }

    fn unused_block(&mut self) -> Option<Block> {
        if self.blocks.shelf.is_none() {
            let room = self.segment.layout().arena_bytes() / SHARE;
            let bytes = COUNTS + MOST.min((room - COUNTS) / STRIDE) * STRIDE;
            let start = self.arena.cut_for_good(bytes)?;
            self.blocks.shelf = Some(start..start + bytes);
            self.blocks.used.reserve_exact(MOST); // no allocation when a message is sent later
        }
        self.blocks.unused()
    }

    /// Those who have not been told of the last message never will be: something went wrong.
    fn release_untold(&mut self) {
        if let Some(Current { block, untold, .. }) = self.blocks.current.take()
            && untold > 0
        {
            self.segment.word32(block.readers).fetch_sub(untold, Ordering::Release);
        }
    }

    /// A message in a block meets its receive.
    pub(super) fn receive_block(
        &mut self,
        message: Message,
        block: Block,
        receive: &Receive,
        done: &mut Vec<Completion>,
    ) {
        let fits = self.take_from_block(&message, block, receive);
        done.push(message.completion(receive.token(), fits));
    }

    /// Copies a message out of its block, if it fits, and leaves the block.
    pub(super) fn take_from_block(
        &self,
        message: &Message,
        block: Block,
        receive: &Receive,
    ) -> Result<(), TransferError> {
        let fits = message.fits(receive);
        if fits.is_ok() {
            self.copy_block(message.bytes, block, receive);
        }
        self.leave_block(block);
        fits
    }

    /// Copies a message that fits out of its block.
    pub(super) fn copy_block(&self, bytes: usize, block: Block, receive: &Receive) {
        let (from, into) = (self.segment.at(block.data), receive.into.part(0, bytes));
        assert!(bytes <= LONGEST, "the shared segment is damaged");
        let _last = self.segment.at(block.data + LONGEST - 1); // it checks the place
        // SAFETY: a posted receive: writable, by the promise of its poster, and long enough, as
        // `part` checks. The block lies in the segment, and nobody writes it until we say that we
        // have read it (README, "Blocks").
        unsafe { into.start().copy_from_nonoverlapping(from.as_ptr(), bytes) };
    }

    /// This rank does not read the block any more.
    pub(super) fn leave_block(&self, block: Block) {
        self.segment.word32(block.readers).fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::endpoint::{Options, Posted, Short};
    use crate::layout::Layout;
    use crate::{RegionMut, Selector, Token};

    const BYTES: usize = 40 << 10;

    fn label(tag: u64) -> Label {
        Label { context: 1, tag, ordinal: 0 }
    }

    /// So many ranks that share a core.
    fn ranks(ranks: usize) -> Vec<Endpoint> {
        let (segment, _file) = Segment::shared_by(Layout::new(ranks).unwrap(), 1).unwrap();
        let segment = Arc::new(segment);
        let rank = |rank| Endpoint::new(segment.clone(), Peer(rank as u32), Options::default());
        (0..ranks).map(rank).collect()
    }

    /// Sends a message to all others. Says to how many of them it went in a block.
    fn send_to_all(sender: &mut Endpoint, tag: u64, data: &[u8]) -> usize {
        let others = sender.segment.ranks() as u32 - 1;
        let shared = |to: &u32| {
            let message = (label(tag), TypeCode::BYTES, Region::of(data));
            let readers = if *to == 1 { others } else { 0 };
            // SAFETY: the data is borrowed for as long as they are sent to.
            unsafe { sender.send_shared(Peer(*to), message, tag, readers) }
        };
        (1..=others).filter(shared).count()
    }

    /// Blocks that are still to be read.
    fn unread(sender: &Endpoint) -> usize {
        let count = |block: &&Block| sender.segment.word32(block.readers).load(Ordering::Relaxed);
        sender.blocks.used.iter().filter(|block| count(block) > 0).count()
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
        let (mut into, mut done) = (vec![0; bytes], Vec::new());
        let (selector, token) =
            (Selector::exactly(Peer(0), label(tag)), Token { operation: tag, step: 0 });
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
            assert_eq!(world[0].blocks.used.len(), 1, "the same block time and again");
        }
    }

    #[test]
    fn messages_wait_in_their_blocks_and_those_without_one_go_as_others_do() {
        let mut world = ranks(3);
        let message = |tag: u64| vec![tag as u8; BYTES];
        for tag in 0..MOST as u64 {
            assert_eq!(send_to_all(&mut world[0], tag, &message(tag)), 2);
        }
        assert_eq!(send_to_all(&mut world[0], 99, &message(99)), 0, "all blocks are full");
        for receiver in &mut world[1..] {
            receiver.progress(&mut Vec::new());
        }
        // The last first, of what has come before its receive.
        for tag in (0..MOST as u64).rev() {
            assert_eq!(receive(&mut world[1], tag, BYTES), (message(tag), Ok(())));
        }
        assert_eq!(send_to_all(&mut world[0], 99, &message(99)), 0, "one has read none");
        assert_eq!(receive(&mut world[2], 5, BYTES), (message(5), Ok(())));
        assert_eq!(send_to_all(&mut world[0], 99, &message(99)), 2);
        assert_eq!(world[0].blocks.used.len(), MOST);
        assert_eq!(world[0].channel_bytes(), 0, "they are no channels");
    }

    #[test]
    fn who_refuses_a_message_or_lets_it_go_has_read_it() {
        let mut world = ranks(3);
        let data = vec![1; BYTES];
        assert_eq!(send_to_all(&mut world[0], 7, &data), 2);
        let (_, refused) = receive(&mut world[1], 7, BYTES - 1);
        assert_eq!(refused, Err(TransferError::Truncated { sent: BYTES, room: BYTES - 1 }));
        world[2].progress(&mut Vec::new());
        let taken = world[2].take(Selector::exactly(Peer(0), label(7))).unwrap();
        world[2].discard(taken);
        assert!(world[0].free_block().is_some() && world[0].blocks.used.len() == 1);
    }

    #[test]
    fn a_block_of_which_not_all_were_told_is_free_again() {
        let mut world = ranks(3);
        let data = vec![1; BYTES];
        let message = (label(1), TypeCode::BYTES, Region::of(&data));
        // SAFETY: the data outlives its sends, here and below.
        assert!(unsafe { world[0].send_shared(Peer(1), message, 1, 2) });
        // Another operation, or another message, is not in that block.
        // SAFETY: as above.
        assert!(!unsafe { world[0].send_shared(Peer(2), message, 2, 0) });
        assert_eq!(send_to_all(&mut world[0], 3, &data), 2);
        assert_eq!(receive(&mut world[1], 1, BYTES), (data.clone(), Ok(())));
        assert_eq!(receive(&mut world[1], 3, BYTES), (data.clone(), Ok(())));
        assert_eq!(receive(&mut world[2], 3, BYTES), (data.clone(), Ok(())));
        assert_eq!(unread(&world[0]), 0);
    }

    #[test]
    fn short_and_very_long_messages_go_as_others_do() {
        let mut world = ranks(3);
        let short = world[0].short();
        for (bytes, shared) in [(8, 0), (short, 0), (short + 1, 2), (LONGEST, 2), (LONGEST + 1, 0)]
        {
            let data = vec![5; bytes];
            assert_eq!(send_to_all(&mut world[0], bytes as u64, &data), shared, "{bytes} bytes");
        }
        // Where each rank has a core nobody has to wait for its turn.
        let segment = Arc::new(Segment::shared_by(Layout::new(3).unwrap(), 3).unwrap().0);
        let mut roomy = Endpoint::new(segment, Peer(0), Options::default());
        assert_eq!(send_to_all(&mut roomy, 1, &[0; BYTES]), 0);
    }

    #[test]
    fn any_message_of_some_length_goes_in_a_block() {
        let mut world = ranks(3);
        let (short, longest) = (world[0].short(), 16 << 10);
        for (tag, bytes, blocks) in [(0, short, 0), (1, short + 1, 1), (2, longest, 1)] {
            let data = vec![tag as u8; bytes];
            let (region, token) = (Region::of(&data), Token { operation: 1, step: 0 });
            // SAFETY: the data outlives the send, which is done at once.
            let posted =
                unsafe { world[0].send(Peer(1), label(tag), TypeCode::BYTES, region, token) };
            assert_eq!((posted, unread(&world[0])), (Posted::Done, blocks), "{bytes} bytes");
            assert_eq!(receive(&mut world[1], tag, bytes), (data, Ok(())));
            assert_eq!(unread(&world[0]), 0);
        }
        let (data, token) = (vec![1; longest + 1], Token { operation: 1, step: 0 });
        // SAFETY: the send is taken back before the data is gone.
        let posted =
            unsafe { world[0].send(Peer(1), label(3), TypeCode::BYTES, Region::of(&data), token) };
        assert_eq!((posted, unread(&world[0])), (Posted::Pending, 0), "it is copied once");
        world[0].cancel(|_| true);
    }

    /// Those who wait for a short message meet it in a block as well, kept or not.
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
                let got =
                    unsafe { world[1].recv_short(Peer(0), label(tag), TypeCode::BYTES, region) };
                assert!(matches!(got, Short::Here(Ok(SHORT))), "{got:?}");
                assert!(into.iter().all(|&byte| byte == tag as u8), "message {tag}");
            }
            assert_eq!(unread(&world[0]), 0);
        }
    }

    #[test]
    fn without_room_in_the_arena_messages_go_as_others_do() {
        let mut world = ranks(3);
        let rest = world[0].segment.layout().arena_bytes() / 2;
        while world[0].arena.cut_for_good(rest).is_some() {}
        assert_eq!(send_to_all(&mut world[0], 1, &[7; BYTES]), 0);
        assert_eq!(world[0].blocks.bytes(), 0);
    }

    /// Some ranks of the machine share no memory with the sender: blocks are for those that do.
    #[test]
    fn over_a_wire_messages_go_as_others_do() {
        if let Err(error) = crate::ofi::Library::open() {
            eprintln!("not tested: {error}");
            return;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let ranks = (cores + 1).max(4);
        let seats = crate::bootstrap::threads_apart(ranks, ranks - 1, None).unwrap();
        let rank = |seat: crate::bootstrap::Seat| {
            Endpoint::reaching(seat.segment, seat.wire, seat.rank, Options::default())
        };
        let mut world: Vec<_> = seats.into_iter().map(rank).collect();
        let (home, away) = (1, ranks - 1);
        for (tag, bytes) in [(0, world[0].short() + 1), (1, 12 << 10), (2, 16 << 10)] {
            for (to, blocks) in [(home, 1), (away, 0)] {
                let data = vec![to as u8; bytes];
                let (region, token) = (Region::of(&data), Token { operation: 1, step: 0 });
                let peer = Peer(to as u32);
                // SAFETY: the data outlives the send, which has been received when it ends.
                let _ = unsafe { world[0].send(peer, label(tag), TypeCode::BYTES, region, token) };
                assert_eq!(unread(&world[0]), blocks, "{bytes} bytes to rank {to}");
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
                yield_until(|| sender.free_block().is_some());
                assert_eq!(send_to_all(&mut sender, round, &data), 3);
                yield_until(|| {
                    sender.progress(&mut Vec::new());
                    sender.all_sent()
                });
            }
        });
    }
}
