//! A call: which collective, over how many ranks, with which sizes. Plain data and nothing else.
//!
//! A [`Call`] is what one rank passes to a collective, less the addresses and the operator. It is
//! the key under which a plan is cached, so it is `Eq` and `Hash`, and its lists are shared.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::plan::{Buffer, Slice};

/// A rank in the communicator of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

impl Rank {
    /// The rank as an index into an array with one entry per rank.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The rank with this index.
    ///
    /// # Panics
    /// If `index` does not fit in 32 bits: a communicator never has that many ranks.
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("a communicator has fewer than 2^32 ranks"))
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The collectives that can be planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collective {
    /// Nobody leaves before everybody has entered.
    Barrier,
    /// The root's data at every rank.
    Bcast,
    /// The reduction of all inputs at the root.
    Reduce,
    /// The reduction of all inputs at every rank.
    Allreduce,
    /// All inputs, in rank order, at every rank.
    Allgather,
    /// All inputs, of different lengths and at given places, at every rank.
    Allgatherv,
    /// One block to each rank of one list, one block from each rank of another.
    Exchange,
    /// The same with a length and a place for each block.
    Exchangev,
}

impl Collective {
    /// Every collective, in the order of the table of algorithms.
    pub const ALL: [Self; 8] = [
        Self::Barrier,
        Self::Bcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Allgather,
        Self::Allgatherv,
        Self::Exchange,
        Self::Exchangev,
    ];

    /// The name in overrides, wisdom, drawings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Bcast => "bcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::Allgatherv => "allgatherv",
            Self::Exchange => "exchange",
            Self::Exchangev => "exchangev",
        }
    }

    /// The collective with this [`name`](Self::name), if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|collective| collective.name() == name)
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One rank's call of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The calling rank.
    pub rank: Rank,
    /// How many ranks the communicator has.
    pub ranks: u32,
    /// The size of one element in bytes; 0 for a barrier.
    pub element_bytes: usize,
    /// The input lies in the output buffer and there is no input buffer.
    pub in_place: bool,
    /// What is called, with its arguments.
    pub operation: Operation,
}

/// A collective with its arguments. All counts and starts are in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// No data. The elements of the scratch memory are tokens of no bytes, one for each rank known
    /// to have entered; the first is that of the rank itself from the start.
    Barrier,
    /// One buffer, the output, at every rank; that of the root holds the data at the start.
    Bcast {
        /// Length of the data.
        count: usize,
        /// Where the data comes from.
        root: Rank,
    },
    /// Input at every rank, output at the root only. Only the root may be in place.
    Reduce {
        /// Length of the input and of the result.
        count: usize,
        /// Where the result goes.
        root: Rank,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input and output at every rank.
    Allreduce {
        /// Length of the input and of the result.
        count: usize,
        /// Whether the operator commutes.
        commutative: bool,
    },
    /// Input of `count`, output of `count * ranks`. In place: the own block is in the output.
    Allgather {
        /// Length of one rank's block.
        count: usize,
    },
    /// Block `i` of the output comes from rank `i`. In place: the own block is in the output.
    Allgatherv {
        /// Where the block of each rank lies in the output: in any order, gaps allowed.
        blocks: Arc<[Block]>,
    },
    /// Block `j` of the input goes to `to[j]`; block `j` of the output comes from `from[j]`.
    Exchange {
        /// Length of one block.
        count: usize,
        /// Destinations.
        to: Arc<[Rank]>,
        /// Sources.
        from: Arc<[Rank]>,
    },
    /// The same, with a place and a length for each block.
    Exchangev {
        /// Destinations, and where their blocks lie in the input.
        to: Arc<[Neighbour]>,
        /// Sources, and where their blocks lie in the output.
        from: Arc<[Neighbour]>,
    },
}

/// A run of elements in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// First element.
    pub start: usize,
    /// Number of elements.
    pub count: usize,
}

/// A block exchanged with one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbour {
    /// The other rank; may be the calling rank itself.
    pub rank: Rank,
    /// First element in the input (of a destination) or the output (of a source).
    pub start: usize,
    /// Number of elements.
    pub count: usize,
}

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
    /// An allgatherv does not have one block for each rank.
    #[error("{blocks} blocks were passed for {ranks} ranks")]
    Blocks {
        /// Blocks that were passed.
        blocks: usize,
        /// Ranks in the communicator.
        ranks: u32,
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
    /// Only the root of a reduction may be in place.
    #[error("rank {rank} is not the root {root}, and only the root may be in place")]
    InPlaceNotRoot {
        /// The calling rank.
        rank: Rank,
        /// The root.
        root: Rank,
    },
    /// What a rank sends to itself is not what it receives from itself.
    #[error("rank {rank} does not receive from itself what it sends to itself")]
    Itself {
        /// The calling rank.
        rank: Rank,
    },
    /// A buffer would be larger than memory.
    #[error("the sizes of the call do not fit in memory")]
    TooLarge,
}

