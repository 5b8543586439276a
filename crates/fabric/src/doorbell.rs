//! Sleeping until somebody has news, and waking a sleeper. Protocol and proof: `README.md`.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

use rustix::thread::futex;

/// Set in the word while somebody sleeps, or is about to. The bits above it count the rings that
/// found it set, so that whoever lies down can tell a ring that came before the kernel had it
/// asleep, even if another sleeper has set the bit again.
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

    /// Wakes all who sleep here. Call it *after* publishing the news.
    ///
    /// Costs a fence and a load while nobody sleeps.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        let seen = self.word.load(Ordering::Relaxed);
        if seen & SLEEPING != 0 {
            self.wake(seen);
        }
    }

    #[cold]
    fn wake(&self, seen: u32) {
        // The carry clears the bit and counts. Should another ring have done that already, it
        // wakes all that we would.
        let rung = seen.wrapping_add(SLEEPING);
        let change = self.word.compare_exchange(seen, rung, Ordering::SeqCst, Ordering::Relaxed);
        if change.is_ok() {
            self.wake_all();
        }
    }

    /// Wakes all who sleep here, whatever the word says: for the news that somebody has died,
    /// perhaps between changing the word and waking.
    pub fn alarm(&self) {
        fence(Ordering::SeqCst);
        self.word.fetch_add(SLEEPING + 1, Ordering::SeqCst);
        self.wake_all();
    }

    fn wake_all(&self) {
        // An error would mean a bad address or flags: neither can be here.
        let woken = futex::wake(self.word, self.flags(), i32::MAX as u32);
        debug_assert!(woken.is_ok(), "futex wake on a mapped word");
    }

    /// Sleeps until rung or until `limit` has passed, unless `news` says that there is something
    /// to do. Wake-ups without news are possible; callers loop.
    pub fn sleep(&self, limit: Duration, news: impl FnOnce() -> bool) {
        let seen = self.word.fetch_or(SLEEPING, Ordering::SeqCst) | SLEEPING;
        fence(Ordering::SeqCst);
        if news() {
            return;
        }
        let limit = futex::Timespec {
            tv_sec: limit.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        // Every outcome (woken, word changed, time over, a signal) means: look again.
        let _ = futex::wait(self.word, self.flags(), seen, Some(&limit));
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
    fn a_ring_reaches_a_sleeper_though_another_lies_down_after_it() {
        let word = AtomicU32::new(0);
        let doorbell = Doorbell::new(&word, false);
        let begun = Instant::now();
        doorbell.sleep(Duration::from_secs(5), || {
            // Between our last look and the kernel: a ring, and a second sleeper with news.
            doorbell.ring();
            doorbell.sleep(Duration::from_secs(60), || true);
            false
        });
        assert!(begun.elapsed() < Duration::from_secs(4), "the ring was lost");
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
