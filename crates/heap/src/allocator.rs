//! The functions of the C library that allocate memory.
//!
//! Each asks the heap for a large block, and the C library otherwise. By its address a block tells
//! where it came from. Purpose and errors of the functions are those of the C standard and of
//! POSIX.1-2024.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use motet_fabric::process_heap::{BLOCK_MIN_BYTES, HeapDescription, ProcessHeap};

static HEAP: ProcessHeap = ProcessHeap::new();

/// Registers the handlers of `fork` when the library is loaded, before the constructors of the
/// program, unless something has been allocated even earlier.
#[used]
#[unsafe(link_section = ".init_array")]
static GUARD_AT_LOAD: extern "C" fn() = {
    extern "C" fn guard() {
        HEAP.guard();
    }
    guard
};

/// What `malloc` guarantees for every block.
const ALIGNMENT: usize = align_of::<libc::max_align_t>();

unsafe extern "C" {
    fn __libc_malloc(bytes: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, bytes: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, bytes: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// A block of the heap, if the request is for a large one and there is room.
fn from_heap(bytes: usize, alignment: usize, zeroed: bool) -> Option<*mut c_void> {
    HEAP.guard();
    let is_large = bytes >= BLOCK_MIN_BYTES;
    let block = is_large.then(|| HEAP.allocate(bytes, alignment.max(ALIGNMENT), zeroed))?;
    block.map(|block| block.as_ptr().cast())
}

/// The block, if it is one of the heap.
fn in_heap(block: *mut c_void) -> Option<NonNull<u8>> {
    NonNull::new(block.cast::<u8>()).filter(|block| HEAP.contains(block.as_ptr()))
}

fn fail(error: c_int) -> *mut c_void {
    // SAFETY: it has no demands.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the address of a variable of this thread.
    unsafe { place.write(error) };
    ptr::null_mut()
}

/// How other ranks find the heap of this process; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn motet_process_heap() -> *const HeapDescription {
    static DESCRIPTION: OnceLock<HeapDescription> = OnceLock::new();
    match HEAP.description() {
        Some(description) => DESCRIPTION.get_or_init(|| description),
        None => ptr::null(),
    }
}

/// Allocates a block.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(bytes: usize) -> *mut c_void {
    // SAFETY: it has no demands.
    from_heap(bytes, ALIGNMENT, false).unwrap_or_else(|| unsafe { __libc_malloc(bytes) })
}

/// Allocates a block of zeros.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    let all = count.checked_mul(bytes);
    let block = all.and_then(|all| from_heap(all, ALIGNMENT, true));
    // SAFETY: it has no demands.
    block.unwrap_or_else(|| unsafe { __libc_calloc(count, bytes) })
}

/// Frees a block.
///
/// # Safety
/// It is null, or a block that was allocated and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    match in_heap(block) {
        // SAFETY: passed on.
        Some(block) => unsafe { HEAP.free(block) },
        // SAFETY: passed on.
        None => unsafe { __libc_free(block) },
    }
}

/// Frees a block of this length. (C23)
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_sized(block: *mut c_void, _bytes: usize) {
    // SAFETY: passed on.
    unsafe { free(block) }
}

/// Frees a block of this alignment and length. (C23)
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free_aligned_sized(block: *mut c_void, _alignment: usize, _bytes: usize) {
    // SAFETY: passed on.
    unsafe { free(block) }
}

/// Gives a block another length, and perhaps another address.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    let Some(former) = in_heap(block) else {
        // SAFETY: passed on.
        return unsafe { realloc_from_system(block, bytes) };
    };
    if bytes >= BLOCK_MIN_BYTES && HEAP.resize(former, bytes) {
        return block;
    }
    let moved = if bytes == 0 { ptr::null_mut() } else { malloc(bytes) };
    // SAFETY: passed on; both blocks have so many bytes.
    unsafe { moved_to(block, moved, HEAP.block_bytes(former).min(bytes), bytes == 0) }
}

