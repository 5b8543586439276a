//! Error handlers: what happens to an error of a communicator before the call returns it. (MPI 4.1
//! §9.3)
//!
//! The [`CommContext`] of a communicator makes all its errors: those of calls, and those of
//! operations when the program first asks for the result. It is the only place that calls the
//! handler, once for each error.

use std::fmt;
use std::mem;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use motet_fabric::segment::Abort;
use motet_fabric::{TransferError, bootstrap, log_line};

use crate::base::error::{Error, ErrorClass, ErrorKind};
use crate::base::group::Group;
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::CommContext;
use crate::rank::RankContext;

/// Time for which a process waits to be ended after another rank has ended the job. Longer than the
/// time that rank needs to inform a launcher.
const TO_BE_ENDED: Duration = Duration::from_secs(3);

/// An error handler of the program.
pub type UserErrorHandler = Arc<dyn Fn(&ErrorSite<'_>, &Error) + Send + Sync>;

/// The reaction to an error of a communicator before the call returns it. New communicators inherit
/// the handler of the communicator they are made from. (MPI 4.1 §9.3)
#[derive(Clone, Default)]
pub enum ErrorHandler {
    /// Ends the job with a message that gives the reason. (`MPI_ERRORS_ARE_FATAL`)
    Fatal,
    /// Ends the ranks of the communicator and with them the job, since it cannot continue without
    /// them. (`MPI_ERRORS_ABORT`)
    Abort,
    /// Does nothing: the call returns the error, and the program decides. (`MPI_ERRORS_RETURN`)
    #[default]
    Return,
    /// Calls this function; then the call returns the error. (`MPI_Comm_create_errhandler`)
    User(UserErrorHandler),
}

impl ErrorHandler {
    /// Makes a handler of a function of the program. It may call the library, even on the
    /// communicator of the error.
    ///
    /// ```
    /// use motet::{ErrorHandler, Tag};
    ///
    /// motet::threads(1, |world| {
    ///     world.set_error_handler(ErrorHandler::user(|site, error| {
    ///         eprintln!("rank {} of {}: {error}", site.rank(), site.size());
    ///     }));
    ///     assert!(world.send(&[1], 7, Tag(0)).is_err());
    /// })?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn user(handler: impl Fn(&ErrorSite<'_>, &Error) + Send + Sync + 'static) -> ErrorHandler {
        ErrorHandler::User(Arc::new(handler))
    }
}

impl fmt::Debug for ErrorHandler {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ErrorHandler::Fatal => "Fatal",
            ErrorHandler::Abort => "Abort",
            ErrorHandler::Return => "Return",
            ErrorHandler::User(_) => "User",
        })
    }
}

/// The communicator of an error, as far as a handler needs it. The communicator itself may have
/// been freed: its operations outlive it.
pub struct ErrorSite<'a>(&'a CommContext);

impl ErrorSite<'_> {
    /// Returns the rank of the caller in the communicator.
    pub fn rank(&self) -> usize {
        self.0.error_context.rank
    }

    /// Returns the size of the communicator; of an intercommunicator, the size of its local group.
    pub fn size(&self) -> usize {
        self.group().size()
    }

    /// Returns the group of the communicator, or the local group.
    pub fn group(&self) -> &Group {
        &self.0.error_context.group
    }

    /// Returns the name of the communicator.
    pub fn name(&self) -> String {
        self.0.error_context.name()
    }
}

impl CommContext {
    /// Makes the error of a call and passes it to the handler.
    ///
    /// The engine must not be locked: a handler may use it.
    pub(crate) fn error(&self, call: &'static str, kind: impl Into<ErrorKind>) -> Error {
        let error = self.silent_error(call, kind);
        self.handle(&error);
        error
    }

    /// Makes an error without calling the handler, which has already been called for it.
    pub(crate) fn silent_error(&self, call: &'static str, kind: impl Into<ErrorKind>) -> Error {
        Error::from(kind.into()).at(call, self.error_context.rank)
    }

    /// Makes the error of a failed transfer and passes it to the handler.
    pub(crate) fn error_of_transfer(&self, call: &'static str, error: TransferError) -> Error {
        let error = self.silent_error_of_transfer(call, error);
        self.handle(&error);
        error
    }

    /// Makes the error of a failed transfer without calling the handler, which has already been
    /// called for it.
    pub(crate) fn silent_error_of_transfer(
        &self,
        call: &'static str,
        error: TransferError,
    ) -> Error {
        let refused = error.refused().map(|received| self.status(received));
        self.silent_error(call, error).about(refused)
    }

    /// Converts the error of a user callback to the error of a call.
    pub(crate) fn error_of_callback(&self, call: &'static str, error: Error) -> Error {
        let error = error.at(call, self.error_context.rank);
        self.handle(&error);
        error
    }

    /// Passes an error to the handler.
    pub(crate) fn handle(&self, error: &Error) {
        match self.error_context.handler() {
            ErrorHandler::Return => {}
            ErrorHandler::User(handler) => handler(&ErrorSite(self), error),
            ErrorHandler::Fatal | ErrorHandler::Abort => self.end_of_job(error),
        }
    }

