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

/// `MPI_Group_compare`
pub(crate) unsafe fn group_compare(
    group1: MPI_Group,
    group2: MPI_Group,
    result: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Group_difference`
pub(crate) unsafe fn group_difference(
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Group_excl`
pub(crate) unsafe fn group_excl(
    group: MPI_Group,
    n: c_int,
    ranks: *const c_int,
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Group_free`
pub(crate) unsafe fn group_free(group: *mut MPI_Group) -> Answer {
    not_yet()
}

/// `MPI_Group_incl`
pub(crate) unsafe fn group_incl(
    group: MPI_Group,
    n: c_int,
    ranks: *const c_int,
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Group_intersection`
pub(crate) unsafe fn group_intersection(
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Group_range_excl`
pub(crate) unsafe fn group_range_excl(
    group: MPI_Group,
    n: c_int,
    ranges: *mut [c_int; 3],
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Group_range_incl`
pub(crate) unsafe fn group_range_incl(
    group: MPI_Group,
    n: c_int,
    ranges: *mut [c_int; 3],
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Group_rank`
pub(crate) unsafe fn group_rank(group: MPI_Group, rank: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Group_size`
pub(crate) unsafe fn group_size(group: MPI_Group, size: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Group_translate_ranks`
pub(crate) unsafe fn group_translate_ranks(
    group1: MPI_Group,
    n: c_int,
    ranks1: *const c_int,
    group2: MPI_Group,
    ranks2: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Group_union`
pub(crate) unsafe fn group_union(
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}
