//! Single copy of a large message: by a core between threads, by cross-memory attach
//! (`process_vm_readv`) between processes.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io;

use crate::{Region, RegionMut, memcheck};

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
            unsafe { into.start().copy_from_nonoverlapping(from, into.bytes()) };
            Ok(())
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
            unsafe { into.copy_from_nonoverlapping(from.start(), from.bytes()) };
            // In memory that ranks share, what is read here next may be the other rank's.
            memcheck::mark_written(Region::new(into, from.bytes()));
            Ok(())
        }
        SingleCopy::Kernel => kernel_copy_to(process, address, from),
        SingleCopy::Off => Err(io::Error::from(io::ErrorKind::Unsupported)),
    }
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
