//! Linear: every rank sends to every other its block, all at once.
//!
//! ```text
//!   4 ranks      0           1           2           3
//!   sends        01 02 03    12 13 10    23 20 21    30 31 32
//!   receives     30 20 10    01 31 21    12 02 32    23 13 03
//! ```
//!
//! Blocks go from where they lie straight to their places, wherever these are, so this is the
//! algorithm of alltoallv too. In place a block is copied out first, as the one that comes for it
//! may be early.
//!
//! Cost: a latency and `p - 2` further messages, and `(p - 1) n` for blocks of `n`.

use crate::algo::{Algorithm, Refusal, gathered_blocks, linear, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

/// The algorithm, of an alltoall or an alltoallv.
pub(in crate::algo) struct Linear {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Alltoall };

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "every rank sends to every other its block, all at once"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        linear::cost(call, call.bytes() / call.ranks as usize)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (mut outgoing, incoming) =
            (scattered_blocks::blocks(call), gathered_blocks::blocks(call));
        let me = call.rank.index();
        if call.in_place {
            for (_, block) in outgoing.iter_mut().enumerate().filter(|(rank, _)| *rank != me) {
                let place = builder.scratch(block.len);
                builder.copy(*block, place);
                *block = place;
            }
        }
        linear::send_to_each(builder, &outgoing);
        linear::receive_from_all(builder, &incoming);
        // Last, as nobody waits for it; in place it is there already.
        builder.copy(outgoing[me], incoming[me]);
    }
}
