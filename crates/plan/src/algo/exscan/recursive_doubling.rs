//! Recursive doubling: in round `k` each rank passes the sum it has to the rank `2^k` after it.
//!
//! ```text
//!   5 ranks      0      1      2      3      4
//!   round 0      0      01     12     23     34        to pass on: from the rank 1 before
//!                -      0      1      2      3         the result so far
//!   round 1      0      01     012    0123   1234      from the rank 2 before
//!                -      0      01     012    123
//!   round 2      -      0      01     012    0123      from the rank 4 before
//! ```
//!
//! As in a scan, but a rank reduces what comes twice: with its sum, which it passes on, and with
//! the same sum less its own operand, which becomes the result. So there are no more rounds than in
//! a scan; in the last one there is nothing to pass on. Operands stay in rank order.
//!
//! Cost: `⌈log2 p⌉ (latency + n + two reductions of n)`.
//!
//! Paper: Hillis and Steele, *Data parallel algorithms*, 1986.

use crate::algo::shape::{doublings, later};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost};
use crate::plan::Slice;

struct RecursiveDoubling;

pub(in crate::algo) const ROW: &dyn Algorithm = &RecursiveDoubling;

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive_doubling"
    }

    fn collective(&self) -> Collective {
        Collective::Exscan
    }

    fn summary(&self) -> &'static str {
        "each rank passes its sum to ranks 1, 2, 4, ... after it, and keeps it less its own"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let rounds = doublings(call.ranks) as usize;
        let bytes = call.bytes().saturating_mul(rounds);
        // In the first round the result is a copy of what comes, and in the last nothing is summed
        // up to be passed on.
        let reduced = call.bytes().saturating_mul((2 * rounds).saturating_sub(2));
        Cost { rounds, bytes, reduced, copied: call.bytes(), ..Cost::default() }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let flow = AggregateWork::flow(call.ranks, later(call.ranks), call.bytes());
        AggregateWork { reduced: flow.bytes.saturating_mul(2), ..flow }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let me = call.rank.0;
        let (own, output) = (builder.contribution(), builder.output());
        // Two places to receive into, so that one is free while the other is being reduced.
        let places = doublings(me + 1).min(2);
        let incoming: Vec<Slice> = (0..places).map(|_| builder.scratch(output.len)).collect();
        let mut sum = own;
        for round in 0..doublings(call.ranks) {
            let distance = 1 << round;
            let later = call.ranks - 1 - me;
            if distance <= later {
                builder.send(Rank(me + distance), sum);
            }
            if distance > me {
                continue;
            }
            let theirs = incoming[round as usize % 2];
            builder.recv(Rank(me - distance), theirs);
            if 2 * distance <= later {
                let into = if sum == own { builder.scratch(output.len) } else { sum };
                builder.reduce(theirs, sum, into);
                sum = into;
            }
            if round == 0 {
                builder.copy(theirs, output);
            } else {
                builder.reduce(theirs, output, output);
            }
        }
    }
}
