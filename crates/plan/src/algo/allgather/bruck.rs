//! Bruck: each rank fetches from the rank `2^k` after it all the blocks that one has.
//!
//! ```text
//!   5 ranks      0        1        2        3        4
//!   start        a        b        c        d        e
//!   round 0      ab       bc       cd       de       ea
//!   round 1      abcd     bcde     cdea     deab     eabc
//!   round 2      abcde    bcdea    cdeab    deabc    eabcd      only what is missing travels
//!   place        abcde    abcde    abcde    abcde    abcde
//! ```
//!
//! A rank keeps the blocks in the order that begins with its own, so that what travels is one run,
//! and puts them in place at the end.
//!
//! Cost: `⌈log2 p⌉ latency + (p - 1) n` for blocks of `n`, and a copy of all.
//!
//! Paper: Bruck, Ho, Kipnis, Upfal and Weathersby, *Efficient algorithms for all-to-all
//! communications in multiport message-passing systems*, 1997.

use crate::algo::gathered_blocks::{Staging, blocks, doubling_cost, doubling_longest};
use crate::algo::shape::doublings;
use crate::algo::shape::ring::Ring;
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Rank};
use crate::cost::{AggregateWork, Cost, DistancePattern};

/// The algorithm, of an allgather or an allgatherv.
pub(in crate::algo) struct Bruck {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Bruck { collective: Collective::Allgather };

impl Algorithm for Bruck {
    fn name(&self) -> &'static str {
        "bruck"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "each rank fetches all that ranks 1, 2, 4, ... after it have"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        Cost { copied: call.bytes(), ..doubling_cost(call) }
    }

    fn longest(&self, call: &Call) -> usize {
        doubling_longest(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Growing)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let ring = Ring::new(call.ranks, Rank(0), call.rank);
        let ranks = ring.size();
        let mut blocks = blocks(call);
        blocks.rotate_left(ring.position);
        let mut staging = Staging::new(builder, blocks, 0);
        for distance in (0..doublings(call.ranks)).map(|round| 1 << round) {
            let count = distance.min(ranks - distance);
            let (before, after) = (ring.back(distance), ring.position + distance);
            let outgoing = (ring.rank(before), 0..count);
            let incoming = (ring.rank(after), distance..distance + count);
            staging.swap(builder, outgoing, incoming);
        }
        staging.finish(builder);
    }
}
