//! Reassembly of messages that take several cells: too long for one cell, and too short to be worth
//! a single copy.
//!
//! They are sent when there is room for all of them, so their cells follow each other in the ring.
//! The receiver copies each as it comes, while the sender fills the next one. If the receive is
//! not there yet, the message stays in the ring for some polls: a sender that runs ahead of its
//! receiver must not make work for it, since a message that is kept is copied twice.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::message::Message;
use super::recv_queues::RecvQueues;
use super::rndv::Rendezvous;
use super::transfer::{Completion, PostedRecv, RndvRecv, UnexpectedBody};
use super::transport::Transport;
use crate::packet::{Header, Packet};
use crate::slab::Id;
use crate::{Label, Peer, RegionMut};

/// Polls of a message without a receive after which it is copied to the unexpected queue. Until
/// then it stays in its ring: its receive may come soon, and saves one copy.
const POLLS_BEFORE_COPY: u32 = 16;

/// The messages in several cells that come from one peer.
#[derive(Default)]
struct Reassembly {
    state: State,
    /// Polls of the message that is next in the ring.
    polls: u32,
}

/// The state of the message whose first cells have come.
#[derive(Default)]
enum State {
    /// There is none, or its cells are dropped.
    #[default]
    Nothing,
    /// Its receive was there; so many bytes have come.
    Posted(Id, usize),
    /// It came before its receive; so many bytes have come.
    Unexpected(Message, Box<[u8]>, usize),
}

/// The parts of an endpoint that a message in several cells passes.
pub(super) struct Parts<'a> {
    pub(super) transport: &'a Transport,
    pub(super) recv_queues: &'a mut RecvQueues,
    pub(super) rndv: &'a mut Rendezvous,
}

/// The messages in several cells that come to a rank.
pub(super) struct Reassemblies {
    /// Per peer: its message of which not all cells have come.
    of: Vec<Reassembly>,
}

impl Reassemblies {
    /// None yet, of a rank among so many.
    pub(super) fn new(ranks: usize) -> Reassemblies {
        Reassemblies { of: (0..ranks).map(|_| Reassembly::default()).collect() }
    }

    /// Takes the first cell of a message that lies in several. `false` if the cell stays in the
    /// ring, to be polled again.
    pub(super) fn begin(
        &mut self,
        parts: &mut Parts<'_>,
        source: Peer,
        header: Header,
        done: &mut Vec<Completion>,
    ) -> bool {
        let Packet::First { label, element, bytes } = Packet::read(header) else {
            unreachable!("only called for the first of several cells")
        };
        let message = Message { source, label, element, bytes };
        let state = match parts.recv_queues.matching.take_posted(source, label) {
            Some(receive) => begin_recv(parts, message, receive, done),
            None => {
                let assembly = &mut self.of[source.index()];
                assembly.polls += 1;
                if assembly.polls <= POLLS_BEFORE_COPY {
                    return false;
                }
                let reader = &parts.transport.readers[source.index()];
                let (mut whole, first) =
                    (vec![0; bytes].into_boxed_slice(), reader.payload::<Header>());
                // SAFETY: part of a live box.
                unsafe { reader.copy_payload::<Header>(RegionMut::of(&mut whole[..first])) };
                State::Unexpected(message, whole, first)
            }
        };
        self.of[source.index()] = Reassembly { state, polls: 0 };
        true
    }

    /// Another cell of the message that has begun to come.
    pub(super) fn resume(
        &mut self,
        parts: &mut Parts<'_>,
        source: Peer,
        bytes: usize,
        done: &mut Vec<Completion>,
    ) {
        let state = std::mem::take(&mut self.of[source.index()].state);
        self.of[source.index()].state = match state {
            State::Posted(id, offset) => {
                parts.rndv.handle_fragment(parts.transport, source, (id, offset, bytes), done);
                State::Posted(id, offset + bytes)
            }
            State::Unexpected(message, mut whole, offset) => {
                let into = RegionMut::of(&mut whole[offset..offset + bytes]);
                // SAFETY: part of a live box.
                unsafe { parts.transport.readers[source.index()].copy_payload::<Header>(into) };
                if offset + bytes < whole.len() {
                    State::Unexpected(message, whole, offset + bytes)
                } else {
                    assembled(parts, message, whole, done);
                    State::Nothing
                }
            }
            State::Nothing => State::Nothing,
        };
    }
}