impl Call {
    /// Which collective this is.
    pub fn collective(&self) -> Collective {
        match self.operation {
            Operation::Barrier => Collective::Barrier,
            Operation::Bcast { .. } => Collective::Bcast,
            Operation::Reduce { .. } => Collective::Reduce,
            Operation::Allreduce { .. } => Collective::Allreduce,
            Operation::Allgather { .. } => Collective::Allgather,
            Operation::Allgatherv { .. } => Collective::Allgatherv,
            Operation::Exchange { .. } => Collective::Exchange,
            Operation::Exchangev { .. } => Collective::Exchangev,
        }
    }

    /// Length of the input buffer in elements; 0 in place, since there is none.
    pub fn input_len(&self) -> usize {
        if self.in_place {
            return 0;
        }
        match &self.operation {
            Operation::Barrier | Operation::Bcast { .. } => 0,
            Operation::Reduce { count, .. }
            | Operation::Allreduce { count, .. }
            | Operation::Allgather { count } => *count,
            Operation::Allgatherv { blocks } => blocks[self.rank.index()].count,
            Operation::Exchange { count, to, .. } => count * to.len(),
            Operation::Exchangev { to, .. } => extent(to.iter().map(Neighbour::block)),
        }
    }

    /// Length of the output buffer in elements, gaps included.
    pub fn output_len(&self) -> usize {
        match &self.operation {
            Operation::Barrier => 0,
            Operation::Reduce { root, .. } if *root != self.rank => 0,
            Operation::Bcast { count, .. }
            | Operation::Reduce { count, .. }
            | Operation::Allreduce { count, .. } => *count,
            Operation::Allgather { count } => count * self.ranks as usize,
            Operation::Allgatherv { blocks } => extent(blocks.iter().copied()),
            Operation::Exchange { count, from, .. } => count * from.len(),
            Operation::Exchangev { from, .. } => extent(from.iter().map(Neighbour::block)),
        }
    }

    /// The size in bytes by which an algorithm is selected; the same on all ranks of one call.
    ///
    /// It is the size of the data for a broadcast or a reduction, and the sum of all blocks for
    /// an allgather. Of an exchange each rank knows its own part only, so nothing there is sure to
    /// be the same on all ranks, and the size is 0 as it is for a barrier.
    pub fn bytes(&self) -> usize {
        let elements = match &self.operation {
            Operation::Barrier | Operation::Exchange { .. } | Operation::Exchangev { .. } => 0,
            Operation::Bcast { count, .. }
            | Operation::Reduce { count, .. }
            | Operation::Allreduce { count, .. } => *count,
            Operation::Allgather { count } => count * self.ranks as usize,
            Operation::Allgatherv { blocks } => blocks.iter().map(|block| block.count).sum(),
        };
        elements * self.element_bytes
    }

    /// Where this rank's own data lies when the call starts: in the input or, in place and at the
    /// root of a broadcast, in the output.
    pub fn contribution(&self) -> Slice {
        // An empty block may lie anywhere, also outside the buffer.
        let output = |start, len| Slice {
            buffer: Buffer::Output,
            start: if len == 0 { 0 } else { start },
            len,
        };
        let me = self.rank.index();
        match &self.operation {
            Operation::Bcast { count, root } if *root == self.rank => output(0, *count),
            Operation::Reduce { count, .. } | Operation::Allreduce { count, .. }
                if self.in_place =>
            {
                output(0, *count)
            }
            Operation::Allgather { count } if self.in_place => output(me * count, *count),
            Operation::Allgatherv { blocks } if self.in_place => {
                output(blocks[me].start, blocks[me].count)
            }
            _ => Slice { buffer: Buffer::Input, start: 0, len: self.input_len() },
        }
    }

