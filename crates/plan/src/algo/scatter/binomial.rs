//! Binomial tree: each rank receives the blocks of its subtree in one message and deals them out.
//!
//! ```text
//!   8 ranks, root 0      0
//!   round 0              0 ------------> 4                    four blocks
//!   round 1              0 ----> 2       4 ----> 6            two
//!   round 2              0 > 1   2 > 3   4 > 5   6 > 7        one
//! ```
//!
//! Positions in the tree count from the root, and a subtree is a run of positions. The root
//! sends each run from where it lies; only a run that goes on past the last rank is put together in
//! scratch memory first, as its two parts lie at the two ends of the input.
//!
//! Cost: `⌈log2 p⌉ latency + (p - 1) n` for blocks of `n`, and copies of a few blocks.
//!
//! Paper: Johnsson and Ho, *Optimum broadcasting and personalized communication in hypercubes*,
//! 1989.

use crate::algo::shape::tree_down;
use crate::algo::subtree::{Seat, tree_cost, tree_work};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::cost::{AggregateWork, Cost};

struct Binomial;

pub(in crate::algo) const ROW: &dyn Algorithm = &Binomial;

impl Algorithm for Binomial {
    fn name(&self) -> &'static str {
        "binomial"
    }

    fn collective(&self) -> Collective {
        Collective::Scatter
    }

    fn summary(&self) -> &'static str {
        "each rank receives the blocks of its subtree in one message and deals them out"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::Scatter { root, .. } = call.operation else {
            unreachable!("a scatter is planned")
        };
        tree_cost(call, root)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        tree_work(call, tree_down(call.ranks))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let seat = Seat::new(call);
        match seat.parent() {
            Some(parent) => pass_down(builder, seat, parent),
            None => deal_out(call, builder, seat),
        }
    }
}

/// Receives the blocks of the subtree, the own one first, and sends those of each child.
fn pass_down(builder: &mut Builder<'_>, seat: Seat, parent: Rank) {
    let (output, subtree) = (builder.output(), seat.subtree());
    if subtree.len() == 1 {
        return builder.recv(parent, output);
    }
    let room = builder.scratch(subtree.len() * seat.count);
    builder.recv(parent, room);
    for (child, positions) in seat.children() {
        builder.send(child, seat.blocks(room, positions));
    }
    // Last, as nobody waits for it.
    builder.copy(room.sub(0, seat.count), output);
}

/// Sends all blocks from the root.
fn deal_out(call: &Call, builder: &mut Builder<'_>, seat: Seat) {
    let input = builder.contribution();
    for (child, positions) in seat.children() {
        let (first, second) = seat.in_rank_order(input, positions);
        let Some(second) = second else {
            builder.send(child, first);
            continue;
        };
        let room = builder.scratch(first.len + second.len);
        builder.copy(first, room.sub(0, first.len));
        builder.copy(second, room.sub(first.len, second.len));
        builder.send(child, room);
    }
    if !call.in_place {
        let place = call.rank.index() * seat.count;
        builder.copy(input.sub(place, seat.count), builder.output());
    }
}
