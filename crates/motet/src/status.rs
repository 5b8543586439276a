//! What a receive got, and what it may ask for.

use crate::Element;

/// The tag of a point-to-point message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

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
    /// The sender's rank in the communicator.
    pub source: usize,
    /// The tag of the message.
    pub tag: Tag,
    /// The length of the message in bytes.
    pub bytes: usize,
}

impl Status {
    /// The length of the message in elements of a type; `None` if it is no whole number of them.
    pub fn count<T: Element>(&self) -> Option<usize> {
        self.bytes.is_multiple_of(size_of::<T>()).then(|| self.bytes / size_of::<T>())
    }
}
