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

/// `MPI_Pack`
pub(crate) unsafe fn pack(
    inbuf: *const c_void,
    incount: i64,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: i64,
    position: CountPlace,
    comm: MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Pack_external`
pub(crate) unsafe fn pack_external(
    datarep: *const c_char,
    inbuf: *const c_void,
    incount: i64,
    datatype: MPI_Datatype,
    outbuf: *mut c_void,
    outsize: i64,
    position: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Pack_external_size`
pub(crate) unsafe fn pack_external_size(
    datarep: *const c_char,
    incount: i64,
    datatype: MPI_Datatype,
    size: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Pack_size`
pub(crate) unsafe fn pack_size(
    incount: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
    size: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Unpack`
pub(crate) unsafe fn unpack(
    inbuf: *const c_void,
    insize: i64,
    position: CountPlace,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: MPI_Datatype,
    comm: MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Unpack_external`
pub(crate) unsafe fn unpack_external(
    datarep: *const c_char,
    inbuf: *const c_void,
    insize: i64,
    position: CountPlace,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: MPI_Datatype,
) -> Answer {
    not_yet()
}
