//! Pairwise: every rank takes the parts of its block from one rank after the other, and adds them.
//!
//! ```text
//!   3 ranks, blocks x y z     0                1                2
//!   sends                     y0 z0            z1 x1            x2 y2          all at once
//!   round 0                   x0 + x2          y1 + y0          z2 + z1
//!   round 1                     + x1             + y2             + z0
//! ```
//!
//! The bytes are those of the linear algorithm, and so is the wait for others: a rank sends all
//! blocks from where they lie. But its parts come into three places in scratch memory, used in
//! turn, which stay in the caches however many ranks there are: one has the sum, one the part that
//! is added to it, and the next part comes into the third. Each rank begins with the one before it,
//! so the operands are rotated, and the operator must commute.
//!
//! Cost: `(p - 1) (latency + n)` and `p - 1` reductions of `n` for blocks of `n`, the largest if
//! they differ. Where ranks share cores they wait once: what is sent waits for nobody.
//!
//! Paper: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in
//! MPICH*, 2005.

use crate::algo::shape::ring::Ring;
use crate::algo::{Algorithm, Refusal, accepts_commutative, linear, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost};
use crate::plan::Slice;

/// Blocks of scratch memory, if there are as many parts.
const PLACES: usize = 3;

/// The algorithm, for blocks of one length or of several.
pub(in crate::algo) struct PairwiseReduceScatter {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &PairwiseReduceScatter { collective: Collective::ReduceScatterBlock };

impl Algorithm for PairwiseReduceScatter {
    fn name(&self) -> &'static str {
        "pairwise"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "every rank takes the parts of its block from one rank after the other"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        accepts_commutative(call)?;
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let rounds = call.ranks as usize - 1;
        let largest = scattered_blocks::largest_bytes(call, scattered_blocks::blocks(call));
        let bytes = largest.saturating_mul(rounds);
        Cost { rounds, bytes, reduced: bytes, ..Cost::default() }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let work = AggregateWork::alike(call.ranks, &self.cost(call));
        AggregateWork { waits: call.ranks as usize, in_turn: work.bytes, ..work }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ring = Ring::new(call.ranks, Rank(0), call.rank);
        let blocks = scattered_blocks::blocks(call);
        let own = blocks[ring.position];
        linear::send_to_each(builder, &blocks);
        let parts = 1..ring.size();
        let places: Vec<Slice> =
            parts.clone().take(PLACES).map(|_| builder.scratch(own.len)).collect();
        // In place the output goes on behind the result, which may lie across the own block or
        // another one that is still to be sent.
        let result = builder.output().sub(0, own.len);
        let mut sum = own;
        for (distance, &place) in parts.zip(places.iter().cycle()) {
            builder.recv(ring.rank(ring.back(distance)), place);
            let is_last = distance + 1 == ring.size();
            let into = if is_last && !call.in_place { result } else { place };
            builder.reduce(sum, place, into);
            sum = into;
        }
        builder.copy(sum, result);
    }
}