    /// Checks what this rank can check alone.
    ///
    /// # Errors
    /// The first [`CallError`] found. A call that passes can be planned.
    pub fn check(&self) -> Result<(), CallError> {
        if self.rank.0 >= self.ranks {
            return Err(CallError::Rank { rank: self.rank, ranks: self.ranks });
        }
        self.check_in_place()?;
        self.check_size()?;
        match &self.operation {
            Operation::Bcast { root, .. } | Operation::Reduce { root, .. } => {
                self.check_root(*root)
            }
            Operation::Allgatherv { blocks } => check_disjoint(blocks.iter().copied()),
            Operation::Exchange { to, from, .. } => {
                self.check_neighbours(to.iter().chain(from.iter()).copied())?;
                self.check_itself(
                    to.iter().map(|rank| (*rank, 0)),
                    from.iter().map(|rank| (*rank, 0)),
                )
            }
            Operation::Exchangev { to, from } => {
                self.check_neighbours(to.iter().chain(from.iter()).map(|other| other.rank))?;
                check_disjoint(from.iter().map(Neighbour::block))?;
                self.check_itself(
                    to.iter().map(|other| (other.rank, other.count)),
                    from.iter().map(|other| (other.rank, other.count)),
                )
            }
            Operation::Barrier | Operation::Allreduce { .. } | Operation::Allgather { .. } => {
                Ok(())
            }
        }
    }

    fn check_in_place(&self) -> Result<(), CallError> {
        match &self.operation {
            _ if !self.in_place => Ok(()),
            Operation::Reduce { root, .. } if *root != self.rank => {
                Err(CallError::InPlaceNotRoot { rank: self.rank, root: *root })
            }
            Operation::Reduce { .. }
            | Operation::Allreduce { .. }
            | Operation::Allgather { .. }
            | Operation::Allgatherv { .. } => Ok(()),
            _ => Err(CallError::InPlace(self.collective())),
        }
    }

    /// Makes sure that no length computed later can overflow.
    fn check_size(&self) -> Result<(), CallError> {
        let ranks = self.ranks as usize;
        let largest = match &self.operation {
            Operation::Barrier => Some(0),
            Operation::Bcast { count, .. }
            | Operation::Reduce { count, .. }
            | Operation::Allreduce { count, .. } => Some(*count),
            Operation::Allgather { count } => count.checked_mul(ranks),
            Operation::Allgatherv { blocks } if blocks.len() != ranks => {
                return Err(CallError::Blocks { blocks: blocks.len(), ranks: self.ranks });
            }
            Operation::Allgatherv { blocks } => checked_extent(blocks.iter().copied()),
            Operation::Exchange { count, to, from } => count.checked_mul(to.len().max(from.len())),
            Operation::Exchangev { to, from } => {
                checked_extent(to.iter().chain(from.iter()).map(Neighbour::block))
            }
        };
        largest
            .and_then(|elements| elements.checked_mul(self.element_bytes.max(1)))
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .map(drop)
            .ok_or(CallError::TooLarge)
    }

    fn check_root(&self, root: Rank) -> Result<(), CallError> {
        if root.0 < self.ranks { Ok(()) } else { Err(CallError::Root { root, ranks: self.ranks }) }
    }

    fn check_neighbours(&self, mut all: impl Iterator<Item = Rank>) -> Result<(), CallError> {
        match all.find(|other| other.0 >= self.ranks) {
            None => Ok(()),
            Some(neighbour) => Err(CallError::Neighbour { neighbour, ranks: self.ranks }),
        }
    }

    /// The k-th block to itself must have the count of the k-th block from itself.
    fn check_itself(
        &self,
        to: impl Iterator<Item = (Rank, usize)>,
        from: impl Iterator<Item = (Rank, usize)>,
    ) -> Result<(), CallError> {
        let own = |other: &(Rank, usize)| other.0 == self.rank;
        if to.filter(own).eq(from.filter(own)) {
            Ok(())
        } else {
            Err(CallError::Itself { rank: self.rank })
        }
    }
}

impl Neighbour {
    /// The elements, without the rank.
    pub fn block(&self) -> Block {
        Block { start: self.start, count: self.count }
    }
}

/// One past the last element of any block that is not empty.
fn extent(blocks: impl Iterator<Item = Block>) -> usize {
    blocks.filter(|block| block.count > 0).map(|block| block.start + block.count).max().unwrap_or(0)
}

fn checked_extent(blocks: impl Iterator<Item = Block>) -> Option<usize> {
    let mut sum = 0usize;
    let mut largest = 0;
    for block in blocks.filter(|block| block.count > 0) {
        largest = largest.max(block.start.checked_add(block.count)?);
        sum = sum.checked_add(block.count)?;
    }
    Some(largest.max(sum))
}

fn check_disjoint(blocks: impl Iterator<Item = Block>) -> Result<(), CallError> {
    let mut blocks: Vec<Block> = blocks.filter(|block| block.count > 0).collect();
    blocks.sort_unstable_by_key(|block| block.start);
    match blocks.windows(2).find(|pair| pair[0].start + pair[0].count > pair[1].start) {
        None => Ok(()),
        Some(pair) => Err(CallError::Overlap { element: pair[1].start }),
    }
}
