//! By node: each node gathers what its ranks have, the first ranks of the nodes swap that, and each
//! broadcasts within its node what has come.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0        1        2        3        4
//!   within                 ab...    ab...    ..cde    ..cde    ..cde
//!   leaders                abcde    <->      abcde
//!   within                 abcde    abcde    abcde    abcde    abcde
//! ```
//!
//! The ranks of each node follow each other, so that the blocks of a node are one run where all lie
//! side by side in rank order. A rank whose output has them otherwise works in scratch memory, and
//! puts them in place at the end; what it sends is the same. What comes from other nodes lies
//! before the run of the own one and behind it: two broadcasts.
//!
//! Cost: that of an allgather and of two broadcasts in the largest node, and of an allgather among
//! the leaders.

use crate::algo::Algorithm;
use crate::algo::gathered_blocks::{self, adjacent};
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, even, writes};
use crate::build::{Builder, Data};
use crate::call::{Block, Call, Collective, Operation, Rank};

/// The algorithm, of an allgather or an allgatherv.
pub(in crate::algo) struct Allgather {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Hierarchical(Allgather { collective: Collective::Allgather });

/// Where the block of each rank begins if all lie side by side, and where the last one ends.
fn bounds(call: &Call) -> Vec<usize> {
    let mut bounds = vec![0];
    for block in gathered_blocks::blocks(call) {
        bounds.push(bounds[bounds.len() - 1] + block.len);
    }
    bounds
}

/// The most elements that a node has.
fn most(call: &Call) -> usize {
    let mut nodes = vec![0; call.nodes.sizes().len()];
    for (rank, block) in gathered_blocks::blocks(call).iter().enumerate() {
        nodes[call.nodes.node(Rank::from_index(rank))] += block.len;
    }
    nodes.into_iter().max().unwrap_or(0)
}

/// Gathers blocks that lie side by side, which all ranks know.
fn gather(blocks: Vec<Block>) -> Operation {
    match even(&blocks) {
        Some(count) => Operation::Allgather { count },
        None => Operation::Allgatherv { blocks: blocks.into() },
    }
}

fn bcast(count: usize) -> Operation {
    Operation::Bcast { count, root: Rank(0) }
}

impl Phases for Allgather {
    const SUMMARY: &'static str =
        "each node gathers, the first ranks of all nodes swap, and each tells its node";

    fn collective(&self) -> Collective {
        self.collective
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        let (nodes, most) = (call.nodes.sizes().len(), most(call));
        let elsewhere = bounds(call)[call.ranks as usize] - most;
        // Of two nodes none has blocks on both sides of its own.
        let sides = if nodes > 2 { 2 } else { 1 };
        let count = most.div_ceil(call.nodes.largest() as usize);
        let mut phases = vec![Operation::Allgather { count }];
        phases.extend((0..sides).map(|_| bcast(elsewhere.div_ceil(sides))));
        phases
    }

    fn between(call: &Call) -> Operation {
        Operation::Allgather { count: most(call) }
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (own, places, bounds) =
            (builder.contribution(), gathered_blocks::blocks(call), bounds(call));
        let bound = |rank: usize| bounds[rank];
        let all = adjacent(&places).unwrap_or_else(|| builder.scratch(bound(places.len())));
        let of_node = part.own(all, bound);
        let is_there = call.in_place && all.buffer == own.buffer;
        let gathered = if is_there { Data::InPlace(of_node) } else { data(own, of_node) };
        part.within(call, builder, gather(part.own_blocks(bound)), gathered);
        part.between(call, builder, gather(part.blocks(bound)), Data::InPlace(all));
        for side in [0..part.start(bound), part.start(bound) + of_node.len..all.len] {
            let side = all.range(side);
            part.within(call, builder, bcast(side.len), writes(side));
        }
        for (rank, place) in places.into_iter().enumerate() {
            builder.copy(all.range(bound(rank)..bound(rank + 1)), place);
        }
    }
}
