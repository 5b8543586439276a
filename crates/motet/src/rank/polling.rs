//! Polls that find nothing: tests, probes and their like, called in a loop.
//!
//! A program that polls keeps its core, so the rank that it waits for cannot run if that is on the
//! same core. Where ranks share cores, a rank that has polled twice in a row for nothing, with
//! hardly anything else in between, therefore gives its core away, as a wait does: to other ranks
//! by a yield, and where a foreign thread would get the core by a short sleep that any news ends.
//! A program that does other work between its polls is left alone, and so is a poll that finds
//! what it looks for.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use motet_fabric::contention;

use super::wait::Behaviour;
use super::{RankContext, Shared};

/// Polls that follow each other within this time have nothing else between them, in nanoseconds.
const BACK_TO_BACK_NS: u64 = 1_000;
/// The last of so many in a row gives the core away. To look more often first gains nothing: ranks
/// on other cores answer within a turn of others, and those on this one cannot before.
const POLLS_BEFORE_YIELD: u32 = 2;
/// A sleep in a poll takes so long at most.
const POLL_SLEEP_MAX: Duration = Duration::from_micros(50);

/// The polls of a rank that have found nothing. Threads that poll at once may lose a count.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// When the last one was over.
    last: AtomicU64,
    in_a_row: AtomicU32,
}

impl Polls {
    /// For how long the rank has done other work, if that is not nothing.
    fn work_before(&self, now: u64) -> Option<u64> {
        let between = now.saturating_sub(self.last.load(Ordering::Relaxed));
        (between >= BACK_TO_BACK_NS).then_some(between)
    }

    /// Counts one more. Says whether the rank is to give its core away.
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
    /// To be called when a poll has found nothing, without the engine.
    #[inline]
    pub(crate) fn has_polled_in_vain(&self) {
        if self.shared.patience.shares_cores {
            self.shared.help_others();
        }
    }
}

impl Shared {
    fn help_others(&self) {
        let now = contention::now();
        let Behaviour { granularity, polls } = &self.behaviour;
        if let Some(work) = polls.work_before(now) {
            granularity.count(work);
        }
        if !polls.count(now) {
            return;
        }
        if self.is_to_sleep() && !self.is_wired {
            self.sleep(POLL_SLEEP_MAX, |engine| engine.progress_thoroughly());
        } else {
            self.yield_core();
        }
        polls.last.store(contention::now(), Ordering::Relaxed);
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
