//! The command line of `motet`: subcommands, `-np`, and errors in one line.
//!
//! Each subcommand has a file with a struct that holds its arguments and executes itself. Here it
//! has one variant of [`Command`] and one line in [`Command::execute`].

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, Error, ErrorKind};
use clap::{Parser, Subcommand};

use crate::output::{self, USAGE, complain};
use crate::{bench, info, install, list, mpiexec, plan, probe, run};

/// Run, inspect and measure Motet programs
///
/// `motet run -n 4 PROGRAM` starts a program as four ranks. `motet COMMAND --help` describes a
/// command.
#[derive(Debug, Parser)]
#[command(name = "motet", version, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::RunCommand),
    Mpiexec(mpiexec::Mpiexec),
    Info(info::Info),
    List(list::List),
    Plan(plan::Plan),
    Bench(bench::Bench),
    Install(install::Install),
    #[command(hide = true)]
    Probe(probe::Probe),
}

impl Command {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Run(run) => run.execute(),
            Command::Mpiexec(mpiexec) => mpiexec.execute(),
            Command::Info(info) => info.execute(),
            Command::List(list) => list.execute(),
            Command::Plan(plan) => plan.execute(),
            Command::Bench(bench) => bench.execute(),
            Command::Install(install) => install.execute(),
            Command::Probe(probe) => probe.execute(),
        }
    }
}

/// Parses the command line.
///
/// # Errors
/// The exit code, if there is nothing to execute: the help, the version or an error is printed.
pub(crate) fn parse(words: impl Iterator<Item = OsString>) -> Result<Args, ExitCode> {
    let words: Vec<_> = words.collect();
    match mpiexec::Mpiexec::find(&words) {
        Some(mpiexec) => Ok(Args { command: Command::Mpiexec(mpiexec) }),
        None => Args::try_parse_from(with_dash_np(words)).map_err(|error| answer(&error)),
    }
}

/// Replaces `-np`, the usual option of MPI launchers, by `-n`. Words after the program are its
/// arguments and are not changed.
fn with_dash_np(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    let options = words.iter_mut().skip(2).take_while(|word| is_option(word));
    for word in options.filter(|word| *word == "-np") {
        *word = "-n".into();
    }
    words
}

/// Prints what the parser returns instead of arguments: help unchanged, an error as one line.
fn answer(error: &Error) -> ExitCode {
    let page = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::show(&page.to_string()).unwrap_or_else(|error| output::report(&error))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            complain("a subcommand is missing; see `motet --help`");
            ExitCode::from(USAGE)
        }
        _ => {
            complain(&(first_paragraph(&page.to_string()) + &advice(error)));
            ExitCode::from(USAGE)
        }
    }
}

fn first_paragraph(page: &str) -> String {
    let lines = page.lines().take_while(|line| !line.trim().is_empty());
    let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    text.strip_prefix("error: ").map(str::to_owned).unwrap_or(text)
}

/// Tells what to do about a word that is none of those that the command knows.
fn advice(error: &Error) -> String {
    let page = match error.kind() {
        ErrorKind::InvalidSubcommand => "; see `motet --help`",
        ErrorKind::UnknownArgument => "; see `--help` of the subcommand",
        _ => return String::new(),
    };
    let similar = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg]
        .into_iter()
        .find_map(|kind| error.get(kind))
        .map(|word| format!("; did you mean `{word}`?"));
    similar.unwrap_or_else(|| page.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_not_known_comes_with_advice() {
        let message = |words: &[&str]| {
            let error = Args::try_parse_from(words).expect_err("there is no such word");
            first_paragraph(&error.render().to_string()) + &advice(&error)
        };
        let text = message(&["motet", "xyzzy"]);
        assert_eq!(text, "unrecognized subcommand 'xyzzy'; see `motet --help`");
        let text = message(&["motet", "runn"]);
        assert_eq!(text, "unrecognized subcommand 'runn'; did you mean `run`?");
        let text = message(&["motet", "run", "--lable", "true"]);
        assert_eq!(text, "unexpected argument '--lable' found; did you mean `--label`?");
    }
    use clap::CommandFactory;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn dash_np_is_understood_before_the_program_only() {
        let changed = with_dash_np(words("motet run --label -np 4 prog -np 5"));
        assert_eq!(changed, words("motet run --label -n 4 prog -np 5"));
        assert_eq!(with_dash_np(words("motet run -n 4 -np")), words("motet run -n 4 -np"));
    }

    #[test]
    fn a_mistake_is_one_line() {
        let page = "error: required:\n  -n <N>\n  <PROGRAM>\n\nUsage: motet\n";
        assert_eq!(first_paragraph(page), "required: -n <N> <PROGRAM>");
    }
}
