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

/// `MPI_Comm_compare`
pub(crate) unsafe fn comm_compare(comm1: MPI_Comm, comm2: MPI_Comm, result: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Comm_create`
pub(crate) unsafe fn comm_create(
    comm: MPI_Comm,
    group: MPI_Group,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_create_group`
pub(crate) unsafe fn comm_create_group(
    comm: MPI_Comm,
    group: MPI_Group,
    tag: c_int,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_disconnect`
pub(crate) unsafe fn comm_disconnect(comm: *mut MPI_Comm) -> Answer {
    not_yet()
}

/// `MPI_Comm_dup`
pub(crate) unsafe fn comm_dup(comm: MPI_Comm, newcomm: *mut MPI_Comm) -> Answer {
    not_yet()
}

/// `MPI_Comm_dup_with_info`
pub(crate) unsafe fn comm_dup_with_info(
    comm: MPI_Comm,
    info: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_free`
pub(crate) unsafe fn comm_free(comm: *mut MPI_Comm) -> Answer {
    not_yet()
}

/// `MPI_Comm_get_info`
pub(crate) unsafe fn comm_get_info(comm: MPI_Comm, info_used: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Comm_get_name`
pub(crate) unsafe fn comm_get_name(
    comm: MPI_Comm,
    comm_name: *mut c_char,
    resultlen: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_get_parent`
pub(crate) unsafe fn comm_get_parent(parent: *mut MPI_Comm) -> Answer {
    not_yet()
}

/// `MPI_Comm_group`
pub(crate) unsafe fn comm_group(comm: MPI_Comm, group: *mut MPI_Group) -> Answer {
    not_yet()
}

/// `MPI_Comm_idup`
pub(crate) unsafe fn comm_idup(
    comm: MPI_Comm,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_idup_with_info`
pub(crate) unsafe fn comm_idup_with_info(
    comm: MPI_Comm,
    info: MPI_Info,
    newcomm: *mut MPI_Comm,
    request: *mut MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_rank`
pub(crate) unsafe fn comm_rank(comm: MPI_Comm, rank: *mut c_int) -> Answer {
    let comm = comm.object()?;
    // SAFETY: the caller has a place there.
    unsafe { rank.write(comm.rank() as c_int) };
    Ok(())
}

/// `MPI_Comm_set_info`
pub(crate) unsafe fn comm_set_info(comm: MPI_Comm, info: MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Comm_set_name`
pub(crate) unsafe fn comm_set_name(comm: MPI_Comm, comm_name: *const c_char) -> Answer {
    not_yet()
}

/// `MPI_Comm_size`
pub(crate) unsafe fn comm_size(comm: MPI_Comm, size: *mut c_int) -> Answer {
    let comm = comm.object()?;
    // SAFETY: the caller has a place there.
    unsafe { size.write(comm.size() as c_int) };
    Ok(())
}

/// `MPI_Comm_split`
pub(crate) unsafe fn comm_split(
    comm: MPI_Comm,
    color: c_int,
    key: c_int,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Comm_split_type`
pub(crate) unsafe fn comm_split_type(
    comm: MPI_Comm,
    split_type: c_int,
    key: c_int,
    info: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}
