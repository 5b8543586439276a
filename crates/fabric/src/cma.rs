//! Single copy of a large message: by a core between threads, by cross-memory attach
//! (`process_vm_readv`) between processes.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::RefCell;
use std::io;

use crate::memory::{ALIASING_PERIOD_BYTES, STRING_COPY_MIN_BYTES, copy_many, is_page_aliased};
use crate::{Region, RegionMut, memcheck};

/// Bytes that the kernel copies at a time where it copies slowly to the final address.
const DETOUR_BYTES: usize = 64 << 10;

thread_local! {
    /// Memory for such copies, with room to begin each where the kernel copies fast.
    static DETOUR: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How this rank copies from and to the memory of its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleCopy {
    /// Ranks are threads: an address means the same to all.
    Direct,
    /// Ranks are processes: the kernel copies between them (`process_vm_readv`).
    Kernel,
    /// Not at all: large messages go through cells, piece by piece.
    Off,
}

/// Copies `into.bytes()` bytes from an address of another rank.
///
/// # Errors
/// The error of the kernel if it refuses the copy; the contents of `into` are then unspecified.
///
/// # Safety
/// `into` is writable and used by nobody else. With [`SingleCopy::Direct`] the source is readable
/// memory of this process, and nobody writes it meanwhile.
pub unsafe fn copy(how: SingleCopy, process: u32, address: u64, into: RegionMut) -> io::Result<()> {
    match how {
        SingleCopy::Direct => {
            let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
            // SAFETY: readable and writable by the caller's promise; two buffers of which one is
            // being written never overlap.
            unsafe { copy_many(from, into.start(), into.bytes()) };
            Ok(())
        }
        SingleCopy::Kernel if is_slow(address as usize, into.start().addr(), into.bytes()) => {
            // SAFETY: passed on.
            unsafe { detour(process, address, into) }
        }
        SingleCopy::Kernel => kernel_copy(process, address, into),
        SingleCopy::Off => Err(io::Error::from(io::ErrorKind::Unsupported)),
    }
}

/// Copies `from.bytes()` bytes to an address of another rank.
///
/// # Errors
/// The error of the kernel if it refuses the copy; some bytes may have been written.
///
/// # Safety
/// `from` is readable. The other rank waits for these bytes at this address: it neither reads nor
/// writes nor frees them meanwhile.
pub unsafe fn copy_to(how: SingleCopy, process: u32, address: u64, from: Region) -> io::Result<()> {
    match how {
        SingleCopy::Direct => {
            let into = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
            // SAFETY: readable and writable by the caller's promise; two buffers of which one is
            // being written never overlap.
            unsafe { copy_many(from.start(), into, from.bytes()) };
            // In memory that ranks share, what is read here next may be the other rank's.
            memcheck::mark_written(Region::new(into, from.bytes()));
            Ok(())
        }
        SingleCopy::Kernel if is_slow(from.start().addr(), address as usize, from.bytes()) => {
            // SAFETY: passed on.
            unsafe { detour_to(process, address, from) }
        }
        SingleCopy::Kernel => kernel_copy_to(process, address, from),
        SingleCopy::Off => Err(io::Error::from(io::ErrorKind::Unsupported)),
    }
}

/// Whether the kernel copies so many bytes slowly between these addresses, as it does with `rep
/// movsb` ([page aliasing](crate::memory)).
fn is_slow(from: usize, into: usize, bytes: usize) -> bool {
    bytes >= STRING_COPY_MIN_BYTES && is_page_aliased(from, into)
}

/// Calls `copy` for each part of so many bytes, with memory that begins at an address to and from
/// which the kernel copies fast, if the other address of the part is `place`.
fn in_parts(
    place: usize,
    bytes: usize,
    mut copy: impl FnMut(usize, RegionMut) -> io::Result<()>,
) -> io::Result<()> {
    let mut via = |memory: &mut Vec<u8>| {
        memory.resize(DETOUR_BYTES + ALIASING_PERIOD_BYTES, 0);
        let other = place + ALIASING_PERIOD_BYTES / 2;
        let skipped = other.wrapping_sub(memory.as_ptr().addr()) % ALIASING_PERIOD_BYTES;
        for start in (0..bytes).step_by(DETOUR_BYTES) {
            let part = DETOUR_BYTES.min(bytes - start);
            copy(start, RegionMut::of(&mut memory[skipped..skipped + part]))?;
        }
        Ok(())
    };
    match DETOUR.try_with(|memory| via(&mut memory.borrow_mut())) {
        Ok(copied) => copied,
        // This thread ends, and has dropped its memory.
        Err(_) => via(&mut Vec::new()),
    }
}

/// As [`kernel_copy`], by way of other memory: the kernel copies there, and a core from there.
///
/// # Safety
/// `into` is writable and used by nobody else.
unsafe fn detour(process: u32, address: u64, into: RegionMut) -> io::Result<()> {
    in_parts(address as usize, into.bytes(), |start, memory| {
        kernel_copy(process, address + start as u64, memory)?;
        let into = into.part(start, memory.bytes()).start();
        // SAFETY: writable by the caller's promise, and no memory of this module.
        unsafe { copy_many(memory.start(), into, memory.bytes()) };
        Ok(())
    })
}

/// As [`kernel_copy_to`], by way of other memory.
///
/// # Safety
/// `from` is readable.
unsafe fn detour_to(process: u32, address: u64, from: Region) -> io::Result<()> {
    in_parts(address as usize, from.bytes(), |start, memory| {
        let from = from.part(start, memory.bytes()).start();
        // SAFETY: readable by the caller's promise, and no memory of this module.
        unsafe { copy_many(from, memory.start(), memory.bytes()) };
        kernel_copy_to(process, address + start as u64, memory.as_region())
    })
}

/// Copies within this process by cross-memory attach, as between processes: for measurements.
///
/// # Errors
/// The error of the kernel if it refuses the copy.
pub(crate) fn copy_within(from: &[u8], into: &mut [u8]) -> io::Result<()> {
    let bytes = from.len().min(into.len());
    let into = RegionMut::of(&mut into[..bytes]);
    kernel_copy(std::process::id(), from.as_ptr().expose_provenance() as u64, into)
}

/// As [`kernel_copy`], in the other direction.
fn kernel_copy_to(process: u32, address: u64, from: Region) -> io::Result<()> {
    let mut done = 0;
    while done < from.bytes() {
        let rest = from.part(done, from.bytes() - done);
        let local = libc::iovec { iov_base: rest.start().cast_mut().cast(), iov_len: rest.bytes() };
        let remote = libc::iovec {
            iov_base: std::ptr::without_provenance_mut((address as usize) + done),
            iov_len: rest.bytes(),
        };
        let copied = memcheck::reading_anything(|| {
            // SAFETY: one local and one remote vector as announced; the local one is only read, and
            // readable by the promise of `copy_to`, the only caller.
            unsafe { libc::process_vm_writev(process as i32, &local, 1, &remote, 1, 0) }
        });
        match copied {
            -1 => return Err(io::Error::last_os_error()),
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            copied => done += copied as usize,
        }
    }
    Ok(())
}

/// Whether a process has ended and its parent has reaped it. A zombie is not gone.
pub fn is_gone(process: u32) -> bool {
    // SAFETY: signal 0 is none; takes no pointers.
    let sent = unsafe { libc::kill(process as i32, 0) };
    sent == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

/// The kernel checks both sides itself: a bad source address is an error, not a fault.
fn kernel_copy(process: u32, address: u64, into: RegionMut) -> io::Result<()> {
    let mut done = 0;
    while done < into.bytes() {
        let rest = into.part(done, into.bytes() - done);
        let local = libc::iovec { iov_base: rest.start().cast(), iov_len: rest.bytes() };
        let remote = libc::iovec {
            iov_base: std::ptr::without_provenance_mut((address as usize) + done),
            iov_len: rest.bytes(),
        };
        // SAFETY: one local and one remote vector as announced; the local one is writable by the
        // promise of `copy`, or since it is borrowed by the caller of `copy_within`.
        let copied = unsafe { libc::process_vm_readv(process as i32, &local, 1, &remote, 1, 0) };
        match copied {
            -1 => return Err(io::Error::last_os_error()),
            0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            copied => done += copied as usize,
        }
    }
    Ok(())
}

/// Lets our siblings copy out of this process where the kernel restricts that to ancestors (the
/// Yama security module). Not being able to is no error: then they find out at their first try.
pub fn allow_peers() {
    // SAFETY: sets an attribute of this process; takes no pointers.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both directions, at addresses where the kernel is slow and at others, in several parts.
    #[test]
    fn the_kernel_copies_the_same_bytes_at_any_address() {
        let me = std::process::id();
        let source: Vec<u8> = (0..4 * DETOUR_BYTES).map(|at| (at % 251) as u8).collect();
        for bytes in [STRING_COPY_MIN_BYTES, DETOUR_BYTES, 2 * DETOUR_BYTES + 777] {
            for distance in [0, 1, 16, 31, 32] {
                let mut copied = vec![0; bytes + ALIASING_PERIOD_BYTES];
                let from = source.as_ptr().expose_provenance();
                let skipped =
                    (from + distance).wrapping_sub(copied.as_ptr().addr()) % ALIASING_PERIOD_BYTES;
                let into = &mut copied[skipped..skipped + bytes];
                let is_aliased = cfg!(target_arch = "x86_64") && (1..32).contains(&distance);
                assert_eq!(is_slow(from, into.as_ptr().addr(), bytes), is_aliased);
                // SAFETY: a slice that nobody else uses.
                let done =
                    unsafe { copy(SingleCopy::Kernel, me, from as u64, RegionMut::of(into)) };
                if done.is_err() {
                    return; // a system that refuses such copies
                }
                assert!(into == &source[..bytes], "{bytes} {distance}");
                into.fill(0);
                let address = into.as_mut_ptr().expose_provenance() as u64;
                let from = Region::of(&source[..bytes]);
                // SAFETY: the address is that of a slice that nobody else uses.
                unsafe { copy_to(SingleCopy::Kernel, me, address, from) }.expect("as before");
                assert!(into == &source[..bytes], "{bytes} {distance}");
                assert!(copied[..skipped].iter().all(|&byte| byte == 0));
                assert!(copied[skipped + bytes..].iter().all(|&byte| byte == 0));
            }
        }
    }
}
