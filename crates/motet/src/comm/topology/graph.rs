//! Distributed graph topologies: each rank knows its own edges. (MPI 4.1 §8.5.4)

use super::Topological;

/// The other end of an edge. Made from a rank, from `None` (`MPI_PROC_NULL`), or from a rank and a
/// weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Adjacent {
    /// The neighbour; with `None` the edge keeps its slot, and no data moves along it.
    pub rank: Option<usize>,
    /// Amount of data that moves along the edge, in units of the program's choice.
    pub weight: Option<u32>,
}

impl From<usize> for Adjacent {
    fn from(rank: usize) -> Adjacent {
        Adjacent { rank: Some(rank), weight: None }
    }
}

impl From<Option<usize>> for Adjacent {
    fn from(rank: Option<usize>) -> Adjacent {
        Adjacent { rank, weight: None }
    }
}

impl From<(usize, u32)> for Adjacent {
    fn from((rank, weight): (usize, u32)) -> Adjacent {
        Adjacent { rank: Some(rank), weight: Some(weight) }
    }
}

/// An edge between any two ranks. Made from the two ranks, or from the two ranks and a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The rank that sends along the edge.
    pub from: usize,
    /// The rank that receives along the edge.
    pub to: usize,
    /// Amount of data that moves along the edge, in units of the program's choice.
    pub weight: Option<u32>,
}

impl From<(usize, usize)> for Edge {
    fn from((from, to): (usize, usize)) -> Edge {
        Edge { from, to, weight: None }
    }
}

impl From<(usize, usize, u32)> for Edge {
    fn from((from, to, weight): (usize, usize, u32)) -> Edge {
        Edge { from, to, weight: Some(weight) }
    }
}

/// The edges of one rank in a graph, in the order of its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    pub(crate) sources: Vec<Adjacent>,
    pub(crate) destinations: Vec<Adjacent>,
}

impl Graph {
    pub(crate) fn new(
        sources: impl Iterator<Item = Adjacent>,
        destinations: impl Iterator<Item = Adjacent>,
    ) -> Graph {
        Graph { sources: sources.collect(), destinations: destinations.collect() }
    }

    /// Returns the edges along which this rank receives.
    pub fn sources(&self) -> &[Adjacent] {
        &self.sources
    }

    /// Returns the edges along which this rank sends.
    pub fn destinations(&self) -> &[Adjacent] {
        &self.destinations
    }
}

/// A communicator whose ranks form a graph; see
/// [`Communicator::graph_adjacent`](crate::Communicator::graph_adjacent).
pub type GraphCommunicator = Topological<Graph>;
