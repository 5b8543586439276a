//! Errors, and their classes in the standard. (MPI 4.1 §9.3 to §9.5)
//!
//! An [`Error`] holds what happened ([`ErrorKind`]), in which call and on which rank. Its
//! [`ErrorClass`] follows from what happened. Programs that want their own classes and codes keep
//! them in an [`ErrorCodes`].

mod class;
mod codes;
mod kind;
mod recent;
mod topology;

use std::fmt;

use motet_fabric::printable;

pub use class::ErrorClass;
pub use codes::{ErrorCode, ErrorCodes};
pub use kind::{ErrorKind, ExceptionId};
pub use topology::TopologyError;

use crate::base::status::Status;

/// Results of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what happened, in which call, on which rank.
///
/// Each call documents its own errors. Beside them, any call of a communicator may return that an
/// operator has called it ([`ErrorKind::WithinOperator`]), that this rank has left the world
/// ([`ErrorKind::PeerLeft`], after [`World::leave`](crate::World::leave)), that a rank has died
/// ([`ErrorKind::PeerFailed`]) and, if it starts an operation, that there is no room for another
/// one ([`ErrorKind::TooManyOperations`], [`ErrorKind::NoMemory`]); and any collective one, in
/// check mode, that the calls of the ranks do not match ([`ErrorKind::Mismatch`]).
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    place: Option<CallLocation>,
    refused: Option<Status>,
}

/// Where an error happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CallLocation {
    call: &'static str,
    rank: usize,
}

impl Error {
    /// What happened.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Its class in the standard. (`MPI_Error_class`)
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    /// The code: the program's own for an error that the program has made, else that of the class.
    pub fn code(&self) -> ErrorCode {
        match self.kind() {
            ErrorKind::User { code, .. } => *code,
            _ => self.class().into(),
        }
    }

    /// The code for callers that get a number only: that of the program, or one of the class that
    /// keeps the text ([`ErrorCode::with_text`]). `MPI_ERR_PENDING` and `MPI_ERR_IN_STATUS`, which
    /// the standard returns as codes and not as classes, keep their numbers.
    pub fn code_with_text(&self) -> ErrorCode {
        match self.kind() {
            ErrorKind::User { .. } | ErrorKind::Pending | ErrorKind::InStatus { .. } => self.code(),
            _ => ErrorCode::with_text(self.class(), &self.to_string()),
        }
    }

    /// The call in which it happened, if it is known.
    pub fn call(&self) -> Option<&'static str> {
        self.0.place.map(|place| place.call)
    }

    /// The rank, in its communicator, on which it happened, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.0.place.map(|place| place.rank)
    }

    /// The source and tag of the message that a receive has matched and refused, if that is what
    /// happened. Nothing of it was received, so its length is 0.
    pub fn refused(&self) -> Option<Status> {
        self.0.refused
    }

    /// Sets the refused message.
    pub(crate) fn about(mut self, refused: Option<Status>) -> Error {
        self.0.refused = refused;
        self
    }

    /// What happened, without the call and the rank.
    pub(crate) fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// Sets the call and the rank, unless they are known already.
    pub(crate) fn at(mut self, call: &'static str, rank: usize) -> Error {
        self.0.place.get_or_insert(CallLocation { call, rank });
        self
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Error {
        Error(Box::new(Inner { kind: kind.into(), place: None, refused: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.place {
            Some(CallLocation { call, rank }) => {
                write!(out, "{call} on rank {rank}: {}", printable(&self.0.kind))
            }
            None => printable(&self.0.kind).fmt(out),
        }
    }
}

/// For people: `main` prints this if it returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self} ({})", self.class().name())
    }
}

/// So that `?` works where a program returns errors of input and output.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> std::io::Error {
        std::io::Error::other(error)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.0.kind)
    }
}
