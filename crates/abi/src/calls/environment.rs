//! The environment: initialization and finalization, versions, clocks, memory. (MPI 4.1 §9, §11)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use motet::Info;

use crate::allocations;
use crate::constants::{
    MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_PROCESSOR_NAME, MPI_SUBVERSION, MPI_THREAD_FUNNELED,
    MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE, MPI_VERSION,
};
use crate::error::AbiResult;
use crate::handle::{MPI_Aint, MPI_Comm, MPI_Info};
use crate::job;
use crate::objects;
use crate::objects::Hints;
use crate::out_params::put;
use crate::process;
use crate::stage;
use crate::text;
use crate::thread_level;

const LIBRARY: &str =
    concat!("Motet ", env!("CARGO_PKG_VERSION"), " (MPI 5.0, standard binary interface 1.0)");

/// `MPI_Abort`
pub(crate) fn abort(comm: MPI_Comm, errorcode: c_int) -> AbiResult {
    // Whatever the handle is: who calls this has enough to worry about.
    let comm = comm.object().ok();
    job::end_by_request(comm.as_deref(), errorcode)
}

/// `MPI_Alloc_mem`
pub(crate) unsafe fn alloc_mem(size: MPI_Aint, info: MPI_Info, baseptr: *mut c_void) -> AbiResult {
    let hints = info.hints()?;
    let address = allocations::allocate(size, hints.get(allocations::ALIGNMENT))?;
    // SAFETY: room for a result of the caller.
    unsafe { put(baseptr.cast(), address) }.inspect_err(|_| {
        let _ = allocations::free(address);
    })
}

/// `MPI_Finalize`
pub(crate) fn finalize() -> AbiResult {
    process::finalize()
}

/// `MPI_Finalized`
pub(crate) unsafe fn finalized(flag: *mut c_int) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(flag, c_int::from(stage::is_finalized())) }
}

/// `MPI_Free_mem`
///
/// As `free` of C, it does nothing for a null pointer; check mode refuses that.
pub(crate) unsafe fn free_mem(base: *mut c_void) -> AbiResult {
    if base.is_null() && !objects::is_strict() {
        return Ok(());
    }
    allocations::free(base as usize)
}

/// `MPI_Get_address`
pub(crate) unsafe fn get_address(location: *const c_void, address: *mut MPI_Aint) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(address, location as MPI_Aint) }
}

/// `MPI_Get_hw_resource_info`
pub(crate) unsafe fn get_hw_resource_info(hw_info: *mut MPI_Info) -> AbiResult {
    // What this process is restricted to one of, by the name that `MPI_Comm_split_type` knows.
    let info = Info::new().with("mpi_shared_memory", "true");
    // SAFETY: room for a result of the caller.
    unsafe { put(hw_info, Hints::publish(info)) }
}

/// `MPI_Get_library_version`
pub(crate) unsafe fn get_library_version(version: *mut c_char, resultlen: *mut c_int) -> AbiResult {
    // SAFETY: room for so much, says the standard.
    unsafe { name(LIBRARY, version, MPI_MAX_LIBRARY_VERSION_STRING, resultlen) }
}

/// `MPI_Get_processor_name`
pub(crate) unsafe fn get_processor_name(name: *mut c_char, resultlen: *mut c_int) -> AbiResult {
    let mut bytes = [0; MPI_MAX_PROCESSOR_NAME as usize];
    // SAFETY: as long as it says; its last byte stays zero.
    let code = unsafe { libc::gethostname(bytes.as_mut_ptr().cast(), bytes.len() - 1) };
    let found = CStr::from_bytes_until_nul(&bytes).ok().filter(|found| !found.is_empty());
    let found = found.filter(|_| code == 0).unwrap_or(c"unknown").to_string_lossy();
    // SAFETY: room for so much, says the standard.
    unsafe { self::name(&found, name, MPI_MAX_PROCESSOR_NAME, resultlen) }
}

/// A name of the library, for which there is `room`.
unsafe fn name(name: &str, to: *mut c_char, room: c_int, len: *mut c_int) -> AbiResult {
    // SAFETY: promised by the caller.
    let written = unsafe { text::write(name, to, room as usize) }?;
    // SAFETY: as above.
    unsafe { put(len, written as c_int) }
}

/// `MPI_Get_version`
pub(crate) unsafe fn get_version(version: *mut c_int, subversion: *mut c_int) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(version, MPI_VERSION) }?;
    // SAFETY: as above.
    unsafe { put(subversion, MPI_SUBVERSION) }
}

/// What `MPI_Init_thread` has told.
static PROVIDED: AtomicI32 = AtomicI32::new(MPI_THREAD_SINGLE);

/// `MPI_Init`
pub(crate) unsafe fn init(_argc: *mut c_int, _argv: *mut *mut *mut c_char) -> AbiResult {
    process::initialize()?;
    thread_level::begin();
    Ok(())
}

/// `MPI_Init_thread`
pub(crate) unsafe fn init_thread(
    _argc: *mut c_int,
    _argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> AbiResult {
    process::initialize()?;
    if required < MPI_THREAD_MULTIPLE {
        thread_level::begin();
    }
    // All of it is there always, but the standard wants what was required where that can be.
    let levels = [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED];
    let level = levels.into_iter().find(|&level| required <= level);
    let level = level.unwrap_or(MPI_THREAD_MULTIPLE);
    PROVIDED.store(level, Ordering::Release);
    // SAFETY: room for a result of the caller.
    unsafe { put(provided, level) }
}

/// `MPI_Initialized`
pub(crate) unsafe fn initialized(flag: *mut c_int) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(flag, c_int::from(stage::is_initialized())) }
}

/// `MPI_Is_thread_main`
pub(crate) unsafe fn is_thread_main(flag: *mut c_int) -> AbiResult {
    let is_main = process::main_thread() == Some(thread::current().id());
    // SAFETY: room for a result of the caller.
    unsafe { put(flag, c_int::from(is_main)) }
}

/// `MPI_Pcontrol`
pub(crate) fn pcontrol(_level: c_int) -> AbiResult {
    // For tools that put their own function before this one.
    Ok(())
}

/// `MPI_Query_thread`
pub(crate) unsafe fn query_thread(provided: *mut c_int) -> AbiResult {
    // SAFETY: room for a result of the caller.
    unsafe { put(provided, PROVIDED.load(Ordering::Acquire)) }
}

/// `MPI_Aint_add`
pub(crate) fn aint_add(base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
    base.wrapping_add(disp)
}

/// `MPI_Aint_diff`
pub(crate) fn aint_diff(addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
    addr1.wrapping_sub(addr2)
}

/// `MPI_Wtick`
pub(crate) fn wtick() -> f64 {
    clock(libc::clock_getres)
}

/// `MPI_Wtime`
pub(crate) fn wtime() -> f64 {
    clock(libc::clock_gettime)
}

/// Asks the clock that all processes of the machine share, and nobody sets.
fn clock(ask: unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is there; the clock exists on every system that this runs on.
    unsafe { ask(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
