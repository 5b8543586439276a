//! Exceptions of the program (C++, or another language) that leave its callbacks.
//!
//! An exception must reach the caller of the library, but must not unwind frames of the library:
//! engine, locks and objects would stay in the middle of a step, and the operation would never
//! complete on the other ranks. So the library catches it where the callback returns ([`stopped`]),
//! continues as after any failed callback, and rethrows it from the call that returns the failure,
//! as the last action of that call ([`Exception::raise`]).
//!
//! Error handlers are not called in this way: they are the last action of a call, when no value
//! with a destructor is alive. So an exception passes through, and so may a `longjmp` or the end of
//! the thread (`Ending`, in `boundary/error_handling.rs`).
//!
//! C++ counts the uncaught exceptions of each thread. The library decrements the count when it
//! catches an exception and increments it when it rethrows one, so another thread may rethrow it:
//! an operator may have thrown in the progress thread.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod catch;
mod cplusplus;

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use motet::{ErrorClass, ErrorKind, ExceptionId, log_line};

use crate::job;

/// The beginning of every exception, in any language. (Itanium C++ ABI, level I, 1.2.1)
#[repr(C)]
struct Header {
    class: u64,
    cleanup: Option<unsafe extern "C" fn(c_int, *mut Header)>,
    private: [u64; 2],
}

unsafe extern "C" {
    fn _Unwind_DeleteException(exception: *mut Header);
}

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(exception: *mut Header) -> c_int;
}

/// An exception that has been caught.
pub(crate) struct Exception {
    header: NonNull<Header>,
    /// The thread that alone may rethrow it, if that thread still counts it.
    counted_by: Option<ThreadId>,
}

// SAFETY: an exception of C++ may be caught in another thread than the one in which it was thrown,
// and all others are raised in their own thread only.
unsafe impl Send for Exception {}

/// The result of a callback.
pub(crate) type Ended<T> = Result<T, Exception>;

/// Calls a function of the program, and catches its exception.
pub(crate) fn stopped<T>(callback: impl FnOnce() -> T) -> Ended<T> {
    struct Job<F, T>(Option<F>, Option<T>);
    unsafe extern "C-unwind" fn run<F: FnOnce() -> T, T>(job: *mut c_void) {
        // SAFETY: the job below, which is there for the time of the call.
        let job = unsafe { &mut *job.cast::<Job<F, T>>() };
        job.1 = job.0.take().map(|callback| callback());
    }
    fn runner<F: FnOnce() -> T, T>(_: &Job<F, T>) -> unsafe extern "C-unwind" fn(*mut c_void) {
        run::<F, T>
    }
    let mut job = Job(Some(callback), None);
    let run = runner(&job);
    // SAFETY: the function is for this job.
    let exception = unsafe { catch::call(run, (&raw mut job).cast()) };
    match NonNull::new(exception) {
        None => Ok(job.1.expect("the function has returned")),
        Some(header) => Err(Exception::thrown(header)),
    }
}

impl Exception {
    /// An exception that has just been caught in this thread.
    #[cold]
    fn thrown(header: NonNull<Header>) -> Exception {
        if thread::panicking() {
            job::panicked("a callback"); // of the library itself, not of the program
        }
        let is_uncounted = cplusplus::is_one(header) && cplusplus::count(header, -1);
        Exception { header, counted_by: (!is_uncounted).then(|| thread::current().id()) }
    }

    /// Keeps the exception until a call [raises](Exception::raise) it. Returns its id.
    pub(crate) fn keep(self) -> ExceptionId {
        let mut kept = kept();
        kept.count += 1;
        let id = ExceptionId(kept.count);
        kept.exceptions.push((id, self));
        id
    }

    /// Whether no call has rethrown it yet, and this thread may.
    #[cold]
    pub(crate) fn may_be_raised(id: ExceptionId) -> bool {
        kept().place(id).is_some()
    }

    /// Rethrows a kept exception to the caller of the library. The calling function has no value
    /// alive that must not be unwound.
    #[cold]
    pub(crate) fn raise(id: ExceptionId) -> ! {
        let header = {
            let mut kept = kept();
            let place = kept.place(id).expect("asked before");
            let exception = ManuallyDrop::new(kept.exceptions.swap_remove(place).1);
            if exception.counted_by.is_none() {
                cplusplus::count(exception.header, 1);
            }
            exception.header
        };
        // SAFETY: an exception that nobody else has; it has been caught.
        unsafe { _Unwind_RaiseException(header.as_ptr()) };
        // It has returned: no frame catches the exception.
        cplusplus::terminate(header);
        log_line(format_args!("motet: a callback threw an exception, and no caller catches it"));
        std::process::abort()
    }

    /// The error for the failure of a callback.
    #[cold]
    pub(crate) fn into_error(self, from: &'static str, class: ErrorClass) -> ErrorKind {
        ErrorKind::Exception { from, class, id: self.keep() }
    }
}

impl Drop for Exception {
    fn drop(&mut self) {
        // What another language does with an uncaught exception is not known.
        if cplusplus::is_one(self.header) {
            // SAFETY: nobody else has it, and it has been caught.
            unsafe { _Unwind_DeleteException(self.header.as_ptr()) };
        }
    }
}

/// Exceptions that calls have not rethrown yet.
struct PendingExceptions {
    count: u64,
    exceptions: Vec<(ExceptionId, Exception)>,
}

impl PendingExceptions {
    /// The index of an exception that this thread may rethrow.
    fn place(&self, id: ExceptionId) -> Option<usize> {
        let is_here = |by: Option<ThreadId>| by.is_none_or(|one| one == thread::current().id());
        let mut all = self.exceptions.iter();
        all.position(|(each, exception)| *each == id && is_here(exception.counted_by))
    }
}

fn kept() -> MutexGuard<'static, PendingExceptions> {
    static KEPT: Mutex<PendingExceptions> =
        Mutex::new(PendingExceptions { count: 0, exceptions: Vec::new() });
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Deletes the exceptions that no call has rethrown: those of operations that the program has not
/// completed, and all but the first of one call.
pub(crate) fn delete_kept() {
    // The lock is not held: an exception may have a destructor, which is foreign code.
    let exceptions = std::mem::take(&mut kept().exceptions);
    drop(exceptions);
}
