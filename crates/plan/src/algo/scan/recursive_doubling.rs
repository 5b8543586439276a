//! Recursive doubling: in round `k` each rank passes the sum it has to the rank `2^k` after it.
//!
//! ```text
//!   5 ranks      0      1      2      3      4
//!   start        0      1      2      3      4
//!   round 0      0      01     12     23     34        from the rank 1 before
//!   round 1      0      01     012    0123   1234      from the rank 2 before
//!   round 2      0      01     012    0123   01234     from the rank 4 before
//! ```
//!
//! A sum is always that of a run of ranks which ends at the rank itself, and what comes is the sum
//! of the run just before it, on its left: the operator need not commute, and any number of ranks
//! will do. A rank whose run has reached rank 0 has its result, and only passes it on.
//!
//! Cost: `⌈log2 p⌉ (latency + n + reduction of n)`.
//!
//! Paper: Hillis and Steele, *Data parallel algorithms*, 1986.

use crate::algo::operand_placement::Places;
use crate::algo::shape::{doublings, later};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost};

struct RecursiveDoubling;

pub(in crate::algo) const ROW: &dyn Algorithm = &RecursiveDoubling;

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive_doubling"
    }

    fn collective(&self) -> Collective {
        Collective::Scan
    }

    fn summary(&self) -> &'static str {
        "each rank passes its sum to ranks 1, 2, 4, ... after it"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let rounds = doublings(call.ranks) as usize;
        let bytes = call.bytes().saturating_mul(rounds);
        Cost { rounds, bytes, reduced: bytes, ..Cost::default() }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let flow = AggregateWork::flow(call.ranks, later(call.ranks), call.bytes());
        AggregateWork { reduced: flow.bytes, ..flow }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (me, rounds) = (call.rank.0, doublings(call.ranks));
        let output = builder.output();
        let mut incoming = Places::new(output.len);
        let mut sum = builder.contribution();
        for round in 0..rounds {
            let distance = 1 << round;
            if distance < call.ranks - me {
                builder.send(Rank(me + distance), sum);
            }
            if distance <= me {
                let theirs = incoming.next(builder, sum, output);
                builder.recv(Rank(me - distance), theirs);
                builder.reduce(theirs, sum, output);
                sum = output;
            }
        }
        builder.copy(sum, output);
    }
}
