//! Sleeping until somebody has news, and waking a sleeper. Protocol and proof: `README.md`.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use rustix::thread::futex;

/// Nobody sleeps, or somebody has already been woken.
const AWAKE: u32 = 0;
/// Somebody sleeps, or is about to.
const SLEEPING: u32 = 1;

/// The doorbell of one rank: a futex word that has its cache line to itself.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell<'a> {
    word: &'a AtomicU32,
    /// Whether sleepers and ringers may be different processes: then the kernel must look the
    /// word up by its page, not by its address.
    shared: bool,
}

impl<'a> Doorbell<'a> {
    pub(crate) fn new(word: &'a AtomicU32, shared: bool) -> Doorbell<'a> {
        Doorbell { word, shared }
    }

    /// Wakes whoever sleeps here. Call it *after* publishing the news.
    ///
    /// Costs a fence and a load while nobody sleeps.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.word.load(Ordering::Relaxed) == SLEEPING {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.word.swap(AWAKE, Ordering::SeqCst) == SLEEPING {
            // An error would mean a bad address or flags: neither can be here.
            let woken = futex::wake(self.word, self.flags(), i32::MAX as u32);
            debug_assert!(woken.is_ok(), "futex wake on a mapped word");
        }
    }

    /// Sleeps until rung or until `limit` has passed, unless `news` says that there is something
    /// to do. Wake-ups without news are possible; callers loop.
    pub fn sleep(&self, limit: Duration, news: impl FnOnce() -> bool) {
        self.word.store(SLEEPING, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if news() {
            return;
        }
        let limit = futex::Timespec {
            tv_sec: limit.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: i64::from(limit.subsec_nanos()).into(),
        };
        // Every outcome (woken, word changed, time over, a signal) means: look again.
        let _ = futex::wait(self.word, self.flags(), SLEEPING, Some(&limit));
    }

    fn flags(&self) -> futex::Flags {
        if self.shared { futex::Flags::empty() } else { futex::Flags::PRIVATE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    #[test]
    fn news_before_sleep_means_no_sleep() {
        let word = AtomicU32::new(0);
        let begun = Instant::now();
        Doorbell::new(&word, false).sleep(Duration::from_secs(60), || true);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_ring_ends_the_sleep_and_none_is_lost() {
        const ROUNDS: u32 = 20_000;
        let (word, turn) = (AtomicU32::new(0), AtomicU32::new(0));
        let gave_up = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let begun = Instant::now();
                    while turn.load(Ordering::Acquire) <= round {
                        let news = || turn.load(Ordering::Acquire) > round;
                        Doorbell::new(&word, false).sleep(Duration::from_secs(20), news);
                        if begun.elapsed() > Duration::from_secs(15) {
                            gave_up.store(true, Ordering::Relaxed);
                            return;
                        }
                    }
                }
            });
            for round in 0..ROUNDS {
                turn.store(round + 1, Ordering::Release);
                Doorbell::new(&word, false).ring();
                if round % 7 == 0 {
                    std::thread::yield_now();
                }
            }
        });
        assert!(!gave_up.load(Ordering::Relaxed), "a ring was lost");
    }
}
