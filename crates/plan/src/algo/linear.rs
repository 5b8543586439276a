//! Shared by the direct (linear, fully connected) algorithms: limits, cost, and the order of
//! partners.
//!
//! A linear algorithm has one round, in which a rank sends to, or receives from, every other rank.
//! It has the fewest rounds and the most messages. That is right for short data if a round is
//! expensive, above all if ranks share cores: then a round ends only when each rank has had its
//! turn on a core.
//!
//! If all ranks send and receive, a rank sends first: a receive copies a long message that has
//! already arrived at once, and the receiver of our message would wait during this copy.

use super::shape::ring::Ring;
use super::{Refusal, operand_placement};
use crate::build::Builder;
use crate::call::{Call, Rank};
use crate::cost::Cost;
use crate::plan::{Buffer, Slice};

/// The most ranks of a linear algorithm: a rank may need memory and a message in progress for each
/// other one, and with so many ranks a few more rounds cost less than that many messages.
const MOST_RANKS: u32 = 64;

/// Refuses more than [`MOST_RANKS`] ranks.
pub(super) fn accepts(call: &Call) -> Result<(), Refusal> {
    if call.ranks <= MOST_RANKS {
        Ok(())
    } else {
        Err(Refusal::TooManyRanks { ranks: call.ranks, most: MOST_RANKS })
    }
}

/// One message of `bytes` for each other rank, sent or received by one rank. They do not wait for
/// each other, but all go through that one rank.
pub(super) fn cost(call: &Call, bytes: usize) -> Cost {
    let messages = call.ranks as usize - 1;
    Cost {
        rounds: messages.min(1),
        extra_sends: messages.saturating_sub(1),
        bytes: bytes.saturating_mul(messages),
        ..Cost::default()
    }
}

/// The same where one rank sends them all, and all are the same.
pub(super) fn cost_of_same(call: &Call, bytes: usize) -> Cost {
    let cost = cost(call, bytes);
    Cost { repeated: cost.bytes.saturating_sub(bytes), ..cost }
}

/// Sends `slice` to every other rank, to the next one first: so ranks that do this at once do not
/// all send to the same one.
pub(super) fn send_to_all(builder: &mut Builder<'_>, slice: Slice) {
    let slices = vec![slice; builder.ranks() as usize];
    send_to_each(builder, &slices);
}

/// Sends to every other rank its slice of `slices`, which are in rank order: to the next one first.
pub(super) fn send_to_each(builder: &mut Builder<'_>, slices: &[Slice]) {
    let ring = own_ring(builder);
    for distance in 1..ring.size() {
        let destination = (ring.position + distance) % ring.size();
        builder.send(ring.rank(destination), slices[destination]);
    }
}

/// Receives from every other rank into its place of `places`, which are in rank order: from the
/// one before first, as that one sends to this rank first.
pub(super) fn receive_from_all(builder: &mut Builder<'_>, places: &[Slice]) {
    let ring = own_ring(builder);
    for distance in 1..ring.size() {
        let source = ring.back(distance);
        builder.recv(ring.rank(source), places[source]);
    }
}

/// Sends `slice` to every rank after this one, to the next one first.
pub(super) fn send_to_later(builder: &mut Builder<'_>, slice: Slice) {
    for rank in builder.rank().0 + 1..builder.ranks() {
        builder.send(Rank(rank), slice);
    }
}

/// The operands of all ranks before this one in rank order, received from the one before first.
pub(super) fn receive_from_earlier(builder: &mut Builder<'_>, len: usize) -> Vec<Slice> {
    let earlier = builder.rank().0;
    let operands: Vec<_> = (0..earlier).map(|_| builder.scratch(len)).collect();
    for rank in (0..earlier).rev() {
        builder.recv(Rank(rank), operands[rank as usize]);
    }
    operands
}

/// The operands of all ranks in rank order: the own one where it lies, and a new place in scratch
/// memory for each of the others, so that all can be received at once.
pub(super) fn operands(builder: &mut Builder<'_>, own: Slice) -> Vec<Slice> {
    let me = builder.rank();
    let ranks = (0..builder.ranks()).map(Rank);
    ranks.map(|rank| if rank == me { own } else { builder.scratch(own.len) }).collect()
}

/// The same, where they will be [reduced](reduce_in_order) into `result`: the last one that is
/// received may lie there, as it is not read before the last step.
pub(super) fn operands_of(builder: &mut Builder<'_>, own: Slice, result: Slice) -> Vec<Slice> {
    let me = builder.rank().index();
    let Some(last) = (0..builder.ranks() as usize).rev().find(|&rank| rank != me) else {
        return vec![own];
    };
    let mut place = |rank: usize| match rank {
        _ if rank == me => own,
        _ if rank == last => operand_placement::place(builder, own, result),
        _ => builder.scratch(own.len),
    };
    (0..=last.max(me)).map(&mut place).collect()
}

/// Reduces all operands from left to right: `((a0 ∘ a1) ∘ a2) ∘ …`, the same expression at every
/// rank that does it.
///
/// What has been reduced so far lies in the place of a received operand and not in that of the
/// result, where in place the own operand still waits for its turn.
pub(super) fn reduce_in_order(builder: &mut Builder<'_>, operands: &[Slice], result: Slice) {
    let fits = |operand: Slice| operand == result || !operand.overlaps(result);
    let mut sum = operands[0];
    for (index, &operand) in operands.iter().enumerate().skip(1) {
        let into = match sum.buffer {
            _ if index + 1 == operands.len() && fits(sum) && fits(operand) => result,
            Buffer::Scratch => sum,
            // The own operand comes first, so this one has been received.
            Buffer::Input | Buffer::Output => operand,
        };
        builder.reduce(sum, operand, into);
        sum = into;
    }
    // Only where there was nobody to receive from, or where the result lies across the own operand,
    // the sum is not there yet.
    builder.copy(sum, result);
}

/// The ring of all ranks from rank 0 on, so that positions are ranks.
fn own_ring(builder: &Builder<'_>) -> Ring {
    Ring::new(builder.ranks(), Rank(0), builder.rank())
}
