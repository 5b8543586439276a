//! A job: what a launcher starts.

use std::ffi::OsString;

/// The session of the ranks of a job. Linux can share the cores between sessions
/// ([`Autogroup`](crate::host::Autogroup)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Session {
    /// The session of the process that starts them.
    #[default]
    Shared,
    /// A new one, without a terminal.
    Own,
}

/// A job: the program to start, and its number of ranks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Job {
    /// The program, looked up like a shell does.
    pub program: OsString,
    /// Its arguments, without the name of the program.
    pub arguments: Vec<OsString>,
    /// The program's `argv[0]`, if it differs from the name by which it is found.
    pub name: Option<OsString>,
    /// The number of ranks.
    pub ranks: usize,
    /// Environment variables of all ranks, in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether each line of output begins with the rank that wrote it, as in `[3] `.
    pub label: bool,
    /// The session of the ranks.
    pub session: Session,
}

impl Job {
    /// A job without labels, in the session of this process.
    pub fn new(program: impl Into<OsString>, arguments: Vec<OsString>, ranks: usize) -> Job {
        let (program, environment) = (program.into(), Vec::new());
        let (label, session) = (false, Session::Shared);
        Job { program, arguments, name: None, ranks, environment, label, session }
    }
}
