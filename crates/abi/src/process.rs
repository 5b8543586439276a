//! The state of the process: before, during and after initialization of the library.
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

use std::env;
use std::ffi::c_int;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use motet::raw::is_in_operator;
use motet::{ErrorClass, log_line, raw};

use crate::arena::Slot;
use crate::boundary::refuse_operator;
use crate::call_site::call_site;
use crate::callbacks;
use crate::calls::attributes;
use crate::constants;
use crate::error::{AbiError, AbiErrorSite, AbiResult};
use crate::error_codes;
use crate::forked;
use crate::handle::{
    Kind, MPI_ABI_Comm, MPI_ABI_Datatype, MPI_ABI_Group, MPI_ABI_Message, MPI_Request,
};
use crate::objects::{Comm, Errhandler, FoundComm, Shape};

/// The variable that names the initial error handler of a program.
pub(crate) const INITIAL_HANDLER: &str = "MOTET_INITIAL_ERRHANDLER";

/// Users of the seat: `MPI_Init`, and each session that has not ended.
static USERS: AtomicU32 = AtomicU32::new(0);

/// The progress of the process through `MPI_Init` and `MPI_Finalize`.
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);
const BEFORE: u8 = 0;
/// A thread is in `MPI_Init`.
const BEGINNING: u8 = 1;
const INITIALIZED: u8 = 2;
/// A thread is in `MPI_Finalize`.
const ENDING: u8 = 3;
const FINALIZED: u8 = 4;
/// This process is a child by `fork` of a process with a seat.
const FORKED: u8 = 5;

/// The content of the seat. It is taken once; from then until it is given up, `MPI_COMM_WORLD` and
/// `MPI_COMM_SELF` exist.
static WORLD: Slot<Comm> = Slot::new(None);
static OWN: Slot<Comm> = Slot::new(None);

static SEAT: Mutex<Seat> = Mutex::new(Seat::Free);
static MAIN: OnceLock<ThreadId> = OnceLock::new();
/// The error handler for errors without an object, after `MPI_Finalize`.
static LAST_HANDLER: OnceLock<Errhandler> = OnceLock::new();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seat {
    Free,
    Taken,
    Gone,
}

fn seat() -> MutexGuard<'static, Seat> {
    SEAT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the program may make calls.
#[inline]
pub(crate) fn is_running() -> bool {
    USERS.load(Ordering::Acquire) > 0
}

/// Whether `MPI_Init` has ever been called.
pub(crate) fn is_initialized() -> bool {
    STAGE.load(Ordering::Acquire) >= INITIALIZED
}

/// Whether `MPI_Finalize` has been called.
pub(crate) fn is_finalized() -> bool {
    matches!(STAGE.load(Ordering::Acquire), FINALIZED | FORKED)
}

/// Whether this process is a child by `fork` of a process with a seat.
pub(crate) fn is_forked() -> bool {
    STAGE.load(Ordering::Acquire) == FORKED
}

/// Marks this process as such a child, if its parent has a seat that is in use.
pub(crate) fn become_child() {
    if USERS.swap(0, Ordering::AcqRel) > 0 {
        STAGE.store(FORKED, Ordering::Release);
    }
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
    let text = match STAGE.load(Ordering::Acquire) {
        FORKED => return AbiError::new(ErrorClass::Other, forked::called()),
        BEFORE | BEGINNING => "called before MPI_Init (or MPI_Init_thread, or MPI_Session_init)",
        _ => "called after MPI_Finalize",
    };
    AbiError::new(ErrorClass::Other, text)
}

/// The communicator of all ranks, also of a program that has sessions only.
#[inline]
pub(crate) fn world() -> Option<FoundComm> {
    WORLD.find(0)
}

/// The communicator of this rank alone, also of a program that has sessions only.
#[inline]
pub(crate) fn own() -> Option<FoundComm> {
    OWN.find(0)
}

/// The communicator whose error handler receives errors without an object: that of this rank alone
/// if the program has set its handler, else that of all ranks. The standard always names the former
/// (MPI 5.0 §9.3), but programs set a handler for all ranks, and other libraries follow them.
#[cold]
pub(crate) fn without_object() -> Option<FoundComm> {
    if !is_in_world() {
        return None;
    }
    own().filter(|own| own.has_set_handler()).or_else(world)
}

/// Whether the library refuses everything that the standard forbids: check mode.
pub(crate) fn is_strict() -> bool {
    own().is_some_and(|comm| comm.inside().is_some_and(raw::is_strict))
}

/// Whether `MPI_COMM_WORLD` and `MPI_COMM_SELF` exist.
#[inline]
pub(crate) fn is_in_world() -> bool {
    matches!(STAGE.load(Ordering::Acquire), INITIALIZED | ENDING)
}

/// The thread that initialized the library.
pub(crate) fn main_thread() -> Option<ThreadId> {
    MAIN.get().copied()
}

/// The error handler for errors without an object, while no communicator has one.
pub(crate) fn handler() -> Errhandler {
    if is_forked() {
        return forked::handler();
    }
    LAST_HANDLER.get().cloned().unwrap_or_else(|| initial_handler().unwrap_or(Errhandler::Fatal))
}

/// The initial error handler of a program.
///
/// # Errors
/// An unknown name.
fn initial_handler() -> AbiResult<Errhandler> {
    let Ok(name) = env::var(INITIAL_HANDLER) else { return Ok(Errhandler::Fatal) };
    Errhandler::named(&name).ok_or_else(|| {
        let known = "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return";
        AbiError::new(ErrorClass::Arg, format!("{INITIAL_HANDLER} is `{name}`, not one of {known}"))
    })
}

