//! By node: the root sends to a rank of each node, and these broadcast within their nodes.
//!
//! ```text
//!   nodes 0 1 and 2 3 4, root 1
//!   leaders      1 -> 2
//!   within       1 -> 0      2 -> 3 4
//! ```
//!
//! The leaders of the nodes are the root and the [first](crate::algo::hierarchical) of each other
//! node.
//!
//! Cost: that of a broadcast among the leaders, and of one in the largest node.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, writes};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};

struct Bcast;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical(Bcast);

fn operation(call: &Call, root: Rank) -> Operation {
    let Operation::Bcast { count, .. } = call.operation else {
        unreachable!("a broadcast is planned")
    };
    Operation::Bcast { count, root }
}

impl Phases for Bcast {
    const SUMMARY: &'static str =
        "the root sends to one rank of each node, and these to their node";

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn needs_runs(_: &Call) -> bool {
        false
    }

    fn within(call: &Call) -> Vec<Operation> {
        vec![operation(call, Rank(0))]
    }

    fn between(call: &Call) -> Operation {
        operation(call, Rank(0))
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let data = writes(builder.output());
        part.between(call, builder, operation(call, part.root(call)), data);
        part.within(call, builder, operation(call, part.leader()), data);
    }
}
