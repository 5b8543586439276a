//! A call: which collective, over how many ranks, with which sizes. Plain data without behaviour.
//!
//! A [`Call`] has the arguments of one rank of a collective, except the addresses and the operator.
//! It is the key of the plan cache, so it is `Eq` and `Hash`, and its lists are shared.

mod block;
mod check;
mod collective;
mod error;
mod groups;
mod node_knowledge;
mod node_map;
mod operation;
mod scaled;

use std::fmt;

pub use block::{Block, Blocks, Neighbour};
pub use collective::Collective;
pub use error::CallError;
pub use groups::Groups;
pub use node_knowledge::{Demands, Edge, EdgeDemand, NodeKnowledge, NodePeer};
pub use node_map::NodeMap;
pub use operation::Operation;

use crate::slice::{Buffer, Slice};

/// A rank in the communicator of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

impl Rank {
    /// The rank as an index into an array with one entry per rank.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The rank with this index.
    ///
    /// # Panics
    /// If `index` does not fit in 32 bits: a communicator never has that many ranks.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a communicator has fewer than 2^32 ranks"))
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One rank's call of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The calling rank.
    pub rank: Rank,
    /// How many ranks the communicator has.
    pub ranks: u32,
    /// The size of one element in bytes; 0 for a barrier.
    pub element_bytes: usize,
    /// The input lies in the output buffer and there is no input buffer. Where only the root has
    /// input, in a scatter, it is the other way round: the output lies in the input buffer.
    pub in_place: bool,
    /// Which ranks share a node; the same on all ranks.
    pub nodes: NodeMap,
    /// What is called, with its arguments.
    pub operation: Operation,
}

impl Call {
    /// How many ranks one is after another, around the ring of all.
    pub(crate) fn distance(&self, from: Rank, to: Rank) -> u64 {
        (u64::from(to.0) + u64::from(self.ranks - from.0)) % u64::from(self.ranks)
    }

    /// Which collective this is.
    pub fn collective(&self) -> Collective {
        self.operation.collective()
    }

    /// Length of the input buffer in elements, gaps included; 0 in place, since there is none.
    pub fn input_len(&self) -> usize {
        if self.in_place && !self.scatters() { 0 } else { self.lengths().0 }
    }

    /// Length of the output buffer in elements, gaps included; 0 in place in a scatter. In place
    /// the output of a reduce-scatter is as long as the input that lies there.
    pub fn output_len(&self) -> usize {
        let (input, output) = self.lengths();
        match self.operation {
            _ if !self.in_place => output,
            _ if self.scatters() => 0,
            Operation::ReduceScatterBlock { .. } | Operation::ReduceScatter { .. } => input,
            _ => output,
        }
    }

    /// Lengths of the input and the output where these are two buffers.
    fn lengths(&self) -> (usize, usize) {
        let (me, ranks) = (self.rank.index(), self.ranks as usize);
        let at_root = |len| if self.is_root() { len } else { 0 };
        match &self.operation {
            Operation::Barrier => (0, 0),
            Operation::Bcast { count, .. } => (0, *count),
            Operation::Gather { count, .. } => (*count, at_root(count * ranks)),
            Operation::Gatherv { blocks, .. } => {
                (blocks.own(self.rank), extent(blocks.all().iter().copied()))
            }
            Operation::Scatter { count, .. } => (at_root(count * ranks), *count),
            Operation::Scatterv { blocks, .. } => {
                (extent(blocks.all().iter().copied()), blocks.own(self.rank))
            }
            Operation::Reduce { count, .. } => (*count, at_root(*count)),
            Operation::Allreduce { count, .. }
            | Operation::Scan { count, .. }
            | Operation::Exscan { count, .. } => (*count, *count),
            Operation::ReduceScatterBlock { count, .. } => (count * ranks, *count),
            Operation::ReduceScatter { counts, .. } => (counts.iter().sum(), counts[me]),
            Operation::Allgather { count } => (*count, count * ranks),
            Operation::Allgatherv { blocks } => (blocks[me].count, extent(blocks.iter().copied())),
            Operation::Alltoall { count } => (count * ranks, count * ranks),
            Operation::Alltoallv { to, from } => {
                (extent(to.iter().copied()), extent(from.iter().copied()))
            }
            Operation::Exchange { count, to, from } => (count * to.len(), count * from.len()),
            Operation::Exchangev { to, from } | Operation::NodeExchange { to, from, .. } => {
                let extent = |list: &[Neighbour]| extent(list.iter().map(Neighbour::block));
                (extent(to), extent(from))
            }
            Operation::NeighborReduce { count, to, .. } => {
                (extent(to.iter().map(Neighbour::block)), *count)
            }
            operation => {
                let groups = self.groups().expect("the others are between two groups");
                self.lengths_between(operation, &groups)
            }
        }
    }

