//! Via a root: every rank sends all blocks to the first, which reduces in rank order and deals out.
//!
//! ```text
//!   3 ranks, blocks x y z      0                   1           2
//!   sends                                          x1 y1 z1    x2 y2 z2      all at once
//!   reduces                    (xyz0 ∘ xyz1) ∘ xyz2
//!   receives                                       y           z
//! ```
//!
//! The reduction goes from left to right, so the operator need not commute. It is the way with the
//! fewest messages, `2 (p - 1)`, and each rank waits once: right for short blocks where many ranks
//! share few cores.
//!
//! Cost: two latencies and `2 (p - 2)` further messages, `(p - 1) (p n + n)` for blocks of `n`, and
//! a reduction of `(p - 1) p n`; as much scratch memory at the first rank, and `p n`.

use crate::algo::{Algorithm, Refusal, linear, scattered_blocks, via_root};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost};

struct ViaRoot;

pub(in crate::algo) const ROW: &dyn Algorithm = &ViaRoot;

impl Algorithm for ViaRoot {
    fn name(&self) -> &'static str {
        "via_root"
    }

    fn collective(&self) -> Collective {
        Collective::ReduceScatterBlock
    }

    fn summary(&self) -> &'static str {
        "every rank sends all blocks to the first, which reduces in rank order and deals out"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        via_root::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let largest = scattered_blocks::largest_bytes(call, scattered_blocks::blocks(call));
        let reduced = linear::cost(call, call.bytes()).bytes;
        Cost { reduced, copied: largest, ..via_root::cost(call, call.bytes(), largest) }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        via_root::work(call, &self.cost(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let blocks = scattered_blocks::blocks(call);
        let own = builder.contribution();
        // In place the output goes on behind the result.
        let result = builder.output().sub(0, blocks[call.rank.index()].len);
        if call.rank != via_root::MIDDLE {
            return via_root::swap(builder, own, result);
        }
        let operands = linear::operands(builder, own);
        linear::receive_from_all(builder, &operands);
        let sums = builder.scratch(own.len);
        linear::reduce_in_order(builder, &operands, sums);
        for rank in via_root::others(builder) {
            let block = blocks[rank.index()];
            builder.send(rank, sums.sub(block.start, block.len));
        }
        builder.copy(sums.sub(0, result.len), result);
    }
}
