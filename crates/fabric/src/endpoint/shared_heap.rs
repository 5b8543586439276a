//! Addresses of large messages in shared heaps and process heaps: translates between what packets
//! name and addresses in the mappings of this process.
//!
//! A packet names memory of a [shared heap](crate::shared_heap) by its offset in the segment, and
//! memory of a [process heap](crate::process_heap) by its offset in that heap; the receiver of the
//! packet adds the offset to its own mapping. It names all other memory by its address, for the
//! kernel to copy from or to. Ranks that are threads have no heaps: an address is valid for all.

use std::sync::Arc;

use super::Endpoint;
use crate::cma::SingleCopy;
use crate::shared_heap::SharedHeap;
use crate::{Peer, Region};

/// The bit that is set for memory in a heap. No address of a program has it: the upper half of the
/// addresses belongs to the kernel.
const IN_HEAP: u64 = 1 << 63;
/// The bit that is set, too, if it is the process heap of the rank that has sent the packet.
const OF_PROCESS: u64 = 1 << 62;

/// Whether the address of a packet is one in a heap.
pub(super) fn is_in_heap(address: u64) -> bool {
    address & IN_HEAP != 0
}

/// The offset of an address in a heap.
fn place(address: u64) -> usize {
    (address & !(IN_HEAP | OF_PROCESS)) as usize
}

impl Endpoint {
    /// The memory that the program of this rank may ask for.
    pub fn heap(&self) -> &Arc<SharedHeap> {
        &self.heap
    }

    /// Whether memory lies in a heap that a peer has mapped.
    #[inline]
    pub(super) fn is_in_shared_heap(&mut self, to: Peer, memory: Region) -> bool {
        self.transport.segment.in_heaps(memory).is_some()
            || self.process_heaps.offset_for(&mut self.transport, to, memory).is_some()
    }

    /// The address of memory of this rank, as packets to a peer name it.
    pub(super) fn heap_address(&mut self, to: Peer, memory: Region) -> u64 {
        if let Some(place) = self.transport.segment.in_heaps(memory) {
            return IN_HEAP | place as u64;
        }
        match self.process_heaps.offset_for(&mut self.transport, to, memory) {
            Some(place) => IN_HEAP | OF_PROCESS | place as u64,
            None => memory.start().expose_provenance() as u64,
        }
    }

    /// So many bytes from an address in a heap on that a peer has named, in the mapping of this
    /// rank.
    pub(super) fn in_heap(&self, peer: Peer, address: u64, bytes: usize) -> Region {
        if address & OF_PROCESS != 0 {
            return self.process_heaps.at(peer, place(address), bytes);
        }
        let segment = &self.transport.segment;
        let _last = segment.at(place(address) + bytes.saturating_sub(1));
        Region::new(segment.at(place(address)).as_ptr(), bytes)
    }

    /// How to copy from or to an address that a peer has named, and the address to use here, for
    /// so many bytes.
    pub(super) fn locate(&self, peer: Peer, address: u64, bytes: usize) -> (SingleCopy, u64) {
        if is_in_heap(address) {
            let at = self.in_heap(peer, address, bytes);
            (SingleCopy::Direct, at.start().expose_provenance() as u64)
        } else if peer == self.transport.me {
            (SingleCopy::Direct, address)
        } else {
            (self.single_copy, address)
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code)] // listed in docs/unsafe.md
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::endpoint::{Completion, Options, Posted};
    use crate::layout::Layout;
    use crate::shared_heap::SharedHeapBlock;
    use crate::{Failure, How, Label, RegionMut, Selector, SharedSegment, Token};
    use crate::{TransferError, TypeCode};

