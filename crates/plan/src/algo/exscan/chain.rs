//! Chain: each rank receives the result of the one before it with that one's own data, which is
//! its own result, and passes it on with its data.
//!
//! ```text
//!   4 ranks      0          1                2                     3
//!   has          a0         a1               a2                    a3
//!   receives                a0               a0 ∘ a1               (a0 ∘ a1) ∘ a2
//!   passes on    a0         a0 ∘ a1          (a0 ∘ a1) ∘ a2
//! ```
//!
//! The reduction goes from left to right, so the operator need not commute.
//!
//! Cost and use: those of the chain of an inclusive scan, less the
//! last reduction.

use crate::algo::scan::chain;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost};
use crate::plan::Buffer;

struct Chain;

pub(in crate::algo) const ROW: &dyn Algorithm = &Chain;

impl Algorithm for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn collective(&self) -> Collective {
        Collective::Exscan
    }

    fn summary(&self) -> &'static str {
        "each rank passes on what it has received, with its own added"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let cost = chain::cost(call);
        Cost { reduced: cost.reduced.saturating_sub(call.bytes()), ..cost }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let work = chain::work(call);
        AggregateWork { reduced: work.reduced.saturating_sub(call.bytes()), ..work }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let Rank(me) = call.rank;
        let passes_on = me + 1 < call.ranks;
        if me == 0 {
            if passes_on {
                builder.send(Rank(1), own);
            }
            return;
        }
        // In place the own data lies where the result goes, and is needed once more.
        let is_needed = passes_on && own.buffer == Buffer::Output;
        let earlier = if is_needed { builder.scratch(own.len) } else { output };
        builder.recv(Rank(me - 1), earlier);
        if passes_on {
            let sum = builder.scratch(own.len);
            builder.reduce(earlier, own, sum);
            builder.send(Rank(me + 1), sum);
        }
        builder.copy(earlier, output);
    }
}
