//! Probes and matched probes: `MPI_Probe`, `MPI_Mprobe`, `MPI_Mrecv` and the like.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};

use motet::{PROC_NULL, Source, raw};

use super::arguments::{Items, Which};
use super::messages::{filter, irecv, source};
use crate::constants::{
    MPI_ANY_TAG, MPI_BYTE, MPI_COMM_SELF, MPI_MESSAGE_NO_PROC, MPI_MESSAGE_NULL, MPI_PROC_NULL,
    MPI_REQUEST_NULL,
};
use crate::error::{AbiResult, argument};
use crate::handle::{MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request};
use crate::objects::{FoundComm, MPI_Status, Message, Request, Shape};
use crate::out_params::put;

/// Looks for a message on a communicator of whatever kind, with one of the probes of Motet.
macro_rules! find {
    ($probe:ident, $comm:expr, $from:expr, $tag:expr) => {{
        let (from, tag) = (source($from)?, filter($tag)?);
        match $comm.shape() {
            Shape::Between(between) => between.$probe(from, tag)?,
            _ => $comm.intra()?.$probe(from, tag)?,
        }
    }};
}

/// Says whether a message is there, and if so which.
///
/// # Safety
/// There are places for both, or none.
unsafe fn put_if_found(
    found: Option<motet::Status>,
    flag: *mut c_int,
    place: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: promised by the caller.
    unsafe { put(flag, c_int::from(found.is_some())) }?;
    if let Some(status) = found {
        // SAFETY: promised by the caller.
        unsafe { MPI_Status::tell(place, &raw::Status::from(status)) };
    }
    Ok(())
}

/// Gives a handle to a message that has been taken. That of a message from nobody is a constant.
fn publish(message: motet::Message, comm: &FoundComm) -> MPI_Message {
    if message.status().source == PROC_NULL {
        return MPI_MESSAGE_NO_PROC;
    }
    MPI_Message::keep(Message { message, comm: comm.clone() })
}

/// `MPI_Probe`
pub(crate) unsafe fn probe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let found = find!(probe, comm, source, tag);
        // SAFETY: the caller's place.
        unsafe { MPI_Status::tell(status, &raw::Status::from(found)) };
        Ok(())
    })
}

/// `MPI_Iprobe`
pub(crate) unsafe fn iprobe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        let found = find!(iprobe, comm, source, tag);
        // SAFETY: the caller's places.
        unsafe { put_if_found(found, flag, status) }
    })
}

/// `MPI_Mprobe`
pub(crate) unsafe fn mprobe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: the caller's place.
        unsafe { put(message, MPI_MESSAGE_NULL) }?;
        let found = find!(mprobe, comm, source, tag);
        // SAFETY: the caller's place.
        unsafe { MPI_Status::tell(status, &raw::Status::from(found.status())) };
        // SAFETY: the caller's place.
        unsafe { put(message, publish(found, &comm)) }
    })
}

/// `MPI_Improbe`
pub(crate) unsafe fn improbe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    flag: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: the caller's place.
        unsafe { put(message, MPI_MESSAGE_NULL) }?;
        let found = find!(improbe, comm, source, tag);
        let what = found.as_ref().map(motet::Message::status);
        // SAFETY: the caller's places.
        unsafe { put_if_found(what, flag, status) }?;
        let Some(found) = found else { return Ok(()) };
        // SAFETY: the caller's place.
        unsafe { put(message, publish(found, &comm)) }
    })
}

/// The handle of a message, and on whose account it is received; none of a message from nobody.
///
/// # Safety
/// There is a handle at the place, or that is null.
unsafe fn taken(place: *mut MPI_Message) -> AbiResult<(MPI_Message, Option<FoundComm>)> {
    if place.is_null() {
        return Err(argument("the address of the message is NULL"));
    }
    // SAFETY: promised by the caller.
    let handle = unsafe { place.read() };
    if handle == MPI_MESSAGE_NO_PROC {
        return Ok((handle, None));
    }
    Ok((handle, Some(handle.object()?.comm.clone())))
}

/// What the receive of a message from nobody comes to.
const NOBODY: raw::Status = raw::Status { source: Source::Rank(PROC_NULL), ..raw::Status::EMPTY };

/// `MPI_Mrecv`
pub(crate) unsafe fn mrecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: the caller's place.
    let (handle, comm) = unsafe { taken(message) }?;
    let Some(comm) = comm else {
        // SAFETY: the caller's place.
        unsafe { MPI_Status::tell(status, &NOBODY) };
        // SAFETY: the caller's place.
        return unsafe { put(message, MPI_MESSAGE_NULL) };
    };
    comm.answer(|| {
        let items = Items::new(Which::Receive, buf, count, datatype)?;
        let taken = handle.take()?.message;
        // SAFETY: the caller's place.
        unsafe { put(message, MPI_MESSAGE_NULL) }?;
        // SAFETY: the caller's memory.
        let told = unsafe { taken.mrecv_data(items.data()) };
        // SAFETY: the caller's place.
        Ok(unsafe { MPI_Status::tell_outcome(status, told) }?)
    })
}

/// `MPI_Imrecv`
pub(crate) unsafe fn imrecv(
    buf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
) -> AbiResult {
    // SAFETY: the caller's place.
    unsafe { put(request, MPI_REQUEST_NULL) }?;
    // SAFETY: the caller's place.
    let (handle, comm) = unsafe { taken(message) }?;
    let Some(comm) = comm else {
        // SAFETY: the caller's place.
        unsafe { put(message, MPI_MESSAGE_NULL) }?;
        let (from, tag) = (MPI_PROC_NULL, MPI_ANY_TAG);
        let nowhere = std::ptr::null_mut();
        // SAFETY: no memory; the caller's place.
        return unsafe { irecv(nowhere, 0, MPI_BYTE, from, tag, MPI_COMM_SELF, request) };
    };
    comm.answer(|| {
        let items = Items::new(Which::Receive, buf, count, datatype)?;
        let taken = handle.take()?.message;
        // SAFETY: the caller's place.
        unsafe { put(message, MPI_MESSAGE_NULL) }?;
        // SAFETY: the caller's memory.
        let operation = unsafe { taken.imrecv_data(items.data()) }?;
        // SAFETY: the caller's place.
        unsafe { put(request, Request::publish(operation, &comm)) }
    })
}
