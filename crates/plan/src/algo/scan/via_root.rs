//! Via a root: every rank sends to the first, which reduces in rank order and sends each its sum.
//!
//! ```text
//!   3 ranks      0                      1            2
//!   has          a0                     a1           a2
//!   receives     a1 a2                  <-           <-           all at once
//!   reduces      a0 ∘ a1                -> a0 ∘ a1
//!                (a0 ∘ a1) ∘ a2                      -> (a0 ∘ a1) ∘ a2
//! ```
//!
//! The reduction is done once, from left to right, so the operator need not commute. It is the way
//! with the fewest messages, and each rank waits once: right for short data where many ranks share
//! few cores.
//!
//! Cost: two latencies and `p - 2` further messages, as sums leave while operands come,
//! `2 (p - 1) n` and a reduction of `(p - 1) n`; `(p - 1) n` of scratch memory at the first rank.

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
        Collective::Scan
    }

    fn summary(&self) -> &'static str {
        "every rank sends to the first, which reduces in rank order and sends each its sum"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        via_root::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let extra_sends = (call.ranks as usize).saturating_sub(2);
        Cost { extra_sends, ..through_middle(call) }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        via_root::work(call, &through_middle(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        if call.rank != via_root::MIDDLE {
            return via_root::swap(builder, own, output);
        }
        let sums = linear::operands(builder, own);
        // The nearest first, as its sum is the first that can be sent.
        for rank in via_root::others(builder) {
            builder.recv(rank, sums[rank.index()]);
        }
        for rank in via_root::others(builder) {
            let (before, sum) = (sums[rank.index() - 1], sums[rank.index()]);
            builder.reduce(before, sum, sum);
            builder.send(rank, sum);
        }
        builder.copy(own, output);
    }
}

/// All that passes through the rank in the middle, one after the other.
fn through_middle(call: &Call) -> Cost {
    let reduced = linear::cost(call, call.bytes()).bytes;
    Cost { reduced, ..via_root::cost(call, call.bytes(), call.bytes()) }
}
