//! The error of a call, and the error handler that it is passed to. (MPI 5.0 §9.3)
//!
//! An error has a *site*, whose error handler is called: the communicator or session of the call,
//! or of the request, or the files, which share one handler as long as none is open. An error
//! without a site (a wrong handle, for instance) goes to [`process::without_object`].

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;
use std::mem;

use motet::{Error, ErrorClass, ErrorCode, ErrorKind, ExceptionId, printable};

use crate::calls::errors::text_of;
use crate::error_codes::{class, returned};
use crate::exception::Exception;
use crate::exports::{MPI_FILE_NULL, MPI_SUCCESS};
use crate::handle::{MPI_Comm, MPI_File};
use crate::objects::{Errhandler, File, FoundComm, Session};
use crate::process;
use crate::slot::ObjectRef;

/// What a call comes to.
pub(crate) type AbiResult<T = ()> = Result<T, AbiError>;

/// What went wrong.
#[derive(Debug)]
pub(crate) struct AbiError(Box<Facts>);

#[derive(Debug)]
struct Facts {
    code: Code,
    text: String,
    /// The operation in which it happened, and the rank in its communicator.
    operation: Option<(&'static str, usize)>,
    site: AbiErrorSite,
    /// What is raised instead of calling the error handler, if a callback has thrown it.
    exception: Option<ExceptionId>,
    /// Whether the program itself has it brought before the error handler.
    is_requested: bool,
}

/// The last thing that a call does that has failed: it may never come back from it. Nothing in it
/// has a destructor, and nothing else is alive then, so that it may be left in whatever way: by an
/// exception, by a `longjmp`, or by the end of the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending(Last);

#[derive(Clone, Copy, Debug)]
enum Last {
    Return(c_int),
    /// Calls the error handler at this address, which is one for objects of the handle's kind.
    Call {
        function: usize,
        handle: usize,
        code: c_int,
        returns: c_int,
    },
    /// Raises an exception that a callback has thrown.
    Raise(ExceptionId),
}

/// What the call returns.
#[derive(Clone, Copy, Debug)]
enum Code {
    /// A code of this class that keeps the text.
    OfClass(ErrorClass),
    /// This number: of the program, or what the standard returns as a code and not as a class.
    Exactly(c_int),
}

/// Whose error handler is called.
#[derive(Clone, Debug, Default)]
pub(crate) enum AbiErrorSite {
    #[default]
    Unknown,
    Comm(FoundComm),
    Session(ObjectRef<Session>),
    /// That of all files: of `MPI_FILE_NULL`.
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
    /// An error of a class of the standard.
    #[cold]
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> AbiError {
        AbiError::with(Code::OfClass(class), text.into())
    }

    /// `MPI_ERR_IN_STATUS`, itself: programs compare the code with it before they look at the
    /// statuses, which have the texts.
    #[cold]
    pub(crate) fn in_status(text: String) -> AbiError {
        AbiError::with(Code::Exactly(ErrorClass::InStatus.code()), text)
    }

    /// An error of the program, which it wants to be brought before the error handler of a site;
    /// that is all that the call does.
    #[cold]
    pub(crate) fn requested(site: AbiErrorSite, code: c_int) -> AbiError {
        let text = text_of(code).filter(|text| !text.is_empty());
        let text = text.unwrap_or_else(|| format!("error {code}"));
        let mut fault = AbiError::with(Code::Exactly(code), text);
        fault.0.is_requested = true;
        fault.at(site)
    }

    /// The same fault, of which this exception is the cause.
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

    /// What happened, in a line of which texts of the program are a part at most.
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// The same fault, of this site unless it has one already.
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

    /// Brings it before the error handler of its site: what is to be done last. A handler of the
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
    /// Does it; the code that the call returns then. The caller has nothing alive that has a
    /// destructor.
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

/// Whether a function of C has the name of an operation: `MPI_Isend` of `isend`, `MPI_Send_c` of
/// `send`.
fn names(call: &str, operation: &str) -> bool {
    let call = call.strip_prefix("MPI_").unwrap_or(call);
    call.strip_suffix("_c").unwrap_or(call).eq_ignore_ascii_case(operation)
}

impl AbiErrorSite {
    /// The error handler of the object, or that of a program without one.
    #[cold]
    fn handler(&self) -> Errhandler {
        match self {
            AbiErrorSite::Unknown => process::handler(),
            AbiErrorSite::Comm(comm) => comm.handler(),
            AbiErrorSite::Session(session) => session.handler(),
            AbiErrorSite::File => File::handler(),
        }
    }

    /// The handle that an error handler of the program is told.
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

/// The error of an argument that is wrong in another way than those with a class of their own.
#[cold]
pub(crate) fn argument(text: impl Into<String>) -> AbiError {
    AbiError::new(ErrorClass::Arg, text)
}
