//! Linear: every rank sends its data to all after it, and each reduces what it receives in order.
//!
//! ```text
//!   4 ranks      0      1      2          3
//!   has          a0     a1     a2         a3
//!   receives            a0     a1 a0      a2 a1 a0             all at once
//!   reduces             a0     a0 ∘ a1    (a0 ∘ a1) ∘ a2
//! ```
//!
//! The reduction goes from left to right, so the operator need not commute. Rank 0 only sends.
//!
//! Cost: a latency and `p - 2` further messages, `(p - 1) n` and `(p - 2) n` to reduce at the last
//! rank, which needs `(p - 1) n` of scratch memory.

use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost, OneWayFlow, SendRecvCount};

struct Linear;

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear;

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        Collective::Exscan
    }

    fn summary(&self) -> &'static str {
        "every rank sends to all after it, and each reduces in order what comes"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let cost = linear::cost(call, call.bytes());
        Cost { reduced: cost.bytes.saturating_sub(call.bytes()), ..cost }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let ranks = call.ranks as usize;
        let (messages, busiest) = (ranks * (ranks - 1) / 2, SendRecvCount::new(ranks - 1, 0));
        let flow = AggregateWork::flow(
            call.ranks,
            OneWayFlow { messages, busiest, most_received: ranks - 1, sent_on: 0 },
            call.bytes(),
        );
        AggregateWork { reduced: flow.bytes, ..flow }
    }

    fn build(&self, _: &Call, builder: &mut Builder<'_>) {
        let own = builder.contribution();
        let operands = linear::receive_from_earlier(builder, own.len);
        linear::send_to_later(builder, own);
        if !operands.is_empty() {
            linear::reduce_in_order(builder, &operands, builder.output());
        }
    }
}
