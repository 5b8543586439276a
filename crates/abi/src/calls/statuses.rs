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

/// `MPI_Get_count`
pub(crate) unsafe fn get_count(
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Get_elements`
pub(crate) unsafe fn get_elements(
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Get_elements_x`
pub(crate) unsafe fn get_elements_x(
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: *mut MPI_Count,
) -> Answer {
    not_yet()
}

/// `MPI_Status_get_error`
pub(crate) unsafe fn status_get_error(status: *const MPI_Status, error: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Status_get_source`
pub(crate) unsafe fn status_get_source(status: *const MPI_Status, source: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Status_get_tag`
pub(crate) unsafe fn status_get_tag(status: *const MPI_Status, tag: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Status_set_cancelled`
pub(crate) unsafe fn status_set_cancelled(status: *mut MPI_Status, flag: c_int) -> Answer {
    not_yet()
}

/// `MPI_Status_set_elements`
pub(crate) unsafe fn status_set_elements(
    status: *mut MPI_Status,
    datatype: MPI_Datatype,
    count: i64,
) -> Answer {
    not_yet()
}

/// `MPI_Status_set_elements_x`
pub(crate) unsafe fn status_set_elements_x(
    status: *mut MPI_Status,
    datatype: MPI_Datatype,
    count: MPI_Count,
) -> Answer {
    not_yet()
}

/// `MPI_Status_set_error`
pub(crate) unsafe fn status_set_error(status: *mut MPI_Status, error: c_int) -> Answer {
    not_yet()
}

/// `MPI_Status_set_source`
pub(crate) unsafe fn status_set_source(status: *mut MPI_Status, source: c_int) -> Answer {
    not_yet()
}

/// `MPI_Status_set_tag`
pub(crate) unsafe fn status_set_tag(status: *mut MPI_Status, tag: c_int) -> Answer {
    not_yet()
}

/// `MPI_Test_cancelled`
pub(crate) unsafe fn test_cancelled(status: *const MPI_Status, flag: *mut c_int) -> Answer {
    not_yet()
}
