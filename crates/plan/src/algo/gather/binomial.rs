//! Binomial tree: each rank collects the blocks of its subtree and sends them up in one message.
//!
//! ```text
//!   8 ranks, root 0      0
//!   round 0              0 < 1   2 < 3   4 < 5   6 < 7        a block each
//!   round 1              0 <---- 2       4 <---- 6            two
//!   round 2              0 <------------ 4                    four
//! ```
//!
//! Positions in the tree count from the root, and a subtree is a run of positions. The root
//! receives each run straight to its place; only a run that goes on past the last rank comes
//! to scratch memory first, as its two parts lie at the two ends of the output.
//!
//! Cost: `⌈log2 p⌉ latency + (p - 1) n` for blocks of `n`, and copies of a few blocks.
//!
//! Paper: Johnsson and Ho, *Optimum broadcasting and personalized communication in hypercubes*,
//! 1989: their scatter, run backwards.

use crate::algo::shape::tree_up;
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
        Collective::Gather
    }

    fn summary(&self) -> &'static str {
        "each rank collects the blocks of its subtree and sends them up in one message"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let Operation::Gather { root, .. } = call.operation else {
            unreachable!("a gather is planned")
        };
        tree_cost(call, root)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        tree_work(call, tree_up(call.ranks))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let seat = Seat::new(call);
        match seat.parent() {
            Some(parent) => pass_up(builder, seat, parent),
            None => collect(builder, seat),
        }
    }
}

/// Sends the blocks of the subtree to the parent, the own one first.
fn pass_up(builder: &mut Builder<'_>, seat: Seat, parent: Rank) {
    let (own, subtree) = (builder.contribution(), seat.subtree());
    if subtree.len() == 1 {
        return builder.send(parent, own);
    }
    let room = builder.scratch(subtree.len() * seat.count);
    builder.copy(own, room.sub(0, seat.count));
    // The smallest subtree is the first to be complete.
    for (child, positions) in seat.children().rev() {
        builder.recv(child, seat.blocks(room, positions));
    }
    builder.send(parent, room);
}

/// Receives all blocks at the root.
fn collect(builder: &mut Builder<'_>, seat: Seat) {
    let output = builder.output();
    for (child, positions) in seat.children().rev() {
        let (first, second) = seat.in_rank_order(output, positions);
        let Some(second) = second else {
            builder.recv(child, first);
            continue;
        };
        let room = builder.scratch(first.len + second.len);
        builder.recv(child, room);
        builder.copy(room.sub(0, first.len), first);
        builder.copy(room.sub(first.len, second.len), second);
    }
    let place = builder.rank().index() * seat.count;
    builder.copy(builder.contribution(), output.sub(place, seat.count));
}
