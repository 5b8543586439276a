//! Process heaps of peers: offers the heap of this process to its peers, and maps theirs.
//!
//! Before a rank names memory in its [process heap](crate::process_heap) to a peer, it has offered
//! the heap to that peer, which has mapped it and said so. Until then it sends messages as if they
//! lay in private memory. Protocol and proof: `../README.md`, "Process heaps".

use super::transport::Transport;
use crate::packet::Packet;
use crate::process_heap::{HeapDescription, HeapMapping};
use crate::{Peer, Region, SharedSegment};

/// The address space that the heaps of all peers together may take: a quarter of that of a process.
/// What would not fit stays private memory, so that the program has room for its own mappings.
const MAPPED_MAX_BYTES: usize = 32 << 40;

/// The heaps of this process and of its peers. Takes no memory until there is one.
#[derive(Debug, Default)]
pub(super) struct ProcessHeaps {
    own: Option<HeapDescription>,
    peers: Vec<PeerHeap>,
}

/// What this rank and one peer know of each other's heaps.
#[derive(Debug, Default)]
struct PeerHeap {
    /// Whether this rank has offered its heap.
    is_offered: bool,
    /// Whether the peer has mapped the heap of this rank.
    maps_ours: bool,
    /// The heap of the peer.
    theirs: Option<HeapMapping>,
}

impl ProcessHeaps {
    /// Those of a rank whose process has this heap. Ranks that are threads need none: they reach
    /// all memory of each other.
    pub(super) fn new(own: Option<HeapDescription>, segment: &SharedSegment) -> ProcessHeaps {
        ProcessHeaps { own: own.filter(|_| segment.is_shared()), peers: Vec::new() }
    }

    /// Where memory of this rank lies in the heap of its process, if the peer has mapped that.
    /// The first time, this offers the heap to the peer.
    #[inline]
    pub(super) fn offset_for(
        &mut self,
        transport: &mut Transport,
        to: Peer,
        memory: Region,
    ) -> Option<usize> {
        let offset = self.own.as_ref()?.offset_of(memory)?;
        let is_mapped = match self.peers.get(to.index()) {
            Some(peer) if peer.is_offered => peer.maps_ours,
            _ => self.offer(transport, to),
        };
        is_mapped.then_some(offset)
    }

    /// Offers the heap to a peer. Returns whether the peer has mapped it, which it has not yet.
    #[cold]
    fn offer(&mut self, transport: &mut Transport, to: Peer) -> bool {
        let Some(HeapDescription { file, inode, bytes, .. }) = self.own else { return false };
        self.with(to).is_offered = true;
        if to != transport.me && !transport.reaches(to) {
            let words = [file as u64, inode, bytes as u64];
            transport.send_control_words(to, Packet::HeapOffer, words);
        }
        false
    }

    /// A peer offers its heap: maps it, and answers.
    #[cold]
    pub(super) fn handle_offer(&mut self, transport: &mut Transport, source: Peer) {
        let [file, inode, bytes] = transport.words(source);
        let theirs = self.peers.iter().filter_map(|peer| peer.theirs.as_ref());
        let mapped: usize = theirs.map(HeapMapping::bytes).sum();
        if mapped.saturating_add(bytes as usize) > MAPPED_MAX_BYTES {
            return;
        }
        let process = transport.segment.process(source);
        let mapping = HeapMapping::open(process, file as i32, inode, bytes as usize);
        let is_mapped = mapping.is_some();
        self.with(source).theirs = mapping;
        if is_mapped {
            transport.send_control(source, Packet::HeapMapped);
        }
    }

    /// A peer has mapped the heap of this rank.
    #[cold]
    pub(super) fn note_mapped(&mut self, source: Peer) {
        self.with(source).maps_ours = true;
    }

    fn with(&mut self, peer: Peer) -> &mut PeerHeap {
        if self.peers.len() <= peer.index() {
            self.peers.resize_with(peer.index() + 1, PeerHeap::default);
        }
        &mut self.peers[peer.index()]
    }

    /// So many bytes from an offset in the heap of a peer on, in the mapping of this process.
    ///
    /// # Panics
    /// If the peer has named memory of a heap that this rank has not mapped.
    pub(super) fn at(&self, peer: Peer, offset: usize, bytes: usize) -> Region {
        let theirs = self.peers.get(peer.index()).and_then(|it| it.theirs.as_ref());
        theirs.expect("a peer names its heap after this rank has mapped it").at(offset, bytes)
    }
}

#[cfg(test)]
#[allow(unsafe_code)] // listed in docs/unsafe.md
mod tests {
    use std::os::fd::AsFd;
    use std::ptr::NonNull;
    use std::sync::Arc;

    use super::*;
    use crate::cma::SingleCopy;
    use crate::endpoint::{Completion, Endpoint, Options};
    use crate::layout::Layout;
    use crate::process_heap::ProcessHeap;
    use crate::{Label, RegionMut, Selector, SharedSegment, Token, TypeCode};

