//! The collectives of the standard, each with its forms behind one function.
//!
//! The arguments are those of the MPI call, up to the communicator. Lists have an entry for each
//! rank (of the remote group, on an intercommunicator). Only lists are copied; calls without lists
//! allocate nothing on the way to the layer below.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::raw::{Collective, CollectiveKind};

use super::Form;
use super::arguments::{Blocks, Items, Mixed, Which};
use super::collective_call::{Call, RootPart};
use super::signature::{HandleSide, NO_OP, NO_ROOT, signature};
use crate::count::Counts;
use crate::error::AbiResult;
use crate::handle::{MPI_Comm, MPI_Datatype, MPI_Op};

/// `MPI_Barrier`
pub(crate) unsafe fn barrier(comm: MPI_Comm, form: Form) -> AbiResult {
    let work = |call: &Call| {
        let collective = Collective::Barrier;
        call.perform(&collective)
    };
    let signature =
        signature(CollectiveKind::Barrier, NO_ROOT, NO_OP, [HandleSide::NONE, HandleSide::NONE]);
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, signature, work) }
}

/// `MPI_Bcast`
pub(crate) unsafe fn bcast(
    buffer: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    form: Form,
) -> AbiResult {
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let items = match part {
            RootPart::Idle => Items::nothing()?,
            _ => Items::new(Which::Only, buffer, count, datatype)?,
        };
        let collective = Collective::Bcast { data: items.data(), root };
        call.perform(&collective)
    };
    let data = HandleSide(buffer, count, datatype);
    let signature = signature(CollectiveKind::Bcast, root, NO_OP, [HandleSide::NONE, data]);
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, signature, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let send = call.own_block(part, (Which::Send, sendbuf), sendcount, sendtype)?;
        let receive = part.at_root(|| Items::new(Which::Receive, recvbuf, recvcount, recvtype))?;
        let (send, receive) = (send.as_ref().map(Items::data), receive.as_ref().map(Items::data));
        let collective = Collective::Gather { send, receive, root };
        call.perform(&collective)
    };
    let sides =
        [HandleSide(sendbuf, sendcount, sendtype), HandleSide(recvbuf, recvcount, recvtype)];
    let signature = signature(CollectiveKind::Gather, root, NO_OP, sides);
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, signature, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let send = call.own_block(part, (Which::Send, sendbuf), sendcount, sendtype)?;
        let lists = (recvcounts, displs);
        let blocks = || call.blocks(Which::Receive, recvbuf, lists, recvtype);
        let receive = part.at_root(blocks)?;
        let (send, receive) =
            (send.as_ref().map(Items::data), receive.as_ref().map(Blocks::blocks));
        let collective = Collective::Gatherv { send, receive, root };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let send = part.at_root(|| Items::new(Which::Send, sendbuf, sendcount, sendtype))?;
        let receive = call.own_block(part, (Which::Receive, recvbuf), recvcount, recvtype)?;
        let (send, receive) = (send.as_ref().map(Items::data), receive.as_ref().map(Items::data));
        let collective = Collective::Scatter { send, receive, root };
        call.perform(&collective)
    };
    let sides =
        [HandleSide(sendbuf, sendcount, sendtype), HandleSide(recvbuf, recvcount, recvtype)];
    let signature = signature(CollectiveKind::Scatter, root, NO_OP, sides);
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, signature, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let lists = (sendcounts, displs);
        let blocks = || call.blocks(Which::Send, sendbuf, lists, sendtype);
        let send = part.at_root(blocks)?;
        let receive = call.own_block(part, (Which::Receive, recvbuf), recvcount, recvtype)?;
        let (send, receive) =
            (send.as_ref().map(Blocks::blocks), receive.as_ref().map(Items::data));
        let collective = Collective::Scatterv { send, receive, root };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}

/// A block from each rank at all ranks: the same from each, or one for each.
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
                let send = call.items_or_in_place(sendbuf, sendcount, sendtype)?;
                let receive = call.items(Which::Receive, recvbuf, recvcount, recvtype)?;
                let send = send.as_ref().map(Items::data);
                call.perform(&Collective::$collective { send, receive: receive.data() })
            };
            let send = HandleSide(sendbuf, sendcount, sendtype);
            let receive = HandleSide(recvbuf, recvcount, recvtype);
            let signature = signature(CollectiveKind::$collective, NO_ROOT, NO_OP, [send, receive]);
            // SAFETY: the program passes what the standard says.
            unsafe { Call::dispatch(comm, form, signature, work) }
        }
    )*};
}

