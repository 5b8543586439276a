//! The transport of a rank: the rings to and from its peers, in the segment of its host or of the
//! network, and the packets that complete no transfer.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::Arc;

use super::introductions::Introductions;
use super::peer_tx::{Attempt, Introduction, Outgoing, PeerTx};
use super::transfer::Completion;
use crate::channel::Arena;
use crate::net::Network;
use crate::packet::{Header, Packet, WORDS_BYTES, Words};
use crate::spsc::RingReader;
use crate::{Failure, Peer, Received, RegionMut, SharedSegment, Token, TypeCode, structures};

/// The rings of a rank to and from its peers, and the memory that they lie in.
pub(super) struct Transport {
    pub(super) me: Peer,
    pub(super) segment: Arc<SharedSegment>,
    /// The part of the segment that this rank gives out.
    pub(super) arena: Arena,
    /// Per peer: the ring to it and what waits for room in it.
    pub(super) peer_tx: Vec<PeerTx>,
    /// Messages that wait for room, over all peers.
    pub(super) waiting: usize,
    /// Per peer: the ring from it.
    pub(super) readers: Vec<RingReader>,
    /// The structures that this rank and its peers have introduced to each other.
    pub(super) introductions: Introductions,
    /// The way to ranks on other hosts, if there are any.
    pub(super) network: Option<Box<Network>>,
}

/// The network, with this position for the first message of each ring.
fn starting_at(mut network: Box<Network>, first: u64) -> Box<Network> {
    network.start_at(first);
    network
}

impl Transport {
    /// The transport of a rank that shares its segment with the ranks of its host, and reaches
    /// others by the network. `first` is the position of the first message in every ring.
    pub(super) fn new(
        segment: Arc<SharedSegment>,
        network: Option<Box<Network>>,
        me: Peer,
        first: u64,
    ) -> Transport {
        let layout = *segment.layout();
        let seat = |rank: usize| match &network {
            Some(network) => network.local_index(Peer(rank as u32)),
            None => Some(rank),
        };
        let own = seat(me.index()).expect("a rank is on its own host");
        let elsewhere = network.as_ref().map_or(&segment, |network| network.segment());
        let ring = |segment: &Arc<SharedSegment>, offset: usize| {
            (segment.clone(), segment.layout().lane_at(offset, segment.is_oversubscribed()))
        };
        let lane_to = |peer: usize| match seat(peer) {
            Some(seat) => ring(&segment, layout.lane(own, seat)),
            None => ring(elsewhere, elsewhere.layout().lane_to(peer)),
        };
        let lane_from = |peer: usize| match seat(peer) {
            Some(seat) => ring(&segment, layout.lane(seat, own)),
            None => ring(elsewhere, elsewhere.layout().lane_from(peer)),
        };
        let standing = |(segment, ring)| PeerTx::new(segment, ring, first);
        let reader = |(segment, ring)| RingReader::starting_at(segment, ring, first);
        let ranks = 0..layout.ranks();
        Transport {
            me,
            arena: Arena::new(layout.arena(own), layout.arena_bytes()),
            peer_tx: ranks.clone().map(|peer| standing(lane_to(peer))).collect(),
            waiting: 0,
            readers: ranks.map(|peer| reader(lane_from(peer))).collect(),
            introductions: Introductions::default(),
            network: network.map(|network| starting_at(network, first)),
            segment,
        }
    }

    /// The first death in the world, if there was one.
    #[inline]
    pub(super) fn failure(&self) -> Option<Failure> {
        self.segment.failure()
    }

    /// Whether a rank is on another host.
    #[inline]
    pub(super) fn reaches(&self, peer: Peer) -> bool {
        self.network.as_ref().is_some_and(|network| network.reaches(peer))
    }

    /// The local index of a rank in the segment, if it shares this segment.
    #[inline]
    pub(super) fn local_index(&self, peer: Peer) -> Option<usize> {
        match &self.network {
            Some(network) => network.local_index(peer),
            None => Some(peer.index()),
        }
    }

    /// The segment that records the state of a rank.
    pub(super) fn memory_of(&self, peer: Peer) -> &SharedSegment {
        match &self.network {
            Some(network) if network.reaches(peer) => network.segment(),
            _ => &self.segment,
        }
    }

    /// Notifies a rank of new cells in the ring to it, or of room in the ring from it.
    #[inline]
    pub(super) fn notify(&mut self, peer: Peer) {
        match &mut self.network {
            Some(network) if network.reaches(peer) => network.give(peer),
            _ => self.wake(peer),
        }
    }

    /// Wakes a rank of this host after a store to memory that it polls.
    #[inline]
    pub(super) fn wake(&self, peer: Peer) {
        self.segment.doorbell(peer).ring();
    }

    /// Bytes of the longest message that never waits for its receive.
    pub(super) fn inline_max_bytes(&self) -> usize {
        self.peer_tx[self.me.index()].payload()
    }

