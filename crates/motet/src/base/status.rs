//! What a receive got, what it may ask for, and the constants of messages.

use crate::Element;

/// The tag of a point-to-point message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// The greatest tag that a message may have. (`MPI_TAG_UB`)
pub const TAG_UB: u32 = i32::MAX as u32;

/// Room that a buffered message needs beyond its length. (`MPI_BSEND_OVERHEAD`)
pub const BSEND_OVERHEAD: usize = 64;

/// Nobody, as a destination, a source, and the source that a status tells of what was received from
/// nobody. (`MPI_PROC_NULL`)
pub const PROC_NULL: usize = usize::MAX;

impl Tag {
    /// What a status tells where there was no message; no message may have it.
    pub const ANY: Tag = Tag(u32::MAX);
}

/// From whom to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From this rank of the communicator.
    Rank(usize),
    /// From whoever has sent.
    Any,
}

/// Receive from whoever has sent.
pub const ANY_SOURCE: Source = Source::Any;

impl From<usize> for Source {
    fn from(rank: usize) -> Source {
        Source::Rank(rank)
    }
}

/// From nobody if there is none, as of a neighbour beyond the border of a grid.
impl From<Option<usize>> for Source {
    fn from(rank: Option<usize>) -> Source {
        Source::Rank(rank.unwrap_or(PROC_NULL))
    }
}

/// Which tag to receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagFilter {
    /// This one.
    Tag(Tag),
    /// Any.
    Any,
}

/// Receive whatever the tag.
pub const ANY_TAG: TagFilter = TagFilter::Any;

impl From<Tag> for TagFilter {
    fn from(tag: Tag) -> TagFilter {
        TagFilter::Tag(tag)
    }
}

/// What was received. (MPI 4.1 §3.2.5)
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
    /// What is told where there was no message.
    pub(crate) const NOBODY: Status =
        Status { source: PROC_NULL, tag: Tag::ANY, bytes: 0, cancelled: false };

    /// The length of the message in elements of a type; `None` if it is no whole number of them.
    /// Of a type without bytes a message without bytes has none. (`MPI_Get_count`, MPI 5.0 §3.2.5)
    pub fn count<T: Element>(&self) -> Option<usize> {
        let whole = self.bytes.is_multiple_of(size_of::<T>());
        whole.then(|| self.bytes.checked_div(size_of::<T>()).unwrap_or(0))
    }
}
