//! Scatter, then allgather: the root deals out one part for each rank, and a ring collects them.
//!
//! ```text
//!   4 ranks, root 0      0      1      2      3
//!   scatter            abcd           cd             binomial: a subtree's parts in one message
//!                      abcd     b     cd      d
//!   ring                 -> b   -> c   -> d   ->     only parts that the next rank has not
//!                      abcd   abcd   abcd   abcd
//! ```
//!
//! After the scatter a position holds the parts of its whole subtree, and the ring passes by
//! what the receiver holds. Each byte enters a rank once.
//!
//! Cost: `(⌈log2 p⌉ + p - 1) latency + 2 n (p - 1) / p`: twice the data, whatever `p` is.
//!
//! Paper: Barnett, Shuler, van de Geijn et al., *Interprocessor collective communication library
//! (InterCom)*, 1994.

use crate::algo::gathered_blocks::{circulate, parts};
use crate::algo::shape::ring::Ring;
use crate::algo::shape::{binomial, doublings};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost, DistancePattern};
use crate::plan::Slice;

struct ScatterAllgather;

pub(in crate::algo) const ROW: &dyn Algorithm = &ScatterAllgather;

impl Algorithm for ScatterAllgather {
    fn name(&self) -> &'static str {
        "scatter_allgather"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "the root deals out parts by a binomial tree, and a ring collects them"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let ranks = call.ranks as usize;
        let part = call.bytes().div_ceil(ranks);
        Cost {
            rounds: doublings(call.ranks) as usize + ranks - 1,
            bytes: part.saturating_mul(2 * (ranks - 1)),
            ..Cost::default()
        }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::alike(call.ranks, &self.cost(call)).reaching(DistancePattern::Neighbours)
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Bcast { root, .. } = call.operation else {
            unreachable!("a broadcast is planned")
        };
        let ring = Ring::new(call.ranks, root, call.rank);
        let (data, parts) = (builder.output(), parts(builder.output(), ring.size()));
        let held = |position| binomial::subtree(position, ring.size());
        let subtree = |position| -> Slice {
            let positions = held(position);
            data.range(parts[positions.start].start..parts[positions.end - 1].end())
        };
        if let Some(parent) = binomial::parent(ring.position) {
            builder.recv(ring.rank(parent), subtree(ring.position));
        }
        for child in binomial::children(ring.position, ring.size()) {
            builder.send(ring.rank(child), subtree(child));
        }
        circulate(builder, ring, &parts, parts[ring.position], held);
    }
}
