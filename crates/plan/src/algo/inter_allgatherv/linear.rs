//! Linear, for blocks of different lengths: every rank sends its own to all of the other group.
//!
//! Nobody needs to know the blocks of its own group, which it does not; so this goes for any number
//! of ranks, and of its cost only the messages are known to all.

use crate::algo::{Algorithm, Refusal, between};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::Cost;
use crate::plan::Buffer;

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::InterAllgatherv
    }

    fn summary(&self) -> &'static str {
        "every rank sends its block to every rank of the other group"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        between::direct_cost(call, 0)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::InterAllgatherv { blocks, .. } = &call.operation else {
            unreachable!("an allgatherv between groups is planned")
        };
        let own = builder.contribution();
        let places: Vec<_> = blocks.iter().map(|block| block.slice(Buffer::Output)).collect();
        between::receive_from_far(call, builder, &places);
        between::send_to_far(call, builder, |_| own);
    }
}
