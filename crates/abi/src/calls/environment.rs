//! TODO_MODULE

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names
#![allow(unused_variables, unused_imports)]

use std::ffi::{c_char, c_int, c_void};

use motet::ErrorClass;

use crate::count::{CountPlace, Counts};
use crate::fault::{Answer, Fault};
use crate::handle::*;
use crate::objects::MPI_Status;
use crate::process;

use super::Form;

fn not_yet<T>() -> Answer<T> {
    Err(Fault::new(ErrorClass::UnsupportedOperation, "not yet"))
}

/// `MPI_Abort`
pub(crate) unsafe fn abort(comm: MPI_Comm, errorcode: c_int) -> Answer {
    not_yet()
}

/// `MPI_Alloc_mem`
pub(crate) unsafe fn alloc_mem(size: MPI_Aint, info: MPI_Info, baseptr: *mut c_void) -> Answer {
    not_yet()
}

/// `MPI_Finalize`
pub(crate) unsafe fn finalize() -> Answer {
    process::finalize()
}

/// `MPI_Finalized`
pub(crate) unsafe fn finalized(flag: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Free_mem`
pub(crate) unsafe fn free_mem(base: *mut c_void) -> Answer {
    not_yet()
}

/// `MPI_Get_address`
pub(crate) unsafe fn get_address(location: *const c_void, address: *mut MPI_Aint) -> Answer {
    not_yet()
}

/// `MPI_Get_hw_resource_info`
pub(crate) unsafe fn get_hw_resource_info(hw_info: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Get_library_version`
pub(crate) unsafe fn get_library_version(version: *mut c_char, resultlen: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Get_processor_name`
pub(crate) unsafe fn get_processor_name(name: *mut c_char, resultlen: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Get_version`
pub(crate) unsafe fn get_version(version: *mut c_int, subversion: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Init`
pub(crate) unsafe fn init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> Answer {
    process::initialize()
}

/// `MPI_Init_thread`
pub(crate) unsafe fn init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Initialized`
pub(crate) unsafe fn initialized(flag: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Is_thread_main`
pub(crate) unsafe fn is_thread_main(flag: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Pcontrol`
pub(crate) unsafe fn pcontrol(level: c_int) -> Answer {
    not_yet()
}

/// `MPI_Query_thread`
pub(crate) unsafe fn query_thread(provided: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Aint_add`
pub(crate) unsafe fn aint_add(base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
    0
}

/// `MPI_Aint_diff`
pub(crate) unsafe fn aint_diff(addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
    0
}

/// `MPI_Wtick`
pub(crate) unsafe fn wtick() -> f64 {
    0.0
}

/// `MPI_Wtime`
pub(crate) unsafe fn wtime() -> f64 {
    0.0
}
