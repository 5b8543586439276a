//! Client requests to valgrind's memcheck: they mark memory that other processes have written.
//!
//! Memcheck knows of each byte whether this process has written it. Bytes of a user that nobody
//! has written, such as the padding of structures, may be sent. Their copies in the shared segment
//! count as unwritten, too, and go on to do so when another rank has written its message over them;
//! and memory into which another process copies counts as unwritten for ever. Then memcheck
//! complains of a program that is right. So the library tells it what has been written.
//!
//! It does that by *client requests*: instructions that do nothing, which valgrind recognises. Each
//! needs a dozen instructions, so one is made only where memcheck is found at the start.
//!
//! Ranks that are threads need nothing of this: one memcheck sees what all of them write.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::atomic::{AtomicBool, Ordering};

use crate::Region;

/// Whether memcheck runs this process, which shares memory with others.
static IS_HERE: AtomicBool = AtomicBool::new(false);

/// The numbers of the requests, from `valgrind.h` and `memcheck.h`.
const CHANGE_ERROR_DISABLEMENT: usize = 0x1801;
const MAKE_MEMORY_DEFINED: usize = ((b'M' as usize) << 24 | (b'C' as usize) << 16) + 2;

/// Finds out whether memcheck runs this process. To be asked before this module has an effect. The
/// other tools of valgrind do not answer its requests: one that counts instructions is not to see
/// those of this module.
pub(crate) fn detect() {
    IS_HERE
        .store(request([MAKE_MEMORY_DEFINED, IS_HERE.as_ptr().addr(), 0]) != 0, Ordering::Relaxed);
}

/// Whether there is anybody to tell.
#[inline]
pub(crate) fn is_here() -> bool {
    IS_HERE.load(Ordering::Relaxed)
}

/// This memory counts as written from now on.
#[inline]
pub(crate) fn mark_written(memory: Region) {
    if is_here() {
        tell_written(memory);
    }
}

#[cold]
fn tell_written(memory: Region) {
    request([MAKE_MEMORY_DEFINED, memory.start().addr(), memory.bytes()]);
}

/// Makes a call of the system that may read bytes that nobody has written.
pub(crate) fn reading_anything<T>(call: impl FnOnce() -> T) -> T {
    if !is_here() {
        return call();
    }
    request([CHANGE_ERROR_DISABLEMENT, 1, 0]);
    let outcome = call();
    request([CHANGE_ERROR_DISABLEMENT, usize::MAX, 0]); // one less
    outcome
}

/// Makes a request; without valgrind, the answer is 0.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn request([number, first, second]: [usize; 3]) -> usize {
    let arguments = [number, first, second, 0, 0, 0];
    let answer;
    // SAFETY: `rdi` is turned by 128 bits in all, which leaves it as it was, and `rbx` is exchanged
    // with itself. Valgrind reads the arguments, which live until the block is over, and writes
    // `rdx`.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}

/// Makes a request; without valgrind, the answer is 0.
#[cfg(all(target_arch = "aarch64", not(miri)))]
fn request([number, first, second]: [usize; 3]) -> usize {
    let arguments = [number, first, second, 0, 0, 0];
    let answer;
    // SAFETY: `x12` is turned by 128 bits in all, which leaves it as it was, and `x10` is combined
    // with itself. Valgrind reads the arguments, which live until the block is over, and writes
    // `x3`.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") arguments.as_ptr(),
            inout("x3") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}

/// Elsewhere no requests are made.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn request(_: [usize; 3]) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_valgrind_requests_do_nothing() {
        let bytes = [1, 2, 3];
        tell_written(Region::of(&bytes));
        assert_eq!(bytes, [1, 2, 3]);
        assert_eq!(request([MAKE_MEMORY_DEFINED, bytes.as_ptr().addr(), 3]), 0);
        assert_eq!(reading_anything(|| bytes.len()), 3);
    }
}