    /// Ends the job, but not while the thread unwinds: the rank is ending already then.
    #[cold]
    fn end_of_job(&self, error: &Error) {
        let (name, class) = (self.error_context.name(), error.class());
        if class == ErrorClass::ProcAborted && self.core.launcher_tells_of_death() {
            if !thread::panicking() {
                std::process::exit(1);
            }
            return;
        }
        let name = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let why = format!(
            "motet: {error} [{class}]; the error handler of its communicator{name} ends the job: \
             to have the error returned, set ErrorHandler::Return"
        );
        if thread::panicking() {
            return log_line(why);
        }
        self.core.abort(1, why)
    }
}

impl RankContext {
    /// Returns whether this rank is the first one to end the job; it then reports the reason and
    /// determines the exit code of the job. In any other rank, whose process the launcher is about
    /// to end, this waits for that, and returns only if it does not happen.
    pub(crate) fn begins_abort(&self, code: u8) -> bool {
        let is_first = self.segment().abort(Abort { rank: self.me(), code });
        if !is_first && self.is_process() {
            thread::sleep(TO_BE_ENDED);
        }
        is_first
    }

    /// Returns whether a rank has died and the launcher of this library ends the job and reports
    /// the death. A rank that cannot continue without the dead one then exits without a message.
    pub(crate) fn launcher_tells_of_death(&self) -> bool {
        self.is_process()
            && !self.is_of_parent()
            && self.is_under_own_launcher()
            && self.segment().failure().is_some()
    }

    /// Ends this rank and the job, since the other ranks cannot continue without this one. Reports
    /// the reason, unless another rank already ends the job.
    #[cold]
    fn abort(&self, code: u8, why: String) -> ! {
        let code = code.max(1);
        if self.is_of_parent() {
            log_line(why);
            std::process::exit(i32::from(code));
        }
        let is_first = self.begins_abort(code);
        if is_first {
            log_line(why);
        }
        if self.is_process() {
            if is_first {
                // Our own launcher sees that the rank ends, and ends the others.
                bootstrap::abort(code, "the program has asked for the end of the job");
            }
            std::process::exit(i32::from(code));
        }
        self.die();
        // Not a second line on standard error: why it ends has been said.
        panic::resume_unwind(Box::new("the rank has been aborted"));
    }
}

impl Communicator {
    /// Returns the error handler of this communicator. (`MPI_Comm_get_errhandler`)
    pub fn error_handler(&self) -> ErrorHandler {
        self.home().error_context.handler()
    }

    /// Sets the error handler of this communicator for all later errors, including those of
    /// operations in flight. Local. (`MPI_Comm_set_errhandler`, MPI 4.1 §9.3.1)
    pub fn set_error_handler(&self, handler: ErrorHandler) {
        self.home().error_context.set_handler(handler);
    }

    /// Passes an error of the program to the handler. (`MPI_Comm_call_errhandler`)
    pub fn call_error_handler(&self, error: &Error) {
        self.home().handle(error);
    }

    /// Ends the job, with all ranks of the world, on whatever communicator it is called. If several
    /// ranks call it at once, the first one reports it and its code counts. (`MPI_Abort`, MPI 5.0
    /// §9.7)
    ///
    /// If ranks are processes, this process exits with `code`, or with 1 if `code` is 0, and so
    /// does the launcher. The launcher ends the other ranks on all hosts: their calls do not
    /// return, and none of them gets an error. [`motet run`](crate::launch) sends them SIGTERM, and
    /// SIGKILL a quarter of a second later.
    ///
    /// If ranks are threads, this one unwinds, since it cannot end the others: their calls return
    /// the error that this rank has died.
    ///
    /// # Panics
    /// A rank that is a thread unwinds, without a panic message.
    pub fn abort(&self, code: u8) -> ! {
        let (rank, name) = (self.home().error_context.rank, self.name());
        let of = match &*name {
            "" => "a communicator without a name".to_owned(),
            name => format!("communicator \"{name}\""),
        };
        self.core().abort(code, format!("motet: rank {rank} of {of} ends the job with code {code}"))
    }
}

/// The state of a communicator on which its ranks need not agree. The communicators inside an
/// intercommunicator share it.
pub(crate) struct ErrorContext {
    /// The rank that error messages name.
    pub(crate) rank: usize,
    /// The group in which it has this rank.
    pub(crate) group: Group,
    name: Mutex<String>,
    handler: Mutex<ErrorHandler>,
}

impl ErrorContext {
    pub(crate) fn new(rank: usize, group: Group, handler: ErrorHandler) -> Arc<ErrorContext> {
        let (name, handler) = (Mutex::default(), Mutex::new(handler));
        Arc::new(ErrorContext { rank, group, name, handler })
    }

    pub(crate) fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_name(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    pub(crate) fn handler(&self) -> ErrorHandler {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_handler(&self, handler: ErrorHandler) {
        // The former one is foreign code: dropped when the lock has been given up.
        let mut held = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        let former = mem::replace(&mut *held, handler);
        drop(held);
        drop(former);
    }
}
