//! Leaders: each group reduces to its first rank, these two swap, and each group broadcasts.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0        1        2        3        4
//!   reduce                   ab                cde
//!   swap                     cde               ab
//!   broadcast                cde      cde      ab       ab       ab
//! ```
//!
//! Operands are in rank order, and each result is computed once and then only copied, so all ranks
//! of a group have the same bits.
//!
//! Cost: that of a binomial reduction in one group, a message of `n`, and a binomial broadcast in
//! the other. Where the groups take different numbers of rounds, one further message: the swap
//! meets the reduction.

use crate::algo::{Algorithm, Refusal, bcast, between, reduce};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::cost::Cost;
use crate::plan::Slice;

struct Leaders;

pub(in crate::algo) const ROW: &dyn Algorithm = &Leaders;

impl Algorithm for Leaders {
    fn name(&self) -> &'static str {
        "leaders"
    }

    fn collective(&self) -> Collective {
        Collective::InterAllreduce
    }

    fn summary(&self) -> &'static str {
        "each group reduces to its first rank, these swap, and each group broadcasts"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterAllreduce { count, commutative, .. } = call.operation else {
            unreachable!("an allreduce between groups is planned")
        };
        let (root, sizes) = (Rank(0), between::sizes(call));
        let one_way = |from: usize, to: usize| {
            let reduce = Operation::Reduce { count, root, commutative };
            let bcast = Operation::Bcast { count, root };
            reduce::binomial::ROW
                .cost_within(call, sizes[from], reduce)
                .then(between::swap_cost(call, call.bytes()))
                .then(bcast::binomial::ROW.cost_within(call, sizes[to], bcast))
        };
        one_way(0, 1).beside(one_way(1, 0))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterAllreduce { count, commutative, .. } = call.operation else {
            unreachable!("an allreduce between groups is planned")
        };
        let (own, output, root) = (builder.contribution(), builder.output(), Rank(0));
        let mut sum = own;
        if between::near(call).len() > 1 {
            sum = between::room_of_leader(call, builder, count);
            let operation = Operation::Reduce { count, root, commutative };
            between::within_near(call, builder, reduce::binomial::ROW, operation, (own, sum));
        }
        if let Some(leader) = between::other_leader(call) {
            builder.send(leader, sum);
            builder.recv(leader, output);
        }
        let (operation, data) = (Operation::Bcast { count, root }, (Slice::NONE, output));
        between::within_near(call, builder, bcast::binomial::ROW, operation, data);
    }
}
