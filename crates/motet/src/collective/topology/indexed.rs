//! Construction of communicators with graphs of which all ranks know all edges.

use crate::base::error::{Result, TopologyError};
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    EdgePairing, IndexedGraph, IndexedGraphCommunicator, Neighbourhood, Reorder, Topological,
};

impl Communicator {
    /// Makes a communicator of the first ranks, which are the nodes of a graph. All ranks pass the
    /// same graph; the ranks beyond its nodes get `None`. Ranks keep their numbers. Collective.
    /// (`MPI_Graph_create`, MPI 4.1 §8.5.3)
    ///
    /// # Errors
    /// [`IndexedGraph::new`] refuses the graph; the graph has more nodes than there are ranks; or a
    /// rank has died or left.
    #[track_caller]
    pub fn graph_indexed(
        &self,
        index: &[usize],
        edges: &[usize],
        _reorder: Reorder,
    ) -> Result<Option<IndexedGraphCommunicator>> {
        let graph = self.fitting_graph("graph_indexed", index, edges)?;
        let colour = (self.rank() < graph.nodes()).then_some(0);
        let Some(communicator) = self.split(colour, self.rank() as i64)? else { return Ok(None) };
        let near = graph.neighbours(communicator.rank()).expect("the rank is a node");
        let near: Vec<Option<usize>> = near.iter().copied().map(Some).collect();
        let matching = EdgePairing::InOrder;
        let neighbourhood = Neighbourhood { sources: near.clone(), destinations: near, matching };
        Ok(Some(Topological::with(communicator, graph, neighbourhood)))
    }

    /// Returns the rank that the caller would have in a graph if ranks could be reordered: at
    /// present its own rank, or `None` if it would not be a node. Local. (`MPI_Graph_map`, MPI 4.1
    /// §8.5.8)
    ///
    /// # Errors
    /// As [`graph_indexed`](Communicator::graph_indexed).
    pub fn graph_map(&self, index: &[usize], edges: &[usize]) -> Result<Option<usize>> {
        let graph = self.fitting_graph("graph_map", index, edges)?;
        Ok((self.rank() < graph.nodes()).then_some(self.rank()))
    }

    fn fitting_graph(
        &self,
        call: &'static str,
        index: &[usize],
        edges: &[usize],
    ) -> Result<IndexedGraph> {
        let refused = |error: TopologyError| self.error(call, error.into());
        let (nodes, ranks) = (index.len(), self.size());
        if nodes > ranks {
            return Err(refused(TopologyError::Nodes { nodes, ranks }));
        }
        IndexedGraph::new(index, edges).map_err(refused)
    }
}
