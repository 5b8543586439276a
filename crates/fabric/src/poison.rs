//! Marks unused memory for AddressSanitizer, which then reports accesses to it.
//!
//! The sanitizer knows what the allocator has given out, but not which parts of memory that the
//! library divides itself are in use. Only a build with `--cfg poison` tells it, which
//! `ci/sanitize` makes; in all others these functions are nothing.

#![allow(unsafe_code)] // listed in docs/unsafe.md

#[cfg(poison)]
unsafe extern "C" {
    fn __asan_poison_memory_region(start: *const std::ffi::c_void, bytes: usize);
    fn __asan_unpoison_memory_region(start: *const std::ffi::c_void, bytes: usize);
    fn __asan_address_is_poisoned(address: *const std::ffi::c_void) -> std::ffi::c_int;
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

/// Whether nobody may touch this byte. Nothing is known of it where nothing is forbidden.
#[inline]
pub fn is_forbidden(byte: *const u8) -> bool {
    #[cfg(poison)]
    // SAFETY: looks at tables of the sanitizer and touches nothing else.
    return unsafe { __asan_address_is_poisoned(byte.cast()) } != 0;
    #[cfg(not(poison))]
    {
        let _ = byte;
        false
    }
}
