//! One error, told once: what is wrong for one rank ends the program on all of them.

use std::fmt;
use std::process::ExitCode;

use anyhow::{Error, Result};
use motet::{Communicator, Min};

/// Another rank tells what went wrong; this one ends without a word.
#[derive(Debug)]
struct ToldElsewhere;

impl fmt::Display for ToldElsewhere {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("another rank failed")
    }
}

impl std::error::Error for ToldElsewhere {}

/// Goes on only if all ranks can: every rank calls this with its own outcome, and if any has
/// an error, all of them return one. That of the first rank is the one to be told.
pub(crate) fn agree<T>(world: &Communicator, outcome: Result<T>) -> Result<T> {
    let nobody = world.size();
    let own = if outcome.is_ok() { nobody } else { world.rank() };
    let first = world.allreduce_one(own, Min)?;
    if first == nobody || first == world.rank() { outcome } else { Err(ToldElsewhere.into()) }
}

/// An error that all ranks meet alike, as they decide by the same numbers: rank 0 tells it.
pub(crate) fn alike(world: &Communicator, error: Error) -> Error {
    if world.rank() == 0 { error } else { ToldElsewhere.into() }
}

/// Tells an error in one line, unless another rank does.
pub(crate) fn tell(world: &Communicator, error: &Error) -> ExitCode {
    if !error.is::<ToldElsewhere>() {
        eprintln!("{}: {error:#}", env!("CARGO_CRATE_NAME"));
    }
    if !error.is::<motet::Error>() {
        // All ranks come here together. A launcher may end them as soon as one has failed, which
        // must not be before the error is told. That a rank is gone already makes no difference.
        let _ = world.barrier();
    }
    ExitCode::FAILURE
}
