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

/// `MPI_Info_create`
pub(crate) unsafe fn info_create(info: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Info_create_env`
pub(crate) unsafe fn info_create_env(
    argc: c_int,
    argv: *mut *mut c_char,
    info: *mut MPI_Info,
) -> Answer {
    not_yet()
}

/// `MPI_Info_delete`
pub(crate) unsafe fn info_delete(info: MPI_Info, key: *const c_char) -> Answer {
    not_yet()
}

/// `MPI_Info_dup`
pub(crate) unsafe fn info_dup(info: MPI_Info, newinfo: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Info_free`
pub(crate) unsafe fn info_free(info: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Info_get`
pub(crate) unsafe fn info_get(
    info: MPI_Info,
    key: *const c_char,
    valuelen: c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Info_get_nkeys`
pub(crate) unsafe fn info_get_nkeys(info: MPI_Info, nkeys: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Info_get_nthkey`
pub(crate) unsafe fn info_get_nthkey(info: MPI_Info, n: c_int, key: *mut c_char) -> Answer {
    not_yet()
}

/// `MPI_Info_get_string`
pub(crate) unsafe fn info_get_string(
    info: MPI_Info,
    key: *const c_char,
    buflen: *mut c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Info_get_valuelen`
pub(crate) unsafe fn info_get_valuelen(
    info: MPI_Info,
    key: *const c_char,
    valuelen: *mut c_int,
    flag: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Info_set`
pub(crate) unsafe fn info_set(info: MPI_Info, key: *const c_char, value: *const c_char) -> Answer {
    not_yet()
}