/// [`realloc`] of a block of the C library.
///
/// # Safety
/// As [`free`].
unsafe fn realloc_from_system(block: *mut c_void, bytes: usize) -> *mut c_void {
    let moved = (!block.is_null()).then(|| from_heap(bytes, ALIGNMENT, false)).flatten();
    match moved {
        None if block.is_null() => malloc(bytes),
        // SAFETY: passed on.
        None => unsafe { __libc_realloc(block, bytes) },
        Some(moved) => {
            // SAFETY: passed on.
            let former = unsafe { malloc_usable_size(block) };
            // SAFETY: passed on; both blocks have so many bytes.
            unsafe { moved_to(block, moved, former.min(bytes), false) }
        }
    }
}

/// Copies a block to another one and frees it, unless there is no other one.
///
/// # Safety
/// As [`free`]; both blocks have at least `bytes` bytes.
unsafe fn moved_to(
    block: *mut c_void,
    moved: *mut c_void,
    bytes: usize,
    is_freed: bool,
) -> *mut c_void {
    if !moved.is_null() {
        // SAFETY: both have so many bytes, by the caller's promise, and lie apart.
        unsafe { moved.cast::<u8>().copy_from_nonoverlapping(block.cast::<u8>(), bytes) };
    }
    if !moved.is_null() || is_freed {
        // SAFETY: passed on.
        unsafe { free(block) };
    }
    moved
}

/// [`realloc`] to `count * bytes` bytes.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: usize,
    bytes: usize,
) -> *mut c_void {
    match count.checked_mul(bytes) {
        // SAFETY: passed on.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => fail(libc::ENOMEM),
    }
}

/// Allocates a block at a multiple of an alignment.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    let alignment_or_more = alignment.checked_next_power_of_two();
    let block = alignment_or_more.and_then(|alignment| from_heap(bytes, alignment, false));
    // SAFETY: it has no demands.
    block.unwrap_or_else(|| unsafe { __libc_memalign(alignment, bytes) })
}

/// Allocates a block at a multiple of an alignment. (C11)
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    memalign(alignment, bytes)
}

/// Allocates a block at a multiple of an alignment. (POSIX)
///
/// # Safety
/// `block` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    block: *mut *mut c_void,
    alignment: usize,
    bytes: usize,
) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    let allocated = memalign(alignment, bytes);
    if allocated.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: passed on.
    unsafe { *block = allocated };
    0
}

fn page() -> usize {
    // SAFETY: it has no demands.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Allocates a block that begins with a page.
#[unsafe(no_mangle)]
pub extern "C" fn valloc(bytes: usize) -> *mut c_void {
    memalign(page(), bytes)
}

/// Allocates whole pages.
#[unsafe(no_mangle)]
pub extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    match bytes.max(1).checked_next_multiple_of(page()) {
        Some(bytes) => memalign(page(), bytes),
        None => fail(libc::ENOMEM),
    }
}

/// How many bytes of a block the program may use.
///
/// # Safety
/// As [`free`], but the block is still used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    match in_heap(block) {
        Some(block) => HEAP.block_bytes(block),
        // SAFETY: passed on.
        None => unsafe { system_usable_size(block) },
    }
}

/// `malloc_usable_size` of the C library.
///
/// # Safety
/// It is null, or a block of the C library.
unsafe fn system_usable_size(block: *mut c_void) -> usize {
    type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;
    /// The function, once it has been found. Two threads may look for it at once: to wait for each
    /// other could block them, as the dynamic linker has locks of its own.
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut found = FOUND.load(Ordering::Relaxed);
    if found.is_null() {
        // SAFETY: a constant name.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"malloc_usable_size".as_ptr()) };
        FOUND.store(found, Ordering::Relaxed);
    }
    // SAFETY: the next function of this name is that of the C library, which has this type; null is
    // nothing.
    let usable_size = unsafe { std::mem::transmute::<*mut c_void, Option<UsableSize>>(found) };
    // SAFETY: passed on.
    usable_size.map_or(0, |usable_size| unsafe { usable_size(block) })
}
