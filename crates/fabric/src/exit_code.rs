//! The exit code of a process after an error that the program may have ignored: such a process does
//! not exit with the code of success.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::{c_int, c_void};
use std::process;
use std::sync::Mutex;

use crate::log_line;

/// The code of a process that would have ended with 0.
const FAILURE: c_int = 1;

/// The process that has asked for this, and what it says when it ends. Its children made by `fork`
/// have this value, too, but end as they want.
static ASKED: Mutex<Option<(u32, String)>> = Mutex::new(None);

unsafe extern "C" {
    /// As `atexit`; the function is told the exit code. (glibc)
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// From now on this process ends with exit code 1 where it would have ended with 0, and says why
/// in one line. Another exit code, and an end by a signal, stay what they are. Only the first call
/// in a process does anything.
pub fn fail_at_exit(why: impl FnOnce() -> String) {
    let Ok(mut asked) = ASKED.lock() else { return };
    if asked.as_ref().is_some_and(|(process, _)| *process == process::id()) {
        return;
    }
    let is_registered = asked.replace((process::id(), why())).is_some();
    if !is_registered {
        // SAFETY: the function is there as long as the process, and does not unwind: it writes a
        // line and ends the process.
        unsafe { on_exit(at_exit, std::ptr::null_mut()) };
    }
}

extern "C" fn at_exit(code: c_int, _: *mut c_void) {
    // Another thread may hold the lock for ever; it is not waited for.
    let Ok(Some((process, why))) = ASKED.try_lock().map(|mut asked| asked.take()) else { return };
    if code != 0 || process != process::id() {
        return;
    }
    log_line(why);
    // SAFETY: writes out what C programs have printed; this thread is in no call of C's files.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: no more than it says.
    unsafe { libc::_exit(FAILURE) }
}
