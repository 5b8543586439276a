//! Tests whether the system lets processes copy from each other (cross-memory attach).

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io;

use crate::RegionMut;
use crate::cma::{SingleCopy, copy};

/// Reads a word of another process, in the way in which large messages are copied.
///
/// # Errors
/// The error of the kernel if it refuses, or if there is no such process or word.
pub fn probe_cma(process: u32, address: u64) -> io::Result<u64> {
    let mut word = [0; 8];
    // SAFETY: the word is ours alone, and the kernel checks what lies on the other side.
    unsafe { copy(SingleCopy::Kernel, process, address, RegionMut::of(&mut word)) }?;
    Ok(u64::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_words_can_be_read_and_holes_cannot() {
        let word = Box::new(0x0123_4567_89ab_cdef_u64);
        let address = std::ptr::from_ref(&*word).expose_provenance() as u64;
        match probe_cma(std::process::id(), address) {
            Ok(read) => assert_eq!(read, *word),
            // Some sandboxes forbid it altogether.
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        assert!(probe_cma(std::process::id(), 8).is_err());
    }
}
