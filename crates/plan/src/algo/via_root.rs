//! Shared by the star algorithms (linear gather to one rank, then linear scatter): the centre, and
//! the cost.
//!
//! In a star all ranks send to rank 0, which does the whole work and sends each rank its result.
//! All messages pass one rank in two rounds, so a star is slow if each rank has its own core. If
//! many ranks share few cores, the total work counts: `2 (p - 1)` messages are the fewest possible,
//! and each rank waits once, so it needs one turn on a core.

use super::{Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern, SendRecvCount};
use crate::plan::Slice;

/// The rank in the middle.
pub(super) const MIDDLE: Rank = Rank(0);

/// As many ranks as for linear algorithms: the rank in the middle receives from all at once.
pub(super) fn accepts(call: &Call) -> Result<(), Refusal> {
    linear::accepts(call)
}

/// Every rank sends `inward` bytes to the middle and receives `outward` bytes.
pub(super) fn cost(call: &Call, inward: usize, outward: usize) -> Cost {
    linear::cost(call, inward).then(linear::cost(call, outward))
}

/// The same where all receive the same.
pub(super) fn cost_of_same(call: &Call, inward: usize, outward: usize) -> Cost {
    linear::cost(call, inward).then(linear::cost_of_same(call, outward))
}

/// What all ranks do in an algorithm of this cost: no more than the rank in the middle, and each
/// waits once.
pub(super) fn work(call: &Call, cost: &Cost) -> AggregateWork {
    let others = call.ranks.saturating_sub(1) as usize;
    let middle = SendRecvCount::new(others, others);
    let work = AggregateWork::of_one(call.ranks, middle, cost).reaching(DistancePattern::Alike);
    AggregateWork { waits: call.ranks as usize, ..work }
}

/// The ranks around the middle.
pub(super) fn others(builder: &Builder<'_>) -> impl Iterator<Item = Rank> + use<> {
    (1..builder.ranks()).map(Rank)
}

/// What a rank that is not in the middle does: it sends one slice and receives another.
pub(super) fn swap(builder: &mut Builder<'_>, own: Slice, result: Slice) {
    builder.send(MIDDLE, own);
    builder.recv(MIDDLE, result);
}
