//! Groups of ranks at a distance on a grid. (The proposal of 2008, `Cart_neighbor_group`)

use super::cartesian::one_each;
use super::{Cartesian, CartesianCommunicator, Topology};
use crate::base::error::{ErrorKind, Result, TopologyError};
use crate::base::group::Group;
use crate::comm::communicator::Communicator;

/// Measure of distance on a grid.
///
/// [`Steps`](Reach::Steps) and [`Box`](Reach::Box) measure the shortest path, which on a ring may
/// cross its end; so no rank is farther along a ring than half its length. Both select the sphere:
/// ranks at exactly the distance, not those within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The distance along one of the dimensions, in either direction, as in [`Cartesian::shift`]:
    /// at most `2 n` places in `n` dimensions. On a ring this wraps around, so that a distance may
    /// lead to any rank, or back to the start.
    Axis,
    /// The number of steps on the shortest path, each along one dimension (the sum of the distances
    /// along all dimensions).
    Steps,
    /// The largest distance along any dimension: at distance 1 in three dimensions, the 26 places
    /// around a place.
    Box,
}

impl Cartesian {
    /// Returns the ranks at a distance from a rank in the selected dimensions, with equal
    /// coordinates in the others. In ascending order, each once. At distance 0 this is the rank
    /// itself. Places beyond a border are left out.
    ///
    /// ```
    /// use motet::{Cartesian, Reach};
    ///
    /// let grid = Cartesian::new(&[3, 4], &[false, true])?;
    /// // From (0, 0): nobody is above, (1, 0) is below, (0, 3) and (0, 1) are beside.
    /// assert_eq!(grid.ranks_at(0, Reach::Axis, &[true, true], 1)?, [1, 3, 4]);
    /// assert_eq!(grid.ranks_at(0, Reach::Box, &[true, true], 1)?, [1, 3, 4, 5, 7]);
    /// assert_eq!(grid.ranks_at(0, Reach::Steps, &[true, true], 2)?, [2, 5, 7, 8]);
    /// # Ok::<(), motet::TopologyError>(())
    /// ```
    ///
    /// # Errors
    /// The rank is not in the grid; or there is not one flag for each dimension.
    pub fn ranks_at(
        &self,
        rank: usize,
        reach: Reach,
        selected: &[bool],
        distance: usize,
    ) -> Result<Vec<usize>, TopologyError> {
        one_each("flags", selected.len(), self.dimensions())?;
        let own = self.coordinates(rank)?;
        let mut found = match reach {
            Reach::Axis => self.along_axes(rank, selected, distance)?,
            Reach::Steps | Reach::Box => {
                let sphere = Sphere { grid: self, reach, own: &own, selected, distance };
                let mut found = Vec::new();
                sphere.extend(0, 0, 0, &mut found);
                found
            }
        };
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn along_axes(
        &self,
        rank: usize,
        selected: &[bool],
        distance: usize,
    ) -> Result<Vec<usize>, TopologyError> {
        if distance == 0 {
            return Ok(vec![rank]);
        }
        let mut found = Vec::new();
        for dimension in (0..self.dimensions()).filter(|&dimension| selected[dimension]) {
            // A distance beyond the size matters on a ring only, and there modulo the size.
            let size = self.sizes()[dimension];
            let rest = match self.periodic()[dimension] {
                true => distance % size,
                false => distance.min(size),
            };
            let (before, behind) = self.shift(rank, dimension, rest as isize)?;
            found.extend(before.into_iter().chain(behind));
        }
        Ok(found)
    }
}

/// The places to find.
struct Sphere<'a> {
    grid: &'a Cartesian,
    reach: Reach,
    own: &'a [usize],
    selected: &'a [bool],
    distance: usize,
}

