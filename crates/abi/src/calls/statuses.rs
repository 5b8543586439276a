//! Statuses: the outcome of an operation, and functions that read and set it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;

use motet::{ErrorClass, raw};

use crate::count::CountPlace;
use crate::error::{AbiError, AbiResult, argument, negative};
use crate::handle::{MPI_Count, MPI_Datatype};
use crate::objects::MPI_Status;
use crate::out_params::put;

/// A status of the caller.
///
/// # Errors
/// None (`MPI_STATUS_IGNORE` too).
unsafe fn read(status: *const MPI_Status) -> AbiResult<MPI_Status> {
    if status.is_null() {
        return Err(no_status());
    }
    // SAFETY: the caller's status.
    Ok(unsafe { status.read() })
}

/// Changes a status of the caller.
///
/// # Errors
/// None (`MPI_STATUS_IGNORE` too); of the change.
unsafe fn change(
    status: *mut MPI_Status,
    change: impl FnOnce(&mut MPI_Status) -> AbiResult,
) -> AbiResult {
    // SAFETY: the caller's status.
    let mut changed = unsafe { read(status) }?;
    change(&mut changed)?;
    // SAFETY: the caller's status.
    unsafe { status.write(changed) };
    Ok(())
}

#[cold]
fn no_status() -> AbiError {
    argument("the status is NULL or MPI_STATUS_IGNORE, but this call needs one")
}

fn as_count(count: Option<u64>) -> Option<i64> {
    count.and_then(|count| i64::try_from(count).ok())
}

/// `MPI_Get_count`
pub(crate) unsafe fn get_count(
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: CountPlace,
) -> AbiResult {
    // SAFETY: the caller's status.
    let bytes = unsafe { read(status) }?.bytes();
    let items = datatype.object()?.datatype.get_count(bytes);
    // SAFETY: the caller's place.
    unsafe { count.set(as_count(items)) }
}

/// `MPI_Get_elements`
pub(crate) unsafe fn get_elements(
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: CountPlace,
) -> AbiResult {
    // SAFETY: the caller's status.
    let bytes = unsafe { read(status) }?.bytes();
    let elements = datatype.object()?.datatype.get_elements(bytes);
    // SAFETY: the caller's place.
    unsafe { count.set(as_count(elements)) }
}

/// `MPI_Get_elements_x`
pub(crate) unsafe fn get_elements_x(
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: *mut MPI_Count,
) -> AbiResult {
    // SAFETY: the caller's.
    unsafe { get_elements(status, datatype, CountPlace::large(count)) }
}

/// `MPI_Status_get_error`
pub(crate) unsafe fn status_get_error(status: *const MPI_Status, error: *mut c_int) -> AbiResult {
    // SAFETY: the caller's status.
    let status = unsafe { read(status) }?;
    // SAFETY: the caller's place.
    unsafe { put(error, status.MPI_ERROR) }
}

/// `MPI_Status_get_source`
pub(crate) unsafe fn status_get_source(status: *const MPI_Status, source: *mut c_int) -> AbiResult {
    // SAFETY: the caller's status.
    let status = unsafe { read(status) }?;
    // SAFETY: the caller's place.
    unsafe { put(source, status.MPI_SOURCE) }
}

/// `MPI_Status_get_tag`
pub(crate) unsafe fn status_get_tag(status: *const MPI_Status, tag: *mut c_int) -> AbiResult {
    // SAFETY: the caller's status.
    let status = unsafe { read(status) }?;
    // SAFETY: the caller's place.
    unsafe { put(tag, status.MPI_TAG) }
}

/// `MPI_Status_set_cancelled`
pub(crate) unsafe fn status_set_cancelled(status: *mut MPI_Status, flag: c_int) -> AbiResult {
    let set = |status: &mut MPI_Status| {
        status.set_cancelled(flag != 0);
        Ok(())
    };
    // SAFETY: the caller's status.
    unsafe { change(status, set) }
}

/// `MPI_Status_set_elements`
pub(crate) unsafe fn status_set_elements(
    status: *mut MPI_Status,
    datatype: MPI_Datatype,
    count: i64,
) -> AbiResult {
    let set = |status: &mut MPI_Status| {
        let datatype = datatype.object()?;
        let elements =
            u64::try_from(count).map_err(|_| negative(ErrorClass::Count, "the count", count))?;
        let mut told = raw::Status::EMPTY;
        told.set_elements(&datatype.datatype, elements)?;
        status.set_bytes(told.bytes);
        Ok(())
    };
    // SAFETY: the caller's status.
    unsafe { change(status, set) }
}

/// `MPI_Status_set_elements_x`
pub(crate) unsafe fn status_set_elements_x(
    status: *mut MPI_Status,
    datatype: MPI_Datatype,
    count: MPI_Count,
) -> AbiResult {
    // SAFETY: the caller's status.
    unsafe { status_set_elements(status, datatype, count) }
}

/// `MPI_Status_set_error`
pub(crate) unsafe fn status_set_error(status: *mut MPI_Status, error: c_int) -> AbiResult {
    let set = |status: &mut MPI_Status| {
        status.MPI_ERROR = error;
        Ok(())
    };
    // SAFETY: the caller's status.
    unsafe { change(status, set) }
}

/// `MPI_Status_set_source`
pub(crate) unsafe fn status_set_source(status: *mut MPI_Status, source: c_int) -> AbiResult {
    let set = |status: &mut MPI_Status| {
        status.MPI_SOURCE = source;
        Ok(())
    };
    // SAFETY: the caller's status.
    unsafe { change(status, set) }
}

/// `MPI_Status_set_tag`
pub(crate) unsafe fn status_set_tag(status: *mut MPI_Status, tag: c_int) -> AbiResult {
    let set = |status: &mut MPI_Status| {
        status.MPI_TAG = tag;
        Ok(())
    };
    // SAFETY: the caller's status.
    unsafe { change(status, set) }
}

/// `MPI_Test_cancelled`
pub(crate) unsafe fn test_cancelled(status: *const MPI_Status, flag: *mut c_int) -> AbiResult {
    // SAFETY: the caller's status.
    let status = unsafe { read(status) }?;
    // SAFETY: the caller's place.
    unsafe { put(flag, c_int::from(status.is_cancelled())) }
}
