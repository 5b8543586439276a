//! Tree: ranks reduce to the first one, the farthest first, and it sends the result to all.
//!
//! ```text
//!   4 ranks              0              1          2          3
//!   distance 2           a02 <- 2       a13 <- 3   -> 0       -> 1
//!   distance 1           a0213 <- 1     -> 0
//!   result               -> 1 2 3       <- 0       <- 0       <- 0
//! ```
//!
//! Most messages of the reduction are between ranks that share a core, and each core reduces what
//! its own ranks have: right where many ranks share few cores, for data of which the reduction
//! takes longer than to wait once more. It is done once, so all ranks have the same bits; operands
//! are in another order than the ranks, so the operator must commute.
//!
//! Cost: `⌈log2 p⌉ (latency + n + reduction of n)`, and a latency and `(p - 1) n`.

use crate::algo::tree_reduce::Sum;
use crate::algo::via_root::MIDDLE;
use crate::algo::{Algorithm, Refusal, accepts_commutative, distance_halving, linear, tree_reduce};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost, DistancePattern, SendRecvCount};

struct Tree;

pub(in crate::algo) const ROW: &dyn Algorithm = &Tree;

impl Algorithm for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "ranks reduce to the first, the farthest first, and it sends the result to all"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        accepts_commutative(call)?;
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        tree_reduce::cost(call).then(linear::cost_of_same(call, call.bytes()))
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let up = distance_halving::work(call);
        let down = linear::cost_of_same(call, call.bytes());
        // Whoever has sent looks for the result in vain in each round that comes, in its turn.
        let waits = self.cost(call).rounds * call.ranks as usize;
        AggregateWork {
            waits,
            messages: 2 * up.messages,
            busiest: SendRecvCount::default(),
            sent_on: 0,
            bytes: up.bytes.saturating_add(down.bytes),
            repeated: down.repeated,
            ..up
        }
        .reaching(DistancePattern::Alike)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Allreduce { count, .. } = call.operation else {
            unreachable!("an allreduce is planned")
        };
        let result = builder.output();
        let mut sum = Sum::new(builder, true, count);
        distance_halving::reduce(builder, MIDDLE, &mut sum);
        sum.deliver(builder, MIDDLE);
        if call.rank == MIDDLE {
            linear::send_to_all(builder, result);
        } else {
            builder.recv(MIDDLE, result);
        }
    }
}
