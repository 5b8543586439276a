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

/// `MPI_Comm_remote_group`
pub(crate) unsafe fn comm_remote_group(comm: MPI_Comm, group: *mut MPI_Group) -> Answer {
    not_yet()
}

/// `MPI_Comm_remote_size`
pub(crate) unsafe fn comm_remote_size(comm: MPI_Comm, size: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Comm_test_inter`
pub(crate) unsafe fn comm_test_inter(comm: MPI_Comm, flag: *mut c_int) -> Answer {
    not_yet()
}

/// `MPI_Intercomm_create`
pub(crate) unsafe fn intercomm_create(
    local_comm: MPI_Comm,
    local_leader: c_int,
    peer_comm: MPI_Comm,
    remote_leader: c_int,
    tag: c_int,
    newintercomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Intercomm_merge`
pub(crate) unsafe fn intercomm_merge(
    intercomm: MPI_Comm,
    high: c_int,
    newintracomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}
