//! Linear: every rank sends to every rank of the other group, and each reduces in rank order.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0             1             2        3        4
//!   has                      a             b             c        d        e
//!   receives                 c d e         c d e         a b      a b      a b
//!   reduces                  (c ∘ d) ∘ e   (c ∘ d) ∘ e   a ∘ b    a ∘ b    a ∘ b
//! ```
//!
//! All ranks of a group do the same reduction, from left to right, and have the same bits.
//!
//! Cost: a latency and `p - 1` further messages, `p n` and `(p - 1) n` to reduce, for `p` ranks in
//! the larger group; `p n` of scratch memory.

use crate::algo::{Algorithm, Refusal, between, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::InterAllreduce
    }

    fn summary(&self) -> &'static str {
        "every rank sends to every rank of the other group, and each reduces in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        between::reducing_cost(call, call.bytes(), call.bytes())
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let operands = between::places(call, builder, output);
        between::receive_from_far(call, builder, &operands);
        between::send_to_far(call, builder, |_| own);
        linear::reduce_in_order(builder, &operands, output);
    }
}
