//! Yields the core of a rank whose program polls in a loop (test, probe) and finds nothing.
//!
//! A program that polls keeps its core, so a rank on the same core for which it waits cannot run.
//! Where ranks share cores, or foreign threads want them, a rank that has polled twice in a row
//! without success, with hardly any other work in between, therefore yields its core as a wait
//! does. If a foreign thread would get the core, it parks for a short time instead, which any
//! message ends. A program that does other work between its polls keeps its core, and so does a
//! poll that finds something.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use motet_fabric::foreign_load;

use super::wait::Behaviour;
use super::{RankContext, Shared};

/// Polls that follow each other within this time, in nanoseconds, count as back to back.
const BACK_TO_BACK_NS: u64 = 1_000;
/// The number of polls in a row after which the rank yields. Polling more often first gains
/// nothing: ranks on other cores answer within a turn of other threads, and those on this core
/// cannot run before.
const POLLS_BEFORE_YIELD: u32 = 2;
/// The longest that a poll parks.
const POLL_PARK_MAX: Duration = Duration::from_micros(50);

/// The unsuccessful polls of a rank. Threads that poll concurrently may lose a count.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// The end of the last one.
    last: AtomicU64,
    in_a_row: AtomicU32,
}

impl Polls {
    /// Nanoseconds of other work since the last poll, if the polls are not back to back.
    fn work_before(&self, now: u64) -> Option<u64> {
        let between = now.saturating_sub(self.last.load(Ordering::Relaxed));
        (between >= BACK_TO_BACK_NS).then_some(between)
    }

    /// Counts one more poll. Returns whether the rank is to yield its core.
    fn count(&self, now: u64) -> bool {
        let follows_work = self.work_before(now).is_some();
        let before = self.in_a_row.load(Ordering::Relaxed);
        let in_a_row = if follows_work { 1 } else { (before + 1).min(POLLS_BEFORE_YIELD) };
        self.in_a_row.store(in_a_row, Ordering::Relaxed);
        self.last.store(now, Ordering::Relaxed);
        in_a_row == POLLS_BEFORE_YIELD
    }
}

impl RankContext {
    /// Called after a poll that has found nothing, without the engine locked.
    #[inline]
    pub(crate) fn has_polled_in_vain(&self) {
        let shared = &self.shared;
        if shared.policy.shares_cores || shared.is_contended_here() {
            shared.help_others();
        }
    }
}

impl Shared {
    /// Whether a foreign thread may take the core of this rank after a yield.
    #[inline]
    fn is_contended_here(&self) -> bool {
        self.policy.parks_when_contended && self.segment.is_contended_here()
    }

    fn help_others(&self) {
        let now = foreign_load::now();
        let Behaviour { granularity, polls } = &self.behaviour;
        if let Some(work) = polls.work_before(now) {
            granularity.count(work);
        }
        if !polls.count(now) {
            return;
        }
        if self.is_to_park() && !self.has_remote {
            self.park(POLL_PARK_MAX, |engine| engine.progress_before_parking());
        } else {
            self.yield_core();
        }
        polls.last.store(foreign_load::now(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_polls_in_a_row_give_the_core_away_and_then_each_one() {
        let polls = Polls::default();
        let mut now = 1_000_000;
        let mut poll = |between: u64| {
            now += between;
            polls.count(now)
        };
        assert!(
            (1..POLLS_BEFORE_YIELD).all(|_| !poll(BACK_TO_BACK_NS - 1)),
            "the first ones keep it"
        );
        assert!((0..100).all(|_| poll(BACK_TO_BACK_NS - 1)));
        assert!(!poll(BACK_TO_BACK_NS), "there was other work");
    }

    #[test]
    fn polls_with_work_between_them_keep_the_core() {
        let polls = Polls::default();
        assert!((1..1000).all(|poll| !polls.count(poll * 20 * BACK_TO_BACK_NS)));
    }
}
