//! Solves the heat equation on a grid, each rank with a box of it.
//!
//! ```text
//! cargo run --release --example stencil -- --ranks 4 --size 96
//! cargo run --release --example stencil -- --ranks 4 --size 64,64,200 --periodic --overlap
//! ```
//!
//! In each step of time a point comes nearer to the mean of its six neighbours. So each rank needs
//! the faces of the boxes around its own. They travel in three ways, which are compared: a
//! persistent exchange with the group of the neighbours, which takes each face out of the field as
//! a datatype; a blocking alltoallv; and messages.
//!
//! To read in this order: [`grid`] cuts the points into boxes, [`halo`] finds the faces and the
//! neighbours, [`field`] is a field whose faces travel, [`kernel`] computes new points, [`solver`]
//! goes through the steps, [`check`] compares the result with a [`wave`] whose decay is known.

mod check;
#[path = "../ranks/failure.rs"]
mod failure;
mod field;
mod grid;
mod halo;
mod kernel;
mod options;
#[path = "../ranks/progress.rs"]
mod progress;
mod report;
mod solver;
#[path = "../ranks/start.rs"]
mod start;
mod wave;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use motet::Communicator;

use crate::check::Checked;
use crate::failure::agree;
use crate::grid::Grid;
use crate::halo::Halo;
use crate::options::Options;
use crate::report::Row;

fn main() -> ExitCode {
    match Options::try_parse() {
        Ok(options) => options.ranks.run(|world| run(world, &options)),
        Err(error) => start::refuse(&error),
    }
}

fn run(world: &Communicator, options: &Options) -> Result<()> {
    let grid = Grid::new(world, options)?;
    let halo = Halo::new(&grid)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut first: Option<Checked> = None;
    for _ in 0..options.repeat {
        for (at, exchange) in options.exchange.exchanges().into_iter().enumerate() {
            let solution = solver::solve(&grid, &halo, options, exchange)?;
            let checked = check::check(&grid, &solution, options.steps)?;
            checked.accept(world, options.steps, first.as_ref())?;
            first.get_or_insert(checked);
            let row = Row::new(world, solution)?;
            match rows.get_mut(at) {
                Some(fastest) if row.seconds < fastest.seconds => *fastest = row,
                Some(_) => {}
                None => rows.push(row),
            }
        }
    }
    let first = first.expect("there is a way");
    let report = report::report((&grid, &halo), options, &first, &rows)?;
    let told = if world.rank() == 0 { report::print(&report) } else { Ok(()) };
    agree(world, told)
}
