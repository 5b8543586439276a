//! Flush signal: informs the flush thread whether cells for other hosts wait. Protocol and
//! proof: `README.md`, "The flush thread".

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::thread::{self, Thread};
use std::time::Duration;

/// The state by which a rank informs its flush thread.
#[derive(Debug, Default)]
pub struct FlushSignal {
    /// 0 while no cell waits, else a number that it never had before.
    newest: AtomicU64,
    flush_thread: OnceLock<Thread>,
    /// Whether the flush thread sleeps, or is about to.
    is_resting: AtomicBool,
    is_ending: AtomicBool,
}

impl FlushSignal {
    /// A number that changes when the rank sends or polls, if any cell waits.
    pub fn newest(&self) -> Option<u64> {
        Some(self.newest.load(Ordering::Relaxed)).filter(|&newest| newest != 0)
    }

    /// Registers this thread as the flush thread. From now on cells may be held back.
    pub fn serve(&self) {
        let _ = self.flush_thread.set(thread::current()); // there is one
    }

    /// The flush thread sleeps until a cell waits. `false` if the thread must end.
    pub fn rest(&self) -> bool {
        loop {
            self.is_resting.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            let is_ending = self.is_ending.load(Ordering::Relaxed);
            if is_ending || self.newest.load(Ordering::Relaxed) != 0 {
                self.is_resting.store(false, Ordering::Relaxed);
                return !is_ending;
            }
            thread::park();
        }
    }

    /// The flush thread sleeps for `time`, or somewhat less. `false` if the thread must end, even
    /// if cells wait: their receiver may have died.
    pub fn pause(&self, time: Duration) -> bool {
        if !self.is_ending.load(Ordering::Relaxed) {
            thread::park_timeout(time);
        }
        !self.is_ending.load(Ordering::Relaxed)
    }

    /// Tells the flush thread to end.
    pub fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if let Some(flush_thread) = self.flush_thread.get() {
            flush_thread.unpark();
        }
    }

    /// Whether there is a flush thread; without one no cell may be held back.
    pub(super) fn is_served(&self) -> bool {
        self.flush_thread.get().is_some()
    }

    /// Records that cells wait; the number is a new one.
    pub(super) fn hold(&self, number: u64) {
        let before = self.newest.load(Ordering::Relaxed);
        self.newest.store(number, Ordering::Relaxed);
        if before == 0 {
            self.call();
        }
    }

    /// Records that no cell waits any more.
    pub(super) fn let_go(&self) {
        self.newest.store(0, Ordering::Relaxed);
    }

    /// Wakes the flush thread, if it sleeps, so that it reads what was stored before.
    fn call(&self) {
        fence(Ordering::SeqCst);
        if self.is_resting.load(Ordering::Relaxed)
            && let Some(flush_thread) = self.flush_thread.get()
        {
            flush_thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchdog::Watchdog;
    use std::sync::Arc;

    /// If a call is lost, the flush thread rests for ever.
    #[test]
    fn a_flush_thread_that_rests_is_called() {
        let _watchdog = Watchdog::start();
        let held_back = Arc::new(FlushSignal::default());
        let (seen, sees) = std::sync::mpsc::channel();
        let flush_thread = {
            let held_back = Arc::clone(&held_back);
            thread::spawn(move || {
                held_back.serve();
                while held_back.rest() {
                    if let Some(newest) = held_back.newest() {
                        seen.send(newest).unwrap();
                        held_back.let_go();
                    }
                }
            })
        };
        while !held_back.is_served() {
            thread::yield_now();
        }
        for number in 1..10_000 {
            held_back.hold(number);
            assert_eq!(sees.recv().unwrap(), number);
            while held_back.newest().is_some() {
                std::hint::spin_loop();
            }
        }
        held_back.end();
        flush_thread.join().unwrap();
    }

    /// It neither waits for what waits, nor for the time.
    #[test]
    fn a_flush_thread_ends_though_something_waits() {
        let _watchdog = Watchdog::start();
        let held_back = Arc::new(FlushSignal::default());
        let flush_thread = {
            let held_back = Arc::clone(&held_back);
            thread::spawn(move || {
                held_back.serve();
                while held_back.rest() {
                    while held_back.pause(Duration::from_secs(3600)) {}
                }
            })
        };
        held_back.hold(1);
        held_back.end();
        flush_thread.join().unwrap();
    }

    #[test]
    fn a_flush_thread_that_comes_late_ends_at_once() {
        let held_back = FlushSignal::default();
        held_back.end();
        held_back.serve();
        assert!(!held_back.rest());
    }
}
