//! Shared by the algorithms that gather blocks: the places of the blocks, the ring, and staging.

use std::ops::Range;

use super::shape::doublings;
use super::shape::partition::part;
use super::shape::ring::Ring;
use crate::build::Builder;
use crate::call::{Call, Operation, Rank};
use crate::cost::Cost;
use crate::plan::{Buffer, Slice};

/// Where the block of each rank lies in the output, at a rank that receives all blocks.
pub(super) fn blocks(call: &Call) -> Vec<Slice> {
    let blocks = match &call.operation {
        Operation::Gather { count, .. }
        | Operation::Allgather { count }
        | Operation::Alltoall { count } => {
            return side_by_side(Buffer::Output, call.ranks, *count);
        }
        Operation::Gatherv { blocks, .. } => blocks.all(),
        Operation::Allgatherv { blocks } | Operation::Alltoallv { from: blocks, .. } => blocks,
        _ => unreachable!("{} gathers no blocks", call.collective()),
    };
    blocks.iter().map(|block| block.slice(Buffer::Output)).collect()
}

/// Blocks of one length, one for each rank, from the start of a buffer.
pub(super) fn side_by_side(buffer: Buffer, ranks: u32, count: usize) -> Vec<Slice> {
    let block = |rank: usize| Slice { buffer, start: rank * count, len: count };
    (0..ranks as usize).map(block).collect()
}

/// `slice` cut into one part for each position of a ring.
pub(super) fn parts(slice: Slice, count: usize) -> Vec<Slice> {
    (0..count).map(|index| slice.range(part(slice.len, count, index))).collect()
}

/// Sends blocks round a ring until every position has every block.
///
/// In round `k` a position passes on the block that began `k` positions back. `held` says which
/// blocks a position has from the start, its own among them; what the receiver has is not
/// sent. `own` is where the own block can be read from the start.
pub(super) fn circulate(
    builder: &mut Builder<'_>,
    ring: Ring,
    blocks: &[Slice],
    own: Slice,
    held: impl Fn(usize) -> Range<usize>,
) {
    let next = ring.rank(ring.next());
    let previous = ring.rank(ring.previous());
    for round in 0..ring.size() - 1 {
        let (outgoing, incoming) = (ring.back(round), ring.back(round + 1));
        if !held(ring.next()).contains(&outgoing) {
            builder.send(next, if round == 0 { own } else { blocks[outgoing] });
        }
        if !held(ring.position).contains(&incoming) {
            builder.recv(previous, blocks[incoming]);
        }
    }
}

/// Room in which consecutive blocks are adjacent, so that a run of them is one message.
///
/// The messages must not depend on where a rank keeps its blocks, since ranks may differ in
/// that. So a rank whose output has the blocks side by side in the wanted order works in
/// the output, and any other in scratch memory, from where the blocks are put in place at the end.
pub(super) struct Staging {
    /// The places of all blocks in the output, in the order in which they are adjacent here.
    blocks: Vec<Slice>,
    /// Where block `i` of that order begins in `room`; one more entry for the end.
    bounds: Vec<usize>,
    room: Slice,
    /// The position of the own block in that order, and where it can be read from the start.
    position: usize,
    own: Slice,
    /// Whether the own block is in `room`.
    is_own_staged: bool,
}

impl Staging {
    /// Room for `blocks`, given in the order in which they are to be adjacent; the own one is at
    /// `position`.
    pub(super) fn new(builder: &mut Builder<'_>, blocks: Vec<Slice>, position: usize) -> Self {
        let mut bounds = vec![0];
        for block in &blocks {
            bounds.push(bounds[bounds.len() - 1] + block.len);
        }
        let len = bounds[blocks.len()];
        let room = adjacent(&blocks).unwrap_or_else(|| builder.scratch(len));
        let own = builder.contribution();
        Self { blocks, bounds, room, position, own, is_own_staged: false }
    }

