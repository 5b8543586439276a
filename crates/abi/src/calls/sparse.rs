//! The exchanges of the 2008 proposal: each rank names by groups whom it sends to and whom it
//! receives from. Each has its three forms behind one function.
//!
//! Lists have an entry for each member of the group that they are about. Nothing can be in place.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::c_void;

use motet::Group;
use motet::raw::Collective;

use super::Form;
use super::arguments::{self, Blocks, InPlace, Items, Mixed, Reduced, Which, operator};
use super::form::Call;
use crate::count::Counts;
use crate::fault::Answer;
use crate::handle::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Group, MPI_Op};
use crate::slot::Found;

/// Whom a rank sends to, and whom it receives from.
struct Groups {
    to: Found<Group>,
    from: Found<Group>,
}

impl Groups {
    fn of(to: MPI_Group, from: MPI_Group) -> Answer<Groups> {
        Ok(Groups { to: to.object()?, from: from.object()? })
    }
}

/// `MPIX_Exchange`
pub(crate) unsafe fn exchange(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
        let receive = Items::new(Which::Receive, recvbuf, recvcount, recvtype)?;
        let (send, receive) = (Some(send.data()), receive.data());
        let Groups { to, from } = &groups;
        let collective = Collective::Exchange { send, receive, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Neighbor_bcast`
pub(crate) unsafe fn neighbor_bcast(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
        let receive = Items::new(Which::Receive, recvbuf, recvcount, recvtype)?;
        let (send, receive) = (Some(send.data()), receive.data());
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborBcast { send, receive, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Exchangev`
pub(crate) unsafe fn exchangev(
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: Counts,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: Counts,
    recvtype: MPI_Datatype,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let to = (groups.to.size(), sendcounts, sdispls);
        let from = (groups.from.size(), recvcounts, rdispls);
        // SAFETY: the lists are as long as the standard says, says the program.
        let send = unsafe { Blocks::new(Which::Send, sendbuf, to, sendtype) }?;
        // SAFETY: the lists are as long as the standard says, says the program.
        let receive = unsafe { Blocks::new(Which::Receive, recvbuf, from, recvtype) }?;
        let (send, receive) = (Some(send.blocks()), receive.blocks());
        let Groups { to, from } = &groups;
        let collective = Collective::Exchangev { send, receive, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Exchangew`
pub(crate) unsafe fn exchangew(
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let (sdispls, rdispls) = (Counts::large(sdispls.cast()), Counts::large(rdispls.cast()));
        let to = (groups.to.size(), sendcounts, sdispls);
        let from = (groups.from.size(), recvcounts, rdispls);
        // SAFETY: the lists are as long as the standard says, says the program.
        let send = unsafe { Mixed::new(Which::Send, sendbuf, to, sendtypes) }?;
        // SAFETY: the lists are as long as the standard says, says the program.
        let receive = unsafe { Mixed::new(Which::Receive, recvbuf, from, recvtypes) }?;
        let (send, receive) = (Some(send.mixed()), receive.mixed());
        let Groups { to, from } = &groups;
        let collective = Collective::Exchangew { send, receive, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Neighbor_bcastv`
pub(crate) unsafe fn neighbor_bcastv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: Counts,
    recvtype: MPI_Datatype,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
        let from = (groups.from.size(), recvcounts, rdispls);
        // SAFETY: the lists are as long as the standard says, says the program.
        let receive = unsafe { Blocks::new(Which::Receive, recvbuf, from, recvtype) }?;
        let (send, receive) = (Some(send.data()), receive.blocks());
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborBcastv { send, receive, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Neighbor_reduce`
pub(crate) unsafe fn neighbor_reduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let buffers = (arguments::input(sendbuf, InPlace::Refused)?, arguments::output(recvbuf)?);
        let reduced = Reduced::new(buffers, count, datatype, op)?;
        let reduction = reduced.reduction();
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborReduce { reduction, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Neighbor_allreduce`
pub(crate) unsafe fn neighbor_allreduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let buffers = (arguments::input(sendbuf, InPlace::Refused)?, arguments::output(recvbuf)?);
        let reduced = Reduced::new(buffers, count, datatype, op)?;
        let reduction = reduced.reduction();
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborAllreduce { reduction, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}

/// `MPIX_Neighbor_reducev`
pub(crate) unsafe fn neighbor_reducev(
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: Counts,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    op: MPI_Op,
    sendgroup: MPI_Group,
    recvgroup: MPI_Group,
    comm: MPI_Comm,
    form: Form,
) -> Answer {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let to = (groups.to.size(), sendcounts, sdispls);
        // SAFETY: the lists are as long as the standard says, says the program.
        let send = unsafe { Blocks::new(Which::Send, sendbuf, to, sendtype) }?;
        let receive = Items::new(Which::Receive, recvbuf, recvcount, recvtype)?;
        let op = &operator(op, receive.datatype())?;
        let (send, receive) = (Some(send.blocks()), receive.data());
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborReducev { send, receive, op, to, from };
        // SAFETY: all data is there for as long as the call needs it, says the program.
        unsafe { call.perform(&collective) }
    };
    // SAFETY: there is a place for the request, says the program.
    unsafe { Call::make(comm, form, work) }
}
