//! Generalized requests: operations of the program, completed by `MPI_Wait` and the like.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};
use std::mem;

use motet::raw::{self, Callbacks, Stage};
use motet::{ErrorClass, ErrorCode, ErrorKind};

use crate::boundary;
use crate::callbacks::{Ended, Exception, stopped};
use crate::constants::{MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::error::AbiResult;
use crate::handle::{Callback, MPI_Request};
use crate::objects;
use crate::objects::{MPI_Status, Request};
use crate::out_params::put;

/// What the functions of a generalized request are called with.
#[derive(Clone, Copy)]
struct State(usize);

impl State {
    fn address(self) -> *mut c_void {
        self.0 as *mut c_void
    }
}

/// What a function of the program has returned.
fn returned(which: &str, ended: Ended<c_int>) -> motet::Result<()> {
    let throws = |exception: Exception| {
        exception.into_error("a function of a generalized request", ErrorClass::Other)
    };
    let code = ended.map_err(throws)?;
    if code == MPI_SUCCESS {
        return Ok(());
    }
    let text = format!("the {which} function of a generalized request has returned it");
    Err(ErrorKind::User { code: ErrorCode(code), text }.into())
}

/// Functions of these types, of which each may be missing.
type Query = Option<unsafe extern "C-unwind" fn(*mut c_void, *mut MPI_Status) -> c_int>;
type Free = Option<unsafe extern "C-unwind" fn(*mut c_void) -> c_int>;
type Cancel = Option<unsafe extern "C-unwind" fn(*mut c_void, c_int) -> c_int>;

/// The functions of a generalized request, as Motet calls them.
fn callbacks(query: Query, free: Free, cancel: Cancel, state: State) -> Callbacks {
    Callbacks {
        query: Box::new(move |status| {
            let Some(query) = query else { return Ok(()) };
            let mut told = MPI_Status::from(&*status);
            // SAFETY: the program says that it is such a function, and what it takes.
            let ended = stopped(|| unsafe { query(state.address(), &raw mut told) });
            *status = raw::Status::from(&told);
            returned("query", ended)
        }),
        free: Box::new(move || {
            let Some(free) = free else { return Ok(()) };
            // SAFETY: the program says that it is such a function, and what it takes.
            returned("free", stopped(|| unsafe { free(state.address()) }))
        }),
        cancel: Box::new(move |stage| {
            let Some(cancel) = cancel else { return Ok(()) };
            let is_complete = c_int::from(stage == Stage::Complete);
            // SAFETY: the program says that it is such a function, and what it takes.
            returned("cancel", stopped(|| unsafe { cancel(state.address(), is_complete) }))
        }),
    }
}

/// `MPI_Grequest_start`
pub(crate) unsafe fn grequest_start(
    query_fn: Callback,
    free_fn: Callback,
    cancel_fn: Callback,
    extra_state: *mut c_void,
    request: *mut MPI_Request,
) -> AbiResult {
    // SAFETY: the caller's place.
    unsafe { put(request, MPI_REQUEST_NULL) }?;
    // SAFETY: null is no function, and any other address is one of this type, says the program.
    let query = unsafe { mem::transmute::<Callback, Query>(query_fn) };
    // SAFETY: as above.
    let free = unsafe { mem::transmute::<Callback, Free>(free_fn) };
    // SAFETY: as above.
    let cancel = unsafe { mem::transmute::<Callback, Cancel>(cancel_fn) };
    let callbacks = callbacks(query, free, cancel, State(extra_state as usize));
    let own = objects::own().ok_or_else(boundary::not_running)?;
    let operation = raw::grequest_start(own.intra()?, callbacks);
    // SAFETY: the caller's place.
    unsafe { put(request, Request::publish_alone(operation)) }
}

/// `MPI_Grequest_complete`
pub(crate) fn grequest_complete(request: MPI_Request) -> AbiResult {
    request.complete()
}