    /// Sends a run of blocks and receives another. The first run sent is the own block, which
    /// needs no staging before it leaves.
    pub(super) fn swap(
        &mut self,
        builder: &mut Builder<'_>,
        (to, outgoing): (Rank, Range<usize>),
        (from, incoming): (Rank, Range<usize>),
    ) {
        if self.is_own_staged {
            builder.send(to, self.run(outgoing));
        } else {
            builder.send(to, self.own);
            builder.copy(self.own, self.run(outgoing));
            self.is_own_staged = true;
        }
        builder.recv(from, self.run(incoming));
    }

    /// Puts every block in its place in the output, where it is not there already.
    pub(super) fn finish(self, builder: &mut Builder<'_>) {
        let (position, place) = (self.position, self.blocks[self.position]);
        if !self.is_own_staged || self.run(position..position + 1) != place {
            builder.copy(self.own, place);
        }
        self.place(builder, 0..position);
        self.place(builder, position + 1..self.blocks.len());
    }

    /// The room of a run of blocks.
    fn run(&self, blocks: Range<usize>) -> Slice {
        self.room.range(self.bounds[blocks.start]..self.bounds[blocks.end])
    }

    /// Copies a run of blocks to their places, with as few copies as these allow.
    fn place(&self, builder: &mut Builder<'_>, run: Range<usize>) {
        let blocks = &self.blocks;
        let mut run = run.filter(|index| !blocks[*index].is_empty()).peekable();
        while let Some(first) = run.next() {
            let mut into = blocks[first];
            while let Some(next) = run.next_if(|next| blocks[*next].start == into.end()) {
                into.len += blocks[next].len;
            }
            builder.copy(self.room.sub(self.bounds[first], into.len), into);
        }
    }
}

/// The one slice that holds these blocks side by side in this order; none if they do not lie so.
pub(super) fn adjacent(blocks: &[Slice]) -> Option<Slice> {
    let mut blocks = blocks.iter().copied().filter(|block| !block.is_empty());
    let first = blocks.next()?;
    blocks.try_fold(first, |run, block| {
        (run.end() == block.start).then(|| Slice { len: run.len + block.len, ..run })
    })
}

/// The size of the largest block of an allgather or allgatherv, in bytes.
pub(super) fn largest_block_bytes(call: &Call) -> usize {
    let count = match &call.operation {
        Operation::Allgatherv { blocks } => blocks.iter().map(|block| block.count).max(),
        Operation::Allgather { count } => Some(*count),
        _ => unreachable!("{} gathers no blocks", call.collective()),
    };
    count.unwrap_or(0) * call.element_bytes
}

/// Bytes of the longest of the parts, one for each rank, into which all data is cut.
pub(super) fn longest_part_bytes(call: &Call) -> usize {
    longest_of_parts(call, call.ranks as usize)
}

/// The same for this number of parts.
pub(super) fn longest_of_parts(call: &Call, parts: usize) -> usize {
    let elements = call.bytes() / call.element_bytes.max(1);
    elements.div_ceil(parts) * call.element_bytes
}

/// The cost of gathering by doubling: in round `k` up to `2^k` blocks travel at once. With blocks
/// of one size that is all bytes but the own ones; a block much larger than the others travels in
/// every round.
pub(super) fn doubling_cost(call: &Call) -> Cost {
    let bytes = doubling_bytes(call);
    Cost { rounds: bytes.len(), bytes: bytes.sum(), ..Cost::default() }
}

/// Bytes of the longest message of gathering by doubling, or more.
pub(super) fn doubling_longest(call: &Call) -> usize {
    doubling_bytes(call).max().unwrap_or(0)
}

/// Bytes that travel at once in each round of gathering by doubling, or more.
fn doubling_bytes(call: &Call) -> impl ExactSizeIterator<Item = usize> {
    let (ranks, largest, all) = (call.ranks as usize, largest_block_bytes(call), call.bytes());
    (0..doublings(call.ranks)).map(move |round| {
        let distance = 1 << round;
        largest.saturating_mul(distance.min(ranks - distance)).min(all)
    })
}
