//! Raw memory that a transfer may touch: an address and a length, without a lifetime.
//!
//! These are the only types in which addresses of user memory travel through the fabric. They
//! carry no promise by themselves; whoever posts one promises (see [`crate::Endpoint::send`] and
//! [`crate::Endpoint::recv`]) that the memory stays valid until the transfer completes or is
//! cancelled.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod copy;

pub(crate) use copy::{ALIASING_PERIOD_BYTES, STRING_COPY_MIN_BYTES, is_page_aliased};
pub use copy::{copy, copy_many};

/// Memory to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    start: *const u8,
    bytes: usize,
}

/// Memory to write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionMut {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: a region is an address and a length; using it is what needs a promise, and that is
// given where it is posted.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Send for RegionMut {}

impl Region {
    /// A region of no bytes.
    pub const EMPTY: Region = Region { start: std::ptr::null(), bytes: 0 };

    /// The region of `bytes` bytes from `start` on.
    pub fn new(start: *const u8, bytes: usize) -> Region {
        Region { start, bytes }
    }

    /// The bytes of a slice. The borrow ends here; the caller keeps the slice alive.
    pub fn of(slice: &[u8]) -> Region {
        Region { start: slice.as_ptr(), bytes: slice.len() }
    }

    /// First byte.
    pub fn start(self) -> *const u8 {
        self.start
    }

    /// Length in bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// The part from byte `from` on, `bytes` long; it must lie inside.
    pub fn part(self, from: usize, bytes: usize) -> Region {
        assert!(from <= self.bytes && bytes <= self.bytes - from, "part outside its region");
        Region { start: self.start.wrapping_add(from), bytes }
    }
}

impl RegionMut {
    /// A region of no bytes.
    pub const EMPTY: RegionMut = RegionMut { start: std::ptr::null_mut(), bytes: 0 };

    /// The region of `bytes` bytes from `start` on.
    pub fn new(start: *mut u8, bytes: usize) -> RegionMut {
        RegionMut { start, bytes }
    }

    /// The bytes of a slice. The borrow ends here; the caller keeps the slice alive.
    pub fn of(slice: &mut [u8]) -> RegionMut {
        RegionMut { start: slice.as_mut_ptr(), bytes: slice.len() }
    }

    /// First byte.
    pub fn start(self) -> *mut u8 {
        self.start
    }

    /// Length in bytes.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// The part from byte `from` on, `bytes` long; it must lie inside.
    pub fn part(self, from: usize, bytes: usize) -> RegionMut {
        assert!(from <= self.bytes && bytes <= self.bytes - from, "part outside its region");
        RegionMut { start: self.start.wrapping_add(from), bytes }
    }

    /// The same memory, to be read.
    pub fn as_region(self) -> Region {
        Region { start: self.start, bytes: self.bytes }
    }
}
