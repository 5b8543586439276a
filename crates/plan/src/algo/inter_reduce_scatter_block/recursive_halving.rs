//! Recursive halving: each group reduces one run of the data at each of its ranks, and hands the
//! runs over to their owners in the other group.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0        1        2        3        4
//!   six elements reduced     ab 0-2   ab 3-5   cde 0-1  cde 2-3  cde 4-5
//!   handed over              cde 0-2  cde 3-5  ab 0-1   ab 2-3   ab 4-5
//! ```
//!
//! The run that a rank reduces is as long as the block that it owns, as both groups share out the
//! same number of elements.
//!
//! Cost: that of a reduce-scatter by recursive halving; a latency, a few further messages and
//! `n / q`, for `n` in all and `q` ranks in the smaller group.

use crate::algo::{Algorithm, Refusal, between};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

struct RecursiveHalving;

pub(in crate::algo) const ROW: &dyn Algorithm = &RecursiveHalving;

impl Algorithm for RecursiveHalving {
    fn name(&self) -> &'static str {
        "recursive_halving"
    }

    fn collective(&self) -> Collective {
        Collective::InterReduceScatterBlock
    }

    fn summary(&self) -> &'static str {
        "each group reduces a run at each of its ranks and hands the runs over to their owners"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let count = between::shared_out(call);
        between::reduced_run_cost(call, between::sizes(call), count)
            .then(between::hand_over_cost(call, count))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (far, count) = (between::groups(call).far, between::shared_out(call));
        let commutative = call.operation.commutative().unwrap_or(true);
        let held = between::reduced_run(call, builder, commutative);
        let wanted =
            between::Piece { run: between::own_run_of(call, count), place: builder.output() };
        held.hand_over(builder, between::runs(count, far.clone()));
        wanted.collect(builder, between::runs(count, far));
    }
}
