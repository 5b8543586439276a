//! Construction of Cartesian communicators.

use crate::base::error::{Result, TopologyError};
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    Cartesian, CartesianCommunicator, EdgePairing, Neighbourhood, Reorder, Topological, Topology,
};

impl Communicator {
    /// Makes a communicator of the first ranks, arranged in a grid of these sizes; `periodic` tells
    /// for each dimension whether it is a ring. The ranks beyond the size of the grid get `None`.
    /// Collective. (`MPI_Cart_create`, MPI 4.1 §8.5.1)
    ///
    /// ```
    /// use motet::{Reorder, dims_create};
    ///
    /// motet::threads(4, |world| {
    ///     let dims = dims_create(world.size(), &[0, 0]).expect("4 ranks make a square");
    ///     let grid = world.cartesian(&dims, &[true, true], Reorder::Allowed)?;
    ///     let grid = grid.expect("the grid has a place for each rank");
    ///
    ///     // A block to, and a block from, each of the four neighbours.
    ///     let mut halo = [0; 4];
    ///     grid.neighbor_alltoall(&[0, 1, 2, 3], &mut halo)?;
    ///     assert_eq!(halo, [1, 0, 3, 2]);
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Cartesian::new`] refuses the grid; the grid has more places than there are ranks; or a
    /// rank has died or left.
    #[track_caller]
    pub fn cartesian(
        &self,
        sizes: &[usize],
        periodic: &[bool],
        _reorder: Reorder,
    ) -> Result<Option<CartesianCommunicator>> {
        let grid = self.fitting_grid("cartesian", sizes, periodic)?;
        let places = grid.places();
        let colour = (self.rank() < places).then_some(0);
        let communicator = self.split(colour, self.rank() as i64)?;
        Ok(communicator.map(|communicator| CartesianCommunicator::of(communicator, grid)))
    }
}

impl Communicator {
    /// Returns the rank that the caller would have in a grid if ranks could be reordered: at
    /// present its own rank, or `None` beyond the size of the grid. Local. (`MPI_Cart_map`, MPI 4.1
    /// §8.5.8)
    ///
    /// # Errors
    /// [`Cartesian::new`] refuses the grid; or the grid has more places than there are ranks.
    pub fn cartesian_map(&self, sizes: &[usize], periodic: &[bool]) -> Result<Option<usize>> {
        let grid = self.fitting_grid("cartesian_map", sizes, periodic)?;
        Ok((self.rank() < grid.places()).then_some(self.rank()))
    }

    /// Does the same as [`CartesianCommunicator::sub`], for a communicator whose type does not show
    /// that it has a grid. Collective. (`MPI_Cart_sub`)
    ///
    /// # Errors
    /// The communicator has no grid; there is not one flag for each dimension; or a rank has died
    /// or left.
    #[track_caller]
    pub fn cartesian_sub(&self, remain: &[bool]) -> Result<CartesianCommunicator> {
        let refused = |error: TopologyError| self.error("sub", error.into());
        let Some(Topology::Cartesian(whole)) = self.topology() else {
            return Err(refused(self.missing("a Cartesian one")));
        };
        let grid = whole.sub(remain).map_err(refused)?;
        let number = whole.sub_number(self.rank(), remain).map_err(refused)?;
        let number = u32::try_from(number).expect("places are counted by u32");
        let part = self.split(Some(number), self.rank() as i64)?;
        Ok(CartesianCommunicator::of(part.expect("every rank has a colour"), grid))
    }

    fn fitting_grid(
        &self,
        call: &'static str,
        sizes: &[usize],
        periodic: &[bool],
    ) -> Result<Cartesian> {
        let refused = |error: TopologyError| self.error(call, error.into());
        let grid = Cartesian::new(sizes, periodic).map_err(refused)?;
        let ranks = self.size();
        if grid.places() > ranks {
            return Err(refused(TopologyError::TooLarge { sizes: sizes.into(), ranks }));
        }
        Ok(grid)
    }
}

impl CartesianCommunicator {
    fn of(communicator: Communicator, grid: Cartesian) -> CartesianCommunicator {
        let near = grid.neighbours(communicator.rank()).expect("the grid has a place for the rank");
        let matching = EdgePairing::Opposite;
        let neighbourhood = Neighbourhood { sources: near.clone(), destinations: near, matching };
        Topological::with(communicator, grid, neighbourhood)
    }

    /// Splits the grid: each new communicator has the ranks that differ only in the remaining
    /// dimensions. Collective. (`MPI_Cart_sub`, MPI 4.1 §8.5.6)
    ///
    /// # Errors
    /// There is not one flag for each dimension; or a rank has died or left.
    #[track_caller]
    pub fn sub(&self, remain: &[bool]) -> Result<CartesianCommunicator> {
        self.cartesian_sub(remain)
    }
}
