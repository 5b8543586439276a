//! The shared segment of a world: its mapping, and the words in it that all ranks read.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod endings;
mod room;
mod rounds;

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub use endings::Abort;
pub(crate) use endings::{pack, unpack};
use room::Room;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use crate::doorbell::{self, Doorbell};
use crate::host::page_bytes;
use crate::layout::{LINE, Layout};
use crate::membarrier::FenceScope;
use crate::{Error, Peer, Region, Result, memcheck};

/// The magic number of this version of the layout.
const MAGIC: u64 = 0x6d6f_7465_7400_0001;

/// Offsets in the header page. Each word that ranks write while they run has a cache line of its
/// own. The second line belongs to `endings`.
const MAGIC_AT: usize = 0;
const RANKS_AT: usize = 8;
const CORES_AT: usize = 16;
const COMPANY_AT: usize = 24;
const FAVOURS_CORES_AT: usize = 32;
/// Four bytes of `rounds`.
const REQUESTS_AT: usize = 40;
const SPANS_GROUPS_AT: usize = 48;

/// Offsets in the block of a rank.
const DOORBELL_AT: usize = 0;
const STATE_AT: usize = LINE;
const PROCESS_AT: usize = LINE + 4;
const LEAVING_AT: usize = LINE + 8;
const CORE_AT: usize = LINE + 12;
/// Eight bytes of `endings`.
const DEATH_AT: usize = LINE + 16;
/// Offset of a rank's leases in its block.
pub(crate) const LEASES_AT: usize = 2 * LINE;

/// The state of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The rank has not entered the world yet.
    Absent,
    /// The rank is in the world.
    Present,
    /// The rank has left in good order.
    Left,
}

/// A mapped segment. Dropping it unmaps it.
pub struct SharedSegment {
    base: NonNull<u8>,
    layout: Layout,
    /// Bytes of the segment, as the layout says.
    bytes: usize,
    /// Whether the ranks are processes, each with its own mapping, or threads that share one
    /// mapping.
    among: FenceScope,
    /// Whether membarrier fences of other ranks reach this process.
    is_registered: bool,
}

// SAFETY: the mapping is plain memory that stays where it is until drop; every access to words
// that others write goes through atomics, and payload bytes are handed over by stamps (README).
unsafe impl Send for SharedSegment {}
// SAFETY: as above.
unsafe impl Sync for SharedSegment {}

impl SharedSegment {
    /// Creates a segment for ranks that are threads of this process.
    ///
    /// # Errors
    /// [`Error::Ranks`] for an impossible number; [`Error::Segment`] or [`Error::System`] when
    /// memory is refused.
    pub fn private(ranks: usize) -> Result<SharedSegment> {
        SharedSegment::private_as(Room::of_process().fit(Layout::new(ranks)?.without_heaps())?)
    }

