//! Trusted environment: reads variables that name files or libraries, unless the process has more
//! rights than its user.
//!
//! A program with more rights than the user who starts it (set-user-id, file capabilities) must not
//! load, read or write what that user names. It does as if such variables were not set, as
//! `secure_getenv` of the C library does.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::env;
use std::ffi::OsString;

/// A variable that names something to be opened; nothing in a program that has more rights than
/// its user.
pub fn trusted(name: &str) -> Option<OsString> {
    if has_more_rights() { None } else { env::var_os(name) }
}

fn has_more_rights() -> bool {
    // SAFETY: asks for a number that the system has given this process; takes no pointers.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
