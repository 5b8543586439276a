//! The endpoint of one rank: sends, receives, and their progress.
//!
//! A message that fits a few cells is copied into them (eager). A larger one is exposed: only its
//! address travels, and the receiver copies it once, straight into place; where the system forbids
//! that, it goes through cells piece by piece. A message for which there is no room waits at its
//! sender, in order, so posting never blocks.
//!
//! The endpoint belongs to one thread at a time. It never sleeps: a thread that waits parks at the
//! [`Doorbell`](crate::doorbell::Doorbell) of its rank.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod bounce;
mod bounce_pool;
mod cancel;
mod channels;
mod delegates;
mod disconnect;
mod fill;
mod in_place;
mod inline;
mod introductions;
mod introspect;
mod message;
mod mprobe;
mod nt_copy;
mod peer_tx;
mod pipeline;
mod process_heap;
pub(crate) mod protocol;
mod reassembly;
mod recv;
mod recv_queues;
mod recycled_buffers;
mod remote;
mod remote_bounce;
mod rndv;
mod send;
mod shared_heap;
mod single_copy;
mod synchronous;
mod transfer;
mod transport;
mod zero_copy;

use std::sync::Arc;

use crate::cma::{SingleCopy, allow_peers};
use crate::matching::Ticket;
use crate::net::Network;
use crate::process_heap::HeapDescription;
use crate::shared_heap::SharedHeap;
use crate::{Peer, RegionMut, Selector, SharedSegment, Token, TypeCode};
use bounce::BounceSender;
pub use cancel::Copied;
pub use channels::Attached;
use channels::Channels;
use disconnect::Disconnect;
pub use fill::Fill;
pub use in_place::InPlaceCounters;
pub use inline::InlineRecv;
pub use introspect::Transit;
pub use mprobe::MatchedMessage;
use process_heap::ProcessHeaps;
pub use protocol::{SizeRange, Thresholds};
use reassembly::Reassemblies;
use recv_queues::RecvQueues;
use rndv::Rendezvous;
use single_copy::DeferredCopies;
pub use transfer::{Completion, Posted};
use transfer::{PostedRecv, RndvOffer, RndvRecv, RndvSend, UnexpectedBody};
use transport::Transport;

/// Options of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether the receiver copies large messages directly from the memory of their sender. `None`:
    /// between processes only where cross-memory attach is faster; between threads always.
    pub single_copy: Option<bool>,
    /// Whether channels may be opened; without them everything travels as messages.
    pub channels: bool,
    /// The position of the first message in every ring; not 0 only to test large ones. Must be the
    /// same on all ranks.
    pub first_position: u64,
    /// The heap of this process that is offered to peers; see [`crate::process_heap::installed`].
    pub process_heap: Option<HeapDescription>,
}

impl Default for Options {
    fn default() -> Self {
        Options { single_copy: None, channels: true, first_position: 0, process_heap: None }
    }
}

/// The endpoint of one rank: its sends, receives, channels and queues.
// The transport is the first field, so its address is that of the endpoint: the fast path of short
// messages passes both, and keeps one register free that way.
#[repr(C)]
pub struct Endpoint {
    transport: Transport,
    thresholds: Thresholds,
    recv_queues: RecvQueues,
    reassemblies: Reassemblies,
    rndv: Rendezvous,
    deferred_copies: DeferredCopies,
    heap: Arc<SharedHeap>,
    process_heaps: ProcessHeaps,
    bounce: BounceSender,
    channels: Channels,
    disconnect: Disconnect,
    single_copy: SingleCopy,
    /// Completions that were found while the endpoint waited for memory to be released.
    late_completions: Vec<Completion>,
    /// What the next cell of a synchronous send is put together in.
    synchronous_cell: Vec<u8>,
}

impl Endpoint {
    /// The endpoint of a rank that shares its segment with all others: one per rank of the world.
    pub fn new(segment: Arc<SharedSegment>, me: Peer, options: Options) -> Endpoint {
        Endpoint::reaching(segment, None, me, options)
    }

    /// The endpoint of a rank that shares its segment with the ranks of its host, and reaches
    /// others by the network.
    pub fn reaching(
        segment: Arc<SharedSegment>,
        network: Option<Box<Network>>,
        me: Peer,
        options: Options,
    ) -> Endpoint {
        let single_copy = match (segment.is_shared(), options.single_copy) {
            (_, Some(false)) => SingleCopy::Off,
            (true, _) => SingleCopy::Kernel,
            (false, _) => SingleCopy::Direct,
        };
        if single_copy == SingleCopy::Kernel {
            allow_peers();
        }
        let transport = Transport::new(segment, network, me, options.first_position);
        let segment = &transport.segment;
        let ring = transport.peer_tx[me.index()].thresholds();
        let thresholds = Thresholds::of(segment, ring, options.single_copy);
        let own = transport.local_index(me).expect("a rank is on its own host");
        let ranks = segment.layout().ranks();
        Endpoint {
            single_copy,
            thresholds,
            reassemblies: Reassemblies::new(ranks),
            recv_queues: RecvQueues::new(ranks),
            rndv: Rendezvous::of(&transport, &thresholds),
            deferred_copies: DeferredCopies::default(),
            heap: SharedHeap::of(segment, own),
            process_heaps: ProcessHeaps::new(options.process_heap, segment),
            bounce: BounceSender::of(segment),
            channels: Channels::new(options.channels, options.first_position),
            disconnect: Disconnect::of(&transport),
            late_completions: Vec::new(),
            synchronous_cell: Vec::new(),
            transport,
        }
    }

