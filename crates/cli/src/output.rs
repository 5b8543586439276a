//! What the command prints, and its exit codes.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use motet::ErrorKind;
use motet_fabric::Error;

/// The exit code for a command line that cannot be understood.
pub(crate) const USAGE: u8 = 2;

/// A usage error that the parser cannot see: arguments that contradict each other, or a wrong
/// environment variable. The command ends with [`USAGE`].
#[derive(Debug)]
pub(crate) struct Mistake(pub(crate) String);

impl fmt::Display for Mistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Mistake {}

/// Prints an error as one line, and returns its exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let (text, code) = match error.downcast_ref::<motet_fabric::Error>() {
        // The text of these errors includes their causes.
        Some(error) => (error.to_string(), motet_fabric::launcher::exit_code(error)),
        None if error.is::<Mistake>() || is_setting(error) => (error.to_string(), USAGE),
        None => (format!("{error:#}"), 1),
    };
    complain(&text);
    ExitCode::from(code)
}

/// Whether an environment variable has a value that it cannot have.
fn is_setting(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref().map(motet::Error::kind);
    matches!(kind, Some(ErrorKind::Setting { .. } | ErrorKind::Fabric(Error::Setting { .. })))
}

/// Writes a line to standard error.
pub(crate) fn complain(text: &str) {
    motet_fabric::log_line(format_args!("motet: {text}"));
}

/// Writes a page to standard output. A closed pipe is no error: the reader has seen enough.
pub(crate) fn show(page: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    match out.write_all(page.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}
