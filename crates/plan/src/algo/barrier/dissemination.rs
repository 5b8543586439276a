//! Dissemination: in round `k` each rank tells the rank `2^k` after it whom it has heard of.
//!
//! ```text
//!   4 ranks        0  1  2  3
//!   round 0         \  \  \  \       to rank + 1
//!   round 1          \\  \\          to rank + 2
//! ```
//!
//! A token stands for one rank that has entered. After round `k` a rank holds the tokens of the
//! `2^(k+1)` ranks up to itself, so after `⌈log2 p⌉` rounds those of all. It is written as an
//! allgather of tokens; as a token has no bytes, neither have the messages, and only the order that
//! follows from the data remains.
//!
//! Cost: `⌈log2 p⌉` latencies.
//!
//! Paper: Hensgen, Finkel and Manber, *Two algorithms for barrier synchronization*, 1988.

use crate::algo::shape::doublings;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

/// The algorithm, of a barrier of one group or between two.
pub(in crate::algo) struct Dissemination {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Dissemination { collective: Collective::Barrier };

impl Algorithm for Dissemination {
    fn name(&self) -> &'static str {
        "dissemination"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "each rank tells ranks 1, 2, 4, ... after it whom it has heard of"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        Cost { rounds: doublings(call.ranks) as usize, ..Cost::default() }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Doubling)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (me, ranks) = (call.rank.index(), call.ranks as usize);
        let rounds = doublings(call.ranks);
        let tokens = builder.scratch(1 << rounds);
        for distance in (0..rounds).map(|round| 1 << round) {
            builder.send(Rank::from_index((me + distance) % ranks), tokens.sub(0, distance));
            let before = Rank::from_index((me + ranks - distance) % ranks);
            builder.recv(before, tokens.sub(distance, distance));
        }
    }
}
