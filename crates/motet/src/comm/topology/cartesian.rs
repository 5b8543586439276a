//! Cartesian topologies (grids). (MPI 4.1 §8.5)

use super::Topological;
use crate::base::error::{Result, TopologyError};

/// A Cartesian grid: the size of each dimension, and whether it is periodic (a ring). The
/// coordinates of a rank follow from its number in row-major order: the last coordinate runs
/// fastest.
///
/// ```
/// use motet::Cartesian;
///
/// let grid = Cartesian::new(&[2, 3], &[false, true])?;
/// assert_eq!(grid.coordinates(4)?, [1, 1]);
/// assert_eq!(grid.rank_at(&[1, -1])?, Some(5));
/// // Over the border of dimension 0 there is nobody.
/// assert_eq!(grid.shift(4, 0, 1)?, (Some(1), None));
/// # Ok::<(), motet::TopologyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cartesian {
    sizes: Vec<usize>,
    periodic: Vec<bool>,
    places: usize,
}

impl Cartesian {
    /// Makes a grid of these sizes; `periodic` tells for each dimension whether it is a ring. A
    /// grid without dimensions has one place.
    ///
    /// # Errors
    /// A dimension has size zero; there is not one flag for each dimension; or the number of places
    /// overflows.
    pub fn new(sizes: &[usize], periodic: &[bool]) -> Result<Cartesian, TopologyError> {
        one_each("flags", periodic.len(), sizes.len())?;
        if let Some(dimension) = sizes.iter().position(|&size| size == 0) {
            return Err(TopologyError::Empty { dimension });
        }
        let places = sizes.iter().copied().try_fold(1, usize::checked_mul);
        let places = places.filter(|&places| u32::try_from(places).is_ok());
        let too_large =
            || TopologyError::TooLarge { sizes: sizes.into(), ranks: u32::MAX as usize };
        let places = places.ok_or_else(too_large)?;
        Ok(Cartesian { sizes: sizes.into(), periodic: periodic.into(), places })
    }

    /// Returns the size of each dimension. (`MPI_Cart_get`)
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns for each dimension whether it is a ring. (`MPI_Cart_get`)
    pub fn periodic(&self) -> &[bool] {
        &self.periodic
    }

