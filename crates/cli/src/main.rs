//! The `motet` command.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod info;
mod install;
mod list;
mod measure;
mod mpiexec;
mod plan;
mod probe;
mod quantity;
mod run;

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match args::parse(std::env::args_os()) {
        Ok(args) => args.command.execute().unwrap_or_else(|error| report(&error)),
        Err(code) => code,
    }
}

/// Says in one line what went wrong, and gives the exit code for it.
fn report(error: &anyhow::Error) -> ExitCode {
    let (text, code) = match error.downcast_ref::<motet_fabric::Error>() {
        // These name their own causes.
        Some(error) => (error.to_string(), motet_fabric::launcher::exit_code(error)),
        None if error.is::<args::Mistake>() => (error.to_string(), args::USAGE),
        None => (format!("{error:#}"), 1),
    };
    complain(&text);
    ExitCode::from(code)
}

/// Writes a line to standard error.
fn complain(text: &str) {
    motet_fabric::log_line(format_args!("motet: {text}"));
}

/// Writes a page to standard output. That its reader has seen enough is no error.
fn show(page: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match out.write_all(page.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
