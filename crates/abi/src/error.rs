//! The error of a call, and the error handler that it is passed to. (MPI 5.0 §9.3)
//!
//! An error has a *site*, whose error handler is called: the communicator or session of the call,
//! or of the request, or the files, which share one handler as long as none is open. An error
//! without a site (a wrong handle, for instance) goes to [`process::without_object`].

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;
use std::mem;

use motet::{Error, ErrorClass, ErrorCode, ErrorKind, ExceptionId, printable};

use crate::arena::ObjectRef;
use crate::callbacks::Exception;
use crate::calls::errors::text_of;
use crate::constants::{MPI_FILE_NULL, MPI_SUCCESS};
use crate::error_codes::{class, returned};
use crate::handle::{MPI_Comm, MPI_File};
use crate::objects::{Errhandler, File, FoundComm, Session};
use crate::process;

/// The result of a call.
pub(crate) type AbiResult<T = ()> = Result<T, AbiError>;

/// The error of a call.
#[derive(Debug)]
pub(crate) struct AbiError(Box<Facts>);

#[derive(Debug)]
struct Facts {
    code: Code,
    text: String,
    /// The operation that failed, and the rank in its communicator.
    operation: Option<(&'static str, usize)>,
    site: AbiErrorSite,
    /// The exception of a callback that is rethrown instead of a call of the error handler.
    exception: Option<ExceptionId>,
    /// Whether the program itself has passed the error to the error handler.
    is_requested: bool,
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

/// The return value of the call.
#[derive(Clone, Copy, Debug)]
enum Code {
    /// A code of this class that keeps the text.
    OfClass(ErrorClass),
    /// This number: one of the program, or one that the standard returns as a code and not as a
    /// class.
    Exactly(c_int),
}

/// The object whose error handler is called.
#[derive(Clone, Debug, Default)]
pub(crate) enum AbiErrorSite {
    #[default]
    Unknown,
    Comm(FoundComm),
    Session(ObjectRef<Session>),
    /// The handler of all files: that of `MPI_FILE_NULL`.
    File,
}

impl From<MPI_Comm> for AbiErrorSite {
    fn from(comm: MPI_Comm) -> AbiErrorSite {
        comm.object().map_or(AbiErrorSite::Unknown, AbiErrorSite::Comm)
    }
}

impl From<MPI_File> for AbiErrorSite {
    fn from(_: MPI_File) -> AbiErrorSite {
        AbiErrorSite::File
    }
}

impl AbiError {
    /// An error with a class of the standard.
    #[cold]
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> AbiError {
        AbiError::with(Code::OfClass(class), text.into())
    }

    /// `MPI_ERR_IN_STATUS`, itself: programs compare the code with it before they read the
    /// statuses, which have the texts.
    #[cold]
    pub(crate) fn in_status(text: String) -> AbiError {
        AbiError::with(Code::Exactly(ErrorClass::InStatus.code()), text)
    }

    /// An error that the program passes to the error handler of a site; the call does nothing else.
    #[cold]
    pub(crate) fn requested(site: AbiErrorSite, code: c_int) -> AbiError {
        let text = text_of(code).filter(|text| !text.is_empty());
        let text = text.unwrap_or_else(|| format!("error {code}"));
        let mut fault = AbiError::with(Code::Exactly(code), text);
        fault.0.is_requested = true;
        fault.at(site)
    }

    /// The same error, caused by this exception.
    #[cold]
    pub(crate) fn thrown(mut self, exception: Option<ExceptionId>) -> AbiError {
        self.0.exception = exception;
        self
    }

    #[cold]
    fn with(code: Code, text: String) -> AbiError {
        let text = printable(text).to_string();
        let (operation, site, exception) = (None, AbiErrorSite::Unknown, None);
        AbiError(Box::new(Facts { code, text, operation, site, exception, is_requested: false }))
    }

    /// The class of the standard, or the code of the program.
    #[cfg(test)]
    pub(crate) fn code(&self) -> c_int {
        match self.0.code {
            Code::OfClass(class) => class.code(),
            Code::Exactly(code) => code,
        }
    }

    /// What happened, in one line; texts of the program are a part of it at most.
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// The same error, with this site unless it has one already.
    #[cold]
    pub(crate) fn at(mut self, site: AbiErrorSite) -> AbiError {
        if let AbiErrorSite::Unknown = self.0.site {
            self.0.site = site;
        }
        self
    }

    /// What happened, and in which operation, unless that is the call itself.
    fn text_in(&self, call: &str) -> String {
        let Facts { text, operation, .. } = &*self.0;
        match operation {
            Some((operation, rank)) if !names(call, operation) => {
                format!("{operation} on rank {rank}: {text}")
            }
            _ => text.clone(),
        }
    }

    /// Passes the error to the error handler of its site: returns the last action. A handler of the
    /// standard may end the job here.
    #[cold]
    pub(crate) fn ending(self, call: &str) -> Ending {
        let text = self.text_in(call);
        let Facts { code, site, exception, is_requested, .. } = *self.0;
        if let Some(exception) = exception.filter(|&id| Exception::may_be_raised(id)) {
            return Ending(Last::Raise(exception));
        }
        let site = match site {
            AbiErrorSite::Unknown => {
                process::without_object().map_or(AbiErrorSite::Unknown, AbiErrorSite::Comm)
            }
            site => site,
        };
        let code = match code {
            Code::OfClass(class) => {
                let rank = process::world().map(|world| world.rank());
                let rank = rank.map_or(String::new(), |rank| format!(" on rank {rank}"));
                returned(ErrorCode::with_text(class, &format!("{call}{rank}: {text}")))
            }
            Code::Exactly(code) => code,
        };
        let returns = if is_requested { MPI_SUCCESS } else { code };
        let last = match site.handler() {
            Errhandler::Return => Last::Return(returns),
            Errhandler::User(user) => {
                let function = user.address();
                let call = |handle| Last::Call { function, handle, code, returns };
                site.handle().map_or(Last::Return(returns), call)
            }
            Errhandler::Fatal => {
                process::end(call, &text, class(code), &site, "MPI_ERRORS_ARE_FATAL")
            }
            Errhandler::Abort => process::end(call, &text, class(code), &site, "MPI_ERRORS_ABORT"),
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

/// Whether a C function has the name of an operation: `MPI_Isend` of `isend`, `MPI_Send_c` of
/// `send`.
fn names(call: &str, operation: &str) -> bool {
    let call = call.strip_prefix("MPI_").unwrap_or(call);
    call.strip_suffix("_c").unwrap_or(call).eq_ignore_ascii_case(operation)
}

impl AbiErrorSite {
    /// The error handler of the object, or that of errors without an object.
    #[cold]
    fn handler(&self) -> Errhandler {
        match self {
            AbiErrorSite::Unknown => process::handler(),
            AbiErrorSite::Comm(comm) => comm.handler(),
            AbiErrorSite::Session(session) => session.handler(),
            AbiErrorSite::File => File::handler(),
        }
    }

    /// The handle that an error handler of the program receives.
    fn handle(&self) -> Option<usize> {
        match self {
            AbiErrorSite::Unknown => None,
            AbiErrorSite::Comm(comm) => Some(comm.handle.value()),
            AbiErrorSite::Session(session) => Some(session.handle.value()),
            AbiErrorSite::File => Some(MPI_FILE_NULL.value()),
        }
    }
}

impl From<Error> for AbiError {
    #[cold]
    fn from(error: Error) -> AbiError {
        let code = match error.kind() {
            ErrorKind::User { code, .. } => Code::Exactly(code.0),
            _ => Code::OfClass(error.class()),
        };
        let mut fault = AbiError::with(code, error.kind().to_string());
        fault.0.operation = error.call().zip(error.rank());
        fault.thrown(error.kind().exception())
    }
}

/// The error of an argument that is negative and must not be.
#[cold]
pub(crate) fn negative(class: ErrorClass, what: &str, value: impl Into<i64>) -> AbiError {
    AbiError::new(class, format!("{what} is {}, but must not be negative", value.into()))
}

/// The error of a wrong argument that has no error class of its own.
#[cold]
pub(crate) fn argument(text: impl Into<String>) -> AbiError {
    AbiError::new(ErrorClass::Arg, text)
}
