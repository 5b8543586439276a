//! Process heap: the large blocks that a program allocates, in memory that other ranks can map.
//!
//! A program gets its memory from an allocator. [`SharedAllocator`], or the library that `motet run
//! --shared-heap` loads before the program, takes large blocks from the heap of this module, and
//! all others from the system. The heap is a file without a name (memfd) that this process has
//! mapped. Another rank of the host opens the file by `/proc/PID/fd`, maps it, and then copies
//! large messages that lie there as it copies those in a [shared heap](crate::shared_heap): once,
//! by a core. The endpoint offers the heap to its peers (`../README.md`, "Process heaps").
//!
//! The heap is used by the allocator of the process, so it never allocates a large block itself,
//! and a thread that is inside the heap gets all memory from the system.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod global;
mod heap_file;
mod installed;
mod lock;
mod mapping;

use std::cell::UnsafeCell;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use global::SharedAllocator;
use heap_file::HeapFile;
pub use installed::{DESCRIPTION_SYMBOL, installed};
use lock::{ForkLock, LockGuard};
pub use mapping::HeapDescription;
pub(crate) use mapping::HeapMapping;

use crate::forking;

/// Shorter blocks are taken from the system: no message in them is so long that it would be copied
/// from a heap.
pub const BLOCK_MIN_BYTES: usize = 16 << 10;

/// A block that is longer than this goes back to the system when the program frees it; shorter ones
/// are kept for the next allocation, as to get pages again takes some time.
const KEPT_MAX_BYTES: usize = 32 << 20;

/// The heap of a process. One that nobody has allocated from costs nothing.
pub struct ProcessHeap {
    /// Whether the handlers of `fork` know the heap.
    is_guarded: AtomicBool,
    /// The addresses of the heap, once it is mapped. Until then no address is between them,
    /// whichever of the two a thread sees first.
    start: AtomicUsize,
    end: AtomicUsize,
    lock: ForkLock,
    state: UnsafeCell<State>,
}

/// The state that the lock protects.
enum State {
    /// Nobody has asked for a block.
    Unused,
    /// The system has refused the heap, or this process is a child made by `fork`, which has copies
    /// of the blocks but must not allocate in what it shares with its parent.
    Closed(Option<HeapFile>),
    Open(HeapFile),
}

// SAFETY: `state` is only accessed by the thread that holds `lock`.
unsafe impl Sync for ProcessHeap {}

impl ProcessHeap {
    /// A heap that is mapped when the first block is allocated.
    #[must_use]
    pub const fn new() -> ProcessHeap {
        ProcessHeap {
            is_guarded: AtomicBool::new(false),
            start: AtomicUsize::new(usize::MAX),
            end: AtomicUsize::new(0),
            lock: ForkLock::new(),
            state: UnsafeCell::new(State::Unused),
        }
    }

    /// Whether an address lies in the heap: then [`ProcessHeap::free`] frees the block.
    #[inline]
    pub fn contains(&self, address: *const u8) -> bool {
        let address = address.addr();
        address >= self.start.load(Ordering::Relaxed) && address < self.end.load(Ordering::Relaxed)
    }

    /// To be called before each allocation of the process, large or small: the first call registers
    /// the heap with the handlers of `fork`. Handlers that are registered first run last before a
    /// fork, and first in the child. So no handler of the program runs while the heap is held, and
    /// none before the memory of a child is private.
    #[inline]
    pub fn guard(&'static self) {
        if !self.is_guarded.load(Ordering::Relaxed) {
            self.guard_now();
        }
    }

    #[cold]
    fn guard_now(&'static self) {
        if self.is_guarded.swap(true, Ordering::Relaxed) {
            return; // Another thread registers it, or this one, which allocates meanwhile.
        }
        let guard: Arc<dyn forking::Heap> = Arc::new(ForkGuard(self));
        // Kept for as long as the process, as the heap is.
        let guard = Box::leak(Box::new(guard));
        forking::copy_in_children(Arc::downgrade(guard));
    }

