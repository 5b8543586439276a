//! Linear: every rank tells every rank of the other group that it has entered.
//!
//! ```text
//!   groups 0 1 and 2 3 4      0 > 2     0 > 3     0 > 4
//!                             1 > 3     1 > 4     1 > 2
//!                             2 > 0     2 > 1               and so 3 and 4
//!   all at once
//! ```
//!
//! Ranks of one group tell each other nothing, and none waits for its own group.
//!
//! Cost: a latency and `p - 1` further messages, for `p` ranks in the larger group.

use crate::algo::{Algorithm, Refusal, between, linear};
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
        Collective::InterBarrier
    }

    fn summary(&self) -> &'static str {
        "every rank tells every rank of the other group that it has entered"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        between::direct_cost(call, 0)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let own = builder.scratch(1);
        let places: Vec<_> = between::far(call).iter().map(|_| builder.scratch(1)).collect();
        between::receive_from_far(call, builder, &places);
        between::send_to_far(call, builder, |_| own);
    }
}
