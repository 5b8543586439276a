//! Linear: the root sends to every other rank its block.
//!
//! ```text
//!   4 ranks, root 1      0     1     2     3
//!                              +---->            first to the rank after the root
//!                              +---------->
//!                        <-----+
//! ```
//!
//! Blocks leave from where they lie in the input, wherever that is, and no rank needs to know the
//! block of another one: so this is the algorithm of scatterv too, for any number of ranks.
//!
//! Cost: a latency and `p - 2` further messages, and `(p - 1) n` for blocks of `n`, all at the
//! root; of a scatterv only the messages are known to all.

use crate::algo::scattered_blocks::blocks;
use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost, SendRecvCount};

/// The algorithm, of a scatter or a scatterv.
pub(in crate::algo) struct Linear {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Scatter };

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "the root sends to every other rank its block"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        match self.collective {
            Collective::Scatter => linear::accepts(call),
            _ => Ok(()),
        }
    }

    fn cost(&self, call: &Call) -> Cost {
        linear::cost(call, call.bytes() / call.ranks as usize)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::of_one(
            call.ranks,
            SendRecvCount::new(call.ranks as usize - 1, 0),
            &self.cost(call),
        )
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let root = call.operation.root().expect("a scatter has a root");
        let output = builder.output();
        if call.rank != root {
            return builder.recv(root, output);
        }
        let blocks = blocks(call);
        linear::send_to_each(builder, &blocks);
        if !call.in_place {
            // Last, as nobody waits for it.
            builder.copy(blocks[root.index()], output);
        }
    }
}
