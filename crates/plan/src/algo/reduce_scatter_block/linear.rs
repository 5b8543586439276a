//! Linear: every rank sends each block to its owner, who reduces in rank order.
//!
//! ```text
//!   3 ranks, blocks x y z      0                1                2
//!   sends                      y0 z0            z1 x1            x2 y2          all at once
//!   reduces                    (x0 ∘ x1) ∘ x2   (y0 ∘ y1) ∘ y2   (z0 ∘ z1) ∘ z2
//! ```
//!
//! The reduction goes from left to right, so the operator need not commute. The bytes are those of
//! the ring, but no block waits for another one, nor for a sum.
//!
//! Cost: a latency and `p - 2` further messages, `(p - 1) n` for blocks of `n`, the largest if they
//! differ, and as much to reduce; `(p - 1) n` of scratch memory.

use crate::algo::{Algorithm, Refusal, linear, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

/// The algorithm, for blocks of one length or of several.
pub(in crate::algo) struct Linear {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &Linear { collective: Collective::ReduceScatterBlock };

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "every rank sends each block to its owner, who reduces in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let largest = scattered_blocks::largest_bytes(call, scattered_blocks::blocks(call));
        let cost = linear::cost(call, largest);
        Cost { reduced: cost.bytes, ..cost }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let blocks = scattered_blocks::blocks(call);
        let own = blocks[call.rank.index()];
        let operands = linear::operands(builder, own);
        linear::send_to_each(builder, &blocks);
        linear::receive_from_all(builder, &operands);
        // In place the output goes on behind the result.
        let result = builder.output().sub(0, own.len);
        linear::reduce_in_order(builder, &operands, result);
    }
}
