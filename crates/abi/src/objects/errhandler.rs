//! Error handlers.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::c_int;
use std::mem;
use std::sync::Arc;

use motet::ErrorClass;

use super::{Comm, Session};
use crate::arena::Arena;
use crate::exports;
use crate::fault::Site;
use crate::handle::{Callback, Handle, Kind, MPI_Errhandler};

/// What is done about an error.
#[derive(Clone, Debug)]
pub(crate) enum Errhandler {
    /// All processes end.
    Fatal,
    /// The processes of the communicator end; here these are all.
    Abort,
    /// The code is returned.
    Return,
    /// A function of the program is called, then the code is returned.
    User(Arc<UserHandler>),
}

/// An error handler of the program.
#[derive(Debug)]
pub(crate) struct UserHandler {
    /// Address of the function.
    function: usize,
    /// Whether it is for communicators; otherwise it is for sessions.
    pub(crate) target: Target,
    /// Its handle: what asks for the handler of an object gets this one again.
    pub(crate) handle: MPI_Errhandler,
}

/// What an error handler of the program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Comm,
    Session,
}

impl Kind for Errhandler {
    type Object = Errhandler;
    const CODE: u8 = 3;
    const NAME: &'static str = "MPI_Errhandler";
    const CLASS: ErrorClass = ErrorClass::Errhandler;

    fn arena() -> &'static Arena<Errhandler> {
        static ARENA: Arena<Errhandler> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<Errhandler> {
        match value {
            _ if value == exports::MPI_ERRORS_ARE_FATAL.value() => Some(Errhandler::Fatal),
            _ if value == exports::MPI_ERRORS_ABORT.value() => Some(Errhandler::Abort),
            _ if value == exports::MPI_ERRORS_RETURN.value() => Some(Errhandler::Return),
            _ => None,
        }
    }
}

impl UserHandler {
    /// # Safety
    /// It is a function of the type that the target's handlers have.
    pub(crate) unsafe fn new(
        function: Callback,
        target: Target,
        handle: MPI_Errhandler,
    ) -> UserHandler {
        UserHandler { function: function as usize, target, handle }
    }

    /// Calls it.
    ///
    /// # Safety
    /// Nothing that it may use is locked.
    pub(crate) unsafe fn call(&self, site: &Site, mut code: c_int) {
        match site {
            Site::Comm(comm) => {
                type OfComm = unsafe extern "C" fn(*mut Handle<Comm>, *mut c_int, ...);
                let mut handle = comm.handle;
                // SAFETY: promised by whoever made it.
                let function: OfComm = unsafe { mem::transmute(self.function) };
                // SAFETY: as above; both places are there for the time of the call.
                unsafe { function(&raw mut handle, &raw mut code) };
            }
            Site::Session(session) => {
                type OfSession = unsafe extern "C" fn(*mut Handle<Session>, *mut c_int, ...);
                let mut handle = session.handle;
                // SAFETY: promised by whoever made it.
                let function: OfSession = unsafe { mem::transmute(self.function) };
                // SAFETY: as above; both places are there for the time of the call.
                unsafe { function(&raw mut handle, &raw mut code) };
            }
            Site::Unknown => {}
        }
    }
}
