//! The mapping of another process's heap.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::path::PathBuf;
use std::ptr::{self, NonNull};

use rustix::fs::{Mode, OFlags, SealFlags, fcntl_get_seals, fstat, open, stat};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::Region;

/// How other processes find the heap of a process. The library that the launcher loads before a
/// program hands this out to the library that the program uses, so its form has a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct HeapDescription {
    /// The version of this form.
    pub version: u32,
    /// The descriptor of the file in its process.
    pub file: i32,
    /// The number of the file, by which others make sure that the descriptor still means it.
    pub inode: u64,
    /// The address of the heap in its process.
    pub start: usize,
    /// The length of the heap.
    pub bytes: usize,
}

impl HeapDescription {
    /// The version of the form that this library knows.
    pub const VERSION: u32 = 1;

    /// Where memory of the process lies in the heap, if it lies there as a whole.
    #[inline]
    pub(crate) fn offset_of(&self, memory: Region) -> Option<usize> {
        let offset = memory.start().addr().wrapping_sub(self.start);
        (offset < self.bytes && memory.bytes() <= self.bytes - offset).then_some(offset)
    }
}

/// The heap of another process, mapped here until this is dropped.
#[derive(Debug)]
pub(crate) struct HeapMapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: plain memory that stays mapped until drop.
unsafe impl Send for HeapMapping {}
// SAFETY: as above; it only gives out addresses.
unsafe impl Sync for HeapMapping {}

impl HeapMapping {
    /// Maps the heap of a process. `None` if this process may not open the file, if the file is
    /// another one (processes that do not see each other's numbers, or a program that has closed
    /// all descriptors), or if there is no room in the address space.
    pub(crate) fn open(process: u32, file: i32, inode: u64, bytes: usize) -> Option<HeapMapping> {
        let path = PathBuf::from(format!("/proc/{process}/fd/{file}"));
        // What another descriptor means may not like to be opened.
        if stat(&path).ok()?.st_ino != inode {
            return None;
        }
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = open(&path, flags, Mode::empty()).ok()?;
        let found = fstat(&file).ok()?;
        let is_sealed = fcntl_get_seals(&file).is_ok_and(|it| it.contains(SealFlags::SHRINK));
        if found.st_ino != inode || found.st_size != bytes as i64 || bytes == 0 || !is_sealed {
            return None;
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: a fresh mapping at an address the kernel chooses overlaps nothing; the file is
        // sealed against shrinking, so its pages do not vanish.
        let base = unsafe { mmap(ptr::null_mut(), bytes, protection, flags, &file, 0) }.ok()?;
        // SAFETY: the mapping, whose bytes stay as they are. A core dump of this process is not to
        // have the memory of another one, and would read all of its pages.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxDontDump) };
        let base = NonNull::new(base.cast::<u8>())?;
        Some(HeapMapping { base, bytes })
    }

    /// The length of the mapping.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// So many bytes from an offset on.
    ///
    /// # Panics
    /// If they are not all in the heap.
    pub(crate) fn at(&self, offset: usize, bytes: usize) -> Region {
        let is_inside = offset < self.bytes && bytes <= self.bytes - offset;
        assert!(is_inside, "{bytes} bytes at {offset} are outside the heap");
        Region::new(self.base.as_ptr().wrapping_add(offset), bytes)
    }
}

impl Drop for HeapMapping {
    fn drop(&mut self) {
        // SAFETY: the mapping of `open`, from which nobody reads any more: transfers end before
        // their endpoint.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}
