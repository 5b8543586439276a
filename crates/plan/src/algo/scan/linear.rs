//! Linear: every rank sends its data to all after it, and each reduces in rank order.
//!
//! ```text
//!   3 ranks      0                1                2
//!   has          a0               a1               a2
//!   receives                      a0               a1 a0          all at once
//!   reduces      a0               a0 ∘ a1          (a0 ∘ a1) ∘ a2
//! ```
//!
//! The reduction goes from left to right, so the operator need not commute, and the result of
//! a rank is the beginning of the expression of the next.
//!
//! Cost: a latency and `p - 2` further messages, `(p - 1) n` and as much to reduce at the last
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
        Collective::Scan
    }

    fn summary(&self) -> &'static str {
        "every rank sends to all after it, and each reduces in rank order"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let cost = linear::cost(call, call.bytes());
        Cost { reduced: cost.bytes, ..cost }
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
        let mut operands = linear::receive_from_earlier(builder, own.len);
        operands.push(own);
        linear::send_to_later(builder, own);
        linear::reduce_in_order(builder, &operands, builder.output());
    }
}
