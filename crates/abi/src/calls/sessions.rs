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

/// `MPI_Comm_create_from_group`
pub(crate) unsafe fn comm_create_from_group(
    group: MPI_Group,
    stringtag: *const c_char,
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    newcomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Group_from_session_pset`
pub(crate) unsafe fn group_from_session_pset(
    session: MPI_Session,
    pset_name: *const c_char,
    newgroup: *mut MPI_Group,
) -> Answer {
    not_yet()
}

/// `MPI_Intercomm_create_from_groups`
pub(crate) unsafe fn intercomm_create_from_groups(
    local_group: MPI_Group,
    local_leader: c_int,
    remote_group: MPI_Group,
    remote_leader: c_int,
    stringtag: *const c_char,
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    newintercomm: *mut MPI_Comm,
) -> Answer {
    not_yet()
}

/// `MPI_Session_attach_buffer`
pub(crate) unsafe fn session_attach_buffer(
    session: MPI_Session,
    buffer: *mut c_void,
    size: i64,
) -> Answer {
    not_yet()
}

/// `MPI_Session_call_errhandler`
pub(crate) unsafe fn session_call_errhandler(session: MPI_Session, errorcode: c_int) -> Answer {
    not_yet()
}

/// `MPI_Session_create_errhandler`
pub(crate) unsafe fn session_create_errhandler(
    session_errhandler_fn: Callback,
    errhandler: *mut MPI_Errhandler,
) -> Answer {
    not_yet()
}

/// `MPI_Session_detach_buffer`
pub(crate) unsafe fn session_detach_buffer(
    session: MPI_Session,
    buffer_addr: *mut c_void,
    size: CountPlace,
) -> Answer {
    not_yet()
}

/// `MPI_Session_finalize`
pub(crate) unsafe fn session_finalize(session: *mut MPI_Session) -> Answer {
    not_yet()
}

/// `MPI_Session_flush_buffer`
pub(crate) unsafe fn session_flush_buffer(session: MPI_Session) -> Answer {
    not_yet()
}

/// `MPI_Session_get_errhandler`
pub(crate) unsafe fn session_get_errhandler(
    session: MPI_Session,
    errhandler: *mut MPI_Errhandler,
) -> Answer {
    not_yet()
}

/// `MPI_Session_get_info`
pub(crate) unsafe fn session_get_info(session: MPI_Session, info_used: *mut MPI_Info) -> Answer {
    not_yet()
}

/// `MPI_Session_get_nth_pset`
pub(crate) unsafe fn session_get_nth_pset(
    session: MPI_Session,
    info: MPI_Info,
    n: c_int,
    pset_len: *mut c_int,
    pset_name: *mut c_char,
) -> Answer {
    not_yet()
}

/// `MPI_Session_get_num_psets`
pub(crate) unsafe fn session_get_num_psets(
    session: MPI_Session,
    info: MPI_Info,
    npset_names: *mut c_int,
) -> Answer {
    not_yet()
}

/// `MPI_Session_get_pset_info`
pub(crate) unsafe fn session_get_pset_info(
    session: MPI_Session,
    pset_name: *const c_char,
    info: *mut MPI_Info,
) -> Answer {
    not_yet()
}

/// `MPI_Session_iflush_buffer`
pub(crate) unsafe fn session_iflush_buffer(
    session: MPI_Session,
    request: *mut MPI_Request,
) -> Answer {
    not_yet()
}

/// `MPI_Session_init`
pub(crate) unsafe fn session_init(
    info: MPI_Info,
    errhandler: MPI_Errhandler,
    session: *mut MPI_Session,
) -> Answer {
    not_yet()
}

/// `MPI_Session_set_errhandler`
pub(crate) unsafe fn session_set_errhandler(
    session: MPI_Session,
    errhandler: MPI_Errhandler,
) -> Answer {
    not_yet()
}
