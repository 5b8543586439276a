//! `libmotet_heap.so`: takes the large blocks of an unmodified program from the process heap.
//!
//! `motet run --shared-heap` has the dynamic linker load this library before a program (with
//! `LD_PRELOAD`). Its `malloc` and the functions that go with it replace those of the C library,
//! for all of the process: C, C++, Fortran, and the arrays of Python. Blocks of 16 KiB and more lie
//! in the [process heap](motet_fabric::process_heap), which other ranks of the host map; the C
//! library serves all other requests. `motet_process_heap` describes the heap to the message
//! library.
//!
//! Programs with an allocator of their own, and those that are linked statically, are not changed.
//! With C libraries other than that of GNU this library is empty, since they do not give access to
//! the replaced functions.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod allocator;
