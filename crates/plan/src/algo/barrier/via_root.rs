//! Via a root: every rank tells the first that it has entered, and is told when all have.
//!
//! ```text
//!   4 ranks       0     1     2     3
//!                 <-----a
//!                 <-----------b
//!                 <-----------------c     all received at once
//!                 abc-> abc-> abc->
//! ```
//!
//! The messages are tokens, which have no bytes. What the first rank sends holds the tokens of all,
//! so it leaves only when all have come.
//!
//! Cost: two latencies and `2 (p - 2)` further messages; `2 (p - 1)` messages in all.

use crate::algo::{Algorithm, Refusal, via_root};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost};

struct ViaRoot;

pub(in crate::algo) const ROW: &dyn Algorithm = &ViaRoot;

impl Algorithm for ViaRoot {
    fn name(&self) -> &'static str {
        "via_root"
    }

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn summary(&self) -> &'static str {
        "every rank tells the first that it has entered, and is told when all have"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        via_root::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        via_root::cost(call, 0, 0)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        via_root::work(call, &self.cost(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ranks = call.ranks as usize;
        if call.rank != via_root::MIDDLE {
            let own = builder.scratch(1);
            let all = builder.scratch(ranks);
            return via_root::swap(builder, own, all);
        }
        let all = builder.scratch(ranks);
        for rank in via_root::others(builder) {
            builder.recv(rank, all.sub(rank.index(), 1));
        }
        for rank in via_root::others(builder) {
            builder.send(rank, all);
        }
    }
}
