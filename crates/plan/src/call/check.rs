//! Checks the arguments of a call, as far as one rank can.

use super::{Block, Blocks, Call, CallError, Neighbour, Operation, Rank};
use crate::order::sort_by_number;

impl Call {
    /// Checks what this rank can check alone.
    ///
    /// # Errors
    /// The first [`CallError`] found. A call that passes can be planned.
    pub fn check(&self) -> Result<(), CallError> {
        if self.rank.0 >= self.ranks {
            return Err(CallError::Rank { rank: self.rank, ranks: self.ranks });
        }
        match self.nodes.ranks() {
            Some(divided) if divided != self.ranks as usize => {
                return Err(CallError::Nodes { divided, ranks: self.ranks });
            }
            _ => {}
        }
        self.check_groups()?;
        self.check_in_place()?;
        self.check_size()?;
        self.check_root()?;
        match &self.operation {
            Operation::Allgatherv { blocks } | Operation::InterAllgatherv { blocks, .. } => {
                check_disjoint(blocks.iter().copied())
            }
            Operation::Gatherv { blocks, root } => {
                self.check_knowledge(blocks, *root)?;
                check_disjoint(blocks.all().iter().copied())
            }
            Operation::Scatterv { blocks, root } => self.check_knowledge(blocks, *root),
            Operation::Alltoallv { to, from } => {
                check_disjoint(from.iter().copied())?;
                let own = |blocks: &[Block]| blocks[self.rank.index()].count;
                self.check_itself([(self.rank, own(to))], [(self.rank, own(from))])
            }
            Operation::Exchange { to, from, .. } => {
                self.check_neighbours(to.iter().chain(from.iter()).copied())?;
                self.check_itself(
                    to.iter().map(|rank| (*rank, 0)),
                    from.iter().map(|rank| (*rank, 0)),
                )
            }
            Operation::Exchangev { to, from } => self.check_exchange(to, from),
            Operation::NodeExchange { to, from, surroundings } => {
                self.check_exchange(to, from)?;
                surroundings.check(self, to, from)
            }
            Operation::NeighborReduce { count, to, from, .. } => {
                let destinations = to.iter().map(|other| other.rank);
                self.check_neighbours(destinations.chain(from.iter().copied()))?;
                self.check_itself(
                    to.iter().map(|other| (other.rank, other.count)),
                    from.iter().map(|rank| (*rank, *count)),
                )
            }
            _ => Ok(()),
        }
    }

    /// Both groups of an intercommunicator must have ranks.
    fn check_groups(&self) -> Result<(), CallError> {
        match self.operation.left() {
            Some(left) if left == 0 || left >= self.ranks => {
                Err(CallError::Groups { left, ranks: self.ranks })
            }
            _ => Ok(()),
        }
    }

    fn check_in_place(&self) -> Result<(), CallError> {
        match &self.operation {
            _ if !self.in_place => Ok(()),
            Operation::Gather { root, .. }
            | Operation::Gatherv { root, .. }
            | Operation::Scatter { root, .. }
            | Operation::Scatterv { root, .. }
            | Operation::Reduce { root, .. } => {
                if *root == self.rank {
                    Ok(())
                } else {
                    Err(CallError::InPlaceNotRoot { rank: self.rank, root: *root })
                }
            }
            Operation::Alltoallv { to, from } if to != from => {
                Err(CallError::InPlaceBlocks { rank: self.rank })
            }
            Operation::Allreduce { .. }
            | Operation::Scan { .. }
            | Operation::Exscan { .. }
            | Operation::ReduceScatterBlock { .. }
            | Operation::ReduceScatter { .. }
            | Operation::Allgather { .. }
            | Operation::Allgatherv { .. }
            | Operation::Alltoall { .. }
            | Operation::Alltoallv { .. } => Ok(()),
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
            | Operation::Allreduce { count, .. }
            | Operation::Scan { count, .. }
            | Operation::Exscan { count, .. } => Some(*count),
            Operation::Gather { count, .. }
            | Operation::Scatter { count, .. }
            | Operation::ReduceScatterBlock { count, .. }
            | Operation::Allgather { count }
            | Operation::Alltoall { count } => count.checked_mul(ranks),
            Operation::Gatherv { blocks: Blocks::Own(count), .. }
            | Operation::Scatterv { blocks: Blocks::Own(count), .. } => Some(*count),
            Operation::Gatherv { blocks: Blocks::All(blocks), .. }
            | Operation::Scatterv { blocks: Blocks::All(blocks), .. }
            | Operation::Allgatherv { blocks } => {
                self.check_number(blocks.len())?;
                checked_extent(blocks.iter().copied())
            }
            Operation::ReduceScatter { counts, .. } => {
                self.check_number(counts.len())?;
                counts.iter().try_fold(0, |sum: usize, count| sum.checked_add(*count))
            }
            Operation::Alltoallv { to, from } => {
                self.check_number(to.len())?;
                self.check_number(from.len())?;
                checked_extent(to.iter().chain(from.iter()).copied())
            }
            Operation::Exchange { count, to, from } => count.checked_mul(to.len().max(from.len())),
            Operation::Exchangev { to, from } | Operation::NodeExchange { to, from, .. } => {
                checked_extent(to.iter().chain(from.iter()).map(Neighbour::block))
            }
            Operation::NeighborReduce { count, to, from, .. } => {
                let scratch = count.checked_mul(from.len().max(1));
                checked_extent(to.iter().map(Neighbour::block)).zip(scratch).map(|(a, b)| a.max(b))
            }
            operation => self.largest_between(operation)?,
        };
        largest
            .and_then(|elements| elements.checked_mul(self.element_bytes.max(1)))
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .map(drop)
            .ok_or(CallError::TooLarge)
    }

