//! Process topologies: communicators whose ranks know their neighbours. (MPI 4.1 §8)
//!
//! A topology is a plain value ([`Cartesian`], [`Graph`]); a [`Topological`] communicator is a
//! communicator that carries one. What the neighbourhood collectives need of it is only its
//! [`Neighbourhood`], so they are written once for all topologies.

mod cartesian;
mod dims;
mod graph;

use std::fmt;
use std::ops::Deref;

use motet_plan::Block;

use crate::collective::Neighbour;
use crate::communicator::Communicator;
use crate::error::Result;
pub use cartesian::{Cartesian, CartesianCommunicator, Reorder};
pub use dims::dims_create;
pub use graph::{Adjacent, Edge, Graph, GraphCommunicator};

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
    /// A rank that the grid does not have.
    #[error("rank {rank} is not in a grid of {places} places")]
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
    /// Ranks that cannot be arranged with the sizes that are given.
    #[error("{ranks} ranks make no grid of sizes {sizes:?}, where 0 may be any size")]
    Indivisible {
        /// The ranks.
        ranks: usize,
        /// The sizes that were passed.
        sizes: Vec<usize>,
    },
}

/// How the messages of the two ends of an edge meet, where several edges join one pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matching {
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
    matching: Matching,
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
            Matching::Opposite => place ^ 1,
            Matching::InOrder => place,
        });
        slots.filter_map(|slot| Some(at(self.sources[slot]?, block(slot)))).collect()
    }
}

fn at(rank: usize, Block { start, count }: Block) -> Neighbour {
    Neighbour { rank, start, count }
}

/// A communicator with a topology: a [`CartesianCommunicator`] or a [`GraphCommunicator`]. It is
/// a [`Communicator`] in all else.
pub struct Topological<T> {
    communicator: Communicator,
    topology: T,
    neighbourhood: Neighbourhood,
}

impl<T> Topological<T> {
    /// The topology.
    pub fn topology(&self) -> &T {
        &self.topology
    }

    /// The neighbours of this rank. (`MPI_Dist_graph_neighbors`)
    pub fn neighbourhood(&self) -> &Neighbourhood {
        &self.neighbourhood
    }

    /// The communicator, without the topology.
    pub fn into_communicator(self) -> Communicator {
        self.communicator
    }
}

impl<T: Clone> Topological<T> {
    /// A communicator of the same ranks with the same topology and a context of its own.
    /// Collective. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// That a rank has died or left.
    pub fn dup(&self) -> Result<Topological<T>> {
        Ok(Topological {
            communicator: self.communicator.dup()?,
            topology: self.topology.clone(),
            neighbourhood: self.neighbourhood.clone(),
        })
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
