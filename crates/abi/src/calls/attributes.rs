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

/// `MPI_Attr_delete`
pub(crate) unsafe fn attr_delete(comm: MPI_Comm, keyval: c_int) -> Answer {
    not_yet()
}

/// `MPI_Attr_get`
pub(crate) unsafe fn attr_get(
    comm: MPI_Comm,
    keyval: c_int,
    attribute_val: *mut c_void,
    flag: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Attr_put`
pub(crate) unsafe fn attr_put(comm: MPI_Comm, keyval: c_int, attribute_val: *mut c_void) -> Answer {
    not_yet()
}

/// `MPI_Comm_create_keyval`
pub(crate) unsafe fn comm_create_keyval(
    comm_copy_attr_fn: Callback,
    comm_delete_attr_fn: Callback,
    comm_keyval: *mut c_int,
    extra_state: *mut c_void,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_delete_attr`
pub(crate) unsafe fn comm_delete_attr(comm: MPI_Comm, comm_keyval: c_int) -> Answer {
    not_yet()
}

/// `MPI_Comm_free_keyval`
pub(crate) unsafe fn comm_free_keyval(comm_keyval: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Comm_get_attr`
pub(crate) unsafe fn comm_get_attr(
    comm: MPI_Comm,
    comm_keyval: c_int,
    attribute_val: *mut c_void,
    flag: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_set_attr`
pub(crate) unsafe fn comm_set_attr(
    comm: MPI_Comm,
    comm_keyval: c_int,
    attribute_val: *mut c_void,
) -> Answer {
    not_yet()
}

/// `MPI_Keyval_create`
pub(crate) unsafe fn keyval_create(
    copy_fn: Callback,
    delete_fn: Callback,
    keyval: *mut c_int,
    extra_state: *mut c_void,
) -> Answer {
    not_yet()
}

/// `MPI_Keyval_free`
pub(crate) unsafe fn keyval_free(keyval: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Type_create_keyval`
pub(crate) unsafe fn type_create_keyval(
    type_copy_attr_fn: Callback,
    type_delete_attr_fn: Callback,
    type_keyval: *mut c_int,
    extra_state: *mut c_void,
) -> Answer {
    not_yet()
}

/// `MPI_Type_delete_attr`
pub(crate) unsafe fn type_delete_attr(datatype: MPI_Datatype, type_keyval: c_int) -> Answer {
    not_yet()
}

/// `MPI_Type_free_keyval`
pub(crate) unsafe fn type_free_keyval(type_keyval: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Type_get_attr`
pub(crate) unsafe fn type_get_attr(
    datatype: MPI_Datatype,
    type_keyval: c_int,
    attribute_val: *mut c_void,
    flag: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Type_set_attr`
pub(crate) unsafe fn type_set_attr(
    datatype: MPI_Datatype,
    type_keyval: c_int,
    attribute_val: *mut c_void,
) -> Answer {
    not_yet()
}
