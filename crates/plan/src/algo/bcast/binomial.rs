//! Binomial tree: whoever has the data sends it on, so the holders double in each round.
//!
//! ```text
//!   8 ranks, root 0      0
//!   round 0              0 ----------> 4
//!   round 1              0 ----> 2     4 ----> 6
//!   round 2              0 > 1   2 > 3 4 > 5   6 > 7
//! ```
//!
//! Positions in the tree count from the root. A rank sends to its largest subtree first.
//!
//! Cost: `⌈log2 p⌉ (latency + n)`.
//!
//! Paper: Johnsson and Ho, *Optimum broadcasting and personalized communication in hypercubes*,
//! 1989.

use crate::algo::shape::ring::Ring;
use crate::algo::shape::{binomial, doublings, tree_down};
use crate::algo::{Algorithm, Refusal};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost};

struct Binomial;

pub(in crate::algo) const ROW: &dyn Algorithm = &Binomial;

impl Algorithm for Binomial {
    fn name(&self) -> &'static str {
        "binomial"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "whoever has the data sends it on; the holders double in each round"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let rounds = doublings(call.ranks) as usize;
        Cost { rounds, bytes: call.bytes().saturating_mul(rounds), ..Cost::default() }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let flow = AggregateWork::flow(call.ranks, tree_down(call.ranks), call.bytes());
        // Of each two neighbours in the tree one sends.
        let senders = call.ranks as usize / 2;
        AggregateWork { repeated: call.bytes().saturating_mul(flow.messages - senders), ..flow }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Bcast { root, .. } = call.operation else {
            unreachable!("a broadcast is planned")
        };
        let ring = Ring::new(call.ranks, root, call.rank);
        let data = builder.output();
        if let Some(parent) = binomial::parent(ring.position) {
            builder.recv(ring.rank(parent), data);
        }
        for child in binomial::children(ring.position, ring.size()) {
            builder.send(ring.rank(child), data);
        }
    }
}
