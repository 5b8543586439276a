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

/// Prints an error as one line, and returns its exit code.
fn report(error: &anyhow::Error) -> ExitCode {
    let (text, code) = match error.downcast_ref::<motet_fabric::Error>() {
        // The text of these errors includes their causes.
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

/// Writes a page to standard output. A closed pipe is no error: the reader has seen enough.
fn show(page: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match out.write_all(page.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
