//! Linear: every rank sends its block to every rank of the other group.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0        1        2        3        4
//!   has                      a        b        c        d        e
//!   receives                 c d e    c d e    a b      a b      a b      all at once
//! ```
//!
//! Blocks go straight to their places in the output, wherever these are.
//!
//! Cost: a latency and `p - 1` further messages, and `p n`, for `p` ranks in the larger group and
//! blocks of `n`, the longer if the groups differ.

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
        Collective::InterAllgather
    }

    fn summary(&self) -> &'static str {
        "every rank sends its block to every rank of the other group"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::InterAllgather { counts: [first, second], .. } = call.operation else {
            unreachable!("an allgather between groups is planned")
        };
        between::direct_cost(call, first.max(second).saturating_mul(call.element_bytes))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let sources = between::far(call).len();
        let count = output.len / sources;
        let places: Vec<_> = (0..sources).map(|source| output.sub(source * count, count)).collect();
        between::receive_from_far(call, builder, &places);
        between::send_to_far(call, builder, |_| own);
    }
}