    /// As [`SharedSegment::private`], with this layout.
    ///
    /// # Errors
    /// As [`SharedSegment::private`].
    pub fn private_as(layout: Layout) -> Result<SharedSegment> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address the kernel chooses overlaps nothing.
        let base =
            unsafe { mmap_anonymous(std::ptr::null_mut(), layout.total(), protection, flags) };
        let base = base.map_err(|errno| Error::system("map memory for the ranks", errno))?;
        let segment = SharedSegment::over(base.cast(), layout, FenceScope::Threads);
        segment.stamp(usable_cores());
        Ok(segment)
    }

    /// Creates a segment for ranks that are processes. Also returns the descriptor by which they
    /// map it.
    ///
    /// The memory has no name: the system frees it when the last process has ended.
    ///
    /// # Errors
    /// As [`SharedSegment::private`].
    pub fn shared(ranks: usize) -> Result<(SharedSegment, OwnedFd)> {
        SharedSegment::shared_by(Layout::new(ranks)?, usable_cores())
    }

    /// As [`SharedSegment::shared`], with this layout, or with a smaller form if the system allows
    /// no more. `cores` is the number of cores that the ranks together may use; the process that
    /// creates the segment may use fewer.
    ///
    /// # Errors
    /// As [`SharedSegment::private`].
    pub fn shared_by(layout: Layout, cores: usize) -> Result<(SharedSegment, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("motet", flags)
            .map_err(|errno| Error::system("create the shared segment (memfd_create)", errno))?;
        let layout = Room::of_file().fit(layout)?;
        room::lengthen(file.as_fd(), layout.total() as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW)
            .map_err(|errno| Error::system("seal the shared segment", errno))?;
        let segment = SharedSegment::map(file.as_fd(), layout)?;
        segment.stamp(cores);
        Ok((segment, file))
    }

    /// Maps a segment that a launcher made.
    ///
    /// # Errors
    /// [`Error::Environment`] if the descriptor is not such a segment for this many ranks.
    pub fn attach(file: BorrowedFd<'_>, ranks: usize) -> Result<SharedSegment> {
        SharedSegment::attach_as(file, Layout::new(ranks)?)
    }

    /// As [`SharedSegment::attach`], with this layout.
    ///
    /// # Errors
    /// As [`SharedSegment::attach`].
    pub fn attach_as(file: BorrowedFd<'_>, layout: Layout) -> Result<SharedSegment> {
        let ranks = layout.ranks();
        let found = fstat(file).map_err(|errno| Error::system("look at the segment", errno))?;
        // The launcher may have been allowed less memory than this process.
        let mut forms = layout.forms();
        let Some(layout) = forms.find(|form| form.total() as i64 == found.st_size) else {
            let wanted = layout.total();
            return Err(Error::Environment(format!(
                "the segment has {} bytes instead of the {wanted} for {ranks} ranks: \
                 program and launcher are of different versions",
                found.st_size
            )));
        };
        let segment = SharedSegment::map(file, layout)?;
        let magic = segment.word64(MAGIC_AT).load(Ordering::Acquire);
        let written = segment.word64(RANKS_AT).load(Ordering::Relaxed);
        if magic != MAGIC || written != ranks as u64 {
            return Err(Error::Environment("the segment handed down is not one".into()));
        }
        Ok(segment)
    }

    fn map(file: BorrowedFd<'_>, layout: Layout) -> Result<SharedSegment> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED;
        // SAFETY: a fresh mapping at an address the kernel chooses overlaps nothing; the file is
        // sealed against shrinking, so its pages do not vanish.
        let base =
            unsafe { mmap(std::ptr::null_mut(), layout.total(), protection, flags, file, 0) };
        let base = base.map_err(|errno| Error::system("map the shared segment", errno))?;
        memcheck::detect();
        Ok(SharedSegment::over(base.cast(), layout, FenceScope::Processes))
    }

    fn over(base: *mut u8, layout: Layout, among: FenceScope) -> SharedSegment {
        let base = NonNull::new(base).expect("the kernel maps nothing at address zero");
        let bytes = layout.total();
        SharedSegment { base, layout, bytes, among, is_registered: among.register() }
    }

    fn stamp(&self, cores: usize) {
        self.word64(RANKS_AT).store(self.layout.ranks() as u64, Ordering::Relaxed);
        self.word64(CORES_AT).store(cores as u64, Ordering::Relaxed);
        self.set_local_ranks(self.segment_ranks());
        self.word64(MAGIC_AT).store(MAGIC, Ordering::Release);
    }

    /// The offsets of all parts.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Ranks in the world.
    pub fn ranks(&self) -> usize {
        self.layout.ranks()
    }

    /// Ranks that share the segment: all ranks, unless some are on other hosts.
    pub fn segment_ranks(&self) -> usize {
        self.layout.seats()
    }

    /// Ranks that compete for the same cores: those that share the segment, unless the creator of
    /// the segment knows of others on its host.
    pub fn local_ranks(&self) -> usize {
        self.word64(COMPANY_AT).load(Ordering::Relaxed) as usize
    }

    /// Sets how many ranks compete for the same cores. Called before any rank enters.
    pub(crate) fn set_local_ranks(&self, ranks: usize) {
        self.word64(COMPANY_AT).store(ranks as u64, Ordering::Relaxed);
    }

    /// Whether two copies of a large message by cores are faster than one copy by the kernel.
    pub fn prefers_memcpy(&self) -> bool {
        self.word64(FAVOURS_CORES_AT).load(Ordering::Relaxed) != 0
    }

    /// Sets [`prefers_memcpy`](Self::prefers_memcpy). Called before any rank enters; the default is
    /// `false`.
    pub fn set_prefers_memcpy(&self, favours: bool) {
        self.word64(FAVOURS_CORES_AT).store(favours.into(), Ordering::Relaxed);
    }

    /// Whether the scheduler divides the cores between several scheduling groups of the ranks on
    /// this host, as far as the creator of the segment knows.
    pub fn spans_scheduling_groups(&self) -> bool {
        self.word64(SPANS_GROUPS_AT).load(Ordering::Relaxed) != 0
    }

    /// Sets [`spans_scheduling_groups`](Self::spans_scheduling_groups). Called before any rank
    /// enters; the default is `false`.
    pub(crate) fn set_spans_scheduling_groups(&self, spans: bool) {
        self.word64(SPANS_GROUPS_AT).store(spans.into(), Ordering::Relaxed);
    }

    /// Whether there are more ranks than cores.
    pub fn is_oversubscribed(&self) -> bool {
        self.local_ranks() > self.cores()
    }

    /// Cores that the creator of the segment could use: the one number of cores that is the same
    /// for all ranks, whatever cores each of them may use.
    pub fn cores(&self) -> usize {
        // At least one, whatever a program may have written there.
        self.word64(CORES_AT).load(Ordering::Relaxed).max(1) as usize
    }

    /// Whether the ranks are processes.
    pub fn is_shared(&self) -> bool {
        self.among == FenceScope::Processes
    }

    /// The address of a byte of the segment in this process.
    #[inline]
    pub(crate) fn at(&self, offset: usize) -> NonNull<u8> {
        assert!(offset < self.bytes, "offset {offset} outside the segment");
        // SAFETY: the offset lies inside the mapping.
        unsafe { self.base.add(offset) }
    }

    /// Asks the system for all pages of a part of the segment before it is written. One request
    /// takes less time than one page fault after the other. A hint: a system that does not know the
    /// request, or has no memory left, reports nothing here.
    pub(crate) fn prepare(&self, part: Range<usize>) {
        let page = page_bytes();
        let start = part.start / page * page;
        let end = part.end.next_multiple_of(page).min(self.bytes);
        if start < end {
            let at = self.at(start).as_ptr().cast();
            // SAFETY: the pages lie inside the mapping, and their bytes stay as they are.
            let _ = unsafe { madvise(at, end - start, Advice::LinuxPopulateWrite) };
        }
    }

    /// The offset, in the segment, of memory that lies in the heaps.
    #[inline]
    pub(crate) fn in_heaps(&self, memory: Region) -> Option<usize> {
        let offset = memory.start().addr().wrapping_sub(self.base.addr().get());
        let heaps = self.layout.heaps();
        let is_inside = heaps.contains(&offset) && memory.bytes() <= heaps.end - offset;
        is_inside.then_some(offset)
    }

    /// Gives the whole pages of an unused part of the segment back to the system: they read as zero
    /// at their next use. A hint: pages that the system keeps do not change.
    pub(crate) fn forget(&self, part: Range<usize>) {
        let page = page_bytes();
        let start = part.start.next_multiple_of(page);
        let end = part.end.min(self.bytes) / page * page;
        if start < end {
            let at = self.at(start).as_ptr().cast();
            // SAFETY: the pages lie inside the mapping, and nobody has anything in them.
            let _ = unsafe { madvise(at, end - start, Advice::LinuxRemove) };
        }
    }

    /// A word of 64 bits in the segment, as an atomic.
    #[inline]
    pub(crate) fn word64(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8), "misaligned word at {offset}");
        // SAFETY: inside the mapping (`at` checks; a word never crosses a page), aligned, zero or
        // a former value of such a word, alive as long as `self`, and only used as an atomic.
        unsafe { self.at(offset).cast::<AtomicU64>().as_ref() }
    }

    /// A word of 32 bits in the segment, as an atomic.
    #[inline]
    pub(crate) fn word32(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4), "misaligned word at {offset}");
        // SAFETY: as for `word64`.
        unsafe { self.at(offset).cast::<AtomicU32>().as_ref() }
    }

    /// The doorbell of a rank.
    #[inline]
    pub fn doorbell(&self, rank: Peer) -> Doorbell<'_> {
        let at = self.layout.rank_block(rank.index()) + DOORBELL_AT;
        // SAFETY: as for `word64`: these are two words of 32 bits, side by side in one line.
        let words = unsafe { self.at(at).cast::<doorbell::Words>().as_ref() };
        Doorbell::new(words, self.among, self.is_registered)
    }

    /// Rings the doorbells of all ranks, so that each sleeping rank checks its condition again.
    pub fn ring_all(&self) {
        for rank in 0..self.ranks() {
            self.doorbell(Peer(rank as u32)).ring();
        }
    }

    /// The state of a rank.
    pub fn state(&self, rank: Peer) -> State {
        let word = self.word32(self.layout.rank_block(rank.index()) + STATE_AT);
        match word.load(Ordering::Acquire) {
            0 => State::Absent,
            1 => State::Present,
            _ => State::Left,
        }
    }

    /// This rank enters the world, as this process.
    pub fn enter(&self, rank: Peer, process: u32) {
        // Ranks that share cores sleep so often that the fence of each sleep would cost too much.
        if self.is_registered && !self.is_oversubscribed() {
            self.doorbell(rank).let_sleepers_fence();
        }
        let block = self.layout.rank_block(rank.index());
        self.word32(block + PROCESS_AT).store(process, Ordering::Relaxed);
        self.word32(block + STATE_AT).store(1, Ordering::Release);
    }

    /// This rank will start no new operation; it only finishes what other ranks may wait for.
    pub fn begin_leaving(&self, rank: Peer) {
        self.note_leaving(rank);
        self.ring_all();
    }

    /// Records that a rank has begun to leave.
    pub(crate) fn note_leaving(&self, rank: Peer) {
        let block = self.layout.rank_block(rank.index());
        self.word32(block + LEAVING_AT).store(1, Ordering::Release);
    }

    /// Whether a rank will start no new operation.
    pub fn is_leaving(&self, rank: Peer) -> bool {
        let block = self.layout.rank_block(rank.index());
        self.word32(block + LEAVING_AT).load(Ordering::Acquire) == 1
    }

    /// This rank leaves the world in good order. Wakes all ranks that may wait for it.
    pub fn leave(&self, rank: Peer) {
        self.note_left(rank);
        self.ring_all();
    }

    /// Records that a rank has left.
    pub(crate) fn note_left(&self, rank: Peer) {
        self.note_leaving(rank);
        let block = self.layout.rank_block(rank.index());
        self.word32(block + STATE_AT).store(2, Ordering::Release);
    }

    /// The process identifier of a rank that has entered.
    pub fn process(&self, rank: Peer) -> u32 {
        let block = self.layout.rank_block(rank.index());
        self.word32(block + PROCESS_AT).load(Ordering::Relaxed)
    }

    /// Records the core on which a rank has found itself.
    pub(crate) fn note_core(&self, rank: Peer, core: usize) {
        let word = self.core_of(rank);
        if word.load(Ordering::Relaxed) != core as u32 + 1 {
            word.store(core as u32 + 1, Ordering::Relaxed);
        }
    }

    /// How many ranks recorded this core when they last looked.
    pub(crate) fn ranks_on(&self, core: usize) -> usize {
        let noted = (0..self.ranks() as u32).map(|rank| self.core_of(Peer(rank)));
        noted.filter(|noted| noted.load(Ordering::Relaxed) == core as u32 + 1).count()
    }

    /// The number of the core plus one; zero means unknown.
    fn core_of(&self, rank: Peer) -> &AtomicU32 {
        self.word32(self.layout.rank_block(rank.index()) + CORE_AT)
    }
}

