//! The position of each rank (root, group, neighbours) in a collective, and the source of each
//! block.
//!
//! All blocks have one length, even in irregular collectives, so that these can be compared with
//! their regular forms.

use std::ops::Range;

use motet::{
    Block, CartesianCommunicator, Communicator, Intercommunicator, Neighbour, Reorder, Result,
    Root, Tag,
};
use motet_plan::Collective;

use super::subjects::Measured;

/// The root of the measured collectives.
pub(super) const ROOT: usize = 0;

/// The ranks around one rank.
pub(super) struct RankNeighbours<'a> {
    pub(super) world: &'a Communicator,
    /// The ranks before and after this one: block 0 goes to the one before.
    pub(super) to: [usize; 2],
    /// The ranks after and before: block 0 comes from the one after.
    pub(super) from: [usize; 2],
    /// All ranks on a ring, if a collective on a ring is measured.
    pub(super) ring: Option<CartesianCommunicator>,
    /// An intercommunicator of the first half of the ranks and the others, if a collective between
    /// groups is measured.
    pub(super) across: Option<Intercommunicator>,
}

/// The contributions to an element of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The element of a rank at a place.
    One(usize, usize),
    /// The sum of the elements of some ranks at a place.
    Sum(Range<usize>, usize),
    /// The sum of the elements of two ranks, each at a place.
    Both([(usize, usize); 2]),
    /// None: the element does not change.
    Nobody,
}

