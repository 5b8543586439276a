//! Recursive doubling: in round `k` ranks that differ in bit `k` swap all the blocks they have.
//!
//! ```text
//!   4 ranks      0       1       2       3
//!   round 0      ab <--> ab      cd <--> cd
//!   round 1      abcd <--------> abcd            and so 1 <> 3
//! ```
//!
//! What a rank has is always an aligned run of blocks, in rank order: where blocks lie side by side
//! in the output nothing is copied. Otherwise they are gathered in scratch memory first.
//!
//! Cost: `log2 p latency + (p - 1) n` for blocks of `n`; `p` must be a power of two.
//!
//! Paper: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in
//! MPICH*, 2005.

use crate::algo::gathered_blocks::{Staging, blocks, doubling_cost, doubling_longest};
use crate::algo::shape::doublings;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

/// The algorithm, of an allgather or an allgatherv.
pub(in crate::algo) struct RecursiveDoubling {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &RecursiveDoubling { collective: Collective::Allgather };

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive_doubling"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "pairs swap all the blocks they have; the distance doubles in each round"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        if call.ranks.is_power_of_two() {
            Ok(())
        } else {
            Err(Refusal::NeedsPowerOfTwo { ranks: call.ranks })
        }
    }

    fn cost(&self, call: &Call) -> Cost {
        doubling_cost(call)
    }

    fn longest(&self, call: &Call) -> usize {
        doubling_longest(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Growing)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let me = call.rank.index();
        let mut staging = Staging::new(builder, blocks(call), me);
        for distance in (0..doublings(call.ranks)).map(|round| 1 << round) {
            let peer = me ^ distance;
            let run = |rank: usize| {
                let start = rank & !(distance - 1);
                start..start + distance
            };
            let peer_rank = Rank::from_index(peer);
            staging.swap(builder, (peer_rank, run(me)), (peer_rank, run(peer)));
        }
        staging.finish(builder);
    }
}
