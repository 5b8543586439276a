//! The system to solve, each rank with its part.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use motet::{Communicator, Tag};

use crate::csr::Csr;
use crate::failure::{agree, alike};
use crate::matrix_market;
use crate::options::Options;
use crate::partition::Partition;
use crate::poisson::{self, Grid};

const LENGTHS: Tag = Tag(1);
const COLUMNS: Tag = Tag(2);
const VALUES: Tag = Tag(3);

/// One rank's part of a system of equations with a known solution.
pub(crate) struct Problem {
    /// For people to read.
    pub(crate) name: String,
    /// The rows of this rank, with the column numbers of the whole matrix.
    pub(crate) matrix: Csr,
    /// Who has the others.
    pub(crate) partition: Partition,
    /// The rows of this rank, by their numbers in the whole matrix.
    pub(crate) own: Range<usize>,
}

impl Problem {
    /// Reads or makes the problem that the options name.
    pub(crate) fn load(world: &Communicator, options: &Options) -> Result<Self> {
        let (name, (partition, matrix)) = match &options.file {
            Some(path) => (path.display().to_string(), share_file(world, path)?),
            None => {
                let grid = options.poisson.expect("clap wants one of the two");
                (format!("Poisson, {grid}"), make(world, grid)?)
            }
        };
        let own = partition.rows_of(world.rank());
        Ok(Self { name, matrix, partition, own })
    }

    /// The right side of the rows of this rank: the matrix times the known solution.
    pub(crate) fn right_side(&self) -> Vec<f64> {
        let mut product = vec![0.0; self.own.len()];
        self.matrix.multiply(0..self.own.len(), known_solution, &mut product);
        product
    }

    /// The diagonal entries of the rows of this rank.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        let entry = |(local, row): (usize, usize)| {
            let on_diagonal = |&(column, _): &(u32, f64)| column as usize == row;
            self.matrix.row(local).find(on_diagonal).map_or(0.0, |(_, value)| value)
        };
        self.own.clone().enumerate().map(entry).collect()
    }
}

/// The solution, known beforehand: it depends on the row only, and is zero nowhere.
pub(crate) fn known_solution(row: usize) -> f64 {
    1.0 + 0.5 * (row as f64).sin()
}

/// The Laplacian: every rank makes its own rows.
fn make(world: &Communicator, grid: Grid) -> Result<(Partition, Csr)> {
    let partition =
        Partition::by_rows(grid.points(), world.size()).map_err(|error| alike(world, error))?;
    let matrix = poisson::rows(grid, partition.rows_of(world.rank()));
    Ok((partition, matrix))
}

/// The matrix in a file: rank 0 reads it, and each of the others gets its rows and no more.
fn share_file(world: &Communicator, path: &Path) -> Result<(Partition, Csr)> {
    let read = (world.rank() == 0).then(|| read_and_cut(path, world.size()));
    match agree(world, read.transpose())? {
        Some((partition, matrix)) => send_parts(world, partition, &matrix),
        None => receive_part(world),
    }
}

fn read_and_cut(path: &Path, ranks: usize) -> Result<(Partition, Csr)> {
    let matrix = matrix_market::read(path)?;
    Ok((Partition::by_entries(matrix.starts(), ranks)?, matrix))
}

fn send_parts(
    world: &Communicator,
    partition: Partition,
    matrix: &Csr,
) -> Result<(Partition, Csr)> {
    world.bcast(&mut partition.starts().to_vec(), 0)?;
    for rank in 1..world.size() {
        let part = matrix.part(partition.rows_of(rank));
        world.send(&part.lengths(), rank, LENGTHS)?;
        world.send(part.columns(), rank, COLUMNS)?;
        world.send(part.values(), rank, VALUES)?;
    }
    let own = matrix.part(partition.rows_of(0));
    Ok((partition, own))
}

fn receive_part(world: &Communicator) -> Result<(Partition, Csr)> {
    let mut starts = vec![0; world.size() + 1];
    world.bcast(&mut starts, 0)?;
    let partition = Partition::from_starts(starts);
    let mut lengths = vec![0; partition.rows_of(world.rank()).len()];
    world.recv(&mut lengths, 0, LENGTHS)?;
    let entries = lengths.iter().map(|&length| length as usize).sum();
    let (mut columns, mut values) = (vec![0; entries], vec![0.0; entries]);
    world.recv(&mut columns, 0, COLUMNS)?;
    world.recv(&mut values, 0, VALUES)?;
    Ok((partition, Csr::from_parts(&lengths, columns, values)))
}