    /// The largest length of a collective between two groups, or an error that must be found before
    /// lengths can be computed.
    fn largest_between(&self, operation: &Operation) -> Result<Option<usize>, CallError> {
        let groups = self.groups().expect("the others are between two groups");
        Ok(match operation {
            Operation::InterReduce { count, .. } | Operation::InterAllreduce { count, .. } => {
                Some(*count)
            }
            Operation::InterAllgather { left, counts } => {
                self.totals(*left, *counts).map(|totals| totals[0].max(totals[1]))
            }
            Operation::InterReduceScatterBlock { left, counts, .. } => {
                match self.totals(*left, *counts) {
                    Some([first, second]) if first != second => {
                        return Err(CallError::Totals(first, second));
                    }
                    totals => totals.map(|[total, _]| total),
                }
            }
            Operation::InterAllgatherv { own, blocks, .. } => {
                check_number_of(blocks.len(), groups.far.len())?;
                checked_extent(blocks.iter().copied()).map(|extent| extent.max(*own))
            }
            Operation::InterReduceScatter { counts, .. } => {
                check_number_of(counts.len(), groups.near.len())?;
                counts.iter().try_fold(0, |sum: usize, count| sum.checked_add(*count))
            }
            _ => Some(0),
        })
    }

    /// Blocks of one length for each rank of the first group, and of the second, added up.
    fn totals(&self, left: u32, counts: [usize; 2]) -> Option<[usize; 2]> {
        let first = counts[0].checked_mul(left as usize)?;
        Some([first, counts[1].checked_mul((self.ranks - left) as usize)?])
    }

    /// There must be a block for each rank.
    fn check_number(&self, blocks: usize) -> Result<(), CallError> {
        check_number_of(blocks, self.ranks as usize)
    }

    fn check_knowledge(&self, blocks: &Blocks, root: Rank) -> Result<(), CallError> {
        let rank = self.rank;
        let passed = match blocks {
            Blocks::All(_) if rank != root => "the blocks of all ranks",
            Blocks::Own(_) if rank == root => "only its own block",
            _ => return Ok(()),
        };
        Err(CallError::Knowledge { rank, root, passed })
    }

    fn check_root(&self) -> Result<(), CallError> {
        match self.operation.root() {
            Some(root) if root.0 >= self.ranks => Err(CallError::Root { root, ranks: self.ranks }),
            _ => Ok(()),
        }
    }

    /// The lists of an exchange of blocks of different lengths.
    fn check_exchange(&self, to: &[Neighbour], from: &[Neighbour]) -> Result<(), CallError> {
        self.check_neighbours(to.iter().chain(from).map(|other| other.rank))?;
        check_disjoint(from.iter().map(Neighbour::block))?;
        self.check_itself(
            to.iter().map(|other| (other.rank, other.count)),
            from.iter().map(|other| (other.rank, other.count)),
        )
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
        to: impl IntoIterator<Item = (Rank, usize)>,
        from: impl IntoIterator<Item = (Rank, usize)>,
    ) -> Result<(), CallError> {
        let own = |other: &(Rank, usize)| other.0 == self.rank;
        if to.into_iter().filter(own).eq(from.into_iter().filter(own)) {
            Ok(())
        } else {
            Err(CallError::Itself { rank: self.rank })
        }
    }
}

fn check_number_of(blocks: usize, ranks: usize) -> Result<(), CallError> {
    if blocks == ranks {
        Ok(())
    } else {
        Err(CallError::Blocks { blocks, ranks: Rank::from_index(ranks).0 })
    }
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
    sort_by_number(&mut blocks, |block| block.start as u64);
    match blocks.windows(2).find(|pair| pair[0].start + pair[0].count > pair[1].start) {
        None => Ok(()),
        Some(pair) => Err(CallError::Overlap { element: pair[1].start }),
    }
}
