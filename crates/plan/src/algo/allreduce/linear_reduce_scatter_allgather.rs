//! Linear reduce-scatter and allgather: each rank reduces one piece of the data, which all others
//! send to it, and sends the result to all.
//!
//! ```text
//!   3 ranks, pieces xyz      0                1                2
//!   sends                    y0 z0            z1 x1            x2 y2          all at once
//!   reduces                  (x0 ∘ x1) ∘ x2   (y0 ∘ y1) ∘ y2   (z0 ∘ z1) ∘ z2
//!   sends                    x x              y y              z z            all at once
//! ```
//!
//! As many bytes travel and are reduced as with halves and doubles, but there are two rounds
//! however many ranks there are, at the price of more and shorter messages: right where ranks share
//! cores, so that in each round all of them must have had their turn. Each piece is reduced at one
//! rank, from left to right, and then only copied: the operator need not commute, and all
//! ranks have the same bits.
//!
//! Cost: two latencies and `2 (p - 2)` further messages, `2 n (p - 1) / p` and a reduction of half
//! of that; `n (p - 2) / p` of scratch memory.

use crate::algo::gathered_blocks::{longest_part_bytes, parts};
use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

struct LinearReduceScatterAllgather;

pub(in crate::algo) const ROW: &dyn Algorithm = &LinearReduceScatterAllgather;

impl Algorithm for LinearReduceScatterAllgather {
    fn name(&self) -> &'static str {
        "linear_reduce_scatter_allgather"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "each rank reduces one piece, which all send to it, and sends the result to all"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let piece = call.bytes().div_ceil(call.ranks as usize);
        let scatter = linear::cost(call, piece);
        let all = scatter.then(linear::cost_of_same(call, piece));
        // The own piece of the result is in the caches of others, who have read it.
        Cost { reduced: scatter.bytes, copied: piece, ..all }
    }

    fn longest(&self, call: &Call) -> usize {
        longest_part_bytes(call)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ranks = call.ranks as usize;
        let (given, results) =
            (parts(builder.contribution(), ranks), parts(builder.output(), ranks));
        let (own, result) = (given[call.rank.index()], results[call.rank.index()]);
        let operands = linear::operands_of(builder, own, result);
        linear::send_to_each(builder, &given);
        linear::receive_from_all(builder, &operands);
        linear::reduce_in_order(builder, &operands, result);
        linear::receive_from_all(builder, &results);
        linear::send_to_all(builder, result);
    }
}
