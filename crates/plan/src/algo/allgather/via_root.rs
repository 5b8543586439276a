//! Via a root: every rank sends its block to the first, which sends all blocks to all.
//!
//! ```text
//!   4 ranks      0        1        2        3
//!   has          a        b        c        d
//!   receives     b c d    <-       <-       <-         all at once
//!   sends        abcd     ->       ->       ->
//! ```
//!
//! A rank receives its own block too, so all get the same message; in place it goes to scratch
//! memory first. It is the way with the fewest
//! messages, `2 (p - 1)`, and each rank waits once: right for short blocks where many ranks share
//! few cores.
//!
//! Cost: two latencies and `2 (p - 2)` further messages, and `(p - 1) (n + p n)` for blocks of `n`.

use crate::algo::gathered_blocks::{blocks, largest_block_bytes};
use crate::algo::{Algorithm, Refusal, linear, via_root};
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
        Collective::Allgather
    }

    fn summary(&self) -> &'static str {
        "every rank sends its block to the first, which sends all blocks to all"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        via_root::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        via_root::cost_of_same(call, largest_block_bytes(call), call.bytes())
    }

    fn work(&self, call: &Call) -> AggregateWork {
        via_root::work(call, &self.cost(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        if call.rank != via_root::MIDDLE {
            // In place the own block must not be written to, not even as it is.
            let room = if call.in_place { builder.scratch(output.len) } else { output };
            via_root::swap(builder, own, room);
            if call.in_place {
                for others in [0..own.start, own.end()..output.len] {
                    builder.copy(room.range(others.clone()), output.range(others));
                }
            }
            return;
        }
        let blocks = blocks(call);
        linear::receive_from_all(builder, &blocks);
        builder.copy(own, blocks[call.rank.index()]);
        linear::send_to_all(builder, output);
    }
}