    /// Packets that this rank has put into rings since the beginning. A short message is one, or
    /// one for each cell; a large one or a synchronous one is one, and another that comes back when
    /// it has been received, or two if both ends copy it, or one for each piece. One in a remote
    /// bounce buffer or a bounce buffer is one. Takes time in the number of ranks.
    pub(super) fn packets(&self) -> u64 {
        self.peer_tx.iter().map(PeerTx::packets).sum()
    }

    /// Whether something of this rank is on the way to itself.
    pub(super) fn has_word_for_itself(&self) -> bool {
        let me = self.me.index();
        self.readers[me].has_message() || !self.peer_tx[me].is_flushed()
    }

    /// Queues without an attempt to send.
    pub(super) fn enqueue(&mut self, to: Peer, outgoing: Outgoing) {
        self.peer_tx[to.index()].enqueue(outgoing);
        self.waiting += 1;
    }

    /// The words behind the header of the packet that is being handled.
    pub(super) fn words(&self, source: Peer) -> Words {
        let mut words: Words = [0; 3];
        let into = RegionMut::new(words.as_mut_ptr().cast(), WORDS_BYTES);
        // SAFETY: a local array of this length.
        unsafe { self.readers[source.index()].copy_payload::<Header>(into) };
        words
    }

    /// Sends a packet that is only a header and completes no transfer.
    pub(super) fn send_control(&mut self, peer: Peer, packet: Packet) {
        self.send_control_words(peer, packet, [0; 3]);
    }

    /// The same for a packet with words.
    pub(super) fn send_control_words(&mut self, peer: Peer, packet: Packet, words: Words) {
        let standing = &mut self.peer_tx[peer.index()];
        if standing.is_flushed() && standing.push_words(packet, &words) {
            return self.notify(peer);
        }
        self.enqueue(peer, Outgoing::Words { packet, words });
    }

    /// Introduces the type of a message to a peer, if it is a structure that has not been
    /// introduced to it.
    #[inline]
    pub(super) fn introduce(&mut self, to: Peer, code: TypeCode) {
        if code.is_structure() {
            self.introduce_structure(to, code);
        }
    }

    fn introduce_structure(&mut self, to: Peer, code: TypeCode) {
        let Some(signature) = structures::signature_of(code) else { return };
        if !self.introductions.note_introduced(to, code) {
            return;
        }
        let introduction = Introduction { code, signature, sent: 0 };
        let outgoing = Outgoing::Introduction(introduction);
        let rest = if self.peer_tx[to.index()].is_flushed() {
            match self.peer_tx[to.index()].push_introduction(introduction) {
                Attempt::Gone(_) => return self.notify(to),
                Attempt::Partly(rest) => {
                    self.notify(to);
                    rest
                }
                Attempt::NoRoom => outgoing,
            }
        } else {
            outgoing
        };
        self.enqueue(to, rest);
    }

    /// Handles the introduction of a structure by a peer.
    #[cold]
    #[inline(never)] // it looks at what belongs to the thread
    pub(super) fn handle_introduction(
        &mut self,
        source: Peer,
        element: TypeCode,
        total: usize,
        bytes: usize,
    ) {
        let mut part = vec![0; bytes];
        // SAFETY: a live vector of this length.
        unsafe { self.readers[source.index()].copy_payload::<Header>(RegionMut::of(&mut part)) };
        self.introductions.note_part(source, element, &part, total);
    }

    /// Withdraws a send that has not been announced. After it returns, its memory is not used any
    /// more, and it will not complete. `false` if there is no such send.
    pub(super) fn take_back_send(&mut self, token: Token) -> bool {
        for standing in &mut self.peer_tx {
            if standing.take_back(token) {
                self.waiting -= 1;
                return true;
            }
        }
        false
    }

    /// Drops the packets that wait for the ring to a rank that has left, after its sends have been
    /// dropped: that rank will not read them, and may never make room for them.
    pub(super) fn drop_ring_writer(&mut self, to: Peer) {
        let waiting = &mut self.peer_tx[to.index()].waiting;
        self.waiting -= waiting.len();
        waiting.clear();
    }

    /// This rank withdraws a large message that it is sending.
    pub(super) fn stop_zero_copy(&mut self, to: Peer, name: u64) {
        let Some(network) = &mut self.network else { return };
        if let Some((ids, sent)) = network.withdraw(name) {
            let packet = Packet::Stopped { recv: ids.recv };
            self.send_control_words(to, packet, [sent.into(), 0, 0]);
        }
    }

    /// This rank cancels a receive into which a zero-copy message comes.
    pub(super) fn withdraw_zero_copy(&mut self, transfer: Option<u64>) {
        if let (Some(name), Some(network)) = (transfer, &mut self.network) {
            network.withdraw(name);
        }
    }

    /// The completion of a send.
    pub(super) fn sent(&self, token: Token, tag: u64, bytes: usize) -> Completion {
        Completion { token, outcome: Ok(Received { source: self.me, tag, bytes }) }
    }
}
