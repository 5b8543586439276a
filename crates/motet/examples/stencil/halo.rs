//! The halo: which faces of its box a rank tells to whom, and where those of its neighbours go.
//!
//! A field has no room for ghosts in it. They lie apart, neighbour by neighbour, so that what comes
//! from one neighbour lies in a row, and that the field can be read while they come. Beyond a face
//! without a neighbour all is zero, and nothing is stored.

use std::ops::Range;

use anyhow::Result;
use motet::{Block, CartesianCommunicator, Group};

use crate::grid::Grid;

/// A face of a box: two for each direction, the low one and the high one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Face(usize);

impl Face {
    /// All of them, in the order in which they travel.
    pub(crate) const ALL: [Face; 6] = [Face(0), Face(1), Face(2), Face(3), Face(4), Face(5)];

    /// The direction that it looks in.
    pub(crate) fn direction(self) -> usize {
        self.0 / 2
    }

    /// How far its neighbour is in its direction.
    fn step(self) -> isize {
        if self.is_low() { -1 } else { 1 }
    }

    fn is_low(self) -> bool {
        self.0.is_multiple_of(2)
    }

    /// The face that lies against it.
    fn opposite(self) -> Face {
        Face(self.0 ^ 1)
    }

    /// The points of a box of these sizes that are in it: from where on, and how many.
    pub(crate) fn within(self, sizes: [usize; 3]) -> ([usize; 3], [usize; 3]) {
        let (mut starts, mut extents) = ([0; 3], sizes);
        let direction = self.direction();
        starts[direction] = if self.is_low() { 0 } else { sizes[direction] - 1 };
        extents[direction] = 1;
        (starts, extents)
    }
}

/// A rank that shares faces with this one.
pub(crate) struct Neighbour {
    pub(crate) rank: usize,
    /// The faces that it is told, in this order.
    pub(crate) faces: Vec<Face>,
    /// Where they lie among all faces that are sent, and its own among the ghosts: both are as
    /// many, since faces that lie against each other have the same sizes.
    pub(crate) block: Block,
}

/// The faces of one box and its neighbours.
pub(crate) struct Halo {
    /// The neighbours as a group.
    pub(crate) group: Group,
    /// One for each member of the group, in its order.
    pub(crate) neighbours: Vec<Neighbour>,
    /// Where the ghosts of each face lie, if it has a neighbour.
    ghosts: [Option<Range<usize>>; 6],
    /// What is beyond a row where there is nobody: zeros.
    pub(crate) cold: Vec<f64>,
    /// Points of the box in each direction.
    pub(crate) sizes: [usize; 3],
}

impl Halo {
    /// Finds the neighbours. Local.
    pub(crate) fn new(grid: &Grid) -> Result<Self> {
        let (ranks, sizes) = (&grid.ranks, grid.sizes());
        let group = ranks.neighbor_group(&[true; 3], 1)?;
        let beyond = Face::ALL.map(|face| rank_beyond(ranks, face));
        let (neighbours, ghosts, cold) = (Vec::new(), Default::default(), vec![0.0; sizes[2]]);
        let mut halo = Self { group, neighbours, ghosts, cold, sizes };
        let mut end = 0;
        for world_rank in halo.group.world_ranks().collect::<Vec<_>>() {
            let rank = ranks.group().rank_of(world_rank).expect("a neighbour is one of the ranks");
            let faces = Face::ALL.into_iter().filter(|face| beyond[face.0] == Some(rank));
            let start = end;
            // The neighbour sends its faces in their order, each of which lies against one here.
            for ghosts in Face::ALL.map(Face::opposite) {
                if beyond[ghosts.0] == Some(rank) {
                    end = halo.place(ghosts, end);
                }
            }
            let block = Block { start, count: end - start };
            halo.neighbours.push(Neighbour { rank, faces: faces.collect(), block });
        }
        Ok(halo)
    }

    /// Gives the ghosts of a face a place; returns where it ends.
    fn place(&mut self, face: Face, start: usize) -> usize {
        let count: usize = face.within(self.sizes).1.iter().product();
        self.ghosts[face.0] = Some(start..start + count);
        start + count
    }

    /// Where the ghosts of a face lie; nowhere if it has no neighbour.
    #[inline]
    pub(crate) fn ghosts_of(&self, face: Face) -> Option<Range<usize>> {
        self.ghosts[face.0].clone()
    }

    /// The number of all ghosts, and of the values that are sent.
    pub(crate) fn len(&self) -> usize {
        self.neighbours.iter().map(|neighbour| neighbour.block.count).sum()
    }

    /// The points of a box.
    pub(crate) fn points(&self) -> usize {
        self.sizes.iter().product()
    }
}

fn rank_beyond(ranks: &CartesianCommunicator, face: Face) -> Option<usize> {
    let (_, beyond) =
        ranks.shift(face.direction(), face.step()).expect("there are three directions");
    beyond
}
