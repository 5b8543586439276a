//! Shared by the hierarchical (node-aware) algorithms: a phase within each node, one among the node
//! leaders, and a phase within each node.
//!
//! ```text
//!   nodes         0 1 2   3 4   5
//!   within        0 1 2   3 4   5
//!   leaders       0       3     5         the only messages between nodes
//!   within        0 1 2   3 4   5
//! ```
//!
//! A phase is a collective of its ranks, with the algorithm that is cheapest at fixed prices. So
//! only the messages of a collective of one rank per node cross between nodes, and no data goes to
//! a node twice.
//!
//! The leader of the node of a root is the root, and that of any other its first rank; where
//! results of ranks before go on to ranks behind, it is the last rank.

use std::ops::Range;

use super::{Algorithm, Refusal, by_time};
use crate::build::{Builder, Data, Phase};
use crate::call::{Block, Call, Collective, NodeMap, Operation, Rank};
use crate::cost::{Cost, CostParams};
use crate::plan::Slice;

/// A collective that is put together from phases.
pub(super) trait Phases: Sync {
    /// The idea in one line.
    const SUMMARY: &'static str;

    /// Which it is.
    fn collective(&self) -> Collective;

    /// Whether the ranks of each node must follow each other.
    fn needs_runs(call: &Call) -> bool;

    /// What the ranks of the largest node call.
    fn within(call: &Call) -> Vec<Operation>;

    /// What the leaders call.
    fn between(call: &Call) -> Operation;

    /// The leader of each node.
    fn leaders(call: &Call) -> Vec<Rank> {
        let mut leaders = call.nodes.first_ranks();
        if let Some(root) = call.operation.root() {
            leaders[call.nodes.node(root)] = root;
        }
        leaders
    }

    /// Writes down the phases.
    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole);
}

/// The algorithm of these phases.
pub(super) struct Hierarchical<P>(pub(super) P);

impl<P: Phases> Algorithm for Hierarchical<P> {
    fn name(&self) -> &'static str {
        "hierarchical"
    }

    fn collective(&self) -> Collective {
        self.0.collective()
    }

    fn summary(&self) -> &'static str {
        P::SUMMARY
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        if call.nodes.largest() < 2 {
            return Err(Refusal::NoNodes);
        }
        if P::needs_runs(call) && !call.nodes.is_in_runs() {
            Err(Refusal::Scattered)
        } else {
            Ok(())
        }
    }

    fn cost(&self, call: &Call) -> Cost {
        let (within, between) = self.parts(call);
        within.then(between)
    }

    fn parts(&self, call: &Call) -> (Cost, Cost) {
        costs(call, P::within(call), P::between(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        P::build(call, builder, &NodeRole::new(call, P::leaders(call)));
    }
}

/// What the phases cost: those within the largest node, and the one of the leaders.
fn costs(call: &Call, within: Vec<Operation>, between: Operation) -> (Cost, Cost) {
    let cost = |ranks, operation: Operation, prices: &CostParams| {
        let row = cheapest(call, ranks, &operation, prices);
        row.cost_within(call, ranks, operation)
    };
    let near =
        |sum: Cost, operation| sum.then(cost(call.nodes.largest(), operation, &CostParams::FIXED));
    let within = within.into_iter().fold(Cost::default(), near);
    let nodes = call.nodes.sizes().len() as u32;
    (within, cost(nodes, between, &CostParams::FIXED.between_nodes()))
}

/// The cheapest algorithm for a phase of this number of ranks.
fn cheapest(
    call: &Call,
    ranks: u32,
    operation: &Operation,
    prices: &CostParams,
) -> &'static dyn Algorithm {
    let phase = Call {
        rank: Rank(0),
        ranks,
        element_bytes: call.element_bytes,
        in_place: false,
        nodes: NodeMap::ONE,
        operation: operation.clone(),
    };
    by_time(&phase, prices)[0].1
}

/// The part that a rank has in the phases.
pub(super) struct NodeRole {
    /// The ranks of its node.
    mates: Vec<Rank>,
    /// The leader of each node.
    leaders: Vec<Rank>,
    /// The ranks of nodes before each, of all nodes at the end: where their blocks begin, if the
    /// ranks of each node follow each other.
    starts: Vec<usize>,
    node: usize,
    rank: Rank,
}

