//! The check of all environment variables at once, and those that only the C library uses.

use motet_fabric::launcher::Session;
use motet_fabric::setting::{self, Words};
use motet_fabric::{bootstrap, net};

use crate::base::error::{ErrorKind, Result};
use crate::rank::settings::{SHARED_HEAP, Settings};

/// The variable that names the error handler with which a program on the C library begins.
pub const INITIAL_ERRHANDLER: &str = "MOTET_INITIAL_ERRHANDLER";
/// The variable that says which codes errors have in the C library: `texts` or `classes`.
pub const ERROR_CODES: &str = "MOTET_ERROR_CODES";

/// The error handlers that [`INITIAL_ERRHANDLER`] can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialErrhandler {
    /// `MPI_ERRORS_ARE_FATAL`.
    Fatal,
    /// `MPI_ERRORS_ABORT`.
    Abort,
    /// `MPI_ERRORS_RETURN`.
    Return,
}

const ERRHANDLERS: Words<InitialErrhandler> = Words(&[
    ("mpi_errors_are_fatal", InitialErrhandler::Fatal),
    ("mpi_errors_abort", InitialErrhandler::Abort),
    ("mpi_errors_return", InitialErrhandler::Return),
]);
/// Whether the ranks have a shared heap.
const HEAPS: Words<bool> = Words(&[("1", true), ("0", false), ("on", true), ("off", false)]);
/// Whether functions return classes.
const CODES: Words<bool> = Words(&[("texts", false), ("classes", true)]);

/// Reads [`INITIAL_ERRHANDLER`], in small or capital letters; `None` if it is not set.
///
/// # Errors
/// It names no error handler.
pub fn initial_errhandler() -> Result<Option<InitialErrhandler>> {
    let parse = |text: &str| ERRHANDLERS.parse(&text.to_ascii_lowercase());
    Ok(setting::variable(INITIAL_ERRHANDLER, parse).map_err(ErrorKind::from)?)
}

/// Reads [`ERROR_CODES`]: whether functions of the C library return error classes.
///
/// # Errors
/// It is neither `texts` nor `classes`.
pub fn returns_classes() -> Result<bool> {
    let classes = setting::variable(ERROR_CODES, |text| CODES.parse(text));
    Ok(classes.map_err(ErrorKind::from)?.unwrap_or(false))
}

/// Reads [`SHARED_HEAP`]: whether large blocks of the program lie in a heap that all ranks map.
///
/// # Errors
/// It is none of `1`, `0`, `on` and `off`.
pub fn shared_heap() -> Result<bool> {
    let heap = setting::variable(SHARED_HEAP, |text| HEAPS.parse(text));
    Ok(heap.map_err(ErrorKind::from)?.unwrap_or(false))
}

/// Checks all variables that a launcher or a rank reads, for a launcher: it then reports a wrong
/// value once, before it starts ranks. A rank of another launcher checks each where it reads it.
///
/// # Errors
/// The first variable with a value that it cannot have.
pub fn check() -> Result<()> {
    Settings::from_environment()?;
    shared_heap()?;
    Session::from_environment().map_err(ErrorKind::from)?;
    bootstrap::check_variables().map_err(ErrorKind::from)?;
    net::peer_timeout().map_err(ErrorKind::from)?;
    net::remote_writes().map_err(ErrorKind::from)?;
    net::named_provider().map_err(ErrorKind::from)?;
    initial_errhandler()?;
    returns_classes().map(drop)
}
