//! Detects a process that a rank has created by `fork`.
//!
//! The child is not a rank: the world in its memory belongs to the parent, and the threads of the
//! parent do not exist in it. So the library does not use this world. In the child it reports that
//! it is finalized, so destructors that finalize MPI at exit do nothing; every other call is an
//! error that names the call site. An error that would end the job ends only the child.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;
use std::fmt;
use std::sync::Once;

use motet::log_line;

use crate::objects::{Errhandler, own, world};
use crate::stage;

/// Sees to it that the children of this process know what they are.
pub(crate) fn watch() {
    static REGISTERED: Once = Once::new();
    extern "C" fn in_child() {
        stage::become_child();
    }
    // SAFETY: the function is there as long as the process, and does not unwind: it stores words.
    REGISTERED.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// What it is to call the library here.
pub(crate) fn called() -> String {
    format!(
        "called in a child process that {} has made by fork: only the rank itself is in its world, \
         so make the call there, or let the child execute a program that does not use MPI",
        rank()
    )
}

fn rank() -> String {
    world().map_or("a rank".to_owned(), |world| format!("rank {}", world.rank()))
}

/// What the program has set in the parent; a function of it can be called no more.
pub(crate) fn handler() -> Errhandler {
    let own = own().filter(|own| own.has_set_handler());
    match own.or_else(world).map(|comm| comm.handler()) {
        Some(Errhandler::User(_)) | None => Errhandler::Fatal,
        Some(handler) => handler,
    }
}

/// Ends this process and nothing else.
pub(crate) fn end(code: u8, why: fmt::Arguments<'_>) -> ! {
    log_line(format_args!("{why} (in a child process that {} has made by fork, alone)", rank()));
    // SAFETY: no more than it says.
    unsafe { libc::_exit(c_int::from(code)) }
}
