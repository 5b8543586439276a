//! Shared-memory buffers, which all ranks of a host can copy from and to.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::slice;

use motet_fabric::shared_heap;

use crate::data::buffer::{RawSlice, RecvBuffer, SendBuffer, StableBuffer};
use crate::types::element::assert_valid;
use crate::{Communicator, Element};

/// Elements in memory that all ranks of a host map, for the buffers of large messages and
/// collectives.
///
/// Processes copy these elements as threads do: once, by a core, without a system call, even where
/// the system forbids cross-memory copies between processes. It is used like a `Vec<T>` of fixed
/// length; [`Communicator::allocate`] makes it. The counterpart in C is `MPI_Alloc_mem`. (MPI 4.1
/// §9.2)
///
/// The amount for each process is limited: 256 MiB in worlds of up to 16 ranks, 64 MiB in worlds of
/// up to 64 ranks, and 8 MiB in larger ones. If no room is left, the elements lie in private memory
/// of the process and are copied like other buffers; [`Memory::is_common`] returns which.
///
/// A child process made by `fork` gets a copy of the elements, as of all other memory. It must not
/// use the world; dropping the world in the child does nothing.
pub struct Memory<T: Element> {
    /// The block in memory that all ranks of the host map; `None` if the elements are a boxed
    /// slice.
    common: Option<shared_heap::SharedHeapBlock>,
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements, as a box does, and those may be used from any thread.
unsafe impl<T: Element> Send for Memory<T> {}
// SAFETY: as above; a shared borrow only reads.
unsafe impl<T: Element> Sync for Memory<T> {}

impl<T: Element> Memory<T> {
    fn new(communicator: &Communicator, len: usize, value: T) -> Memory<T> {
        let bytes = len.checked_mul(size_of::<T>());
        let common = bytes.and_then(|bytes| communicator.common_memory(bytes, align_of::<T>()));
        let Some(common) = common else {
            let whole = vec![value; len].into_boxed_slice();
            let start = NonNull::new(Box::into_raw(whole).cast()).expect("a box is somewhere");
            return Memory { common: None, start, len };
        };
        let start = common.start().cast::<T>();
        for place in 0..len {
            // SAFETY: there is memory for so many elements.
            let at = unsafe { start.add(place) };
            // SAFETY: it is aligned for them, and ours.
            unsafe { at.write(value) };
        }
        Memory { common: Some(common), start, len }
    }

    /// Returns whether all ranks of the host can copy from and to this memory. False if there was
    /// no room, and if ranks are threads, which can copy from and to any memory.
    pub fn is_common(&self) -> bool {
        self.common.is_some()
    }
}

impl<T: Element> Drop for Memory<T> {
    fn drop(&mut self) {
        if self.common.is_none() {
            let whole = ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.len);
            // SAFETY: it came from a box, and nobody else drops it.
            drop(unsafe { Box::from_raw(whole) });
        }
    }
}

impl<T: Element> Deref for Memory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many elements, which this owns; peers copy from here and to here while an
        // operation has it, when it cannot be borrowed.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element> DerefMut for Memory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for a shared borrow.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

// SAFETY: an address and a length, which are the same wherever the value is moved to; what they
// stand for stays as it is until it is dropped.
unsafe impl<T: Element> StableBuffer for Memory<T> {
    type Parts = Memory<T>;

    fn into_raw(self) -> Memory<T> {
        self
    }

    unsafe fn from_raw(parts: Memory<T>) -> Memory<T> {
        // SAFETY: its elements, which nobody uses.
        unsafe { assert_valid::<T>(parts.start.as_ptr().cast(), parts.len) };
        parts
    }
}

// SAFETY: the memory that it owns.
unsafe impl<T: Element> SendBuffer for Memory<T> {
    type Element = T;

    fn span(parts: &Memory<T>) -> RawSlice {
        RawSlice { start: parts.start.as_ptr().cast(), len: parts.len }
    }
}

// SAFETY: nobody else has it.
unsafe impl<T: Element> RecvBuffer for Memory<T> {}

impl Communicator {
    /// Allocates `len` elements with this value, in memory that all ranks of the host map if there
    /// is room: processes copy buffers there in less time. (`MPI_Alloc_mem`, MPI 4.1 §9.2)
    ///
    /// ```
    /// # motet::threads(2, |world| -> motet::Result<()> {
    /// use motet::Info;
    ///
    /// let part = world.allocate(1000, world.rank() as f64);
    /// let whole = world.allocate(world.size() * 1000, 0.0);
    /// let mut gathering = world.allgather_init((part, whole), &Info::new())?;
    /// for _ in 0..3 {
    ///     gathering = gathering.start()?.wait()?;
    /// }
    /// let (_, whole) = gathering.into_buffers();
    /// assert_eq!((whole[0], whole[1999]), (0.0, 1.0));
    /// # Ok(())
    /// # });
    /// ```
    pub fn allocate<T: Element>(&self, len: usize, value: T) -> Memory<T> {
        Memory::new(self, len, value)
    }

    /// Allocates bytes of the memory that all ranks of the host map. `None` if there is no room.
    #[doc(hidden)]
    pub fn common_memory(
        &self,
        bytes: usize,
        alignment: usize,
    ) -> Option<shared_heap::SharedHeapBlock> {
        self.home().core.common_memory(bytes, alignment)
    }
}