impl<'a> RankNeighbours<'a> {
    pub(super) fn new(world: &'a Communicator, measured: Measured) -> Result<RankNeighbours<'a>> {
        let (rank, size) = (world.rank(), world.size());
        let (before, after) = ((rank + size - 1) % size, (rank + 1) % size);
        let ring = match measured {
            Measured::NeighborAlltoall => world.cartesian(&[size], &[true], Reorder::Never)?,
            Measured::Planned(_) => None,
        };
        let across = if measured.is_between_groups() { Some(halves(world)?) } else { None };
        Ok(RankNeighbours { world, to: [before, after], from: [after, before], ring, across })
    }

    pub(super) fn rank(&self) -> usize {
        self.world.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.world.size()
    }

    /// The number of ranks in the first half, which is the larger one if the halves differ.
    fn half(&self) -> usize {
        half(self.world)
    }

    fn is_in_first_half(&self) -> bool {
        !self.is_in_second_half(self.rank())
    }

    pub(super) fn is_in_second_half(&self, rank: usize) -> bool {
        rank >= self.half()
    }

    /// The ranks of the other group, by their numbers in the world.
    fn far(&self) -> Range<usize> {
        let half = self.half();
        if self.is_in_first_half() { half..self.size() } else { 0..half }
    }

    /// The argument of this rank for rank 0 of the world as the root, which is in the first half.
    pub(super) fn root_across(&self) -> Root {
        match self.rank() {
            ROOT => Root::ThisRank,
            _ if self.is_in_first_half() => Root::ProcNull,
            _ => Root::Rank(ROOT),
        }
    }

    /// The length that both groups can divide into blocks of at least `count` elements.
    fn shared(&self, count: usize) -> usize {
        let (left, right) = (self.half(), self.size() - self.half());
        count * if left == right { left } else { left * right }
    }

    /// The lengths of the input and the output. Data has `count` elements, or its blocks do.
    pub(super) fn lengths(&self, measured: Measured, count: usize) -> (usize, usize) {
        let (is_root, whole) = (self.rank() == ROOT, count * self.size());
        let at_root = |len| if is_root { len } else { 0 };
        let Measured::Planned(collective) = measured else { return (2 * count, 2 * count) };
        match collective {
            Collective::Barrier | Collective::InterBarrier => (0, 0),
            // The only buffer is an output.
            Collective::Bcast => (0, count),
            Collective::Gather | Collective::Gatherv => (count, at_root(whole)),
            Collective::Scatter | Collective::Scatterv => (at_root(whole), count),
            Collective::Reduce => (count, at_root(count)),
            Collective::Allreduce | Collective::Scan | Collective::Exscan => (count, count),
            Collective::ReduceScatterBlock | Collective::ReduceScatter => (whole, count),
            Collective::Allgather | Collective::Allgatherv => (count, whole),
            Collective::Alltoall | Collective::Alltoallv => (whole, whole),
            Collective::NeighborReduce => (2 * count, count),
            Collective::Exchange | Collective::Exchangev | Collective::NodeExchange => {
                (2 * count, 2 * count)
            }
            Collective::InterAllgather | Collective::InterAllgatherv => {
                (count, count * self.far().len())
            }
            Collective::InterReduce if self.is_in_first_half() => (0, at_root(count)),
            Collective::InterReduce => (count, 0),
            Collective::InterAllreduce => (count, count),
            Collective::InterReduceScatterBlock | Collective::InterReduceScatter => {
                let near = self.size() - self.far().len();
                (self.shared(count), self.shared(count) / near)
            }
        }
    }

    /// The length of the blocks in the input of a rank: the data for one rank, or the whole.
    pub(super) fn block_of(&self, measured: Measured, count: usize, rank: usize) -> usize {
        match measured {
            Measured::Planned(
                Collective::InterReduceScatterBlock | Collective::InterReduceScatter,
            ) => {
                let second = self.is_in_second_half(rank);
                let takers = if second { self.half() } else { self.size() - self.half() };
                self.shared(count) / takers
            }
            _ => count,
        }
    }

    /// The origin of an element of the output.
    pub(super) fn origin(&self, measured: Measured, count: usize, place: usize) -> Origin {
        let (rank, all) = (self.rank(), 0..self.size());
        let (block, within) = (place / count, place % count);
        let Measured::Planned(collective) = measured else {
            // The block that arrives from one side was sent to the other side.
            let (from, slot) = if block == 0 { (self.to[0], 1) } else { (self.to[1], 0) };
            return Origin::One(from, slot * count + within);
        };
        match collective {
            Collective::Barrier | Collective::InterBarrier => Origin::Nobody,
            Collective::Bcast => Origin::One(ROOT, place),
            Collective::Scatter | Collective::Scatterv => Origin::One(ROOT, rank * count + place),
            Collective::Gather
            | Collective::Gatherv
            | Collective::Allgather
            | Collective::Allgatherv => Origin::One(block, within),
            Collective::Alltoall | Collective::Alltoallv => {
                Origin::One(block, rank * count + within)
            }
            Collective::NeighborReduce => {
                Origin::Both([0, 1].map(|slot| (self.from[slot], slot * count + place)))
            }
            Collective::Exchange | Collective::Exchangev | Collective::NodeExchange => {
                Origin::One(self.from[block], place)
            }
            Collective::Reduce | Collective::Allreduce => Origin::Sum(all, place),
            Collective::Scan => Origin::Sum(0..rank + 1, place),
            Collective::Exscan if rank == 0 => Origin::Nobody,
            Collective::Exscan => Origin::Sum(0..rank, place),
            Collective::ReduceScatterBlock | Collective::ReduceScatter => {
                Origin::Sum(all, rank * count + place)
            }
            Collective::InterAllgather | Collective::InterAllgatherv => {
                Origin::One(self.far().start + block, within)
            }
            Collective::InterReduce | Collective::InterAllreduce => Origin::Sum(self.far(), place),
            Collective::InterReduceScatterBlock | Collective::InterReduceScatter => {
                let near = self.size() - self.far().len();
                let own = if self.is_in_first_half() { rank } else { rank - self.half() };
                Origin::Sum(self.far(), own * (self.shared(count) / near) + place)
            }
        }
    }

    /// An element of the output that shows whether a run delivered it: the first one of another
    /// rank's block.
    pub(super) fn telling(&self, measured: Measured, count: usize) -> usize {
        match measured.collective() {
            Collective::Gather
            | Collective::Gatherv
            | Collective::Allgather
            | Collective::Allgatherv
            | Collective::Alltoall
            | Collective::Alltoallv => self.from[0] * count,
            _ => 0,
        }
    }

    /// A block for each rank that sends or receives data.
    pub(super) fn blocks(&self, measured: Measured, count: usize) -> Vec<Block> {
        let ranks = if measured.is_between_groups() { self.far().len() } else { self.size() };
        (0..ranks).map(|rank| Block { start: rank * count, count }).collect()
    }

    /// The part of each rank, or of each rank of the own group, in a reduction whose result is
    /// scattered.
    pub(super) fn counts(&self, measured: Measured, count: usize) -> Vec<usize> {
        if measured.is_between_groups() {
            let near = self.size() - self.far().len();
            return vec![self.shared(count) / near; near];
        }
        vec![count; self.size()]
    }

    /// A block for each of two ranks.
    pub(super) fn neighbours(ranks: [usize; 2], count: usize) -> [Neighbour; 2] {
        [0, 1].map(|at| Neighbour { rank: ranks[at], start: at * count, count })
    }
}

fn half(world: &Communicator) -> usize {
    world.size().div_ceil(2)
}

/// An intercommunicator of the first half of the ranks and the others.
fn halves(world: &Communicator) -> Result<Intercommunicator> {
    let half = half(world);
    let is_left = world.rank() < half;
    let group = world.split(Some(u32::from(!is_left)), 0)?.expect("all have a colour");
    group.intercomm_create(0, Some(world), if is_left { half } else { 0 }, Tag(0))
}
