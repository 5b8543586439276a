//! Statuses of receives, their filters for source and tag, and the constants of messages.

use crate::Element;

/// The tag of a point-to-point message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// The greatest tag that a message may have. (`MPI_TAG_UB`)
pub const TAG_UB: u32 = i32::MAX as u32;

/// Bytes that a buffered message needs beyond its length. (`MPI_BSEND_OVERHEAD`)
pub const BSEND_OVERHEAD: usize = 64;

/// The null process: a destination or a source without a message, and the source in the status of a
/// receive from it. (`MPI_PROC_NULL`)
pub const PROC_NULL: usize = usize::MAX;

impl Tag {
    /// The tag in a status without a message; no message may have it.
    pub const ANY: Tag = Tag(u32::MAX);
}

/// The source of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This rank of the communicator.
    Rank(usize),
    /// Any rank.
    Any,
}

/// Receive from any rank.
pub const ANY_SOURCE: Source = Source::Any;

impl From<usize> for Source {
    fn from(rank: usize) -> Source {
        Source::Rank(rank)
    }
}

/// `None` is [`PROC_NULL`], as a neighbour beyond the border of a grid.
impl From<Option<usize>> for Source {
    fn from(rank: Option<usize>) -> Source {
        Source::Rank(rank.unwrap_or(PROC_NULL))
    }
}

/// The tag of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagFilter {
    /// This tag.
    Tag(Tag),
    /// Any tag.
    Any,
}

/// Receive a message with any tag.
pub const ANY_TAG: TagFilter = TagFilter::Any;

impl From<Tag> for TagFilter {
    fn from(tag: Tag) -> TagFilter {
        TagFilter::Tag(tag)
    }
}

/// The status of a receive. (MPI 4.1 §3.2.5)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The sender's rank in the communicator, or [`PROC_NULL`].
    pub source: usize,
    /// The tag of the message; [`Tag::ANY`] if there was none.
    pub tag: Tag,
    /// The length of the message in bytes.
    pub bytes: usize,
    /// Whether the operation was cancelled: then there was no message. (`MPI_Test_cancelled`)
    pub cancelled: bool,
}

impl Status {
    /// The status without a message.
    pub(crate) const NOBODY: Status =
        Status { source: PROC_NULL, tag: Tag::ANY, bytes: 0, cancelled: false };

    /// The length of the message in elements of a type; `None` if it is no whole number of them.
    /// Of a type without bytes a message without bytes has none. (`MPI_Get_count`, MPI 5.0 §3.2.5)
    pub fn count<T: Element>(&self) -> Option<usize> {
        let whole = self.bytes.is_multiple_of(size_of::<T>());
        whole.then(|| self.bytes.checked_div(size_of::<T>()).unwrap_or(0))
    }
}
