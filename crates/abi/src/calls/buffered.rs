//! TODO_MODULE

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names
#![allow(unused_variables, unused_imports)]

use std::ffi::{c_char, c_int, c_void};

use motet::ErrorClass;

use crate::count::{CountPlace, Counts};
use crate::fault::{Answer, Fault};
use crate::handle::*;
use crate::objects::MPI_Status;

use super::Form;

fn not_yet<T>() -> Answer<T> {
    Err(Fault::new(ErrorClass::UnsupportedOperation, "not yet"))
}

/// `MPI_Buffer_attach`
pub(crate) unsafe fn buffer_attach(buffer: *mut c_void, size: i64) -> Answer {
    not_yet()
}

/// `MPI_Buffer_detach`
pub(crate) unsafe fn buffer_detach(buffer_addr: *mut c_void, size: CountPlace) -> Answer {
    not_yet()
}

/// `MPI_Buffer_flush`
pub(crate) unsafe fn buffer_flush() -> Answer {
    not_yet()
}

/// `MPI_Buffer_iflush`
pub(crate) unsafe fn buffer_iflush(request: *mut MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Comm_attach_buffer`
pub(crate) unsafe fn comm_attach_buffer(comm: MPI_Comm, buffer: *mut c_void, size: i64) -> Answer {
    not_yet()
}

/// `MPI_Comm_detach_buffer`
pub(crate) unsafe fn comm_detach_buffer(
    comm: MPI_Comm,
    buffer_addr: *mut c_void,
    size: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_flush_buffer`
pub(crate) unsafe fn comm_flush_buffer(comm: MPI_Comm) -> Answer {
    not_yet()
}

/// `MPI_Comm_iflush_buffer`
pub(crate) unsafe fn comm_iflush_buffer(comm: MPI_Comm, request: *mut MPI_Request) -> Answer {
    not_yet()
}
