//! By node: the root sends to one rank of each node the blocks of that node, and these deal them
//! out.
//!
//! ```text
//!   nodes 0 1 and 2 3 4, root 1      0     1      2      3     4
//!   leaders                                abcde  cde
//!   within                           a     b      c      d     e
//! ```
//!
//! The ranks of each node follow each other, so that the blocks of a node are one run.
//!
//! Cost: that of a scatter among the leaders, and of one in the largest node.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, writes};
use crate::build::{Builder, Data};
use crate::call::{Blocks, Call, Collective, Operation, Rank};

struct Scatter;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical(Scatter);

/// Length of one rank's block.
fn count(call: &Call) -> usize {
    let Operation::Scatter { count, .. } = call.operation else {
        unreachable!("a scatter is planned")
    };
    count
}

impl Phases for Scatter {
    const SUMMARY: &'static str = "the root deals out to one rank of each node, and these in it";

    fn collective(&self) -> Collective {
        Collective::Scatter
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        vec![Operation::Scatter { count: count(call), root: Rank(0) }]
    }

    fn between(call: &Call) -> Operation {
        let count = count(call) * call.nodes.largest() as usize;
        Operation::Scatter { count, root: Rank(0) }
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (all, own, count) = (builder.input(), builder.output(), count(call));
        let within = Operation::Scatter { count, root: part.leader() };
        if !part.leads() {
            return part.within(call, builder, within, writes(own));
        }
        let (root, is_root) = (part.root(call), call.operation.root() == Some(call.rank));
        let of_node = if is_root {
            part.own(all, |rank| rank * count)
        } else {
            builder.scratch(part.mates() * count)
        };
        let blocks = match is_root {
            true => Blocks::All(part.blocks(|rank| rank * count).into()),
            false => Blocks::Own(of_node.len),
        };
        let between = match part.even(|rank| rank * count) {
            Some(count) => Operation::Scatter { count, root },
            None => Operation::Scatterv { blocks, root },
        };
        // The blocks of its own node the root leaves where they are.
        let dealt = if is_root { Data::InPlace(all) } else { writes(of_node) };
        part.between(call, builder, between, dealt);
        let own = if call.in_place { Data::InPlace(of_node) } else { data(of_node, own) };
        part.within(call, builder, within, own);
    }
}