    /// The same for the collectives between two groups.
    fn lengths_between(&self, operation: &Operation, groups: &Groups) -> (usize, usize) {
        let (own, other, far) = (groups.side, 1 - groups.side, groups.far.len());
        match operation {
            Operation::InterAllgather { counts, .. } => (counts[own], counts[other] * far),
            Operation::InterAllgatherv { own, blocks, .. } => {
                (*own, extent(blocks.iter().copied()))
            }
            Operation::InterReduce { root, count, .. } if groups.near.contains(&root.0) => {
                (0, if self.is_root() { *count } else { 0 })
            }
            Operation::InterReduce { count, .. } => (*count, 0),
            Operation::InterAllreduce { count, .. } => (*count, *count),
            Operation::InterReduceScatterBlock { counts, .. } => (counts[other] * far, counts[own]),
            Operation::InterReduceScatter { counts, .. } => {
                (counts.iter().sum(), counts[groups.position(self.rank)])
            }
            _ => (0, 0),
        }
    }

    /// Whether the calling rank is the root of a collective that has one.
    fn is_root(&self) -> bool {
        self.operation.root() == Some(self.rank)
    }

    /// Whether the root deals out its input.
    fn scatters(&self) -> bool {
        matches!(self.operation, Operation::Scatter { .. } | Operation::Scatterv { .. })
    }

    /// The size in bytes by which an algorithm is selected; the same on all ranks of one call.
    ///
    /// It is the size of the data for a broadcast or a reduction, and the sum of all blocks of one
    /// buffer where blocks are moved. In a gatherv, a scatterv, an alltoallv or among neighbours a
    /// rank knows its own part only, unless it is the root, so nothing there is sure to be the same
    /// on all ranks, and the size is 0 as it is for a barrier. In an exchange among nodes the ranks
    /// have agreed on the most that one of them sends or receives. Of the two buffers of an
    /// allgather between two groups it is the longer.
    pub fn bytes(&self) -> usize {
        let elements = match &self.operation {
            Operation::Barrier
            | Operation::Gatherv { .. }
            | Operation::Scatterv { .. }
            | Operation::Alltoallv { .. }
            | Operation::Exchange { .. }
            | Operation::Exchangev { .. }
            | Operation::NeighborReduce { .. }
            | Operation::InterBarrier { .. }
            | Operation::InterAllgatherv { .. } => 0,
            Operation::Bcast { count, .. }
            | Operation::Reduce { count, .. }
            | Operation::Allreduce { count, .. }
            | Operation::Scan { count, .. }
            | Operation::Exscan { count, .. }
            | Operation::InterReduce { count, .. }
            | Operation::InterAllreduce { count, .. } => *count,
            Operation::Gather { count, .. }
            | Operation::Scatter { count, .. }
            | Operation::ReduceScatterBlock { count, .. }
            | Operation::Allgather { count }
            | Operation::Alltoall { count } => count * self.ranks as usize,
            Operation::ReduceScatter { counts, .. }
            | Operation::InterReduceScatter { counts, .. } => counts.iter().sum(),
            Operation::InterAllgather { left, counts }
            | Operation::InterReduceScatterBlock { left, counts, .. } => {
                let right = self.ranks - left;
                (counts[0] * *left as usize).max(counts[1] * right as usize)
            }
            Operation::Allgatherv { blocks } => blocks.iter().map(|block| block.count).sum(),
            Operation::NodeExchange { surroundings, .. } => surroundings.demands.linear.elements,
        };
        elements * self.element_bytes
    }

    /// Where this rank's own data lies when the call starts: in the input or, in place (but for a
    /// scatter) and at the root of a broadcast, in the output.
    pub fn contribution(&self) -> Slice {
        let in_output = |start, count| Block { start, count }.slice(Buffer::Output);
        let me = self.rank.index();
        match &self.operation {
            Operation::Bcast { count, .. } if self.is_root() => in_output(0, *count),
            _ if !self.in_place || self.scatters() => {
                Slice { buffer: Buffer::Input, start: 0, len: self.input_len() }
            }
            Operation::Gather { count, .. } | Operation::Allgather { count } => {
                in_output(me * count, *count)
            }
            Operation::Gatherv { blocks, .. } => blocks.all()[me].slice(Buffer::Output),
            Operation::Allgatherv { blocks } => blocks[me].slice(Buffer::Output),
            _ => in_output(0, self.lengths().0),
        }
    }
}

/// One past the last element of any block that is not empty.
fn extent(blocks: impl Iterator<Item = Block>) -> usize {
    blocks.filter(|block| block.count > 0).map(|block| block.start + block.count).max().unwrap_or(0)
}
