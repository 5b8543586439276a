//! Errors of topologies.

/// Why a topology is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// The communicator has no topology, or another one than the call needs.
    #[error("the communicator has {found} topology, but the call needs {needed}")]
    Missing {
        /// The topology that it has.
        found: &'static str,
        /// The topology that the call needs.
        needed: &'static str,
    },
    /// There is not one entry for each dimension.
    #[error("{entries} {what} were passed for {dimensions} dimensions")]
    Entries {
        /// What the entries are.
        what: &'static str,
        /// The number of entries that were passed.
        entries: usize,
        /// The number of dimensions.
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
        /// The number of dimensions.
        dimensions: usize,
    },
    /// A rank that the topology does not have.
    #[error("rank {rank} is not in a topology of {places} places")]
    Place {
        /// The rank that was passed.
        rank: usize,
        /// The number of places.
        places: usize,
    },
    /// A grid that has more places than there are ranks, or than can be counted.
    #[error("a grid of sizes {sizes:?} has more places than the {ranks} ranks")]
    TooLarge {
        /// The sizes of its dimensions.
        sizes: Vec<usize>,
        /// The number of ranks.
        ranks: usize,
    },
    /// The indices of a graph, each of which is where the edges of the next node begin, do not lead
    /// from the beginning to the end of the edges.
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
        /// The number of ranks.
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
