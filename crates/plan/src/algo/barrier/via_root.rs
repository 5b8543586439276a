//! Star: every rank tells the first that it has entered, and is told when all have.
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

use crate::algo::{Algorithm, Refusal, star};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost};

struct Star;

pub(in crate::algo) const ROW: &dyn Algorithm = &Star;

impl Algorithm for Star {
    fn name(&self) -> &'static str {
        "star"
    }

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn summary(&self) -> &'static str {
        "every rank tells the first that it has entered, and is told when all have"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        star::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        star::cost(call, 0, 0)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        star::work(call, &self.cost(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ranks = call.ranks as usize;
        if call.rank != star::MIDDLE {
            let own = builder.scratch(1);
            let all = builder.scratch(ranks);
            return star::swap(builder, own, all);
        }
        let all = builder.scratch(ranks);
        for rank in star::others(builder) {
            builder.recv(rank, all.sub(rank.index(), 1));
        }
        for rank in star::others(builder) {
            builder.send(rank, all);
        }
    }
}
