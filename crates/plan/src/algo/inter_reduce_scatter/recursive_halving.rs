//! Recursive halving: each group reduces one run of the data at each of its ranks, and hands the
//! runs over to their owners in the other group.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0        1        2        3        4
//!   six elements reduced     ab 0-2   ab 3-5   cde 0-1  cde 2-3  cde 4-5
//!   handed over              cde 0-2  cde 3-5  ab 0-1   ab 2-3   ab 4-5
//!   shared out               cde 0    cde 1-5  ab 0-3            ab 4-5
//! ```
//!
//! A group does not know the blocks of the other. So a run is handed over to the rank that would
//! own it if all blocks had one length, and that group shares out what it gets among itself.
//!
//! Cost: that of a reduce-scatter by recursive halving; twice a latency, a few further messages and
//! `n / q`, for `n` in all and `q` ranks in the smaller group. How many messages the sharing out
//! takes depends on the blocks, which are not known to all: counted as one.

use crate::algo::{Algorithm, Refusal, between};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::Cost;

struct RecursiveHalving;

pub(in crate::algo) const ROW: &dyn Algorithm = &RecursiveHalving;

impl Algorithm for RecursiveHalving {
    fn name(&self) -> &'static str {
        "recursive_halving"
    }

    fn collective(&self) -> Collective {
        Collective::InterReduceScatter
    }

    fn summary(&self) -> &'static str {
        "each group reduces a run at each rank and hands it over; what it gets it shares out"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let count = between::shared_out(call);
        let [first, second] = between::sizes(call);
        let run = count.div_ceil(first.min(second) as usize).saturating_mul(call.element_bytes);
        between::reduced_run_cost(call, [first, second], count)
            .then(between::hand_over_cost(call, count))
            .then(between::message(run))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterReduceScatter { counts, commutative, .. } = &call.operation else {
            unreachable!("a reduce-scatter between groups is planned")
        };
        let (groups, count) = (between::groups(call), between::shared_out(call));
        let held = between::reduced_run(call, builder, *commutative);
        let run = between::own_run_of(call, count);
        let wanted = between::Piece { place: builder.scratch(run.len()), run };
        held.hand_over(builder, between::runs(count, groups.far.clone()));
        wanted.collect(builder, between::runs(count, groups.far.clone()));

        let blocks = between::blocks(groups.near.clone(), counts);
        let own = between::Piece {
            run: blocks[groups.position(call.rank)].1.clone(),
            place: builder.output(),
        };
        wanted.hand_over(builder, blocks.iter().cloned());
        own.collect(builder, between::runs(count, groups.near));
        // Last, as nobody waits for it.
        own.copy_own(builder, &wanted);
    }
}
