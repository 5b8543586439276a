//! Process topologies: communicators whose ranks know their neighbours. (MPI 4.1 §8)
//!
//! A topology is a plain value ([`Cartesian`], [`Graph`], [`IndexedGraph`]), and a communicator may
//! carry one; a [`Topological`] communicator is one of which the type tells that it does. What the
//! neighbourhood collectives need of it is only its [`Neighbourhood`], so they are written once for
//! all topologies.

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

/// How the messages of the two ends of an edge meet, where several edges join one pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgePairing {
    /// What leaves in the positive direction comes in from the negative one: slot `s` of the
    /// sender meets slot `s ^ 1` of the receiver, whichever ranks these are.
    Opposite,
    /// The k-th edge to a rank meets that rank's k-th edge from here.
    InOrder,
}

/// A rank and where its block lies: one neighbour of an irregular exchange.
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
/// touched. (MPI 4.1 §8.6)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    pub(crate) sources: Vec<Option<usize>>,
    pub(crate) destinations: Vec<Option<usize>>,
    pub(crate) matching: EdgePairing,
}

impl Neighbourhood {
    /// The ranks that are received from.
    pub fn sources(&self) -> &[Option<usize>] {
        &self.sources
    }

    /// The ranks that are sent to.
    pub fn destinations(&self) -> &[Option<usize>] {
        &self.destinations
    }

    /// The messages of an exchange that this rank sends, the block of each given by its slot.
    pub(crate) fn sends(&self, block: impl Fn(usize) -> Block) -> Vec<Neighbour> {
        let slots = 0..self.destinations.len();
        slots.filter_map(|slot| Some(at(self.destinations[slot]?, block(slot)))).collect()
    }

    /// The messages of an exchange that this rank receives, in the order in which their senders
    /// name them: an exchange matches the messages of two ranks by their order.
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

/// The topology of a communicator, of whatever kind. (`MPI_Topo_test`)
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

/// What a communicator with a topology carries, and its copies with it.
pub(crate) struct Placed {
    topology: Topology,
    neighbourhood: Neighbourhood,
    /// How ranks came to processes, if that was asked.
    mapping: Option<Mapping>,
}

impl Communicator {
    /// The topology, if it has one. (`MPI_Topo_test`, MPI 4.1 §8.5.5)
    pub fn topology(&self) -> Option<&Topology> {
        self.placed().map(|placed| &placed.topology)
    }

    /// The neighbours of this rank.
    ///
    /// # Errors
    /// That the communicator has no topology.
    pub fn neighbourhood(&self) -> Result<&Neighbourhood> {
        self.near().map_err(|kind| self.error("neighbourhood", kind))
    }

    pub(crate) fn near(&self) -> Result<&Neighbourhood, ErrorKind> {
        let missing = TopologyError::Missing { found: "no", needed: "one" };
        Ok(&self.placed().ok_or(missing)?.neighbourhood)
    }

    /// What it has instead of the topology that a call needs.
    pub(crate) fn missing(&self, needed: &'static str) -> TopologyError {
        let found = self.topology().map_or("no", Topology::name);
        TopologyError::Missing { found, needed }
    }
}

/// A communicator with a topology of which the type tells the kind: a [`CartesianCommunicator`], a
/// [`GraphCommunicator`] or an [`IndexedGraphCommunicator`]. It is a [`Communicator`] in all else.
pub struct Topological<T> {
    pub(crate) communicator: Communicator,
    pub(crate) topology: T,
}

impl<T> Topological<T> {
    /// The topology.
    pub fn topology(&self) -> &T {
        &self.topology
    }

    /// The neighbours of this rank. (`MPI_Dist_graph_neighbors`)
    pub fn neighbourhood(&self) -> &Neighbourhood {
        self.communicator.near().expect("it has a topology")
    }

    /// The communicator. It keeps its topology, but its type does not tell that any more.
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
