//! Shared by the algorithms that scatter blocks: the places and the lengths of the blocks.

use super::gathered_blocks::side_by_side;
use crate::call::{Call, Operation};
use crate::plan::Slice;

/// Where the block for each rank can be read, at a rank that has a block for each.
pub(super) fn blocks(call: &Call) -> Vec<Slice> {
    let buffer = call.contribution().buffer;
    let blocks = match &call.operation {
        Operation::Scatter { count, .. }
        | Operation::ReduceScatterBlock { count, .. }
        | Operation::Alltoall { count } => return side_by_side(buffer, call.ranks, *count),
        Operation::ReduceScatter { counts, .. } => {
            let next = |end: &mut usize, count: &usize| {
                let block = Slice { buffer, start: *end, len: *count };
                *end += count;
                Some(block)
            };
            return counts.iter().scan(0, next).collect();
        }
        Operation::Scatterv { blocks, .. } => blocks.all(),
        Operation::Alltoallv { to, .. } => to,
        _ => unreachable!("{} deals out no blocks", call.collective()),
    };
    blocks.iter().map(|block| block.slice(buffer)).collect()
}

/// The size in bytes of the largest of some blocks.
pub(super) fn largest_bytes(call: &Call, blocks: impl IntoIterator<Item = Slice>) -> usize {
    blocks.into_iter().map(|block| block.len).max().unwrap_or(0) * call.element_bytes
}
