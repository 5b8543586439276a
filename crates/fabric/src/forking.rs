//! Fork safety: a child made by `fork` gets private copies of the shared heaps.
//!
//! A child has a copy of the memory of its process, but what is mapped shared stays shared. The
//! heaps of a rank ([`crate::shared_heap`]) are mapped so, and hold what the program has allocated:
//! a child that writes there would change the memory of the rank. So a child replaces the pages of
//! its heaps that are in use by private copies, before `fork` returns in it; and `fork` returns in
//! the process only then, so that what it writes next is not in the copies. The rest of the segment
//! is for the library, which does not work in a child.
//!
//! `vfork`, `posix_spawn` and what calls `clone` by itself do not come here: such a child shares
//! all memory of its process until it executes another program, or has to look after itself.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};
use std::thread;

use crate::host::page_bytes;
use crate::poison;

/// How many forks lie between the first process and this one, as far as they were seen.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// One fork at a time: from before it until after it.
static IS_FORKING: AtomicBool = AtomicBool::new(false);
/// What a child has to copy: addresses of whole pages.
static PAGES: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());
/// A pipe whose writing end is closed when the child has copied, or has ended; or -1.
static COPIED: [AtomicI32; 2] = [AtomicI32::new(NONE), AtomicI32::new(NONE)];
const NONE: i32 = -1;

/// Memory that a child gets a copy of.
pub(crate) trait Heap: Send + Sync {
    /// A fork begins: until [`Heap::release`] no other thread changes the heap.
    fn hold(&self) {}

    /// The addresses of whole pages of so many bytes of which a part is in use, and which this
    /// module is to copy.
    fn pages_in_use(&self, page: usize) -> Vec<Range<usize>>;

    /// Whether the heap has something that [`Heap::copy_in_child`] copies.
    fn copies_itself(&self) -> bool {
        false
    }

    /// Makes the memory of the heap private, in the child. If that is not possible, it [ends the
    /// child](end_child).
    fn copy_in_child(&self) {}

    /// The fork is over, in the process that has called `fork` or in its child.
    fn release(&self) {}
}

/// Heaps that a fork holds.
static HELD: Mutex<Vec<Arc<dyn Heap>>> = Mutex::new(Vec::new());
/// The heaps of this process.
static HEAPS: Mutex<Vec<Weak<dyn Heap>>> = Mutex::new(Vec::new());

/// Another number in a child than in the process that has made it by `fork`.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// From now on each child gets a copy of what is in use of this heap.
pub(crate) fn copy_in_children(heap: Weak<dyn Heap>) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the functions are there as long as the process, and do not unwind: they make
        // calls of the system, and copy memory.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
    // No fork meanwhile: its child would never get the lock.
    begin_fork();
    let mut heaps = lock(&HEAPS);
    heaps.retain(|heap| heap.strong_count() > 0);
    heaps.push(heap);
    drop(heaps);
    IS_FORKING.store(false, Ordering::Release);
}

fn begin_fork() {
    while IS_FORKING.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn before() {
    begin_fork();
    let (mut pages, mut held) = (lock(&PAGES), lock(&HELD));
    pages.clear();
    for heap in lock(&HEAPS).iter().filter_map(Weak::upgrade) {
        heap.hold();
        pages.extend(heap.pages_in_use(page_bytes()));
        held.push(heap);
    }
    let copies = !pages.is_empty() || held.iter().any(|heap| heap.copies_itself());
    drop(held);
    let mut ends = [NONE; 2];
    if copies {
        // SAFETY: there is room for two descriptors. If there are none the parent does not wait.
        unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    }
    for (end, place) in ends.into_iter().zip(&COPIED) {
        place.store(end, Ordering::Relaxed);
    }
}

extern "C" fn in_parent() {
    let [read, write] = taken_ends();
    close(write);
    if read != NONE {
        await_end(read);
    }
    close(read);
    release_heaps();
    IS_FORKING.store(false, Ordering::Release);
}

fn release_heaps() {
    let held = std::mem::take(&mut *lock(&HELD));
    held.iter().for_each(|heap| heap.release());
}

/// Waits until nobody has the writing end of a pipe any more; not for long.
fn await_end(read: i32) {
    let mut byte = 0_u8;
    loop {
        // SAFETY: a descriptor of ours, and room for a byte.
        let count = unsafe { libc::read(read, (&raw mut byte).cast(), 1) };
        if count >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    for pages in lock(&PAGES).drain(..) {
        make_private(pages);
    }
    lock(&HELD).iter().for_each(|heap| heap.copy_in_child());
    taken_ends().into_iter().for_each(close);
    release_heaps();
    IS_FORKING.store(false, Ordering::Release);
}

fn taken_ends() -> [i32; 2] {
    [0, 1].map(|end: usize| COPIED[end].swap(NONE, Ordering::Relaxed))
}

fn close(end: i32) {
    if end != NONE {
        // SAFETY: a descriptor of ours, which nobody uses any more.
        unsafe { libc::close(end) };
    }
}

/// Replaces pages by a private copy. If there is no memory for it, nothing is there any more:
/// rather than write into the memory of the parent, the child ends by a signal.
fn make_private(pages: Range<usize>) {
    let (bytes, place) = (pages.len(), ptr::with_exposed_provenance_mut::<c_void>(pages.start));
    let map = |place, protection, more| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | more;
        // SAFETY: at a place that the kernel chooses, or over pages of a heap, of which no other
        // thread of the child knows: there is none.
        unsafe { libc::mmap(place, bytes, protection, flags, NONE, 0) }
    };
    let copy = map(ptr::null_mut(), libc::PROT_READ | libc::PROT_WRITE, 0);
    if copy != libc::MAP_FAILED {
        // Parts of the pages may be free.
        poison::allow(place.cast(), bytes);
        // SAFETY: both are mapped and so long, and the copy is new.
        unsafe { ptr::copy_nonoverlapping(place.cast::<u8>(), copy.cast::<u8>(), bytes) };
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: as for mapping over them; the same bytes are there afterwards.
        if unsafe { libc::mremap(copy, bytes, bytes, flags, place) } == place {
            return;
        }
    }
    if map(place, libc::PROT_NONE, libc::MAP_FIXED) == libc::MAP_FAILED {
        end_child();
    }
}

/// Ends a child that cannot get a private copy: it must not write into the memory of its parent.
pub(crate) fn end_child() -> ! {
    const MESSAGE: &[u8] = b"motet: a child of fork has no memory for its copy of a shared heap\n";
    // SAFETY: a constant of this length.
    unsafe { libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
    // SAFETY: it has no demands.
    let process = unsafe { libc::getpid() };
    // SAFETY: sends this process a signal that it cannot ignore.
    unsafe { libc::kill(process, libc::SIGKILL) };
    loop {
        thread::yield_now(); // The signal may come a little later.
    }
}
