//! Linear: every rank tells every other that it has entered.
//!
//! ```text
//!   4 ranks       0 > 1     0 > 2     0 > 3
//!                 1 > 2     1 > 3     1 > 0
//!                 2 > 3     2 > 0     2 > 1
//!                 3 > 0     3 > 1     3 > 2
//!   all at once, each rank in this order
//! ```
//!
//! The message is the rank's own token, which has no bytes. Nothing waits for anything within the
//! plan; a rank leaves when it has the tokens of all, because then all its receives are complete.
//!
//! Cost: a latency and `p - 2` further messages.

use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Barrier
    }

    fn summary(&self) -> &'static str {
        "every rank tells every other that it has entered"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        linear::cost(call, 0)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let own = builder.scratch(1);
        let me = call.rank.index();
        let ranks = 0..call.ranks as usize;
        let places: Vec<_> =
            ranks.map(|rank| if rank == me { own } else { builder.scratch(1) }).collect();
        linear::receive_from_all(builder, &places);
        linear::send_to_all(builder, own);
    }
}