impl Drop for SharedSegment {
    fn drop(&mut self) {
        let (base, bytes) = (self.base.as_ptr(), self.bytes);
        // SAFETY: this mapping was made by us with this length; nothing borrows from it any more.
        let unmapped = unsafe { munmap(base.cast(), bytes) };
        debug_assert!(unmapped.is_ok(), "our own mapping can be unmapped");
    }
}

impl std::fmt::Debug for SharedSegment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_shared() { "processes" } else { "threads" };
        write!(out, "SharedSegment({} ranks as {kind})", self.ranks())
    }
}

fn usable_cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doorbell::FENCED;

    #[test]
    fn pages_that_are_asked_for_keep_their_bytes() {
        let segment = SharedSegment::private(1).unwrap();
        let arena = segment.layout().arena(0);
        segment.word32(arena + 8).store(7, Ordering::Relaxed);
        segment.prepare(arena + 8..arena + 5 * page_bytes());
        segment.prepare(arena..arena);
        segment.prepare(segment.layout().total() - 1..segment.layout().total());
        assert_eq!(segment.word32(arena + 8).load(Ordering::Relaxed), 7);
        assert_eq!(segment.word32(arena + 4 * page_bytes()).load(Ordering::Relaxed), 0);
    }

    #[test]
    fn attach_checks_what_it_gets() {
        let (segment, file) = SharedSegment::shared(2).unwrap();
        segment.enter(Peer(1), 77);
        let other = SharedSegment::attach(file.as_fd(), 2).unwrap();
        assert_eq!((other.state(Peer(1)), other.process(Peer(1))), (State::Present, 77));
        assert!(matches!(SharedSegment::attach(file.as_fd(), 3), Err(Error::Environment(_))));
    }

    #[test]
    fn sleepers_fence_where_each_rank_has_a_core() {
        let cores = std::thread::available_parallelism().unwrap().get();
        for (ranks, fits) in [(1, true), (cores, true), (cores + 1, false)] {
            let segment = SharedSegment::private(ranks).unwrap();
            let word = segment.word32(segment.layout().rank_block(0) + DOORBELL_AT);
            segment.enter(Peer(0), 1);
            let fence = word.load(Ordering::Relaxed) == FENCED;
            assert_eq!(fence, fits && segment.is_registered, "{ranks} ranks");
        }
    }
}
