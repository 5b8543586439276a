//! Ring: the sum of a block goes round, and every rank adds its part, its owner last.
//!
//! ```text
//!   3 ranks, blocks x y z     0           1           2
//!   round 0                   z0 ->       x1 ->       y2 ->
//!   round 1                   y2+y0 ->    z0+z1 ->    x1+x2 ->
//!   results                   x           y           z
//! ```
//!
//! The sum of block `i` begins at rank `i + 1` and ends at rank `i`. The operands are rotated, so
//! the operator must commute. A sum travels through two places in scratch memory, used in turn: the
//! output has no room for the blocks of others.
//!
//! Cost: `(p - 1) (latency + n)` and `p - 1` reductions of `n` for blocks of `n`, the largest if
//! they differ: the least bytes possible.
//!
//! Paper: Patarasuk and Yuan, *Bandwidth optimal all-reduce algorithms for clusters of
//! workstations*, 2009: its first half.

use crate::algo::shape::ring::Ring;
use crate::algo::{Algorithm, Refusal, accepts_commutative, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

/// The algorithm, for blocks of one length or of several.
pub(in crate::algo) struct RingReduceScatter {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &RingReduceScatter { collective: Collective::ReduceScatterBlock };

impl Algorithm for RingReduceScatter {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "the sum of a block goes round a ring and ends at its owner"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        accepts_commutative(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let rounds = call.ranks as usize - 1;
        let largest = scattered_blocks::largest_bytes(call, scattered_blocks::blocks(call));
        let bytes = largest.saturating_mul(rounds);
        Cost { rounds, bytes, reduced: bytes, ..Cost::default() }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Neighbours)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ring = Ring::new(call.ranks, Rank(0), call.rank);
        let blocks = scattered_blocks::blocks(call);
        let own = blocks[ring.position];
        // In place the output goes on behind the result.
        let result = builder.output().sub(0, own.len);
        if ring.size() == 1 {
            return builder.copy(own, result);
        }
        let longest = blocks.iter().map(|block| block.len).max().unwrap_or(0);
        let places = [builder.scratch(longest), builder.scratch(longest)];
        let (next, previous) = (ring.rank(ring.next()), ring.rank(ring.previous()));
        builder.send(next, blocks[ring.back(1)]);
        for hop in 1..ring.size() - 1 {
            let block = blocks[ring.back(hop + 1)];
            let sum = places[hop % 2].sub(0, block.len);
            builder.recv(previous, sum);
            builder.reduce(sum, block, sum);
            builder.send(next, sum);
        }
        // In place the result may lie across the own block.
        let place = places[(ring.size() - 1) % 2].sub(0, own.len);
        let sum = if call.in_place { place } else { result };
        builder.recv(previous, sum);
        builder.reduce(sum, own, sum);
        builder.copy(sum, result);
    }
}
