//! Linear: every rank sends its data to every other, and each reduces all in rank order.
//!
//! ```text
//!   3 ranks      0                1                2
//!   has          a0               a1               a2
//!   receives     a2 a1            a0 a2            a1 a0          all at once
//!   reduces      (a0 ∘ a1) ∘ a2   (a0 ∘ a1) ∘ a2   (a0 ∘ a1) ∘ a2
//! ```
//!
//! Each rank does the whole reduction for itself, always from left to right. So all have the same
//! bits at the end, and the operator need not commute. The work that is done `p` times over is
//! little where data is short, and there is no second round to wait for.
//!
//! Cost: a latency and `p - 2` further messages, `(p - 1) n` and as much to reduce; `(p - 2) n` of
//! scratch memory.

use crate::algo::{Algorithm, Refusal, linear};
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
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "every rank sends to every other, and each reduces all in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let cost = linear::cost_of_same(call, call.bytes());
        Cost { reduced: cost.bytes, ..cost }
    }

    fn build(&self, _: &Call, builder: &mut Builder<'_>) {
        let (own, result) = (builder.contribution(), builder.output());
        let operands = linear::operands_of(builder, own, result);
        linear::send_to_all(builder, own);
        linear::receive_from_all(builder, &operands);
        linear::reduce_in_order(builder, &operands, result);
    }
}
