//! Message aggregation for node-aware exchanges: a parcel holds all blocks that one message carries
//! from one node to another.
//!
//! ```text
//!      node A                 node B
//!   0 ──hand over──┐
//!   1 ─────────────2 ══parcel══ 5 ──deal──> 4        2 and 5 are the ends of the parcel
//!                               └───copy──> 5
//! ```
//!
//! A parcel holds each block once, however many ranks of the other node want it. Its blocks come
//! from one rank or from several, in the order of the sources and of the numbers that blocks have
//! there. One of the sources sends it; the others hand over their blocks to that rank first,
//! everything for it in one message, whatever the number of parcels. One of those that want a block
//! receives it, and deals out the others, in one message for each rank.
//!
//! Both nodes know all blocks that pass between them, so both work out the same parcels with the
//! same ends. Those are drawn by turns from the ranks that have blocks in the parcel, so that the
//! ranks of a node share its messages as far as they share its data, and no rank carries data of
//! others only.
//!
//! Data is packed into scratch memory only where it does not lie in one piece anyway, and unpacked
//! only where its places are not side by side. Each message has scratch memory of its own, so no
//! message waits for another but for its data.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::Builder;
use crate::call::{Call, Edge, EdgeDemand, Neighbour, NodeKnowledge, Operation, Rank};
use crate::cost::Cost;
use crate::order::{map_of, set_of, sort_by_number};
use crate::plan::{Buffer, Slice};

/// Which blocks share a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bundle {
    /// Those from one rank to one node.
    BySource,
    /// Those from one node to one node.
    Hierarchical,
}

/// A block: its source, and its number there.
type Identity = (Rank, u32);

/// One message between two nodes.
#[derive(Debug)]
struct Parcel {
    /// The rank that sends the parcel.
    sender: Rank,
    /// The rank that receives the parcel.
    receiver: Rank,
    /// The blocks in order, with their lengths.
    blocks: BTreeMap<Identity, usize>,
    /// The blocks that each destination wants.
    wanted: BTreeMap<Rank, BTreeSet<Identity>>,
}

/// A block that passes from one node to another.
struct Passing {
    nodes: [u32; 2],
    destination: Rank,
    block: Identity,
    count: usize,
}

/// The cost of an algorithm whose chains have at most this number of messages.
pub(super) fn cost(call: &Call, demand: EdgeDemand, chain: usize) -> Cost {
    let rounds = chain.min(demand.messages);
    Cost {
        rounds,
        extra_sends: demand.messages - rounds,
        bytes: demand.elements.saturating_mul(call.element_bytes),
        copied: demand.copied.saturating_mul(call.element_bytes),
        ..Cost::default()
    }
}

/// What the ranks of the calling rank's node know.
///
/// # Panics
/// If the call is no exchange among nodes.
pub(super) fn surroundings(call: &Call) -> &NodeKnowledge {
    match &call.operation {
        Operation::NodeExchange { surroundings, .. } => surroundings,
        _ => unreachable!("{} is no exchange among nodes", call.collective()),
    }
}

/// Writes down the exchange.
pub(super) fn build(bundle: Bundle, call: &Call, builder: &mut Builder<'_>) {
    let Operation::NodeExchange { to, from, surroundings } = &call.operation else {
        unreachable!("{} is no exchange among nodes", call.collective())
    };
    let own = surroundings.mate(call.rank).expect("a rank is on its own node");
    let outgoing = parcels(bundle, sent(surroundings));
    let own_blocks = own
        .to
        .iter()
        .zip(&**to)
        .filter(|(edge, _)| edge.count > 0)
        .map(|(edge, other)| ((call.rank, edge.block), slice(Buffer::Input, other)));
    let mut places: BTreeMap<Identity, Vec<Slice>> = BTreeMap::new();
    let far = own.from.iter().zip(&**from).filter(|(edge, _)| edge.node != surroundings.node);
    for (edge, other) in far.filter(|(edge, _)| edge.count > 0) {
        let place = slice(Buffer::Output, other);
        places.entry((edge.rank, edge.block)).or_default().push(place);
    }
    let mut route = Route { me: call.rank, own_blocks: map_of(own_blocks), places, builder };
    // All that is received is posted first. Between two mates messages are in this order at both
    // ends: what is handed over, then blocks from one to the other, then what is dealt out.
    let handed = route.receive_handed(&outgoing);
    let within = within(call, surroundings, [to, from]);
    within.receive(route.builder);
    let incoming = parcels(bundle, received(surroundings));
    let landed: Vec<_> = incoming.iter().map(|parcel| route.receive(parcel)).collect();
    route.hand_over(&outgoing);
    route.send_parcels(&outgoing, &handed);
    within.send(route.builder);
    for (parcel, received_blocks) in incoming.iter().zip(landed) {
        if let Some(received_blocks) = received_blocks {
            route.deal(parcel, &received_blocks);
        }
    }
}

