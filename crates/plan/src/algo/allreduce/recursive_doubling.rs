//! Recursive doubling: in round `k` ranks that differ in bit `k` swap all they have and reduce.
//!
//! ```text
//!   4 ranks      0       1       2       3
//!   round 0      a0a1 <> a0a1    a2a3 <> a2a3
//!   round 1      a0a1a2a3 <----> a0a1a2a3          and so 1 <> 3
//! ```
//!
//! Both of a pair compute the same expression, the lower run of ranks on the left. So
//! all ranks have the same bits at the end, and the operator need not commute. A number of
//! ranks that is not a power of two is folded onto one that is.
//!
//! Cost: `log2 c (latency + n + reduction of n)` for `c` corners, and two latencies, twice `n` and
//! one reduction more where ranks fold.
//!
//! Paper: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in
//! MPICH*, 2005.

use crate::algo::fold::{fold, folding_cost, unfold};
use crate::algo::operand_placement::Places;
use crate::algo::shape::hypercube::{Fold, is_lower, partner};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost, DistancePattern};

struct RecursiveDoubling;

pub(in crate::algo) const ROW: &dyn Algorithm = &RecursiveDoubling;

impl Algorithm for RecursiveDoubling {
    fn name(&self) -> &'static str {
        "recursive_doubling"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "pairs swap all they have and reduce; the distance doubles in each round"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let shape = Fold::new(call.ranks);
        shape.cost(meeting_cost(call, shape), folding_cost(call))
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let shape = Fold::new(call.ranks);
        let work = shape.work(&meeting_cost(call, shape), &folding_cost(call));
        work.reaching(DistancePattern::Doubling)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let shape = Fold::new(call.ranks);
        let output = builder.output();
        let Some(corner) = fold(builder, shape) else { return };
        let mut incoming = Places::new(output.len);
        let mut value = corner.data;
        for round in 0..shape.rounds() {
            let theirs = incoming.next(builder, value, output);
            let peer = shape.rank(partner(corner.number, round));
            builder.send(peer, value);
            builder.recv(peer, theirs);
            let (left, right) =
                if is_lower(corner.number, round) { (value, theirs) } else { (theirs, value) };
            builder.reduce(left, right, output);
            value = output;
        }
        builder.copy(value, output);
        unfold(builder, &corner);
    }
}

/// What a corner does.
fn meeting_cost(call: &Call, shape: Fold) -> Cost {
    let rounds = shape.rounds() as usize;
    let bytes = call.bytes().saturating_mul(rounds);
    Cost { rounds, bytes, reduced: bytes, ..Cost::default() }
}