    /// The lengths at which messages inside this host begin to travel in another way.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// How large messages are copied: what was asked for, or less if the system refused.
    pub fn single_copy(&self) -> SingleCopy {
        self.single_copy
    }

    /// Receives a message. Never waits; a message that is there already completes at once. The
    /// ticket is for [`Endpoint::cancel_receive`].
    ///
    /// # Safety
    /// Until the completion (or after [`Endpoint::cancel`]) `into` stays writable and nobody
    /// else uses it.
    pub unsafe fn recv(
        &mut self,
        selector: Selector,
        element: TypeCode,
        into: RegionMut,
        token: Token,
        done: &mut Vec<Completion>,
    ) -> Ticket {
        self.post(selector, PostedRecv::new(into, element, token), done)
    }

    /// As [`Endpoint::recv`], with a permitted length.
    ///
    /// # Safety
    /// As [`Endpoint::recv`].
    pub unsafe fn recv_filled(
        &mut self,
        selector: Selector,
        element: TypeCode,
        (into, fill): (RegionMut, Fill),
        token: Token,
        done: &mut Vec<Completion>,
    ) -> Ticket {
        self.post(selector, PostedRecv::new(into, element, token).filled(fill), done)
    }

    /// Advances all transfers as far as possible, and adds the completions to `done`. Returns
    /// whether anything moved.
    pub fn progress(&mut self, done: &mut Vec<Completion>) -> bool {
        let fetched = self.poll_network(done);
        self.take_in(done) || fetched
    }

    /// The second half of [`Endpoint::progress`]: takes the cells from the rings to this rank, and
    /// puts cells that wait into those from it. Returns whether anything moved.
    pub fn take_in(&mut self, done: &mut Vec<Completion>) -> bool {
        let leaves_copies = self.begin_deferring();
        let came = self.poll_readers(done);
        self.end_deferring(leaves_copies, done);
        let went = self.transport.waiting > 0 && self.flush(done);
        let overdue = self.rndv.take_overdue();
        let pulled = overdue.is_some_and(|overdue| self.pull_one(overdue, done));
        came || went || pulled
    }

    /// Whether this rank has no send that still needs it.
    pub fn all_sent(&self) -> bool {
        self.transport.waiting == 0 && self.rndv.sends.is_empty()
    }

    /// Completes receives that need no help of their senders, if nothing has come since the last
    /// poll. For threads that are about to sleep; a thread that goes on polling
    /// leaves the copy to the sender.
    pub fn complete_without_senders(&mut self, done: &mut Vec<Completion>) {
        while self.recv_queues.idle_polls > 0 && self.read_rest(done) {}
    }

    /// Fails transfers that wait for ranks that have left. Takes time in the number of transfers,
    /// so threads call it now and then, and before they sleep.
    ///
    /// A receive from anyone ends when all others have left and nothing that this rank has sent
    /// to itself is under way.
    pub fn fail_ops_of_left_peers(&mut self, done: &mut Vec<Completion>) {
        if self.transport.network.as_mut().is_some_and(|network| network.is_time_to_say()) {
            self.publish_awaited_peers();
        }
        let ranks = self.transport.segment.ranks() as u32;
        let me = self.transport.me.0;
        let mut others = (0..ranks).filter(|&rank| rank != me);
        if !others.clone().any(|rank| self.transport.why_silent(Peer(rank)).is_some()) {
            return; // A rank that sleeps often comes here often: allocate nothing.
        }
        let left: Vec<bool> =
            (0..ranks).map(|rank| self.transport.why_silent(Peer(rank)).is_some()).collect();
        let all_left =
            others.clone().all(|rank| left[rank as usize]) && !self.transport.has_word_for_itself();
        let last = others.next_back().map_or(self.transport.me, Peer);
        let gone = |source: Option<Peer>| match source {
            Some(source) => left[source.index()].then_some(source),
            None => all_left.then_some(last),
        };
        let mut ended = Vec::new();
        self.recv_queues.matching.withdraw(|source, receive: &PostedRecv| match gone(source) {
            Some(peer) => {
                ended.push((receive.token(), peer));
                true
            }
            None => false,
        });
        self.rndv.drop_sends(&mut self.transport, |to, token| {
            let is_left = left[to.index()];
            is_left.then(|| ended.push((token, to)));
            is_left
        });
        self.rndv.drop_recvs(&mut self.transport, |recv| {
            let is_left = left[recv.source.index()];
            is_left.then(|| ended.push((recv.receive.token(), recv.source)));
            is_left
        });
        self.await_withdrawn();
        for peer in (0..ranks).map(Peer).filter(|peer| left[peer.index()]) {
            self.transport.drop_ring_writer(peer);
        }
        let end = |(token, peer)| Completion { token, outcome: Err(self.transport.why_left(peer)) };
        done.extend(ended.into_iter().map(end));
    }

    /// Takes back every transfer whose token the predicate names. On return their memory is no
    /// longer used by anybody, and they will not complete.
    pub fn cancel(&mut self, gone: impl Fn(Token) -> bool) {
        self.recv_queues.matching.withdraw(|_, receive| gone(receive.token()));
        self.rndv.drop_sends(&mut self.transport, |_, token| gone(token));
        self.rndv.drop_recvs(&mut self.transport, |recv| gone(recv.receive.token()));
        while let Some(token) = self.left_in_place(&gone) {
            self.release_in_place(token);
        }
        self.await_withdrawn();
        self.late_completions.retain(|completion| !gone(completion.token));
    }
}
