//! The end of the job: at the request of the program, because of an error, or after a fault.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::c_int;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use motet::log_line;
use motet::raw::is_in_operator;

use crate::forked;
use crate::objects::{Comm, world};
use crate::stage::is_forked;

/// Ends the job at the request of the program. (`MPI_Abort`)
#[cold]
pub(crate) fn end_by_request(comm: Option<&Comm>, code: c_int) -> ! {
    let of = comm.map_or(String::new(), |comm| format!(" on {}", comm.described()));
    let rank = rank();
    let why = format_args!("motet: {rank}MPI_Abort{of} with code {code}: the job ends");
    exit(code, "MPI_Abort", why)
}

/// An internal error, or a call within an operator that can return no error: the state of the
/// library is not reliable any more.
#[cold]
pub(crate) fn panicked(call: &str) -> ! {
    let rank = rank();
    let fault = match is_in_operator() {
        false => "an internal error",
        true => "a call that an operator must not make",
    };
    let why = format_args!("motet: {rank}{call}: {fault}, told above, ends the job");
    exit(c_int::from(u8::MAX), fault, why)
}

/// A callback has ended its thread in the middle of a call, which can therefore neither continue
/// nor end.
#[cold]
pub(crate) fn callback_ended_thread() -> ! {
    let rank = rank();
    let why = format_args!(
        "motet: {rank}a callback has ended its thread (pthread_exit, or a cancellation) in the \
         middle of a call, which cannot go on: the job ends; return from the callback first"
    );
    exit(c_int::from(u8::MAX), "a callback has ended its thread", why)
}

/// The name of the rank in messages, if it is known.
pub(crate) fn rank() -> String {
    world().map_or(String::new(), |world| format!("rank {}: ", world.rank()))
}

/// Ends this process, if Motet's own launcher ends the job for the death of a rank, and reports it.
pub(crate) fn end_if_launcher_tells_of_death(code: c_int) {
    if launcher_tells_of_death() {
        end_quietly(begin_end(code));
    }
}

/// Whether Motet's own launcher ends the job for the death of a rank, and reports it.
fn launcher_tells_of_death() -> bool {
    let world = world();
    let ranks = world.as_deref().and_then(Comm::inside);
    ranks.is_some_and(motet::raw::launcher_tells_of_death)
}

/// Ends the process, without the exit handlers of the program: they may call the library and wait
/// for other ranks. Motet's own launcher sees that the rank ends, and ends the others; the launcher
/// of another library is asked to. Prints the reason, unless another rank has printed why the job
/// ends.
pub(crate) fn exit(code: c_int, text: &str, why: fmt::Arguments<'_>) -> ! {
    let code = begin_end(code);
    if is_forked() {
        forked::end(code, why);
    }
    let world = world();
    let ranks = world.as_deref().and_then(Comm::inside);
    let is_first = match ranks {
        Some(ranks) => motet::raw::begins_abort(ranks, code),
        None => motet::raw::begins_abort_without_world(code),
    };
    if is_first {
        log_line(why);
        motet::raw::tell_launcher_to_abort(code, text);
    }
    end_quietly(code)
}

/// The first thread that ends the process gets the exit code from here; all other threads stay
/// here.
fn begin_end(code: c_int) -> u8 {
    /// A thread is ending the process already.
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, Ordering::AcqRel) {
        loop {
            thread::park();
        }
    }
    flush_output();
    match code as u8 {
        0 => 1,
        code => code,
    }
}

fn end_quietly(code: u8) -> ! {
    // SAFETY: it ends the process, of which nothing else is to be done.
    unsafe { libc::_exit(c_int::from(code)) }
}

/// Flushes the output of the program, unless another thread is stuck while it prints.
fn flush_output() {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
        fn ftrylockfile(file: *mut libc::FILE) -> c_int;
    }
    // SAFETY: C has set it before the program began.
    let output = unsafe { stdout };
    // SAFETY: it is a file.
    if unsafe { ftrylockfile(output) } == 0 {
        // SAFETY: as above, and this thread has locked it.
        unsafe { libc::fflush(output) };
    }
}
