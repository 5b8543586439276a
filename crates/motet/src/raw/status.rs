//! What an operation came to, whatever it was.

use motet_fabric::Received;

use crate::base::error::{ErrorCode, ErrorKind, Result};
use crate::base::status::{self, ANY_SOURCE, ANY_TAG, PROC_NULL, Source, Tag, TagFilter};
use crate::comm::op_handle::CommContext;
use crate::engine::{CANCELLED, NOBODY};
use crate::types::datatype::{Datatype, DatatypeError};

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
    /// when they return an error; those on one operation return its error themselves. The code
    /// keeps the text ([`Error::code_with_text`](crate::Error::code_with_text)).
    pub error: Option<ErrorCode>,
}

impl Status {
    /// The empty status: of null and inactive requests, and of operations that receive nothing.
    pub const EMPTY: Status =
        Status { source: ANY_SOURCE, tag: ANY_TAG, bytes: 0, cancelled: false, error: None };

    /// Complete items of a datatype in what was received; `None` (`MPI_UNDEFINED`) if the last one
    /// is not complete. (`MPI_Get_count`, MPI 4.1 §3.2.5)
    pub fn count(&self, datatype: &Datatype) -> Option<u64> {
        datatype.get_count(self.bytes)
    }

    /// Basic elements of a datatype in what was received; `None` (`MPI_UNDEFINED`) if the last one
    /// is not complete. (`MPI_Get_elements`, MPI 4.1 §5.1.11)
    pub fn elements(&self, datatype: &Datatype) -> Option<u64> {
        datatype.get_elements(self.bytes)
    }

    /// Sets the length to that of so many basic elements of a datatype: what the query of a
    /// generalized operation does. (`MPI_Status_set_elements`, MPI 4.1 §13.3)
    ///
    /// # Errors
    /// More of them than 2⁶⁴ bytes; any of a datatype that has none.
    pub fn set_elements(&mut self, datatype: &Datatype, elements: u64) -> Result<()> {
        self.bytes = bytes_of(datatype, elements).map_err(ErrorKind::from)?;
        Ok(())
    }

    /// What a receive got, in terms of its communicator.
    pub(super) fn of_receive(home: &CommContext, received: Received) -> Status {
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

impl From<status::Status> for Status {
    /// The same in the words of this layer: a probe tells the former.
    fn from(status: status::Status) -> Status {
        let status::Status { source, tag, bytes, cancelled } = status;
        if cancelled {
            return Status { cancelled, ..Status::EMPTY };
        }
        let tag = if tag == Tag::ANY { ANY_TAG } else { TagFilter::Tag(tag) };
        Status { source: Source::Rank(source), tag, bytes: bytes as u64, ..Status::EMPTY }
    }
}

/// The bytes of so many basic elements of a datatype, from the first item on.
fn bytes_of(datatype: &Datatype, elements: u64) -> Result<u64, DatatypeError> {
    let overflow = DatatypeError::Overflow("size");
    let each = datatype.elements();
    if each == 0 {
        return if elements == 0 { Ok(0) } else { Err(overflow) };
    }
    let whole = (elements / each).checked_mul(datatype.size());
    let (whole, rest) = (whole.ok_or(overflow.clone())?, elements % each);
    // Complete elements in the first bytes of an item: no element is longer than that.
    const LONGEST: u64 = 64;
    let complete = |bytes: u64| {
        let shorter = (bytes.saturating_sub(LONGEST)..=bytes).rev();
        shorter.filter_map(|bytes| datatype.get_elements(bytes)).next().unwrap_or(0)
    };
    let (mut few, mut enough) = (0, datatype.size());
    while few < enough {
        let middle = few + (enough - few) / 2;
        if complete(middle) < rest { few = middle + 1 } else { enough = middle }
    }
    whole.checked_add(enough).ok_or(overflow)
}