    const BYTES: usize = (1 << 20) + 17;
    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };

    /// Two ranks with a core each that map the segment at different places, without cross-memory
    /// attach.
    struct Pair {
        ranks: [Endpoint; 2],
        done: [Vec<Completion>; 2],
    }

    impl Pair {
        fn new() -> Pair {
            let (first, file) = SharedSegment::shared_by(Layout::new(2).unwrap(), 2).unwrap();
            let second = SharedSegment::attach(file.as_fd(), 2).unwrap();
            let options = Options { single_copy: Some(false), ..Options::default() };
            let ranks = [(0, first), (1, second)].map(|(rank, segment)| {
                segment.enter(Peer(rank), std::process::id());
                Endpoint::new(Arc::new(segment), Peer(rank), options)
            });
            Pair { ranks, done: Default::default() }
        }

        fn memory(&self, rank: usize) -> SharedHeapBlock {
            self.ranks[rank].heap().allocate(BYTES, 8).expect("there is room")
        }

        /// Rank 0 sends this to rank 1, which receives it there; neither has looked.
        fn begin(&mut self, data: Region, into: RegionMut) {
            self.begin_as(data, into, false);
        }

        /// The same of an operand, which may lie, or not.
        fn begin_as(&mut self, data: Region, into: RegionMut, is_operand: bool) {
            let token = |step| Token { operation: 7, step };
            // SAFETY: the tests keep both until the message has ended.
            let posted =
                unsafe { self.ranks[0].send(Peer(1), LABEL, TypeCode::BYTES, data, token(0)) };
            assert_eq!(posted, Posted::Pending);
            let (selector, done) = (Selector::exactly(Peer(0), LABEL), &mut self.done[1]);
            let receive = if is_operand { Endpoint::recv_lines } else { Endpoint::recv };
            let rank = &mut self.ranks[1];
            // SAFETY: as above.
            unsafe { receive(rank, selector, TypeCode::BYTES, into, token(1), done) };
        }

        fn progress(&mut self, rank: usize) {
            self.ranks[rank].progress(&mut self.done[rank]);
        }

        /// Completions of the sender and of the receiver, all of which are good.
        fn ended(&self) -> [usize; 2] {
            [0, 1].map(|rank| {
                assert!(self.done[rank].iter().all(|it| it.outcome.is_ok()));
                self.done[rank].len()
            })
        }
    }

    fn data() -> Vec<u8> {
        (0..BYTES).map(|at| (at % 251) as u8).collect()
    }

    fn filled(memory: &SharedHeapBlock, data: &[u8]) -> Region {
        let start = memory.start().as_ptr();
        // SAFETY: it is as long as that, and nobody else uses it.
        unsafe { start.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
        Region::new(start, data.len())
    }

    #[test]
    fn what_lies_in_a_heap_is_copied_at_once_though_the_kernel_may_not() {
        let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES]);
        let memory = pair.memory(0);
        pair.begin(filled(&memory, &data), RegionMut::of(&mut into));
        pair.progress(1);
        assert_eq!((pair.ended(), &into), ([0, 1], &data), "its sender has done nothing");
        pair.progress(0);
        assert_eq!(pair.ended(), [1, 1]);
    }

    #[test]
    fn what_lies_elsewhere_goes_in_pieces_as_before() {
        let (mut pair, data) = (Pair::new(), data());
        let memory = pair.memory(1);
        let into = RegionMut::new(memory.start().as_ptr(), BYTES);
        pair.begin(Region::of(&data), into);
        pair.progress(1);
        assert_eq!(pair.ended(), [0, 0]);
        while pair.ended() != [1, 1] {
            pair.progress(0);
            pair.progress(1);
        }
        // SAFETY: the message has come, and nobody uses the memory.
        assert_eq!(unsafe { std::slice::from_raw_parts(into.start(), BYTES) }, data);
    }

    #[test]
    fn a_sender_copies_from_a_heap_to_that_of_its_receiver() {
        let (mut pair, data) = (Pair::new(), data());
        let memory = [0, 1].map(|rank| pair.memory(rank));
        let into = RegionMut::new(memory[1].start().as_ptr(), BYTES);
        pair.begin(filled(&memory[0], &data), into);
        let done = &mut pair.done[1];
        pair.ranks[1].progress_deferring(done);
        assert_eq!(pair.ended(), [0, 0], "the receiver leaves it to its sender");
        pair.progress(0);
        // SAFETY: both ranks are this thread, which does nothing else meanwhile.
        let copied = unsafe { std::slice::from_raw_parts(into.start(), BYTES) };
        assert!(pair.ended() == [0, 0] && copied == data, "which has copied all");
        let done = &mut pair.done[1];
        pair.ranks[1].flush_deferred(done);
        pair.progress(0);
        assert_eq!(pair.ended(), [1, 1]);
    }

    /// What rank 1 receives.
    const OPERAND: Token = Token { operation: 7, step: 1 };

    /// Reads what rank 1 has received, if it lies. Says what it was.
    fn read(pair: &mut Pair) -> (Option<Vec<u8>>, Result<(), TransferError>) {
        let read = match pair.ranks[1].open_in_place(OPERAND) {
            None => return (None, Ok(())),
            Some(Err(error)) => Err(error),
            Some(Ok(message)) => {
                // SAFETY: a message that lies, and is read.
                let bytes = unsafe { std::slice::from_raw_parts(message.start(), message.bytes()) };
                Ok(bytes.to_vec())
            }
        };
        let closed = pair.ranks[1].close_in_place(OPERAND);
        (read.clone().ok(), read.and(closed))
    }

    #[test]
    fn an_operand_is_read_in_the_heap_of_its_sender_who_waits_for_that() {
        let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES]);
        let memory = pair.memory(0);
        pair.begin_as(filled(&memory, &data), RegionMut::of(&mut into), true);
        pair.progress(1);
        pair.progress(0);
        assert_eq!(pair.ended(), [0, 1]);
        assert_eq!(read(&mut pair), (Some(data), Ok(())));
        assert!(into.iter().all(|&byte| byte == 0), "it is not copied");
        pair.progress(0);
        assert_eq!(pair.ended(), [1, 1]);
        assert_eq!(read(&mut pair), (None, Ok(())), "it is read once");
    }

    #[test]
    fn an_operand_that_begins_within_a_line_is_copied() {
        let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES - 8]);
        let memory = pair.memory(0);
        let part = filled(&memory, &data).part(8, BYTES - 8);
        pair.begin_as(part, RegionMut::of(&mut into), true);
        pair.progress(1);
        assert_eq!((read(&mut pair).0, &into[..]), (None, &data[8..]));
        pair.progress(0);
        assert_eq!(pair.ended(), [1, 1]);
    }

    #[test]
    fn an_operand_is_read_wherever_it_is_aligned_as_its_receiver_needs() {
        for (offset, alignment, lies) in [(8, 8, true), (8, 16, false), (3, 1, true)] {
            let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES - offset]);
            let memory = pair.memory(0);
            let part = filled(&memory, &data).part(offset, BYTES - offset);
            let token = |step| Token { operation: 7, step };
            // SAFETY: the memory outlives the message.
            let _ = unsafe { pair.ranks[0].send(Peer(1), LABEL, TypeCode::BYTES, part, token(0)) };
            let place = (RegionMut::of(&mut into), alignment);
            let (selector, done) = (Selector::exactly(Peer(0), LABEL), &mut pair.done[1]);
            let receiver = &mut pair.ranks[1];
            // SAFETY: as above.
            unsafe { receiver.recv_in_place(selector, TypeCode::BYTES, place, token(1), done) };
            pair.progress(1);
            let expected = lies.then(|| data[offset..].to_vec());
            assert_eq!(read(&mut pair), (expected, Ok(())), "{offset}, {alignment}");
            assert_eq!(into == data[offset..], !lies);
        }
    }

    #[test]
    fn an_operand_that_its_sender_takes_back_after_a_death_is_an_error() {
        let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES]);
        let memory = pair.memory(0);
        pair.begin_as(filled(&memory, &data), RegionMut::of(&mut into), true);
        pair.progress(1);
        assert_eq!(pair.ended(), [0, 1]);
        assert!(matches!(pair.ranks[1].open_in_place(OPERAND), Some(Ok(_))));
        pair.ranks[0].segment().fail(Failure { rank: Peer(1), how: How::Signal(9) });
        pair.ranks[0].cancel(|_| true);
        assert_eq!(pair.ranks[1].close_in_place(OPERAND), Err(TransferError::Revoked(Peer(0))));
    }

    /// Its receiver may not be ready to read it for any time: the sender does not wait for that.
    #[test]
    fn an_operand_that_is_not_open_is_taken_back_at_once() {
        let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES]);
        let memory = pair.memory(0);
        pair.begin_as(filled(&memory, &data), RegionMut::of(&mut into), true);
        pair.progress(1);
        assert_eq!(pair.ended(), [0, 1]);
        pair.ranks[0].cancel(|_| true);
        assert_eq!(read(&mut pair), (None, Err(TransferError::Revoked(Peer(0)))));
        assert_eq!(read(&mut pair), (None, Ok(())));
    }

    #[test]
    fn an_operand_that_nobody_reads_is_sent_all_the_same() {
        let (mut pair, data, mut into) = (Pair::new(), data(), vec![0; BYTES]);
        let memory = pair.memory(0);
        pair.begin_as(filled(&memory, &data), RegionMut::of(&mut into), true);
        pair.progress(1);
        pair.ranks[1].cancel(|_| true);
        pair.progress(0);
        assert_eq!(pair.ended(), [1, 1]);
    }

    #[test]
    fn only_memory_that_lies_in_a_heap_as_a_whole_is_told_as_such() {
        let mut pair = Pair::new();
        let memory = pair.memory(0);
        let [own, other] = &mut pair.ranks;
        let start = memory.start().as_ptr();
        assert!(own.is_in_shared_heap(Peer(1), Region::new(start, BYTES)));
        assert!(
            !other.is_in_shared_heap(Peer(0), Region::new(start, BYTES)),
            "that is not its mapping"
        );
        let heaps = own.transport.segment.layout().heaps();
        assert!(own.is_in_shared_heap(Peer(1), Region::new(start, heaps.end - heaps.start)));
        assert!(!own.is_in_shared_heap(Peer(1), Region::new(start, heaps.end - heaps.start + 1)));
        assert!(!own.is_in_shared_heap(Peer(1), Region::new(start.wrapping_sub(1), 1)));
        let address = own.heap_address(Peer(1), Region::new(start, BYTES));
        let there = other.transport.segment.at(heaps.start).addr().get() as u64;
        assert_eq!(other.locate(Peer(0), address, BYTES), (SingleCopy::Direct, there));
        let local = [0_u8; 4];
        let address = own.heap_address(Peer(1), Region::of(&local));
        assert_eq!(
            other.locate(Peer(0), address, 4),
            (SingleCopy::Off, local.as_ptr().addr() as u64)
        );
    }
}
