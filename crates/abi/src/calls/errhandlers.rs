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

/// `MPI_Comm_call_errhandler`
pub(crate) unsafe fn comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) -> Answer {
    not_yet()
}

/// `MPI_Comm_create_errhandler`
pub(crate) unsafe fn comm_create_errhandler(
    comm_errhandler_fn: Callback,
    errhandler: *mut MPI_Errhandler,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_get_errhandler`
pub(crate) unsafe fn comm_get_errhandler(
    comm: MPI_Comm,
    errhandler: *mut MPI_Errhandler,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_set_errhandler`
pub(crate) unsafe fn comm_set_errhandler(comm: MPI_Comm, errhandler: MPI_Errhandler) -> Answer {
    not_yet()
}

/// `MPI_Errhandler_free`
pub(crate) unsafe fn errhandler_free(errhandler: *mut MPI_Errhandler) -> Answer {
    not_yet()
}
