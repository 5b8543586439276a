//! The error of a call.
//!
//! An error has a *site*, whose error handler is called: the communicator or session of the call,
//! or of the request, or the files, which share one handler as long as none is open. An error
//! without a site (a wrong handle, for instance) goes to the handler that the process has for it.
//! The objects are in a layer above: an error knows them as [`HasErrorHandler`].

use std::ffi::c_int;
use std::fmt;

use motet::{Error, ErrorClass, ErrorKind, ExceptionId, printable};

/// The result of a call.
pub(crate) type AbiResult<T = ()> = Result<T, AbiError>;

/// The error of a call.
#[derive(Debug)]
pub(crate) struct AbiError(Box<Facts>);

/// All that is known of an error.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) code: Code,
    text: String,
    /// The operation that failed, and the rank in its communicator.
    operation: Option<(&'static str, usize)>,
    pub(crate) site: AbiErrorSite,
    /// The exception of a callback that is rethrown instead of a call of the error handler.
    pub(crate) exception: Option<ExceptionId>,
    /// Whether the program itself has passed the error to the error handler.
    pub(crate) is_requested: bool,
}

/// The return value of the call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    /// A code of this class that keeps the text.
    OfClass(ErrorClass),
    /// This number: one of the program, or one that the standard returns as a code and not as a
    /// class.
    Exactly(c_int),
}

/// An object with an error handler.
pub(crate) trait HasErrorHandler: Send + Sync {
    /// What its error handler does about an error.
    fn reaction(&self) -> Reaction;

    /// Its handle, which an error handler of the program receives.
    fn handle(&self) -> usize;

    /// The object in messages.
    fn described(&self) -> String;

    /// Whether objects of its kind have the initial error handler until the program sets another.
    fn has_initial_handler(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn HasErrorHandler {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.described())
    }
}

/// What an error handler does about an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reaction {
    /// All processes end.
    Fatal,
    /// The processes of the communicator end; in Motet all processes do.
    Abort,
    /// The code is returned.
    Return,
    /// The function of the program at this address is called, then the code is returned.
    Call(usize),
}

/// The object whose error handler is called, if there is one.
#[derive(Debug)]
pub(crate) struct AbiErrorSite(Option<Box<dyn HasErrorHandler>>);

impl AbiErrorSite {
    /// No object.
    pub(crate) const UNKNOWN: AbiErrorSite = AbiErrorSite(None);

    /// This object.
    #[cold]
    pub(crate) fn of(object: impl HasErrorHandler + 'static) -> AbiErrorSite {
        AbiErrorSite(Some(Box::new(object)))
    }

    pub(crate) fn object(&self) -> Option<&dyn HasErrorHandler> {
        self.0.as_deref()
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
    pub(crate) fn requested(site: AbiErrorSite, code: c_int, text: String) -> AbiError {
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
        let (operation, site, exception) = (None, AbiErrorSite::UNKNOWN, None);
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
        if self.0.site.object().is_none() {
            self.0.site = site;
        }
        self
    }

    /// What happened, and in which operation, unless that is the call itself.
    pub(crate) fn text_in(&self, call: &str) -> String {
        let Facts { text, operation, .. } = &*self.0;
        match operation {
            Some((operation, rank)) if !names(call, operation) => {
                format!("{operation} on rank {rank}: {text}")
            }
            _ => text.clone(),
        }
    }

    /// All that is known of the error.
    pub(crate) fn into_facts(self) -> Facts {
        *self.0
    }
}

/// Whether a C function has the name of an operation: `MPI_Isend` of `isend`, `MPI_Send_c` of
/// `send`.
fn names(call: &str, operation: &str) -> bool {
    let call = call.strip_prefix("MPI_").unwrap_or(call);
    call.strip_suffix("_c").unwrap_or(call).eq_ignore_ascii_case(operation)
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
