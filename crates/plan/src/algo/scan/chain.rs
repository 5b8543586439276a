//! Chain: each rank reduces what the one before it has come to with its own data, and passes the
//! result on.
//!
//! ```text
//!   4 ranks      0          1                2                     3
//!   has          a0         a1               a2                    a3
//!   receives                a0               a0 ∘ a1               (a0 ∘ a1) ∘ a2
//!   reduces      a0         a0 ∘ a1          (a0 ∘ a1) ∘ a2        ((a0 ∘ a1) ∘ a2) ∘ a3
//! ```
//!
//! The reduction goes from left to right, so the operator need not commute, and the result of
//! a rank is the beginning of the expression of the next.
//!
//! Cost: `(p - 1) (latency + n + reduction of n)` for the last rank. No rank does more than send,
//! receive and reduce once, which is the least that all ranks can do together: right where ranks
//! share cores, and where one scan follows the other, as then every rank works on another one.

use crate::algo::{Algorithm, Refusal, operand_placement};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, OneWayFlow, SendRecvCount};

struct Chain;

pub(in crate::algo) const ROW: &dyn Algorithm = &Chain;

impl Algorithm for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn collective(&self) -> Collective {
        Collective::Scan
    }

    fn summary(&self) -> &'static str {
        "each rank adds its own to the sum of the one before it, and passes that on"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        cost(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        work(call)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (own, output) = (builder.contribution(), builder.output());
        let Rank(me) = call.rank;
        let mut sum = own;
        if me > 0 {
            let earlier = operand_placement::place(builder, own, output);
            builder.recv(Rank(me - 1), earlier);
            builder.reduce(earlier, own, output);
            sum = output;
        }
        if me + 1 < call.ranks {
            builder.send(Rank(me + 1), sum);
        }
        builder.copy(sum, output);
    }
}

/// A message from each rank to the next one, which waits for it.
pub(in crate::algo) fn cost(call: &Call) -> Cost {
    let rounds = call.ranks as usize - 1;
    let bytes = call.bytes().saturating_mul(rounds);
    Cost { rounds, bytes, reduced: bytes, ..Cost::default() }
}

/// Data flows one way only.
pub(in crate::algo) fn work(call: &Call) -> AggregateWork {
    let messages = call.ranks as usize - 1;
    let (busiest, sent_on) = (SendRecvCount::new(1, 1), messages.saturating_sub(1));
    let flow = OneWayFlow { messages, busiest, most_received: 1, sent_on };
    let flow = AggregateWork::flow(call.ranks, flow, call.bytes());
    AggregateWork { reduced: flow.bytes, ..flow }
}
