//! Doorbell: the futex word on which a rank sleeps and by which other ranks wake it. Protocol and
//! proof: `README.md`, "Doorbells".

use std::sync::atomic::{AtomicU32, Ordering, compiler_fence, fence};
use std::thread;
use std::time::Duration;

use rustix::thread::futex;

use crate::membarrier::FenceScope;

/// Set in the word for good if whoever lies down here makes all ringers pass a fence, so that
/// those who are registered need none of their own.
pub(crate) const FENCED: u32 = 1;
/// Set in the word while somebody sleeps, or is about to. The bits above it count the rings that
/// found it set, so that whoever lies down can tell a ring that came before the kernel had it
/// asleep, even if another sleeper has set the bit again.
pub(crate) const SLEEPING: u32 = 2;

/// What a doorbell has in the segment. All zero is right for one at which nobody has slept.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Words {
    /// The futex word.
    word: AtomicU32,
    /// Threads that the kernel has asleep here, or is about to: for those who count the ranks that
    /// are awake. No sleep and no wake-up depends on it.
    asleep: AtomicU32,
}

/// The doorbell of one rank: a futex word that has its cache line to itself.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell<'a> {
    words: &'a Words,
    /// Who may sleep and ring here. Processes have the kernel look the word up by its page, not
    /// by its address.
    among: FenceScope,
    /// Whether this process is concerned by the barriers of those who sleep.
    is_registered: bool,
}

