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

/// `MPI_Type_create_f90_complex`
pub(crate) unsafe fn type_create_f90_complex(
    p: c_int,
    r: c_int,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_create_f90_integer`
pub(crate) unsafe fn type_create_f90_integer(r: c_int, newtype: *mut MPI_Datatype) -> Answer {
    not_yet()
}

/// `MPI_Type_create_f90_real`
pub(crate) unsafe fn type_create_f90_real(
    p: c_int,
    r: c_int,
    newtype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_contents`
pub(crate) unsafe fn type_get_contents(
    datatype: MPI_Datatype,
    max_integers: c_int,
    max_addresses: c_int,
    max_datatypes: c_int,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_datatypes: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_contents_c`
pub(crate) unsafe fn type_get_contents_c(
    datatype: MPI_Datatype,
    max_integers: MPI_Count,
    max_addresses: MPI_Count,
    max_large_counts: MPI_Count,
    max_datatypes: MPI_Count,
    array_of_integers: *mut c_int,
    array_of_addresses: *mut MPI_Aint,
    array_of_large_counts: *mut MPI_Count,
    array_of_datatypes: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_envelope`
pub(crate) unsafe fn type_get_envelope(
    datatype: MPI_Datatype,
    num_integers: *mut c_int,
    num_addresses: *mut c_int,
    num_datatypes: *mut c_int,
    combiner: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_envelope_c`
pub(crate) unsafe fn type_get_envelope_c(
    datatype: MPI_Datatype,
    num_integers: *mut MPI_Count,
    num_addresses: *mut MPI_Count,
    num_large_counts: *mut MPI_Count,
    num_datatypes: *mut MPI_Count,
    combiner: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_extent`
pub(crate) unsafe fn type_get_extent(
    datatype: MPI_Datatype,
    lb: CountPlace,
    extent: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_extent_x`
pub(crate) unsafe fn type_get_extent_x(
    datatype: MPI_Datatype,
    lb: *mut MPI_Count,
    extent: *mut MPI_Count,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_name`
pub(crate) unsafe fn type_get_name(
    datatype: MPI_Datatype,
    type_name: *mut c_char,
    resultlen: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_true_extent`
pub(crate) unsafe fn type_get_true_extent(
    datatype: MPI_Datatype,
    true_lb: CountPlace,
    true_extent: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_true_extent_x`
pub(crate) unsafe fn type_get_true_extent_x(
    datatype: MPI_Datatype,
    true_lb: *mut MPI_Count,
    true_extent: *mut MPI_Count,
) -> Answer {
    not_yet()
}

/// `MPI_Type_get_value_index`
pub(crate) unsafe fn type_get_value_index(
    value_type: MPI_Datatype,
    index_type: MPI_Datatype,
    pair_type: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_match_size`
pub(crate) unsafe fn type_match_size(
    typeclass: c_int,
    size: c_int,
    datatype: *mut MPI_Datatype,
) -> Answer {
    not_yet()
}

/// `MPI_Type_set_name`
pub(crate) unsafe fn type_set_name(datatype: MPI_Datatype, type_name: *const c_char) -> Answer {
    not_yet()
}

/// `MPI_Type_size`
pub(crate) unsafe fn type_size(datatype: MPI_Datatype, size: CountPlace) -> Answer {
    not_yet()
}

/// `MPI_Type_size_x`
pub(crate) unsafe fn type_size_x(datatype: MPI_Datatype, size: *mut MPI_Count) -> Answer {
    not_yet()
}
