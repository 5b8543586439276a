//! Graph topologies in which each rank knows all edges. (MPI 4.1 §8.5.3)

use super::Topological;
use crate::base::error::TopologyError;

/// A graph in the form of MPI-1: all ranks pass the same edges of all nodes. For programs with many
/// ranks, [`Graph`](super::Graph) is better.
///
/// The neighbours of node `n` are `edges[index[n - 1]..index[n]]`, and those of node 0 are
/// `edges[..index[0]]`. The neighbourhood collectives send along each edge in both directions: for
/// them `a` must be a neighbour of `b` as often as `b` is a neighbour of `a`.
///
/// ```
/// use motet::IndexedGraph;
///
/// // A star: nodes 1 and 2 are neighbours of node 0.
/// let star = IndexedGraph::new(&[2, 3, 4], &[1, 2, 0, 0])?;
/// assert_eq!((star.nodes(), star.neighbours(0)?), (3, &[1, 2][..]));
/// # Ok::<(), motet::TopologyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexedGraph {
    index: Vec<usize>,
    edges: Vec<usize>,
}

/// A communicator whose ranks are the nodes of a graph; see
/// [`Communicator::graph_indexed`](crate::Communicator::graph_indexed).
pub type IndexedGraphCommunicator = Topological<IndexedGraph>;

impl IndexedGraph {
    /// Makes a graph with one node for each entry of `index`. (`MPI_Graph_create`)
    ///
    /// # Errors
    /// The indices decrease, or do not end with the number of edges; or a neighbour is not a node.
    pub fn new(index: &[usize], edges: &[usize]) -> Result<IndexedGraph, TopologyError> {
        let wrong = |node: usize, expected| {
            let index = index.get(node).copied().unwrap_or_default();
            TopologyError::Index { node, index, expected }
        };
        if let Some(node) = index.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(wrong(
                node + 1,
                format!("at least that of the one before, {}", index[node]),
            ));
        }
        if index.last().copied().unwrap_or_default() != edges.len() {
            let last = index.len().saturating_sub(1);
            return Err(wrong(last, format!("the number of edges, {}", edges.len())));
        }
        let places = index.len();
        if let Some(&rank) = edges.iter().find(|&&rank| rank >= places) {
            return Err(TopologyError::Place { rank, places });
        }
        Ok(IndexedGraph { index: index.into(), edges: edges.into() })
    }

    /// Returns the number of nodes. (`MPI_Graphdims_get`)
    pub fn nodes(&self) -> usize {
        self.index.len()
    }

    /// Returns for each node the index after its last edge. (`MPI_Graph_get`)
    pub fn index(&self) -> &[usize] {
        &self.index
    }

    /// Returns the neighbours of all nodes. (`MPI_Graph_get`; their number: `MPI_Graphdims_get`)
    pub fn edges(&self) -> &[usize] {
        &self.edges
    }

    /// Returns the neighbours of a node. (`MPI_Graph_neighbors`, `MPI_Graph_neighbors_count`)
    ///
    /// # Errors
    /// The rank is not a node.
    pub fn neighbours(&self, rank: usize) -> Result<&[usize], TopologyError> {
        let places = self.nodes();
        let end = *self.index.get(rank).ok_or(TopologyError::Place { rank, places })?;
        let start = rank.checked_sub(1).map_or(0, |before| self.index[before]);
        Ok(&self.edges[start..end])
    }
}
