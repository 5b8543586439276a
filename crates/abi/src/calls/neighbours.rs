//! The neighbourhood collectives of a topology, each with all its forms in one function.
//!
//! Lists have an entry for each neighbour. `MPI_IN_PLACE` is not allowed.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_void;

use motet::raw::Collective;

use super::Form;
use super::arguments::{Items, Which};
use super::collective_call::Call;
use crate::count::Counts;
use crate::error::AbiResult;
use crate::handle::{MPI_Aint, MPI_Comm, MPI_Datatype};

/// How many neighbours there are.
struct Degrees {
    sources: usize,
    destinations: usize,
}

/// The neighbours of the caller.
///
/// # Errors
/// An intercommunicator; a communicator without a topology.
fn degrees(call: &Call) -> AbiResult<Degrees> {
    let near = call.comm.intra()?.neighbourhood()?;
    Ok(Degrees { sources: near.sources().len(), destinations: near.destinations().len() })
}

/// A block from each neighbour: one for all that this rank sends to, or one for each.
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
            comm: MPI_Comm,
            form: Form,
        ) -> AbiResult {
            let work = |call: &Call| {
                degrees(call)?;
                let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
                let receive = Items::new(Which::Receive, recvbuf, recvcount, recvtype)?;
                let (send, receive) = (Some(send.data()), receive.data());
                call.perform(&Collective::$collective { send, receive })
            };
            // SAFETY: the program passes what the standard says.
            unsafe { Call::dispatch(comm, form, None, work) }
        }
    )*};
}

of_blocks! {
    "`MPI_Neighbor_allgather`" neighbor_allgather: NeighborAllgather;
    "`MPI_Neighbor_alltoall`" neighbor_alltoall: NeighborAlltoall;
}

/// `MPI_Neighbor_allgatherv`
pub(crate) unsafe fn neighbor_allgatherv(
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> AbiResult {
    let work = |call: &Call| {
        let degrees = degrees(call)?;
        let send = Items::new(Which::Send, sendbuf, sendcount, sendtype)?;
        let lists = (degrees.sources, recvcounts, displs);
        let receive = call.blocks_of(Which::Receive, recvbuf, lists, recvtype)?;
        let (send, receive) = (Some(send.data()), receive.blocks());
        let collective = Collective::NeighborAllgatherv { send, receive };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}

/// `MPI_Neighbor_alltoallv`
pub(crate) unsafe fn neighbor_alltoallv(
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
) -> AbiResult {
    let work = |call: &Call| {
        let degrees = degrees(call)?;
        let to = (degrees.destinations, sendcounts, sdispls);
        let from = (degrees.sources, recvcounts, rdispls);
        let send = call.blocks_of(Which::Send, sendbuf, to, sendtype)?;
        let receive = call.blocks_of(Which::Receive, recvbuf, from, recvtype)?;
        let (send, receive) = (Some(send.blocks()), receive.blocks());
        let collective = Collective::NeighborAlltoallv { send, receive };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}

/// `MPI_Neighbor_alltoallw`
pub(crate) unsafe fn neighbor_alltoallw(
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: *const MPI_Aint,
    sendtypes: *const MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: *const MPI_Aint,
    recvtypes: *const MPI_Datatype,
    comm: MPI_Comm,
    form: Form,
) -> AbiResult {
    let work = |call: &Call| {
        let degrees = degrees(call)?;
        let (sdispls, rdispls) = (Counts::large(sdispls.cast()), Counts::large(rdispls.cast()));
        let to = (degrees.destinations, sendcounts, sdispls);
        let from = (degrees.sources, recvcounts, rdispls);
        let send = call.mixed_of(Which::Send, sendbuf, to, sendtypes)?;
        let receive = call.mixed_of(Which::Receive, recvbuf, from, recvtypes)?;
        let (send, receive) = (Some(send.mixed()), receive.mixed());
        let collective = Collective::NeighborAlltoallw { send, receive };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}
