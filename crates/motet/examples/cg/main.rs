//! Solves a sparse symmetric positive definite system on many ranks.
//!
//! ```text
//! cargo run --release --example cg -- --ranks 4 data/1138_bus.mtx
//! cargo run --release --example cg -- --ranks 4 --poisson 64 --form nonblocking
//! ```
//!
//! The method is conjugate gradients with the diagonal as preconditioner. Each rank has a block
//! of consecutive rows, with about the same number of stored entries as the others. From the
//! sparsity pattern it learns which values of others its rows need, and the owners learn to send
//! them. Then two kinds of collectives are set up once and started in each iteration: a sparse
//! exchange with the neighbours, and sums over all ranks.
//!
//! To read in this order: [`problem`] brings each rank its rows, [`halo`] finds the neighbours,
//! [`collective`] is one operation in three forms, [`operator`] multiplies while the
//! neighbours' values travel, [`solver`] iterates, [`check`] trusts none of them.

mod check;
mod collective;
mod csr;
#[path = "../ranks/failure.rs"]
mod failure;
mod halo;
mod matrix_market;
mod operator;
mod options;
mod partition;
mod poisson;
mod problem;
#[path = "../ranks/progress.rs"]
mod progress;
mod report;
mod solver;
#[path = "../ranks/start.rs"]
mod start;
mod vector;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use motet::Communicator;

use crate::failure::agree;
use crate::options::Options;
use crate::problem::Problem;

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => return start::refuse(&error),
    };
    options.ranks.run(|world| run(world, &options))
}

fn run(world: &Communicator, options: &Options) -> Result<()> {
    let problem = Problem::load(world, options)?;
    let solution = solver::solve(world, &problem, options)?;
    let checked = check::check(world, &problem, &solution.x)?;
    checked.accept(world, options.tolerance)?;
    let report = report::report(world, &problem, options.form, &solution, &checked)?;
    let told = match world.rank() {
        0 => options
            .solution
            .iter()
            .try_for_each(|path| checked.write(path))
            .and_then(|()| report::print(&report)),
        _ => Ok(()),
    };
    agree(world, told)
}