/// The first cell of a message meets its receive.
fn begin_recv(
    parts: &mut Parts<'_>,
    message: Message,
    receive: PostedRecv,
    done: &mut Vec<Completion>,
) -> State {
    let Message { source, label: Label { tag, .. }, bytes, .. } = message;
    if let Err(error) = message.fits(&receive, &parts.transport.introductions) {
        done.push(message.completion(receive.token(), Err(error)));
        return State::Nothing;
    }
    let first = parts.transport.readers[source.index()].payload::<Header>();
    let id = parts.rndv.recvs.insert(RndvRecv {
        receive,
        source,
        tag,
        bytes,
        missing: bytes,
        transfer: None,
        offer: None,
    });
    parts.rndv.handle_fragment(parts.transport, source, (id, 0, first), done);
    State::Posted(id, first)
}

/// All of a message has come for which there was no receive when it began.
fn assembled(
    parts: &mut Parts<'_>,
    message: Message,
    whole: Box<[u8]>,
    done: &mut Vec<Completion>,
) {
    match parts.recv_queues.matching.take_posted(message.source, message.label) {
        Some(receive) => message.deliver(&whole, receive, &parts.transport.introductions, done),
        None => parts.recv_queues.enqueue_unexpected(message, UnexpectedBody::Whole(whole)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::endpoint::{Endpoint, Options, Posted};
    use crate::layout::Layout;
    use crate::watchdog::Watchdog;
    use crate::{Region, Selector, SharedSegment, Token, TrafficHint, TypeCode};

    const CELL: usize = 8192 + 64 - 8 - size_of::<Header>();
    const BYTES: usize = CELL + 100;
    const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };

    /// Two ranks, and one that has sent the first of two cells.
    fn half_sent(data: &[u8]) -> [Endpoint; 2] {
        let segment = Arc::new(SharedSegment::private(2).unwrap());
        let rank = |rank| Endpoint::new(segment.clone(), Peer(rank), Options::default());
        let mut ranks = [rank(0), rank(1)];
        let first = Packet::First { label: LABEL, element: TypeCode::BYTES, bytes: BYTES };
        assert!(ranks[0].transport.peer_tx[1].push(first, Region::of(&data[..CELL])));
        ranks
    }

    fn send_rest(sender: &mut Endpoint, data: &[u8]) {
        let rest = Packet::Rest { bytes: BYTES - CELL };
        assert!(sender.transport.peer_tx[1].push(rest, Region::of(&data[CELL..])));
    }

    fn post(receiver: &mut Endpoint, into: &mut [u8], step: u32, done: &mut Vec<Completion>) {
        let token = Token { operation: 0, step };
        let selector = Selector::exactly(Peer(0), LABEL);
        // SAFETY: the memory outlives the receiver's last progress.
        unsafe { receiver.recv(selector, TypeCode::BYTES, RegionMut::of(into), token, done) };
    }

    #[test]
    fn a_receive_that_is_posted_between_two_cells_gets_the_message() {
        let data: Vec<u8> = (0..BYTES).map(|at| at as u8).collect();
        let [mut sender, mut receiver] = half_sent(&data);
        let (mut into, mut done) = (vec![0; BYTES], Vec::new());
        for _ in 0..=POLLS_BEFORE_COPY {
            assert!(receiver.progress(&mut done), "nobody sleeps before it is kept");
        }
        assert!(!receiver.progress(&mut done));
        assert_eq!(receiver.probe(Selector::exactly(Peer(0), LABEL)), None, "not all has come");
        post(&mut receiver, &mut into, 0, &mut done);
        send_rest(&mut sender, &data);
        receiver.progress(&mut done);
        assert!(done.len() == 1 && done[0].outcome.is_ok() && into == data);
    }

    #[test]
    fn longer_messages_go_ahead_of_their_receive_where_ranks_share_a_core() {
        let _watchdog = Watchdog::start();
        let (data, token) = (vec![7; 64 << 10], Token { operation: 0, step: 0 });
        for (cores, ahead) in [(1, Posted::Done), (2, Posted::Pending)] {
            let (segment, _file) =
                SharedSegment::shared_by(Layout::new(2).unwrap(), cores).unwrap();
            let segment = Arc::new(segment);
            let rank = |rank| Endpoint::new(segment.clone(), Peer(rank), Options::default());
            let [mut sender, mut receiver] = [0, 1].map(rank);
            let (to, element, region) = (Peer(1), TypeCode::BYTES, Region::of(&data));
            let message = (LABEL, element, region);
            // SAFETY: the data outlives both endpoints.
            let posted = unsafe { sender.send_with(TrafficHint::OneWay, to, message, token) };
            assert_eq!(posted, ahead, "{cores} cores");
            let other = (Label { tag: 3, ..LABEL }, element, region);
            // SAFETY: as above.
            let posted = unsafe { sender.send_with(TrafficHint::Expected, to, other, token) };
            assert_eq!(posted, Posted::Pending, "what may be answered waits for its receive");
            let (mut into, mut done) = (vec![0; data.len()], Vec::new());
            post(&mut receiver, &mut into, 0, &mut done);
            while done.is_empty() {
                receiver.progress(&mut done);
                sender.progress(&mut Vec::new());
            }
            assert!(done[0].outcome.is_ok() && into == data);
        }
    }

    /// Where ranks share cores a short cell takes less than a long one: both sides of the
    /// border, and more than once round the ring.
    #[test]
    fn messages_of_all_lengths_arrive_where_ranks_share_a_core() {
        let (segment, _file) = SharedSegment::shared_by(Layout::new(2).unwrap(), 1).unwrap();
        let segment = Arc::new(segment);
        let rank = |rank| Endpoint::new(segment.clone(), Peer(rank), Options::default());
        let [mut sender, mut receiver] = [0, 1].map(rank);
        let ring = segment.layout().lane_at(0, segment.is_oversubscribed());
        assert!(ring.annexes > 0);
        let border = ring.cell_bytes - crate::spsc::STAMP_BYTES - size_of::<Header>();
        let lengths = [0, 1, border - 1, border, border + 1, CELL - 1, CELL, BYTES];
        for turn in 0..3 * ring.cells {
            let bytes = lengths[turn % lengths.len()];
            let data: Vec<u8> = (0..bytes).map(|at| (at + turn) as u8).collect();
            let token = Token { operation: 0, step: 0 };
            let (to, region) = (Peer(1), Region::of(&data));
            // SAFETY: the message is copied at once: there is room.
            let posted = unsafe { sender.send(to, LABEL, TypeCode::BYTES, region, token) };
            assert_eq!(posted, Posted::Done, "{bytes} bytes");
            let (mut into, mut done) = (vec![0; bytes], Vec::new());
            post(&mut receiver, &mut into, 0, &mut done);
            receiver.progress(&mut done);
            assert!(done.len() == 1 && done[0].outcome.is_ok(), "{bytes} bytes");
            assert!(into == data, "{bytes} bytes");
        }
    }

    #[test]
    fn a_receive_that_is_cancelled_between_two_cells_drops_the_rest() {
        let data = vec![7; BYTES];
        let [mut sender, mut receiver] = half_sent(&data);
        let (mut lost, mut next, mut done) = (vec![0; BYTES], vec![0; BYTES], Vec::new());
        post(&mut receiver, &mut lost, 0, &mut done);
        receiver.progress(&mut done);
        receiver.cancel(|_| true);
        lost.fill(1);
        post(&mut receiver, &mut next, 1, &mut done);
        send_rest(&mut sender, &data);
        receiver.progress(&mut done);
        assert!(done.is_empty() && lost.iter().all(|&byte| byte == 1));
        let token = Token { operation: 0, step: 9 };
        // SAFETY: the message is copied at once: there is room.
        let posted =
            unsafe { sender.send(Peer(1), LABEL, TypeCode::BYTES, Region::of(&data), token) };
        assert_eq!(posted, Posted::Done);
        receiver.progress(&mut done);
        assert!(done.len() == 1 && done[0].token.step == 1 && next == data);
    }
}
