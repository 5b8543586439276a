//! Resource limits of the process (`ulimit`, `prlimit64`).
//!
//! A sandbox may refuse `prlimit64`. Then no limit is known, and all is tried as if there was none.
//! (That of rustix cannot fail: it panics, or returns what nobody has written.)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use rustix::process::{Resource, Rlimit};

/// The limit that is in force, and the most that may be asked for. Nothing means no limit.
pub(crate) fn limit_of(resource: Resource) -> Rlimit {
    let mut found = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the pointer is that of a limit, which the call writes or leaves as it is.
    unsafe { libc::getrlimit(resource as _, &raw mut found) };
    let limit = |value| Some(value).filter(|&value| value != libc::RLIM_INFINITY);
    Rlimit { current: limit(found.rlim_cur), maximum: limit(found.rlim_max) }
}
