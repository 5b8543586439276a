//! The halo: which values of other ranks a multiplication needs, and which of its own values
//! each rank must send.

use std::ops::Range;

use anyhow::Result;
use motet::{Communicator, Neighbour};

use crate::csr::Csr;
use crate::partition::Partition;
use crate::problem::Problem;

/// The sparsity pattern seen from one rank.
pub(crate) struct Halo {
    /// The columns that belong to other ranks, ascending: so all of one owner lie together.
    ghosts: Vec<u32>,
    /// Who sends which block of them.
    pub(crate) from: Vec<Neighbour>,
    /// The own rows that others need, numbered from 0, receiver by receiver.
    pub(crate) wanted: Vec<u32>,
    /// Who gets which block of them.
    pub(crate) to: Vec<Neighbour>,
}

impl Halo {
    /// Finds what this rank needs and asks the owners for it.
    ///
    /// Only the counts go to everybody; the column numbers travel between neighbours.
    pub(crate) fn new(world: &Communicator, problem: &Problem) -> Result<Self> {
        let ghosts = ghosts(&problem.matrix, &problem.own);
        let needed = count_by_owner(&ghosts, &problem.partition, world.size());
        let wanted = asked_of(world, &needed)?;
        let (from, to) = (neighbours(&needed), neighbours(&wanted));
        let mut rows = vec![0; wanted.iter().sum()];
        world.exchangev(&ghosts, &mut rows, &from, &to)?;
        rows.iter_mut().for_each(|row| *row -= problem.own.start as u32);
        Ok(Self { ghosts, from, wanted: rows, to })
    }

    /// The number of values of other ranks.
    pub(crate) fn len(&self) -> usize {
        self.ghosts.len()
    }

    /// The matrix with local column numbers: first the own rows, then the ghosts.
    pub(crate) fn renumber(&self, matrix: &Csr, own: &Range<usize>) -> Csr {
        let mut local = Csr::new();
        let renumber = |column: u32| match own.contains(&(column as usize)) {
            true => column - own.start as u32,
            false => (own.len() + self.ghosts.partition_point(|&ghost| ghost < column)) as u32,
        };
        for row in 0..matrix.rows() {
            local.push_row(matrix.row(row).map(|(column, value)| (renumber(column), value)));
        }
        local
    }
}

/// The columns of the matrix that belong to other ranks, ascending, each once.
fn ghosts(matrix: &Csr, own: &Range<usize>) -> Vec<u32> {
    let foreign = |column: &u32| !own.contains(&(*column as usize));
    let mut ghosts: Vec<_> = matrix.columns().iter().copied().filter(foreign).collect();
    ghosts.sort_unstable();
    ghosts.dedup();
    ghosts
}

fn count_by_owner(ghosts: &[u32], partition: &Partition, ranks: usize) -> Vec<usize> {
    let mut counts = vec![0; ranks];
    ghosts.iter().for_each(|&ghost| counts[partition.owner(ghost as usize)] += 1);
    counts
}

/// How many values each rank needs of this one, when each knows what it needs of the others.
fn asked_of(world: &Communicator, needed: &[usize]) -> Result<Vec<usize>> {
    let (rank, size) = (world.rank(), world.size());
    let mut needed_by_all = vec![0; size * size];
    world.allgather(needed, &mut needed_by_all)?;
    Ok(needed_by_all.chunks(size).map(|needed| needed[rank]).collect())
}

/// The ranks with a count, each with its block of a buffer that holds one after the other.
fn neighbours(counts: &[usize]) -> Vec<Neighbour> {
    let mut start = 0;
    let mut neighbours = Vec::new();
    for (rank, count) in counts.iter().copied().enumerate() {
        if count > 0 {
            neighbours.push(Neighbour { rank, start, count });
            start += count;
        }
    }
    neighbours
}

/// The rows that need no ghost and those that do, as runs of consecutive rows.
pub(crate) fn interior_and_boundary(local: &Csr) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let own = local.rows() as u32;
    let inside: Vec<bool> =
        (0..local.rows()).map(|row| local.row(row).all(|(column, _)| column < own)).collect();
    let (mut interior, mut boundary, mut start) = (Vec::new(), Vec::new(), 0);
    for run in inside.chunk_by(|one, other| one == other) {
        let rows = start..start + run.len();
        start = rows.end;
        if run[0] { interior.push(rows) } else { boundary.push(rows) }
    }
    (interior, boundary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poisson::{self, Grid};

    /// Rank 1 of 3 of the Laplacian on 3 x 3 x 3 points, and its halo without the senders' half.
    fn middle() -> (Csr, Range<usize>, Halo) {
        let partition = Partition::by_rows(27, 3).unwrap();
        let own = partition.rows_of(1);
        let matrix = poisson::rows(Grid([3; 3]), own.clone());
        let ghosts = ghosts(&matrix, &own);
        let from = neighbours(&count_by_owner(&ghosts, &partition, 3));
        (matrix, own, Halo { ghosts, from, wanted: Vec::new(), to: Vec::new() })
    }

    #[test]
    fn a_slab_of_the_cube_needs_the_slabs_beside_it() {
        let (_, own, halo) = middle();
        assert_eq!(own, 9..18);
        assert_eq!(halo.ghosts, (0..9).chain(18..27).collect::<Vec<_>>());
        let blocks: Vec<_> = halo.from.iter().map(|it| (it.rank, it.start, it.count)).collect();
        assert_eq!(blocks, [(0, 0, 9), (2, 9, 9)]);
    }

    #[test]
    fn renumbering_changes_no_product() {
        let (matrix, own, halo) = middle();
        let value = |row: usize| (row as f64).cos();
        let numbers = own.clone().chain(halo.ghosts.iter().map(|&ghost| ghost as usize));
        let x: Vec<_> = numbers.map(value).collect();
        let (mut there, mut here) = ([0.0; 9], [0.0; 9]);
        matrix.multiply(0..9, value, &mut there);
        halo.renumber(&matrix, &own).multiply(0..9, |column| x[column], &mut here);
        assert_eq!(there, here);
    }

    #[test]
    fn runs_cover_all_rows_once() {
        let mut local = Csr::new();
        for column in [0, 1, 5, 6, 2] {
            local.push_row([(column, 1.0)]);
        }
        let (interior, boundary) = interior_and_boundary(&local);
        assert_eq!((interior, &boundary[..]), (vec![0..2, 4..5], &[2..4][..]));
    }
}
