//! Intercommunicators. (MPI 4.1 §7.6)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::{ErrorClass, MergeOrder};

use super::communicators::creation_tag;
use crate::error::{AbiError, AbiResult};
use crate::handle::{MPI_Comm, MPI_Group};
use crate::objects::Shape;
use crate::out_params::{expect_place, put};

/// `MPI_Comm_remote_group`
pub(crate) unsafe fn comm_remote_group(comm: MPI_Comm, group: *mut MPI_Group) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let remote = comm.inter()?.remote_group().clone();
        // SAFETY: the caller has a place there.
        unsafe { put(group, MPI_Group::publish(remote)) }
    })
}

/// `MPI_Comm_remote_size`
pub(crate) unsafe fn comm_remote_size(comm: MPI_Comm, size: *mut c_int) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let remote = comm.inter()?.remote_size();
        // SAFETY: the caller has a place there.
        unsafe { put(size, remote as c_int) }
    })
}

/// `MPI_Comm_test_inter`
pub(crate) unsafe fn comm_test_inter(comm: MPI_Comm, flag: *mut c_int) -> AbiResult {
    let comm = comm.object()?;
    let is_between = matches!(comm.shape(), Shape::Between(_));
    // SAFETY: the caller has a place there.
    comm.answer(|| unsafe { put(flag, c_int::from(is_between)) })
}

/// `MPI_Intercomm_create`: what is said of the other side counts at the leader only, and may be
/// anything elsewhere.
pub(crate) unsafe fn intercomm_create(
    local_comm: MPI_Comm,
    local_leader: c_int,
    peer_comm: MPI_Comm,
    remote_leader: c_int,
    tag: c_int,
    newintercomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = local_comm.object()?;
    comm.answer(|| {
        expect_place(newintercomm)?;
        let (local, tag) = (comm.intra()?, creation_tag(tag)?);
        let leader = usize::try_from(local_leader).map_err(|_| {
            AbiError::new(ErrorClass::Rank, format!("the local leader is {local_leader}"))
        })?;
        // What is wrong with these is told to the whole group by what is called below.
        let peer = peer_comm.object().ok().filter(|_| local.rank() == leader);
        let peer = peer.as_ref().map(|peer| peer.on());
        let remote_leader = usize::try_from(remote_leader).unwrap_or(usize::MAX);
        let made = local.intercomm_create_on(leader, peer, remote_leader, tag)?;
        // SAFETY: the caller has a place there.
        unsafe { put(newintercomm, comm.publish(Shape::from(made))) }
    })
}

/// `MPI_Intercomm_merge`
pub(crate) unsafe fn intercomm_merge(
    intercomm: MPI_Comm,
    high: c_int,
    newintracomm: *mut MPI_Comm,
) -> AbiResult {
    let comm = intercomm.object()?;
    comm.answer(|| {
        expect_place(newintracomm)?;
        let order = if high == 0 { MergeOrder::First } else { MergeOrder::Last };
        let merged = comm.inter()?.merge(order)?;
        // SAFETY: the caller has a place there.
        unsafe { put(newintracomm, comm.publish(Shape::Plain(merged))) }
    })
}
