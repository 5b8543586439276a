//! The golden table: how messages of all lengths travel, seen in the packets of real endpoints and
//! in what is chosen.
//!
//! `golden.txt` has a section for each placement of the ranks, each copy method and each kind of
//! memory, and a line for each kind of message: what happens up to which length in bytes. The
//! lengths that are sent lie on both sides of every threshold. `MOTET_REGENERATE=1` writes the
//! table anew.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt::Write as _;
use std::sync::Arc;

use super::{
    HostTraits, Outbound, Protocol, RingThresholds, RndvProtocol, Thresholds, choose, choose_rndv,
    is_multicast, is_synchronous_in_cell,
};
use crate::endpoint::bounce_pool::BounceBuffer;
use crate::endpoint::pipeline::next_fragment_bytes;
use crate::endpoint::shared_heap::is_in_heap;
use crate::endpoint::{Endpoint, Options};
use crate::layout::Layout;
use crate::packet::{Header, Packet, SEND_ID_BYTES};
use crate::{
    Completion, Label, Peer, Region, RegionMut, Selector, SharedSegment, Token, TrafficHint,
    TypeCode, cma,
};

const TABLE: &str = include_str!("golden.txt");
const LABEL: Label = Label { context: 1, tag: 2, ordinal: 0 };
const TOKEN: Token = Token { operation: 7, step: 0 };
/// The longest message of the table.
const BYTES_MAX: usize = 5 << 20;

/// Where the ranks of a host are, and who copies for them.
#[derive(Clone, Copy, Debug)]
struct Placement {
    name: &'static str,
    ranks: usize,
    cores: usize,
}

const PLACEMENTS: [Placement; 3] = [
    Placement { name: "a core per rank", ranks: 3, cores: 3 },
    Placement { name: "3 ranks on a core", ranks: 3, cores: 1 },
    Placement { name: "5 ranks on a core", ranks: 5, cores: 1 },
];

/// What the table distinguishes besides the length of a message.
#[derive(Clone, Copy, Debug)]
struct Case {
    placement: Placement,
    /// Whether two copies by cores are faster than one by the kernel.
    prefers_memcpy: bool,
    is_in_heap: bool,
    kind: Kind,
}

/// A kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// With this hint, for one receiver.
    Hinted(TrafficHint),
    /// Without a hint, to a rank from which a message has come.
    Answer,
    /// Complete only when it is received.
    Synchronous,
    /// With this hint, for two receivers.
    Multicast(TrafficHint),
}

const KINDS: [(&str, Kind); 12] = [
    ("expected", Kind::Hinted(TrafficHint::Expected)),
    ("operands", Kind::Hinted(TrafficHint::Operands { stay_cached: true })),
    ("operands, far", Kind::Hinted(TrafficHint::Operands { stay_cached: false })),
    ("one way", Kind::Hinted(TrafficHint::OneWay)),
    ("untouched", Kind::Hinted(TrafficHint::Untouched { among_several: false })),
    ("untouched, several", Kind::Hinted(TrafficHint::Untouched { among_several: true })),
    ("reduced", Kind::Hinted(TrafficHint::Reduced)),
    ("unknown", Kind::Hinted(TrafficHint::Unknown)),
    ("unknown, an answer", Kind::Answer),
    ("synchronous", Kind::Synchronous),
    ("one way, to 2 ranks", Kind::Multicast(TrafficHint::OneWay)),
    ("expected, to 2 ranks", Kind::Multicast(TrafficHint::Expected)),
];

impl Kind {
    /// Whether the receiver may read the message where it lies.
    fn may_be_read_in_place(self) -> bool {
        matches!(self, Kind::Hinted(TrafficHint::Reduced | TrafficHint::Operands { .. }))
    }
}

/// How a message went, and in how many packets or bounce buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MessagePath {
    name: &'static str,
    pieces: u64,
}

impl MessagePath {
    fn new(name: &'static str, pieces: u64) -> MessagePath {
        MessagePath { name, pieces }
    }
}

