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
//! The ranks of each node follow each other, so that the blocks of a node are one run. What comes
//! from other nodes lies before that run and behind it: two broadcasts.
//!
//! Cost: that of an allgather and of two broadcasts in the largest node, and of an allgather among
//! the leaders.

use crate::algo::Algorithm;
use crate::algo::by_node::{ByNode, Part, Phases, data, writes};
use crate::build::{Builder, Data};
use crate::call::{Call, Collective, Operation, Rank};

struct Allgather;

pub(in crate::algo) const ROW: &dyn Algorithm = &ByNode(Allgather);

/// Length of one rank's block.
fn count(call: &Call) -> usize {
    let Operation::Allgather { count } = call.operation else {
        unreachable!("an allgather is planned")
    };
    count
}

fn bcast(count: usize) -> Operation {
    Operation::Bcast { count, root: Rank(0) }
}

impl Phases for Allgather {
    const COLLECTIVE: Collective = Collective::Allgather;
    const SUMMARY: &'static str =
        "each node gathers, the first ranks of all nodes swap, and each tells its node";

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        let (count, nodes) = (count(call), call.nodes.sizes().len());
        let elsewhere = count * call.ranks as usize - count * call.nodes.largest() as usize;
        // Of two nodes none has blocks on both sides of its own.
        let sides = if nodes > 2 { 2 } else { 1 };
        let mut phases = vec![Operation::Allgather { count }];
        phases.extend((0..sides).map(|_| bcast(elsewhere.div_ceil(sides))));
        phases
    }

    fn between(call: &Call) -> Operation {
        Operation::Allgather { count: count(call) * call.nodes.largest() as usize }
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &Part) {
        let (own, all, count) = (builder.contribution(), builder.output(), count(call));
        let of_node = part.own(all, count);
        let gathered = if call.in_place { Data::InPlace(of_node) } else { data(own, of_node) };
        part.within(call, builder, Operation::Allgather { count }, gathered);
        let swap = match part.even(count) {
            Some(count) => Operation::Allgather { count },
            None => Operation::Allgatherv { blocks: part.blocks(count).into() },
        };
        part.between(call, builder, swap, Data::InPlace(all));
        for side in [all.range(0..of_node.start), all.range(of_node.end()..all.len)] {
            part.within(call, builder, bcast(side.len), writes(side));
        }
    }
}
