//! Communicators whose ranks form a graph that they name themselves.

use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    Adjacent, Edge, EdgePairing, Graph, GraphCommunicator, Neighbourhood, Topological,
};

/// The numbers that an edge travels as.
const EDGE: usize = 3;

impl Edge {
    fn pack(self) -> [u64; EDGE] {
        let weight = self.weight.map_or(0, |weight| u64::from(weight) + 1);
        [self.from as u64, self.to as u64, weight]
    }

    fn unpack(packed: &[u64]) -> Edge {
        let weight = packed[2].checked_sub(1).map(|weight| weight as u32);
        Edge { from: packed[0] as usize, to: packed[1] as usize, weight }
    }
}

impl Graph {
    /// The edges of a rank among those of all, in the order they have there: so those that join
    /// one pair of ranks are in the same order at both ends.
    fn of_rank(rank: usize, edges: &[Edge]) -> Graph {
        let sources = edges.iter().filter(|edge| edge.to == rank);
        let destinations = edges.iter().filter(|edge| edge.from == rank);
        let adjacent = |rank, weight| Adjacent { rank: Some(rank), weight };
        Graph {
            sources: sources.map(|edge| adjacent(edge.from, edge.weight)).collect(),
            destinations: destinations.map(|edge| adjacent(edge.to, edge.weight)).collect(),
        }
    }
}

impl Communicator {
    /// A communicator of the same ranks with a graph, of which each rank names its own edges. Rank
    /// `a` names `b` among its destinations as often as `b` names `a` among its sources, and the
    /// k-th of the one is the k-th of the other. Ranks keep their numbers. Collective.
    /// (`MPI_Dist_graph_create_adjacent`)
    ///
    /// ```
    /// motet::threads(3, |world| {
    ///     let (me, ranks) = (world.rank(), world.size());
    ///     let ring = world.graph_adjacent([(me + ranks - 1) % ranks], [(me + 1) % ranks])?;
    ///     let mut before = [0];
    ///     ring.neighbor_allgather(&[me], &mut before)?;
    ///     assert_eq!(before, [(me + ranks - 1) % ranks]);
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// A neighbour that is not in the communicator, at the rank that names it; a rank that has
    /// died or left.
    #[track_caller]
    pub fn graph_adjacent<S, D>(&self, sources: S, destinations: D) -> Result<GraphCommunicator>
    where
        S: IntoIterator<Item: Into<Adjacent>>,
        D: IntoIterator<Item: Into<Adjacent>>,
    {
        let sources = sources.into_iter().map(Into::into).collect();
        let destinations = destinations.into_iter().map(Into::into).collect();
        self.with_graph("graph_adjacent", Graph { sources, destinations })
    }

    /// A communicator of the same ranks with a graph, of which any rank names any edges: none is
    /// named twice, unless there are to be two. A rank's neighbours are in the order of the ranks
    /// that named them, then in the order of their lists. Ranks keep their numbers. Collective.
    /// (`MPI_Dist_graph_create`)
    ///
    /// For the time being every rank sees all edges (an allgather of their numbers, and an
    /// allgatherv), which is meant for graphs that a rank can hold.
    ///
    /// # Errors
    /// An edge of a rank that is not in the communicator, at all ranks; a rank that has died or
    /// left.
    #[track_caller]
    pub fn graph<E>(&self, edges: E) -> Result<GraphCommunicator>
    where
        E: IntoIterator<Item: Into<Edge>>,
    {
        let mine: Vec<u64> = edges.into_iter().flat_map(|edge| edge.into().pack()).collect();
        let (all, _) = self.tell_all_lists("graph", mine)?;
        let all: Vec<Edge> = all.chunks_exact(EDGE).map(Edge::unpack).collect();
        let mut ends = all.iter().flat_map(|edge| [edge.from, edge.to]);
        if let Some(rank) = ends.find(|&rank| rank >= self.size()) {
            let what = "the end of an edge";
            return Err(self.error("graph", ErrorKind::Rank { what, rank, size: self.size() }));
        }
        self.with_graph("graph", Graph::of_rank(self.rank(), &all))
    }

    /// The others get their communicator even if this rank's edges are wrong, so that nobody waits
    /// for it.
    #[track_caller]
    fn with_graph(&self, call: &'static str, graph: Graph) -> Result<GraphCommunicator> {
        let communicator = self.bare_copy(call)?;
        let ranks = |list: &[Adjacent]| list.iter().map(|edge| edge.rank).collect::<Vec<_>>();
        let (sources, destinations) = (ranks(&graph.sources), ranks(&graph.destinations));
        let size = self.size();
        let mut all = sources.iter().chain(&destinations).copied().flatten();
        if let Some(rank) = all.find(|&rank| rank >= size) {
            let kind = ErrorKind::Rank { what: "neighbour", rank, size };
            return Err(self.error(call, kind));
        }
        let matching = EdgePairing::InOrder;
        let neighbourhood = Neighbourhood { sources, destinations, matching };
        Ok(Topological::with(communicator, graph, neighbourhood))
    }
}
