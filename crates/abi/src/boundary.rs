//! The boundary between C and Rust, which every call passes.
//!
//! A panic (a fault of the library) does not unwind into C: it ends the job with its message and
//! the rank. An exception of the program does: the call rethrows an exception that has left a
//! callback, as its last action, and an exception that leaves an error handler passes through
//! ([`crate::callbacks`]). A call from within an operator is an error of the program.

mod error_handling;

pub(crate) use error_handling::keep_last_handler;

use std::ffi::c_int;
use std::mem;
use std::thread;

use motet::raw::is_in_operator;
use motet::{Error, ErrorClass, ErrorKind};

use crate::constants::MPI_SUCCESS;
use crate::error::{AbiError, AbiErrorSite, AbiResult};
use crate::forked;
use crate::job;
use crate::stage::{self, BEFORE, BEGINNING, FORKED, is_running};

/// Ends the job if a panic leaves the call.
struct EndsJobAtPanic(&'static str);

impl Drop for EndsJobAtPanic {
    #[cold]
    fn drop(&mut self) {
        if thread::panicking() {
            job::panicked(self.0);
        }
    }
}

/// Runs the work of a call, and lets no panic out of it.
#[inline]
fn guarded<T>(call: &'static str, work: impl FnOnce() -> T) -> T {
    let guard = EndsJobAtPanic(call);
    let done = work();
    mem::forget(guard);
    done
}

/// # Errors
/// Calls may not be made yet, or no longer.
#[inline]
pub(crate) fn running() -> AbiResult {
    if is_running() { Ok(()) } else { Err(not_running()) }
}

/// The error of a call at this time.
#[cold]
pub(crate) fn not_running() -> AbiError {
    let text = match stage::now() {
        FORKED => return AbiError::new(ErrorClass::Other, forked::called()),
        BEFORE | BEGINNING => "called before MPI_Init (or MPI_Init_thread, or MPI_Session_init)",
        _ => "called after MPI_Finalize",
    };
    AbiError::new(ErrorClass::Other, text)
}

/// A call that needs an initialized library.
#[inline]
pub(crate) fn boundary(call: &'static str, work: impl FnOnce() -> AbiResult) -> c_int {
    if !is_running() {
        return failed(call, not_running());
    }
    anytime(call, work)
}

/// A call that the program may make before the library is initialized, and after it is finalized.
#[inline]
pub(crate) fn anytime(call: &'static str, work: impl FnOnce() -> AbiResult) -> c_int {
    match guarded(call, work) {
        Ok(()) => MPI_SUCCESS,
        Err(fault) => failed(call, fault),
    }
}

/// The error of a call within an operator, where the call cannot report it by a result of its own.
pub(crate) fn refuse_operator() -> AbiResult {
    if is_in_operator() { Err(Error::from(ErrorKind::WithinOperator).into()) } else { Ok(()) }
}

/// A call of the tools interface, whose errors are returned and never passed to a handler.
#[inline]
pub(crate) fn tool(call: &'static str, work: impl FnOnce() -> Result<(), c_int>) -> c_int {
    guarded(call, work).err().unwrap_or(MPI_SUCCESS)
}

/// The result of a failed call. Its last action may never return: at that time no value with a
/// destructor is alive.
#[cold]
#[inline(never)]
fn failed(call: &'static str, fault: AbiError) -> c_int {
    guarded(call, || fault.ending(call)).perform()
}

/// The result of a call on an object that does not exist.
#[cold]
pub(crate) fn missing(what: &str, site: impl Into<AbiErrorSite>) -> AbiResult {
    let text = format!("Motet has no {what}");
    Err(AbiError::new(ErrorClass::UnsupportedOperation, text).at(site.into()))
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use super::anytime;

    const CHILD: &str = "MOTET_TEST_OF_A_FAULT";

    /// A fault of the library ends the process with its message, and does not come back to C.
    #[test]
    fn panics_end_the_process() {
        if env::var_os(CHILD).is_some() {
            anytime("MPI_Pcontrol", || panic!("a planted fault"));
            return;
        }
        let program = env::current_exe().expect("this test is a program");
        let arguments = ["--exact", "--nocapture", "boundary::tests::panics_end_the_process"];
        let ended = Command::new(program).args(arguments).env(CHILD, "1").output();
        let ended = ended.expect("it can be started again");
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(255), "{told}");
        assert!(told.contains("a planted fault"), "{told}");
        assert!(told.contains("MPI_Pcontrol: an internal error"), "{told}");
    }
}
