//! Completing, starting, freeing and cancelling operations, one or several at once.
//!
//! The operations are taken out of their requests while a call works on them (see
//! [`crate::objects::Request`]). One alone is moved there and back; those of a list are moved into a
//! vector that belongs to the thread, so that nothing is allocated for a call.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::cell::Cell;
use std::ffi::c_int;
use std::task::Poll;

use motet::{ErrorClass, raw};

use crate::caller::put;
use crate::exports::MPI_UNDEFINED;
use crate::fault::{Answer, Fault, Site, argument};
use crate::handle::MPI_Request;
use crate::objects::MPI_Status;

/// What a thread keeps from one call on several requests to the next.
#[derive(Default)]
struct Room {
    operations: Vec<raw::Request>,
    statuses: Vec<raw::Status>,
    found: Vec<(usize, raw::Status)>,
}

/// No more is kept than room for so many requests.
const MOST_KEPT: usize = 1 << 13;

thread_local! {
    static ROOM: Cell<Room> = Cell::default();
}

/// The requests of a list, while a call works on their operations. These are put back in the end.
struct Set {
    handles: *mut MPI_Request,
    room: Room,
}

impl Set {
    /// # Safety
    /// The list has so many handles, which may be written, or is null; it stays as long as this.
    ///
    /// # Errors
    /// No list; a wrong handle in it; a request that somebody else works on.
    unsafe fn borrow(count: c_int, handles: *mut MPI_Request) -> Answer<Set> {
        let count = usize::try_from(count).map_err(|_| {
            Fault::new(ErrorClass::Count, format!("the list would have {count} requests"))
        })?;
        if handles.is_null() && count > 0 {
            return Err(argument("the list of requests is NULL"));
        }
        // None is left at the end of a thread.
        let room = ROOM.try_with(Cell::take).unwrap_or_default();
        let mut set = Set { handles, room };
        for each in 0..count {
            let operation = set.handle(each).borrow()?;
            set.room.operations.push(operation);
        }
        Ok(set)
    }

    fn handle(&self, each: usize) -> MPI_Request {
        // SAFETY: one of the list, which is there, says who made this.
        let place = unsafe { self.handles.add(each) };
        // SAFETY: as above.
        unsafe { place.read() }
    }

    /// What has become of one of them.
    fn tell<T>(&self, each: usize, told: motet::Result<T>) -> Answer<T> {
        told.map_err(|error| Fault::from(error).at(self.handle(each).site()))
    }

    /// What has become of several of them; those that went wrong have it in their statuses.
    fn tell_all<'a, T>(
        &self,
        told: motet::Result<T>,
        statuses: impl IntoIterator<Item = (usize, &'a raw::Status)>,
    ) -> Answer<T> {
        told.map_err(|error| {
            let mut failed =
                statuses.into_iter().filter_map(|(each, status)| Some((each, status.error?)));
            let Some((each, code)) = failed.next() else { return Fault::from(error) };
            // Who does not look at statuses has to be told what it was.
            let name = code.class().map_or("an error of the program", ErrorClass::name);
            let text = format!("{error}: the first, in place {each} of the list, is {name}");
            Fault::new(error.class(), text).at(self.handle(each).site())
        })
    }

    /// Puts the statuses of all where the caller wants them, and says what has become of them.
    ///
    /// # Safety
    /// There is a place for each, or none.
    unsafe fn finish_all<T>(&self, told: motet::Result<T>, places: *mut MPI_Status) -> Answer<T> {
        let statuses = self.room.statuses.iter().enumerate();
        for (each, status) in statuses.clone() {
            // SAFETY: promised by the caller.
            unsafe { put_status(places, each, status, Errors::of(&told)) };
        }
        self.tell_all(told, statuses)
    }

    /// Puts what has been found (how many, which, and what they came to) where the caller wants it,
    /// and says what has become of them.
    ///
    /// # Safety
    /// There are places for as many as there are requests, or none.
    unsafe fn finish_some(
        &self,
        told: motet::Result<Option<usize>>,
        (count, indices, places): (*mut c_int, *mut c_int, *mut MPI_Status),
    ) -> Answer {
        let found = self.room.found.iter();
        let errors = Errors::of(&told);
        if indices.is_null() && found.len() > 0 {
            return Err(argument("the list of indices is NULL"));
        }
        for (place, (each, status)) in found.clone().enumerate() {
            // SAFETY: promised by the caller.
            let index = unsafe { indices.add(place) };
            // SAFETY: as above.
            unsafe { index.write(*each as c_int) };
            // SAFETY: promised by the caller.
            unsafe { put_status(places, place, status, errors) };
        }
        let out = if let Ok(None) = told { MPI_UNDEFINED } else { found.len() as c_int };
        // SAFETY: promised by the caller.
        unsafe { put(count, out) }?;
        self.tell_all(told, found.map(|(each, status)| (*each, status))).map(drop)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        let mut room = std::mem::take(&mut self.room);
        for (each, operation) in room.operations.drain(..).enumerate() {
            let handle = self.handle(each);
            let now = handle.give_back(operation);
            if now != handle {
                // SAFETY: one of the list, which is there, says who made this.
                let place = unsafe { self.handles.add(each) };
                // SAFETY: as above.
                unsafe { place.write(now) };
            }
        }
        if room.operations.capacity() <= MOST_KEPT {
            let _ = ROOM.try_with(|kept| kept.set(room));
        }
    }
}

