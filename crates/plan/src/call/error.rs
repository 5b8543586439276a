//! What is wrong with a call.

use thiserror::Error;

use super::{Collective, Rank};

/// Why a call cannot be planned, whatever the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The calling rank is not in the communicator.
    #[error("the calling rank {rank} is not below the number of ranks, {ranks}")]
    Rank {
        /// The calling rank.
        rank: Rank,
        /// Ranks in the communicator.
        ranks: u32,
    },
    /// The division into nodes is one of another number of ranks.
    #[error("the node map is of {divided} ranks, but the communicator has {ranks}")]
    Nodes {
        /// Ranks whose node is known.
        divided: usize,
        /// Ranks in the communicator.
        ranks: u32,
    },
    /// The root is not in the communicator.
    #[error("root {root} is not below the number of ranks, {ranks}")]
    Root {
        /// The root that was passed.
        root: Rank,
        /// Ranks in the communicator.
        ranks: u32,
    },
    /// A neighbour is not in the communicator.
    #[error("neighbour {neighbour} is not below the number of ranks, {ranks}")]
    Neighbour {
        /// The neighbour that was passed.
        neighbour: Rank,
        /// Ranks in the communicator.
        ranks: u32,
    },
    /// There is not one block for each rank.
    #[error("{blocks} blocks were passed for {ranks} ranks")]
    Blocks {
        /// Blocks that were passed.
        blocks: usize,
        /// Ranks in the communicator, or in the group that has these blocks.
        ranks: u32,
    },
    /// The root must know the blocks of all ranks, and any other rank only its own.
    #[error("rank {rank} passes {passed}, and the root is {root}")]
    Knowledge {
        /// The calling rank.
        rank: Rank,
        /// The root.
        root: Rank,
        /// What the rank passes.
        passed: &'static str,
    },
    /// Two blocks would be received into the same elements.
    #[error("two received blocks overlap at element {element} of the output")]
    Overlap {
        /// The first element that both blocks hold.
        element: usize,
    },
    /// The collective has no form in place.
    #[error("{0} cannot be called in place")]
    InPlace(Collective),
    /// Of a collective that has a root, only the root may be in place.
    #[error("rank {rank} is not the root {root}, and only the root may be in place")]
    InPlaceNotRoot {
        /// The calling rank.
        rank: Rank,
        /// The root.
        root: Rank,
    },
    /// In an alltoallv in place, blocks lie elsewhere for sending than for receiving.
    #[error("in place, rank {rank} must receive each block where it sends one from")]
    InPlaceBlocks {
        /// The calling rank.
        rank: Rank,
    },
    /// What a rank sends to itself is not what it receives from itself.
    #[error("rank {rank} does not receive from itself what it sends to itself")]
    Itself {
        /// The calling rank.
        rank: Rank,
    },
    /// What a rank knows of the ranks of its node does not fit together.
    #[error("what rank {rank} knows of its node does not fit together: {what}")]
    Surroundings {
        /// The calling rank.
        rank: Rank,
        /// What is wrong.
        what: &'static str,
    },
    /// One of the two groups of an intercommunicator is empty.
    #[error("of {ranks} ranks {left} are in the first group; neither group may be empty")]
    Groups {
        /// Ranks in the first group.
        left: u32,
        /// Ranks in both groups.
        ranks: u32,
    },
    /// The two groups do not share out inputs of one length.
    #[error("the first group receives {0} elements in all, but the second {1}")]
    Totals(
        /// Elements received by the first group.
        usize,
        /// Elements received by the second group.
        usize,
    ),
    /// A buffer would be larger than memory.
    #[error("the sizes of the call do not fit in memory")]
    TooLarge,
}
