//! Memory that is there and that nobody may touch, so that AddressSanitizer finds who does.
//!
//! The sanitizer knows what the allocator has given out, but not which parts of memory that the
//! library divides itself are in use. Only a build with `--cfg poison` tells it, which
//! `ci/sanitize` makes; in all others these functions are nothing.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

#[cfg(poison)]
unsafe extern "C" {
    fn __asan_poison_memory_region(start: *const std::ffi::c_void, bytes: usize);
    fn __asan_unpoison_memory_region(start: *const std::ffi::c_void, bytes: usize);
}

/// Nobody touches these bytes until they are allowed again.
#[inline]
pub fn forbid(start: *const u8, bytes: usize) {
    #[cfg(poison)]
    // SAFETY: marks bytes in tables of the sanitizer and touches nothing else.
    unsafe {
        __asan_poison_memory_region(start.cast(), bytes);
    }
    let _ = (start, bytes);
}

/// These bytes may be touched again.
#[inline]
pub fn allow(start: *const u8, bytes: usize) {
    #[cfg(poison)]
    // SAFETY: as above.
    unsafe {
        __asan_unpoison_memory_region(start.cast(), bytes);
    }
    let _ = (start, bytes);
}
