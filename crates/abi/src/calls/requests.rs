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

/// `MPI_Cancel`
pub(crate) unsafe fn cancel(request: *mut MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Request_free`
pub(crate) unsafe fn request_free(request: *mut MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Request_get_status`
pub(crate) unsafe fn request_get_status(
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Request_get_status_all`
pub(crate) unsafe fn request_get_status_all(
    count: c_int,
    array_of_requests: *const MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Request_get_status_any`
pub(crate) unsafe fn request_get_status_any(
    count: c_int,
    array_of_requests: *const MPI_Request,
    indx: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Request_get_status_some`
pub(crate) unsafe fn request_get_status_some(
    incount: c_int,
    array_of_requests: *const MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Start`
pub(crate) unsafe fn start(request: *mut MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Startall`
pub(crate) unsafe fn startall(count: c_int, array_of_requests: *mut MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Test`
pub(crate) unsafe fn test(
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Testall`
pub(crate) unsafe fn testall(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Testany`
pub(crate) unsafe fn testany(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Testsome`
pub(crate) unsafe fn testsome(
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Wait`
pub(crate) unsafe fn wait(request: *mut MPI_Request, status: *mut MPI_Status) -> Answer {
    not_yet()
}

/// `MPI_Waitall`
pub(crate) unsafe fn waitall(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Waitany`
pub(crate) unsafe fn waitany(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Waitsome`
pub(crate) unsafe fn waitsome(
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    not_yet()
}