/// Both sides of every threshold, with cells of these capacities.
fn lengths(cells: [usize; 2]) -> Vec<usize> {
    let kib = [2, 4, 16, 32, 64, 512, 1024, 4096].map(|kib| kib << 10);
    let thresholds = kib.into_iter().chain(cells).chain([512]);
    let behind_ids = cells.map(|bytes| bytes - SEND_ID_BYTES);
    let around = thresholds.chain(behind_ids).flat_map(|bytes| [bytes, bytes + 1]);
    let others = [0, 1, 8, 8 << 10, (64 << 10) - 1, 128 << 10, 256 << 10, 1 << 20, BYTES_MAX];
    let mut all: Vec<usize> = around.chain(others).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The whole table, where this says how a message goes.
fn table(mut path: impl FnMut(Case, usize) -> MessagePath) -> String {
    let mut text = String::new();
    for placement in PLACEMENTS {
        for prefers_memcpy in [false, true] {
            for is_in_heap in [false, true] {
                let copy = if prefers_memcpy { "memcpy" } else { "kernel copy" };
                let memory = if is_in_heap { "shared heap" } else { "private memory" };
                let _ = writeln!(text, "[{}; {copy}; {memory}]", placement.name);
                for (name, kind) in KINDS {
                    let case = Case { placement, prefers_memcpy, is_in_heap, kind };
                    let all = lengths(cells(placement));
                    let paths = all.into_iter().map(|bytes| (bytes, path(case, bytes)));
                    let _ = writeln!(text, "{name:20} {}", line(paths));
                }
                text.push('\n');
            }
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// What happens up to which length.
fn line(paths: impl Iterator<Item = (usize, MessagePath)>) -> String {
    let mut parts: Vec<(MessagePath, u64, usize)> = Vec::new();
    for (bytes, path) in paths {
        match parts.last_mut() {
            Some((first, most, upto)) if first.name == path.name => {
                (*most, *upto) = (path.pieces, bytes);
            }
            _ => parts.push((path, path.pieces, bytes)),
        }
    }
    let part = |(MessagePath { name, pieces }, most, upto): &(MessagePath, u64, usize)| match (
        *pieces, *most,
    ) {
        (1, 1) => format!("{upto} {name}"),
        (fewest, most) if fewest == most => format!("{upto} {name} x{most}"),
        (fewest, most) => format!("{upto} {name} x{fewest}..{most}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" | ")
}

/// Bytes that fit a cell, and a cell with an annex.
fn cells(placement: Placement) -> [usize; 2] {
    let layout = Layout::new(placement.ranks).expect("that many ranks are allowed");
    let ring = layout.lane_at(0, placement.ranks > placement.cores);
    [ring.cell_payload(size_of::<Header>()), ring.payload(size_of::<Header>())]
}

/// The segment of such ranks.
fn segment(placement: Placement, prefers_memcpy: bool) -> Arc<SharedSegment> {
    let Placement { ranks, cores, .. } = placement;
    let (segment, _file) = SharedSegment::shared_by(Layout::new(ranks).unwrap(), cores).unwrap();
    segment.set_prefers_memcpy(prefers_memcpy);
    Arc::new(segment)
}

/// The next packet on its way from one endpoint to another.
fn next_packet(receiver: &mut Endpoint, from: usize) -> Option<Packet> {
    // SAFETY: peers push nothing but `Header`s into standing lanes, and any bits are one.
    let header = unsafe { receiver.transport.readers[from].peek::<Header>() };
    header.map(Packet::read)
}

/// Sends one message from rank 0 to rank 1 of a new world, and sees how it gets there.
fn travel(case: Case, bytes: usize) -> MessagePath {
    let Case { placement, prefers_memcpy, is_in_heap: lies_in_heap, kind } = case;
    let segment = segment(placement, prefers_memcpy);
    let [mut sender, mut receiver] = [0, 1].map(|rank| {
        segment.enter(Peer(rank), std::process::id());
        Endpoint::new(segment.clone(), Peer(rank), Options::default())
    });
    sender.bounce.cut_pool(&mut sender.transport);
    let private: Vec<u8> = if lies_in_heap { Vec::new() } else { vec![7; bytes] };
    let heap = lies_in_heap.then(|| sender.heap().allocate(bytes.max(1), 64).expect("room"));
    let data = match &heap {
        Some(buffer) => {
            // SAFETY: a new bounce buffer of that length.
            unsafe { buffer.start().as_ptr().write_bytes(7, bytes) };
            Region::new(buffer.start().as_ptr(), bytes)
        }
        None => Region::of(&private),
    };
    let message = (LABEL, TypeCode::BYTES, data);
    if kind == Kind::Answer {
        sender.bounce.note_message(Peer(1), 1 << 10);
    }
    let is_sent = match kind {
        Kind::Hinted(_) | Kind::Answer => {
            let hint = if let Kind::Hinted(hint) = kind { hint } else { TrafficHint::Unknown };
            // SAFETY: the data outlives both endpoints' use of it.
            let _ = unsafe { sender.send_with(hint, Peer(1), message, TOKEN) };
            true
        }
        Kind::Synchronous => {
            let (to, element) = (Peer(1), TypeCode::BYTES);
            // SAFETY: as above.
            let _ = unsafe { sender.send_synchronously(to, LABEL, element, data, TOKEN) };
            true
        }
        // SAFETY: as above.
        Kind::Multicast(hint) => unsafe { sender.send_multicast(Peer(1), message, (1, hint), 2) },
    };
    if !is_sent {
        return MessagePath::new("one by one", 1);
    }
    let first = next_packet(&mut receiver, 0).expect("a packet is there at once");
    let words = receiver.transport.words(Peer(0));
    let packets = sender.packets();

    let (mut into, mut done) = (vec![0; bytes], [Vec::new(), Vec::new()]);
    let into_region = RegionMut::of(&mut into);
    let selector = Selector::exactly(Peer(0), LABEL);
    let receive = if kind.may_be_read_in_place() { Endpoint::recv_lines } else { Endpoint::recv };
    // SAFETY: the memory outlives the receive.
    unsafe {
        receive(&mut receiver, selector, TypeCode::BYTES, into_region, TOKEN, &mut done[1]);
    }
    receiver.progress(&mut done[1]);
    let is_in_place = !receiver.bounce.in_place.messages.is_empty();
    let answer = next_packet(&mut sender, 1);
    finish(&mut sender, &mut receiver, &mut done);
    let was_read = is_in_place || into.iter().all(|&byte| byte == 7);
    assert!(was_read, "{case:?}, {bytes} bytes");

    match first {
        Packet::Eager { .. } => MessagePath::new("cell", packets),
        Packet::Synchronous { .. } => MessagePath::new("cell, acknowledged", packets),
        Packet::First { .. } => MessagePath::new("cells", packets),
        Packet::Bounced { .. } => {
            let name = match (kind, BounceBuffer::from_words(words).is_full(), is_in_place) {
                (Kind::Multicast(_), ..) => "bounce for all",
                (_, _, true) => "bounce, read in place",
                (_, true, false) => "bounce",
                (_, false, false) => "bounce, read while written",
            };
            MessagePath::new(name, packets)
        }
        Packet::Large { .. } => {
            assert_eq!(lies_in_heap, is_in_heap(words[0]));
            let name = match (answer, lies_in_heap) {
                _ if is_in_place => return MessagePath::new("heap, read in place", 1),
                (Some(Packet::Finished { .. }), false) => "kernel copy",
                (Some(Packet::Finished { .. }), true) => "heap copy",
                (Some(Packet::Share { .. }), false) => "kernel copy by both",
                (Some(Packet::Share { .. }), true) => "heap copy by both",
                (Some(Packet::Pieces { .. }), _) => {
                    return MessagePath::new("pipelined", sender.packets() - 1);
                }
                (other, _) => panic!("{case:?}, {bytes} bytes: {other:?}"),
            };
            MessagePath::new(name, 1)
        }
        other => panic!("{case:?}, {bytes} bytes: {other:?}"),
    }
}

/// Both ends work until the message is there.
fn finish(sender: &mut Endpoint, receiver: &mut Endpoint, done: &mut [Vec<Completion>; 2]) {
    for _ in 0..1000 {
        if let Some(received) = done[1].first() {
            assert!(received.outcome.is_ok());
            receiver.release_in_place(TOKEN);
            return;
        }
        sender.progress(&mut done[0]);
        receiver.progress(&mut done[1]);
    }
    panic!("the message never comes");
}

/// Compares a table with the golden one, or writes that.
fn compare(table: &str) {
    if std::env::var_os("MOTET_REGENERATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/endpoint/protocol/golden.txt");
        std::fs::write(path, table).expect("the source is writable");
        return;
    }
    for (line, (golden, now)) in TABLE.lines().zip(table.lines()).enumerate() {
        assert_eq!(golden, now, "line {} of golden.txt", line + 1);
    }
    assert_eq!(TABLE.lines().count(), table.lines().count());
}

#[test]
fn messages_travel_as_the_golden_table_says() {
    if let Err(error) = cma::copy_within(&[1], &mut [0]) {
        eprintln!("not tested: the kernel does not copy between processes: {error}");
        return;
    }
    compare(&table(travel));
}

/// How a message goes by [`choose`] and [`choose_rndv`], where nothing is missing.
fn decide(case: Case, bytes: usize) -> MessagePath {
    let Case { placement, prefers_memcpy, is_in_heap: lies_in_heap, kind } = case;
    let Placement { ranks, cores, .. } = placement;
    let lane = Layout::new(ranks).unwrap().lane_at(0, ranks > cores);
    let ring = RingThresholds::of(&lane);
    let host = HostTraits { local_ranks: ranks, cores, prefers_memcpy };
    let thresholds = Thresholds::on(host, &ring);
    let protocol = match kind {
        Kind::Hinted(hint) => choose(&thresholds, &ring, Outbound { bytes, hint, lies_in_heap }),
        Kind::Answer => {
            let hint = TrafficHint::Expected;
            choose(&thresholds, &ring, Outbound { bytes, hint, lies_in_heap })
        }
        Kind::Synchronous if is_synchronous_in_cell(&ring, bytes) => {
            return MessagePath::new("cell, acknowledged", 1);
        }
        Kind::Synchronous => Protocol::Rndv,
        Kind::Multicast(hint) => {
            let hint = thresholds.multicast_hint(hint);
            let is_for_all = is_multicast(&thresholds, Outbound { bytes, hint, lies_in_heap }, 2);
            return MessagePath::new(if is_for_all { "bounce for all" } else { "one by one" }, 1);
        }
    };
    let may_stay_in_place = kind.may_be_read_in_place();
    match protocol {
        Protocol::Ring => MessagePath::new("cell", 1),
        Protocol::RingFragments => MessagePath::new("cells", bytes.div_ceil(ring.cell_max) as u64),
        Protocol::Bounce if may_stay_in_place => MessagePath::new("bounce, read in place", 1),
        Protocol::Bounce => MessagePath::new("bounce", 1),
        Protocol::BounceReadWhileWritten => MessagePath::new("bounce, read while written", 1),
        Protocol::Rndv => match choose_rndv(&thresholds, bytes, lies_in_heap, may_stay_in_place) {
            RndvProtocol::HeapInPlace => MessagePath::new("heap, read in place", 1),
            RndvProtocol::Pipelined => MessagePath::new("pipelined", fragments(bytes)),
            RndvProtocol::Cooperative if lies_in_heap => MessagePath::new("heap copy by both", 1),
            RndvProtocol::Cooperative => MessagePath::new("kernel copy by both", 1),
            RndvProtocol::SingleCopy if lies_in_heap => MessagePath::new("heap copy", 1),
            RndvProtocol::SingleCopy => MessagePath::new("kernel copy", 1),
        },
    }
}

/// In how many pieces a pipelined message comes.
fn fragments(bytes: usize) -> u64 {
    let (mut sent, mut pieces) = (0, 0);
    while sent < bytes {
        sent += next_fragment_bytes(bytes, sent);
        pieces += 1;
    }
    pieces
}

#[test]
fn what_is_chosen_is_the_golden_table() {
    compare(&table(decide));
}