    /// Returns the number of dimensions. (`MPI_Cartdim_get`)
    pub fn dimensions(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the number of places.
    pub fn places(&self) -> usize {
        self.places
    }

    /// Returns the coordinates of a rank. (`MPI_Cart_coords`)
    ///
    /// # Errors
    /// The rank is not in the grid.
    pub fn coordinates(&self, rank: usize) -> Result<Vec<usize>, TopologyError> {
        if rank >= self.places {
            return Err(TopologyError::Place { rank, places: self.places });
        }
        let mut rest = rank;
        let mut coordinates: Vec<usize> = vec![0; self.dimensions()];
        for (coordinate, &size) in coordinates.iter_mut().zip(&self.sizes).rev() {
            *coordinate = rest % size;
            rest /= size;
        }
        Ok(coordinates)
    }

    /// Returns the rank at these coordinates. On a ring, coordinates wrap around; beyond a border
    /// there is no rank (`None`). (`MPI_Cart_rank`, which returns an error there)
    ///
    /// # Errors
    /// There is not one coordinate for each dimension.
    pub fn rank_at(&self, coordinates: &[isize]) -> Result<Option<usize>, TopologyError> {
        one_each("coordinates", coordinates.len(), self.dimensions())?;
        let places = coordinates.iter().zip(&self.sizes).zip(&self.periodic);
        let step = |rank, ((&coordinate, &size), &periodic)| {
            Some(rank * size + place_in(coordinate as i128, size, periodic)?)
        };
        Ok({ places }.try_fold(0, step))
    }

    /// Returns the source and the destination of a rank for a shift by a distance along a
    /// dimension. (`MPI_Cart_shift`)
    ///
    /// # Errors
    /// The rank or the dimension is not in the grid.
    pub fn shift(
        &self,
        rank: usize,
        dimension: usize,
        displacement: isize,
    ) -> Result<(Option<usize>, Option<usize>), TopologyError> {
        let coordinates = self.coordinates(rank)?;
        let Some(&own) = coordinates.get(dimension) else {
            let dimensions = self.dimensions();
            return Err(TopologyError::Dimension { dimension, dimensions });
        };
        let (size, periodic) = (self.sizes[dimension], self.periodic[dimension]);
        let stride: usize = self.sizes[dimension + 1..].iter().product();
        let at = |distance: i128| {
            let place = place_in(own as i128 + distance, size, periodic)?;
            Some(rank - own * stride + place * stride)
        };
        let displacement = displacement as i128;
        Ok((at(-displacement), at(displacement)))
    }

    /// Returns the neighbours of a rank, two for each dimension: in the negative direction, then in
    /// the positive direction. (MPI 4.1 §8.6)
    ///
    /// # Errors
    /// The rank is not in the grid.
    pub fn neighbours(&self, rank: usize) -> Result<Vec<Option<usize>>, TopologyError> {
        self.coordinates(rank)?;
        let pairs = (0..self.dimensions()).map(|dimension| self.shift(rank, dimension, 1));
        let pairs: Vec<_> = pairs.collect::<Result<_, _>>()?;
        Ok(pairs.into_iter().flat_map(|(negative, positive)| [negative, positive]).collect())
    }

    /// Returns the grid of the remaining dimensions. (`MPI_Cart_sub`)
    ///
    /// # Errors
    /// There is not one flag for each dimension.
    pub fn sub(&self, remain: &[bool]) -> Result<Cartesian, TopologyError> {
        one_each("flags", remain.len(), self.dimensions())?;
        Cartesian::new(&kept(&self.sizes, remain, true), &kept(&self.periodic, remain, true))
    }

    /// Returns the number of the sub-grid of a rank, among all sub-grids of the remaining
    /// dimensions.
    pub(crate) fn sub_number(&self, rank: usize, remain: &[bool]) -> Result<usize, TopologyError> {
        let (sizes, coordinates) = (&self.sizes, self.coordinates(rank)?);
        let dropped = kept(sizes, remain, false);
        let coordinates = kept(&coordinates, remain, false);
        Ok(coordinates.iter().zip(&dropped).fold(0, |number, (place, size)| number * size + place))
    }
}

/// Returns the coordinate within the dimension; `None` beyond a border.
fn place_in(coordinate: i128, size: usize, periodic: bool) -> Option<usize> {
    let size = size as i128;
    let inside = (0..size).contains(&coordinate);
    (inside || periodic).then(|| coordinate.rem_euclid(size) as usize)
}

/// Returns the entries of the dimensions that remain, or of those that do not.
fn kept<T: Copy>(entries: &[T], remain: &[bool], which: bool) -> Vec<T> {
    let marked = entries.iter().zip(remain);
    marked.filter(|&(_, &remains)| remains == which).map(|(&entry, _)| entry).collect()
}

pub(super) fn one_each(
    what: &'static str,
    entries: usize,
    dimensions: usize,
) -> Result<(), TopologyError> {
    if entries == dimensions {
        return Ok(());
    }
    Err(TopologyError::Entries { what, entries, dimensions })
}

/// Whether ranks may be renumbered in a communicator with a topology, so that neighbours are close
/// to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reorder {
    /// The ranks keep their order.
    Never,
    /// The ranks may be reordered. If all are on one node, no other order is better, so they keep
    /// theirs. A grid always keeps the order; a [`sparse_graph`](crate::Communicator::sparse_graph)
    /// searches for a better one.
    Allowed,
}

/// A communicator whose ranks form a grid; see
/// [`Communicator::cartesian`](crate::Communicator::cartesian).
pub type CartesianCommunicator = Topological<Cartesian>;

impl CartesianCommunicator {
    /// Returns the coordinates of the caller.
    pub fn coordinates(&self) -> Vec<usize> {
        self.topology.coordinates(self.rank()).expect("the grid has a place for each rank")
    }

    /// Returns the source and the destination of the caller for a shift along a dimension.
    /// (`MPI_Cart_shift`)
    ///
    /// # Errors
    /// The dimension is not in the grid.
    pub fn shift(
        &self,
        dimension: usize,
        displacement: isize,
    ) -> Result<(Option<usize>, Option<usize>)> {
        let shifted = self.topology.shift(self.rank(), dimension, displacement);
        shifted.map_err(|error| self.error("shift", error.into()))
    }
}