/// All that the ranks of the node send to other nodes.
fn sent(surroundings: &NodeKnowledge) -> impl Iterator<Item = Passing> {
    let node = surroundings.node;
    let passing = move |source: Rank, edge: &Edge| Passing {
        nodes: [node, edge.node],
        destination: edge.rank,
        block: (source, edge.block),
        count: edge.count,
    };
    let mates = surroundings.mates.iter();
    mates.flat_map(move |mate| mate.to.iter().map(move |edge| passing(mate.rank, edge)))
}

/// All that the ranks of the node receive from other nodes.
fn received(surroundings: &NodeKnowledge) -> impl Iterator<Item = Passing> {
    let node = surroundings.node;
    let passing = move |destination: Rank, edge: &Edge| Passing {
        nodes: [edge.node, node],
        destination,
        block: (edge.rank, edge.block),
        count: edge.count,
    };
    let mates = surroundings.mates.iter();
    mates.flat_map(move |mate| mate.from.iter().map(move |edge| passing(mate.rank, edge)))
}

/// Parcels in an order that all ranks of a node have.
fn parcels(bundle: Bundle, blocks: impl Iterator<Item = Passing>) -> Vec<Parcel> {
    let mut bundles: BTreeMap<([u32; 2], Option<Rank>), Vec<Passing>> = BTreeMap::new();
    for passing in blocks.filter(|it| it.count > 0 && it.nodes[0] != it.nodes[1]) {
        let source = (bundle == Bundle::BySource).then_some(passing.block.0);
        bundles.entry((passing.nodes, source)).or_default().push(passing);
    }
    let parcel = |((nodes, source), blocks)| Parcel::new(nodes, source, blocks);
    bundles.into_iter().map(parcel).collect()
}

impl Parcel {
    fn new(nodes: [u32; 2], source: Option<Rank>, all: Vec<Passing>) -> Self {
        let mut blocks = BTreeMap::new();
        let mut wanted: BTreeMap<Rank, BTreeSet<Identity>> = BTreeMap::new();
        for Passing { destination, block, count, .. } in all {
            blocks.insert(block, count);
            wanted.entry(destination).or_default().insert(block);
        }
        let sources = set_of(blocks.keys().map(|(source, _)| *source));
        // The turn is another for each node that a node has to do with, and so is the rank.
        let turn = nodes.iter().map(|node| *node as usize).fold(0, usize::wrapping_add);
        let turn = source.map_or(turn, Rank::index);
        let sender = *sources.iter().nth(turn % sources.len()).expect("it is below the length");
        // One on: where the same two nodes send both ways, the ranks that do so are others.
        let turn = turn.wrapping_add(1);
        let receiver = *wanted.keys().nth(turn % wanted.len()).expect("it is below the length");
        Self { sender, receiver, blocks, wanted }
    }

    /// The blocks of one source.
    fn of(&self, source: Rank) -> impl Iterator<Item = (Identity, usize)> {
        let blocks = self.blocks.range((source, 0)..=(source, u32::MAX));
        blocks.map(|(block, count)| (*block, *count))
    }

