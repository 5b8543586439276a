//! What was found for each vertex, as a text.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use motet::{Block, Communicator};

use crate::failure::agree;
use crate::problem::Problem;
use crate::search::{NOWHERE, Tree};

/// Writes a line for each vertex: its name, its level or `-`, and its rank, such that it can be
/// read back exactly. Collective.
pub(crate) fn write(
    world: &Communicator,
    problem: &Problem,
    tree: &Tree,
    ranks: &[f64],
    path: &Path,
) -> Result<()> {
    let partition = problem.graph.partition;
    let block = |rank| {
        let own = partition.of(rank);
        Block { start: own.start, count: own.len() }
    };
    let blocks: Vec<_> = (0..world.size()).map(block).collect();
    let room = if world.rank() == 0 { partition.vertices } else { 0 };
    let (mut all_levels, mut all_ranks) = (vec![0; room], vec![0.0; room]);
    world.gatherv(&tree.levels, &mut all_levels, &blocks, 0)?;
    world.gatherv(ranks, &mut all_ranks, &blocks, 0)?;
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        for (vertex, (level, rank)) in all_levels.into_iter().zip(all_ranks).enumerate() {
            let name = problem.name_of(vertex);
            match level {
                NOWHERE => writeln!(file, "{name} - {rank:e}")?,
                level => writeln!(file, "{name} {level} {rank:e}")?,
            }
        }
        file.flush()
    };
    let written = if world.rank() == 0 { write() } else { Ok(()) };
    agree(world, written.with_context(|| path.display().to_string()))
}
