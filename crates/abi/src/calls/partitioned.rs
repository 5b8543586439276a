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

/// `MPI_Parrived`
pub(crate) unsafe fn parrived(request: MPI_Request, partition: c_int, flag: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Pready`
pub(crate) unsafe fn pready(partition: c_int, request: MPI_Request) -> Answer {
    not_yet()
}

/// `MPI_Pready_list`
pub(crate) unsafe fn pready_list(
    length: c_int,
    array_of_partitions: *const c_int,
    request: MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Pready_range`
pub(crate) unsafe fn pready_range(
    partition_low: c_int,
    partition_high: c_int,
    request: MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Precv_init`
pub(crate) unsafe fn precv_init(
    buf: *mut c_void,
    partitions: c_int,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Psend_init`
pub(crate) unsafe fn psend_init(
    buf: *const c_void,
    partitions: c_int,
    count: i64,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: *mut MPI_Request,
) -> Answer {
    not_yet()
}
