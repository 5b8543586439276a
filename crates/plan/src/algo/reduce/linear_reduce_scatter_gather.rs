//! Linear reduce-scatter and gather: each rank reduces one piece of the data, which all others send
//! to it, and sends the result to the root.
//!
//! ```text
//!   3 ranks, pieces xyz      0                1 (root)         2
//!   sends                    y0 z0            z1 x1            x2 y2          all at once
//!   reduces                  (x0 ∘ x1) ∘ x2   (y0 ∘ y1) ∘ y2   (z0 ∘ z1) ∘ z2
//!   sends                    x                                 z              all at once
//! ```
//!
//! All ranks reduce, each `1/p` of the data: right for data that is so long that to reduce it takes
//! longer than to send it once more. Each piece is reduced from left to right, so the operator
//! need not commute.
//!
//! Cost: two latencies and `2 (p - 2)` further messages, `2 n (p - 1) / p` and a reduction of half
//! of that; `n (p - 2) / p` of scratch memory, and `n / p` more at all but the root.

use crate::algo::gathered_blocks::{longest_part_bytes, parts};
use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost};

struct LinearReduceScatterGather;

pub(in crate::algo) const ROW: &dyn Algorithm = &LinearReduceScatterGather;

impl Algorithm for LinearReduceScatterGather {
    fn name(&self) -> &'static str {
        "linear_reduce_scatter_gather"
    }

    fn collective(&self) -> Collective {
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "each rank reduces one piece, which all send to it, and sends the result to the root"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let (scatter, gather) = rounds(call);
        scatter.then(gather)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let (scatter, gather) = rounds(call);
        let scatter = AggregateWork::alike(call.ranks, &scatter);
        AggregateWork {
            waits: scatter.waits + gather.rounds,
            messages: scatter.messages + gather.rounds + gather.extra_sends,
            bytes: scatter.bytes.saturating_add(gather.bytes),
            copied: scatter.copied.saturating_add(gather.copied),
            ..scatter
        }
    }

    fn longest(&self, call: &Call) -> usize {
        longest_part_bytes(call)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Reduce { root, .. } = call.operation else {
            unreachable!("a reduction is planned")
        };
        let (ranks, me) = (call.ranks as usize, call.rank.index());
        let given = parts(builder.contribution(), ranks);
        let results = parts(builder.output(), ranks);
        let is_root = call.rank == root;
        let result = if is_root { results[me] } else { builder.scratch(given[me].len) };
        let operands = linear::operands_of(builder, given[me], result);
        linear::send_to_each(builder, &given);
        linear::receive_from_all(builder, &operands);
        linear::reduce_in_order(builder, &operands, result);
        if is_root {
            linear::receive_from_all(builder, &results);
        } else {
            builder.send(root, result);
        }
    }
}

/// What each rank does until its piece is reduced, and what the root does then: what it receives
/// lies in the caches of those who have reduced it.
fn rounds(call: &Call) -> (Cost, Cost) {
    let piece = call.bytes().div_ceil(call.ranks as usize);
    let each = linear::cost(call, piece);
    (Cost { reduced: each.bytes, ..each }, Cost { copied: each.bytes, ..each })
}