impl Sphere<'_> {
    /// Adds the places that continue a partial choice of coordinates: `part` is the rank so far,
    /// and `away` the distance so far. Stops where the distance is exceeded, so the time is
    /// proportional to the number of places within the distance.
    fn extend(&self, dimension: usize, part: usize, away: usize, found: &mut Vec<usize>) {
        let Some(&size) = self.grid.sizes().get(dimension) else {
            if away == self.distance {
                found.push(part);
            }
            return;
        };
        for (place, steps) in self.within(dimension) {
            let away = match self.reach {
                Reach::Box => away.max(steps),
                Reach::Steps | Reach::Axis => away.saturating_add(steps),
            };
            if away <= self.distance {
                self.extend(dimension + 1, part * size + place, away, found);
            }
        }
    }

    /// Returns the coordinates of a dimension within the distance, and the distance of each.
    fn within(&self, dimension: usize) -> Vec<(usize, usize)> {
        let (own, size) = (self.own[dimension], self.grid.sizes()[dimension]);
        let distance = if self.selected[dimension] { self.distance.min(size) } else { 0 };
        let is_ring = self.grid.periodic()[dimension];
        if is_ring && 2 * distance < size {
            let places = size + own - distance..=size + own + distance;
            return places.map(|place| (place % size, place.abs_diff(size + own))).collect();
        }
        let places = own.saturating_sub(distance)..size.min(own + distance + 1);
        let places = if is_ring { 0..size } else { places };
        let steps = |place: usize| match place.abs_diff(own) {
            ahead if is_ring => ahead.min(size - ahead),
            ahead => ahead,
        };
        places.map(|place| (place, steps(place))).filter(|&(_, steps)| steps <= distance).collect()
    }
}

impl Communicator {
    /// Does the same as [`CartesianCommunicator::neighbor_group`], for a communicator whose type
    /// does not show that it has a grid. Local. (The proposal of 2008, `Cart_neighbor_group`)
    ///
    /// # Errors
    /// The communicator has no grid; or there is not one flag for each dimension.
    pub fn cart_neighbor_group(&self, selected: &[bool], distance: usize) -> Result<Group> {
        self.reached("cart_neighbor_group", Reach::Axis, selected, distance)
    }

    /// Does the same as [`CartesianCommunicator::sphere_group`], for a communicator whose type does
    /// not show that it has a grid. Local.
    ///
    /// # Errors
    /// The communicator has no grid; or there is not one flag for each dimension.
    pub fn cart_sphere_group(
        &self,
        reach: Reach,
        selected: &[bool],
        distance: usize,
    ) -> Result<Group> {
        self.reached("cart_sphere_group", reach, selected, distance)
    }

    fn reached(
        &self,
        call: &'static str,
        reach: Reach,
        selected: &[bool],
        distance: usize,
    ) -> Result<Group> {
        let refused = |error: TopologyError| self.error(call, ErrorKind::from(error));
        let Some(Topology::Cartesian(grid)) = self.topology() else {
            return Err(refused(self.missing("a Cartesian one")));
        };
        let ranks = grid.ranks_at(self.rank(), reach, selected, distance).map_err(refused)?;
        Ok(self.group_of(&ranks))
    }

    /// Makes the group of these ranks, which must be distinct.
    pub(crate) fn group_of(&self, ranks: &[usize]) -> Group {
        Group::new(ranks.iter().map(|&rank| self.group().peer(rank)).collect())
    }
}

impl CartesianCommunicator {
    /// Returns the processes at a distance from the caller in either direction along each of the
    /// selected dimensions; at distance 0 the caller itself. Places beyond a border are left out,
    /// and a process found twice on a ring is in the group once. In rank order. Local. (The
    /// proposal of 2008, `Cart_neighbor_group`)
    ///
    /// ```
    /// motet::threads(6, |world| {
    ///     let grid = world.cartesian(&[2, 3], &[false, true], motet::Reorder::Never)?;
    ///     let grid = grid.expect("a place for each rank");
    ///     let beside = grid.neighbor_group(&[false, true], 1)?;
    ///     assert_eq!(beside.size(), 2);
    ///     assert!(grid.neighbor_group(&[true, false], 2)?.is_empty());
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is not one flag for each dimension.
    pub fn neighbor_group(&self, selected: &[bool], distance: usize) -> Result<Group> {
        self.reached("neighbor_group", Reach::Axis, selected, distance)
    }

    /// Returns the processes at exactly a distance from the caller, measured by `reach`, in the
    /// selected dimensions. In rank order. Local.
    ///
    /// # Errors
    /// There is not one flag for each dimension.
    pub fn sphere_group(&self, reach: Reach, selected: &[bool], distance: usize) -> Result<Group> {
        self.reached("sphere_group", reach, selected, distance)
    }
}
