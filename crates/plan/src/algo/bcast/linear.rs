//! Linear: the root sends to every other rank.
//!
//! ```text
//!   4 ranks, root 1      0     1     2     3
//!                              +---->            first to the rank after the root
//!                              +---------->
//!                        <-----+
//! ```
//!
//! No rank waits for another one that waits, so the data is there when the root and the receiver
//! have had one turn each.
//!
//! Cost: a latency and `p - 2` further messages, and `(p - 1) n`, all at the root.

use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost, SendRecvCount};

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "the root sends to every other rank"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        linear::cost_of_same(call, call.bytes())
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::of_one(
            call.ranks,
            SendRecvCount::new(call.ranks as usize - 1, 0),
            &self.cost(call),
        )
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Bcast { root, .. } = call.operation else {
            unreachable!("a broadcast is planned")
        };
        let data = builder.output();
        if call.rank == root {
            linear::send_to_all(builder, data);
        } else {
            builder.recv(root, data);
        }
    }
}
