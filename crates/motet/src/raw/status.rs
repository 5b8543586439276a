//! What an operation came to, whatever it was.

use motet_fabric::Received;

use crate::engine::{CANCELLED, NOBODY};
use crate::error::ErrorClass;
use crate::flight::Home;
use crate::status::{ANY_SOURCE, ANY_TAG, PROC_NULL, Source, TagFilter};

/// What an operation came to. (MPI 4.1 §3.2.5)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Who sent what was received; [`ANY_SOURCE`] if nothing was.
    pub source: Source,
    /// The tag of what was received; [`ANY_TAG`] if nothing was.
    pub tag: TagFilter,
    /// The length of what was received, in bytes.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
    /// What went wrong. Set only by the calls on sets that complete several operations, and only
    /// when they return an error; those on one operation return its error themselves.
    pub error: Option<ErrorClass>,
}

impl Status {
    /// The empty status: of null and inactive requests, and of operations that receive nothing.
    pub const EMPTY: Status =
        Status { source: ANY_SOURCE, tag: ANY_TAG, bytes: 0, cancelled: false, error: None };

    /// What a receive got, in terms of its communicator.
    pub(super) fn of_receive(home: &Home, received: Received) -> Status {
        if received == NOBODY {
            return Status { source: Source::Rank(PROC_NULL), ..Status::EMPTY };
        }
        if received == CANCELLED {
            return Status { cancelled: true, ..Status::EMPTY };
        }
        let status = home.status(received);
        Status {
            source: Source::Rank(status.source),
            tag: TagFilter::Tag(status.tag),
            bytes: received.bytes as u64,
            ..Status::EMPTY
        }
    }
}
