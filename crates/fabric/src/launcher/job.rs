//! A job: what a launcher starts.

use std::ffi::OsString;

use crate::Result;
use crate::setting::{self, Words};

/// The variable that selects the session of the jobs of `motet run`: `own` or `shared`.
pub const SESSION: &str = "MOTET_SESSION";

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

impl Session {
    /// The names of the sessions.
    pub const NAMES: Words<Session> = Words(&[("own", Session::Own), ("shared", Session::Shared)]);

    /// Reads [`SESSION`]; `None` if it is not set.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) if it names no session.
    pub fn from_environment() -> Result<Option<Session>> {
        setting::variable(SESSION, |text| Session::NAMES.parse(text))
    }
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
