//! `motet run`: a program as the ranks of one world.

use std::ffi::OsString;
use std::process::ExitCode;

use motet_fabric::launcher::{self, Job};

/// Start a program as N ranks of one world on this machine
///
/// Output of the ranks comes line by line. Rank 0 reads the standard input. Signals are passed on
/// to all ranks. If a rank dies, the others are ended within a second.
///
/// Exit codes: 0 if all ranks ended well; that of the first rank that failed, or 128 and the
/// number of the signal that killed it; 127 if the program is not found, 126 if it cannot be
/// started; 2 for a wrong command line.
#[derive(Debug, clap::Args)]
#[command(override_usage = "motet run -n N [--label] PROGRAM [ARGS]...")]
pub(crate) struct Run {
    /// How many ranks
    #[arg(short = 'n', long = "ranks", value_name = "N")]
    ranks: usize,

    /// Begin each line of output with the rank that wrote it, as in `[3] `
    #[arg(long)]
    label: bool,

    /// The program, and its own arguments
    #[arg(required = true, num_args = 1.., trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl Run {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let mut words = self.command.into_iter();
        let program = words.next().expect("the parser asks for at least one");
        let mut job = Job::new(program, words.collect(), self.ranks);
        job.label = self.label;
        job.environment.push(motet::machine::for_ranks()?);
        Ok(ExitCode::from(launcher::run(&job)?.code))
    }
}
