//! The file of a process heap, mapped, and which parts of it are allocated.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;

use rustix::fs::{
    MemfdFlags, SealFlags, SeekFrom, fcntl_add_seals, fstat, ftruncate, memfd_create, seek,
};
use rustix::io::{Errno, fcntl_dupfd_cloexec, pread};
use rustix::mm::{
    Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap, mmap_anonymous, mremap_fixed,
};
use rustix::process::Resource;

use super::{HeapDescription, KEPT_MAX_BYTES};
use crate::free_list::FreeList;
use crate::host::page_bytes;
use crate::layout::PAGE;
use crate::limits::limit_of;

/// The first descriptor of the file: programs and shells count on small ones.
const DESCRIPTOR_MIN: i32 = 200;

/// A core dump gets so much more of the heap at a time.
const DUMP_STEP_BYTES: usize = 256 << 20;

/// The file of a heap, mapped, and which parts of it are blocks.
pub(super) struct HeapFile {
    /// `None` in a child that has its own copy: a child that lives on must not keep the memory of
    /// its parent.
    file: Option<OwnedFd>,
    base: NonNull<u8>,
    bytes: usize,
    inode: u64,
    free: FreeList,
    /// The ends of blocks by their starts, as offsets.
    used: BTreeMap<usize, usize>,
    /// Nothing behind this offset has ever been in a block, so it is 0.
    touched: usize,
    /// A core dump has what lies before this offset. It would read, and so allocate, all pages.
    dumped: usize,
}

// SAFETY: the base is the address of a mapping that stays as long as the process.
unsafe impl Send for HeapFile {}

/// A new block.
pub(super) struct Allocated {
    pub(super) start: NonNull<u8>,
    /// Whether a part of it may have been in another block.
    pub(super) has_former_bytes: bool,
}

impl HeapFile {
    /// Makes the file, as long as the memory of the machine, and maps it. Its pages take memory
    /// when they are first written. `None` if the system refuses, or limits the address space or
    /// the length of files.
    pub(super) fn map() -> Option<HeapFile> {
        let limits = [Resource::As, Resource::Fsize].map(|limit| limit_of(limit).current);
        let bytes = (rustix::system::sysinfo().totalram as usize).next_multiple_of(PAGE);
        if limits.into_iter().any(|limit| limit.is_some()) || bytes == 0 {
            return None;
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("motet-heap", flags).ok()?;
        let file = fcntl_dupfd_cloexec(&file, DESCRIPTOR_MIN).unwrap_or(file);
        ftruncate(&file, bytes as u64).ok()?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).ok()?;
        let inode = fstat(&file).ok()?.st_ino;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: a fresh mapping at an address the kernel chooses overlaps nothing; the file is
        // sealed against shrinking.
        let base = unsafe { mmap(ptr::null_mut(), bytes, protection, flags, &file, 0) }.ok()?;
        // SAFETY: the mapping, whose bytes stay as they are. A hint: where the system has no huge
        // pages for shared memory, the heap has small ones.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxHugepage) };
        // SAFETY: as above.
        let _ = unsafe { madvise(base, bytes, Advice::LinuxDontDump) };
        let base = NonNull::new(base.cast::<u8>())?;
        let free = FreeList::new(base.addr().get(), 0..bytes);
        Some(HeapFile {
            file: Some(file),
            base,
            bytes,
            inode,
            free,
            used: BTreeMap::new(),
            touched: 0,
            dumped: 0,
        })
    }

    /// The addresses of the heap.
    pub(super) fn addresses(&self) -> Range<usize> {
        let base = self.base.expose_provenance().get();
        base..base + self.bytes
    }

    /// How other processes find the heap; `None` in a child that has its own copy.
    pub(super) fn description(&self) -> Option<HeapDescription> {
        Some(HeapDescription {
            version: HeapDescription::VERSION,
            file: self.file.as_ref()?.as_raw_fd(),
            inode: self.inode,
            start: self.base.addr().get(),
            bytes: self.bytes,
        })
    }

    pub(super) fn allocate(&mut self, bytes: usize, alignment: usize) -> Option<Allocated> {
        let part = self.free.take(bytes, alignment)?;
        let has_former_bytes = part.start < self.touched;
        self.touch(part.end);
        self.used.insert(part.start, part.end);
        // SAFETY: an offset in the mapping.
        let start = unsafe { self.base.add(part.start) };
        Some(Allocated { start, has_former_bytes })
    }

    /// A block ends at this offset.
    fn touch(&mut self, end: usize) {
        self.touched = self.touched.max(end);
        if self.touched > self.dumped {
            let from = self.dumped;
            self.dumped = end.next_multiple_of(DUMP_STEP_BYTES).min(self.bytes);
            let at = self.base.as_ptr().wrapping_add(from).cast::<c_void>();
            // SAFETY: a part of the mapping, whose bytes stay as they are.
            let _ = unsafe { madvise(at, self.dumped - from, Advice::LinuxDoDump) };
        }
    }

