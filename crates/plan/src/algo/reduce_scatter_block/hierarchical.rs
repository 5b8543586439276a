//! By node: each node reduces to its first rank; these reduce among themselves what their nodes are
//! to have, and deal it out.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0        1        2        3        4
//!   within                 01234    ->       01234    <-       <-      of the node's ranks
//!   leaders                01                234                       of all ranks
//!   within                 0        1        2        3        4
//! ```
//!
//! The ranks of each node follow each other, so the blocks of a node are one run, and operands are
//! in rank order.
//!
//! Cost: that of a reduction and a scatter in the largest node, and of a reduction among the
//! leaders that leaves a part with each.

use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, even, reads, writes};
use crate::algo::{Algorithm, scattered_blocks};
use crate::build::Builder;
use crate::call::{Block, Blocks, Call, Collective, Operation, Rank};

/// The algorithm, for blocks of one length or of several.
pub(in crate::algo) struct ReduceScatterBlock {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Hierarchical(ReduceScatterBlock { collective: Collective::ReduceScatterBlock });

fn commutes(call: &Call) -> bool {
    call.operation.commutative() == Some(true)
}

/// The length of the largest block, in elements.
fn largest(call: &Call) -> usize {
    scattered_blocks::blocks(call).iter().map(|block| block.len).max().unwrap_or(0)
}

/// What the leaders call, with a block for each node.
fn swap(blocks: &[Block], commutative: bool) -> Operation {
    match even(blocks) {
        Some(count) => Operation::ReduceScatterBlock { count, commutative },
        None => {
            let counts = blocks.iter().map(|block| block.count).collect();
            Operation::ReduceScatter { counts, commutative }
        }
    }
}

/// What the ranks of a node call to get the blocks that the leader has.
fn deal(blocks: Vec<Block>, part: &NodeRole, own: usize) -> Operation {
    let root = part.leader();
    match even(&blocks) {
        Some(count) => Operation::Scatter { count, root },
        None if part.leads() => Operation::Scatterv { blocks: Blocks::All(blocks.into()), root },
        None => Operation::Scatterv { blocks: Blocks::Own(own), root },
    }
}

impl Phases for ReduceScatterBlock {
    const SUMMARY: &'static str =
        "each node reduces to its first rank, these share the sum, and deal it out";

    fn collective(&self) -> Collective {
        self.collective
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        let (root, count) = (Rank(0), call.contribution().len);
        let reduce = Operation::Reduce { count, root, commutative: commutes(call) };
        vec![reduce, Operation::Scatter { count: largest(call), root }]
    }

    fn between(call: &Call) -> Operation {
        let count = largest(call) * call.nodes.largest() as usize;
        Operation::ReduceScatterBlock { count, commutative: commutes(call) }
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (own, blocks) = (builder.contribution(), scattered_blocks::blocks(call));
        let bound = |rank: usize| blocks.get(rank).map_or(own.len, |block| block.start - own.start);
        // In place the output goes on behind the result.
        let result = builder.output().sub(0, blocks[call.rank.index()].len);
        let (count, root, commutative) = (own.len, part.leader(), commutes(call));
        let reduce = Operation::Reduce { count, root, commutative };
        let mates = part.own_blocks(bound);
        let of_node: usize = mates.iter().map(|block| block.count).sum();
        let deal = deal(mates, part, result.len);
        if !part.leads() {
            part.within(call, builder, reduce, reads(own));
            return part.within(call, builder, deal, writes(result));
        }
        let [sum, shared] = [count, of_node].map(|len| builder.scratch(len));
        part.within(call, builder, reduce, data(own, sum));
        part.between(call, builder, swap(&part.blocks(bound), commutative), data(sum, shared));
        part.within(call, builder, deal, data(shared, result));
    }
}
