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

/// `MPI_Op_commutative`
pub(crate) unsafe fn op_commutative(op: MPI_Op, commute: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Op_create`
pub(crate) unsafe fn op_create(user_fn: Callback, commute: c_int, op: *mut MPI_Op) -> Answer {
    not_yet()
}

/// `MPI_Op_create_c`
pub(crate) unsafe fn op_create_c(user_fn: Callback, commute: c_int, op: *mut MPI_Op) -> Answer {
    not_yet()
}

/// `MPI_Op_free`
pub(crate) unsafe fn op_free(op: *mut MPI_Op) -> Answer {
    not_yet()
}

/// `MPI_Reduce_local`
pub(crate) unsafe fn reduce_local(
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Answer {
    not_yet()
}
