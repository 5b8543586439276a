//! The process as a rank: before, while and after the library is initialised.
//!
//! A process takes its seat in the world when `MPI_Init` or the first session asks for it, and
//! leaves when `MPI_Finalize` and all sessions have given it up. It can do so once: the seat is gone
//! then. Who uses the library at that moment (a mistake of the program) keeps what it uses alive,
//! and so the rank in the world, until it is done.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use motet::ErrorClass;

use crate::exports;
use crate::fault::{Answer, Fault, Site};
use crate::handle::Kind;
use crate::objects::{Comm, Errhandler, Groups, Hints, Message, Request, Shape, Type};

/// How many have asked for the seat and not given it up: `MPI_Init`, and each session.
static USERS: AtomicU32 = AtomicU32::new(0);
static INITIALIZED: AtomicBool = AtomicBool::new(false);
static FINALIZED: AtomicBool = AtomicBool::new(false);
static SEAT: Mutex<Seat> = Mutex::new(Seat { world: None, own: None, main: None, is_gone: false });

struct Seat {
    /// `MPI_COMM_WORLD`
    world: Option<Arc<Comm>>,
    /// `MPI_COMM_SELF`
    own: Option<Arc<Comm>>,
    /// The thread that called `MPI_Init`.
    main: Option<ThreadId>,
    is_gone: bool,
}

fn seat() -> MutexGuard<'static, Seat> {
    SEAT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether calls may be made.
#[inline]
pub(crate) fn is_running() -> bool {
    USERS.load(Ordering::Acquire) > 0
}

/// Whether `MPI_Init` has been called, ever.
pub(crate) fn is_initialized() -> bool {
    INITIALIZED.load(Ordering::Acquire)
}

/// Whether `MPI_Finalize` has been called.
pub(crate) fn is_finalized() -> bool {
    FINALIZED.load(Ordering::Acquire)
}

/// What it is to call the library now.
#[cold]
pub(crate) fn not_running() -> Fault {
    let text = if is_finalized() {
        "called after MPI_Finalize"
    } else {
        "called before MPI_Init (or MPI_Init_thread, or MPI_Session_init)"
    };
    Fault::new(ErrorClass::Other, text)
}

/// `MPI_COMM_WORLD`
#[inline]
pub(crate) fn world() -> Option<Arc<Comm>> {
    seat().world.clone()
}

/// `MPI_COMM_SELF`
pub(crate) fn own() -> Option<Arc<Comm>> {
    seat().own.clone()
}

/// The thread that initialised the library.
pub(crate) fn main_thread() -> Option<ThreadId> {
    seat().main
}

/// `MPI_Init`: takes the seat, by this thread.
///
/// # Errors
/// A second call; that the world cannot be joined.
pub(crate) fn initialize() -> Answer {
    if INITIALIZED.load(Ordering::Acquire) {
        return Err(Fault::new(ErrorClass::Other, "MPI_Init may be called once"));
    }
    join()?;
    seat().main = Some(thread::current().id());
    INITIALIZED.store(true, Ordering::Release);
    Ok(())
}

/// `MPI_Finalize`: gives the seat up.
///
/// # Errors
/// That it was not initialised, or is finalised already; of a callback of an attribute.
pub(crate) fn finalize() -> Answer {
    if !is_initialized() || is_finalized() {
        return Err(not_running());
    }
    if let Some(own) = own() {
        own.attributes.clear(&own.handle)?;
    }
    FINALIZED.store(true, Ordering::Release);
    leave();
    Ok(())
}

/// Takes the seat, if nobody has yet.
///
/// # Errors
/// That the world cannot be joined, or that its seat has been given up.
pub(crate) fn join() -> Answer {
    let mut seat = seat();
    if seat.world.is_none() {
        if seat.is_gone {
            let text = "the process has left its world already, and cannot join it again";
            return Err(Fault::new(ErrorClass::Other, text));
        }
        let world = motet::init()?;
        world.set_name("MPI_COMM_WORLD");
        let own = world.alone();
        own.set_name("MPI_COMM_SELF");
        let comm = |shape, handle| Some(Comm::new(shape, handle, Errhandler::Fatal));
        seat.own = comm(Shape::Plain(own), exports::MPI_COMM_SELF);
        seat.world = comm(Shape::World(world), exports::MPI_COMM_WORLD);
    }
    USERS.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

/// Gives the seat up; the last one leaves the world.
pub(crate) fn leave() {
    if USERS.fetch_sub(1, Ordering::AcqRel) > 1 {
        return;
    }
    drop(Request::arena().clear());
    drop(Message::arena().clear());
    drop(Comm::arena().clear());
    drop(Type::arena().clear());
    drop(Groups::arena().clear());
    drop(Hints::arena().clear());
    let mut seat = seat();
    seat.is_gone = true;
    let (own, world) = (seat.own.take(), seat.world.take());
    drop(seat);
    drop((own, world));
}

/// Ends the job because of an error, and says why.
#[cold]
pub(crate) fn end(call: &str, text: &str, code: c_int, site: &Site, handler: &str) -> ! {
    let name = ErrorClass::from_code(code).map_or("an error of the program", ErrorClass::name);
    let of = match site {
        Site::Comm(comm) => format!("communicator \"{}\"", comm.name()),
        Site::Session(_) => "session".to_owned(),
        Site::Unknown => "program".to_owned(),
    };
    let rank = world().map_or(String::new(), |world| format!("rank {}: ", world.rank()));
    eprintln!(
        "motet: {rank}{call}: {text} [{name}]; the error handler of the {of} is {handler}, so the \
         job ends: set MPI_ERRORS_RETURN to have the code returned"
    );
    abort(if code == 0 { 1 } else { code })
}

/// A fault of the library: nothing more can be relied on.
#[cold]
pub(crate) fn panicked(call: &str) -> ! {
    let rank = world().map_or(String::new(), |world| format!("rank {}: ", world.rank()));
    eprintln!("motet: {rank}{call}: a fault of the library, told above, ends the job");
    abort(c_int::from(u8::MAX))
}

/// Ends the job with an exit code.
pub(crate) fn abort(code: c_int) -> ! {
    // The launcher sees that the rank ends before its time, and ends the others.
    let code = code & 0xff;
    std::process::exit(if code == 0 { 1 } else { code })
}
