//! By node: each node scans, the last rank of each tells the nodes behind what all before them have
//! come to, and each node adds that.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0      1      2      3      4
//!   within                 a      ab     c      cd     cde
//!   last ranks                                         ab
//!   within                 a      ab     abc    abcd   abcde
//! ```
//!
//! The ranks of each node follow each other, so operands are in rank order. The last rank of a node
//! has the sum of all its ranks already.
//!
//! Cost: that of a scan and a broadcast in the largest node, of an exscan among the last ranks, and
//! a reduction.

use crate::algo::Algorithm;
use crate::algo::by_node::{ByNode, Part, Phases, data, writes};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::plan::Slice;

struct Scan;

pub(in crate::algo) const ROW: &dyn Algorithm = &ByNode(Scan);

/// Length of the data, and whether the operator commutes.
fn figures(call: &Call) -> (usize, bool) {
    match call.operation {
        Operation::Scan { count, commutative } | Operation::Exscan { count, commutative } => {
            (count, commutative)
        }
        _ => unreachable!("a scan is planned"),
    }
}

/// What the last ranks call, here and where results leave out the rank itself.
pub(in crate::algo) fn between(call: &Call) -> Operation {
    let (count, commutative) = figures(call);
    Operation::Exscan { count, commutative }
}

/// What the ranks of a node call, which begin with `first`.
pub(in crate::algo) fn within(call: &Call, first: Operation) -> Vec<Operation> {
    let (count, _) = figures(call);
    vec![first, Operation::Bcast { count, root: Rank(0) }]
}

/// Tells all ranks of a node what all nodes before it have come to: `sum` is that of the own node,
/// which its leader has. There is nothing before the first node.
pub(in crate::algo) fn earlier(
    call: &Call,
    builder: &mut Builder<'_>,
    part: &Part,
    sum: Slice,
) -> Option<Slice> {
    let (count, _) = figures(call);
    let earlier = builder.scratch(count);
    part.between(call, builder, between(call), data(sum, earlier));
    if part.node() == 0 {
        return None;
    }
    let bcast = Operation::Bcast { count, root: part.leader() };
    part.within(call, builder, bcast, writes(earlier));
    Some(earlier)
}

impl Phases for Scan {
    const SUMMARY: &'static str =
        "each node scans, its last rank tells the nodes behind, and they add that";

    fn collective(&self) -> Collective {
        Collective::Scan
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        within(call, call.operation.clone())
    }

    fn between(call: &Call) -> Operation {
        between(call)
    }

    fn leaders(call: &Call) -> Vec<Rank> {
        call.nodes.last_ranks()
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &Part) {
        let (own, output) = (builder.contribution(), builder.output());
        part.within(call, builder, call.operation.clone(), data(own, output));
        if let Some(earlier) = earlier(call, builder, part, output) {
            builder.reduce(earlier, output, output);
        }
    }
}
