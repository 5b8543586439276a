//! Searches a graph in breadth, and ranks its vertices, each rank with a block of them.
//!
//! ```text
//! cargo run --release --example graph -- --ranks 4 --rmat 16
//! cargo run --release --example graph -- --ranks 4 data/1138_bus.mtx --root 1
//! ```
//!
//! A search does not know beforehand who will have found something for whom: in each level the
//! vertices found travel by a sparse dynamic exchange, which is compared with an alltoall of the
//! counts and an alltoallv. The ranking needs the same vertices of the same ranks in each
//! iteration: an exchange with these neighbours is set up once, and hidden behind the work that
//! needs none of them.
//!
//! To read in this order: [`problem`] has the edges from an [`edge_list`] or from [`rmat`],
//! [`graph`] brings them to their ranks and finds the neighbours, [`frontier`] is the exchange of a
//! [`search`], [`check`] trusts none of them, [`rank`] ranks the vertices.

mod check;
mod edge_list;
#[path = "../ranks/failure.rs"]
mod failure;
mod frontier;
mod graph;
mod options;
mod output;
mod partition;
mod problem;
#[path = "../ranks/progress.rs"]
mod progress;
mod rank;
mod report;
mod rmat;
mod search;
#[path = "../ranks/start.rs"]
mod start;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use motet::Communicator;

use crate::failure::agree;
use crate::options::Options;
use crate::problem::Problem;
use crate::report::Row;
use crate::search::Tree;

fn main() -> ExitCode {
    match Options::try_parse() {
        Ok(options) => options.ranks.run(|world| run(world, &options)),
        Err(error) => start::refuse(&error),
    }
}

fn run(world: &Communicator, options: &Options) -> Result<()> {
    let problem = Problem::load(world, options)?;
    let (rows, tree) = search_all(world, &problem, options)?;
    let ranking = rank::rank(world, &problem.graph, options)?;
    let sum = ranking.check(world, &problem.graph)?;
    if let Some(path) = &options.output {
        output::write(world, &problem, &tree, &ranking.ranks, path)?;
    }
    let report = report::report(world, &problem, &rows, (&ranking, sum))?;
    let told = if world.rank() == 0 { report::print(&report) } else { Ok(()) };
    agree(world, told)
}

/// Searches from all roots in all ways, in turn; also returns the first tree.
fn search_all(
    world: &Communicator,
    problem: &Problem,
    options: &Options,
) -> Result<(Vec<Row>, Tree)> {
    let exchanges = options.exchange.exchanges();
    let mut rows: Vec<_> = exchanges.iter().map(|&exchange| Row::new(exchange)).collect();
    let mut first = None;
    let searches = if options.root.is_some() { 1 } else { options.searches };
    for number in 0..searches {
        let root = match options.root {
            Some(name) => problem.vertex(world, name)?,
            None => problem.draw(world, number)?,
        };
        for (&exchange, row) in exchanges.iter().zip(&mut rows) {
            let search = search::search(world, &problem.graph, root, exchange)?;
            row.add(&search, check::check(world, &problem.graph, &search)?);
            first.get_or_insert(search.tree);
        }
    }
    Ok((rows, first.expect("there is a search")))
}
