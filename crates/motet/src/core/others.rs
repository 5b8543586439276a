//! What a rank has seen of others who compute, by how long its yields and its waits take.
//!
//! **On its core.** Who yields to a thread that computes has the core back after a whole turn of
//! that, and a waiter yields again and again. A sleeper that is rung for is put before such a
//! thread, so where yields are long who waits sleeps at once.
//!
//! **On other cores.** Who waits for a rank whose core others have, too, waits for long, and the
//! system gives that rank no other core while those who wait keep theirs busy. So where waits are
//! long who waits soon sleeps.
//!
//! A yield or a wait may be long because of others of the same world that share the core, when
//! they are begun, or copy much; or because the system, or the host of a virtual machine, wanted
//! the core once. To sleep among ranks that look is slow: a wake-up takes long, and where ranks
//! share cores it waits for a turn. So it takes several long times of one kind, each longer than
//! what was between it and the one before: others who compute take most of all time.
//!
//! Threads of a rank that count at once may lose a count: it is an estimate anyway.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// So many long times it takes.
const SEVERAL: u32 = 4;
/// For so many waits what was seen counts. Then it is tried again, and one long time more tells
/// that nothing has changed.
const WAITS: u32 = 100;

/// Whether others compute, by long times of one kind.
#[derive(Debug)]
pub(super) struct Others {
    in_a_row: AtomicU32,
    /// When the last one ended, or what was seen counted no more: nanoseconds since `begun`.
    last: AtomicU64,
    begun: Instant,
    /// For how many waits others count as there.
    waits: AtomicU32,
}

impl Others {
    /// Of a rank that has seen nothing yet.
    pub(super) fn new() -> Others {
        let [in_a_row, waits] = [0, 0].map(AtomicU32::new);
        Others { in_a_row, last: AtomicU64::new(0), begun: Instant::now(), waits }
    }

    fn since_begun(&self, time: Instant) -> u64 {
        time.saturating_duration_since(self.begun).as_nanos() as u64
    }

    /// A long time, from when to when.
    #[cold]
    pub(super) fn note(&self, from: Instant, to: Instant) {
        let (from, to) = (self.since_begun(from), self.since_begun(to));
        let between = from.saturating_sub(self.last.load(Ordering::Relaxed));
        let before = if between < to - from { self.in_a_row.load(Ordering::Relaxed) } else { 0 };
        let in_a_row = (before + 1).min(SEVERAL);
        self.last.store(to, Ordering::Relaxed);
        self.in_a_row.store(in_a_row, Ordering::Relaxed);
        if in_a_row == SEVERAL {
            self.waits.store(WAITS, Ordering::Relaxed);
        }
    }

    /// Whether others compute.
    #[inline]
    pub(super) fn are_there(&self) -> bool {
        self.waits.load(Ordering::Relaxed) > 0
    }

    /// The same, for a wait that begins.
    #[inline]
    pub(super) fn are_there_at_wait(&self) -> bool {
        let waits = self.waits.load(Ordering::Relaxed);
        if waits == 0 {
            return false;
        }
        self.waits.store(waits - 1, Ordering::Relaxed);
        if waits == 1 {
            self.last.store(self.since_begun(Instant::now()), Ordering::Relaxed);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// After so many times of 3 ms, with so many milliseconds between them.
    fn after(others: &Others, times: u32, between: u64) {
        for time in 1..=times {
            let from = others.begun + time * Duration::from_millis(3 + between);
            others.note(from, from + Duration::from_millis(3));
        }
    }

    #[test]
    fn several_long_times_in_a_row_tell_of_others() {
        for (times, between, are_there) in
            [(0, 0, false), (SEVERAL - 1, 0, false), (SEVERAL, 0, true), (SEVERAL, 2, true)]
        {
            let others = Others::new();
            after(&others, times, between);
            assert_eq!(others.are_there(), are_there, "{times} times, {between} ms between them");
        }
        let others = Others::new();
        after(&others, 100, 4);
        assert!(!others.are_there(), "more time has passed between them");
    }

    #[test]
    fn others_are_looked_for_again_after_some_waits() {
        let others = Others::new();
        after(&others, SEVERAL, 0);
        let sleeping = (0..).take_while(|_| others.are_there_at_wait()).count();
        assert_eq!(sleeping, WAITS as usize);
        // However long those took: one long time more tells that nothing has changed.
        let from = Instant::now();
        others.note(from, from + Duration::from_secs(1));
        assert!(others.are_there());
        while others.are_there_at_wait() {}
        let from = Instant::now() + Duration::from_secs(2);
        others.note(from, from + Duration::from_millis(3));
        assert!(!others.are_there());
    }
}
