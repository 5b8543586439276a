//! The collectives and their names.
//!
//! Those whose names begin with `inter_` are between the two groups of an intercommunicator.

use std::fmt;

/// The collectives that can be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collective {
    /// Nobody leaves before everybody has entered.
    Barrier,
    /// The root's data at every rank.
    Bcast,
    /// All inputs, in rank order, at the root.
    Gather,
    /// All inputs, of different lengths and at given places, at the root.
    Gatherv,
    /// One block of the root's input at each rank.
    Scatter,
    /// The same with a length and a place for each block.
    Scatterv,
    /// The reduction of all inputs at the root.
    Reduce,
    /// The reduction of all inputs at every rank.
    Allreduce,
    /// One block of the reduction of all inputs at each rank.
    ReduceScatterBlock,
    /// The same with a length for each block.
    ReduceScatter,
    /// At each rank the reduction of the inputs up to its own.
    Scan,
    /// At each rank the reduction of the inputs before its own.
    Exscan,
    /// All inputs, in rank order, at every rank.
    Allgather,
    /// All inputs, of different lengths and at given places, at every rank.
    Allgatherv,
    /// One block from each rank to each rank.
    Alltoall,
    /// The same with a length and a place for each block.
    Alltoallv,
    /// One block to each rank of one list, one block from each rank of another.
    Exchange,
    /// The same with a length and a place for each block.
    Exchangev,
    /// One block to each rank of one list, the reduction of one block from each rank of another.
    NeighborReduce,
    /// The same among ranks that know enough of each other to route blocks by node.
    NodeExchange,
    /// Nobody leaves before everybody of the other group has entered.
    InterBarrier,
    /// All inputs of the other group, in rank order, at every rank.
    InterAllgather,
    /// The same with a length and a place for each block.
    InterAllgatherv,
    /// The reduction of the inputs of one group at a root in the other.
    InterReduce,
    /// The reduction of the inputs of the other group at every rank.
    InterAllreduce,
    /// One block of the reduction of the inputs of the other group at each rank.
    InterReduceScatterBlock,
    /// The same with a length for each block.
    InterReduceScatter,
}

impl Collective {
    /// Every collective, in the order of the table of algorithms.
    pub const ALL: [Self; 27] = [
        Self::Barrier,
        Self::Bcast,
        Self::Gather,
        Self::Gatherv,
        Self::Scatter,
        Self::Scatterv,
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatterBlock,
        Self::ReduceScatter,
        Self::Scan,
        Self::Exscan,
        Self::Allgather,
        Self::Allgatherv,
        Self::Alltoall,
        Self::Alltoallv,
        Self::Exchange,
        Self::Exchangev,
        Self::NeighborReduce,
        Self::NodeExchange,
        Self::InterBarrier,
        Self::InterAllgather,
        Self::InterAllgatherv,
        Self::InterReduce,
        Self::InterAllreduce,
        Self::InterReduceScatterBlock,
        Self::InterReduceScatter,
    ];

    /// The name in overrides, wisdom, drawings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Bcast => "bcast",
            Self::Gather => "gather",
            Self::Gatherv => "gatherv",
            Self::Scatter => "scatter",
            Self::Scatterv => "scatterv",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatterBlock => "reduce_scatter_block",
            Self::ReduceScatter => "reduce_scatter",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
            Self::Allgather => "allgather",
            Self::Allgatherv => "allgatherv",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::Exchange => "exchange",
            Self::Exchangev => "exchangev",
            Self::NeighborReduce => "neighbor_reduce",
            Self::NodeExchange => "node_exchange",
            Self::InterBarrier => "inter_barrier",
            Self::InterAllgather => "inter_allgather",
            Self::InterAllgatherv => "inter_allgatherv",
            Self::InterReduce => "inter_reduce",
            Self::InterAllreduce => "inter_allreduce",
            Self::InterReduceScatterBlock => "inter_reduce_scatter_block",
            Self::InterReduceScatter => "inter_reduce_scatter",
        }
    }

    /// The fewest ranks that can call it: two if it is between the two groups of an
    /// intercommunicator, as neither of them is empty.
    pub fn fewest_ranks(self) -> u32 {
        match self {
            Self::InterBarrier
            | Self::InterAllgather
            | Self::InterAllgatherv
            | Self::InterReduce
            | Self::InterAllreduce
            | Self::InterReduceScatterBlock
            | Self::InterReduceScatter => 2,
            _ => 1,
        }
    }

    /// The collective with this [`name`](Self::name), if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|collective| collective.name() == name)
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
