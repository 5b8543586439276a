//! Chain: the sum goes from rank to rank to the last one, and the result comes back.
//!
//! ```text
//!   3 ranks      0            1            2
//!   sums         a0 ->        a0a1 ->      a0a1a2
//!   result       <-           <-           <-
//! ```
//!
//! Operands stay in rank order, so the operator need not commute. One rank does the last reduction
//! and all others copy its result, so all ranks have the same bits.
//!
//! Cost: `2 (p - 1) (latency + n)` and `p - 1` reductions of `n`.

use crate::algo::{Algorithm, Refusal, operand_placement};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

struct Chain;

pub(in crate::algo) const ROW: &dyn Algorithm = &Chain;

impl Algorithm for Chain {
    fn name(&self) -> &'static str {
        "chain" // the name of the file
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "the sum goes to the last rank, and the result comes back"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(()) // or `accepts_commutative(call)`, for instance
    }

    // The longest chain of work.
    fn cost(&self, call: &Call) -> Cost {
        let (hops, n) = (call.ranks as usize - 1, call.bytes());
        let (bytes, reduced) = (n.saturating_mul(2 * hops), n.saturating_mul(hops));
        Cost { rounds: 2 * hops, bytes, reduced, ..Cost::default() }
    }

    // What all ranks do together.
    fn work(&self, call: &Call) -> AggregateWork {
        let Cost { rounds, bytes, reduced, .. } = self.cost(call);
        let (ranks, waits, messages) = (call.ranks as usize, rounds, rounds);
        let work =
            AggregateWork { ranks, waits, messages, bytes, reduced, ..AggregateWork::default() };
        work.reaching(DistancePattern::Neighbours)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let before = call.rank.0.checked_sub(1).map(Rank);
        let after = Some(call.rank.0 + 1).filter(|&after| after < call.ranks).map(Rank);
        let mut sum = own;
        if let Some(before) = before {
            let theirs = operand_placement::place(builder, own, output);
            builder.recv(before, theirs);
            builder.reduce(theirs, own, output);
            sum = output;
        }
        if let Some(after) = after {
            builder.send(after, sum);
            builder.recv(after, output);
        } else {
            builder.copy(sum, output); // nothing, if it is there
        }
        if let Some(before) = before {
            builder.send(before, output);
        }
    }
}
