//! The progress thread advances a rank's operations while no other thread of the rank does.
//!
//! It is parked while it has nothing to do: no operation has a waker or, if the thread serves all
//! operations, none is pending, or another thread waits and so advances them. It sets the parked
//! flag under the lock of the engine. A thread that unlocks the engine in another state calls the
//! progress thread, that is, clears the flag. `waiting` changes without the lock, but a thread that
//! stops waiting locks and unlocks the engine after that. So every needed call is made. The
//! progress thread may call itself in this way, and then checks once more.
//!
//! No call is lost either. With a core to itself the progress thread polls the flag for a while; a
//! call then costs its caller one store. After that it sets `is_blocked`, passes a fence, and
//! checks once more whether it is parked or is to end. A caller first clears the parked flag or
//! sets the end flag, passes a fence, and then checks `is_blocked`. So one of the two sees the
//! store of the other. If it is the caller, it locks and unlocks `idle`, which the progress thread
//! holds from its last check until it waits on the condition variable, and then wakes it. (A model
//! of this is in `motet-fabric`'s `protocols.rs`.)
//!
//! With a core for it, the progress thread also starts collectives that may take long: copying data
//! that has already arrived, or that goes through shared memory, would take time of the rank
//! ([`Engine::leave_starts_to_progress_thread`]).

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::wait::PARK_MAX;
use super::{RankContext, Shared, Waiting};
use crate::base::error::ErrorKind;
use crate::engine::Engine;

/// With a core to itself, the progress thread polls this long before it parks, for messages or for
/// a call: longer than a wake-up takes.
const SPIN_BEFORE_PARK: Duration = Duration::from_micros(100);
/// Pause instructions between two polls, so that other threads get the lock.
const PAUSES_PER_POLL: u32 = 50;

/// How a rank waits, and whether a thread makes progress when it does not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProgressConfig {
    pub(crate) waiting: Waiting,
    /// Whether a progress thread advances operations while the rank computes.
    pub(crate) has_progress_thread: bool,
}

impl ProgressConfig {
    /// Whether there is a progress thread and a core for it, in a world of so many ranks on so many
    /// cores.
    pub(super) fn progress_thread_has_core(&self, ranks: usize, cores: usize) -> bool {
        self.has_progress_thread && 2 * ranks <= cores
    }
}

/// The state that a rank and its progress thread share.
pub(crate) struct ProgressThread {
    /// Whether the thread serves all operations, not only those with a waker.
    pub(super) is_constant: bool,
    poll_before_park: Duration,
    /// Held by the thread from its last check until it parks.
    idle: Mutex<()>,
    /// Wakes the thread when it parks.
    called: Condvar,
    /// Whether it has nothing to do. Only the thread sets it, only other threads clear it.
    is_parked: AtomicBool,
    /// Whether it parks, or is about to, and so must be woken.
    is_blocked: AtomicBool,
    is_ending: AtomicBool,
    /// Threads of the rank that wait and so advance all operations.
    waiting: AtomicU32,
}

impl ProgressThread {
    pub(super) fn new(
        progress_config: ProgressConfig,
        ranks: usize,
        cores: usize,
    ) -> ProgressThread {
        let has_core = progress_config.progress_thread_has_core(ranks, cores);
        ProgressThread {
            is_constant: progress_config.has_progress_thread,
            poll_before_park: if has_core { SPIN_BEFORE_PARK } else { Duration::ZERO },
            idle: Mutex::new(()),
            called: Condvar::new(),
            is_parked: AtomicBool::new(false),
            is_blocked: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
        }
    }

    /// Whether the thread is parked and must be called.
    pub(super) fn is_wanted(&self, engine: &Engine) -> bool {
        self.is_parked.load(Ordering::Relaxed) && self.has_work(engine)
    }

    fn has_work(&self, engine: &Engine) -> bool {
        let is_alone = || self.waiting.load(Ordering::Relaxed) == 0;
        engine.has_wakers() || (self.is_constant && !engine.is_quiet() && is_alone())
    }

