//! The thread that moves a rank's operations while nobody else of that rank does.
//!
//! It is parked while there is nothing for it to do: no operation of which somebody wants to be
//! woken or, if it is there for all operations, none under way, or somebody waits and so moves
//! them. That it is parked it says under the lock of the engine. Whoever gives the engine back in
//! another state than that calls it: takes back that it is parked. `waiting` is changed without the
//! engine, but who stops to wait takes and gives it back after that. So no call is missing. The
//! helper may call itself so, which has it look once more.
//!
//! Nor is one lost. With a core to itself the helper looks for a call for a while, which then costs
//! its caller one store. After that it says that it `sleeps`, passes a fence, and looks once more
//! whether it is parked or is to end; a caller takes back or says that first, passes a fence, and
//! then looks whether the helper sleeps. So one of the two sees what the other has said. The caller
//! that sees it takes and gives back `idle`, which the helper holds from its last look until it
//! waits to be woken, and then wakes it. (A model of this is in `motet-fabric`'s `protocols.rs`.)
//!
//! With a core for it, what begins and may take long is left to the helper altogether: to copy what
//! has come already, or what goes through shared memory, would take the rank's time
//! ([`Engine::leave_to_helper`]).

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::wait::SLEEP_MAX;
use super::{RankContext, Shared, Waiting};
use crate::base::error::ErrorKind;
use crate::engine::Engine;

/// With a core to itself, the helper looks for so long before it sleeps, for messages or for a
/// call: longer than it takes to wake it.
const SPIN_BEFORE_SLEEP: Duration = Duration::from_micros(100);
/// Pauses of the processor between two looks, so that others get the lock.
const PAUSES_PER_POLL: u32 = 50;

/// How a rank waits, and who moves its operations when it does not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProgressConfig {
    pub(crate) waiting: Waiting,
    /// Whether a thread moves them while the rank computes.
    pub(crate) has_helper: bool,
}

impl ProgressConfig {
    /// Whether there is a thread that moves operations, and a core for it, in a world of so many
    /// ranks on so many cores.
    pub(super) fn helper_has_core(&self, ranks: usize, cores: usize) -> bool {
        self.has_helper && 2 * ranks <= cores
    }
}

/// What a rank and its helper tell each other.
pub(crate) struct ProgressThread {
    /// Whether the helper is there for all operations, not just for those with a waker.
    pub(super) is_constant: bool,
    linger: Duration,
    /// Held by the helper while it finds out that it may sleep.
    idle: Mutex<()>,
    /// Wakes the helper when it sleeps.
    called: Condvar,
    /// Whether it has nothing to do. Only the helper says so, only others take it back.
    is_parked: AtomicBool,
    /// Whether it must be woken, or is about to find out.
    sleeps: AtomicBool,
    is_ending: AtomicBool,
    /// Threads of the rank that wait, and so move all operations.
    waiting: AtomicU32,
}

impl ProgressThread {
    pub(super) fn new(habits: ProgressConfig, ranks: usize, cores: usize) -> ProgressThread {
        let has_core = habits.helper_has_core(ranks, cores);
        ProgressThread {
            is_constant: habits.has_helper,
            linger: if has_core { SPIN_BEFORE_SLEEP } else { Duration::ZERO },
            idle: Mutex::new(()),
            called: Condvar::new(),
            is_parked: AtomicBool::new(false),
            sleeps: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
        }
    }

    /// Whether the helper is parked and must be called.
    pub(super) fn is_wanted(&self, engine: &Engine) -> bool {
        self.is_parked.load(Ordering::Relaxed) && self.has_work(engine)
    }

    fn has_work(&self, engine: &Engine) -> bool {
        let is_alone = || self.waiting.load(Ordering::Relaxed) == 0;
        engine.has_wakers() || (self.is_constant && !engine.is_quiet() && is_alone())
    }

