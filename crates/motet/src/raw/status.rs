//! Status of an operation of any kind.

use motet_fabric::Received;

use crate::base::error::{ErrorCode, ErrorKind, Result};
use crate::base::status::{self, ANY_SOURCE, ANY_TAG, PROC_NULL, Source, Tag, TagFilter};
use crate::comm::op_handle::CommContext;
use crate::engine::{CANCELLED, NOBODY};
use crate::types::datatype::{Datatype, DatatypeError};

/// Result of an operation. (MPI 4.1 §3.2.5)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Sender of the received message; [`ANY_SOURCE`] if none was received.
    pub source: Source,
    /// Tag of the received message; [`ANY_TAG`] if none was received.
    pub tag: TagFilter,
    /// Length of the received message in bytes.
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
    /// The error. Set only by calls on sets that complete several operations, and only if they
    /// return an error; calls on one operation return its error themselves. The code keeps the
    /// error text ([`Error::code_with_text`](crate::Error::code_with_text)).
    pub error: Option<ErrorCode>,
}

impl Status {
    /// The empty status: of null and inactive requests, and of operations that receive nothing.
    pub const EMPTY: Status =
        Status { source: ANY_SOURCE, tag: ANY_TAG, bytes: 0, cancelled: false, error: None };

    /// Returns the number of complete items of a datatype in the received message; `None`
    /// (`MPI_UNDEFINED`) if the last item is incomplete. (`MPI_Get_count`, MPI 4.1 §3.2.5)
    pub fn count(&self, datatype: &Datatype) -> Option<u64> {
        datatype.get_count(self.bytes)
    }

    /// Returns the number of basic elements of a datatype in the received message; `None`
    /// (`MPI_UNDEFINED`) if the last element is incomplete. (`MPI_Get_elements`, MPI 4.1 §5.1.11)
    pub fn elements(&self, datatype: &Datatype) -> Option<u64> {
        datatype.get_elements(self.bytes)
    }

    /// Sets the length to that of `elements` basic elements of a datatype; called by the query
    /// callback of a generalized request. (`MPI_Status_set_elements`, MPI 4.1 §13.3)
    ///
    /// # Errors
    /// The elements have more than 2⁶⁴ bytes; or the datatype has no elements and `elements` is not
    /// 0.
    pub fn set_elements(&mut self, datatype: &Datatype, elements: u64) -> Result<()> {
        self.bytes = bytes_of(datatype, elements).map_err(ErrorKind::from)?;
        Ok(())
    }

    /// Converts the result of a receive to ranks of its communicator.
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
    /// Converts a status of the safe layer, which a probe returns.
    fn from(status: status::Status) -> Status {
        let status::Status { source, tag, bytes, cancelled } = status;
        if cancelled {
            return Status { cancelled, ..Status::EMPTY };
        }
        let tag = if tag == Tag::ANY { ANY_TAG } else { TagFilter::Tag(tag) };
        Status { source: Source::Rank(source), tag, bytes: bytes as u64, ..Status::EMPTY }
    }
}

/// Returns the bytes of a number of basic elements of a datatype, counted from the first item.
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
