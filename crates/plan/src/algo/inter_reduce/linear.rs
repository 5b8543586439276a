//! Linear: every rank of the group without the root sends to it, and it reduces in rank order.
//!
//! ```text
//!   groups 0 1 and 2 3 4     2        3        4        0        1 (root)
//!                            -------------------------------->   c
//!                                     ----------------------->   d       all received at once,
//!                                              -------------->   e       each into its own place
//!                                                                (c ∘ d) ∘ e
//! ```
//!
//! Cost: a latency and `p - 1` further messages, `p n` and `(p - 1) n` to reduce, all at the root,
//! for `p` ranks in the other group; `p n` of scratch memory.

use crate::algo::{Algorithm, Refusal, between, linear};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::Cost;

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::InterReduce
    }

    fn summary(&self) -> &'static str {
        "every rank of the group without the root sends to it, and it reduces in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let messages = between::contributors(call).len();
        Cost {
            rounds: 1,
            extra_sends: messages - 1,
            bytes: call.bytes().saturating_mul(messages),
            reduced: call.bytes().saturating_mul(messages - 1),
            ..Cost::default()
        }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterReduce { root, .. } = call.operation else {
            unreachable!("a reduction between groups is planned")
        };
        if call.rank == root {
            let output = builder.output();
            let operands = between::places(call, builder, output);
            between::receive_from_far(call, builder, &operands);
            linear::reduce_in_order(builder, &operands, output);
        } else if between::contributors(call).contains(&call.rank.0) {
            builder.send(root, builder.contribution());
        }
    }
}
