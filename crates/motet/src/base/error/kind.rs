//! The kinds of errors, and the class of each.

use motet_fabric::{Failure, TransferError};
use motet_plan::CallError;
use motet_plan::select::SelectError;

use super::{ErrorClass, ErrorCode, TopologyError};
use crate::base::group::GroupError;
use crate::base::info::InfoError;
use crate::base::status::BSEND_OVERHEAD;
use crate::types::datatype::DatatypeError;
use crate::types::element::name_of;

/// The number of an exception that has left a callback. The code that stopped the exception has
/// chosen the number, and decides what happens to the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExceptionId(pub u64);

/// What happened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A message was longer than the receive buffer, and nothing was written. In a collective it
    /// may be a part of the data: its ranks disagree on the length of the data.
    #[error(
        "message truncated ({sent} bytes sent, room for {room}); \
         pass a larger buffer, or in a collective the same length on all ranks"
    )]
    Truncated {
        /// Bytes that were sent.
        sent: usize,
        /// Bytes of the buffer.
        room: usize,
    },
    /// A message of a collective was shorter than expected, and nothing was written: its ranks
    /// disagree on the length of the data. The message may be a part of the data.
    #[error(
        "message too short ({sent} bytes sent, {expected} expected); \
         pass matching counts and types on all ranks"
    )]
    TooShort {
        /// Bytes that were sent.
        sent: usize,
        /// Bytes that were expected.
        expected: usize,
    },
    /// Another rank sends or awaits messages that this rank's call does not have: the ranks
    /// disagree on the length of the data, or on which collective this is.
    #[error(
        "rank {rank} of the world sends or expects other messages in this operation than this \
         rank; pass matching counts, types and roots on all ranks, \
         and set MOTET_CHECK=1 to compare the calls"
    )]
    Astray {
        /// Its rank in the world.
        rank: usize,
    },
    /// The sender's elements are of another type than the receiver's. The buffer is unchanged.
    #[error(
        "type mismatch (rank {rank} of the world sent {sent}, this rank receives {expected}); \
         send and receive the same type"
    )]
    TypeMismatch {
        /// The sender's rank in the world.
        rank: usize,
        /// The type of its elements: of a structure its fields, with their places.
        sent: String,
        /// The same of the receiver's.
        expected: String,
    },
    /// A rank has died. Once a rank has been told, no collective over a communicator with the dead
    /// rank succeeds; those over communicators of living ranks do.
    #[error("{0}; no operation that waits for it can complete")]
    PeerFailed(Failure),
    /// An awaited rank has left the world in good order.
    #[error(
        "rank {rank} of the world has finalized, so its message will never arrive; \
         let each rank make all calls that others wait for before it finalizes"
    )]
    PeerLeft {
        /// Its rank in the world.
        rank: usize,
    },
    /// Another rank met an error in the same operation, so its part is missing.
    #[error(
        "rank {rank} of the world failed in this operation, so its data is missing; \
         see the error of that rank"
    )]
    Spoiled {
        /// Its rank in the world.
        rank: usize,
    },
    /// The ranks of a communicator do not call the same collectives in the same order, or not with
    /// matching arguments. Found in check mode only: see
    /// [`Settings::check`](crate::Settings::check).
    #[error("{0}")]
    Mismatch(&'static str),
    /// The operator of a reduction has failed on another rank, so no rank has a result.
    #[error(
        "the operator of the reduction failed on another rank, so there is no result \
         (reported by rank {rank} of the world)"
    )]
    OperatorFailed {
        /// The rank of the world that has reported it, which need not be where it has failed.
        rank: usize,
    },
    /// An exception of another language has left a callback of the program, and was stopped there.
    #[error("{from} threw an exception")]
    Exception {
        /// What kind of callback it is.
        from: &'static str,
        /// The class of the error.
        class: ErrorClass,
        /// Its number.
        id: ExceptionId,
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
    /// A group that the call does not allow, or that cannot be made.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// An argument that the operation does not allow.
    #[error(transparent)]
    Call(#[from] CallError),
    /// No algorithm can be chosen, or the one that was asked for does not apply.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// An invalid topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// An invalid datatype, or one that does not fit the data.
    #[error(transparent)]
    Datatype(#[from] DatatypeError),
    /// A wrong or missing key or value of a hint.
    #[error(transparent)]
    Info(#[from] InfoError),
    /// A root that is not in the communicator.
    #[error("root {root} is not in a communicator of {size} ranks")]
    Root {
        /// The root that was passed.
        root: usize,
        /// Ranks in the communicator.
        size: usize,
    },
    /// A root that is not in the group among which the collective runs.
    #[error("root {root} is not in the group of {size} ranks that makes this call")]
    RootOutside {
        /// The root that was passed, a rank of the communicator.
        root: usize,
        /// Ranks in the group.
        size: usize,
    },
    /// A root argument for intercommunicators, passed to an intracommunicator.
    #[error("root {role} is for intercommunicators only; pass a rank")]
    RootRole {
        /// What was passed.
        role: &'static str,
    },
    /// A tag that is larger than a tag may be.
    #[error("{what} out of range ({tag} given, at most {most} allowed)")]
    Tag {
        /// What it was passed as.
        what: &'static str,
        /// The tag.
        tag: u64,
        /// The largest one.
        most: u64,
    },
    /// A buffer that may not be passed here: one that is used twice, say, or in place where that is
    /// not possible.
    #[error("the {which} {problem}")]
    Buffer {
        /// Which buffer.
        which: &'static str,
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// An operator that does not support the request.
    #[error("operator {operator} {problem}")]
    Op {
        /// Its name.
        operator: String,
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// A request in a state that the call does not allow.
    #[error("the request {problem}")]
    Request {
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// Two-phase collectives that are not strictly nested.
    #[error("{called} breaks the nesting of phases: {problem}")]
    Nesting {
        /// The call that does.
        called: &'static str,
        /// What is open, and what is expected.
        problem: String,
    },
    /// An operation of a set that is not complete, because another one failed.
    #[error("not complete: another operation of the set failed first; wait for this one again")]
    Pending,
    /// Some operations of a set failed.
    #[error("{failed} of {operations} operations failed; see the error of each one")]
    InStatus {
        /// Operations that went wrong.
        failed: usize,
        /// Operations in the set.
        operations: usize,
        /// The first exception that one of them has ended with.
        exception: Option<ExceptionId>,
    },
    /// A communicator that the call does not allow.
    #[error("the communicator {problem}")]
    Communicator {
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// An unknown or freed key of attributes.
    #[error("the attribute key {problem}")]
    Keyval {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An argument that is wrong in another way.
    #[error("the {which} {problem}")]
    Argument {
        /// Which argument.
        which: &'static str,
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// An argument that should be the same on all ranks, and is not.
    #[error("the {which} differs between the ranks: {problem}")]
    Differs {
        /// Which argument.
        which: &'static str,
        /// Who passed what.
        problem: String,
    },
    /// A feature that this library does not have.
    #[error("{what} is not supported{instead}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What to do instead, beginning with a comma or a semicolon; or nothing.
        instead: &'static str,
    },
    /// Not enough memory.
    #[error("no memory for {what} ({bytes} bytes needed)")]
    NoMemory {
        /// What it was for.
        what: &'static str,
        /// How much.
        bytes: usize,
    },
    /// More operations than the program allows itself: see
    /// [`Settings::max_pending`](crate::Settings::max_pending).
    #[error("too many pending operations: {limit} is the limit set by MOTET_MAX_PENDING")]
    TooManyOperations {
        /// How many there may be.
        limit: usize,
    },
    /// An operator has called the library, which has not finished the reduction that it is a part
    /// of. (MPI 5.0 §6.9.5)
    #[error(
        "called by an operator of a reduction, which must not call the library; \
         make this call after the reduction"
    )]
    WithinOperator,
    /// An internal error: a fault of the library itself.
    #[error("internal error: {0}; please report it")]
    Internal(String),
    /// An error that the program has made itself: in one of its callbacks, or to call an error
    /// handler.
    #[error("error {code} of the program: {text}")]
    User {
        /// Its code; see [`ErrorCodes`](crate::ErrorCodes).
        code: ErrorCode,
        /// What happened.
        text: String,
    },
    /// A setting whose value is a text of several parts that cannot be read. (A value that is not
    /// one of those allowed is [`motet_fabric::Error::Setting`].)
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

impl ErrorKind {
    /// An error about a request in a wrong state.
    pub(crate) fn of_request(problem: &str) -> ErrorKind {
        ErrorKind::Request { problem: problem.into() }
    }

    /// An exception that has left an operator.
    pub(crate) fn of_operator(id: ExceptionId) -> ErrorKind {
        ErrorKind::Exception { from: "the operator", class: ErrorClass::Op, id }
    }

    /// An error about the buffer for buffered sends.
    pub(crate) fn of_send_buffer(problem: impl Into<String>) -> ErrorKind {
        ErrorKind::Buffer { which: "buffer for buffered sends", problem: problem.into() }
    }

    /// A message of `needed` bytes does not fit into the rest of the buffer.
    fn no_room(needed: usize) -> ErrorKind {
        ErrorKind::of_send_buffer(format!(
            "has no room for {needed} bytes and {BSEND_OVERHEAD} bytes of overhead, or is not \
             attached; attach a larger one"
        ))
    }

    /// The exception that is the cause, or the first of several.
    pub fn exception(&self) -> Option<ExceptionId> {
        match self {
            ErrorKind::Exception { id, .. } => Some(*id),
            ErrorKind::InStatus { exception, .. } => *exception,
            _ => None,
        }
    }

    /// Its class in the standard.
    pub fn class(&self) -> ErrorClass {
        match self {
            ErrorKind::Truncated { .. } => ErrorClass::Truncate,
            ErrorKind::TooShort { .. } => ErrorClass::Count,
            ErrorKind::TypeMismatch { .. } => ErrorClass::Type,
            ErrorKind::PeerFailed(_) | ErrorKind::PeerLeft { .. } => ErrorClass::ProcAborted,
            // Wrong nesting is a matter of the order of calls, not of an argument.
            ErrorKind::Spoiled { .. }
            | ErrorKind::Astray { .. }
            | ErrorKind::Mismatch(_)
            | ErrorKind::Nesting { .. }
            | ErrorKind::WithinOperator => ErrorClass::Other,
            ErrorKind::Exception { class, .. } => *class,
            ErrorKind::Length { .. } => ErrorClass::Count,
            ErrorKind::Rank { .. } => ErrorClass::Rank,
            ErrorKind::Root { .. } | ErrorKind::RootOutside { .. } | ErrorKind::RootRole { .. } => {
                ErrorClass::Root
            }
            ErrorKind::Tag { .. } => ErrorClass::Tag,
            ErrorKind::Buffer { .. } => ErrorClass::Buffer,
            ErrorKind::Op { .. } | ErrorKind::OperatorFailed { .. } => ErrorClass::Op,
            ErrorKind::Request { .. } => ErrorClass::Request,
            ErrorKind::Pending => ErrorClass::Pending,
            ErrorKind::InStatus { .. } => ErrorClass::InStatus,
            ErrorKind::Communicator { .. } => ErrorClass::Comm,
            ErrorKind::Keyval { .. } => ErrorClass::Keyval,
            ErrorKind::Differs { .. } => ErrorClass::NotSame,
            ErrorKind::Unsupported { .. } => ErrorClass::UnsupportedOperation,
            ErrorKind::NoMemory { .. } | ErrorKind::TooManyOperations { .. } => ErrorClass::NoMem,
            ErrorKind::Internal(_) => ErrorClass::Intern,
            ErrorKind::Argument { .. } | ErrorKind::Setting { .. } => ErrorClass::Arg,
            ErrorKind::User { code, .. } => code.class().unwrap_or(ErrorClass::Other),
            ErrorKind::Datatype(error) => error.class(),
            ErrorKind::Info(InfoError::Key { .. }) => ErrorClass::InfoKey,
            ErrorKind::Info(InfoError::Value { .. }) => ErrorClass::InfoValue,
            ErrorKind::Info(InfoError::NoKey { .. }) => ErrorClass::InfoNokey,
            ErrorKind::Group(error) => group_class(error),
            ErrorKind::Call(error) | ErrorKind::Select(SelectError::Call(error)) => {
                call_class(error)
            }
            ErrorKind::Select(SelectError::Refused { .. }) => ErrorClass::Arg,
            ErrorKind::Topology(error) => topology_class(error),
            ErrorKind::Fabric(error) => fabric_class(error),
        }
    }
}

fn call_class(error: &CallError) -> ErrorClass {
    match error {
        CallError::Root { .. } => ErrorClass::Root,
        CallError::Rank { .. } | CallError::Neighbour { .. } => ErrorClass::Rank,
        CallError::InPlace(_)
        | CallError::InPlaceNotRoot { .. }
        | CallError::InPlaceBlocks { .. }
        | CallError::Overlap { .. } => ErrorClass::Buffer,
        CallError::Knowledge { .. } => ErrorClass::Arg,
        CallError::Groups { .. } => ErrorClass::Comm,
        CallError::Blocks { .. }
        | CallError::Itself { .. }
        | CallError::Totals(..)
        | CallError::TooLarge => ErrorClass::Count,
        // Only the library itself passes surroundings or nodes.
        CallError::Surroundings { .. } | CallError::Nodes { .. } => ErrorClass::Intern,
    }
}

fn group_class(error: &GroupError) -> ErrorClass {
    match error {
        GroupError::Rank { .. } | GroupError::Twice { .. } => ErrorClass::Rank,
        GroupError::Range(_) => ErrorClass::Arg,
        GroupError::Outsider { .. }
        | GroupError::CallerOutside
        | GroupError::Differs { .. }
        | GroupError::Overlap { .. } => ErrorClass::Group,
    }
}

fn topology_class(error: &TopologyError) -> ErrorClass {
    match error {
        TopologyError::Missing { .. } => ErrorClass::Topology,
        TopologyError::Place { .. } => ErrorClass::Rank,
        TopologyError::Index { .. } | TopologyError::Nodes { .. } => ErrorClass::Arg,
        TopologyError::Entries { .. }
        | TopologyError::Empty { .. }
        | TopologyError::Dimension { .. }
        | TopologyError::TooLarge { .. }
        | TopologyError::Indivisible { .. } => ErrorClass::Dims,
    }
}

fn fabric_class(error: &motet_fabric::Error) -> ErrorClass {
    use motet_fabric::Error;
    match error {
        Error::Failed(_) => ErrorClass::ProcAborted,
        Error::System { source, .. } | Error::Start { source, .. }
            if source.kind() == std::io::ErrorKind::OutOfMemory =>
        {
            ErrorClass::NoMem
        }
        Error::Program { .. } | Error::Start { .. } | Error::Files { .. } => ErrorClass::Spawn,
        Error::Ranks { .. } | Error::Setting { .. } => ErrorClass::Arg,
        Error::Segment { .. } => ErrorClass::NoMem,
        _ => ErrorClass::Other,
    }
}

impl From<TransferError> for ErrorKind {
    fn from(error: TransferError) -> ErrorKind {
        match error {
            TransferError::Truncated { sent, room, .. } => {
                ErrorKind::Truncated { sent: sent.into(), room: room.into() }
            }
            TransferError::Short { sent, room, .. } => {
                ErrorKind::TooShort { sent: sent.into(), expected: room.into() }
            }
            TransferError::Astray(peer) => ErrorKind::Astray { rank: peer.index() },
            TransferError::TypeMismatch { sent, expected, from }
            | TransferError::OtherElements { sent, expected, from } => ErrorKind::TypeMismatch {
                rank: from.rank.index(),
                sent: name_of(sent),
                expected: name_of(expected),
            },
            TransferError::Revoked(peer) | TransferError::Left(peer) => {
                ErrorKind::PeerLeft { rank: peer.index() }
            }
            TransferError::Ended(reason) => ErrorKind::Mismatch(reason),
            TransferError::Spoiled(peer) => ErrorKind::Spoiled { rank: peer.index() },
            TransferError::OperatorFailed(peer) => ErrorKind::OperatorFailed { rank: peer.index() },
            TransferError::Thrown(id) => ErrorKind::of_operator(ExceptionId(id)),
            TransferError::NoRoom { needed } => ErrorKind::no_room(needed),
            TransferError::Failed(failure) => ErrorKind::PeerFailed(failure),
            other => unreachable!("a transfer error without a translation: {other}"),
        }
    }
}
