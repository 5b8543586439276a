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
mod sparse;

use std::fmt;
use std::ops::Deref;

use motet_plan::Block;

use crate::collective::Neighbour;
use crate::communicator::{Communicator, CommunicatorRequest};
use crate::error::{ErrorKind, Result};
use crate::info::Info;
pub use cartesian::{Cartesian, CartesianCommunicator, Reorder};
pub use dims::dims_create;
pub use graph::{Adjacent, Edge, Graph, GraphCommunicator};
pub use indexed::{IndexedGraph, IndexedGraphCommunicator};
pub use mapping::{BANDWIDTH, LATENCY, MAXCUT, Mapping, MappingReason, TOTALCUT};
pub use reach::Reach;
pub use sparse::Load;

/// What is wrong with a topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// The communicator has no topology, or another one than the call needs.
    #[error("the communicator has {found} topology, but the call needs {needed}")]
    Missing {
        /// What it has.
        found: &'static str,
        /// What the call needs.
        needed: &'static str,
    },
    /// There is not one entry for each dimension.
    #[error("{entries} {what} were passed for {dimensions} dimensions")]
    Entries {
        /// What the entries are.
        what: &'static str,
        /// Entries that were passed.
        entries: usize,
        /// Dimensions that there are.
        dimensions: usize,
    },
    /// A dimension of size zero.
    #[error("dimension {dimension} has size 0")]
    Empty {
        /// The dimension.
        dimension: usize,
    },
    /// A dimension that the grid does not have.
    #[error("dimension {dimension} is not in a grid of {dimensions} dimensions")]
    Dimension {
        /// The dimension that was passed.
        dimension: usize,
        /// Dimensions that there are.
        dimensions: usize,
    },
    /// A rank that the topology does not have.
    #[error("rank {rank} is not in a topology of {places} places")]
    Place {
        /// The rank that was passed.
        rank: usize,
        /// Places that there are.
        places: usize,
    },
    /// A grid that has more places than there are ranks, or than can be counted.
    #[error("a grid of sizes {sizes:?} has more places than the {ranks} ranks")]
    TooLarge {
        /// The sizes of its dimensions.
        sizes: Vec<usize>,
        /// Ranks that there are.
        ranks: usize,
    },
    /// The indices of a graph, each of which says where the edges of the next node begin, do not
    /// lead from its beginning to its end.
    #[error("the index of node {node} is {index}, but must be {expected}")]
    Index {
        /// The node.
        node: usize,
        /// Its index.
        index: usize,
        /// What it must be.
        expected: String,
    },
    /// A graph with more nodes than there are ranks.
    #[error("a graph of {nodes} nodes has more than the {ranks} ranks")]
    Nodes {
        /// Nodes of the graph.
        nodes: usize,
        /// Ranks that there are.
        ranks: usize,
    },
    /// Ranks that cannot be arranged with the sizes that are given.
    #[error("cannot arrange {ranks} ranks in a grid of {sizes:?} (0 = any)")]
    Indivisible {
        /// The ranks.
        ranks: usize,
        /// The sizes that were passed.
        sizes: Vec<usize>,
    },
}

/// How the messages of the two ends of an edge meet, where several edges join one pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgePairing {
    /// What leaves in the positive direction comes in from the negative one: slot `s` of the
    /// sender meets slot `s ^ 1` of the receiver, whichever ranks these are.
    Opposite,
    /// The k-th edge to a rank meets that rank's k-th edge from here.
    InOrder,
}

/// The neighbours of one rank, in the order of the blocks of the neighbourhood collectives. A
/// neighbour `None` (`MPI_PROC_NULL`) keeps its slot in the buffers, which is neither sent nor
/// touched. (MPI 4.1 §8.6)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbourhood {
    sources: Vec<Option<usize>>,
    destinations: Vec<Option<usize>>,
    matching: EdgePairing,
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
    fn missing(&self, needed: &'static str) -> TopologyError {
        let found = self.topology().map_or("no", Topology::name);
        TopologyError::Missing { found, needed }
    }
}

/// A communicator with a topology of which the type tells the kind: a [`CartesianCommunicator`], a
/// [`GraphCommunicator`] or an [`IndexedGraphCommunicator`]. It is a [`Communicator`] in all else.
pub struct Topological<T> {
    communicator: Communicator,
    topology: T,
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
    fn with(communicator: Communicator, topology: T, neighbourhood: Neighbourhood) -> Self {
        Topological::mapped(communicator, topology, neighbourhood, None)
    }

    fn mapped(
        communicator: Communicator,
        topology: T,
        neighbourhood: Neighbourhood,
        mapping: Option<Mapping>,
    ) -> Self {
        let placed = Placed { topology: topology.clone().into(), neighbourhood, mapping };
        Topological { communicator: communicator.place(placed), topology }
    }
}

impl<T: Clone + Send + 'static> Topological<T> {
    /// A communicator of the same ranks with the same topology and a context of its own; see
    /// [`Communicator::dup`]. Collective. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// As [`Communicator::dup`].
    #[track_caller]
    pub fn dup(&self) -> Result<Topological<T>> {
        self.duplicate("dup", &Info::new())?.wait()
    }

    /// As [`dup`](Topological::dup), with hints. (`MPI_Comm_dup_with_info`)
    ///
    /// # Errors
    /// As [`Communicator::dup`].
    #[track_caller]
    pub fn dup_with_info(&self, info: &Info) -> Result<Topological<T>> {
        self.duplicate("dup_with_info", info)?.wait()
    }

    /// Nonblocking [`dup`](Topological::dup). (`MPI_Comm_idup`)
    ///
    /// # Errors
    /// As [`Communicator::idup`].
    #[track_caller]
    pub fn idup(&self) -> Result<CommunicatorRequest<Topological<T>>> {
        self.duplicate("idup", &Info::new())
    }

    /// Nonblocking [`dup_with_info`](Topological::dup_with_info). (`MPI_Comm_idup_with_info`)
    ///
    /// # Errors
    /// As [`Communicator::idup`].
    #[track_caller]
    pub fn idup_with_info(&self, info: &Info) -> Result<CommunicatorRequest<Topological<T>>> {
        self.duplicate("idup_with_info", info)
    }

    #[track_caller]
    fn duplicate(
        &self,
        call: &'static str,
        info: &Info,
    ) -> Result<CommunicatorRequest<Topological<T>>> {
        let topology = self.topology.clone();
        let request = self.communicator.duplicate(call, info)?;
        Ok(request.map(|communicator| Topological { communicator, topology }))
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