impl<'a> Doorbell<'a> {
    pub(crate) fn new(words: &'a Words, among: FenceScope, is_registered: bool) -> Doorbell<'a> {
        Doorbell { words, among, is_registered }
    }

    /// From now on whoever sleeps here makes the ringers pass a fence. Only in a process that is
    /// registered.
    pub(crate) fn let_sleepers_fence(&self) {
        self.words.word.fetch_or(FENCED, Ordering::Relaxed);
    }

    /// Whether a thread of this rank sleeps and has not been woken.
    pub(crate) fn has_sleeper(&self) -> bool {
        self.words.word.load(Ordering::Relaxed) & SLEEPING != 0
            && self.words.asleep.load(Ordering::Relaxed) != 0
    }

    /// Wakes all threads that sleep at this doorbell. Call it *after* publishing the change.
    ///
    /// Costs a load while nobody sleeps, or a fence and a load if sleepers do not fence.
    #[inline]
    pub fn ring(&self) {
        if self.is_registered {
            compiler_fence(Ordering::SeqCst);
            if self.words.word.load(Ordering::Relaxed) & (FENCED | SLEEPING) == FENCED {
                return;
            }
        }
        self.ring_fenced();
    }

    fn ring_fenced(&self) {
        fence(Ordering::SeqCst);
        let seen = self.words.word.load(Ordering::Relaxed);
        if seen & SLEEPING != 0 {
            self.wake(seen);
        }
    }

    #[cold]
    fn wake(&self, seen: u32) {
        // The carry clears the bit and counts. Should another ring have done that already, it
        // wakes all that we would.
        let rung = seen.wrapping_add(SLEEPING);
        let change =
            self.words.word.compare_exchange(seen, rung, Ordering::SeqCst, Ordering::Relaxed);
        if change.is_ok() {
            self.wake_all();
        }
    }

    /// Wakes all threads that sleep at this doorbell, whatever its word says. Used after a death:
    /// the dead rank may have changed the word and not woken the sleepers.
    pub fn alarm(&self) {
        fence(Ordering::SeqCst);
        self.words.word.fetch_add(2 * SLEEPING, Ordering::SeqCst);
        self.wake_all();
    }

    fn wake_all(&self) {
        // An error would mean a bad address or flags: neither can be here.
        let woken = futex::wake(&self.words.word, self.flags(), i32::MAX as u32);
        debug_assert!(woken.is_ok(), "futex wake on a mapped word");
    }

    /// Sleeps until another rank rings or `limit` has passed, unless `is_ready` returns `true`.
    /// Spurious wake-ups are possible; callers loop.
    pub fn park(&self, limit: Duration, is_ready: impl FnOnce() -> bool) {
        let seen = self.words.word.fetch_or(SLEEPING, Ordering::SeqCst) | SLEEPING;
        fence(Ordering::SeqCst);
        let is_heard = seen & FENCED == 0 || self.among.fence();
        if is_ready() {
            return;
        }
        if !is_heard {
            // Who now rings without a fence may have missed us: stay awake.
            thread::yield_now();
            return;
        }
        let limit = futex::Timespec {
            tv_sec: limit.as_secs().min(i64::MAX as u64) as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        // Every outcome (woken, word changed, time over, a signal) means: look again.
        self.words.asleep.fetch_add(1, Ordering::Relaxed);
        let _ = futex::wait(&self.words.word, self.flags(), seen, Some(&limit));
        self.words.asleep.fetch_sub(1, Ordering::Relaxed);
    }

    fn flags(&self) -> futex::Flags {
        match self.among {
            FenceScope::Threads => futex::Flags::PRIVATE,
            FenceScope::Processes => futex::Flags::empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    /// Doorbells of all kinds that the system lets us have, by name, each over a word of its own.
    fn of_all_kinds(test: impl Fn(&str, Doorbell<'_>)) {
        for among in [FenceScope::Threads, FenceScope::Processes] {
            let is_registered = among.register();
            for (sleepers_fence, ringers_know) in [(false, false), (true, true), (true, false)] {
                if sleepers_fence && !is_registered {
                    eprintln!("not tested: the system has no barriers among {among:?}");
                    continue;
                }
                let words = Words::default();
                let doorbell = Doorbell::new(&words, among, ringers_know);
                if sleepers_fence {
                    doorbell.let_sleepers_fence();
                }
                let ringers = if ringers_know { "know" } else { "fence" };
                let name =
                    format!("{among:?}, sleepers fence: {sleepers_fence}, ringers {ringers}");
                test(&name, doorbell);
                assert_eq!(words.word.into_inner() & FENCED != 0, sleepers_fence, "{name}");
            }
        }
    }

    #[test]
    fn a_message_before_sleep_means_no_sleep() {
        of_all_kinds(|name, doorbell| {
            let begun = Instant::now();
            doorbell.park(Duration::from_secs(60), || true);
            assert!(begun.elapsed() < Duration::from_secs(30), "{name}");
        });
    }

    #[test]
    fn a_ring_reaches_a_sleeper_though_another_lies_down_after_it() {
        of_all_kinds(|name, doorbell| {
            let begun = Instant::now();
            doorbell.park(Duration::from_secs(5), || {
                // Between our last look and the kernel: a ring, and a second sleeper that is ready.
                doorbell.ring();
                doorbell.park(Duration::from_secs(60), || true);
                false
            });
            assert!(begun.elapsed() < Duration::from_secs(4), "the ring was lost: {name}");
        });
    }

    #[test]
    fn an_alarm_ends_a_sleep_and_leaves_the_word_as_it_should_be() {
        of_all_kinds(|name, doorbell| {
            let begun = Instant::now();
            doorbell.park(Duration::from_secs(5), || {
                doorbell.alarm();
                false
            });
            assert!(begun.elapsed() < Duration::from_secs(4), "the alarm was lost: {name}");
        });
    }

    #[test]
    fn a_ring_ends_the_sleep_and_none_is_lost() {
        const ROUNDS: u32 = 20_000;
        of_all_kinds(|name, doorbell| {
            let turn = AtomicU32::new(0);
            let gave_up = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        let begun = Instant::now();
                        while turn.load(Ordering::Acquire) <= round {
                            let is_ready = || turn.load(Ordering::Acquire) > round;
                            doorbell.park(Duration::from_secs(20), is_ready);
                            if begun.elapsed() > Duration::from_secs(15) {
                                gave_up.store(true, Ordering::Relaxed);
                                return;
                            }
                        }
                    }
                });
                for round in 0..ROUNDS {
                    turn.store(round + 1, Ordering::Release);
                    doorbell.ring();
                    if round % 7 == 0 {
                        thread::yield_now();
                    }
                }
            });
            assert!(!gave_up.load(Ordering::Relaxed), "a ring was lost: {name}");
        });
    }
}
