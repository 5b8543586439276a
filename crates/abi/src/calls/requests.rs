//! Completing, starting, freeing and cancelling operations, one or several at once.
//!
//! The operations of requests are claimed while a call works on them (see
//! [`crate::objects::Request`]). The claims of a list lie in a vector that belongs to the thread,
//! so that nothing is allocated for a call.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod set;

use std::ffi::c_int;
use std::task::Poll;

use motet::raw::{self, RequestList};

use set::{Members, Room, Set};

use crate::boundary::refuse_operator;
use crate::constants::{MPI_REQUEST_NULL, MPI_UNDEFINED};
use crate::error::{AbiError, AbiErrorSite, AbiResult, argument};
use crate::handle::MPI_Request;
use crate::objects::MPI_Status;
use crate::out_params::put;

/// Works on the operation of one request.
///
/// # Safety
/// The place has a handle and may be written, or is null.
#[inline]
unsafe fn on_one<T>(
    place: *mut MPI_Request,
    work: impl FnOnce(&mut raw::Request) -> motet::Result<T>,
) -> AbiResult<T> {
    if place.is_null() {
        return Err(argument("the address of the request is NULL"));
    }
    // SAFETY: promised by the caller.
    let handle = unsafe { place.read() };
    let (told, now) = on_operation(handle, work)?;
    if now != handle {
        // SAFETY: promised by the caller.
        unsafe { place.write(now) };
    }
    told
}

/// Whether there is a request of what was over when it began, of which there is nothing to be told.
///
/// # Safety
/// The place has a handle, or is null.
#[inline]
unsafe fn is_over(place: *const MPI_Request) -> bool {
    // SAFETY: promised by the caller.
    !place.is_null() && unsafe { place.read() }.past().is_some()
}

/// Works on the operation of a handle; says which handle there is then.
#[inline]
fn on_operation<T>(
    handle: MPI_Request,
    work: impl FnOnce(&mut raw::Request) -> motet::Result<T>,
) -> AbiResult<(AbiResult<T>, MPI_Request)> {
    let mut borrowed = handle.borrow()?;
    let told = borrowed.work(work);
    let told = told.map_err(|error| AbiError::from(error).at(borrowed.site()));
    Ok((told, borrowed.give_back()))
}

/// `MPI_Start`
pub(crate) unsafe fn start(request: *mut MPI_Request) -> AbiResult {
    // SAFETY: the caller's place.
    unsafe { on_one(request, raw::Request::start) }
}

/// `MPI_Startall`
pub(crate) unsafe fn startall(count: c_int, array_of_requests: *mut MPI_Request) -> AbiResult {
    // SAFETY: the caller's list.
    let mut set = unsafe { Set::borrow(count, array_of_requests) }?;
    let members = &mut set.room.members;
    let Err(error) = raw::start_all(members) else { return Ok(()) };
    // The first that cannot be started is the one that is at fault.
    let at_fault = (0..members.len()).find(|&at| {
        let request = members.at(at);
        request.is_active() || !request.is_persistent()
    });
    let site = at_fault.map_or(AbiErrorSite::UNKNOWN, |each| set.site(each));
    Err(AbiError::from(error).at(site))
}

/// `MPI_Cancel`
pub(crate) unsafe fn cancel(request: *mut MPI_Request) -> AbiResult {
    // SAFETY: the caller's place.
    unsafe { on_one(request, raw::Request::cancel) }
}

/// `MPI_Request_free`
pub(crate) unsafe fn request_free(request: *mut MPI_Request) -> AbiResult {
    // SAFETY: the caller's place.
    unsafe { on_one(request, raw::Request::free) }
}

/// `MPI_Wait`
pub(crate) unsafe fn wait(request: *mut MPI_Request, status: *mut MPI_Status) -> AbiResult {
    // SAFETY: the caller's place.
    if unsafe { is_over(request) } {
        // SAFETY: the caller's place.
        unsafe { request.write(MPI_REQUEST_NULL) };
        // SAFETY: the caller's place.
        unsafe { MPI_Status::tell(status, &raw::Status::EMPTY) };
        return Ok(());
    }
    // SAFETY: the caller's place.
    let tell = |told| unsafe { MPI_Status::tell_outcome(status, told) };
    // SAFETY: the caller's place.
    unsafe { on_one(request, |operation| tell(operation.wait())) }
}

