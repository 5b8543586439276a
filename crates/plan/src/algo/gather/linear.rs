//! Linear: every rank sends its block to the root.
//!
//! ```text
//!   4 ranks, root 1      0     1     2     3
//!                        ----->+<----+             all received at once,
//!                              +<----------+       each into its place
//! ```
//!
//! Blocks go straight to their places in the output, wherever these are, and no rank needs to know
//! the block of another one: so this is the algorithm of gatherv too, for any number of ranks.
//!
//! Cost: a latency and `p - 2` further messages, and `(p - 1) n` for blocks of `n`, all at the
//! root; of a gatherv only the messages are known to all.

use crate::algo::gathered_blocks::blocks;
use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost, SendRecvCount};

/// The algorithm, of a gather or a gatherv.
pub(in crate::algo) struct Linear {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Gather };

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "every rank sends its block to the root"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        match self.collective {
            Collective::Gather => linear::accepts(call),
            _ => Ok(()),
        }
    }

    fn cost(&self, call: &Call) -> Cost {
        linear::cost(call, call.bytes() / call.ranks as usize)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::of_one(
            call.ranks,
            SendRecvCount::new(0, call.ranks as usize - 1),
            &self.cost(call),
        )
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let root = call.operation.root().expect("a gather has a root");
        let own = builder.contribution();
        if call.rank != root {
            return builder.send(root, own);
        }
        let blocks = blocks(call);
        linear::receive_from_all(builder, &blocks);
        // Last, as nobody waits for it.
        builder.copy(own, blocks[root.index()]);
    }
}
