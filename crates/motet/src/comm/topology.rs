//! Process topologies: communicators whose ranks know their neighbours. (MPI 4.1 §8)
//!
//! A topology is a plain value ([`Cartesian`], [`Graph`], [`IndexedGraph`]), and a communicator may
//! have one; the type of a [`Topological`] communicator says which. The neighbourhood collectives
//! use only the [`Neighbourhood`], so each of them is defined once for all topologies.

mod cartesian;
mod dims;
mod graph;
mod indexed;
mod mapping;
mod reach;

use std::fmt;
use std::ops::Deref;

use motet_plan::Block;

use crate::base::error::{ErrorKind, Result, TopologyError};
use crate::comm::communicator::Communicator;
pub use cartesian::{Cartesian, CartesianCommunicator, Reorder};
pub use dims::dims_create;
pub use graph::{Adjacent, Edge, Graph, GraphCommunicator};
pub use indexed::{IndexedGraph, IndexedGraphCommunicator};
pub use mapping::{BANDWIDTH, LATENCY, Load, MAXCUT, Mapping, MappingReason, TOTALCUT};
pub use reach::Reach;

/// Matching of the messages at the two ends of an edge, if several edges join one pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgePairing {
    /// A message sent in the positive direction arrives from the negative one: slot `s` of the
    /// sender matches slot `s ^ 1` of the receiver, whichever ranks these are.
    Opposite,
    /// The k-th edge to a rank matches that rank's k-th edge from here.
    InOrder,
}

/// One neighbour of an irregular exchange: its rank and the position of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// The neighbour's rank in the communicator; may be the caller's own.
    pub rank: usize,
    /// First element of its block, in the send buffer or the receive buffer.
    pub start: usize,
    /// Elements of its block.
    pub count: usize,
}

/// The neighbours of one rank, in the order of the blocks of the neighbourhood collectives. A
/// neighbour `None` (`MPI_PROC_NULL`) keeps its slot in the buffers, which is neither sent nor
/// written. (MPI 4.1 §8.6)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    pub(crate) sources: Vec<Option<usize>>,
    pub(crate) destinations: Vec<Option<usize>>,
    pub(crate) matching: EdgePairing,
}

impl Neighbourhood {
    /// Returns the ranks from which this rank receives.
    pub fn sources(&self) -> &[Option<usize>] {
        &self.sources
    }

    /// Returns the ranks to which this rank sends.
    pub fn destinations(&self) -> &[Option<usize>] {
        &self.destinations
    }

    /// Returns the messages that this rank sends in an exchange; `block` gives the block of each
    /// slot.
    pub(crate) fn sends(&self, block: impl Fn(usize) -> Block) -> Vec<Neighbour> {
        let slots = 0..self.destinations.len();
        slots.filter_map(|slot| Some(at(self.destinations[slot]?, block(slot)))).collect()
    }

    /// Returns the messages that this rank receives in an exchange, in the order in which their
    /// senders list them: an exchange matches the messages of two ranks by their order.
    pub(crate) fn receives(&self, block: impl Fn(usize) -> Block) -> Vec<Neighbour> {
        let slots = (0..self.sources.len()).map(|place| match self.matching {
            EdgePairing::Opposite => place ^ 1,
            EdgePairing::InOrder => place,
        });
        slots.filter_map(|slot| Some(at(self.sources[slot]?, block(slot)))).collect()
    }
}

fn at(rank: usize, Block { start, count }: Block) -> Neighbour {
    Neighbour { rank, start, count }
}

/// The topology of a communicator, of any kind. (`MPI_Topo_test`)
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// A grid. (`MPI_CART`)
    Cartesian(Cartesian),
    /// A graph of which each rank knows its own edges. (`MPI_DIST_GRAPH`)
    Graph(Graph),
    /// A graph of which each rank knows all edges. (`MPI_GRAPH`)
    Indexed(IndexedGraph),
}

impl Topology {
    fn name(&self) -> &'static str {
        match self {
            Topology::Cartesian(_) => "a Cartesian",
            Topology::Graph(_) => "a distributed graph",
            Topology::Indexed(_) => "a graph",
        }
    }
}

impl From<Cartesian> for Topology {
    fn from(grid: Cartesian) -> Topology {
        Topology::Cartesian(grid)
    }
}

impl From<Graph> for Topology {
    fn from(graph: Graph) -> Topology {
        Topology::Graph(graph)
    }
}

impl From<IndexedGraph> for Topology {
    fn from(graph: IndexedGraph) -> Topology {
        Topology::Indexed(graph)
    }
}

/// The topology of a communicator, which its copies share.
pub(crate) struct Placed {
    topology: Topology,
    neighbourhood: Neighbourhood,
    /// The mapping of processes to ranks, if the program asked for one.
    mapping: Option<Mapping>,
}

impl Communicator {
    /// Returns the topology, if the communicator has one. (`MPI_Topo_test`, MPI 4.1 §8.5.5)
    pub fn topology(&self) -> Option<&Topology> {
        self.placed().map(|placed| &placed.topology)
    }

    /// Returns the neighbours of this rank.
    ///
    /// # Errors
    /// The communicator has no topology.
    pub fn neighbourhood(&self) -> Result<&Neighbourhood> {
        self.near().map_err(|kind| self.error("neighbourhood", kind))
    }

    pub(crate) fn near(&self) -> Result<&Neighbourhood, ErrorKind> {
        let missing = TopologyError::Missing { found: "no", needed: "one" };
        Ok(&self.placed().ok_or(missing)?.neighbourhood)
    }

    /// Makes the error of a call that needs another topology than the communicator has.
    pub(crate) fn missing(&self, needed: &'static str) -> TopologyError {
        let found = self.topology().map_or("no", Topology::name);
        TopologyError::Missing { found, needed }
    }
}

/// A communicator whose type gives the kind of its topology: a [`CartesianCommunicator`], a
/// [`GraphCommunicator`] or an [`IndexedGraphCommunicator`]. It dereferences to a [`Communicator`].
pub struct Topological<T> {
    pub(crate) communicator: Communicator,
    pub(crate) topology: T,
}

impl<T> Topological<T> {
    /// Returns the topology.
    pub fn topology(&self) -> &T {
        &self.topology
    }

    /// Returns the neighbours of this rank. (`MPI_Dist_graph_neighbors`)
    pub fn neighbourhood(&self) -> &Neighbourhood {
        self.communicator.near().expect("it has a topology")
    }

    /// Converts it to a plain communicator, which keeps its topology.
    pub fn into_communicator(self) -> Communicator {
        self.communicator
    }
}

impl<T: Clone + Into<Topology>> Topological<T> {
    pub(crate) fn with(
        communicator: Communicator,
        topology: T,
        neighbourhood: Neighbourhood,
    ) -> Self {
        Topological::mapped(communicator, topology, neighbourhood, None)
    }

    pub(crate) fn mapped(
        communicator: Communicator,
        topology: T,
        neighbourhood: Neighbourhood,
        mapping: Option<Mapping>,
    ) -> Self {
        let placed = Placed { topology: topology.clone().into(), neighbourhood, mapping };
        Topological { communicator: communicator.place(placed), topology }
    }
}

impl<T> Deref for Topological<T> {
    type Target = Communicator;

    fn deref(&self) -> &Communicator {
        &self.communicator
    }
}

impl<T: fmt::Debug> fmt::Debug for Topological<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} with {:?}", self.communicator, self.topology)
    }
}
