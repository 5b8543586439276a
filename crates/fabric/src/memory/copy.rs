//! Copies by a core, also where the instruction that copies strings is slow.
//!
//! C libraries and kernels copy some KiB and more with `rep movsb`. On AMD processors since Zen 3
//! this takes up to 25 times as long if the bytes go to an address that is 1 to 31 bytes behind
//! that of their source, modulo the page (*page aliasing*): 64 KiB in 39 µs instead of 1.5, and 47
//! instead of 8 by the kernel. It is no rare case: an allocator that puts a header of 16 bytes
//! before each block gives neighbouring blocks of whole KiB just such addresses. So such bytes are
//! copied in vectors here, which takes the same time at any address.

#![allow(unsafe_code)] // listed in docs/unsafe.md

/// Shorter copies are not made with `rep movsb`.
pub(crate) const STRING_COPY_MIN_BYTES: usize = 2 << 10;

/// The period of the addresses that are slow.
pub(crate) const ALIASING_PERIOD_BYTES: usize = 4096;
/// The slow distances from source to destination: from 1 to below this.
const ALIASING_END_BYTES: usize = 32;

/// Whether `rep movsb` would be slow from one address to the other.
#[inline]
pub(crate) fn is_page_aliased(from: usize, into: usize) -> bool {
    let distance = into.wrapping_sub(from) % ALIASING_PERIOD_BYTES;
    cfg!(target_arch = "x86_64") && (1..ALIASING_END_BYTES).contains(&distance)
}

/// Copies bytes, of which there are often no more than a word holds: those without a call.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`], with bytes that need not be aligned.
#[inline]
pub unsafe fn copy(from: *const u8, into: *mut u8, bytes: usize) {
    if bytes == size_of::<u64>() {
        // SAFETY: passed on.
        let word = unsafe { from.cast::<u64>().read_unaligned() };
        // SAFETY: passed on.
        unsafe { into.cast::<u64>().write_unaligned(word) };
    } else {
        // SAFETY: passed on.
        unsafe { copy_many(from, into, bytes) };
    }
}

/// As [`copy`], for data that is seldom one word.
///
/// # Safety
/// As for [`copy`].
#[inline]
pub unsafe fn copy_many(from: *const u8, into: *mut u8, bytes: usize) {
    if bytes >= STRING_COPY_MIN_BYTES && is_page_aliased(from.addr(), into.addr()) {
        // SAFETY: passed on.
        unsafe { copy_vectors(from, into, bytes) };
    } else {
        // SAFETY: passed on.
        unsafe { into.copy_from_nonoverlapping(from, bytes) };
    }
}

/// Copies with loads and stores of 16 bytes.
///
/// # Safety
/// As for [`copy`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[cold]
#[inline(never)]
unsafe fn copy_vectors(from: *const u8, into: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};

    const VECTORS: usize = 4;
    const BLOCK: usize = VECTORS * size_of::<__m128i>();
    let whole = bytes / BLOCK * BLOCK;
    for start in (0..whole).step_by(BLOCK) {
        // SAFETY: within the source.
        let from = unsafe { from.add(start) }.cast::<__m128i>();
        // SAFETY: within the destination.
        let into = unsafe { into.add(start) }.cast::<__m128i>();
        let loaded: [__m128i; VECTORS] = std::array::from_fn(|nth| {
            // SAFETY: within the block, which need not be aligned.
            let at = unsafe { from.add(nth) };
            // SAFETY: as above.
            unsafe { _mm_loadu_si128(at) }
        });
        for (nth, vector) in loaded.into_iter().enumerate() {
            // SAFETY: within the block, which need not be aligned.
            let at = unsafe { into.add(nth) };
            // SAFETY: as above.
            unsafe { _mm_storeu_si128(at, vector) };
        }
    }
    // SAFETY: the rest of the source.
    let from = unsafe { from.add(whole) };
    // SAFETY: the rest of the destination.
    let into = unsafe { into.add(whole) };
    // SAFETY: passed on.
    unsafe { into.copy_from_nonoverlapping(from, bytes - whole) };
}

/// Elsewhere no such addresses are known.
///
/// # Safety
/// As for [`copy`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_vectors(from: *const u8, into: *mut u8, bytes: usize) {
    // SAFETY: passed on.
    unsafe { into.copy_from_nonoverlapping(from, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_a_little_behind_their_source_are_slow() {
        let slow: Vec<usize> =
            (0..4096).filter(|&distance| is_page_aliased(4096 + 24, 24 + distance)).collect();
        assert_eq!(slow, if cfg!(target_arch = "x86_64") { (1..32).collect() } else { vec![] });
        assert!(!is_page_aliased(16, 0) && !is_page_aliased(0, 4096));
    }

    #[test]
    fn all_bytes_are_copied_and_no_others() {
        const ROOM: usize = 3 * 4096;
        let source: Vec<u8> = (0..2 * ROOM).map(|at| (at % 251) as u8).collect();
        for bytes in [0, 1, 8, 100, 2047, 2048, 2049, 4096, 4096 + 63, 8192 + 1] {
            for distance in [0, 1, 7, 16, 31, 32, 4080] {
                let mut copied = vec![0xee; 3 * ROOM];
                let start = (source.as_ptr().addr() + distance)
                    .wrapping_sub(copied.as_ptr().addr())
                    % ALIASING_PERIOD_BYTES;
                // SAFETY: both are long enough, and apart.
                unsafe { copy(source.as_ptr(), copied[start..].as_mut_ptr(), bytes) };
                assert_eq!(copied[start..start + bytes], source[..bytes], "{bytes} {distance}");
                let others = copied[..start].iter().chain(&copied[start + bytes..]);
                assert!(others.clone().all(|&byte| byte == 0xee), "{bytes} {distance}");
            }
        }
    }
}
