//! Via a root: all ranks but the last send to the first, which sends each the sum of those before
//! it.
//!
//! ```text
//!   4 ranks      0                      1       2            3
//!   has          a0                     a1      a2           a3
//!   receives     a1 a2                  <-      <-                       all at once
//!   sends        a0                     -> a0
//!   reduces      a0 ∘ a1                        -> a0 ∘ a1
//!                (a0 ∘ a1) ∘ a2                              -> (a0 ∘ a1) ∘ a2
//! ```
//!
//! The reduction is done once, from left to right, so the operator need not commute. It is the way
//! with the fewest messages, and each rank waits once: right for short data where many ranks share
//! few cores.
//!
//! Cost: at most two latencies and `p - 3` further messages, as sums leave while operands come,
//! `2 (p - 1) n` and a reduction of `(p - 2) n`; `(p - 2) n` of scratch memory at the first rank.

use crate::algo::{Algorithm, Refusal, linear, via_root};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost};

struct ViaRoot;

pub(in crate::algo) const ROW: &dyn Algorithm = &ViaRoot;

impl Algorithm for ViaRoot {
    fn name(&self) -> &'static str {
        "via_root"
    }

    fn collective(&self) -> Collective {
        Collective::Exscan
    }

    fn summary(&self) -> &'static str {
        "all ranks but the last send to the first, which sends each the sum of those before it"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        via_root::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let others = call.ranks as usize - 1;
        let extra_sends = others.saturating_sub(2);
        Cost { rounds: others.min(2), extra_sends, ..through_middle(call) }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        via_root::work(call, &through_middle(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let last = Rank(call.ranks - 1);
        if call.rank != via_root::MIDDLE {
            if call.rank != last {
                builder.send(via_root::MIDDLE, own);
            }
            return builder.recv(via_root::MIDDLE, output);
        }
        let between = (1..call.ranks - 1).map(Rank);
        let operands: Vec<_> = between.map(|rank| (rank, builder.scratch(own.len))).collect();
        for &(rank, operand) in &operands {
            builder.recv(rank, operand);
        }
        let mut sum = own;
        for (rank, operand) in operands {
            builder.send(rank, sum);
            builder.reduce(sum, operand, operand);
            sum = operand;
        }
        if last != via_root::MIDDLE {
            builder.send(last, sum);
        }
    }
}

/// All that passes through the rank in the middle, one after the other.
fn through_middle(call: &Call) -> Cost {
    let reduced = linear::cost(call, call.bytes()).bytes.saturating_sub(call.bytes());
    Cost { reduced, ..via_root::cost(call, call.bytes(), call.bytes()) }
}
