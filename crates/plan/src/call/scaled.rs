//! Rewrites an operation for elements of another size.

use std::sync::Arc;

use super::{Block, Blocks, CallError, Neighbour, Operation};

impl Operation {
    /// The same operation with each element cut into `factor` elements: all counts and all starts
    /// of blocks are `factor` times as large.
    ///
    /// # Errors
    /// [`CallError::TooLarge`] if one of them does not fit.
    pub fn scaled(&self, factor: usize) -> Result<Self, CallError> {
        let scale = Scale(factor);
        let mut scaled = self.clone();
        match &mut scaled {
            Self::Barrier | Self::InterBarrier { .. } => {}
            Self::Bcast { count, .. }
            | Self::Gather { count, .. }
            | Self::Scatter { count, .. }
            | Self::Reduce { count, .. }
            | Self::Allreduce { count, .. }
            | Self::ReduceScatterBlock { count, .. }
            | Self::Scan { count, .. }
            | Self::Exscan { count, .. }
            | Self::Allgather { count }
            | Self::Alltoall { count }
            | Self::Exchange { count, .. }
            | Self::InterReduce { count, .. }
            | Self::InterAllreduce { count, .. } => *count = scale.count(*count)?,
            Self::Gatherv { blocks, .. } | Self::Scatterv { blocks, .. } => {
                *blocks = match &*blocks {
                    Blocks::All(blocks) => Blocks::All(scale.blocks(blocks)?),
                    Blocks::Own(count) => Blocks::Own(scale.count(*count)?),
                };
            }
            Self::ReduceScatter { counts, .. } | Self::InterReduceScatter { counts, .. } => {
                *counts =
                    counts.iter().map(|count| scale.count(*count)).collect::<Result<_, _>>()?;
            }
            Self::InterAllgather { counts, .. } | Self::InterReduceScatterBlock { counts, .. } => {
                *counts = [scale.count(counts[0])?, scale.count(counts[1])?];
            }
            Self::Allgatherv { blocks } => *blocks = scale.blocks(blocks)?,
            Self::InterAllgatherv { own, blocks, .. } => {
                *own = scale.count(*own)?;
                *blocks = scale.blocks(blocks)?;
            }
            Self::Alltoallv { to, from } => {
                *to = scale.blocks(to)?;
                *from = scale.blocks(from)?;
            }
            Self::NeighborReduce { count, to, .. } => {
                *count = scale.count(*count)?;
                *to = scale.neighbours(to)?;
            }
            Self::Exchangev { to, from } => {
                *to = scale.neighbours(to)?;
                *from = scale.neighbours(from)?;
            }
            Self::NodeExchange { to, from, surroundings } => {
                *to = scale.neighbours(to)?;
                *from = scale.neighbours(from)?;
                *surroundings = surroundings.scaled(&|count| scale.count(count))?.into();
            }
        }
        Ok(scaled)
    }
}

/// By how much.
struct Scale(usize);

impl Scale {
    fn count(&self, count: usize) -> Result<usize, CallError> {
        count.checked_mul(self.0).ok_or(CallError::TooLarge)
    }

    fn block(&self, block: Block) -> Result<Block, CallError> {
        // A block of no elements may lie anywhere, also where no element can.
        let start = match block.count {
            0 => block.start.saturating_mul(self.0),
            _ => self.count(block.start)?,
        };
        Ok(Block { start, count: self.count(block.count)? })
    }

    fn blocks(&self, blocks: &[Block]) -> Result<Arc<[Block]>, CallError> {
        blocks.iter().map(|block| self.block(*block)).collect()
    }

    fn neighbours(&self, list: &[Neighbour]) -> Result<Arc<[Neighbour]>, CallError> {
        let scaled = |other: &Neighbour| {
            let Block { start, count } = self.block(other.block())?;
            Ok(Neighbour { rank: other.rank, start, count })
        };
        list.iter().map(scaled).collect()
    }
}
