//! Makes the call of each rank from a few numbers of the command line.

use std::sync::Arc;

use motet_fabric::setting::Number;
use motet_plan::nodes::{Lists, everybody};
use motet_plan::{Block, Blocks, Call, Collective, Neighbour, NodeMap, Operation, Rank};

use crate::output::Mistake;
use crate::quantity::{self, counted};

/// The elements of the data, or of one block.
const ELEMENTS: Number = Number::new("a number of elements");
/// The size of an element.
const ELEMENT_BYTES: Number = Number::new("a size in bytes").at_least(1);
/// The ranks on a node.
const PER_NODE: Number = Number::new("a number of ranks").at_least(1);

/// The sizes of a call, its operator, and its nodes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Sizes {
    /// Number of elements of the data, or of one block; `4K` is 4096 [default: one for each rank,
    /// one in a block]
    #[arg(long, value_name = "C", value_parser = quantity::sized(ELEMENTS), requires = "ranks")]
    count: Option<usize>,

    /// Size of an element in bytes
    #[arg(
        long,
        value_name = "B",
        value_parser = quantity::sized(ELEMENT_BYTES),
        default_value = "8",
        requires = "ranks"
    )]
    element_bytes: usize,

    /// The operator does not commute: operands are combined in rank order
    #[arg(long, requires = "ranks")]
    ordered: bool,

    /// Number of consecutive ranks that share a node; messages between nodes cost more [default:
    /// all ranks share one node]
    #[arg(
        long,
        value_name = "K",
        value_parser = quantity::number::<u32>(PER_NODE),
        requires = "ranks"
    )]
    per_node: Option<u32>,
}

impl Sizes {
    /// `count` elements of `element_bytes` bytes, with an operator that commutes.
    pub(crate) fn of(count: usize, element_bytes: usize) -> Self {
        Self { count: Some(count), element_bytes, ordered: false, per_node: None }
    }

    /// Whether the operator does not commute.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }
}

/// A collective with its sizes and options: enough to make the call of each rank.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) collective: Collective,
    pub(crate) ranks: u32,
    pub(crate) sizes: Sizes,
    pub(crate) root: u32,
    pub(crate) in_place: bool,
    /// Number of ranks in the first of two groups; half of them by default.
    pub(crate) left: Option<u32>,
}

impl Example {
    /// The call of one rank.
    ///
    /// # Errors
    /// If the numbers do not form a valid call.
    pub(crate) fn call(&self, rank: u32) -> Result<Call, Mistake> {
        let fewest = self.collective.fewest_ranks();
        if self.ranks < fewest {
            let (fewest, collective) = (counted(fewest as usize, "rank"), self.collective);
            return Err(Mistake(format!("{collective} is between two groups: at least {fewest}")));
        }
        let is_barrier = matches!(self.collective, Collective::Barrier | Collective::InterBarrier);
        let call = Call {
            rank: Rank(rank),
            ranks: self.ranks,
            element_bytes: if is_barrier { 0 } else { self.sizes.element_bytes },
            in_place: self.in_place && self.may_be_in_place(rank),
            nodes: self.division(),
            operation: self.operation(rank),
        };
        call.check().map_err(|error| Mistake(error.to_string()))?;
        Ok(call)
    }

    /// Number of ranks that share a node, if there are several nodes.
    pub(crate) fn per_node(&self) -> Option<u32> {
        self.sizes.per_node
    }

    /// Which ranks share a node.
    fn division(&self) -> NodeMap {
        let per_node = self.sizes.per_node.unwrap_or(self.ranks);
        NodeMap::new((0..self.ranks).map(|rank| (rank / per_node) as usize))
    }

    /// The calls of all ranks.
    ///
    /// # Errors
    /// If the numbers do not form a valid call.
    pub(crate) fn calls(&self) -> Result<Vec<Call>, Mistake> {
        (0..self.ranks).map(|rank| self.call(rank)).collect()
    }

