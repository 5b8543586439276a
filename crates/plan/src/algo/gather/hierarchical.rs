//! By node: each node gathers at one of its ranks, and these send the blocks of their nodes to the
//! root.
//!
//! ```text
//!   nodes 0 1 and 2 3 4, root 1      0     1      2      3     4
//!   within                           ->    ab...  cde    <-    <-
//!   leaders                                abcde  <-
//! ```
//!
//! The ranks of each node follow each other, so that the blocks of a node are one run.
//!
//! Cost: that of a gather in the largest node, and of one among the leaders.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, reads};
use crate::build::{Builder, Data};
use crate::call::{Blocks, Call, Collective, Operation, Rank};

struct Gather;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical(Gather);

/// Length of one rank's block.
fn count(call: &Call) -> usize {
    let Operation::Gather { count, .. } = call.operation else {
        unreachable!("a gather is planned")
    };
    count
}

impl Phases for Gather {
    const SUMMARY: &'static str = "each node gathers at one of its ranks, and these at the root";

    fn collective(&self) -> Collective {
        Collective::Gather
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        vec![Operation::Gather { count: count(call), root: Rank(0) }]
    }

    fn between(call: &Call) -> Operation {
        let count = count(call) * call.nodes.largest() as usize;
        Operation::Gather { count, root: Rank(0) }
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (own, all, count) = (builder.contribution(), builder.output(), count(call));
        let within = Operation::Gather { count, root: part.leader() };
        if !part.leads() {
            return part.within(call, builder, within, reads(own));
        }
        let (root, is_root) = (part.root(call), call.operation.root() == Some(call.rank));
        let of_node = if is_root {
            part.own(all, |rank| rank * count)
        } else {
            builder.scratch(part.mates() * count)
        };
        let gathered = if call.in_place { Data::InPlace(of_node) } else { data(own, of_node) };
        part.within(call, builder, within, gathered);
        let blocks = match is_root {
            true => Blocks::All(part.blocks(|rank| rank * count).into()),
            false => Blocks::Own(of_node.len),
        };
        let between = match part.even(|rank| rank * count) {
            Some(count) => Operation::Gather { count, root },
            None => Operation::Gatherv { blocks, root },
        };
        let sent = if is_root { Data::InPlace(all) } else { reads(of_node) };
        part.between(call, builder, between, sent);
    }
}
