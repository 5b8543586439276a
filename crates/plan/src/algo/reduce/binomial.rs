//! Binomial tree in rank order: runs of ranks merge in pairs, and the root leads its run.
//!
//! ```text
//!   8 ranks, root 5      0   1   2   3   4   5   6   7
//!   round 0              0 <-    2 <-      ->5   6 <-
//!   round 1              0 <-----            5 <-
//!   round 2                ----------------->5
//! ```
//!
//! In round `k` the aligned run of `2^k` ranks merges with its neighbour. A run is led by the root
//! if the root is in it, and else by its lowest rank; the leader has the reduction of the
//! run, and the leader of the merged run receives that of the other. A run is always to the left or
//! to the right of the other as a whole, so operands stay in rank order for every root, and an
//! operator that does not commute needs no other tree and no further message.
//!
//! Cost: `⌈log2 p⌉ (latency + n + reduction of n)`.
//!
//! Paper: the tree is that of Johnsson and Ho, 1989, run backwards; keeping the root in the lead is
//! ours.

use std::ops::Range;

use crate::algo::shape::{doublings, tree_up};
use crate::algo::tree_reduce::Sum;
use crate::algo::{Algorithm, Refusal, tree_reduce};
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
        Collective::Reduce
    }

    fn summary(&self) -> &'static str {
        "runs of ranks merge in pairs, in rank order, and the root leads its run"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        tree_reduce::cost(call)
    }

    fn work(&self, call: &Call) -> AggregateWork {
        let flow = AggregateWork::flow(call.ranks, tree_up(call.ranks), call.bytes());
        AggregateWork { reduced: flow.bytes, ..flow }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Reduce { root, count, .. } = call.operation else {
            unreachable!("a reduction is planned")
        };
        let mut sum = Sum::new(builder, call.rank == root, count);
        for round in 0..doublings(call.ranks) {
            let (left, right) = runs(call, round);
            if right.is_empty() {
                continue;
            }
            let (left, right) = (leader(left, root), leader(right, root));
            let merged = if right == root { right } else { left };
            if merged == call.rank {
                let (other, is_left) = if merged == left { (right, false) } else { (left, true) };
                sum.merge(builder, other, is_left);
            } else {
                // Whoever is still here leads its run, so this is the other leader.
                return builder.send(merged, sum.value());
            }
        }
        sum.deliver(builder, root);
    }
}

/// The run of `2^round` ranks around the caller and its neighbour, left one first.
fn runs(call: &Call, round: u32) -> (Range<u64>, Range<u64>) {
    // 64 bits, as the end of a run may lie beyond the last rank.
    let (ranks, len) = (u64::from(call.ranks), 1u64 << round);
    let start = u64::from(call.rank.0) & !(2 * len - 1);
    let middle = ranks.min(start + len);
    (start..middle, middle..ranks.min(start + 2 * len))
}

fn leader(run: Range<u64>, root: Rank) -> Rank {
    if run.contains(&u64::from(root.0)) { root } else { Rank(run.start as u32) }
}
