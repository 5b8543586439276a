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

/// `MPI_Add_error_class`
pub(crate) unsafe fn add_error_class(errorclass: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Add_error_code`
pub(crate) unsafe fn add_error_code(errorclass: c_int, errorcode: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Add_error_string`
pub(crate) unsafe fn add_error_string(errorcode: c_int, string: *const c_char) -> Answer {
    not_yet()
}

/// `MPI_Error_class`
pub(crate) unsafe fn error_class(errorcode: c_int, errorclass: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Error_string`
pub(crate) unsafe fn error_string(
    errorcode: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Remove_error_class`
pub(crate) unsafe fn remove_error_class(errorclass: c_int) -> Answer {
    not_yet()
}

/// `MPI_Remove_error_code`
pub(crate) unsafe fn remove_error_code(errorcode: c_int) -> Answer {
    not_yet()
}

/// `MPI_Remove_error_string`
pub(crate) unsafe fn remove_error_string(errorcode: c_int) -> Answer {
    not_yet()
}
