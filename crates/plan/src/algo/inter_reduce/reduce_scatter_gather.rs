//! Reduce-scatter, then gather: the group without the root reduces one run of the data at each of
//! its ranks, and all send theirs to the root.
//!
//! ```text
//!   groups 0 1 and 2 3 4     2        3        4        0        1 (root)
//!   runs xyz reduced         x        y        z
//!   gathered                 -------------------------------->   xyz
//! ```
//!
//! Cost: that of a reduce-scatter by recursive halving of `p` ranks; a latency, `p - 1` further
//! messages and `n`, at the root.

use crate::algo::{Algorithm, Refusal, between};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::Cost;
use crate::plan::Slice;

struct ReduceScatterGather;

pub(in crate::algo) const ROW: &dyn Algorithm = &ReduceScatterGather;

impl Algorithm for ReduceScatterGather {
    fn name(&self) -> &'static str {
        "reduce_scatter_gather"
    }

    fn collective(&self) -> Collective {
        Collective::InterReduce
    }

    fn summary(&self) -> &'static str {
        "the group without the root reduces a run at each rank, and all send theirs to the root"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterReduce { count, .. } = call.operation else {
            unreachable!("a reduction between groups is planned")
        };
        let ranks = between::contributors(call).len();
        let messages = ranks.min(count.max(1));
        let gather =
            Cost { rounds: 1, extra_sends: messages - 1, bytes: call.bytes(), ..Cost::default() };
        between::reduced_run_cost(call, [ranks as u32], count).then(gather)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterReduce { count, root, commutative, .. } = call.operation else {
            unreachable!("a reduction between groups is planned")
        };
        let contributors = between::contributors(call);
        if contributors.contains(&call.rank.0) {
            let sum: Slice = between::reduced_run(call, builder, commutative).place;
            builder.send(root, sum);
        } else if call.rank == root {
            let output = builder.output();
            for (rank, run) in between::runs(count, contributors) {
                builder.recv(rank, output.range(run));
            }
        }
    }
}
