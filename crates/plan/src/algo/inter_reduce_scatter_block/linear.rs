//! Linear: every rank sends each block to its owner in the other group, who reduces in rank order.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0             1             2        3        4
//!   receives                 c d e 0-2     c d e 3-5     a b 0-1  a b 2-3  a b 4-5
//!   reduces                  (c ∘ d) ∘ e   (c ∘ d) ∘ e   a ∘ b    a ∘ b    a ∘ b
//! ```
//!
//! Cost: a latency and `p - 1` further messages, `p n` and `(p - 1) n` to reduce, for `p` ranks in
//! the larger group and blocks of `n`, the longer if the groups differ; `p n` of scratch memory.

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
        Collective::InterReduceScatterBlock
    }

    fn summary(&self) -> &'static str {
        "every rank sends each block to its owner in the other group, who reduces in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterReduceScatterBlock { counts: [first, second], .. } = call.operation
        else {
            unreachable!("a reduce-scatter between groups is planned")
        };
        let bytes = first.max(second).saturating_mul(call.element_bytes);
        between::reducing_cost(call, bytes, bytes)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let count = own.len / between::far(call).len();
        let operands = between::places(call, builder, output);
        between::receive_from_far(call, builder, &operands);
        between::send_to_far(call, builder, |position| own.sub(position * count, count));
        linear::reduce_in_order(builder, &operands, output);
    }
}
