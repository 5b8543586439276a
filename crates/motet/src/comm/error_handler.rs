//! Error handlers: what happens to an error of a communicator before the call returns it.
//! (MPI 4.1 §9.3)
//!
//! Every error that belongs to a communicator is made by its [`CommContext`]: that of a call, and
//! that of an operation when somebody first asks for its outcome. So the handler is asked there,
//! and only there, and once for each error.

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

/// How long a process waits to be ended, when another rank has ended the job. It is longer than
/// that rank needs to tell a launcher.
const TO_BE_ENDED: Duration = Duration::from_secs(3);

/// A handler that the program has written.
pub type UserErrorHandler = Arc<dyn Fn(&ErrorSite<'_>, &Error) + Send + Sync>;

/// What happens to an error of a communicator before the call returns it. Communicators that are
/// made of another one begin with its handler. (MPI 4.1 §9.3)
#[derive(Clone, Default)]
pub enum ErrorHandler {
    /// The job ends, with a line that says why. (`MPI_ERRORS_ARE_FATAL`)
    Fatal,
    /// The ranks of the communicator end, and with them the job, since it cannot go on without
    /// them. (`MPI_ERRORS_ABORT`)
    Abort,
    /// Nothing: the call returns it, and the program decides. (`MPI_ERRORS_RETURN`)
    #[default]
    Return,
    /// This is called; then the call returns the error. (`MPI_Comm_create_errhandler`)
    User(UserErrorHandler),
}

impl ErrorHandler {
    /// A handler that the program has written. It may use the library, also the communicator that
    /// the error belongs to.
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

/// The communicator that an error belongs to, as far as its handler must know. The communicator
/// itself may be gone: its operations outlive it.
pub struct ErrorSite<'a>(&'a CommContext);

impl ErrorSite<'_> {
    /// The rank of the caller in the communicator.
    pub fn rank(&self) -> usize {
        self.0.particulars.rank
    }

    /// Ranks in the communicator; of an intercommunicator, in its local group.
    pub fn size(&self) -> usize {
        self.group().size()
    }

    /// The ranks of the communicator, or of the local group.
    pub fn group(&self) -> &Group {
        &self.0.particulars.group
    }

    /// The name of the communicator.
    pub fn name(&self) -> String {
        self.0.particulars.name()
    }
}

impl CommContext {
    /// An error of a call, which has been brought before the handler.
    ///
    /// The engine must not be locked: a handler may use it.
    pub(crate) fn error(&self, call: &'static str, kind: impl Into<ErrorKind>) -> Error {
        let error = self.silent_error(call, kind);
        self.handle(&error);
        error
    }

    /// An error that the handler has seen already.
    pub(crate) fn silent_error(&self, call: &'static str, kind: impl Into<ErrorKind>) -> Error {
        Error::from(kind.into()).at(call, self.particulars.rank)
    }

    /// What a transfer of a call ended with, brought before the handler.
    pub(crate) fn error_of_transfer(&self, call: &'static str, error: TransferError) -> Error {
        let error = self.silent_error_of_transfer(call, error);
        self.handle(&error);
        error
    }

    /// The same, which the handler has seen already.
    pub(crate) fn silent_error_of_transfer(
        &self,
        call: &'static str,
        error: TransferError,
    ) -> Error {
        let refused = error.refused().map(|received| self.status(received));
        self.silent_error(call, error).about(refused)
    }

    /// What a callback of the program has returned becomes the error of a call.
    pub(crate) fn error_of_callback(&self, call: &'static str, error: Error) -> Error {
        let error = error.at(call, self.particulars.rank);
        self.handle(&error);
        error
    }

    /// Brings an error before the handler.
    pub(crate) fn handle(&self, error: &Error) {
        match self.particulars.handler() {
            ErrorHandler::Return => {}
            ErrorHandler::User(handler) => handler(&ErrorSite(self), error),
            ErrorHandler::Fatal | ErrorHandler::Abort => self.end_of_job(error),
        }
    }

    /// Not while the thread unwinds: the rank is ending already.
    #[cold]
    fn end_of_job(&self, error: &Error) {
        let (name, class) = (self.particulars.name(), error.class());
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
    /// Whether this rank is the first one to end the job: then it is to say why, and what the code
    /// of the job is. Another one, whose process is to be ended in a moment, waits for that, and
    /// goes on only if nobody does it.
    pub(crate) fn begins_abort(&self, code: u8) -> bool {
        let is_first = self.segment().abort(Abort { rank: self.me(), code });
        if !is_first && self.is_process() {
            thread::sleep(TO_BE_ENDED);
        }
        is_first
    }

    /// Whether a rank has died and our own launcher ends the job for it, and says so: then a rank
    /// that cannot go on without the dead one has nothing to add.
    pub(crate) fn launcher_tells_of_death(&self) -> bool {
        self.is_process()
            && !self.is_of_parent()
            && self.is_under_own_launcher()
            && self.segment().failure().is_some()
    }

    /// Ends this rank and, since the others cannot go on without it, the job. Says why, unless
    /// another rank ends the job already.
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
    /// What happens to errors of this communicator. (`MPI_Comm_get_errhandler`)
    pub fn error_handler(&self) -> ErrorHandler {
        self.home().particulars.handler()
    }

    /// Sets what happens to errors of this communicator from now on, also to those of operations
    /// that are under way. Local. (`MPI_Comm_set_errhandler`, MPI 4.1 §9.3.1)
    pub fn set_error_handler(&self, handler: ErrorHandler) {
        self.home().particulars.set_handler(handler);
    }

    /// Brings an error of the program's own before the handler. (`MPI_Comm_call_errhandler`)
    pub fn call_error_handler(&self, error: &Error) {
        self.home().handle(error);
    }

    /// Ends the job from here, all ranks of it, whatever the communicator: of several ranks that
    /// do so at once the first one says so, and its code counts.
    ///
    /// Where ranks are processes, this one exits with the code, or with 1 if that is 0; so does
    /// the launcher. It ends the others, wherever they are: their calls do not return, and none of
    /// them gets an error. [`motet run`](crate::launch) sends them SIGTERM, and SIGKILL a quarter
    /// of a second later.
    ///
    /// A rank that is a thread unwinds, since nobody could end the others: their calls return the
    /// error that this rank has died.
    ///
    /// # Panics
    /// A rank that is a thread unwinds, without a message of the panic.
    ///
    /// (`MPI_Abort`, MPI 5.0 §9.7)
    pub fn abort(&self, code: u8) -> ! {
        let (rank, name) = (self.home().particulars.rank, self.name());
        let of = match &*name {
            "" => "a communicator without a name".to_owned(),
            name => format!("communicator \"{name}\""),
        };
        self.core().abort(code, format!("motet: rank {rank} of {of} ends the job with code {code}"))
    }
}

/// What a communicator has that its ranks need not agree on. The parts of an intercommunicator
/// share it.
pub(crate) struct ErrorContext {
    /// The rank that errors name.
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
