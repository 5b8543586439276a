//! Sequential: every block is sent at once, but a rank takes them in one after the other.
//!
//! ```text
//!   a rank with sources a b c d            output     scratch 0    scratch 1
//!   receives a, b and c                    a          c            b
//!   reduces b, then receives d             a ∘ b      c            d
//!   reduces c, then d                      (a ∘ b ∘ c) ∘ d
//! ```
//!
//! While one block is reduced the next one arrives, so two places are enough, however many sources
//! there are: for ranks with many sources, or large blocks. The operator need not commute. Where
//! the first source is the last to send, all others wait for it, which costs nothing but time.
//!
//! Cost: as much data as the linear algorithm has to move and to reduce, but a rank with more than
//! three sources waits for them in turn; scratch memory for two blocks at most.

use super::linear::{Operands, send};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;
use crate::plan::Slice;

struct Sequential;

pub(in crate::algo) const ROW: &dyn Algorithm = &Sequential;

/// How many blocks may be on their way besides that of the first source.
const PLACES: usize = 2;

impl Algorithm for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn collective(&self) -> Collective {
        Collective::NeighborReduce
    }

    fn summary(&self) -> &'static str {
        "all blocks are sent at once, and each rank reduces them as they come, in two places"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        Cost { rounds: call.ranks.min(2) as usize, ..Cost::default() }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let count = builder.output().len;
        let mut places: [Option<Slice>; PLACES] = [None; PLACES];
        let operands = Operands::of(call, builder, |builder, index| {
            *places[index % PLACES].get_or_insert_with(|| builder.scratch(count))
        });
        let at_first = operands.list.len().min(PLACES + 1);
        operands.list[..at_first].iter().for_each(|operand| operand.receive(builder));
        send(call, builder);
        for index in 0..operands.list.len() {
            operands.add(index, builder);
            // The place of an operand is free once it has been added. The first had none there.
            if let (1.., Some(next)) = (index, operands.list.get(index + PLACES)) {
                next.receive(builder);
            }
        }
    }
}
