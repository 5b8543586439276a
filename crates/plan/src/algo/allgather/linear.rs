//! Linear: every rank sends its block to every other.
//!
//! ```text
//!   4 ranks      0        1        2        3
//!   has          a        b        c        d
//!   receives     d c b    a d c    b a d    c b a      all at once
//! ```
//!
//! Blocks go straight to their places in the output, wherever these are, so this is the
//! algorithm of allgatherv too. As many bytes travel as round a ring, but no block waits for
//! another one.
//!
//! Cost: a latency and `p - 2` further messages, and `(p - 1) n` for blocks of `n`, the largest if
//! they differ.

use crate::algo::gathered_blocks::{blocks, largest_block_bytes};
use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

/// The algorithm, of an allgather or an allgatherv.
pub(in crate::algo) struct Linear {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Allgather };

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "every rank sends its block to every other"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        linear::cost_of_same(call, largest_block_bytes(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (blocks, own) = (blocks(call), builder.contribution());
        linear::send_to_all(builder, own);
        linear::receive_from_all(builder, &blocks);
        // Last, as nobody waits for it.
        builder.copy(own, blocks[call.rank.index()]);
    }
}
