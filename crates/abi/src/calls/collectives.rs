//! The collectives of the standard, each with its forms behind one function.
//!
//! The arguments are those of the call, up to the communicator; lists have an entry for each rank
//! (of the far group, on an intercommunicator), and only lists are copied: the others allocate
//! nothing on the way to the layer below.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::{c_int, c_void};

use motet::raw::Collective;

use super::Form;
use super::arguments::{Blocks, Items, Mixed, Which};
use super::form::{Call, Part};
use crate::count::Counts;
use crate::fault::Answer;
use crate::handle::{MPI_Comm, MPI_Datatype, MPI_Op};

/// `MPI_Barrier`
pub(crate) unsafe fn barrier(comm: MPI_Comm, form: Form) -> Answer {
    let work = |call: &Call| {
        let collective = Collective::Barrier;
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let items = match part {
            Part::Idle => Items::nothing()?,
            _ => Items::new(Which::Only, buffer, count, datatype)?,
        };
        let collective = Collective::Bcast { data: items.data(), root };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let send = call.own_block(part, (Which::Send, sendbuf), sendcount, sendtype)?;
        let receive = part.at_root(|| Items::new(Which::Receive, recvbuf, recvcount, recvtype))?;
        let (send, receive) = (send.as_ref().map(Items::data), receive.as_ref().map(Items::data));
        let collective = Collective::Gather { send, receive, root };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let send = call.own_block(part, (Which::Send, sendbuf), sendcount, sendtype)?;
        let lists = (recvcounts, displs);
        // SAFETY: the lists are as long as the standard says, says the program.
        let blocks = || unsafe { call.blocks(Which::Receive, recvbuf, lists, recvtype) };
        let receive = part.at_root(blocks)?;
        let (send, receive) =
            (send.as_ref().map(Items::data), receive.as_ref().map(Blocks::blocks));
        let collective = Collective::Gatherv { send, receive, root };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPI_Scatter`
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
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let send = part.at_root(|| Items::new(Which::Send, sendbuf, sendcount, sendtype))?;
        let receive = call.own_block(part, (Which::Receive, recvbuf), recvcount, recvtype)?;
        let (send, receive) = (send.as_ref().map(Items::data), receive.as_ref().map(Items::data));
        let collective = Collective::Scatter { send, receive, root };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPI_Scatterv`
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
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let lists = (sendcounts, displs);
        // SAFETY: the lists are as long as the standard says, says the program.
        let blocks = || unsafe { call.blocks(Which::Send, sendbuf, lists, sendtype) };
        let send = part.at_root(blocks)?;
        let receive = call.own_block(part, (Which::Receive, recvbuf), recvcount, recvtype)?;
        let (send, receive) =
            (send.as_ref().map(Blocks::blocks), receive.as_ref().map(Items::data));
        let collective = Collective::Scatterv { send, receive, root };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let send = call.items_or_in_place(sendbuf, sendcount, sendtype)?;
        let receive = call.items(Which::Receive, recvbuf, recvcount, recvtype)?;
        let send = send.as_ref().map(Items::data);
        let collective = Collective::Allgather { send, receive: receive.data() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let send = call.items_or_in_place(sendbuf, sendcount, sendtype)?;
        let receive = call.items(Which::Receive, recvbuf, recvcount, recvtype)?;
        let send = send.as_ref().map(Items::data);
        let collective = Collective::Alltoall { send, receive: receive.data() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let send = call.items_or_in_place(sendbuf, sendcount, sendtype)?;
        let lists = (recvcounts, displs);
        // SAFETY: the lists are as long as the standard says, says the program.
        let receive = unsafe { call.blocks(Which::Receive, recvbuf, lists, recvtype) }?;
        let send = send.as_ref().map(Items::data);
        let collective = Collective::Allgatherv { send, receive: receive.blocks() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let (to, from) = ((sendcounts, sdispls), (recvcounts, rdispls));
        let send = if call.is_sent_in_place(sendbuf) {
            None
        } else {
            // SAFETY: the lists are as long as the standard says, says the program.
            Some(unsafe { call.blocks(Which::Send, sendbuf, to, sendtype) }?)
        };
        // SAFETY: the lists are as long as the standard says, says the program.
        let receive = unsafe { call.blocks(Which::Receive, recvbuf, from, recvtype) }?;
        let send = send.as_ref().map(Blocks::blocks);
        let collective = Collective::Alltoallv { send, receive: receive.blocks() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let (to, from) = ((sendcounts, sdispls), (recvcounts, rdispls));
        let send = if call.is_sent_in_place(sendbuf) {
            None
        } else {
            // SAFETY: the lists are as long as the standard says, says the program.
            Some(unsafe { call.mixed(Which::Send, sendbuf, to, sendtypes) }?)
        };
        // SAFETY: the lists are as long as the standard says, says the program.
        let receive = unsafe { call.mixed(Which::Receive, recvbuf, from, recvtypes) }?;
        let send = send.as_ref().map(Mixed::mixed);
        let collective = Collective::Alltoallw { send, receive: receive.mixed() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPI_Reduce`
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
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let data = (sendbuf.cast_mut(), recvbuf);
        let reduced = call.reduced_at_root(part, data, count, datatype, op)?;
        let collective = Collective::Reduce { reduction: reduced.reduction(), root };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let reduced = call.reduced(sendbuf, recvbuf, count, datatype, op)?;
        let collective = Collective::Allreduce { reduction: reduced.reduction() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPI_Scan`
pub(crate) unsafe fn scan(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let reduced = call.reduced(sendbuf, recvbuf, count, datatype, op)?;
        let collective = Collective::Scan { reduction: reduced.reduction() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
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
    let work = |call: &Call| {
        let reduced = call.reduced(sendbuf, recvbuf, count, datatype, op)?;
        let collective = Collective::Exscan { reduction: reduced.reduction() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPI_Reduce_scatter_block`
pub(crate) unsafe fn reduce_scatter_block(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let reduced = call.reduced(sendbuf, recvbuf, recvcount, datatype, op)?;
        let collective = Collective::ReduceScatterBlock { reduction: reduced.reduction() };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPI_Reduce_scatter`
pub(crate) unsafe fn reduce_scatter(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        // SAFETY: the lists are as long as the standard says, says the program.
        let counts = unsafe { call.shares(recvcounts) }?;
        let reduced = call.reduced(sendbuf, recvbuf, 0, datatype, op)?;
        let reduction = reduced.reduction();
        let collective = Collective::ReduceScatter { reduction, counts: &counts };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}
