//! The operation of a call: the collective, with its counts, blocks and root.

use std::sync::Arc;

use super::{Block, Blocks, Collective, Neighbour, NodeKnowledge, Rank};

/// A collective with its arguments. All counts and starts are in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// No data. The elements of the scratch memory are tokens of no bytes, one for each rank known
    /// to have entered; the first is that of the rank itself from the start.
    Barrier,
    /// One buffer, the output, at every rank; that of the root holds the data at the start.
    Bcast {
        /// Length of the data.
        count: usize,
        /// Where the data comes from.
        root: Rank,
    },
    /// Input of `count` at every rank; output of `count * ranks`, in rank order, at the root only.
    /// Only the root may be in place: its own block is in the output.
    Gather {
        /// Length of one rank's block.
        count: usize,
        /// Where the blocks go.
        root: Rank,
    },
    /// Block `i` of the root's output comes from rank `i`. Only the root may be in place.
    Gatherv {
        /// What the calling rank knows of the blocks; their places are those in the root's output:
        /// in any order, gaps allowed.
        blocks: Blocks,
        /// Where the blocks go.
        root: Rank,
    },
    /// Input of `count * ranks`, in rank order, at the root only; output of `count` at every rank.
    /// Only the root may be in place: its own block stays in the input, and it has no output.
    Scatter {
        /// Length of one rank's block.
        count: usize,
        /// Where the blocks come from.
        root: Rank,
    },
    /// Block `i` of the root's input goes to rank `i`. Only the root may be in place.
    Scatterv {
        /// What the calling rank knows of the blocks; their places are those in the root's input.
        blocks: Blocks,
        /// Where the blocks come from.
        root: Rank,
    },
    /// Input at every rank, output at the root only. Only the root may be in place.
    Reduce {
        /// Length of the input and of the result.
        count: usize,
        /// Where the result goes.
        root: Rank,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input and output at every rank.
    Allreduce {
        /// Length of the input and of the result.
        count: usize,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input of `count * ranks` at every rank; output of `count`: block `i` of the reduction goes
    /// to rank `i`. In place: the output is as long as the input, which lies there from the start;
    /// the result comes to the start, and what lies behind it is undefined afterwards.
    ReduceScatterBlock {
        /// Length of one rank's block.
        count: usize,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// The same with blocks of different lengths, side by side in the input.
    ReduceScatter {
        /// Length of each rank's block.
        counts: Arc<[usize]>,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input and output at every rank: rank `i` gets the reduction of the inputs of ranks `0..=i`.
    Scan {
        /// Length of the input and of the result.
        count: usize,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input and output at every rank: rank `i` gets the reduction of the inputs of ranks `0..i`.
    /// There is none for rank 0, and its output stays as it is, in place too.
    Exscan {
        /// Length of the input and of the result.
        count: usize,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input of `count`, output of `count * ranks`. In place: the own block is in the output.
    Allgather {
        /// Length of one rank's block.
        count: usize,
    },
    /// Block `i` of the output comes from rank `i`. In place: the own block is in the output.
    Allgatherv {
        /// Where the block of each rank lies in the output: in any order, gaps allowed.
        blocks: Arc<[Block]>,
    },
    /// Block `j` of the input goes to rank `j`; block `i` of the output comes from rank `i`. In
    /// place: the output holds what is sent, and the result is as if from a copy of it.
    Alltoall {
        /// Length of one block.
        count: usize,
    },
    /// The same, with a place and a length for each block. In place: block `i` of the output goes
    /// to rank `i` and is replaced by what comes from there, so both lists are the same.
    Alltoallv {
        /// Where the block for each rank lies in the input.
        to: Arc<[Block]>,
        /// Where the block from each rank lies in the output: in any order, gaps allowed.
        from: Arc<[Block]>,
    },
    /// Block `j` of the input goes to `to[j]`; block `j` of the output comes from `from[j]`.
    Exchange {
        /// Length of one block.
        count: usize,
        /// Destinations.
        to: Arc<[Rank]>,
        /// Sources.
        from: Arc<[Rank]>,
    },
    /// The same, with a place and a length for each block.
    Exchangev {
        /// Destinations, and where their blocks lie in the input.
        to: Arc<[Neighbour]>,
        /// Sources, and where their blocks lie in the output.
        from: Arc<[Neighbour]>,
    },
    /// A block of the input goes to each destination; the output is the reduction of the blocks
    /// from all sources, in the order of `from`: the own data is in it only if the rank is among
    /// its own sources. A rank without sources leaves its output as it is. Nothing is in place.
    NeighborReduce {
        /// Length of the result, and of the block from each source.
        count: usize,
        /// Destinations, and where their blocks lie in the input; blocks may overlap, and each has
        /// the length of the result of its destination.
        to: Arc<[Neighbour]>,
        /// Sources.
        from: Arc<[Rank]>,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// The same again, where the calling rank knows what the ranks of its node have to do.
    NodeExchange {
        /// Destinations, and where their blocks lie in the input.
        to: Arc<[Neighbour]>,
        /// Sources, and where their blocks lie in the output.
        from: Arc<[Neighbour]>,
        /// What the ranks of the node know; the same at all of them.
        surroundings: Arc<NodeKnowledge>,
    },
    /// Between two [groups](super::Groups). No data; tokens are those of a
    /// [barrier](Self::Barrier), and each rank must hear of all ranks of the other group.
    InterBarrier {
        /// Ranks in the first group.
        left: u32,
    },
    /// Between two groups. Each rank has the blocks of all ranks of the other group in its output,
    /// in rank order.
    InterAllgather {
        /// Ranks in the first group.
        left: u32,
        /// Length of the block of each rank of the first group, and of the second. If one is 0,
        /// data goes one way only.
        counts: [usize; 2],
    },
    /// Between two groups. Block `i` of the output comes from the `i`-th rank of the other group.
    InterAllgatherv {
        /// Ranks in the first group.
        left: u32,
        /// Length of the own block.
        own: usize,
        /// Where the block of each rank of the other group lies in the output: in any order, gaps
        /// allowed.
        blocks: Arc<[Block]>,
    },
    /// Between two groups: input at every rank of the group that does not hold the root, output at
    /// the root. The other ranks of its group have neither.
    InterReduce {
        /// Ranks in the first group.
        left: u32,
        /// Length of the input and of the result.
        count: usize,
        /// Where the result goes, as a rank among all.
        root: Rank,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Between two groups: input and output at every rank; each gets the reduction of the inputs of
    /// the other group.
    InterAllreduce {
        /// Ranks in the first group.
        left: u32,
        /// Length of the input and of the result.
        count: usize,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Between two groups: block `i` of the reduction of the inputs of one group goes to the `i`-th
    /// rank of the other. All inputs have one length, which both groups share out in full.
    InterReduceScatterBlock {
        /// Ranks in the first group.
        left: u32,
        /// Length of the output of each rank of the first group, and of the second.
        counts: [usize; 2],
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// The same with blocks of different lengths, which each rank knows of its own group only.
    InterReduceScatter {
        /// Ranks in the first group.
        left: u32,
        /// Length of the output of each rank of the own group. Their sum is the length of the
        /// input, and the same in both groups.
        counts: Arc<[usize]>,
        /// Whether the operator commutes.
        commutative: bool,
    },
}

impl Operation {
    /// Which collective this is.
    pub fn collective(&self) -> Collective {
        match self {
            Self::Barrier => Collective::Barrier,
            Self::Bcast { .. } => Collective::Bcast,
            Self::Gather { .. } => Collective::Gather,
            Self::Gatherv { .. } => Collective::Gatherv,
            Self::Scatter { .. } => Collective::Scatter,
            Self::Scatterv { .. } => Collective::Scatterv,
            Self::Reduce { .. } => Collective::Reduce,
            Self::Allreduce { .. } => Collective::Allreduce,
            Self::ReduceScatterBlock { .. } => Collective::ReduceScatterBlock,
            Self::ReduceScatter { .. } => Collective::ReduceScatter,
            Self::Scan { .. } => Collective::Scan,
            Self::Exscan { .. } => Collective::Exscan,
            Self::Allgather { .. } => Collective::Allgather,
            Self::Allgatherv { .. } => Collective::Allgatherv,
            Self::Alltoall { .. } => Collective::Alltoall,
            Self::Alltoallv { .. } => Collective::Alltoallv,
            Self::Exchange { .. } => Collective::Exchange,
            Self::Exchangev { .. } => Collective::Exchangev,
            Self::NeighborReduce { .. } => Collective::NeighborReduce,
            Self::NodeExchange { .. } => Collective::NodeExchange,
            Self::InterBarrier { .. } => Collective::InterBarrier,
            Self::InterAllgather { .. } => Collective::InterAllgather,
            Self::InterAllgatherv { .. } => Collective::InterAllgatherv,
            Self::InterReduce { .. } => Collective::InterReduce,
            Self::InterAllreduce { .. } => Collective::InterAllreduce,
            Self::InterReduceScatterBlock { .. } => Collective::InterReduceScatterBlock,
            Self::InterReduceScatter { .. } => Collective::InterReduceScatter,
        }
    }

    /// The root, of a collective that has one.
    pub fn root(&self) -> Option<Rank> {
        match self {
            Self::Bcast { root, .. }
            | Self::Gather { root, .. }
            | Self::Gatherv { root, .. }
            | Self::Scatter { root, .. }
            | Self::Scatterv { root, .. }
            | Self::Reduce { root, .. }
            | Self::InterReduce { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Whether the operator commutes, of a collective that reduces.
    pub fn commutative(&self) -> Option<bool> {
        match self {
            Self::Reduce { commutative, .. }
            | Self::Allreduce { commutative, .. }
            | Self::ReduceScatterBlock { commutative, .. }
            | Self::ReduceScatter { commutative, .. }
            | Self::Scan { commutative, .. }
            | Self::Exscan { commutative, .. }
            | Self::NeighborReduce { commutative, .. }
            | Self::InterReduce { commutative, .. }
            | Self::InterAllreduce { commutative, .. }
            | Self::InterReduceScatterBlock { commutative, .. }
            | Self::InterReduceScatter { commutative, .. } => Some(*commutative),
            _ => None,
        }
    }

    /// How many ranks the first group has, of a collective between two.
    pub fn left(&self) -> Option<u32> {
        match self {
            Self::InterBarrier { left }
            | Self::InterAllgather { left, .. }
            | Self::InterAllgatherv { left, .. }
            | Self::InterReduce { left, .. }
            | Self::InterAllreduce { left, .. }
            | Self::InterReduceScatterBlock { left, .. }
            | Self::InterReduceScatter { left, .. } => Some(*left),
            _ => None,
        }
    }
}