    /// Which blocks or neighbours were made up, where the collective leaves that open.
    pub(crate) fn pattern(&self) -> Option<String> {
        let blocks = match self.count() {
            0 => "blocks of rank % 3 elements".to_owned(),
            count => format!("blocks of {count} + rank % 3 elements"),
        };
        let (rows, columns) = self.grid();
        let torus = format!("neighbours on a torus of {rows} x {columns} ranks");
        match self.collective {
            Collective::Gatherv
            | Collective::Scatterv
            | Collective::ReduceScatter
            | Collective::Allgatherv => Some(blocks),
            Collective::Alltoallv => Some(blocks.replace("rank %", "(rank + rank) %")),
            Collective::Exchange => Some("neighbours on a ring: the rank before and after".into()),
            Collective::Exchangev => Some(format!("{torus}, {blocks} to each")),
            Collective::NeighborReduce => Some(format!("{torus}, {blocks} from each")),
            Collective::NodeExchange => {
                let size = self.node_size();
                Some(format!("{torus}, {blocks}, one for all neighbours, on nodes of {size}"))
            }
            Collective::InterAllgatherv => Some(format!("{}, {blocks}", self.groups())),
            Collective::InterReduceScatter => {
                Some(format!("{}, each shares out {} evenly", self.groups(), self.total()))
            }
            Collective::InterBarrier
            | Collective::InterAllgather
            | Collective::InterReduce
            | Collective::InterAllreduce
            | Collective::InterReduceScatterBlock => Some(self.groups()),
            _ => None,
        }
    }

    /// The sizes in words.
    pub(crate) fn size(&self) -> String {
        let bytes = counted(self.sizes.element_bytes, "byte");
        let elements = format!("{} of {bytes}", counted(self.count(), "element"));
        match self.collective {
            Collective::Barrier | Collective::InterBarrier => "no data".to_owned(),
            Collective::Bcast
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Scan
            | Collective::Exscan
            | Collective::InterReduce
            | Collective::InterAllreduce => elements,
            Collective::Gather
            | Collective::Scatter
            | Collective::ReduceScatterBlock
            | Collective::Allgather
            | Collective::Alltoall
            | Collective::Exchange
            | Collective::InterAllgather => format!("blocks of {elements}"),
            Collective::Gatherv
            | Collective::Scatterv
            | Collective::ReduceScatter
            | Collective::Allgatherv
            | Collective::Alltoallv
            | Collective::Exchangev
            | Collective::NeighborReduce
            | Collective::NodeExchange
            | Collective::InterAllgatherv => format!("blocks of at least {elements}"),
            Collective::InterReduceScatterBlock | Collective::InterReduceScatter => {
                format!("{} of {bytes} to each group", counted(self.total(), "element"))
            }
        }
    }

    fn operation(&self, rank: u32) -> Operation {
        let (count, root, commutative) = (self.count(), Rank(self.root), !self.sizes.ordered);
        match self.collective {
            Collective::Barrier => Operation::Barrier,
            Collective::Bcast => Operation::Bcast { count, root },
            Collective::Gather => Operation::Gather { count, root },
            Collective::Gatherv => Operation::Gatherv { blocks: self.known(rank), root },
            Collective::Scatter => Operation::Scatter { count, root },
            Collective::Scatterv => Operation::Scatterv { blocks: self.known(rank), root },
            Collective::Reduce => Operation::Reduce { count, root, commutative },
            Collective::Allreduce => Operation::Allreduce { count, commutative },
            Collective::ReduceScatterBlock => Operation::ReduceScatterBlock { count, commutative },
            Collective::ReduceScatter => {
                let counts = (0..self.ranks).map(|rank| self.count_of(Rank(rank))).collect();
                Operation::ReduceScatter { counts, commutative }
            }
            Collective::Scan => Operation::Scan { count, commutative },
            Collective::Exscan => Operation::Exscan { count, commutative },
            Collective::Allgather => Operation::Allgather { count },
            Collective::Allgatherv => Operation::Allgatherv { blocks: self.blocks() },
            Collective::Alltoall => Operation::Alltoall { count },
            Collective::Alltoallv => self.alltoallv(rank),
            Collective::Exchange => {
                let ring: Arc<[Rank]> = neighbours((1, self.ranks), rank).into();
                Operation::Exchange { count, to: ring.clone(), from: ring }
            }
            Collective::Exchangev => {
                let torus = neighbours(self.grid(), rank);
                let to = torus.iter().map(|&to| (to, self.count_of(Rank(rank))));
                let from = torus.iter().map(|&from| (from, self.count_of(from)));
                Operation::Exchangev { to: in_line(to), from: in_line(from) }
            }
            Collective::NeighborReduce => {
                let from = neighbours(self.grid(), rank);
                let to = in_line(from.iter().map(|&to| (to, self.count_of(to))));
                let count = self.count_of(Rank(rank));
                Operation::NeighborReduce { count, to, from: from.into(), commutative }
            }
            Collective::NodeExchange => {
                let nodes: Vec<_> = (0..self.ranks).map(|rank| rank / self.node_size()).collect();
                let lists: Vec<_> = (0..self.ranks).map(|rank| self.same_to_all(rank)).collect();
                let calls = everybody(&nodes, &lists, self.sizes.element_bytes);
                calls[rank as usize].operation.clone()
            }
            _ => self.between_groups(rank),
        }
    }