    const BYTES: usize = (1 << 20) + 17;
    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };

    /// Two ranks that map the segment at different places, each with a heap, without cross-memory
    /// attach.
    struct Pair {
        ranks: [Endpoint; 2],
        heaps: [&'static ProcessHeap; 2],
        done: [Vec<Completion>; 2],
    }

    impl Pair {
        /// `change` may change what the ranks say of their heaps.
        fn new(change: impl Fn(HeapDescription) -> HeapDescription) -> Pair {
            let (first, file) = SharedSegment::shared_by(Layout::new(2).unwrap(), 2).unwrap();
            let second = SharedSegment::attach(file.as_fd(), 2).unwrap();
            let heaps = [0, 1].map(|_| &*Box::leak(Box::new(ProcessHeap::new())));
            let mut rank = 0;
            let ranks = [first, second].map(|segment| {
                let process_heap = heaps[rank as usize].description().map(&change);
                assert!(process_heap.is_some());
                let options =
                    Options { single_copy: Some(false), process_heap, ..Options::default() };
                segment.enter(Peer(rank), std::process::id());
                rank += 1;
                Endpoint::new(Arc::new(segment), Peer(rank - 1), options)
            });
            Pair { ranks, heaps, done: Default::default() }
        }

        fn block(&self, rank: usize) -> NonNull<u8> {
            self.heaps[rank].allocate(BYTES, 64, true).expect("there is room")
        }

        /// Sends this from rank 0 to rank 1, which receives it there.
        fn send(&mut self, data: Region, into: RegionMut) {
            let token = |step| Token { operation: 7, step };
            // SAFETY: the tests keep both until the message has ended.
            let _ = unsafe { self.ranks[0].send(Peer(1), LABEL, TypeCode::BYTES, data, token(0)) };
            let (selector, done) = (Selector::exactly(Peer(0), LABEL), &mut self.done[1]);
            // SAFETY: as above.
            unsafe { self.ranks[1].recv(selector, TypeCode::BYTES, into, token(1), done) };
        }

        fn progress(&mut self, rank: usize) {
            self.ranks[rank].progress(&mut self.done[rank]);
        }

        /// Advances both ranks until this number of transfers has ended on each, and returns how
        /// often rank 0 had its turn.
        fn end(&mut self, transfers: usize) -> usize {
            for turn in 0..10_000 {
                self.progress(1);
                if self.done[1].len() == transfers && self.done[0].len() == transfers {
                    assert!(self.done.iter().flatten().all(|it| it.outcome.is_ok()));
                    return turn;
                }
                self.progress(0);
            }
            panic!("{:?}", self.done)
        }
    }

    fn filled(block: NonNull<u8>, seed: usize) -> (Region, Vec<u8>) {
        let data: Vec<u8> = (0..BYTES).map(|at| ((at + seed) % 251) as u8).collect();
        // SAFETY: it is as long as that, and nobody else uses it.
        unsafe { block.as_ptr().copy_from_nonoverlapping(data.as_ptr(), BYTES) };
        (Region::new(block.as_ptr(), BYTES), data)
    }

    #[test]
    fn after_the_first_message_the_receiver_copies_from_the_heap_of_its_sender() {
        let mut pair = Pair::new(|it| it);
        let (block, mut into) = (pair.block(0), vec![0; BYTES]);
        let (message, data) = filled(block, 0);
        pair.send(message, RegionMut::of(&mut into));
        assert!(pair.end(1) > 1, "the first goes in pieces, since the kernel may not copy");
        assert!(into == data);
        let (message, data) = filled(block, 1);
        pair.send(message, RegionMut::of(&mut into));
        pair.progress(1);
        assert_eq!([pair.done[0].len(), pair.done[1].len()], [1, 2], "the sender did nothing");
        assert!(into == data);
        pair.end(2);
    }

    #[test]
    fn a_sender_copies_to_the_heap_of_its_receiver() {
        let mut pair = Pair::new(|it| it);
        let (from, to) = (pair.block(0), pair.block(1));
        let into = || RegionMut::new(to.as_ptr(), BYTES);
        for seed in 0..3 {
            let (message, data) = filled(from, seed);
            pair.send(message, into());
            let done = &mut pair.done[1];
            pair.ranks[1].progress_deferring(done);
            pair.progress(0);
            let done = &mut pair.done[1];
            pair.ranks[1].flush_deferred(done);
            pair.end(seed + 1);
            // SAFETY: the message has come, and nobody uses the memory.
            assert!(unsafe { std::slice::from_raw_parts(to.as_ptr(), BYTES) } == data);
        }
        let address = pair.ranks[1].heap_address(Peer(0), into().as_region());
        let (how, here) = pair.ranks[0].locate(Peer(1), address, BYTES);
        assert_eq!(how, SingleCopy::Direct, "rank 0 has mapped the heap of rank 1");
        assert!(here as usize != to.addr().get(), "at another address");
    }

    /// A program may have closed the descriptor, and opened something else by it.
    #[test]
    fn a_heap_that_cannot_be_mapped_is_private_memory() {
        let changes: [fn(HeapDescription) -> HeapDescription; 3] = [
            |it| HeapDescription { file: 2, ..it },
            |it| HeapDescription { inode: it.inode + 1, ..it },
            |it| HeapDescription { bytes: it.bytes / 2, ..it },
        ];
        for change in changes {
            let mut pair = Pair::new(change);
            let (block, mut into) = (pair.block(0), vec![0; BYTES]);
            for seed in 0..3 {
                let (message, data) = filled(block, seed);
                pair.send(message, RegionMut::of(&mut into));
                assert!(pair.end(seed + 1) > 1, "it goes in pieces");
                assert!(into == data);
            }
        }
    }

    #[test]
    fn only_memory_in_the_heap_as_a_whole_is_named_by_its_offset() {
        let pair = Pair::new(|it| it);
        let (start, heaps) = (pair.block(0).as_ptr(), &pair.ranks[0].process_heaps);
        let bytes = heaps.own.unwrap().bytes;
        assert_eq!(heaps.own.unwrap().offset_of(Region::new(start, BYTES)), Some(0));
        assert_eq!(heaps.own.unwrap().offset_of(Region::new(start, bytes)), Some(0));
        assert_eq!(heaps.own.unwrap().offset_of(Region::new(start, bytes + 1)), None);
        assert_eq!(heaps.own.unwrap().offset_of(Region::new(start.wrapping_sub(1), 1)), None);
        assert_eq!(heaps.own.unwrap().offset_of(Region::of(&[1])), None);
    }
}
