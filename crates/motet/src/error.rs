//! What can go wrong, and its class in the standard.

use motet_fabric::{Failure, TransferError};
use motet_plan::CallError;
use motet_plan::select::SelectError;

use crate::group::GroupError;
use crate::point_to_point::BufferError;
use crate::status::TAG_UB;
use crate::topology::TopologyError;

/// Results of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what happened, in which call, on which rank.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
}

/// Where an error happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    call: &'static str,
    rank: usize,
}

/// What happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// More arrived than there was room for. The buffer is as it was.
    #[error("truncated: {sent} bytes arrived for a buffer of {room}")]
    Truncated {
        /// Bytes that were sent.
        sent: usize,
        /// Bytes that there was room for.
        room: usize,
    },
    /// The sender's elements are of another type than the receiver's. The buffer is as it was.
    #[error("type mismatch: the sender's elements are of another type than the receiver's")]
    TypeMismatch,
    /// A rank has died.
    #[error("{0}; nothing that waits for it can complete")]
    PeerFailed(Failure),
    /// A rank that was waited for has left the world in good order.
    #[error("rank {rank} of the world has left it: what it was to send will never come")]
    PeerLeft {
        /// Its rank in the world.
        rank: usize,
    },
    /// Another rank met an error in the same operation, so its part is missing.
    #[error("rank {rank} of the world met an error in this operation, so its part is missing")]
    Spoiled {
        /// Its rank in the world.
        rank: usize,
    },
    /// A buffer does not have the length that the call needs.
    #[error("the {which} has {len} elements, but {needed}")]
    Length {
        /// Which buffer.
        which: &'static str,
        /// Its length.
        len: usize,
        /// What is needed, and why.
        needed: String,
    },
    /// A rank that is not in the communicator.
    #[error("{what} {rank} is not in a communicator of {size} ranks")]
    Rank {
        /// What it was passed as.
        what: &'static str,
        /// The rank.
        rank: usize,
        /// Ranks in the communicator.
        size: usize,
    },
    /// A tag that no message may have.
    #[error("tag {tag} is above {TAG_UB}, the greatest")]
    Tag {
        /// The tag.
        tag: u32,
    },
    /// The buffer for buffered sends.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// A request that is not in the state that the call needs.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Some of several operations went wrong.
    #[error("{failed} of the operations went wrong, the first of them: {first}")]
    InStatus {
        /// How many.
        failed: usize,
        /// What happened to the first of them.
        first: Box<Error>,
    },
    /// A group that the call does not allow, or that cannot be made.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// An argument that the operation does not allow.
    #[error(transparent)]
    Call(#[from] CallError),
    /// No algorithm can be chosen, or the one that was asked for does not apply.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A topology that there cannot be.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A setting that cannot be read.
    #[error("{variable}: {problem}")]
    Setting {
        /// The environment variable.
        variable: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The fabric could not be set up.
    #[error(transparent)]
    Fabric(#[from] motet_fabric::Error),
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A null request where an operation is needed.
    #[error("the request is null")]
    Null,
    /// An operation that is under way where an inactive one is needed.
    #[error("the operation is active already")]
    Active,
    /// An operation that is not under way where an active one is needed.
    #[error("the operation is inactive")]
    Inactive,
    /// An operation that runs once cannot be started.
    #[error("the request is not persistent, so it cannot be started")]
    NotPersistent,
    /// Collectives cannot be cancelled.
    #[error("a collective cannot be cancelled")]
    CancelOfCollective,
    /// Others count on a collective that has begun.
    #[error("a collective that is active cannot be freed")]
    FreeOfActiveCollective,
}

/// The error classes of the standard, as far as this library returns them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// `MPI_ERR_TRUNCATE`
    Truncate,
    /// `MPI_ERR_TYPE`
    Type,
    /// `MPI_ERR_PROC_FAILED`
    ProcFailed,
    /// `MPI_ERR_COUNT`
    Count,
    /// `MPI_ERR_RANK`
    Rank,
    /// `MPI_ERR_ROOT`
    Root,
    /// `MPI_ERR_BUFFER`
    Buffer,
    /// `MPI_ERR_GROUP`
    Group,
    /// `MPI_ERR_DIMS`
    Dims,
    /// `MPI_ERR_ARG`
    Arg,
    /// `MPI_ERR_TAG`
    Tag,
    /// `MPI_ERR_REQUEST`
    Request,
    /// `MPI_ERR_IN_STATUS`
    InStatus,
    /// `MPI_ERR_PENDING`
    Pending,
    /// `MPI_ERR_OTHER`
    Other,
}

impl Error {
    /// What happened.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The class of the standard that it belongs to.
    pub fn class(&self) -> ErrorClass {
        match self.kind() {
            ErrorKind::Truncated { .. } => ErrorClass::Truncate,
            ErrorKind::TypeMismatch => ErrorClass::Type,
            ErrorKind::PeerFailed(_) | ErrorKind::PeerLeft { .. } => ErrorClass::ProcFailed,
            ErrorKind::Spoiled { .. } => ErrorClass::Other,
            ErrorKind::Length { .. } => ErrorClass::Count,
            ErrorKind::Rank { .. } => ErrorClass::Rank,
            ErrorKind::Tag { .. } => ErrorClass::Tag,
            ErrorKind::Buffer(_) => ErrorClass::Buffer,
            ErrorKind::Request(_) => ErrorClass::Request,
            ErrorKind::InStatus { .. } => ErrorClass::InStatus,
            ErrorKind::Group(error) => group_class(error),
            ErrorKind::Call(error) => call_class(error),
            ErrorKind::Topology(_) => ErrorClass::Dims,
            ErrorKind::Select(_) | ErrorKind::Setting { .. } => ErrorClass::Arg,
            ErrorKind::Fabric(motet_fabric::Error::Failed(_)) => ErrorClass::ProcFailed,
            ErrorKind::Fabric(_) => ErrorClass::Other,
        }
    }

    /// Says in which call of which rank it happened, unless that is known already.
    pub(crate) fn at(mut self, call: &'static str, rank: usize) -> Error {
        self.0.place.get_or_insert(Place { call, rank });
        self
    }
}

fn call_class(error: &CallError) -> ErrorClass {
    match error {
        CallError::Root { .. } => ErrorClass::Root,
        CallError::Rank { .. } | CallError::Neighbour { .. } => ErrorClass::Rank,
        CallError::InPlace(_) | CallError::InPlaceNotRoot { .. } => ErrorClass::Buffer,
        CallError::Overlap { .. } => ErrorClass::Buffer,
        _ => ErrorClass::Count,
    }
}

fn group_class(error: &GroupError) -> ErrorClass {
    match error {
        GroupError::Rank { .. } | GroupError::Twice { .. } => ErrorClass::Rank,
        GroupError::Range(_) => ErrorClass::Arg,
        _ => ErrorClass::Group,
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Error {
        Error(Box::new(Inner { kind: kind.into(), place: None }))
    }
}

impl From<TransferError> for ErrorKind {
    fn from(error: TransferError) -> ErrorKind {
        match error {
            TransferError::Truncated { sent, room } => ErrorKind::Truncated { sent, room },
            TransferError::TypeMismatch { .. } => ErrorKind::TypeMismatch,
            TransferError::Revoked(peer) | TransferError::Left(peer) => {
                ErrorKind::PeerLeft { rank: peer.index() }
            }
            TransferError::Spoiled(peer) => ErrorKind::Spoiled { rank: peer.index() },
            TransferError::NoRoom { needed } => BufferError::NoRoom { needed }.into(),
            TransferError::Failed(failure) => ErrorKind::PeerFailed(failure),
            other => unreachable!("a transfer error without a translation: {other}"),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.place {
            Some(Place { call, rank }) => write!(out, "{call} on rank {rank}: {}", self.0.kind),
            None => self.0.kind.fmt(out),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.0.kind)
    }
}