/// `MPI_Test`
pub(crate) unsafe fn test(
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: the caller's place.
    let work = |operation: &mut raw::Request| unsafe { noted(operation.test(), flag, status) };
    // SAFETY: the caller's place.
    let told = unsafe { on_one(request, work) }?;
    // SAFETY: the caller's places.
    unsafe { put_if_over(told, flag, status) }
}

/// `MPI_Request_get_status`
pub(crate) unsafe fn request_get_status(
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: the caller's place.
    let work =
        |operation: &mut raw::Request| unsafe { noted(operation.get_status(), flag, status) };
    let told = on_operation(request, work)?.0?;
    // SAFETY: the caller's places.
    unsafe { put_if_over(told, flag, status) }
}

/// What went wrong is over, too.
///
/// # Safety
/// The places may be written, or are null.
unsafe fn noted<T>(
    told: motet::Result<T>,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> motet::Result<T> {
    told.inspect_err(|error| {
        // SAFETY: promised by the caller. That there is no place is not worse than the error.
        let _ = unsafe { put(flag, 1) };
        // SAFETY: promised by the caller.
        unsafe { MPI_Status::tell_refused(status, error) };
    })
}

/// Says whether an operation is over, and if so what it came to.
///
/// # Safety
/// The places may be written, or are null.
unsafe fn put_if_over(
    told: Option<raw::Status>,
    flag: *mut c_int,
    place: *mut MPI_Status,
) -> AbiResult {
    if let Some(status) = &told {
        // SAFETY: promised by the caller.
        unsafe { MPI_Status::tell(place, status) };
    }
    // SAFETY: promised by the caller.
    unsafe { put(flag, c_int::from(told.is_some())) }
}

/// `MPI_Waitall`
pub(crate) unsafe fn waitall(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    array_of_statuses: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: the caller's list.
    let mut set = unsafe { Set::borrow(count, array_of_requests) }?;
    let Room { members, statuses, .. } = &mut **set.room;
    let told = raw::wait_all(members, statuses);
    // SAFETY: the caller's places.
    unsafe { set.finish_all(told, array_of_statuses) }
}

/// `MPI_Testall`
pub(crate) unsafe fn testall(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: the caller's places.
    unsafe { all(count, array_of_requests, raw::test_all, (flag, array_of_statuses)) }
}

/// `MPI_Request_get_status_all`
pub(crate) unsafe fn request_get_status_all(
    count: c_int,
    array_of_requests: *const MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> AbiResult {
    let list = array_of_requests.cast_mut();
    // SAFETY: the caller's places; a handle is written only if its request is gone.
    unsafe { all(count, list, raw::get_status_all, (flag, array_of_statuses)) }
}

/// Looks whether all are over.
///
/// # Safety
/// As [`Set::borrow`]; there are places for the flag and for all statuses, or none.
unsafe fn all(
    count: c_int,
    list: *mut MPI_Request,
    poll: fn(&mut Members, &mut Vec<raw::Status>) -> motet::Result<bool>,
    (flag, places): (*mut c_int, *mut MPI_Status),
) -> AbiResult {
    // SAFETY: promised by the caller.
    let mut set = unsafe { Set::borrow(count, list) }?;
    let Room { members, statuses, .. } = &mut **set.room;
    let told = poll(members, statuses);
    // A call that is refused has told nothing; of requests that are not over there is no status.
    let is_over = told.as_ref().map_or(statuses.len() == members.len(), |&is_over| is_over);
    if !is_over {
        statuses.clear();
    }
    // SAFETY: promised by the caller.
    unsafe { put(flag, c_int::from(is_over)) }?;
    // SAFETY: promised by the caller.
    unsafe { set.finish_all(told, places) }.map(drop)
}

/// One of several that is over, and what it came to.
type CompletedAt = Option<(usize, motet::Result<raw::Status>)>;

/// `MPI_Waitany`
pub(crate) unsafe fn waitany(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    status: *mut MPI_Status,
) -> AbiResult {
    refuse_operator()?;
    // SAFETY: the caller's list.
    let mut set = unsafe { Set::borrow(count, array_of_requests) }?;
    let found = raw::wait_any(&mut set.room.members);
    // SAFETY: the caller's places.
    unsafe { finish_any(&set, found, indx, status) }
}

/// `MPI_Testany`
pub(crate) unsafe fn testany(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> AbiResult {
    // SAFETY: the caller's places.
    unsafe { any(count, array_of_requests, raw::test_any, (indx, flag, status)) }
}

/// `MPI_Request_get_status_any`
pub(crate) unsafe fn request_get_status_any(
    count: c_int,
    array_of_requests: *const MPI_Request,
    indx: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> AbiResult {
    let list = array_of_requests.cast_mut();
    // SAFETY: the caller's places; a handle is written only if its request is gone.
    unsafe { any(count, list, raw::get_status_any, (indx, flag, status)) }
}

/// Looks for one that is over.
///
/// # Safety
/// As [`Set::borrow`]; there are places for the index, the flag and the status, or none.
unsafe fn any(
    count: c_int,
    list: *mut MPI_Request,
    poll: fn(&mut Members) -> Poll<CompletedAt>,
    (index, flag, status): (*mut c_int, *mut c_int, *mut MPI_Status),
) -> AbiResult {
    refuse_operator()?;
    // SAFETY: promised by the caller.
    let mut set = unsafe { Set::borrow(count, list) }?;
    let found = poll(&mut set.room.members);
    // SAFETY: promised by the caller.
    unsafe { put(flag, c_int::from(found.is_ready())) }?;
    match found {
        // SAFETY: promised by the caller.
        Poll::Ready(found) => unsafe { finish_any(&set, found, index, status) },
        // SAFETY: promised by the caller.
        Poll::Pending => unsafe { put(index, MPI_UNDEFINED) },
    }
}

/// Says which one is over, and what it came to.
///
/// # Safety
/// There are places for the index and the status, or none.
unsafe fn finish_any(
    set: &Set,
    found: CompletedAt,
    index: *mut c_int,
    place: *mut MPI_Status,
) -> AbiResult {
    let which = found.as_ref().map_or(MPI_UNDEFINED, |(each, _)| *each as c_int);
    // SAFETY: promised by the caller.
    unsafe { put(index, which) }?;
    let Some((each, told)) = found else {
        // SAFETY: promised by the caller.
        unsafe { MPI_Status::tell_empty(place) };
        return Ok(());
    };
    // SAFETY: promised by the caller.
    set.tell(each, unsafe { MPI_Status::tell_outcome(place, told) })
}

/// `MPI_Waitsome`
pub(crate) unsafe fn waitsome(
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> AbiResult {
    let places = (outcount, array_of_indices, array_of_statuses);
    // SAFETY: the caller's places.
    unsafe { some(incount, array_of_requests, raw::wait_some, places) }
}

/// `MPI_Testsome`
pub(crate) unsafe fn testsome(
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> AbiResult {
    let places = (outcount, array_of_indices, array_of_statuses);
    // SAFETY: the caller's places.
    unsafe { some(incount, array_of_requests, raw::test_some, places) }
}

/// `MPI_Request_get_status_some`
pub(crate) unsafe fn request_get_status_some(
    incount: c_int,
    array_of_requests: *const MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> AbiResult {
    let places = (outcount, array_of_indices, array_of_statuses);
    let list = array_of_requests.cast_mut();
    // SAFETY: the caller's places; a handle is written only if its request is gone.
    unsafe { some(incount, list, raw::get_status_some, places) }
}

/// What finds some that are over, and says how many.
type Find = fn(&mut Members, &mut Vec<(usize, raw::Status)>) -> motet::Result<Option<usize>>;

/// Finds all that are over.
///
/// # Safety
/// As [`Set::borrow`]; there are places for the number, all indices and all statuses, or none.
unsafe fn some(
    count: c_int,
    list: *mut MPI_Request,
    find: Find,
    places: (*mut c_int, *mut c_int, *mut MPI_Status),
) -> AbiResult {
    // SAFETY: promised by the caller.
    let mut set = unsafe { Set::borrow(count, list) }?;
    let Room { members, found, .. } = &mut **set.room;
    let told = find(members, found);
    // SAFETY: promised by the caller.
    unsafe { set.finish_some(told, places) }
}
