//! Initialization and finalization of the library.
//!
//! A process joins its world (takes its `Seat`) in `MPI_Init` or in the first session, and leaves
//! it (gives the seat up) after `MPI_Finalize` and the end of all sessions. It can join only once.
//! A thread that still uses the library at that moment (an error of the program) keeps the objects
//! that it uses alive, and therefore the rank in the world, until its call returns.
//!
//! A program that has only used sessions may open more of them later, or call `MPI_Init`: before
//! `MPI_Finalize` the process stays in the world between sessions, and leaves it at exit.
//!
//! The handles `MPI_COMM_WORLD` and `MPI_COMM_SELF` are valid from `MPI_Init` to `MPI_Finalize`;
//! the communicators exist as long as the process is in the world.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use motet::{ErrorClass, log_line};

use crate::boundary::{keep_last_handler, not_running, refuse_operator};
use crate::call_site::call_site;
use crate::callbacks::{self, deleted};
use crate::constants;
use crate::error::{AbiError, AbiResult};
use crate::error_codes;
use crate::forked;
use crate::handle::{
    Kind, MPI_ABI_Comm, MPI_ABI_Datatype, MPI_ABI_Group, MPI_ABI_Message, MPI_Request,
};
use crate::job;
use crate::objects::{self, Comm, Errhandler, Shape, give_up_world, own, world};
use crate::stage::{
    self, BEFORE, BEGINNING, ENDING, FINALIZED, FORKED, INITIALIZED, is_finalized, is_forked,
    is_running,
};

static SEAT: Mutex<Seat> = Mutex::new(Seat::Free);
static MAIN: OnceLock<ThreadId> = OnceLock::new();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    Free,
    Taken,
    Gone,
}

fn seat() -> MutexGuard<'static, Seat> {
    SEAT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that initialized the library.
pub(crate) fn main_thread() -> Option<ThreadId> {
    MAIN.get().copied()
}

/// `MPI_Init`: this thread takes the seat.
///
/// # Errors
/// A second call; the world cannot be joined.
pub(crate) fn initialize() -> AbiResult {
    if let Err(stage) = stage::advance(BEFORE, BEGINNING) {
        let text = match stage {
            FORKED => return Err(not_running()),
            FINALIZED => "called after MPI_Finalize: MPI_Init may be called once",
            _ => "MPI_Init may be called once",
        };
        return Err(AbiError::new(ErrorClass::Other, text));
    }
    let joined = join();
    stage::set(if joined.is_ok() { INITIALIZED } else { BEFORE });
    joined
}

/// `MPI_Finalize`: gives the seat up.
///
/// # Errors
/// The library was not initialized, or is finalized already; the error of a callback of an
/// attribute, or those of [`leave`], after all is done.
pub(crate) fn finalize() -> AbiResult {
    refuse_operator()?;
    let (own, world) = match stage::advance(INITIALIZED, ENDING) {
        Ok(_) => (own(), world()),
        Err(ENDING) => return Err(AbiError::new(ErrorClass::Other, "called twice")),
        Err(_) => return Err(not_running()),
    };
    callbacks::delete_kept();
    // As if MPI_COMM_SELF were freed first, while everything still works.
    let ended = [&own, &world].map(|comm| comm.as_deref().map_or(Ok(()), deleted));
    keep_last_handler();
    drop((own, world));
    stage::set(FINALIZED);
    let left = leave();
    ended.into_iter().chain([left]).collect()
}

/// Takes the seat, if it is free.
///
/// # Errors
/// The world cannot be joined, or its seat has been given up.
pub(crate) fn join() -> AbiResult {
    if is_forked() {
        return Err(not_running());
    }
    let mut seat = seat();
    if *seat == Seat::Gone {
        let text = "the process has left its world already, and cannot join it again";
        return Err(AbiError::new(ErrorClass::Other, text));
    }
    if *seat == Seat::Free {
        let handler = Errhandler::initial()?;
        error_codes::check_setting()?;
        let world = motet::raw::init_for(call_site)?;
        world.set_name("MPI_COMM_WORLD");
        let own = world.alone();
        own.set_name("MPI_COMM_SELF");
        let own = Comm::new(Shape::Plain(own), constants::MPI_COMM_SELF, handler.clone());
        let world = Comm::new(Shape::World(world), constants::MPI_COMM_WORLD, handler);
        // SAFETY: the seat is free, and taken below, so this happens once.
        unsafe { objects::fill_world(world, own) };
        let _ = MAIN.set(thread::current().id());
        forked::watch();
        *seat = Seat::Taken;
    }
    stage::add_user();
    Ok(())
}

/// Gives the seat up. The last user leaves the world, or keeps the seat until there is another
/// session or the process exits.
///
/// # Errors
/// In check mode, the calls of the ranks do not match, if no call has reported it. The process
/// leaves the world in this case, too.
pub(crate) fn leave() -> AbiResult {
    if is_forked() {
        return Err(not_running());
    }
    // The lock decides between the last user that leaves and a new one that joins.
    let mut seat = seat();
    if !stage::remove_user() {
        return Ok(());
    }
    let is_last = is_finalized();
    if is_last {
        *seat = Seat::Gone;
    }
    drop(seat);
    report_active(&MPI_Request::retire_all());
    MPI_ABI_Message::arena().clear();
    MPI_ABI_Comm::arena().clear();
    MPI_ABI_Datatype::arena().clear();
    MPI_ABI_Group::arena().clear();
    if !is_last {
        leave_at_exit();
        return Ok(());
    }
    let told = world().map_or(Ok(()), |world| world.end_calls());
    give_up_world();
    told
}

/// Reports operations that the program has not completed, where it had to: before the last end.
fn report_active(calls: &[&str]) {
    const NAMED: usize = 3;
    if calls.is_empty() {
        return;
    }
    let named = calls[..calls.len().min(NAMED)].join(", ");
    let more = if calls.len() > NAMED { ", …" } else { "" };
    log_line(format_args!(
        "motet: {}{} requests are still active at the end, which no call has completed: \
         {named}{more}",
        job::rank(),
        calls.len()
    ));
}

/// Makes the process leave the world when it exits, if it has not left before.
fn leave_at_exit() {
    static PROCESS: OnceLock<u32> = OnceLock::new();
    extern "C" fn at_exit() {
        // Not in a child of this process by `fork`.
        if PROCESS.get() == Some(&std::process::id()) && !is_running() {
            let mut seat = seat();
            if *seat == Seat::Taken {
                *seat = Seat::Gone;
                drop(seat);
                give_up_world();
            }
        }
    }
    if PROCESS.set(std::process::id()).is_ok() {
        // SAFETY: the function does not unwind into C: what it calls has no callbacks of the
        // program, and what is left of the world is dropped without a panic.
        unsafe { libc::atexit(at_exit) };
    }
}
