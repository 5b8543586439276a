//! What the algorithms that deal out blocks share: where the blocks lie.

use super::gathering::side_by_side;
use crate::call::{Call, Operation};
use crate::plan::Slice;

/// Where the block for each rank can be read, at a rank that has a block for each.
pub(super) fn blocks(call: &Call) -> Vec<Slice> {
    let buffer = call.contribution().buffer;
    let blocks = match &call.operation {
        Operation::Scatter { count, .. } | Operation::Alltoall { count } => {
            return side_by_side(buffer, call.ranks, *count);
        }
        Operation::Scatterv { blocks, .. } => blocks.all(),
        Operation::Alltoallv { to, .. } => to,
        operation => unreachable!("{operation:?} deals out no blocks"),
    };
    blocks.iter().map(|block| block.slice(buffer)).collect()
}
