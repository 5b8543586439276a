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

/// `MPI_Abi_get_fortran_booleans`
pub(crate) unsafe fn abi_get_fortran_booleans(
    logical_size: c_int,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
    is_set: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Abi_get_fortran_info`
pub(crate) unsafe fn abi_get_fortran_info(info: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Abi_get_info`
pub(crate) unsafe fn abi_get_info(info: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Abi_get_version`
pub(crate) unsafe fn abi_get_version(abi_major: *mut c_int, abi_minor: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Abi_set_fortran_booleans`
pub(crate) unsafe fn abi_set_fortran_booleans(
    logical_size: c_int,
    logical_true: *mut c_void,
    logical_false: *mut c_void,
) -> Answer {
    not_yet()
}

/// `MPI_Abi_set_fortran_info`
pub(crate) unsafe fn abi_set_fortran_info(info: MPI_Info) -> Answer {
    not_yet()
}
