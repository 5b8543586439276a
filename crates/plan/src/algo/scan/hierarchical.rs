//! By node: each node scans, the last rank of each tells the nodes behind what all before them have
//! come to, and each node adds that.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0      1      2      3      4
//!   scan    within         a      ab     c      cd     cde
//!           last ranks                                 ab
//!           within         a      ab     abc    abcd   abcde
//!   exscan  within                a             c      cd
//!           last ranks            ab ->                ab
//!           within                a      ab     abc    abcd
//! ```
//!
//! The ranks of each node follow each other, so operands are in rank order. The last rank of a node
//! has the sum of all its ranks already; in an exscan it adds its own data first, and the first
//! rank of a node has nothing to add what comes to.
//!
//! Cost: that of a scan and a broadcast in the largest node, of an exscan among the last ranks, and
//! one or two reductions.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, writes};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::plan::Slice;

/// The algorithm, of a scan or an exscan.
pub(in crate::algo) struct Scan {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Hierarchical(Scan { collective: Collective::Scan });

/// What the ranks of a node bring to the nodes behind and to their own result.
struct Sums {
    /// At the last rank, of all ranks of the node.
    of_node: Slice,
    /// What the rank has come to within its node; nothing for the first one of an exscan.
    own: Option<Slice>,
}

/// Scans within the node.
fn scan(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) -> Sums {
    let (own, output) = (builder.contribution(), builder.output());
    let within = |builder: &mut Builder<'_>| {
        part.within(call, builder, call.operation.clone(), data(own, output));
    };
    if matches!(call.operation, Operation::Scan { .. }) {
        within(builder);
        return Sums { of_node: output, own: Some(output) };
    }
    let before = (part.ranks().start != call.rank.index()).then_some(output);
    if !part.leads() {
        within(builder);
        return Sums { of_node: Slice::NONE, own: before };
    }
    let mut kept = own;
    if call.in_place {
        // What lies there is overwritten before it is added.
        kept = builder.scratch(own.len);
        builder.copy(own, kept);
    }
    within(builder);
    let Some(before) = before else { return Sums { of_node: kept, own: None } };
    let of_node = builder.scratch(own.len);
    builder.reduce(before, kept, of_node);
    Sums { of_node, own: Some(before) }
}

impl Phases for Scan {
    const SUMMARY: &'static str =
        "each node scans, its last rank tells the nodes behind, and they add that";

    fn collective(&self) -> Collective {
        self.collective
    }

    fn needs_runs(_: &Call) -> bool {
        true
    }

    fn within(call: &Call) -> Vec<Operation> {
        let count = call.contribution().len;
        vec![call.operation.clone(), Operation::Bcast { count, root: Rank(0) }]
    }

    fn between(call: &Call) -> Operation {
        let commutative = call.operation.commutative() == Some(true);
        Operation::Exscan { count: call.contribution().len, commutative }
    }

    fn leaders(call: &Call) -> Vec<Rank> {
        call.nodes.last_ranks()
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (output, sums) = (builder.output(), scan(call, builder, part));
        let earlier = builder.scratch(output.len);
        part.between(call, builder, Self::between(call), data(sums.of_node, earlier));
        if part.node() == 0 {
            return; // There is nothing before the first node.
        }
        let bcast = Operation::Bcast { count: output.len, root: part.leader() };
        part.within(call, builder, bcast, writes(earlier));
        match sums.own {
            Some(own) => builder.reduce(earlier, own, output),
            None => builder.copy(earlier, output),
        }
    }
}
