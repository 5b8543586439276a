//! Recursive halving: pairs swap halves of what they have and reduce, the data halving each time.
//!
//! ```text
//!   4 ranks, blocks wxyz         0        1        2        3
//!   commutes    round 0          wx       wx       yz       yz      of a0a2 and of a1a3
//!               round 1          w        x        y        z       of all
//!   in order    as wyxz          wyxz     wyxz     wyxz     wyxz
//!               round 0          wy       xz       wy       xz      of a0a1 and of a2a3
//!               round 1          w        x        y        z       of a0a1a2a3
//! ```
//!
//! Where the operator commutes, corners that are far from each other meet first, and halves are
//! runs of blocks. Where it does not, near ones do, so that what a corner has is always the sum
//! over an aligned run of ranks; then halves are every other block, and become runs when the
//! blocks are put in the order of their bits reversed, the lowest first. A number of ranks that is
//! not a power of two is folded onto one that is.
//!
//! Cost: `log2 c` latencies, `n (c - 1) / c` and a reduction of as much, for `n` in all blocks
//! together and `c` corners; two latencies, `n` and a block, and a reduction of `n` more where
//! ranks fold; a copy of `n` where they do not and the operator does not commute.
//!
//! Paper: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in
//! MPICH*, 2005; the reversed bits are Träff's, *An improved algorithm for (non-commutative)
//! reduce-scatter with an application*, 2005.

use std::ops::Range;

use crate::algo::shape::hypercube::{Fold, FoldRole, is_lower, partner};
use crate::algo::{Algorithm, Refusal, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};
use crate::plan::Slice;

/// The algorithm, for blocks of one length or of several.
pub(in crate::algo) struct RecursiveHalving {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm =
    &RecursiveHalving { collective: Collective::ReduceScatterBlock };

impl Algorithm for RecursiveHalving {
    fn name(&self) -> &'static str {
        "recursive_halving"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "pairs swap halves of what they have and reduce, the data halving in each round"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let order = Order::new(call);
        order.shape.cost(order.meeting_cost(call), order.folding_cost(call))
    }

    fn longest(&self, call: &Call) -> usize {
        let order = Order::new(call);
        if order.shape.has_guests() {
            return call.bytes();
        }
        order.half(call, order.rounds().saturating_sub(1))
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let order = Order::new(call);
        let work = order.shape.work(&order.meeting_cost(call), &order.folding_cost(call));
        work.reaching(if order.is_near_first {
            DistancePattern::Shrinking
        } else {
            DistancePattern::Growing
        })
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let order = Order::new(call);
        let blocks = scattered_blocks::blocks(call);
        // In place the output goes on behind the result.
        let result = builder.output().sub(0, blocks[call.rank.index()].len);
        let (corner, guest, data) = match order.shape.part(call.rank) {
            FoldRole::Guest { host } => {
                builder.send(host, builder.contribution());
                return builder.recv(host, result);
            }
            FoldRole::Host { corner, guest } => (corner, Some(guest), order.fold(builder, guest)),
            FoldRole::Alone { corner } => (corner, None, order.arrange(builder)),
        };
        let last = if guest.is_none() && !call.in_place { Some(result) } else { None };
        let sum = order.halve(builder, corner, data, last);
        let guests = guest.map_or(0, |guest| blocks[guest.index()].len);
        if let Some(guest) = guest {
            builder.send(guest, sum.sub(0, guests));
        }
        builder.copy(sum.sub(guests, result.len), result);
    }
}

/// The order of the corners in which every half is a run, and who meets whom.
struct Order {
    shape: Fold,
    /// What each corner stands for, in the contribution: its own block, after that of its guest.
    parts: Vec<Slice>,
    /// The corners in this order.
    corners: Vec<usize>,
    /// Where each of them begins in this order; one more entry for the end.
    bounds: Vec<usize>,
    is_near_first: bool,
}

impl Order {
    fn new(call: &Call) -> Self {
        let shape = Fold::new(call.ranks);
        let blocks = scattered_blocks::blocks(call);
        let part = |corner: u32| {
            let host = shape.rank(corner);
            let own = blocks[host.index()];
            match shape.part(host) {
                FoldRole::Host { guest, .. } => {
                    let first = blocks[guest.index()];
                    Slice { len: first.len + own.len, ..first }
                }
                _ => own,
            }
        };
        let parts: Vec<_> = (0..1 << shape.rounds()).map(part).collect();
        let is_near_first = call.operation.commutative() == Some(false);
        let corners: Vec<_> = if is_near_first {
            (0..parts.len()).map(|corner| reversed(corner, shape.rounds())).collect()
        } else {
            (0..parts.len()).collect()
        };
        let mut bounds = vec![0];
        for corner in &corners {
            bounds.push(bounds[bounds.len() - 1] + parts[*corner].len);
        }
        Self { shape, parts, corners, bounds, is_near_first }
    }

