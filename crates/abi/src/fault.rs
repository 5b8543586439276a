//! What went wrong with a call, and before which error handler it is brought.
//!
//! A fault has a *site*: the communicator or session that the call was made on, or that the request
//! comes from, or files, which have one handler as long as none is open. One that has none (a wrong
//! handle, say) belongs to [`process::without_object`]. (MPI 5.0 §9.3)

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::c_int;

use motet::{Error, ErrorClass, ErrorCode, ErrorKind};

use crate::calls::errors::text_of;
use crate::error_codes::{class, returned};
use crate::handle::{MPI_Comm, MPI_File};
use crate::objects::{Errhandler, File, FoundComm, Session};
use crate::process;
use crate::slot::Found;

/// What a call comes to.
pub(crate) type Answer<T = ()> = Result<T, Fault>;

/// What went wrong.
#[derive(Debug)]
pub(crate) struct Fault(Box<Facts>);

#[derive(Debug)]
struct Facts {
    code: Code,
    text: String,
    /// The operation in which it happened, and the rank in its communicator.
    operation: Option<(&'static str, usize)>,
    site: Site,
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
pub(crate) enum Site {
    #[default]
    Unknown,
    Comm(FoundComm),
    Session(Found<Session>),
    /// That of all files: of `MPI_FILE_NULL`.
    File,
}

impl From<MPI_Comm> for Site {
    fn from(comm: MPI_Comm) -> Site {
        comm.object().map_or(Site::Unknown, Site::Comm)
    }
}

impl From<MPI_File> for Site {
    fn from(_: MPI_File) -> Site {
        Site::File
    }
}

impl Fault {
    /// An error of a class of the standard.
    #[cold]
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Fault {
        Fault::with(Code::OfClass(class), text.into())
    }

    /// `MPI_ERR_IN_STATUS`, itself: programs compare the code with it before they look at the
    /// statuses, which have the texts.
    #[cold]
    pub(crate) fn in_status(text: String) -> Fault {
        Fault::with(Code::Exactly(ErrorClass::InStatus.code()), text)
    }

    #[cold]
    fn with(code: Code, text: String) -> Fault {
        Fault(Box::new(Facts { code, text, operation: None, site: Site::Unknown }))
    }

    /// The class of the standard, or the code of the program.
    #[cfg(test)]
    pub(crate) fn code(&self) -> c_int {
        match self.0.code {
            Code::OfClass(class) => class.code(),
            Code::Exactly(code) => code,
        }
    }

    /// What happened.
    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    /// The same fault, of this site unless it has one already.
    #[cold]
    pub(crate) fn at(mut self, site: Site) -> Fault {
        if let Site::Unknown = self.0.site {
            self.0.site = site;
        }
        self
    }

    /// Brings it before the error handler of its site; returns the code if that returns.
    #[cold]
    pub(crate) fn handle(self, call: &str) -> c_int {
        let text = self.text_in(call);
        let Facts { code, site, .. } = *self.0;
        let site = match site {
            Site::Unknown => process::without_object().map_or(Site::Unknown, Site::Comm),
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
        site.handle(call, &text, code);
        code
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
}

/// Whether a function of C has the name of an operation: `MPI_Isend` of `isend`.
fn names(call: &str, operation: &str) -> bool {
    call.strip_prefix("MPI_").is_some_and(|call| call.eq_ignore_ascii_case(operation))
}

impl Site {
    /// Calls the error handler for an error of the program.
    #[cold]
    pub(crate) fn call_handler(&self, call: &str, code: c_int) {
        let text = text_of(code).filter(|text| !text.is_empty());
        self.handle(call, &text.unwrap_or_else(|| format!("error {code}")), code);
    }

    /// Brings an error before the handler of the object, or that of a program without one.
    #[cold]
    fn handle(&self, call: &str, text: &str, code: c_int) {
        let handler = match self {
            Site::Unknown => process::handler(),
            Site::Comm(comm) => comm.handler(),
            Site::Session(session) => session.handler(),
            Site::File => File::handler(),
        };
        match handler {
            Errhandler::Return => {}
            // SAFETY: the program says that it is a handler, and of what it is one.
            Errhandler::User(user) => unsafe { user.call(self, code) },
            Errhandler::Fatal => {
                process::end(call, text, class(code), self, "MPI_ERRORS_ARE_FATAL")
            }
            Errhandler::Abort => process::end(call, text, class(code), self, "MPI_ERRORS_ABORT"),
        }
    }
}

impl From<Error> for Fault {
    #[cold]
    fn from(error: Error) -> Fault {
        let code = match error.kind() {
            ErrorKind::User { code, .. } => Code::Exactly(code.0),
            _ => Code::OfClass(error.class()),
        };
        let mut fault = Fault::with(code, error.kind().to_string());
        fault.0.operation = error.call().zip(error.rank());
        fault
    }
}

/// The error of an argument that is wrong in another way than those with a class of their own.
#[cold]
pub(crate) fn argument(text: impl Into<String>) -> Fault {
    Fault::new(ErrorClass::Arg, text)
}
