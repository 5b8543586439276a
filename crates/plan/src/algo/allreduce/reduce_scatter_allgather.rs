//! Reduce-scatter, then allgather: pairs halve the data while they double the distance, and back.
//!
//! ```text
//!   4 ranks, parts wxyz      0        1        2        3
//!   round 0, swap halves     wx       yz       wx       yz      of a0a1 and of a2a3
//!   round 1, swap quarters   w        y        x        z       of a0a1a2a3
//!   round 1 back             wx       yz       wx       yz
//!   round 0 back             wxyz     wxyz     wxyz     wxyz
//! ```
//!
//! In round `k` corners that differ in bit `k` meet, so what a corner has is always the sum over an
//! aligned run of ranks, and the lower run is the left operand: the operator need not commute.
//! (Halving with the far partner first would be the same cost, but out of order.) Each part
//! is finished at one rank and then only copied, so all ranks have the same bits.
//!
//! Cost: `2 log2 c` latencies, `2 n (c - 1) / c` and a reduction of `n (c - 1) / c`, for `c`
//! corners; two latencies, twice `n` and a reduction of `n` more where ranks fold.
//!
//! Paper: Rabenseifner, *Optimization of collective reduction operations*, 2004.

use std::ops::Range;

use crate::algo::fold::{fold, folding_cost, unfold};
use crate::algo::operand_placement;
use crate::algo::shape::hypercube::{Fold, is_lower, partner};
use crate::algo::shape::partition::part;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::{AggregateWork, Cost, DistancePattern};

struct ReduceScatterAllgather;

pub(in crate::algo) const ROW: &dyn Algorithm = &ReduceScatterAllgather;

impl Algorithm for ReduceScatterAllgather {
    fn name(&self) -> &'static str {
        "reduce_scatter_allgather"
    }

    fn collective(&self) -> Collective {
        Collective::Allreduce
    }

    fn summary(&self) -> &'static str {
        "pairs swap halves and reduce, the data halving in each round, then gather them again"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let shape = Fold::new(call.ranks);
        shape.cost(meeting_cost(call, shape), copied_folding_cost(call))
    }

    fn longest(&self, call: &Call) -> usize {
        if Fold::new(call.ranks).has_guests() {
            return call.bytes();
        }
        let elements = call.bytes() / call.element_bytes.max(1);
        elements.div_ceil(2) * call.element_bytes
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let shape = Fold::new(call.ranks);
        let work = shape.work(&meeting_cost(call, shape), &copied_folding_cost(call));
        work.reaching(DistancePattern::Shrinking)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let shape = Fold::new(call.ranks);
        let output = builder.output();
        let Some(corner) = fold(builder, shape) else { return };
        let mut value = corner.data;
        let mut halvings = Vec::new();
        let mut range = 0..output.len;
        for round in 0..shape.rounds() {
            let lower = is_lower(corner.number, round);
            let Halving { kept, given } = Halving::new(range, lower);
            let peer = shape.rank(partner(corner.number, round));
            // Each round has its own place to receive into, so all receives can wait at once.
            let (operand, into) = (value.range(kept.clone()), output.range(kept.clone()));
            let theirs = operand_placement::place(builder, operand, into);
            builder.send(peer, value.range(given.clone()));
            builder.recv(peer, theirs);
            let (left, right) = if lower { (operand, theirs) } else { (theirs, operand) };
            builder.reduce(left, right, into);
            value = output;
            range = kept.clone();
            halvings.push((peer, Halving { kept, given }));
        }
        builder.copy(value, output);
        for (peer, Halving { kept, given }) in halvings.into_iter().rev() {
            builder.send(peer, output.range(kept));
            builder.recv(peer, output.range(given));
        }
        unfold(builder, &corner);
    }
}

/// A range cut in two, as one of a pair sees it.
struct Halving {
    kept: Range<usize>,
    given: Range<usize>,
}

impl Halving {
    fn new(range: Range<usize>, lower: bool) -> Self {
        let half = |index| {
            let half = part(range.len(), 2, index);
            range.start + half.start..range.start + half.end
        };
        let (low, high) = (half(0), half(1));
        if lower { Self { kept: low, given: high } } else { Self { kept: high, given: low } }
    }
}

/// What a corner does. As in a ring: what is reduced is in the caches of others.
fn meeting_cost(call: &Call, shape: Fold) -> Cost {
    let halves = call.bytes() - (call.bytes() >> shape.rounds());
    Cost {
        rounds: 2 * shape.rounds() as usize,
        bytes: halves.saturating_mul(2),
        reduced: halves,
        copied: halves,
        ..Cost::default()
    }
}

fn copied_folding_cost(call: &Call) -> Cost {
    let cost = folding_cost(call);
    Cost { copied: cost.reduced, ..cost }
}
