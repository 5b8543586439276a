//! Slices: runs of elements of one of the three buffers that a step can touch.

use std::fmt;
use std::ops::Range;

/// The three buffers a step can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// What the caller passes in; never written.
    Input,
    /// What the caller gets back.
    Output,
    /// Memory of the run itself, not set at the start.
    Scratch,
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Scratch => "scratch",
        })
    }
}

/// A run of elements of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Which buffer.
    pub buffer: Buffer,
    /// First element.
    pub start: usize,
    /// Number of elements.
    pub len: usize,
}

impl Slice {
    /// No elements at all.
    pub const NONE: Self = Self { buffer: Buffer::Input, start: 0, len: 0 };

    /// `len` elements from element `start` of this slice.
    ///
    /// # Panics
    /// If they do not lie in this slice.
    pub fn sub(self, start: usize, len: usize) -> Self {
        assert!(start <= self.len && len <= self.len - start, "{start}+{len} is not in {self}");
        Self { buffer: self.buffer, start: self.start + start, len }
    }

    /// The elements of this slice with these positions in it.
    ///
    /// # Panics
    /// If they do not lie in this slice.
    pub fn range(self, range: Range<usize>) -> Self {
        self.sub(range.start, range.len())
    }

    /// One past the last element.
    pub fn end(self) -> usize {
        self.start + self.len
    }

    /// Whether there is no element in it.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The positions in the buffer.
    pub fn positions(self) -> Range<usize> {
        self.start..self.end()
    }

    /// Whether some element lies in both slices.
    pub fn overlaps(self, other: Self) -> bool {
        self.buffer == other.buffer && self.start.max(other.start) < self.end().min(other.end())
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}..{}]", self.buffer, self.start, self.end())
    }
}