    /// Calls the helper, after there is something for it to see.
    pub(super) fn call(&self) {
        self.is_parked.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) {
            // Either the helper has not looked yet, or it waits already.
            drop(self.idle.lock().unwrap_or_else(PoisonError::into_inner));
            self.called.notify_one();
        }
    }

    /// Tells the helper to end.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
        self.call();
    }

    /// Waits until the helper is called: awake, as long as it may be, and then asleep.
    fn await_call(&self) {
        let since = Instant::now();
        while since.elapsed() < self.linger {
            if !self.is_parked.load(Ordering::Acquire) {
                return;
            }
            (0..PAUSES_PER_POLL).for_each(|_| std::hint::spin_loop());
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.is_parked.load(Ordering::Acquire) && !self.is_ending.load(Ordering::Acquire) {
            idle = self.called.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleeps.store(false, Ordering::Relaxed);
    }
}

/// Somebody waits.
pub(super) struct Stay<'a>(&'a Shared);

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        if self.0.aid.waiting.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Giving the engine back calls the helper, if it has become needed.
            drop(self.0.free_engine());
        }
    }
}

impl RankContext {
    /// Makes sure that somebody wakes the wakers while nobody is in the library.
    ///
    /// # Errors
    /// The system has refused a thread.
    pub(crate) fn help(&self) -> Result<(), ErrorKind> {
        let helper = self.helper.get_or_init(|| {
            let shared = self.shared.clone();
            let name = format!("motet helper {}", self.me());
            thread::Builder::new().name(name).spawn(move || shared.help())
        });
        if let Err(refusal) = helper {
            let what = "start the thread that makes progress";
            let source = io::Error::from_raw_os_error(refusal.raw_os_error().unwrap_or_default());
            return Err(motet_fabric::Error::System { what, source }.into());
        }
        self.shared.aid.call();
        Ok(())
    }
}

impl Shared {
    /// Tells the helper, if there always is one, that a thread of this rank waits.
    #[inline]
    pub(super) fn stay(&self) -> Option<Stay<'_>> {
        self.aid.is_constant.then(|| {
            self.aid.waiting.fetch_add(1, Ordering::Relaxed);
            Stay(self)
        })
    }

    /// The helper. Should an operator or a waker panic, the rank dies, and all who wait are woken
    /// to find out.
    fn help(&self) {
        if panic::catch_unwind(AssertUnwindSafe(|| self.serve())).is_err() {
            self.die();
        }
    }

    /// Waits until the helper has something to do, or is to end.
    fn park(&self) {
        let aid = &self.aid;
        loop {
            let engine = self.engine.lock().expect("the helper is in no operator");
            let is_idle = !aid.is_ending.load(Ordering::Acquire) && !aid.has_work(&engine);
            aid.is_parked.store(is_idle, Ordering::Relaxed);
            drop(engine);
            if !is_idle {
                return;
            }
            aid.await_call();
        }
    }

    /// Moves the engine as long as that is wanted, and is out of the way otherwise.
    fn serve(&self) {
        let aid = &self.aid;
        loop {
            self.park();
            if aid.is_ending.load(Ordering::Acquire) {
                return;
            }
            if self.linger() {
                continue;
            }
            self.sleep(SLEEP_MAX, |engine| {
                let moved = engine.progress_thoroughly();
                if engine.failure().is_some() {
                    engine.wake_all();
                }
                moved || aid.is_ending.load(Ordering::Acquire) || !aid.has_work(engine)
            });
        }
    }

    /// Looks for a while, if that takes nobody's core. Says whether there is no need to sleep.
    fn linger(&self) -> bool {
        let mut since = Instant::now();
        while since.elapsed() < self.aid.linger {
            let mut engine = self.engine();
            if engine.progress() {
                since = Instant::now();
            }
            if !self.aid.has_work(&engine) || self.aid.is_ending.load(Ordering::Acquire) {
                return true;
            }
            drop(engine);
            (0..PAUSES_PER_POLL).for_each(|_| std::hint::spin_loop());
        }
        false
    }
}
