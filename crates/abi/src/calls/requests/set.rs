//! The requests of a list, while a call works on their operations.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::Cell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;

use motet::raw::RequestList;
use motet::{ErrorClass, raw};

use crate::calls::errors::text_of;
use crate::constants::MPI_UNDEFINED;
use crate::error::{AbiError, AbiErrorSite, AbiResult, argument, negative};
use crate::handle::MPI_Request;
use crate::objects::{Borrowed, MPI_Status};
use crate::out_params::put;

/// What a thread keeps from one call on several requests to the next.
#[derive(Default)]
pub(super) struct Room {
    pub(super) members: Members,
    pub(super) statuses: Vec<raw::Status>,
    pub(super) found: Vec<(usize, raw::Status)>,
}

/// The requests of a list, each in its slot; a request without a slot is kept here.
#[derive(Default)]
pub(super) struct Members {
    listed: Vec<ListedRequest>,
    /// The requests without slots: of operations that completed when they started, and null
    /// requests. They take more memory than a list of slots.
    slotless: Vec<raw::Request>,
}

/// A request of a list.
struct ListedRequest {
    borrowed: Borrowed,
    /// Its index among the requests without slots, if it has no slot.
    slotless: usize,
}

impl Members {
    fn push(&mut self, borrowed: Borrowed) {
        let slotless = self.slotless.len();
        if !borrowed.has_slot() {
            self.slotless.push(borrowed.past().map(raw::Request::over).unwrap_or_default());
        }
        self.listed.push(ListedRequest { borrowed, slotless });
    }
}

impl RequestList for Members {
    #[inline]
    fn len(&self) -> usize {
        self.listed.len()
    }

    #[inline]
    fn at(&mut self, index: usize) -> &mut raw::Request {
        let ListedRequest { borrowed, slotless } = &mut self.listed[index];
        match borrowed.own() {
            Some(own) => own,
            None => &mut self.slotless[*slotless],
        }
    }
}

/// No more is kept than room for so many requests.
const MOST_KEPT: usize = 1 << 13;

thread_local! {
    static ROOM: Cell<Option<Box<Room>>> = const { Cell::new(None) };
}

/// The requests of a list, while a call works on their operations in their slots. In the end the
/// claims are given back, and the handles that have changed are written.
pub(super) struct Set {
    handles: *mut MPI_Request,
    /// Goes back to the thread in the end.
    pub(super) room: ManuallyDrop<Box<Room>>,
}

impl Set {
    /// # Safety
    /// The list has so many handles, which may be written, or is null; it stays as long as this.
    ///
    /// # Errors
    /// No list; a wrong handle in it; a request that somebody else works on.
    pub(super) unsafe fn borrow(count: c_int, handles: *mut MPI_Request) -> AbiResult<Set> {
        let count = usize::try_from(count)
            .map_err(|_| negative(ErrorClass::Count, "the number of requests", count))?;
        if handles.is_null() && count > 0 {
            return Err(argument("the list of requests is NULL"));
        }
        // None is left at the end of a thread.
        let room = ROOM.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let mut set = Set { handles, room: ManuallyDrop::new(room) };
        for each in 0..count {
            let borrowed = set.handle(each).borrow()?;
            set.room.members.push(borrowed);
        }
        Ok(set)
    }

    fn handle(&self, each: usize) -> MPI_Request {
        // SAFETY: one of the list, which is there, says who made this.
        let place = unsafe { self.handles.add(each) };
        // SAFETY: as above.
        unsafe { place.read() }
    }

    /// Whose error handler is told of one of them.
    pub(super) fn site(&self, each: usize) -> AbiErrorSite {
        self.room.members.listed[each].borrowed.site()
    }

    /// What has become of one of them.
    pub(super) fn tell<T>(&self, each: usize, told: motet::Result<T>) -> AbiResult<T> {
        told.map_err(|error| AbiError::from(error).at(self.site(each)))
    }

    /// What has become of several of them; those that went wrong have it in their statuses.
    fn tell_all<'a, T>(
        &self,
        told: motet::Result<T>,
        statuses: impl IntoIterator<Item = (usize, &'a raw::Status)>,
        places: *mut MPI_Status,
    ) -> AbiResult<T> {
        told.map_err(|error| {
            let mut failed =
                statuses.into_iter().filter_map(|(each, status)| Some((each, status.error?)));
            let exception = error.kind().exception();
            let Some((each, code)) = failed.next() else { return AbiError::from(error) };
            // Who does not look at statuses has to be told what it was.
            let first = text_of(code.0).unwrap_or_else(|| format!("error {code} of the program"));
            let text = format!("{error}: the first, in place {each} of the list, is {first}");
            let fault = match places.is_null() {
                true => AbiError::new(ErrorClass::InStatus, text),
                false => AbiError::in_status(text),
            };
            fault.at(self.site(each)).thrown(exception)
        })
    }

    /// Puts the statuses of all where the caller wants them, and says what has become of them.
    ///
    /// # Safety
    /// There is a place for each, or none.
    pub(super) unsafe fn finish_all<T>(
        &self,
        told: motet::Result<T>,
        places: *mut MPI_Status,
    ) -> AbiResult<T> {
        let statuses = self.room.statuses.iter().enumerate();
        for (each, status) in statuses.clone() {
            // SAFETY: promised by the caller.
            unsafe { put_status(places, each, status, Errors::of(&told)) };
        }
        self.tell_all(told, statuses, places)
    }

    /// Puts what has been found (how many, which, and what they came to) where the caller wants it,
    /// and says what has become of them.
    ///
    /// # Safety
    /// There are places for as many as there are requests, or none.
    pub(super) unsafe fn finish_some(
        &self,
        told: motet::Result<Option<usize>>,
        (count, indices, places): (*mut c_int, *mut c_int, *mut MPI_Status),
    ) -> AbiResult {
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
        let statuses = found.map(|(each, status)| (*each, status));
        self.tell_all(told, statuses, places).map(drop)
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        let mut room = unsafe { ManuallyDrop::take(&mut self.room) };
        let Members { listed, slotless } = &mut room.members;
        for (each, ListedRequest { borrowed, slotless: at }) in listed.drain(..).enumerate() {
            let past = slotless.get(at).and_then(raw::Request::past);
            let now = borrowed.give_back_with(past);
            if now != self.handle(each) {
                // SAFETY: one of the list, which is there, says who made this.
                let place = unsafe { self.handles.add(each) };
                // SAFETY: as above.
                unsafe { place.write(now) };
            }
        }
        slotless.clear();
        if listed.capacity() <= MOST_KEPT {
            let _ = ROOM.try_with(|kept| kept.set(Some(room)));
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
#[inline]
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
