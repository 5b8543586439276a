//! Shared by binomial gather and binomial scatter: the tree, and the blocks of its messages.
//!
//! Positions in the tree count from the root. A message holds the blocks of a run of positions:
//! those of consecutive ranks, except for one run, which may wrap around past the last rank.

use std::ops::Range;

use super::shape::ring::Ring;
use super::shape::{binomial, doublings};
use crate::call::{Call, Operation, Rank};
use crate::cost::{AggregateWork, Cost, OneWayFlow};
use crate::plan::Slice;

/// A rank in the tree, and the length of a block.
#[derive(Clone, Copy)]
pub(super) struct Seat {
    pub(super) ring: Ring,
    pub(super) count: usize,
}

impl Seat {
    /// The seat of the rank of a gather or a scatter.
    pub(super) fn new(call: &Call) -> Self {
        let (Operation::Gather { count, root } | Operation::Scatter { count, root }) =
            call.operation
        else {
            unreachable!("a gather or a scatter is planned")
        };
        Self { ring: Ring::new(call.ranks, root, call.rank), count }
    }

    /// The rank from which this one has its blocks, or to which it sends them; none at the root.
    pub(super) fn parent(self) -> Option<Rank> {
        binomial::parent(self.ring.position).map(|position| self.ring.rank(position))
    }

    /// The ranks below this one with the positions of their subtrees, the largest first.
    pub(super) fn children(self) -> impl DoubleEndedIterator<Item = (Rank, Range<usize>)> {
        let size = self.ring.size();
        binomial::children(self.ring.position, size)
            .map(move |child| (self.ring.rank(child), binomial::subtree(child, size)))
    }

    /// The positions of the own subtree.
    pub(super) fn subtree(self) -> Range<usize> {
        binomial::subtree(self.ring.position, self.ring.size())
    }

    /// The blocks of a run of positions, where `room` holds those of the own subtree.
    pub(super) fn blocks(self, room: Slice, positions: Range<usize>) -> Slice {
        let first = self.ring.position;
        room.range((positions.start - first) * self.count..(positions.end - first) * self.count)
    }

    /// The blocks of a run of positions in `whole`, where the root has all in rank order: one
    /// slice, and a second one where the run goes on past the last rank.
    pub(super) fn in_rank_order(
        self,
        whole: Slice,
        positions: Range<usize>,
    ) -> (Slice, Option<Slice>) {
        let blocks =
            |ranks: Range<usize>| whole.range(ranks.start * self.count..ranks.end * self.count);
        let (first, second) = self.ring.ranks(positions);
        (blocks(first), (!second.is_empty()).then(|| blocks(second)))
    }
}

/// The cost of the tree: every block passes through the root. A rank that passes on what others
/// have copies its own block, and the root copies the run that goes on past the last rank.
pub(super) fn tree_cost(call: &Call, root: Rank) -> Cost {
    let ranks = call.ranks as usize;
    let block = call.bytes() / ranks;
    let ring = Ring::new(call.ranks, root, root);
    let children = binomial::children(0, ranks).map(|child| binomial::subtree(child, ranks));
    let is_cut = |run: &Range<usize>| !ring.ranks(run.clone()).1.is_empty();
    let cut = children.filter(is_cut).map(|run| run.len()).sum::<usize>();
    let passed_on = usize::from(ranks > 3);
    Cost {
        rounds: doublings(call.ranks) as usize,
        bytes: block.saturating_mul(ranks - 1),
        copied: block.saturating_mul(cut + passed_on),
        ..Cost::default()
    }
}

/// What all ranks do in the tree; the shape tells how many messages it has. A block travels once
/// for each rank on its way.
pub(super) fn tree_work(call: &Call, shape: OneWayFlow) -> AggregateWork {
    let ranks = call.ranks as usize;
    let block = call.bytes() / ranks;
    let travels: usize = (1..ranks).map(|child| binomial::subtree(child, ranks).len()).sum();
    let flow = AggregateWork::flow(call.ranks, shape, 0);
    AggregateWork { bytes: block.saturating_mul(travels), copied: call.bytes() / 2, ..flow }
}