impl NodeRole {
    fn new(call: &Call, leaders: Vec<Rank>) -> NodeRole {
        let nodes = &call.nodes;
        let mut starts = vec![0];
        starts.extend(nodes.sizes().iter().scan(0, |end, size| {
            *end += *size as usize;
            Some(*end)
        }));
        let node = nodes.node(call.rank);
        NodeRole { mates: nodes.ranks_of(node), leaders, starts, node, rank: call.rank }
    }

    /// Whether the rank leads its node.
    pub(super) fn leads(&self) -> bool {
        self.leaders[self.node] == self.rank
    }

    /// The leader among the ranks of its node.
    pub(super) fn leader(&self) -> Rank {
        let leads = |rank: &Rank| *rank == self.leaders[self.node];
        Rank::from_index(self.mates.iter().position(leads).expect("a leader is on its node"))
    }

    /// The root among the leaders.
    pub(super) fn root(&self, call: &Call) -> Rank {
        let root = call.operation.root().expect("the collective has a root");
        Rank::from_index(call.nodes.node(root))
    }

    /// How many ranks are on the node.
    pub(super) fn mates(&self) -> usize {
        self.mates.len()
    }

    /// The node of this rank, counted from 0.
    pub(super) fn node(&self) -> usize {
        self.node
    }

    /// The ranks of the node, if they follow each other.
    pub(super) fn ranks(&self) -> Range<usize> {
        self.starts[self.node]..self.starts[self.node + 1]
    }

    /// Where the blocks of all nodes lie, if that of each rank begins at its bound.
    pub(super) fn blocks(&self, bound: impl Fn(usize) -> usize) -> Vec<Block> {
        let block = |ranks: &[usize]| {
            let (start, end) = (bound(ranks[0]), bound(ranks[1]));
            Block { start, count: end - start }
        };
        self.starts.windows(2).map(block).collect()
    }

    /// Where the blocks of the ranks of the own node lie, if they follow each other, from the start
    /// of the first of them.
    pub(super) fn own_blocks(&self, bound: impl Fn(usize) -> usize) -> Vec<Block> {
        let first = self.start(&bound);
        let block =
            |rank| Block { start: bound(rank) - first, count: bound(rank + 1) - bound(rank) };
        self.ranks().map(block).collect()
    }

    /// Where the blocks of the own node begin.
    pub(super) fn start(&self, bound: impl Fn(usize) -> usize) -> usize {
        bound(self.starts[self.node])
    }

    /// The number of elements that all nodes have, if they have the same.
    pub(super) fn even(&self, bound: impl Fn(usize) -> usize) -> Option<usize> {
        even(&self.blocks(bound))
    }

    /// The blocks of the own node in a buffer with those of all ranks.
    pub(super) fn own(&self, all: Slice, bound: impl Fn(usize) -> usize) -> Slice {
        let ranks = self.ranks();
        all.range(bound(ranks.start)..bound(ranks.end))
    }

    /// A phase of the ranks of the node.
    pub(super) fn within(
        &self,
        call: &Call,
        builder: &mut Builder<'_>,
        operation: Operation,
        data: Data,
    ) {
        let row = cheapest(call, self.mates.len() as u32, &operation, &CostParams::FIXED);
        builder.within(row, &Phase { members: &self.mates, operation, data });
    }

    /// A phase of the leaders; nothing for other ranks.
    pub(super) fn between(
        &self,
        call: &Call,
        builder: &mut Builder<'_>,
        operation: Operation,
        data: Data,
    ) {
        if self.leads() {
            let prices = CostParams::FIXED.between_nodes();
            let row = cheapest(call, self.leaders.len() as u32, &operation, &prices);
            builder.within(row, &Phase { members: &self.leaders, operation, data });
        }
    }
}

/// The length that all blocks have, if they have one.
pub(super) fn even(blocks: &[Block]) -> Option<usize> {
    let count = blocks[0].count;
    blocks.iter().all(|block| block.count == count).then_some(count)
}

/// Reads and writes one buffer, or two.
pub(super) fn data(input: Slice, output: Slice) -> Data {
    if input == output { Data::InPlace(output) } else { Data::Apart { input, output } }
}

/// Only reads.
pub(super) fn reads(input: Slice) -> Data {
    Data::Apart { input, output: Slice::NONE }
}

/// Only writes, but for a root that broadcasts.
pub(super) fn writes(output: Slice) -> Data {
    Data::Apart { input: Slice::NONE, output }
}