    /// The ranks that hand over blocks to the sender.
    fn others(&self) -> BTreeSet<Rank> {
        let sources = self.blocks.keys().map(|(source, _)| *source);
        set_of(sources.filter(|source| *source != self.sender))
    }

    /// The lengths of the blocks that a rank wants, in order.
    fn wanted_by(&self, rank: Rank) -> Vec<(Identity, usize)> {
        let blocks = self.wanted.get(&rank).into_iter().flatten();
        blocks.map(|block| (*block, self.blocks[block])).collect()
    }
}

/// Where blocks lie that have been received.
type ReceivedBlocks = BTreeMap<Identity, Slice>;

/// The way of the blocks through one rank.
struct Route<'a, 'b> {
    me: Rank,
    /// Where the own blocks lie in the input.
    own_blocks: BTreeMap<Identity, Slice>,
    /// Where blocks of other nodes go in the output: several places if a block is wanted twice.
    places: BTreeMap<Identity, Vec<Slice>>,
    builder: &'a mut Builder<'b>,
}

impl Route<'_, '_> {
    /// The blocks that `source` hands over to `sender`, for all parcels of that one.
    fn handed(outgoing: &[Parcel], source: Rank, sender: Rank) -> BTreeMap<Identity, usize> {
        let parcels = outgoing.iter().filter(|parcel| parcel.sender == sender);
        map_of(parcels.flat_map(|parcel| parcel.of(source)))
    }

    /// Receives what others hand over, into scratch memory.
    fn receive_handed(&mut self, outgoing: &[Parcel]) -> ReceivedBlocks {
        let own = outgoing.iter().filter(|parcel| parcel.sender == self.me);
        let sources = set_of(own.flat_map(Parcel::others));
        let mut received_blocks = ReceivedBlocks::new();
        for source in sources {
            let blocks = Self::handed(outgoing, source, self.me);
            let area = self.builder.scratch(blocks.values().sum());
            self.builder.recv(source, area);
            received_blocks.extend(laid_out(blocks, area));
        }
        received_blocks
    }

    /// Sends own blocks to the ranks that send parcels with them, the next rank first.
    fn hand_over(&mut self, outgoing: &[Parcel]) {
        let me = self.me;
        let others = outgoing.iter().filter(|parcel| parcel.others().contains(&me));
        let senders = set_of(others.map(|parcel| parcel.sender));
        for &sender in senders.range(me..).chain(senders.range(..me)) {
            let blocks = Self::handed(outgoing, me, sender);
            let slices: Vec<_> = blocks.keys().map(|block| self.own_blocks[block]).collect();
            let packed = self.packed(&slices);
            self.builder.send(sender, packed);
        }
    }

    /// Sends the parcels of which this rank is the sender.
    fn send_parcels(&mut self, outgoing: &[Parcel], handed: &ReceivedBlocks) {
        let me = self.me;
        for parcel in outgoing.iter().filter(|parcel| parcel.sender == me) {
            let place = |block| self.own_blocks.get(block).or(handed.get(block)).copied();
            let slices: Vec<_> =
                parcel.blocks.keys().map(|it| place(it).expect("own or handed over")).collect();
            let packed = self.packed(&slices);
            self.builder.send(parcel.receiver, packed);
        }
    }

    /// Receives a parcel, or what is dealt out of it; none if there is nothing for this rank.
    fn receive(&mut self, parcel: &Parcel) -> Option<ReceivedBlocks> {
        let (from, blocks) = if parcel.receiver == self.me {
            let blocks = parcel.blocks.iter().map(|(block, count)| (*block, *count));
            (parcel.sender, blocks.collect())
        } else {
            (parcel.receiver, parcel.wanted_by(self.me))
        };
        if blocks.is_empty() {
            return None;
        }
        // Straight to the output, if all blocks are wanted here and lie there side by side.
        let first_place = |(block, _): &(Identity, usize)| Some(self.places.get(block)?[0]);
        let places: Option<Vec<_>> = blocks.iter().map(first_place).collect();
        let area = match places.and_then(|places| in_one_piece(&places)) {
            Some(area) => area,
            None => self.builder.scratch(blocks.iter().map(|(_, count)| count).sum()),
        };
        self.builder.recv(from, area);
        Some(map_of(laid_out(blocks, area)))
    }