    /// Calls the thread, after the work is visible to it.
    pub(super) fn call(&self) {
        self.is_parked.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.is_blocked.load(Ordering::Relaxed) {
            // Either the thread has not checked yet, or it waits already.
            drop(self.idle.lock().unwrap_or_else(PoisonError::into_inner));
            self.called.notify_one();
        }
    }

    /// Tells the thread to end.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.call();
    }

    /// Waits until the thread is called: it polls as long as it may, and then parks.
    fn wait_for_call(&self) {
        let since = Instant::now();
        while since.elapsed() < self.poll_before_park {
            if !self.is_parked.load(Ordering::Acquire) {
                return;
            }
            (0..PAUSES_PER_POLL).for_each(|_| std::hint::spin_loop());
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_blocked.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.is_parked.load(Ordering::Acquire) && !self.is_ending.load(Ordering::Acquire) {
            idle = self.called.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        self.is_blocked.store(false, Ordering::Relaxed);
    }
}

/// A guard that a thread of the rank holds while it waits.
pub(super) struct Stay<'a>(&'a Shared);

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        if self.0.progress.waiting.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Unlocking the engine calls the progress thread, if that has become necessary.
            drop(self.0.free_engine());
        }
    }
}

impl RankContext {
    /// Starts the progress thread, if there is none, which wakes the wakers while no thread is in
    /// the library.
    ///
    /// # Errors
    /// The system has refused a thread.
    pub(crate) fn start_progress_thread(&self) -> Result<(), ErrorKind> {
        let thread = self.progress_thread.get_or_init(|| {
            let shared = self.shared.clone();
            let name = format!("progress {}", self.me());
            thread::Builder::new().name(name).spawn(move || shared.run_progress_thread())
        });
        if let Err(refusal) = thread {
            let what = "start the thread that makes progress";
            let source = io::Error::from_raw_os_error(refusal.raw_os_error().unwrap_or_default());
            return Err(motet_fabric::Error::System { what, source }.into());
        }
        self.shared.progress.call();
        Ok(())
    }
}

impl Shared {
    /// Tells a progress thread that serves all operations that a thread of this rank waits.
    #[inline]
    pub(super) fn stay(&self) -> Option<Stay<'_>> {
        self.progress.is_constant.then(|| {
            self.progress.waiting.fetch_add(1, Ordering::Relaxed);
            Stay(self)
        })
    }

    /// Runs the progress thread. If an operator or a waker panics, the rank dies, and all waiting
    /// threads are woken to find out.
    fn run_progress_thread(&self) {
        if panic::catch_unwind(AssertUnwindSafe(|| self.serve())).is_err() {
            self.die();
        }
    }

    /// Waits until the thread has something to do or is to end.
    fn wait_for_work(&self) {
        let progress = &self.progress;
        loop {
            let engine = self.engine.lock().expect("the progress thread is in no operator");
            let is_idle =
                !progress.is_ending.load(Ordering::Acquire) && !progress.has_work(&engine);
            progress.is_parked.store(is_idle, Ordering::Relaxed);
            drop(engine);
            if !is_idle {
                return;
            }
            progress.wait_for_call();
        }
    }

    /// Advances the engine while that is needed, and is parked otherwise.
    fn serve(&self) {
        let progress = &self.progress;
        loop {
            self.wait_for_work();
            if progress.is_ending.load(Ordering::Acquire) {
                return;
            }
            if self.poll_before_park() {
                continue;
            }
            self.park(PARK_MAX, |engine| {
                let moved = engine.progress_before_parking();
                if engine.failure().is_some() {
                    engine.wake_all();
                }
                moved || progress.is_ending.load(Ordering::Acquire) || !progress.has_work(engine)
            });
        }
    }

    /// Polls for a while, if the thread has a core to itself. Returns whether it need not park.
    fn poll_before_park(&self) -> bool {
        let mut since = Instant::now();
        while since.elapsed() < self.progress.poll_before_park {
            let mut engine = self.engine();
            if engine.progress() {
                since = Instant::now();
            }
            if !self.progress.has_work(&engine) || self.progress.is_ending.load(Ordering::Acquire) {
                return true;
            }
            drop(engine);
            (0..PAUSES_PER_POLL).for_each(|_| std::hint::spin_loop());
        }
        false
    }
}
