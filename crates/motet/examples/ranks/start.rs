//! Where the ranks of an example come from: a launcher, this program, or its threads.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Error, value_parser};
use motet::{Communicator, World};

use crate::failure;

/// How many ranks there are, and what they are.
#[derive(Debug, Args)]
pub(crate) struct Ranks {
    /// Start this many processes of this program, without another launcher
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    ranks: Option<u32>,

    /// Take this many threads of this process as ranks
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    #[arg(conflicts_with = "ranks")]
    threads: Option<u32>,
}

impl Ranks {
    /// Runs a program on each rank: those asked for, or those of a launcher; without one, this
    /// process is the only rank.
    pub(crate) fn run(&self, program: impl Fn(&Communicator) -> Result<()> + Sync) -> ExitCode {
        let outcome = match self.threads {
            Some(threads) => motet::threads(threads as usize, |world| run_on(&world, &program)),
            None => self.join().map(|world| vec![run_on(&world, &program)]),
        };
        let told = |error| {
            eprintln!("{}: {error}", env!("CARGO_CRATE_NAME"));
            vec![ExitCode::FAILURE]
        };
        let codes = outcome.unwrap_or_else(told);
        codes.into_iter().find(|&code| code != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
    }

    fn join(&self) -> motet::Result<World> {
        match self.ranks {
            Some(ranks) => motet::launch(ranks as usize),
            None => motet::init(),
        }
    }
}

fn run_on(world: &Communicator, program: impl Fn(&Communicator) -> Result<()>) -> ExitCode {
    program(world).map_or_else(|error| failure::tell(world, &error), |()| ExitCode::SUCCESS)
}

/// Tells about a wrong command line, once and not on every rank.
pub(crate) fn refuse(error: &Error) -> ExitCode {
    let world = motet::init();
    if world.as_ref().map_or(true, |world| world.rank() == 0) {
        // Nothing is left to be done if even this cannot be told.
        let _ = error.print();
    }
    // A launcher may end all ranks as soon as one has failed.
    let _ = world.and_then(|world| world.barrier());
    ExitCode::from(error.exit_code() as u8)
}
