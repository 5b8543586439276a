//! Buffers for buffered sends: of a communicator, and of the process.
//!
//! All sessions share the buffer of the process: [`attach`] and the other functions serve them with
//! [`Holder::Process`].

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_void;

use motet::ErrorClass;

use crate::boundary;
use crate::constants::MPI_REQUEST_NULL;
use crate::count::CountPlace;
use crate::error::{AbiError, AbiResult, argument};
use crate::handle::{MPI_Comm, MPI_Request};
use crate::objects;
use crate::objects::{Holder, Request};
use crate::out_params::put;

/// Attaches a buffer of the caller.
///
/// # Errors
/// A negative size; no buffer; that there is one already.
pub(crate) fn attach(holder: Holder<'_>, buffer: *mut c_void, size: i64) -> AbiResult {
    let bytes = usize::try_from(size)
        .map_err(|_| argument(format!("the buffer for buffered sends would have {size} bytes")))?;
    if buffer.is_null() && bytes > 0 {
        let text = "the buffer for buffered sends is NULL";
        return Err(AbiError::new(ErrorClass::Buffer, text));
    }
    holder.attach(buffer.addr(), bytes)
}

/// Detaches the buffer, and tells the caller which it was.
///
/// # Safety
/// There is room for an address and a size, or it is null.
///
/// # Errors
/// There is none; a rank has died.
pub(crate) unsafe fn detach(
    holder: Holder<'_>,
    buffer_addr: *mut c_void,
    size: CountPlace,
) -> AbiResult {
    let (address, bytes) = holder.detach()?;
    // SAFETY: promised by the caller.
    unsafe { put(buffer_addr.cast::<*mut c_void>(), address as *mut c_void) }?;
    // SAFETY: promised by the caller.
    unsafe { size.set(i64::try_from(bytes).ok()) }
}

/// `MPI_Buffer_attach`
pub(crate) unsafe fn buffer_attach(buffer: *mut c_void, size: i64) -> AbiResult {
    let own = objects::own().ok_or_else(boundary::not_running)?;
    attach(Holder::Process(&own), buffer, size)
}

/// `MPI_Buffer_detach`
pub(crate) unsafe fn buffer_detach(buffer_addr: *mut c_void, size: CountPlace) -> AbiResult {
    let own = objects::own().ok_or_else(boundary::not_running)?;
    // SAFETY: the caller's places.
    unsafe { detach(Holder::Process(&own), buffer_addr, size) }
}

/// `MPI_Buffer_flush`
pub(crate) fn buffer_flush() -> AbiResult {
    let own = objects::own().ok_or_else(boundary::not_running)?;
    Holder::Process(&own).flush()
}

/// `MPI_Buffer_iflush`
pub(crate) unsafe fn buffer_iflush(request: *mut MPI_Request) -> AbiResult {
    // SAFETY: the caller's place.
    unsafe { put(request, MPI_REQUEST_NULL) }?;
    let own = objects::own().ok_or_else(boundary::not_running)?;
    let operation = Holder::Process(&own).start_flush()?;
    // SAFETY: the caller's place.
    unsafe { put(request, Request::publish_alone(operation)) }
}

/// `MPI_Comm_attach_buffer`
pub(crate) unsafe fn comm_attach_buffer(
    comm: MPI_Comm,
    buffer: *mut c_void,
    size: i64,
) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| attach(Holder::Comm(&comm), buffer, size))
}

/// `MPI_Comm_detach_buffer`
pub(crate) unsafe fn comm_detach_buffer(
    comm: MPI_Comm,
    buffer_addr: *mut c_void,
    size: CountPlace,
) -> AbiResult {
    let comm = comm.object()?;
    // SAFETY: the caller's places.
    comm.answer(|| unsafe { detach(Holder::Comm(&comm), buffer_addr, size) })
}

/// `MPI_Comm_flush_buffer`
pub(crate) fn comm_flush_buffer(comm: MPI_Comm) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| Holder::Comm(&comm).flush())
}

/// `MPI_Comm_iflush_buffer`
pub(crate) unsafe fn comm_iflush_buffer(comm: MPI_Comm, request: *mut MPI_Request) -> AbiResult {
    let comm = comm.object()?;
    comm.answer(|| {
        // SAFETY: the caller's place.
        unsafe { put(request, MPI_REQUEST_NULL) }?;
        let operation = Holder::Comm(&comm).start_flush()?;
        // SAFETY: the caller's place.
        unsafe { put(request, Request::publish(operation, &comm)) }
    })
}