/// Whether statuses say what went wrong: those of several operations, if something did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errors {
    Told,
    LeftAlone,
}

impl Errors {
    fn of<T>(told: &motet::Result<T>) -> Errors {
        if told.is_err() { Errors::Told } else { Errors::LeftAlone }
    }
}

/// Puts a status into one of the places of the caller.
///
/// # Safety
/// There are more than `each` places, or none.
unsafe fn put_status(places: *mut MPI_Status, each: usize, status: &raw::Status, errors: Errors) {
    if places.is_null() {
        return;
    }
    // SAFETY: promised by the caller.
    let place = unsafe { places.add(each) };
    match errors {
        // SAFETY: promised by the caller.
        Errors::Told => unsafe { place.write(MPI_Status::from(status)) },
        // SAFETY: promised by the caller.
        Errors::LeftAlone => unsafe { MPI_Status::tell(place, status) },
    }
}

/// Works on the operation of one request.
///
/// # Safety
/// The place has a handle and may be written, or is null.
#[inline]
unsafe fn on_one<T>(
    place: *mut MPI_Request,
    work: impl FnOnce(&mut raw::Request) -> motet::Result<T>,
) -> Answer<T> {
    if place.is_null() {
        return Err(argument("the place of the request is NULL"));
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

/// Works on the operation of a handle; says which handle there is then.
#[inline]
fn on_operation<T>(
    handle: MPI_Request,
    work: impl FnOnce(&mut raw::Request) -> motet::Result<T>,
) -> Answer<(Answer<T>, MPI_Request)> {
    let mut operation = handle.borrow()?;
    let told = work(&mut operation);
    let told = told.map_err(|error| Fault::from(error).at(handle.site()));
    Ok((told, handle.give_back(operation)))
}

/// `MPI_Start`
pub(crate) unsafe fn start(request: *mut MPI_Request) -> Answer {
    // SAFETY: the caller's place.
    unsafe { on_one(request, raw::Request::start) }
}

/// `MPI_Startall`
pub(crate) unsafe fn startall(count: c_int, array_of_requests: *mut MPI_Request) -> Answer {
    // SAFETY: the caller's list.
    let mut set = unsafe { Set::borrow(count, array_of_requests) }?;
    let started = raw::start_all(&mut set.room.operations);
    // The first that cannot be started is the one that is at fault.
    let operations = &set.room.operations;
    let at_fault = || operations.iter().position(|each| each.is_active() || !each.is_persistent());
    started.map_err(|error| {
        let site = at_fault().map_or(Site::Unknown, |each| set.handle(each).site());
        Fault::from(error).at(site)
    })
}

/// `MPI_Cancel`
pub(crate) unsafe fn cancel(request: *mut MPI_Request) -> Answer {
    // SAFETY: the caller's place.
    unsafe { on_one(request, raw::Request::cancel) }
}

/// `MPI_Request_free`
pub(crate) unsafe fn request_free(request: *mut MPI_Request) -> Answer {
    // SAFETY: the caller's place.
    unsafe { on_one(request, raw::Request::free) }
}

/// `MPI_Wait`
pub(crate) unsafe fn wait(request: *mut MPI_Request, status: *mut MPI_Status) -> Answer {
    // SAFETY: the caller's place.
    let told = unsafe { on_one(request, raw::Request::wait) }?;
    // SAFETY: the caller's place.
    unsafe { MPI_Status::tell(status, &told) };
    Ok(())
}

/// `MPI_Test`
pub(crate) unsafe fn test(
    request: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    // SAFETY: the caller's place.
    let told = unsafe { on_one(request, raw::Request::test) }?;
    // SAFETY: the caller's places.
    unsafe { put_if_over(told, flag, status) }
}

/// `MPI_Request_get_status`
pub(crate) unsafe fn request_get_status(
    request: MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    let told = on_operation(request, raw::Request::get_status)?.0?;
    // SAFETY: the caller's places.
    unsafe { put_if_over(told, flag, status) }
}

/// Says whether an operation is over, and if so what it came to.
///
/// # Safety
/// The places may be written, or are null.
unsafe fn put_if_over(
    told: Option<raw::Status>,
    flag: *mut c_int,
    place: *mut MPI_Status,
) -> Answer {
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
) -> Answer {
    // SAFETY: the caller's list.
    let mut set = unsafe { Set::borrow(count, array_of_requests) }?;
    let Room { operations, statuses, .. } = &mut set.room;
    let told = raw::wait_all(operations, statuses);
    // SAFETY: the caller's places.
    unsafe { set.finish_all(told, array_of_statuses) }
}

/// `MPI_Testall`
pub(crate) unsafe fn testall(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
    // SAFETY: the caller's places.
    unsafe { all(count, array_of_requests, raw::test_all, (flag, array_of_statuses)) }
}

/// `MPI_Request_get_status_all`
pub(crate) unsafe fn request_get_status_all(
    count: c_int,
    array_of_requests: *const MPI_Request,
    flag: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
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
    look: fn(&mut [raw::Request], &mut Vec<raw::Status>) -> motet::Result<bool>,
    (flag, places): (*mut c_int, *mut MPI_Status),
) -> Answer {
    // SAFETY: promised by the caller.
    let mut set = unsafe { Set::borrow(count, list) }?;
    let Room { operations, statuses, .. } = &mut set.room;
    let told = look(operations, statuses);
    let is_over = !matches!(told, Ok(false));
    if !is_over {
        statuses.clear();
    }
    // SAFETY: promised by the caller.
    unsafe { put(flag, c_int::from(is_over)) }?;
    // SAFETY: promised by the caller.
    unsafe { set.finish_all(told, places) }.map(drop)
}

/// One of several that is over, and what it came to.
type Found = Option<(usize, motet::Result<raw::Status>)>;

/// `MPI_Waitany`
pub(crate) unsafe fn waitany(
    count: c_int,
    array_of_requests: *mut MPI_Request,
    indx: *mut c_int,
    status: *mut MPI_Status,
) -> Answer {
    // SAFETY: the caller's list.
    let mut set = unsafe { Set::borrow(count, array_of_requests) }?;
    let found = raw::wait_any(&mut set.room.operations);
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
) -> Answer {
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
) -> Answer {
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
    look: fn(&mut [raw::Request]) -> Poll<Found>,
    (index, flag, status): (*mut c_int, *mut c_int, *mut MPI_Status),
) -> Answer {
    // SAFETY: promised by the caller.
    let mut set = unsafe { Set::borrow(count, list) }?;
    let found = look(&mut set.room.operations);
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
unsafe fn finish_any(set: &Set, found: Found, index: *mut c_int, place: *mut MPI_Status) -> Answer {
    let which = found.as_ref().map_or(MPI_UNDEFINED, |(each, _)| *each as c_int);
    // SAFETY: promised by the caller.
    unsafe { put(index, which) }?;
    let status = match found {
        Some((each, told)) => set.tell(each, told)?,
        None => raw::Status::EMPTY,
    };
    // SAFETY: promised by the caller.
    unsafe { MPI_Status::tell(place, &status) };
    Ok(())
}

/// `MPI_Waitsome`
pub(crate) unsafe fn waitsome(
    incount: c_int,
    array_of_requests: *mut MPI_Request,
    outcount: *mut c_int,
    array_of_indices: *mut c_int,
    array_of_statuses: *mut MPI_Status,
) -> Answer {
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
) -> Answer {
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
) -> Answer {
    let places = (outcount, array_of_indices, array_of_statuses);
    let list = array_of_requests.cast_mut();
    // SAFETY: the caller's places; a handle is written only if its request is gone.
    unsafe { some(incount, list, raw::get_status_some, places) }
}

/// What finds some that are over, and says how many.
type Find = fn(&mut [raw::Request], &mut Vec<(usize, raw::Status)>) -> motet::Result<Option<usize>>;

/// Finds all that are over.
///
/// # Safety
/// As [`Set::borrow`]; there are places for the number, all indices and all statuses, or none.
unsafe fn some(
    count: c_int,
    list: *mut MPI_Request,
    find: Find,
    places: (*mut c_int, *mut c_int, *mut MPI_Status),
) -> Answer {
    // SAFETY: promised by the caller.
    let mut set = unsafe { Set::borrow(count, list) }?;
    let Room { operations, found, .. } = &mut set.room;
    let told = find(operations, found);
    // SAFETY: promised by the caller.
    unsafe { set.finish_some(told, places) }
}
