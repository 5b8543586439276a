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

/// `MPI_Allgather`
pub(crate) unsafe fn allgather(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Allgatherv`
pub(crate) unsafe fn allgatherv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Allreduce`
pub(crate) unsafe fn allreduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Alltoall`
pub(crate) unsafe fn alltoall(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Alltoallv`
pub(crate) unsafe fn alltoallv(
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: Counts,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: Counts,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Alltoallw`
pub(crate) unsafe fn alltoallw(
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: Counts,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: Counts,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Barrier`
pub(crate) unsafe fn barrier(comm: MPI_Comm, form: Form) -> Answer {
    not_yet()
}

/// `MPI_Bcast`
pub(crate) unsafe fn bcast(
    buffer: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Exscan`
pub(crate) unsafe fn exscan(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Gather`
pub(crate) unsafe fn gather(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Gatherv`
pub(crate) unsafe fn gatherv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Ireduce`
pub(crate) unsafe fn reduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Ireduce_scatter`
pub(crate) unsafe fn reduce_scatter(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Ireduce_scatter_block`
pub(crate) unsafe fn reduce_scatter_block(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Iscan`
pub(crate) unsafe fn scan(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Iscatter`
pub(crate) unsafe fn scatter(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}

/// `MPI_Iscatterv`
pub(crate) unsafe fn scatterv(
    sendbuf: *const c_void,
    sendcounts: Counts,
    displs: Counts,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    not_yet()
}
