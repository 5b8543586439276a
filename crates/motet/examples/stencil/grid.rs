//! The grid of points, and the box of it that each rank has.

use std::ops::Range;

use anyhow::{Result, ensure};
use motet::{CartesianCommunicator, Communicator, Reorder, dims_create};

use crate::failure::alike;
use crate::options::Options;

/// The directions by name; points next to each other in the last lie next to each other in memory.
pub(crate) const DIRECTIONS: [char; 3] = ['x', 'y', 'z'];

/// A grid of points, cut into boxes.
pub(crate) struct Grid {
    /// The ranks, arranged as their boxes are.
    pub(crate) ranks: CartesianCommunicator,
    /// Points of the whole grid in each direction.
    pub(crate) points: [usize; 3],
    /// Boxes in each direction.
    pub(crate) boxes: [usize; 3],
    /// The points of this rank.
    pub(crate) own: [Range<usize>; 3],
    /// Whether opposite sides are joined.
    pub(crate) periodic: bool,
}

impl Grid {
    /// Cuts the grid that the options ask for into a box for each rank.
    pub(crate) fn new(world: &Communicator, options: &Options) -> Result<Self> {
        let boxes = boxes(world.size(), options).map_err(|error| alike(world, error))?;
        let ranks = world.cartesian(&boxes, &[options.periodic; 3], Reorder::Allowed)?;
        let ranks = ranks.expect("there is a box for each rank");
        let place = ranks.coordinates();
        let share = |d: usize| share(options.size[d], boxes[d], place[d]);
        let own = [share(0), share(1), share(2)];
        Ok(Self { ranks, points: options.size, boxes, own, periodic: options.periodic })
    }

    /// Points of this rank in each direction.
    pub(crate) fn sizes(&self) -> [usize; 3] {
        self.own.clone().map(|points| points.len())
    }

    /// Calls with the place of each own point, in the order of memory.
    pub(crate) fn places(&self) -> impl Iterator<Item = [usize; 3]> {
        let [x, y, z] = self.own.clone();
        x.flat_map(move |i| {
            let z = z.clone();
            y.clone().flat_map(move |j| z.clone().map(move |k| [i, j, k]))
        })
    }
}

/// Boxes in each direction, no more than points.
fn boxes(ranks: usize, options: &Options) -> Result<[usize; 3]> {
    let asked = options.boxes.unwrap_or([0; 3]);
    let made = dims_create(ranks, &asked).ok().and_then(|sizes| <[usize; 3]>::try_from(sizes).ok());
    let [x, y, z] = asked;
    let boxes = made.ok_or_else(|| anyhow::anyhow!("{x} x {y} x {z} boxes for {ranks} ranks"))?;
    for (d, name) in DIRECTIONS.into_iter().enumerate() {
        let (boxes, points) = (boxes[d], options.size[d]);
        ensure!(
            boxes <= points,
            "more boxes than points in {name}: {boxes} boxes, {points} points"
        );
    }
    Ok(boxes)
}

/// The part of some points that one of several boxes has: as even as can be, and none empty.
fn share(points: usize, boxes: usize, place: usize) -> Range<usize> {
    let start = |place: usize| (points as u128 * place as u128 / boxes as u128) as usize;
    start(place)..start(place + 1)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn boxes_of(ranks: usize, line: &str) -> Result<[usize; 3]> {
        boxes(ranks, &Options::parse_from(["stencil"].into_iter().chain(line.split_whitespace())))
    }

    #[test]
    fn shares_follow_each_other_and_differ_by_one() {
        let shares: Vec<_> = (0..4).map(|place| share(10, 4, place)).collect();
        assert_eq!(shares, [0..2, 2..5, 5..7, 7..10]);
    }

    #[test]
    fn there_is_a_box_for_each_rank() {
        assert_eq!(boxes_of(12, "--size 9").unwrap(), [3, 2, 2]);
        assert_eq!(boxes_of(6, "--size 9 --boxes 1,1,6").unwrap(), [1, 1, 6]);
        let error = boxes_of(4, "--size 9 --boxes 2,2,2").unwrap_err();
        assert_eq!(error.to_string(), "2 x 2 x 2 boxes for 4 ranks");
        let error = boxes_of(3, "--size 2,9,9").unwrap_err();
        assert_eq!(error.to_string(), "more boxes than points in x: 3 boxes, 2 points");
    }
}