    /// A row of the grid, or half of it, is a node; of one row, a few ranks.
    fn node_size(&self) -> u32 {
        let (rows, columns) = self.grid();
        if rows == 1 { columns.div_ceil(3) } else { columns }
    }

    /// Each rank sends its one block to all its neighbours on the torus.
    fn same_to_all(&self, rank: u32) -> Lists {
        let torus = neighbours(self.grid(), rank);
        let count = self.count_of(Rank(rank));
        let to = torus.iter().map(|&rank| Neighbour { rank, start: 0, count }).collect();
        (to, in_line(torus.iter().map(|&from| (from, self.count_of(from)))))
    }

    /// The operation of one rank, of a collective between two groups.
    fn between_groups(&self, rank: u32) -> Operation {
        let (left, count, commutative) = (self.left(), self.count(), !self.sizes.ordered);
        // A group that there cannot be is refused when the call is checked.
        let groups = [left, self.ranks.saturating_sub(left)];
        let is_right = rank >= left;
        match self.collective {
            Collective::InterAllgather => Operation::InterAllgather { left, counts: [count; 2] },
            Collective::InterAllgatherv => {
                let far = if is_right { 0..left } else { left..self.ranks };
                let blocks = blocks_in_line(far.map(|it| (Rank(it), self.count_of(Rank(it)))));
                Operation::InterAllgatherv { left, own: self.count_of(Rank(rank)), blocks }
            }
            Collective::InterReduce => {
                Operation::InterReduce { left, count, root: Rank(self.root), commutative }
            }
            Collective::InterAllreduce => Operation::InterAllreduce { left, count, commutative },
            Collective::InterReduceScatterBlock => {
                let [first, second] = groups.map(|ranks| count.saturating_mul(ranks as usize));
                let counts = [second, first];
                Operation::InterReduceScatterBlock { left, counts, commutative }
            }
            Collective::InterReduceScatter => {
                let ranks = groups[usize::from(is_right)] as usize;
                let even = |index| self.total() / ranks + usize::from(index < self.total() % ranks);
                let counts = (0..ranks).map(even).collect();
                Operation::InterReduceScatter { left, counts, commutative }
            }
            _ => Operation::InterBarrier { left },
        }
    }

    /// The two groups in words.
    fn groups(&self) -> String {
        let (left, ranks) = (self.left(), self.ranks);
        format!("groups of {left} and {} ranks", ranks.saturating_sub(left))
    }

    fn left(&self) -> u32 {
        self.left.unwrap_or(self.ranks.div_ceil(2))
    }

    /// What each of two groups shares out among its ranks: a block for each rank of each group
    /// where blocks have one length, and a block for each rank where they have not.
    fn total(&self) -> usize {
        let (left, right) = (self.left() as usize, self.ranks.saturating_sub(self.left()) as usize);
        match self.collective {
            Collective::InterReduceScatterBlock => {
                self.count().saturating_mul(left).saturating_mul(right)
            }
            _ => self.count().saturating_mul(left + right),
        }
    }