    /// Allocates a block of so many bytes at a multiple of `alignment`, a power of two. Its bytes
    /// are 0 if `zeroed` says so, else any. `None` if the heap has no room or cannot be made, or if
    /// this thread is in the heap already: then the system has to serve the request.
    pub fn allocate(
        &'static self,
        bytes: usize,
        alignment: usize,
        zeroed: bool,
    ) -> Option<NonNull<u8>> {
        self.guard();
        let mut state = self.enter()?;
        if let State::Unused = *state {
            *state = self.open();
        }
        let State::Open(file) = &mut *state else { return None };
        let block = file.allocate(bytes, alignment)?;
        drop(state);
        if zeroed && block.has_former_bytes {
            // SAFETY: a block of this length, which nobody else has.
            unsafe { block.start.write_bytes(0, bytes) };
        }
        Some(block.start)
    }

    /// The bytes of the block that begins at this address; 0 if none does.
    pub fn block_bytes(&self, start: NonNull<u8>) -> usize {
        self.with_file(|file| file.bytes_at(start)).unwrap_or(0)
    }

    /// Gives the block at this address another length, where it is. `false` if there is no room
    /// behind it.
    pub fn resize(&self, start: NonNull<u8>, bytes: usize) -> bool {
        let resized = match self.enter().as_deref_mut() {
            Some(State::Open(file)) => file.resize(start, bytes),
            _ => None,
        };
        resized.is_some()
    }

    /// Frees the block that begins at this address. In a child made by `fork` this does nothing.
    ///
    /// # Safety
    /// Nobody uses the block any more.
    pub unsafe fn free(&self, start: NonNull<u8>) {
        let bytes = self.block_bytes(start);
        if bytes > KEPT_MAX_BYTES && !self.is_closed() {
            // While the block is not free: nobody else has got it yet.
            heap_file::forget(start.as_ptr(), bytes);
        }
        if let Some(State::Open(file)) = self.enter().as_deref_mut() {
            file.free(start);
        }
    }

    fn is_closed(&self) -> bool {
        self.enter().is_none_or(|state| matches!(*state, State::Closed(_)))
    }

    /// How other ranks find the heap, which is made if it is not there. `None` if it is closed.
    pub fn description(&'static self) -> Option<HeapDescription> {
        self.guard();
        let mut state = self.enter()?;
        if let State::Unused = *state {
            *state = self.open();
        }
        match &*state {
            State::Open(file) => file.description(),
            State::Unused | State::Closed(_) => None,
        }
    }

    fn open(&self) -> State {
        let Some(file) = HeapFile::map() else { return State::Closed(None) };
        let Range { start, end } = file.addresses();
        self.start.store(start, Ordering::Relaxed);
        self.end.store(end, Ordering::Relaxed);
        State::Open(file)
    }

    fn with_file<T>(&self, read: impl FnOnce(&HeapFile) -> T) -> Option<T> {
        let held = self.enter();
        let state: &State = match &held {
            Some(state) => state,
            // SAFETY: this thread has the lock, and none of its accesses is under way: while the
            // state is changed no code of the program runs, which might ask for a block.
            None => unsafe { &*self.state.get() },
        };
        match state {
            State::Open(file) | State::Closed(Some(file)) => Some(read(file)),
            State::Unused | State::Closed(None) => None,
        }
    }

    /// Takes the lock. `None` if this thread has it.
    fn enter(&self) -> Option<LockGuard<'_, State>> {
        // SAFETY: all accesses to the state go through this guard, or happen during a fork, when
        // the forking thread has the lock.
        self.lock.enter(|| unsafe { &mut *self.state.get() })
    }
}

impl Default for ProcessHeap {
    fn default() -> ProcessHeap {
        ProcessHeap::new()
    }
}

impl std::fmt::Debug for ProcessHeap {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [start, end] = [&self.start, &self.end].map(|at| at.load(Ordering::Relaxed));
        write!(out, "ProcessHeap({start:#x}..{end:#x})")
    }
}

/// A number of this thread, not 0.
fn thread_id() -> usize {
    // SAFETY: it has no demands.
    unsafe { libc::pthread_self() as usize }
}

