//! Construction of communicators with distributed graphs: each rank passes its own edges.

use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    Adjacent, Edge, EdgePairing, Graph, GraphCommunicator, Neighbourhood, Topological,
};

/// Number of words in which an edge is sent.
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
    /// Selects the edges of a rank from all edges, in their order: so edges that join one pair of
    /// ranks have the same order at both ends.
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
    /// Makes a communicator of the same ranks with a graph, of which each rank passes its own
    /// edges. Rank `a` lists `b` among its destinations as often as `b` lists `a` among its
    /// sources, and the k-th entry of the one is the k-th entry of the other. Ranks keep their
    /// numbers. Collective. (`MPI_Dist_graph_create_adjacent`)
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
    /// A neighbour is not in the communicator (error at the rank that passed it); or a rank has
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

    /// Makes a communicator of the same ranks with a graph, of which any rank may pass any edges.
    /// An edge that is passed twice is two edges. The neighbours of a rank are in the order of the
    /// ranks that passed them, then in the order of their lists. Ranks keep their numbers.
    /// Collective. (`MPI_Dist_graph_create`)
    ///
    /// At present every rank receives all edges (an allgather of their numbers, and an allgatherv),
    /// which suits graphs that fit in the memory of a rank.
    ///
    /// # Errors
    /// An edge has a rank that is not in the communicator (error at all ranks); or a rank has died
    /// or left.
    #[track_caller]
    pub fn graph<E>(&self, edges: E) -> Result<GraphCommunicator>
    where
        E: IntoIterator<Item: Into<Edge>>,
    {
        let own: Vec<u64> = edges.into_iter().flat_map(|edge| edge.into().pack()).collect();
        let (all, _) = self.tell_all_lists("graph", own)?;
        let all: Vec<Edge> = all.chunks_exact(EDGE).map(Edge::unpack).collect();
        let mut ends = all.iter().flat_map(|edge| [edge.from, edge.to]);
        if let Some(rank) = ends.find(|&rank| rank >= self.size()) {
            let what = "the end of an edge";
            return Err(self.error("graph", ErrorKind::Rank { what, rank, size: self.size() }));
        }
        self.with_graph("graph", Graph::of_rank(self.rank(), &all))
    }

    /// Makes the communicator. Other ranks get theirs even if the edges of this rank are invalid,
    /// so that they do not wait for it.
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
