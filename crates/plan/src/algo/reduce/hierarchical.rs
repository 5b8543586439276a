//! By node: each node reduces to one of its ranks, and these reduce to the root.
//!
//! ```text
//!   nodes 0 1 and 2 3 4, root 1      0     1      2      3     4
//!   within                           ->    ab     cde    <-    <-
//!   leaders                                abcde  <-
//! ```
//!
//! The leaders of the nodes are the root and the [first](crate::algo::hierarchical) of each other
//! node. Operands are in rank order where the ranks of each node follow each other, as they must if
//! the operator does not commute.
//!
//! Cost: that of a reduction in the largest node, and of one among the leaders.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, reads};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};

struct Reduce;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical(Reduce);

fn operation(call: &Call, root: Rank) -> Operation {
    let Operation::Reduce { count, commutative, .. } = call.operation else {
        unreachable!("a reduction is planned")
    };
    Operation::Reduce { count, root, commutative }
}

impl Phases for Reduce {
    const SUMMARY: &'static str = "each node reduces to one of its ranks, and these to the root";

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn needs_runs(call: &Call) -> bool {
        call.operation.commutative() == Some(false)
    }

    fn within(call: &Call) -> Vec<Operation> {
        vec![operation(call, Rank(0))]
    }

    fn between(call: &Call) -> Operation {
        operation(call, Rank(0))
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (own, output) = (builder.contribution(), builder.output());
        let within = operation(call, part.leader());
        if !part.leads() {
            return part.within(call, builder, within, reads(own));
        }
        let is_root = call.operation.root() == Some(call.rank);
        let sum = if is_root { output } else { builder.scratch(own.len) };
        part.within(call, builder, within, data(own, sum));
        let result = if is_root { data(sum, output) } else { reads(sum) };
        part.between(call, builder, operation(call, part.root(call)), result);
    }
}
