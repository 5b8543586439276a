//! Linear: every rank sends all its data to every rank of the other group, who reduces its block.
//!
//! ```text
//!   groups 0 1 and 2 3 4     0             1             2        3        4
//!   receives                 c d e         c d e         a b      a b      a b
//!   reduces its block        (c ∘ d) ∘ e   (c ∘ d) ∘ e   a ∘ b    a ∘ b    a ∘ b
//! ```
//!
//! A rank does not know the blocks of the other group, so it cannot send less; where data is short
//! that costs little, and there is no second round to wait for.
//!
//! Cost: a latency and `p - 1` further messages, `p n` and up to `(p - 1) n` to reduce, for `p`
//! ranks in the larger group and `n` in all blocks; `p n` of scratch memory.

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
        Collective::InterReduceScatter
    }

    fn summary(&self) -> &'static str {
        "every rank sends all it has to every rank of the other group, who reduces its block"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        // Of the blocks only their mean length is known to all.
        let ranks = call.ranks as usize / 2;
        between::reducing_cost(call, call.bytes(), call.bytes().div_ceil(ranks))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterReduceScatter { counts, .. } = &call.operation else {
            unreachable!("a reduce-scatter between groups is planned")
        };
        let (groups, own, output) =
            (between::groups(call), builder.contribution(), builder.output());
        let blocks = between::blocks(groups.near.clone(), counts);
        let block = blocks[groups.position(call.rank)].1.clone();
        let incoming: Vec<_> = groups.far.map(|_| builder.scratch(own.len)).collect();
        between::receive_from_far(call, builder, &incoming);
        between::send_to_far(call, builder, |_| own);
        let operands: Vec<_> = incoming.iter().map(|place| place.range(block.clone())).collect();
        linear::reduce_in_order(builder, &operands, output);
    }
}
