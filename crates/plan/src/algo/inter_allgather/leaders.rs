//! Leaders: each group gathers at its first rank, these two swap, and each group broadcasts.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0        1        2        3        4
//!   gather                   ab                cde
//!   swap                     cde               ab
//!   broadcast                cde      cde      ab       ab       ab
//! ```
//!
//! One message passes between the groups each way, and within them there are rounds that double.
//!
//! Cost: that of a binomial gather of one group, a message of all its blocks, and a binomial
//! broadcast of them in the other. Where the groups take different numbers of rounds, one further
//! message: the swap meets the gather.

use crate::algo::{Algorithm, Refusal, bcast, between, gather};
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
        Collective::InterAllgather
    }

    fn summary(&self) -> &'static str {
        "each group gathers at its first rank, these swap, and each group broadcasts"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterAllgather { counts, .. } = call.operation else {
            unreachable!("an allgather between groups is planned")
        };
        let sizes = between::sizes(call);
        let one_way = |from: usize, to: usize| {
            let (count, root) = (counts[from], Rank(0));
            let all = count * sizes[from] as usize;
            if all == 0 {
                return Cost::default();
            }
            let gather = Operation::Gather { count, root };
            let bcast = Operation::Bcast { count: all, root };
            gather::binomial::ROW
                .cost_within(call, sizes[from], gather)
                .then(between::swap_cost(call, all * call.element_bytes))
                .then(bcast::binomial::ROW.cost_within(call, sizes[to], bcast))
        };
        one_way(0, 1).beside(one_way(1, 0))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output, root) = (builder.contribution(), builder.output(), Rank(0));
        let all = between::room_of_leader(call, builder, own.len * between::near(call).len());
        let operation = Operation::Gather { count: own.len, root };
        between::within_near(call, builder, gather::binomial::ROW, operation, (own, all));
        if let Some(leader) = between::other_leader(call) {
            builder.send(leader, all);
            builder.recv(leader, output);
        }
        let operation = Operation::Bcast { count: output.len, root };
        let data = (Slice::NONE, output);
        between::within_near(call, builder, bcast::binomial::ROW, operation, data);
    }
}
