//! The file of a process heap, mapped, and which parts of it are allocated.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap};
use rustix::process::Resource;

use super::HeapDescription;
use crate::free_list::FreeList;
use crate::host::page_bytes;
use crate::layout::PAGE;
use crate::limits::limit_of;

/// The first descriptor of the file: programs and shells count on small ones.
const DESCRIPTOR_MIN: i32 = 200;

/// The file of a heap, mapped, and which parts of it are blocks.
pub(super) struct HeapFile {
    file: OwnedFd,
    base: NonNull<u8>,
    bytes: usize,
    inode: u64,
    free: FreeList,
    /// The ends of blocks by their starts, as offsets.
    used: BTreeMap<usize, usize>,
    /// Nothing behind this offset has ever been in a block, so it is 0.
    touched: usize,
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
        let base = NonNull::new(base.cast::<u8>())?;
        let free = FreeList::new(base.addr().get(), 0..bytes);
        Some(HeapFile { file, base, bytes, inode, free, used: BTreeMap::new(), touched: 0 })
    }

    /// The addresses of the heap.
    pub(super) fn addresses(&self) -> Range<usize> {
        let base = self.base.expose_provenance().get();
        base..base + self.bytes
    }

    pub(super) fn description(&self) -> HeapDescription {
        HeapDescription {
            version: HeapDescription::VERSION,
            file: self.file.as_raw_fd(),
            inode: self.inode,
            start: self.base.addr().get(),
            bytes: self.bytes,
        }
    }

    pub(super) fn allocate(&mut self, bytes: usize, alignment: usize) -> Option<Allocated> {
        let part = self.free.take(bytes, alignment)?;
        let has_former_bytes = part.start < self.touched;
        self.touched = self.touched.max(part.end);
        self.used.insert(part.start, part.end);
        // SAFETY: an offset in the mapping.
        let start = unsafe { self.base.add(part.start) };
        Some(Allocated { start, has_former_bytes })
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
        self.touched = self.touched.max(end);
        self.used.insert(offset, end);
        Some(())
    }

    pub(super) fn free(&mut self, start: NonNull<u8>) {
        let offset = self.offset(start);
        if let Some(end) = self.used.remove(&offset) {
            self.free.give_back(offset..end);
        }
    }

    /// Gives the whole pages of a block back to the system.
    pub(super) fn forget(&self, start: NonNull<u8>, bytes: usize) {
        let page = page_bytes();
        let skipped = start.addr().get().next_multiple_of(page) - start.addr().get();
        let whole = bytes.saturating_sub(skipped) / page * page;
        let at = start.as_ptr().wrapping_add(skipped).cast::<c_void>();
        // SAFETY: pages inside a block that its program has freed. A hint: pages that the system
        // keeps do not change.
        let _ = unsafe { madvise(at, whole, Advice::LinuxRemove) };
    }

    pub(super) fn pages_in_use(&self, page: usize) -> Vec<Range<usize>> {
        let base = self.addresses().start;
        let pages = self.free.pages_in_use(&(0..self.bytes), page);
        pages.into_iter().map(|part| base + part.start..base + part.end).collect()
    }
}
