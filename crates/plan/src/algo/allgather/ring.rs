//! Ring: each rank passes on to the next what it has received from the one before.
//!
//! ```text
//!   4 ranks      0        1        2        3
//!   round 0      a ->     b ->     c ->     d ->
//!   round 1      d ->     a ->     b ->     c ->
//!   round 2      c ->     d ->     a ->     b ->
//! ```
//!
//! Blocks go straight to their places in the output, wherever these are, so this is the
//! algorithm of allgatherv too.
//!
//! Cost: `(p - 1) (latency + n)` for blocks of `n`, the largest if they differ.
//!
//! Paper: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in
//! MPICH*, 2005.

use crate::algo::gathered_blocks::{blocks, circulate, largest_block_bytes};
use crate::algo::shape::ring::Ring;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

/// The algorithm, of an allgather or an allgatherv.
pub(in crate::algo) struct RingAllgather {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &RingAllgather { collective: Collective::Allgather };

impl Algorithm for RingAllgather {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "each rank passes on to the next what it has received from the one before"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let rounds = call.ranks as usize - 1;
        let bytes = largest_block_bytes(call).saturating_mul(rounds);
        Cost { rounds, bytes, ..Cost::default() }
    }

    fn longest(&self, call: &Call) -> usize {
        largest_block_bytes(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Neighbours)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ring = Ring::new(call.ranks, Rank(0), call.rank);
        let (blocks, own) = (blocks(call), builder.contribution());
        circulate(builder, ring, &blocks, own, |position| position..position + 1);
        // Last, as nobody waits for it.
        builder.copy(own, blocks[ring.position]);
    }
}
