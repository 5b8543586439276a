//! Bruck: a block travels to its destination by powers of two, together with all that go that way.
//!
//! ```text
//!   5 ranks; a block `d` ranks from its destination travels in the rounds of the bits of `d`
//!
//!   distance     1    2    3    4
//!   round 0      x         x              to the rank 1 after
//!   round 1           x    x              to the rank 2 after
//!   round 2                     x         to the rank 4 after
//! ```
//!
//! In round `k` a rank puts together the blocks whose distance has bit `k`, whether its own or come
//! from others, and sends them in one message; for each it receives one of the same distance, which
//! takes its place. So each block is sent about `log2 p / 2` times, to save messages: right
//! for short blocks. Nothing is written to the output before the end, so in place needs no more.
//!
//! Cost: `⌈log2 p⌉` latencies, and about `p n / 2` in each round for blocks of `n`, copied as
//! often.
//!
//! Paper: Bruck, Ho, Kipnis, Upfal and Weathersby, *Efficient algorithms for all-to-all
//! communications in multiport message-passing systems*, 1997.

use crate::algo::shape::doublings;
use crate::algo::shape::ring::Ring;
use crate::algo::{Algorithm, Refusal, gathered_blocks, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};
use crate::plan::Slice;

struct Bruck;

pub(in crate::algo) const ROW: &dyn Algorithm = &Bruck;

impl Algorithm for Bruck {
    fn name(&self) -> &'static str {
        "bruck"
    }

    fn collective(&self) -> Collective {
        Collective::Alltoall
    }

    fn summary(&self) -> &'static str {
        "blocks travel by powers of two, all that go the same way in one message"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let (rounds, ranks) = (doublings(call.ranks), call.ranks as usize);
        let block = call.bytes() / ranks;
        let blocks: usize = (0..rounds).map(|round| travelling(ranks, round).count()).sum();
        Cost {
            rounds: rounds as usize,
            bytes: block.saturating_mul(blocks),
            copied: block.saturating_mul(blocks + ranks - 1),
            ..Cost::default()
        }
    }

    fn longest(&self, call: &Call) -> usize {
        let ranks = call.ranks as usize;
        let travel = (0..doublings(call.ranks)).map(|round| travelling(ranks, round).count());
        (call.bytes() / ranks).saturating_mul(travel.max().unwrap_or(0))
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Doubling)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Alltoall { count } = call.operation else {
            unreachable!("an alltoall is planned")
        };
        let ring = Ring::new(call.ranks, Rank(0), call.rank);
        let (me, ranks) = (ring.position, ring.size());
        // By distance: where the block is that still has to go, or has come, so far.
        let mut blocks = scattered_blocks::blocks(call);
        blocks.rotate_left(me);
        for round in 0..doublings(call.ranks) {
            let len = travelling(ranks, round).count() * count;
            // Each round has its own places, so all receives can wait at once.
            let (outgoing, incoming) = (builder.scratch(len), builder.scratch(len));
            put_together(
                builder,
                travelling(ranks, round).map(|distance| blocks[distance]),
                outgoing,
            );
            builder.send(ring.rank((me + (1 << round)) % ranks), outgoing);
            builder.recv(ring.rank(ring.back(1 << round)), incoming);
            for (index, distance) in travelling(ranks, round).enumerate() {
                blocks[distance] = incoming.sub(index * count, count);
            }
        }
        let output = gathered_blocks::blocks(call);
        for (distance, block) in blocks.into_iter().enumerate() {
            builder.copy(block, output[ring.back(distance)]);
        }
    }
}

/// The distances of the blocks that travel in a round.
fn travelling(ranks: usize, round: u32) -> impl Iterator<Item = usize> {
    (1..ranks).filter(move |distance| distance & (1 << round) != 0)
}

/// Copies blocks one after the other into `room`, with as few copies as their places allow.
fn put_together(builder: &mut Builder<'_>, blocks: impl Iterator<Item = Slice>, room: Slice) {
    let mut blocks = blocks.filter(|block| !block.is_empty()).peekable();
    let mut filled = 0;
    while let Some(mut run) = blocks.next() {
        while let Some(next) =
            blocks.next_if(|next| next.buffer == run.buffer && next.start == run.end())
        {
            run.len += next.len;
        }
        builder.copy(run, room.sub(filled, run.len));
        filled += run.len;
    }
}