/// A heap, as the handlers of `fork` see it.
struct ForkGuard(&'static ProcessHeap);

impl ForkGuard {
    /// The state, during a fork.
    #[expect(clippy::mut_from_ref, reason = "the handlers of `fork` use it one after the other")]
    fn state(&self) -> &mut State {
        // SAFETY: `hold` has taken the lock for this thread; in a child it is the only thread.
        unsafe { &mut *self.0.state.get() }
    }
}

impl forking::Heap for ForkGuard {
    fn hold(&self) {
        self.0.lock.hold();
    }

    /// None: the heap copies itself.
    fn pages_in_use(&self, _page: usize) -> Vec<Range<usize>> {
        Vec::new()
    }

    fn copies_itself(&self) -> bool {
        matches!(self.state(), State::Open(file) if file.is_in_use())
    }

    fn copy_in_child(&self) {
        let state = self.state();
        *state = match std::mem::replace(state, State::Unused) {
            State::Open(mut file) => {
                if file.make_private().is_none() {
                    forking::end_child();
                }
                State::Closed(Some(file))
            }
            // In a child of a child all is private already.
            other => other,
        };
    }

    fn release(&self) {
        self.0.lock.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap() -> &'static ProcessHeap {
        Box::leak(Box::new(ProcessHeap::new()))
    }

    fn bytes(start: NonNull<u8>, bytes: usize) -> &'static mut [u8] {
        // SAFETY: the tests use each block once at a time.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), bytes) }
    }

    #[test]
    fn blocks_are_apart_and_zeroed_on_request() {
        let heap = heap();
        assert!(!heap.contains([0_u8].as_ptr()), "it is not there yet");
        let first = heap.allocate(100_000, 64, true).unwrap();
        let second = heap.allocate(50_000, 4096, false).unwrap();
        assert!(second.addr().get().is_multiple_of(4096));
        assert!(heap.contains(first.as_ptr()) && heap.contains(second.as_ptr()));
        assert!(heap.block_bytes(first) >= 100_000 && heap.block_bytes(second) >= 50_000);
        assert!(bytes(first, 100_000).iter().all(|&byte| byte == 0));
        bytes(first, 100_000).fill(1);
        bytes(second, 50_000).fill(2);
        assert!(bytes(first, 100_000).iter().all(|&byte| byte == 1));
        // SAFETY: nobody uses it any more.
        unsafe { heap.free(first) };
        let third = heap.allocate(80_000, 1, true).unwrap();
        assert_eq!(third, first, "the first part that is long enough");
        assert!(bytes(third, 80_000).iter().all(|&byte| byte == 0), "though it was used");
        assert!(!heap.resize(third, 200_000), "the second block is there");
        assert!(heap.resize(second, 200_000) && heap.block_bytes(second) >= 200_000);
        assert!(bytes(second, 50_000).iter().all(|&byte| byte == 2));
    }

    #[test]
    fn a_long_block_goes_back_to_the_system_and_no_block_is_too_long_to_be_refused() {
        let heap = heap();
        let length = KEPT_MAX_BYTES + 1;
        let block = heap.allocate(length, 64, false).unwrap();
        bytes(block, length)[length / 2] = 1;
        // SAFETY: nobody uses it any more.
        unsafe { heap.free(block) };
        let block = heap.allocate(length, 64, false).unwrap();
        assert_eq!(bytes(block, length)[length / 2], 0);
        bytes(block, length)[length / 2] = 2;
        for too_long in [usize::MAX, usize::MAX - 100, usize::MAX / 2] {
            assert!(!heap.resize(block, too_long));
            assert_eq!(bytes(block, length)[length / 2], 2, "it stays as it was");
        }
        for too_long in [usize::MAX, usize::MAX / 2, heap.description().unwrap().bytes + 1] {
            assert_eq!(heap.allocate(too_long, 64, false), None);
        }
    }

    #[test]
    fn a_block_that_becomes_much_shorter_gives_its_memory_back() {
        let heap = heap();
        let block = heap.allocate(2 * KEPT_MAX_BYTES, 4096, false).unwrap();
        bytes(block, 2 * KEPT_MAX_BYTES).fill(1);
        let used = || heap.with_file(HeapFile::used_bytes).unwrap();
        assert!(used() >= 2 * KEPT_MAX_BYTES as u64);
        assert!(heap.resize(block, 100_000));
        assert!(used() < 1 << 20, "{} bytes", used());
        assert!(bytes(block, 100_000).iter().all(|&byte| byte == 1));
    }

    #[test]
    fn a_child_has_copies_and_allocates_elsewhere() {
        let heap = heap();
        let block = heap.allocate(100_000, 64, true).unwrap();
        bytes(block, 100_000)[7] = 1;
        let file = heap.description().unwrap().file;
        // SAFETY: the child makes calls of the system only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: it takes no pointers. A child that lives on does not keep the memory.
            let has_no_file = unsafe { libc::fcntl(file, libc::F_GETFD) } == -1;
            let seen = bytes(block, 100_000)[7];
            bytes(block, 100_000)[7] = 2;
            let is_closed = has_no_file
                && heap.allocate(100_000, 64, false).is_none()
                && heap.description().is_none()
                && heap.block_bytes(block) >= 100_000;
            // SAFETY: ends the child without its handlers.
            unsafe { libc::_exit(if seen == 1 && is_closed { 0 } else { 1 }) };
        }
        let mut status = 1;
        // SAFETY: waits for the child of this test.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((status, bytes(block, 100_000)[7]), (0, 1));
        assert!(heap.allocate(100_000, 64, false).is_some(), "the parent goes on");
    }

    /// A heap that nobody has used before the fork is the child's own.
    #[test]
    fn a_child_of_a_child_has_copies_as_well() {
        let (heap, unused) = (heap(), heap());
        unused.guard();
        let block = heap.allocate(100_000, 64, true).unwrap();
        bytes(block, 100_000)[7] = 1;
        let is_right = move |value: u8| {
            let seen = bytes(block, 100_000)[7];
            bytes(block, 100_000)[7] = value;
            seen == value - 1
                && heap.block_bytes(block) >= 100_000
                && heap.contains(block.as_ptr())
                && heap.allocate(100_000, 64, false).is_none()
                && unused.allocate(100_000, 64, false).is_some() == (value == 2)
        };
        // SAFETY: the child makes calls of the system only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut status = 0;
            let own = is_right(2);
            // SAFETY: as above.
            let grandchild = unsafe { libc::fork() };
            if grandchild == 0 {
                // SAFETY: ends the grandchild without its handlers.
                unsafe { libc::_exit(if is_right(3) { 0 } else { 1 }) };
            }
            // SAFETY: waits for the grandchild of this test.
            unsafe { libc::waitpid(grandchild, &raw mut status, 0) };
            let is_all_right = own && status == 0 && bytes(block, 100_000)[7] == 2;
            // SAFETY: as above.
            unsafe { libc::_exit(if is_all_right { 0 } else { 1 }) };
        }
        let mut status = 1;
        // SAFETY: waits for the child of this test.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!((status, bytes(block, 100_000)[7]), (0, 1));
    }

    #[test]
    fn a_fork_takes_no_memory_for_what_was_never_written() {
        let heap = heap();
        const LENGTH: usize = 64 << 20;
        let block = heap.allocate(LENGTH, 4096, true).unwrap();
        bytes(block, LENGTH)[LENGTH / 2] = 1;
        let used = || match heap.with_file(HeapFile::used_bytes) {
            Some(bytes) => bytes,
            None => unreachable!("it is open"),
        };
        let before = used();
        // SAFETY: the child makes calls of the system only, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_right = bytes(block, LENGTH)[LENGTH / 2] == 1 && bytes(block, LENGTH)[0] == 0;
            // SAFETY: ends the child without its handlers.
            unsafe { libc::_exit(if is_right { 0 } else { 1 }) };
        }
        let mut status = 1;
        // SAFETY: waits for the child of this test.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        assert!(used() <= before && before < 4 << 20, "{before} bytes before, {} after", used());
    }

    #[test]
    fn threads_allocate_at_once() {
        let heap = heap();
        let allocate = |thread: usize| {
            for turn in 0..200 {
                let length = BLOCK_MIN_BYTES + 1000 * ((thread + turn) % 50);
                let block = heap.allocate(length, 64, turn % 2 == 0).unwrap();
                bytes(block, length).fill(thread as u8);
                assert!(bytes(block, length).iter().all(|&byte| byte == thread as u8));
                // SAFETY: nobody uses it any more.
                unsafe { heap.free(block) };
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|thread| drop(scope.spawn(move || allocate(thread))));
        });
        let all = heap.description().unwrap().bytes;
        assert!(heap.allocate(all, 64, false).is_some(), "all has come back, in one part");
    }
}