    fn rounds(&self) -> u32 {
        self.shape.rounds()
    }

    fn largest_part(&self, call: &Call) -> usize {
        scattered_blocks::largest_bytes(call, self.parts.iter().copied())
    }

    /// Bytes of `2^round` parts, or more.
    fn half(&self, call: &Call, round: u32) -> usize {
        self.largest_part(call).saturating_mul(1 << round).min(call.bytes())
    }

    /// What a corner does.
    fn meeting_cost(&self, call: &Call) -> Cost {
        let halves = (0..self.rounds()).map(|round| self.half(call, round));
        let halves = halves.fold(0, usize::saturating_add);
        let is_copied = !self.shape.has_guests() && self.runs().len() > 1;
        Cost {
            rounds: self.rounds() as usize,
            bytes: halves,
            reduced: halves,
            copied: call.bytes() * usize::from(is_copied),
            ..Cost::default()
        }
    }

    /// What it takes that a guest sends its contribution and receives its block.
    fn folding_cost(&self, call: &Call) -> Cost {
        let (whole, part) = (call.bytes(), self.largest_part(call));
        Cost { rounds: 2, bytes: whole.saturating_add(part), reduced: whole, ..Cost::default() }
    }

    /// Runs that are adjacent both in the contribution and in this order: where they begin there
    /// and here, and their length. One if the orders are the same.
    fn runs(&self) -> Vec<(usize, usize, usize)> {
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for (corner, into) in self.corners.iter().zip(&self.bounds) {
            let part = self.parts[*corner];
            match runs.last_mut() {
                Some((from, _, len)) if *from + *len == part.start => *len += part.len,
                _ => runs.push((part.start, *into, part.len)),
            }
        }
        runs
    }

    /// The contribution in this order.
    fn arrange(&self, builder: &mut Builder<'_>) -> Slice {
        let (own, runs) = (builder.contribution(), self.runs());
        if runs.len() == 1 {
            return own;
        }
        let data = builder.scratch(own.len);
        for (from, into, len) in runs {
            builder.copy(own.sub(from, len), data.sub(into, len));
        }
        data
    }

    /// What the guest has and the contribution, reduced and in this order.
    fn fold(&self, builder: &mut Builder<'_>, guest: Rank) -> Slice {
        let (own, runs) = (builder.contribution(), self.runs());
        let incoming = builder.scratch(own.len);
        builder.recv(guest, incoming);
        let data = if runs.len() == 1 { incoming } else { builder.scratch(own.len) };
        for (from, into, len) in runs {
            builder.reduce(incoming.sub(from, len), own.sub(from, len), data.sub(into, len));
        }
        data
    }

    /// Meets the other corners and reduces, until the part of `corner` is left. The last reduction
    /// goes to `last` if that is given.
    fn halve(
        &self,
        builder: &mut Builder<'_>,
        corner: u32,
        mut data: Slice,
        last: Option<Slice>,
    ) -> Slice {
        let mut held = 0..self.corners.len();
        for round in 0..self.rounds() {
            let bit = if self.is_near_first { round } else { self.rounds() - 1 - round };
            let (lower, peer) = (is_lower(corner, bit), self.shape.rank(partner(corner, bit)));
            let middle = held.start.midpoint(held.end);
            let halves = (held.start..middle, middle..held.end);
            let (kept, given) = if lower { halves } else { (halves.1, halves.0) };
            let (own, outgoing) = (self.slice(data, &held, &kept), self.slice(data, &held, &given));
            let last = last.filter(|_| kept.len() == 1);
            let sum = last.unwrap_or_else(|| builder.scratch(own.len));
            builder.send(peer, outgoing);
            builder.recv(peer, sum);
            let (left, right) = if lower { (own, sum) } else { (sum, own) };
            builder.reduce(left, right, sum);
            (data, held) = (sum, kept);
        }
        data
    }

    /// The corners at positions `part`, where `data` has those at `held`.
    fn slice(&self, data: Slice, held: &Range<usize>, part: &Range<usize>) -> Slice {
        let start = self.bounds[held.start];
        data.range(self.bounds[part.start] - start..self.bounds[part.end] - start)
    }
}

/// The lowest `bits` of a number in reverse.
fn reversed(number: usize, bits: u32) -> usize {
    (0..bits).filter(|bit| number & (1 << bit) != 0).map(|bit| 1 << (bits - 1 - bit)).sum()
}
