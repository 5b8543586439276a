//! Via a root: every rank sends to the first, which reduces in rank order and sends the result to
//! all.
//!
//! ```text
//!   3 ranks      0                1                2
//!   has          a0               a1               a2
//!   receives     a1 a2            <-               <-             all at once
//!   reduces      (a0 ∘ a1) ∘ a2   ->               ->
//! ```
//!
//! The reduction is done once, from left to right: all ranks have the same bits, and the operator
//! need not commute. It is the way with the fewest messages, `2 (p - 1)`, and each rank waits once:
//! right for short data where many ranks share few cores.
//!
//! Cost: two latencies and `2 (p - 2)` further messages, `2 (p - 1) n` and a reduction of
//! `(p - 1) n`; `(p - 1) n` of scratch memory at the first rank.

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
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "every rank sends to the first, which reduces in rank order and sends the result to all"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        via_root::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let reduced = linear::cost(call, call.bytes()).bytes;
        Cost { reduced, ..via_root::cost_of_same(call, call.bytes(), call.bytes()) }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        via_root::work(call, &self.cost(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        if call.rank != via_root::MIDDLE {
            return via_root::swap(builder, own, output);
        }
        let operands = linear::operands(builder, own);
        linear::receive_from_all(builder, &operands);
        linear::reduce_in_order(builder, &operands, output);
        linear::send_to_all(builder, output);
    }
}
