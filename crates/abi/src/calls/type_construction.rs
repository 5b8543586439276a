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

/// `MPI_Type_commit`
pub(crate) unsafe fn type_commit(datatype: *mut MPI_Datatype) -> Answer {
    not_yet()
}

/// `MPI_Type_contiguous`
pub(crate) unsafe fn type_contiguous(
    count: i64,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_darray`
pub(crate) unsafe fn type_create_darray(
    size: c_int,
    rank: c_int,
    ndims: c_int,
    array_of_gsizes: Counts,
    array_of_distribs: *const c_int,
    array_of_dargs: *const c_int,
    array_of_psizes: *const c_int,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_hindexed`
pub(crate) unsafe fn type_create_hindexed(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_hindexed_block`
pub(crate) unsafe fn type_create_hindexed_block(
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_hvector`
pub(crate) unsafe fn type_create_hvector(
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_indexed_block`
pub(crate) unsafe fn type_create_indexed_block(
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_resized`
pub(crate) unsafe fn type_create_resized(
    oldtype: MPI_Datatype,
    lb: i64,
    extent: i64,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_struct`
pub(crate) unsafe fn type_create_struct(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    array_of_types: *const MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_subarray`
pub(crate) unsafe fn type_create_subarray(
    ndims: c_int,
    array_of_sizes: Counts,
    array_of_subsizes: Counts,
    array_of_starts: Counts,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_dup`
pub(crate) unsafe fn type_dup(oldtype: MPI_Datatype, newtype: *mut MPI_Datatype) -> Answer {
    not_yet()
}

/// `MPI_Type_free`
pub(crate) unsafe fn type_free(datatype: *mut MPI_Datatype) -> Answer {
    not_yet()
}

/// `MPI_Type_indexed`
pub(crate) unsafe fn type_indexed(
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_vector`
pub(crate) unsafe fn type_vector(
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}
