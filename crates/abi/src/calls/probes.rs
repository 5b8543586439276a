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

/// `MPI_Improbe`
pub(crate) unsafe fn improbe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Imrecv`
pub(crate) unsafe fn imrecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Iprobe`
pub(crate) unsafe fn iprobe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Mprobe`
pub(crate) unsafe fn mprobe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Mrecv`
pub(crate) unsafe fn mrecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}

/// `MPI_Probe`
pub(crate) unsafe fn probe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> Answer {
    not_yet()
}