    /// Puts blocks in their places and, at the receiver of the parcel, deals out those of others,
    /// the next rank first.
    fn deal(&mut self, parcel: &Parcel, received_blocks: &ReceivedBlocks) {
        let me = self.me;
        if parcel.receiver == me {
            for (&other, blocks) in parcel.wanted.range(me..).chain(parcel.wanted.range(..me)) {
                if other != me {
                    let slices: Vec<_> =
                        blocks.iter().map(|block| received_blocks[block]).collect();
                    let packed = self.packed(&slices);
                    self.builder.send(other, packed);
                }
            }
        }
        for (block, from) in received_blocks {
            for place in self.places.get(block).into_iter().flatten() {
                self.builder.copy(*from, *place);
            }
        }
    }

    /// The slices one after the other: where they are, or in scratch memory.
    fn packed(&mut self, slices: &[Slice]) -> Slice {
        if let Some(piece) = in_one_piece(slices) {
            return piece;
        }
        let area = self.builder.scratch(slices.iter().map(|slice| slice.len).sum());
        let mut next = 0;
        for slice in slices {
            self.builder.copy(*slice, area.sub(next, slice.len));
            next += slice.len;
        }
        area
    }
}

/// The slice that these make up, if each begins where the one before ends.
fn in_one_piece(slices: &[Slice]) -> Option<Slice> {
    let joined = |piece: Slice, next: &Slice| {
        let fits = piece.buffer == next.buffer && piece.end() == next.start;
        fits.then_some(Slice { len: piece.len + next.len, ..piece })
    };
    slices[1..].iter().try_fold(slices[0], joined)
}

/// Blocks one after the other in `area`.
fn laid_out(
    blocks: impl IntoIterator<Item = (Identity, usize)>,
    area: Slice,
) -> impl Iterator<Item = (Identity, Slice)> {
    let mut next = 0;
    blocks.into_iter().map(move |(block, count)| {
        next += count;
        (block, area.sub(next - count, count))
    })
}

/// The blocks that stay on the node.
struct Within {
    me: Rank,
    to: Vec<Neighbour>,
    from: Vec<Neighbour>,
}

/// The own blocks from and to ranks of the same node, the next rank first. Blocks of one pair stay
/// in order.
fn within(call: &Call, surroundings: &NodeKnowledge, [to, from]: [&[Neighbour]; 2]) -> Within {
    let near = |list: &[Neighbour]| -> Vec<Neighbour> {
        let is_near = |other: &&Neighbour| surroundings.mate(other.rank).is_some();
        list.iter().filter(is_near).copied().collect()
    };
    let (me, mut to, mut from) = (call.rank, near(to), near(from));
    sort_by_number(&mut to, |other| call.distance(me, other.rank));
    sort_by_number(&mut from, |other| call.distance(other.rank, me));
    Within { me, to, from }
}

impl Within {
    fn receive(&self, builder: &mut Builder<'_>) {
        for source in self.from.iter().filter(|source| source.rank != self.me) {
            builder.recv(source.rank, slice(Buffer::Output, source));
        }
    }

    fn send(&self, builder: &mut Builder<'_>) {
        for destination in self.to.iter().filter(|destination| destination.rank != self.me) {
            builder.send(destination.rank, slice(Buffer::Input, destination));
        }
        let own = |list: &[Neighbour], buffer| -> Vec<Slice> {
            let own = list.iter().filter(|other| other.rank == self.me);
            own.map(|other| slice(buffer, other)).collect()
        };
        for (from, into) in
            own(&self.to, Buffer::Input).into_iter().zip(own(&self.from, Buffer::Output))
        {
            builder.copy(from, into);
        }
    }
}

fn slice(buffer: Buffer, block: &Neighbour) -> Slice {
    block.block().slice(buffer)
}
