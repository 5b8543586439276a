//! What is done for every call, whichever it is.
//!
//! Nothing unwinds into C: a panic (a fault of the library, or of Rust code that was called back)
//! ends the job with its message and the rank.

use std::ffi::c_int;
use std::panic::{self, AssertUnwindSafe};

use motet::ErrorClass;

use crate::exports::MPI_SUCCESS;
use crate::fault::{Answer, Fault, Site};
use crate::process;

/// A call that needs the library to be initialised.
#[inline]
pub(crate) fn boundary(call: &'static str, work: impl FnOnce() -> Answer) -> c_int {
    if !process::is_running() {
        return process::not_running().handle(call);
    }
    anytime(call, work)
}

/// A call that may be made before the library is initialised, and after it is finalised.
#[inline]
pub(crate) fn anytime(call: &'static str, work: impl FnOnce() -> Answer) -> c_int {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => MPI_SUCCESS,
        Ok(Err(fault)) => fault.handle(call),
        Err(_) => process::panicked(call),
    }
}

/// A call of the tools interface, whose errors are returned and never brought before a handler.
#[inline]
pub(crate) fn tool(call: &'static str, work: impl FnOnce() -> Result<(), c_int>) -> c_int {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => MPI_SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => process::panicked(call),
    }
}

/// What a call of what there is not comes to.
#[cold]
pub(crate) fn missing(what: &str, site: impl Into<Site>) -> Answer {
    let text = format!("Motet has no {what}");
    Err(Fault::new(ErrorClass::UnsupportedOperation, text).at(site.into()))
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
        assert!(told.contains("MPI_Pcontrol: a fault of the library"), "{told}");
    }
}
