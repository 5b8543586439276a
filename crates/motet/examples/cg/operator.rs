//! The matrix at work: its multiplication with a vector that lies on all ranks.

use std::ops::Range;

use anyhow::Result;
use motet::Communicator;

use crate::collective::{Collective, Cost, Kind};
use crate::csr::Csr;
use crate::halo::{Halo, interior_and_boundary};
use crate::options::Form;
use crate::problem::Problem;

/// The rows of one rank, ready to be multiplied.
pub(crate) struct Operator<'w> {
    /// With local columns: first the own ones, then the ghosts.
    matrix: Csr,
    /// The rows that need no ghost.
    interior: Vec<Range<usize>>,
    /// The rows that do.
    boundary: Vec<Range<usize>>,
    /// The own values that the halo sends.
    wanted: Vec<u32>,
    halo: Collective<'w>,
    /// The number of ranks that send to this one.
    pub(crate) neighbours: usize,
}

impl<'w> Operator<'w> {
    /// Finds the neighbours and sets up the exchange with them.
    pub(crate) fn new(world: &'w Communicator, problem: &Problem, form: Form) -> Result<Self> {
        let halo = Halo::new(world, problem)?;
        let matrix = halo.renumber(&problem.matrix, &problem.own);
        let (interior, boundary) = interior_and_boundary(&matrix);
        let lengths = (halo.wanted.len(), halo.len());
        let neighbours = halo.from.len();
        let kind = Kind::Exchange { to: halo.to, from: halo.from };
        let wanted = halo.wanted;
        let halo = Collective::new(world, form, kind, lengths)?.calibrate()?;
        Ok(Self { matrix, interior, boundary, wanted, halo, neighbours })
    }

    /// The length of a vector to be multiplied: own values, then room for the ghosts.
    pub(crate) fn width(&self) -> usize {
        self.matrix.rows() + self.halo.output().len()
    }

    /// Sets `y` to the product with `x`, and the end of `x` to its ghosts.
    ///
    /// The interior rows are computed while the ghosts travel.
    pub(crate) fn apply(mut self, x: &mut [f64], y: &mut [f64]) -> Result<Self> {
        for (value, &row) in self.halo.input_mut().iter_mut().zip(&self.wanted) {
            *value = x[row as usize];
        }
        self.halo = self.halo.run(|| multiply(&self.matrix, &self.interior, x, y))?;
        x[self.matrix.rows()..].copy_from_slice(self.halo.output());
        multiply(&self.matrix, &self.boundary, x, y);
        Ok(self)
    }

    /// What the halo costs.
    pub(crate) fn halo_cost(&self) -> Cost {
        self.halo.cost()
    }
}

fn multiply(matrix: &Csr, runs: &[Range<usize>], x: &[f64], y: &mut [f64]) {
    for rows in runs {
        matrix.multiply(rows.clone(), |column| x[column], y);
    }
}
