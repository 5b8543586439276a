//! The thread that moves a rank's operations while nobody else of that rank does.
//!
//! It is parked while there is nothing for it to do: no operation of which somebody wants to be
//! woken or, if it is there for all operations, none under way, or somebody waits and so moves
//! them. Whoever gives the engine back in another state than that calls it. All of that is changed
//! and looked at under the lock of the engine, but for `waiting`: who stops to wait takes the lock
//! once more after that. So no call is lost.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::waiting::LONGEST_SLEEP;
use super::{Core, Habits, Shared};
use crate::engine::Engine;

/// With a core to itself, the helper looks for so long before it sleeps: longer than it takes to
/// wake it.
const LINGER: Duration = Duration::from_micros(100);
/// Pauses of the processor between two looks, so that others get the lock.
const PAUSES: u32 = 50;

/// What a rank and its helper tell each other.
pub(super) struct Aid {
    /// Whether the helper is there for all operations, not just for those with a waker.
    pub(super) is_constant: bool,
    linger: Duration,
    /// Wakes the helper when it is parked.
    called: Condvar,
    is_parked: AtomicBool,
    is_ending: AtomicBool,
    /// Threads of the rank that wait, and so move all operations.
    waiting: AtomicU32,
}

impl Aid {
    pub(super) fn new(habits: Habits, ranks: usize, cores: usize) -> Aid {
        let has_core = habits.has_helper && 2 * ranks <= cores;
        Aid {
            is_constant: habits.has_helper,
            linger: if has_core { LINGER } else { Duration::ZERO },
            called: Condvar::new(),
            is_parked: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            waiting: AtomicU32::new(0),
        }
    }

    /// Whether the helper is parked and has something to do.
    pub(super) fn is_wanted(&self, engine: &Engine) -> bool {
        self.is_parked.load(Ordering::Relaxed) && self.has_work(engine)
    }

    fn has_work(&self, engine: &Engine) -> bool {
        let is_alone = || self.waiting.load(Ordering::Relaxed) == 0;
        engine.has_wakers() || (self.is_constant && !engine.is_quiet() && is_alone())
    }

    /// Calls the helper.
    pub(super) fn call(&self) {
        self.called.notify_one();
    }

    /// The helper is to end. Under the lock of the engine; call it after that.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::Release);
    }
}

/// Somebody waits.
pub(super) struct Stay<'a>(&'a Shared);

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        if self.0.aid.waiting.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Giving the engine back calls the helper, if it has become needed.
            drop(self.0.engine());
        }
    }
}

impl Core {
    /// Makes sure that somebody wakes the wakers while nobody is in the library.
    pub(crate) fn help(&self) {
        self.helper.get_or_init(|| {
            let shared = self.shared.clone();
            let name = format!("motet helper {}", self.me());
            let spawned = thread::Builder::new().name(name).spawn(move || shared.help());
            spawned.expect("a thread can be started")
        });
        self.shared.aid.call();
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

    /// Moves the engine as long as that is wanted, and is out of the way otherwise.
    fn serve(&self) {
        let aid = &self.aid;
        loop {
            let mut engine = self.engine();
            if aid.is_ending.load(Ordering::Acquire) {
                return;
            }
            if !aid.has_work(&engine) {
                let engine = engine.engine.take().expect("locked until dropped");
                aid.is_parked.store(true, Ordering::Relaxed);
                let engine = aid.called.wait(engine).unwrap_or_else(PoisonError::into_inner);
                aid.is_parked.store(false, Ordering::Relaxed);
                drop(engine);
                continue;
            }
            drop(engine);
            if self.linger() {
                continue;
            }
            self.sleep(LONGEST_SLEEP, |engine| {
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
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        false
    }
}
