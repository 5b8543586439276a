//! The sparse collectives of the 2008 proposal: each rank passes the groups that it sends to and
//! receives from. Each collective has its three forms in one function.
//!
//! Lists have an entry for each member of their group. `MPI_IN_PLACE` is not allowed.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_void;

use motet::Group;
use motet::raw::Collective;

use super::Form;
use super::arguments::{self, InPlace, Items, Reduced, Which, operator};
use super::collective_call::Call;
use crate::arena::ObjectRef;
use crate::count::Counts;
use crate::error::AbiResult;
use crate::handle::{MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Group, MPI_Op};

/// Whom a rank sends to, and whom it receives from.
struct Groups {
    to: ObjectRef<Group>,
    from: ObjectRef<Group>,
}

impl Groups {
    fn of(to: MPI_Group, from: MPI_Group) -> AbiResult<Groups> {
        Ok(Groups { to: to.object()?, from: from.object()? })
    }
}

/// Blocks of one length: one for each destination, or one for all of them.
macro_rules! of_blocks {
    ($($text:literal $name:ident: $collective:ident;)*) => {$(
        #[doc = $text]
        pub(crate) unsafe fn $name(
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
        ) -> AbiResult {
            let work = |call: &Call| {
                let Groups { to, from } = &Groups::of(sendgroup, recvgroup)?;
                let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
                let receive = Items::new(Which::Receive, recvbuf, recvcount, recvtype)?;
                let (send, receive) = (Some(send.data()), receive.data());
                call.perform(&Collective::$collective { send, receive, to, from })
            };
            // SAFETY: the program passes what the standard says.
            unsafe { Call::dispatch(comm, form, None, work) }
        }
    )*};
}

of_blocks! {
    "`MPIX_Exchange`" exchange: Exchange;
    "`MPIX_Neighbor_bcast`" neighbor_bcast: NeighborBcast;
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
) -> AbiResult {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let to = (groups.to.size(), sendcounts, sdispls);
        let from = (groups.from.size(), recvcounts, rdispls);
        let send = call.blocks_of(Which::Send, sendbuf, to, sendtype)?;
        let receive = call.blocks_of(Which::Receive, recvbuf, from, recvtype)?;
        let (send, receive) = (Some(send.blocks()), receive.blocks());
        let Groups { to, from } = &groups;
        let collective = Collective::Exchangev { send, receive, to, from };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let (sdispls, rdispls) = (Counts::large(sdispls.cast()), Counts::large(rdispls.cast()));
        let to = (groups.to.size(), sendcounts, sdispls);
        let from = (groups.from.size(), recvcounts, rdispls);
        let send = call.mixed_of(Which::Send, sendbuf, to, sendtypes)?;
        let receive = call.mixed_of(Which::Receive, recvbuf, from, recvtypes)?;
        let (send, receive) = (Some(send.mixed()), receive.mixed());
        let Groups { to, from } = &groups;
        let collective = Collective::Exchangew { send, receive, to, from };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
        let from = (groups.from.size(), recvcounts, rdispls);
        let receive = call.blocks_of(Which::Receive, recvbuf, from, recvtype)?;
        let (send, receive) = (Some(send.data()), receive.blocks());
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborBcastv { send, receive, to, from };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}

/// Reductions of blocks of one length: one for each destination, or one for all of them.
macro_rules! reductions {
    ($($text:literal $name:ident: $collective:ident;)*) => {$(
        #[doc = $text]
        pub(crate) unsafe fn $name(
            sendbuf: *const c_void,
            recvbuf: *mut c_void,
            count: i64,
            datatype: MPI_Datatype,
            op: MPI_Op,
            sendgroup: MPI_Group,
            recvgroup: MPI_Group,
            comm: MPI_Comm,
            form: Form,
        ) -> AbiResult {
            let work = |call: &Call| {
                let Groups { to, from } = &Groups::of(sendgroup, recvgroup)?;
                let input = arguments::input(sendbuf, InPlace::Refused)?;
                let buffers = (input, arguments::output(recvbuf)?);
                let reduced = Reduced::new(buffers, count, datatype, op)?;
                let reduction = reduced.reduction();
                call.perform(&Collective::$collective { reduction, to, from })
            };
            // SAFETY: the program passes what the standard says.
            unsafe { Call::dispatch(comm, form, None, work) }
        }
    )*};
}

reductions! {
    "`MPIX_Neighbor_reduce`" neighbor_reduce: NeighborReduce;
    "`MPIX_Neighbor_allreduce`" neighbor_allreduce: NeighborAllreduce;
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
) -> AbiResult {
    let work = |call: &Call| {
        let groups = Groups::of(sendgroup, recvgroup)?;
        let to = (groups.to.size(), sendcounts, sdispls);
        let send = call.blocks_of(Which::Send, sendbuf, to, sendtype)?;
        let receive = Items::new(Which::Receive, recvbuf, recvcount, recvtype)?;
        let op = &operator(op, receive.datatype())?;
        let (send, receive) = (Some(send.blocks()), receive.data());
        let Groups { to, from } = &groups;
        let collective = Collective::NeighborReducev { send, receive, op, to, from };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}
