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

use crate::algo::gathering::{Staging, blocks, doubling_cost};
use crate::algo::shape::doublings;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::Cost;

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

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (me, ranks) = (call.rank.index(), call.ranks as usize);
        let (blocks, own) = (blocks(call), builder.contribution());
        let staging = Staging::new(builder, &blocks);
        for distance in (0..doublings(call.ranks)).map(|round| 1 << round) {
            let peer = me ^ distance;
            let (mine, theirs) = (me & !(distance - 1), peer & !(distance - 1));
            let outgoing = if distance == 1 { own } else { staging.run(mine..mine + distance) };
            builder.send(Rank::from_index(peer), outgoing);
            if distance == 1 {
                builder.copy(own, staging.run(me..me + 1));
            }
            builder.recv(Rank::from_index(peer), staging.run(theirs..theirs + distance));
        }
        builder.copy(own, blocks[me]);
        staging.place(builder, &blocks, 0..me);
        staging.place(builder, &blocks, me + 1..ranks);
    }
}
