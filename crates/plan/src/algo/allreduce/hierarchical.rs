//! By node: each node reduces to its first rank, these reduce among themselves, and each
//! broadcasts within its node.
//!
//! ```text
//!   nodes 0 1 and 2 3 4    0        1        2        3        4
//!   within                 ab       ->       cde      <-       <-
//!   leaders                abcde    <->      abcde
//!   within                 abcde    abcde    abcde    abcde    abcde
//! ```
//!
//! The leaders have the same bits, whatever algorithm they use, and all others copies of them.
//! Operands are in rank order where the ranks of each node follow each other, as they must if the
//! operator does not commute.
//!
//! Cost: that of a reduction and a broadcast in the largest node, and of an allreduce among the
//! leaders.

use crate::algo::Algorithm;
use crate::algo::hierarchical::{Hierarchical, NodeRole, Phases, data, reads, writes};
use crate::build::{Builder, Data};
use crate::call::{Call, Collective, Operation, Rank};

struct Allreduce;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical(Allreduce);

impl Phases for Allreduce {
    const SUMMARY: &'static str =
        "each node reduces to its first rank, these among themselves, and each tells its node";

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn needs_runs(call: &Call) -> bool {
        call.operation.commutative() == Some(false)
    }

    fn within(call: &Call) -> Vec<Operation> {
        let Operation::Allreduce { count, commutative } = call.operation else {
            unreachable!("an allreduce is planned")
        };
        let root = Rank(0);
        vec![Operation::Reduce { count, root, commutative }, Operation::Bcast { count, root }]
    }

    fn between(call: &Call) -> Operation {
        call.operation.clone()
    }

    fn build(call: &Call, builder: &mut Builder<'_>, part: &NodeRole) {
        let (own, output) = (builder.contribution(), builder.output());
        let sum = if part.leads() { data(own, output) } else { reads(own) };
        let [reduce, bcast] = [0, 1].map(|phase| Self::within(call).swap_remove(phase));
        part.within(call, builder, reduce, sum);
        part.between(call, builder, Self::between(call), Data::InPlace(output));
        part.within(call, builder, bcast, writes(output));
    }
}
