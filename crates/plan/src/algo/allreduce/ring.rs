//! Ring: the data is cut into one part for each rank; sums of parts go round, then results do.
//!
//! ```text
//!   3 ranks, parts x y z      0           1           2
//!   sums, round 0            z0 ->       x1 ->       y2 ->
//!         round 1            y2+y0 ->    z0+z1 ->    x1+x2 ->
//!   results                  x           y           z            each rank ends one part
//!   results go round         x ->        y ->        z ->
//! ```
//!
//! The sum of part `i` begins at rank `i + 1` and ends at rank `i`. The operands are
//! rotated, so the operator must commute; each part is finished at one rank and then only copied,
//! so all ranks have the same bits.
//!
//! Cost: `2 (p - 1) (latency + n / p)` and `p - 1` reductions of `n / p`: the least bytes possible.
//!
//! Paper: Patarasuk and Yuan, *Bandwidth optimal all-reduce algorithms for clusters of
//! workstations*, 2009.

use crate::algo::gathered_blocks::{circulate, longest_part_bytes, parts};
use crate::algo::operand_placement::Places;
use crate::algo::shape::ring::Ring;
use crate::algo::{Algorithm, Refusal, accepts_commutative};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

struct RingAllreduce;

pub(in crate::algo) const ROW: &dyn Algorithm = &RingAllreduce;

impl Algorithm for RingAllreduce {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "sums of parts go round a ring, then the results do"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        accepts_commutative(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let hops = call.ranks as usize - 1;
        let part = call.bytes().div_ceil(call.ranks as usize);
        let reduced = part.saturating_mul(hops);
        // What a rank has reduced others have read the last time, so it is in their caches, and
        // is fetched from there to be written: that is as dear as to copy it.
        Cost {
            rounds: 2 * hops,
            bytes: part.saturating_mul(2 * hops),
            reduced,
            copied: reduced,
            ..Cost::default()
        }
    }

    fn longest(&self, call: &Call) -> usize {
        longest_part_bytes(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Neighbours)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ring = Ring::new(call.ranks, Rank(0), call.rank);
        let own = parts(builder.contribution(), ring.size());
        let sums = parts(builder.output(), ring.size());
        if ring.size() == 1 {
            return builder.copy(own[0], sums[0]);
        }
        // The first part is the longest.
        let mut incoming = Places::new(own[0].len);
        let (next, previous) = (ring.rank(ring.next()), ring.rank(ring.previous()));
        builder.send(next, own[ring.back(1)]);
        for hop in 1..ring.size() {
            let part = ring.back(hop + 1);
            let sum = incoming.next(builder, own[part], sums[part]);
            builder.recv(previous, sum);
            builder.reduce(sum, own[part], sums[part]);
            if hop + 1 < ring.size() {
                builder.send(next, sums[part]);
            }
        }
        let result = sums[ring.position];
        circulate(builder, ring, &sums, result, |position| position..position + 1);
    }
}