of_blocks! {
    "`MPI_Allgather`" allgather: Allgather;
    "`MPI_Alltoall`" alltoall: Alltoall;
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
) -> AbiResult {
    let work = |call: &Call| {
        let send = call.items_or_in_place(sendbuf, sendcount, sendtype)?;
        let lists = (recvcounts, displs);
        let receive = call.blocks(Which::Receive, recvbuf, lists, recvtype)?;
        let send = send.as_ref().map(Items::data);
        let collective = Collective::Allgatherv { send, receive: receive.blocks() };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (to, from) = ((sendcounts, sdispls), (recvcounts, rdispls));
        let send = if call.is_sent_in_place(sendbuf) {
            None
        } else {
            Some(call.blocks(Which::Send, sendbuf, to, sendtype)?)
        };
        let receive = call.blocks(Which::Receive, recvbuf, from, recvtype)?;
        let send = send.as_ref().map(Blocks::blocks);
        let collective = Collective::Alltoallv { send, receive: receive.blocks() };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (to, from) = ((sendcounts, sdispls), (recvcounts, rdispls));
        let send = if call.is_sent_in_place(sendbuf) {
            None
        } else {
            Some(call.mixed(Which::Send, sendbuf, to, sendtypes)?)
        };
        let receive = call.mixed(Which::Receive, recvbuf, from, recvtypes)?;
        let send = send.as_ref().map(Mixed::mixed);
        let collective = Collective::Alltoallw { send, receive: receive.mixed() };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
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
) -> AbiResult {
    let work = |call: &Call| {
        let (root, part) = call.root(root)?;
        let data = (sendbuf.cast_mut(), recvbuf);
        let reduced = call.reduced_at_root(part, data, count, datatype, op)?;
        let collective = Collective::Reduce { reduction: reduced.reduction(), root };
        call.perform(&collective)
    };
    let sides = [HandleSide(sendbuf, count, datatype), HandleSide(recvbuf, count, datatype)];
    let signature = signature(CollectiveKind::Reduce, root, op, sides);
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, signature, work) }
}

/// Where the result of a reduction goes: nowhere if this rank gets none, as the first one of an
/// exclusive scan.
#[inline(always)]
fn result_at(
    call: &Call,
    kind: CollectiveKind,
    input: *const c_void,
    output: *mut c_void,
) -> *mut c_void {
    let is_exscan = matches!(kind, CollectiveKind::Exscan);
    if is_exscan && !call.is_sent_in_place(input) && call.is_first() {
        return std::ptr::null_mut();
    }
    output
}

/// Reductions of which all ranks get a result, which take the same arguments.
macro_rules! reductions {
    ($($text:literal $name:ident: $collective:ident;)*) => {$(
        #[doc = $text]
        pub(crate) unsafe fn $name(
            sendbuf: *const c_void,
            recvbuf: *mut c_void,
            count: i64,
            datatype: MPI_Datatype,
            op: MPI_Op,
            comm: MPI_Comm,
            form: Form,
        ) -> AbiResult {
            let work = |call: &Call| {
                let result = result_at(call, CollectiveKind::$collective, sendbuf, recvbuf);
                let reduced = call.reduced(sendbuf, result, count, datatype, op)?;
                call.perform(&Collective::$collective { reduction: reduced.reduction() })
            };
            let send = HandleSide(sendbuf, count, datatype);
            let receive = HandleSide(recvbuf, count, datatype);
            let signature = signature(CollectiveKind::$collective, NO_ROOT, op, [send, receive]);
            // SAFETY: the program passes what the standard says.
            unsafe { Call::dispatch(comm, form, signature, work) }
        }
    )*};
}

reductions! {
    "`MPI_Allreduce`" allreduce: Allreduce;
    "`MPI_Scan`" scan: Scan;
    "`MPI_Exscan`" exscan: Exscan;
    "`MPI_Reduce_scatter_block`" reduce_scatter_block: ReduceScatterBlock;
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
) -> AbiResult {
    let work = |call: &Call| {
        let counts = call.shares(recvcounts)?;
        let reduced = call.reduced(sendbuf, recvbuf, 0, datatype, op)?;
        let reduction = reduced.reduction();
        let collective = Collective::ReduceScatter { reduction, counts: &counts };
        call.perform(&collective)
    };
    // SAFETY: the program passes what the standard says.
    unsafe { Call::dispatch(comm, form, None, work) }
}