    fn offset(&self, start: NonNull<u8>) -> usize {
        start.addr().get().wrapping_sub(self.base.addr().get())
    }

    pub(super) fn bytes_at(&self, start: NonNull<u8>) -> usize {
        let offset = self.offset(start);
        self.used.get(&offset).map_or(0, |end| end - offset)
    }

    /// Gives a block another length. `None` if there is no room behind it, or no such block.
    pub(super) fn resize(&mut self, start: NonNull<u8>, bytes: usize) -> Option<()> {
        let offset = self.offset(start);
        let former = *self.used.get(&offset)?;
        let end = self.free.resize(offset..former, bytes)?;
        if former.saturating_sub(end) > KEPT_MAX_BYTES {
            // It is free, but the lock is held: nobody else gets it before this.
            forget(self.base.as_ptr().wrapping_add(end), former - end);
        }
        self.touch(end);
        self.used.insert(offset, end);
        Some(())
    }

    pub(super) fn free(&mut self, start: NonNull<u8>) {
        let offset = self.offset(start);
        if let Some(end) = self.used.remove(&offset) {
            self.free.give_back(offset..end);
        }
    }

    /// The memory that the file takes.
    #[cfg(test)]
    pub(super) fn used_bytes(&self) -> u64 {
        let facts = self.file.as_ref().and_then(|file| fstat(file).ok());
        facts.map_or(u64::MAX, |facts| facts.st_blocks as u64 * 512)
    }

    /// Whether there is a block.
    pub(super) fn is_in_use(&self) -> bool {
        !self.used.is_empty()
    }

    /// Replaces the mapping by private memory with the bytes of all blocks, in a child made by
    /// `fork`. `None` if the system refuses; then some of the mapping may still be shared.
    pub(super) fn make_private(&mut self) -> Option<()> {
        let file = self.file.take()?;
        let (protection, none) = (ProtFlags::READ | ProtFlags::WRITE, ProtFlags::empty());
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let base = self.base.as_ptr().cast::<c_void>();
        let length = self.touched.next_multiple_of(page_bytes());
        if length < self.bytes {
            let (rest, flags) = (base.wrapping_byte_add(length), flags | MapFlags::FIXED);
            // SAFETY: over the part of the heap in which nothing is; nobody reads it.
            unsafe { mmap_anonymous(rest, self.bytes - length, none, flags) }.ok()?;
        }
        if length == 0 {
            return Some(());
        }
        // SAFETY: a fresh mapping at an address the kernel chooses overlaps nothing.
        let copy = unsafe { mmap_anonymous(ptr::null_mut(), length, protection, flags) }.ok()?;
        // Not from the mapping, of which a program may have kept parts out of its children.
        read_into(&file, copy.cast(), length)?;
        let to = MremapFlags::MAYMOVE;
        // SAFETY: over the heap, which has the same bytes afterwards; no other thread is here.
        unsafe { mremap_fixed(copy, length, length, to, base) }.ok()?;
        Some(())
    }
}

/// Reads the first bytes of the file, up to `length`, except for holes: those stay 0, and take
/// no memory.
fn read_into(file: &OwnedFd, copy: *mut u8, length: usize) -> Option<()> {
    let mut at = 0;
    while at < length {
        let data = match seek(file, SeekFrom::Data(at as u64)) {
            Ok(data) => data as usize,
            Err(Errno::NXIO) => return Some(()), // Only a hole is left.
            Err(_) => return None,
        };
        let hole = seek(file, SeekFrom::Hole(data as u64)).ok()? as usize;
        at = data;
        while at < hole.min(length) {
            let bytes = hole.min(length) - at;
            // SAFETY: so much of the copy, which nobody else uses.
            let into = unsafe { slice::from_raw_parts_mut(copy.wrapping_add(at), bytes) };
            match pread(file, into, at as u64) {
                Ok(0) => return None,
                Ok(read) => at += read,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        at = at.max(hole);
    }
    Some(())
}

/// Gives the whole pages of a block, which its program has freed, back to the system.
pub(super) fn forget(start: *mut u8, bytes: usize) {
    let page = page_bytes();
    let skipped = start.addr().next_multiple_of(page) - start.addr();
    let whole = bytes.saturating_sub(skipped) / page * page;
    let at = start.wrapping_add(skipped).cast::<c_void>();
    // SAFETY: pages inside a block that nobody uses any more. A hint: pages that the system keeps
    // do not change.
    let _ = unsafe { madvise(at, whole, Advice::LinuxRemove) };
}