    fn count(&self) -> usize {
        self.sizes.count.unwrap_or(match self.collective {
            Collective::Bcast
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Scan
            | Collective::Exscan
            | Collective::InterReduce
            | Collective::InterAllreduce => self.ranks as usize,
            _ => 1,
        })
    }

    /// The length of the blocks of one rank, where lengths may differ.
    fn count_of(&self, rank: Rank) -> usize {
        // What does not fit is refused when the call is checked.
        self.count().saturating_add(rank.index() % 3)
    }

    /// The blocks of all ranks, one after the other.
    fn blocks(&self) -> Arc<[Block]> {
        let ranks = (0..self.ranks).map(Rank);
        blocks_in_line(ranks.map(|rank| (rank, self.count_of(rank))))
    }

    /// Blocks that are as long one way as the other, as they must be in place.
    fn alltoallv(&self, rank: u32) -> Operation {
        let length = |other: Rank| (other, self.count_of(Rank(rank + other.0)));
        let blocks = blocks_in_line((0..self.ranks).map(Rank).map(length));
        Operation::Alltoallv { to: blocks.clone(), from: blocks }
    }

    /// What a rank knows of these blocks where only the root knows all.
    fn known(&self, rank: u32) -> Blocks {
        if rank == self.root {
            Blocks::All(self.blocks())
        } else {
            Blocks::Own(self.count_of(Rank(rank)))
        }
    }

    /// Of a collective that has a root only the root can be in place.
    fn may_be_in_place(&self, rank: u32) -> bool {
        self.operation(rank).root().is_none_or(|root| root == Rank(rank))
    }

    /// All ranks as a grid, as nearly square as can be: rows and columns.
    fn grid(&self) -> (u32, u32) {
        let is_row_count = |rows: &u32| self.ranks.is_multiple_of(*rows);
        let rows = (1..=self.ranks.isqrt()).rev().find(is_row_count).unwrap_or(1);
        (rows, self.ranks / rows)
    }
}

/// The neighbours of a rank on a grid that closes at its edges. Along a side of one rank there are
/// none, and along one of two ranks the same one twice.
fn neighbours((rows, columns): (u32, u32), rank: u32) -> Vec<Rank> {
    let (row, column) = (rank / columns, rank % columns);
    let mut neighbours = Vec::new();
    if rows > 1 {
        let other = |by: u32| Rank((row + by) % rows * columns + column);
        neighbours.extend([other(rows - 1), other(1)]);
    }
    if columns > 1 {
        let other = |by: u32| Rank(row * columns + (column + by) % columns);
        neighbours.extend([other(columns - 1), other(1)]);
    }
    neighbours
}

/// Blocks one after the other.
fn in_line(blocks: impl Iterator<Item = (Rank, usize)>) -> Arc<[Neighbour]> {
    let place = |next: &mut usize, (rank, count)| {
        let start = *next;
        *next = next.saturating_add(count);
        Some(Neighbour { rank, start, count })
    };
    blocks.scan(0, place).collect()
}

/// The same without the ranks.
fn blocks_in_line(blocks: impl Iterator<Item = (Rank, usize)>) -> Arc<[Block]> {
    in_line(blocks).iter().map(Neighbour::block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_nearly_square_and_closed() {
        let sizes = Sizes { count: None, element_bytes: 8, ordered: false, per_node: None };
        let collective = Collective::Exchangev;
        let example = |ranks| Example {
            collective,
            ranks,
            sizes: sizes.clone(),
            root: 0,
            in_place: false,
            left: None,
        };
        let grids = [(1, (1, 1)), (6, (2, 3)), (7, (1, 7)), (12, (3, 4)), (16, (4, 4))];
        for (ranks, grid) in grids {
            assert_eq!(example(ranks).grid(), grid);
            assert!(example(ranks).calls().is_ok());
        }
        assert_eq!(neighbours((2, 3), 0), [3, 3, 2, 1].map(Rank));
        assert_eq!(neighbours((1, 1), 0), []);
    }
}
