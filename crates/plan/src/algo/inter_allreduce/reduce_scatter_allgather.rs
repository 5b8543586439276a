//! Reduce-scatter, then allgather: each group reduces one run of the data at each of its ranks,
//! hands the runs over to the other, and gathers those it gets.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0        1        2        3        4
//!   six elements reduced     ab 0-2   ab 3-5   cde 0-1  cde 2-3  cde 4-5
//!   handed over              cde 0-2  cde 3-5  ab 0-1   ab 2-3   ab 4-5
//!   gathered                 cde 0-5  cde 0-5  ab 0-5   ab 0-5   ab 0-5
//! ```
//!
//! The groups need not have one size: a run is handed over in as many pieces as it takes. Each
//! element is reduced at one rank and then only copied, so all ranks of a group have the same bits.
//!
//! Cost: that of a reduce-scatter by recursive halving; a latency, a few further messages and
//! `n / q`, for `q` ranks in the smaller group; and that of an allgather, by recursive doubling if
//! the group has a power of two, and else round a ring.

use crate::algo::{Algorithm, Refusal, allgatherv, between};
use crate::build::{Builder, Data, Phase};
use crate::call::{Block, Call, Collective, Operation};
use crate::cost::Cost;

struct ReduceScatterAllgather;

pub(in crate::algo) const ROW: &dyn Algorithm = &ReduceScatterAllgather;

impl Algorithm for ReduceScatterAllgather {
    fn name(&self) -> &'static str {
        "reduce_scatter_allgather"
    }

    fn collective(&self) -> Collective {
        Collective::InterAllreduce
    }

    fn summary(&self) -> &'static str {
        "each group reduces a run at each rank, hands the runs over, and gathers what it gets"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterAllreduce { count, .. } = call.operation else {
            unreachable!("an allreduce between groups is planned")
        };
        let sizes = between::sizes(call);
        let gathering =
            sizes.map(|ranks| gather(ranks).cost_within(call, ranks, runs(count, ranks)));
        between::reduced_run_cost(call, sizes, count)
            .then(between::hand_over_cost(call, count))
            .then(gathering[0].beside(gathering[1]))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterAllreduce { count, commutative, .. } = call.operation else {
            unreachable!("an allreduce between groups is planned")
        };
        let (groups, near, output) = (between::groups(call), between::near(call), builder.output());
        let held = between::reduced_run(call, builder, commutative);
        let wanted = between::own_run(call, output);
        held.hand_over(builder, between::runs(count, groups.far.clone()));
        wanted.collect(builder, between::runs(count, groups.far));
        let ranks = near.len() as u32;
        let (operation, data) = (runs(count, ranks), Data::InPlace(output));
        builder.within(gather(ranks), &Phase { members: &near, operation, data });
    }
}

/// The row by which a group of this number of ranks gathers its runs.
fn gather(ranks: u32) -> &'static dyn Algorithm {
    if ranks.is_power_of_two() {
        allgatherv::recursive_doubling::ROW
    } else {
        allgatherv::ring::ROW
    }
}

/// The allgather of the runs of a group of this number of ranks.
fn runs(count: usize, ranks: u32) -> Operation {
    let block = |run: std::ops::Range<usize>| Block { start: run.start, count: run.len() };
    let blocks = between::runs(count, 0..ranks).map(|(_, run)| block(run)).collect();
    Operation::Allgatherv { blocks }
}
