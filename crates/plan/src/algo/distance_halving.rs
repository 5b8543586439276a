//! Distance halving: a tree of reductions to a root in which the farthest ranks send first, for
//! operators that commute.
//!
//! ```text
//!   8 ranks, root 0      0     1     2     3     4     5     6     7
//!   distance 4           + 4   + 5   + 6   + 7   -> 0  -> 1  -> 2  -> 3
//!   distance 2           + 2   + 3   -> 0  -> 1
//!   distance 1           + 1   -> 0
//! ```
//!
//! Ranks are dealt to the cores in turns, so ranks whose distance is a multiple of the number of
//! cores share a core. With 2 cores only the last of these messages crosses between cores, and each
//! core reduces the data of its own ranks. In a binomial tree in rank order all messages of the
//! first round cross between cores, and one core does all reductions.

use super::shape::ring::Ring;
use super::shape::{doublings, tree_from_far};
use super::tree_reduce::Sum;
use crate::build::Builder;
use crate::call::{Call, Rank};
use crate::cost::{AggregateWork, DistancePattern};

/// A message from every rank but the root.
pub(super) fn work(call: &Call) -> AggregateWork {
    let flow = AggregateWork::flow(call.ranks, tree_from_far(call.ranks), call.bytes());
    AggregateWork { reduced: flow.bytes, ..flow }.reaching(DistancePattern::Halving)
}

/// Reduces to the root: all other ranks have sent theirs then.
pub(super) fn reduce(builder: &mut Builder<'_>, root: Rank, sum: &mut Sum) {
    let ring = Ring::new(builder.ranks(), root, builder.rank());
    for distance in (0..doublings(builder.ranks())).rev().map(|round| 1 << round) {
        if ring.position >= distance {
            // Whoever is still here is below twice this distance.
            return builder.send(ring.rank(ring.position - distance), sum.value());
        }
        if ring.position + distance < ring.size().min(2 * distance) {
            sum.merge(builder, ring.rank(ring.position + distance), false);
        }
    }
}
