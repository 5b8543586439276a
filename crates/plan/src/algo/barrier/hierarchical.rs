//! By node: each node tells its first rank, these tell each other, and each tells its node.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0        1        2        3        4
//!   within                 01       ->       234      <-       <-
//!   leaders                01234    <->      01234
//!   within                 01234    01234    01234    01234    01234
//! ```
//!
//! What the ranks pass on are their tokens: a gather, an allgather and a broadcast of no bytes.
//!
//! Cost: that of a gather and a broadcast in the largest node, and of an allgather among the
//! leaders.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, reads, writes};
use crate::build::{Builder, Data};
use crate::call::{Call, Collective, Operation, Rank};

struct Barrier;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical(Barrier);

impl Phases for Barrier {
    const SUMMARY: &'static str =
        "each node tells its first rank, these tell each other, and each tells its node";

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn needs_runs(_: &Call) -> bool {
        false
    }

    fn within(call: &Call) -> Vec<Operation> {
        let (count, root) = (call.ranks as usize, Rank(0));
        vec![Operation::Gather { count: 1, root }, Operation::Bcast { count, root }]
    }

    fn between(call: &Call) -> Operation {
        Operation::Allgather { count: call.nodes.largest() as usize }
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let own = builder.scratch(1);
        // In the order of nodes, whatever ranks they have.
        let all = builder.scratch(call.ranks as usize);
        let told = if part.leads() { data(own, part.own(all, |rank| rank)) } else { reads(own) };
        let [gather, bcast] = [0, 1].map(|phase| Self::within(call).swap_remove(phase));
        part.within(call, builder, gather, told);
        let swap = match part.even(|rank| rank) {
            Some(count) => Operation::Allgather { count },
            None => Operation::Allgatherv { blocks: part.blocks(|rank| rank).into() },
        };
        part.between(call, builder, swap, Data::InPlace(all));
        part.within(call, builder, bcast, writes(all));
    }
}
