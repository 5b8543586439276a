//! Linear: every rank sends to the root, which reduces in rank order.
//!
//! ```text
//!   4 ranks, root 1      0     1     2     3
//!                        ----->+<----+             all received at once,
//!                              +<----------+       each into its own place
//!                        ((a0 ∘ a1) ∘ a2) ∘ a3
//! ```
//!
//! The reduction goes from left to right, whatever the root is and whichever arrives first, so the
//! operator need not commute and the result does not depend on time.
//!
//! Cost: a latency and `p - 2` further messages, `(p - 1) n` and as much to reduce, all at the
//! root, which needs `(p - 2) n` of scratch memory.

use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost, SendRecvCount};

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "every rank sends to the root, which reduces in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let cost = linear::cost(call, call.bytes());
        Cost { reduced: cost.bytes, ..cost }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::of_one(
            call.ranks,
            SendRecvCount::new(0, call.ranks as usize - 1),
            &self.cost(call),
        )
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Reduce { root, .. } = call.operation else {
            unreachable!("a reduction is planned")
        };
        if call.rank != root {
            return builder.send(root, builder.contribution());
        }
        let result = builder.output();
        let operands = linear::operands_of(builder, builder.contribution(), result);
        linear::receive_from_all(builder, &operands);
        linear::reduce_in_order(builder, &operands, result);
    }
}
