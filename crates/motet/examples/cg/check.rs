//! Checks the solution with the matrix as it was read: no halo, no renumbered columns, and none
//! of the operations that the solver has set up.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use motet::{Block, Communicator, Sum};

use crate::failure::alike;
use crate::problem::{Problem, known_solution};
use crate::vector::dot;

/// The largest relative residual that is accepted.
const ACCEPTED_RESIDUAL: f64 = 1e-8;

/// The whole solution and how good it is; the same on all ranks.
pub(crate) struct Checked {
    pub(crate) x: Vec<f64>,
    /// `|b - A x| / |b|`
    pub(crate) residual: f64,
    /// The largest difference from the known solution.
    pub(crate) error: f64,
}

/// Gathers the whole solution on every rank and puts it into the equations.
pub(crate) fn check(world: &Communicator, problem: &Problem, own: &[f64]) -> Result<Checked> {
    let blocks: Vec<_> = (0..world.size())
        .map(|rank| problem.partition.rows_of(rank))
        .map(|rows| Block { start: rows.start, count: rows.len() })
        .collect();
    let mut x = vec![0.0; problem.partition.rows()];
    world.allgatherv(own, &mut x, &blocks)?;
    let differences = x.iter().enumerate().map(|(row, x)| (x - known_solution(row)).abs());
    let error = differences.fold(0.0, f64::max);
    Ok(Checked { residual: relative_residual(world, problem, &x)?, error, x })
}

fn relative_residual(world: &Communicator, problem: &Problem, x: &[f64]) -> Result<f64> {
    let b = problem.right_side();
    let mut product = vec![0.0; b.len()];
    problem.matrix.multiply(0..b.len(), |column| x[column], &mut product);
    let r: Vec<_> = b.iter().zip(&product).map(|(b, product)| b - product).collect();
    let mut squares = [dot(&r, &r), dot(&b, &b)];
    world.allreduce_in_place(&mut squares, Sum)?;
    Ok((squares[0] / squares[1]).sqrt())
}

impl Checked {
    /// Fails if the residual is neither small nor what the user asked for.
    pub(crate) fn accept(&self, world: &Communicator, tolerance: f64) -> Result<()> {
        // What the iteration believes of its residual is true but for rounding errors.
        let accepted = ACCEPTED_RESIDUAL.max(2.0 * tolerance);
        if self.residual <= accepted {
            return Ok(());
        }
        let residual = self.residual;
        let error = anyhow!("wrong solution: relative residual {residual:.1e} > {accepted:.1e}");
        Err(alike(world, error))
    }

    /// Writes one number per line, each such that it can be read back exactly.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let write = || {
            let mut file = BufWriter::new(File::create(path)?);
            self.x.iter().try_for_each(|x| writeln!(file, "{x:e}"))?;
            file.flush()
        };
        write().with_context(|| path.display().to_string())
    }
}
