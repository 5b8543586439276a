//! Distance halving: of the ranks that are left, counted from the root, the upper ones send to the
//! lower ones, the farthest first, so that most messages are between ranks that share a core.
//!
//! ```text
//!   4 ranks, root 0      0              1          2          3
//!   distance 2           a02 <- 2       a13 <- 3   -> 0       -> 1
//!   distance 1           a0213 <- 1     -> 0
//! ```
//!
//! Operands are reduced in another order than that of the ranks, so the operator must commute.
//!
//! Cost: `⌈log2 p⌉ (latency + n + reduction of n)`.
//!
//! Paper: the tree is the binomial one with its usual distances, as in Thakur, Rabenseifner and
//! Gropp, 2005, from its other end; that it keeps to the cores is ours.

use crate::algo::tree_reduce::Sum;
use crate::algo::{Algorithm, Refusal, accepts_commutative, distance_halving, tree_reduce};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost};

struct DistanceHalving;

pub(in crate::algo) const ROW: &dyn Algorithm = &DistanceHalving;

impl Algorithm for DistanceHalving {
    fn name(&self) -> &'static str {
        "distance_halving"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "ranks send to those nearer to the root, the farthest first, so that most share a core"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        accepts_commutative(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        tree_reduce::cost(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        distance_halving::work(call)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Reduce { root, count, .. } = call.operation else {
            unreachable!("a reduction is planned")
        };
        let mut sum = Sum::new(builder, call.rank == root, count);
        distance_halving::reduce(builder, root, &mut sum);
        sum.deliver(builder, root);
    }
}