/// `MPI_Init`: this thread takes the seat.
///
/// # Errors
/// A second call; the world cannot be joined.
pub(crate) fn initialize() -> AbiResult {
    let order = (Ordering::AcqRel, Ordering::Acquire);
    if let Err(stage) = STAGE.compare_exchange(BEFORE, BEGINNING, order.0, order.1) {
        let text = match stage {
            FORKED => return Err(not_running()),
            FINALIZED => "called after MPI_Finalize: MPI_Init may be called once",
            _ => "MPI_Init may be called once",
        };
        return Err(AbiError::new(ErrorClass::Other, text));
    }
    let joined = join();
    STAGE.store(if joined.is_ok() { INITIALIZED } else { BEFORE }, Ordering::Release);
    joined
}

/// `MPI_Finalize`: gives the seat up.
///
/// # Errors
/// The library was not initialized, or is finalized already; the error of a callback of an
/// attribute, or those of [`leave`], after all is done.
pub(crate) fn finalize() -> AbiResult {
    refuse_operator()?;
    let order = (Ordering::AcqRel, Ordering::Acquire);
    let (own, world) = match STAGE.compare_exchange(INITIALIZED, ENDING, order.0, order.1) {
        Ok(_) => (own(), world()),
        Err(ENDING) => return Err(AbiError::new(ErrorClass::Other, "called twice")),
        Err(_) => return Err(not_running()),
    };
    callbacks::delete_kept();
    // As if MPI_COMM_SELF were freed first, while everything still works.
    let ended = [&own, &world].map(|comm| comm.as_deref().map_or(Ok(()), attributes::deleted));
    // A handler of the program can be called no more: there is no communicator to call it with.
    let lasting = match without_object().map(|comm| comm.handler()) {
        Some(Errhandler::User(_)) | None => Errhandler::Fatal,
        Some(handler) => handler,
    };
    let _ = LAST_HANDLER.set(lasting);
    drop((own, world));
    STAGE.store(FINALIZED, Ordering::Release);
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
        let handler = initial_handler()?;
        error_codes::check_setting()?;
        let world = motet::raw::init_for(call_site)?;
        world.set_name("MPI_COMM_WORLD");
        let own = world.alone();
        own.set_name("MPI_COMM_SELF");
        let own = Comm::new(Shape::Plain(own), constants::MPI_COMM_SELF, handler.clone());
        let world = Comm::new(Shape::World(world), constants::MPI_COMM_WORLD, handler);
        // SAFETY: it is free, and filled here only, once.
        unsafe { WORLD.fill(world, ()) };
        // SAFETY: as above.
        unsafe { OWN.fill(own, ()) };
        let _ = MAIN.set(thread::current().id());
        forked::watch();
        *seat = Seat::Taken;
    }
    USERS.fetch_add(1, Ordering::AcqRel);
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
    if USERS.fetch_sub(1, Ordering::AcqRel) > 1 {
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
    give_up();
    told
}

/// Leaves the world, as soon as no thread uses its communicators any more.
fn give_up() {
    OWN.retire(0);
    WORLD.retire(0);
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
        rank(),
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
                give_up();
            }
        }
    }
    if PROCESS.set(std::process::id()).is_ok() {
        // SAFETY: the function does not unwind into C: what it calls has no callbacks of the
        // program, and what is left of the world is dropped without a panic.
        unsafe { libc::atexit(at_exit) };
    }
}

/// Ends the job because of an error, and prints the reason.
#[cold]
pub(crate) fn end(call: &str, text: &str, code: c_int, site: &AbiErrorSite, handler: &str) -> ! {
    let class = ErrorClass::from_code(code);
    if class == Some(ErrorClass::ProcAborted) && launcher_tells_of_death() {
        end_quietly(begin_end(code));
    }
    let name = class.map_or("an error of the program", ErrorClass::name);
    let rank = rank();
    let of = match site {
        AbiErrorSite::Comm(comm) => format!("of {}", comm.described()),
        AbiErrorSite::Session(_) => "of the session".to_owned(),
        AbiErrorSite::File => "of MPI_FILE_NULL".to_owned(),
        AbiErrorSite::Unknown => "outside of MPI_Init and MPI_Finalize".to_owned(),
    };
    // The variable of the initial handler of communicators, and of errors without one.
    let set = match site {
        AbiErrorSite::Unknown => format!("{INITIAL_HANDLER}=mpi_errors_return"),
        AbiErrorSite::Comm(_) => {
            format!("MPI_ERRORS_RETURN, or {INITIAL_HANDLER}=mpi_errors_return,")
        }
        AbiErrorSite::Session(_) | AbiErrorSite::File => "MPI_ERRORS_RETURN".to_owned(),
    };
    let why = format_args!(
        "motet: {rank}{call}: {text} [{name}]; the error handler {of} is {handler}, so the job \
         ends: set {set} to have the code returned"
    );
    exit(code, text, why)
}

/// Ends the job at the request of the program. (`MPI_Abort`)
#[cold]
pub(crate) fn end_by_request(comm: Option<&Comm>, code: c_int) -> ! {
    let of = comm.map_or(String::new(), |comm| format!(" on {}", comm.described()));
    let rank = rank();
    let why = format_args!("motet: {rank}MPI_Abort{of} with code {code}: the job ends");
    exit(code, "MPI_Abort", why)
}

/// A fault of the library, or a call within an operator that can return no error: the state of the
/// library is not reliable any more.
#[cold]
pub(crate) fn panicked(call: &str) -> ! {
    let rank = rank();
    let fault = match is_in_operator() {
        false => "a fault of the library",
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
fn rank() -> String {
    world().map_or(String::new(), |world| format!("rank {}: ", world.rank()))
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
fn exit(code: c_int, text: &str, why: fmt::Arguments<'_>) -> ! {
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
