//! What a failed call does: it passes its error to an error handler. (MPI 5.0 §9.3)
//!
//! The error handler is that of the site of the error. An error without a site (a wrong handle, for
//! instance) goes to [`without_object`].

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;
use std::mem;
use std::sync::OnceLock;

use motet::{ErrorClass, ErrorCode, ExceptionId};

use crate::callbacks::Exception;
use crate::constants::MPI_SUCCESS;
use crate::error::{AbiError, AbiErrorSite, Code, Facts, HasErrorHandler, Reaction};
use crate::error_codes::{class, returned};
use crate::forked;
use crate::job;
use crate::objects::{Errhandler, INITIAL_HANDLER, without_object, world};
use crate::stage::is_forked;

/// The error handler for errors without an object, after `MPI_Finalize`.
static LAST_HANDLER: OnceLock<Errhandler> = OnceLock::new();

/// Keeps the error handler for errors without an object, for the time after `MPI_Finalize`.
pub(crate) fn keep_last_handler() {
    // A handler of the program can be called no more: there is no communicator to call it with.
    let lasting = match without_object().map(|comm| comm.handler()) {
        Some(Errhandler::User(_)) | None => Errhandler::Fatal,
        Some(handler) => handler,
    };
    let _ = LAST_HANDLER.set(lasting);
}

/// What is done about errors without an object, while no communicator has an error handler.
#[cold]
fn last_reaction() -> Reaction {
    if is_forked() {
        return forked::handler().reaction();
    }
    let initial = || Errhandler::initial().unwrap_or(Errhandler::Fatal);
    LAST_HANDLER.get().cloned().unwrap_or_else(initial).reaction()
}

/// The last action of a failed call, which may never return. Nothing in it has a destructor, and no
/// value with one is alive then, so the action may leave the call in any way: by an exception, by a
/// `longjmp`, or by the end of the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending(Last);

#[derive(Clone, Copy, Debug)]
enum Last {
    Return(c_int),
    /// Calls the error handler at this address, which is a handler for objects of the handle's
    /// kind.
    Call {
        function: usize,
        handle: usize,
        code: c_int,
        returns: c_int,
    },
    /// Rethrows an exception of a callback.
    Raise(ExceptionId),
}

impl AbiError {
    /// Passes the error to the error handler of its site: returns the last action. A handler of the
    /// standard may end the job here.
    #[cold]
    pub(crate) fn ending(self, call: &str) -> Ending {
        let text = self.text_in(call);
        let Facts { code, site, exception, is_requested, .. } = self.into_facts();
        if let Some(exception) = exception.filter(|&id| Exception::may_be_raised(id)) {
            return Ending(Last::Raise(exception));
        }
        let site = match site.object() {
            None => without_object().map_or(AbiErrorSite::UNKNOWN, |comm| comm.site()),
            Some(_) => site,
        };
        let code = match code {
            Code::OfClass(class) => {
                let rank = world().map(|world| world.rank());
                let rank = rank.map_or(String::new(), |rank| format!(" on rank {rank}"));
                returned(ErrorCode::with_text(class, &format!("{call}{rank}: {text}")))
            }
            Code::Exactly(code) => code,
        };
        let returns = if is_requested { MPI_SUCCESS } else { code };
        let reaction = site.object().map_or_else(last_reaction, HasErrorHandler::reaction);
        let last = match reaction {
            Reaction::Return => Last::Return(returns),
            Reaction::Call(function) => {
                let call = |object: &dyn HasErrorHandler| {
                    let handle = object.handle();
                    Last::Call { function, handle, code, returns }
                };
                site.object().map_or(Last::Return(returns), call)
            }
            Reaction::Fatal => end(call, &text, class(code), &site, "MPI_ERRORS_ARE_FATAL"),
            Reaction::Abort => end(call, &text, class(code), &site, "MPI_ERRORS_ABORT"),
        };
        Ending(last)
    }
}

impl Ending {
    /// Performs the last action. Returns the return value of the call. The caller has no value with
    /// a destructor alive.
    #[cold]
    pub(crate) fn perform(self) -> c_int {
        match self.0 {
            Last::Return(code) => code,
            Last::Call { function, mut handle, mut code, returns } => {
                // Handles of all kinds are passed alike.
                type Handler = unsafe extern "C-unwind" fn(*mut usize, *mut c_int, ...);
                // SAFETY: whoever made the handler has promised that it is such a function.
                let function: Handler = unsafe { mem::transmute(function) };
                // SAFETY: as above; both places are there for the time of the call.
                unsafe { function(&raw mut handle, &raw mut code) };
                returns
            }
            Last::Raise(exception) => Exception::raise(exception),
        }
    }
}

/// Ends the job because of an error, and prints the reason.
#[cold]
fn end(call: &str, text: &str, code: c_int, site: &AbiErrorSite, handler: &str) -> ! {
    let class = ErrorClass::from_code(code);
    if class == Some(ErrorClass::ProcAborted) {
        job::end_if_launcher_tells_of_death(code);
    }
    let name = class.map_or("an error of the program", ErrorClass::name);
    let rank = job::rank();
    let of = match site.object() {
        Some(object) => format!("of {}", object.described()),
        None => "outside of MPI_Init and MPI_Finalize".to_owned(),
    };
    // The variable of the initial handler of communicators, and of errors without one.
    let set = match site.object() {
        None => format!("{INITIAL_HANDLER}=mpi_errors_return"),
        Some(object) if object.has_initial_handler() => {
            format!("MPI_ERRORS_RETURN, or {INITIAL_HANDLER}=mpi_errors_return,")
        }
        Some(_) => "MPI_ERRORS_RETURN".to_owned(),
    };
    let why = format_args!(
        "motet: {rank}{call}: {text} [{name}]; the error handler {of} is {handler}, so the job \
         ends: set {set} to have the code returned"
    );
    job::exit(code, text, why)
}
