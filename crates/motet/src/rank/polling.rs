//! Yields the core of a rank whose program polls in a loop (test, probe) and finds nothing.
//!
//! A program that polls keeps its core, so a rank on the same core for which it waits cannot run.
//! Where ranks share cores, or foreign threads want them, a rank that has polled twice in a row
//! without success, with hardly any other work in between, therefore yields its core as a wait
//! does. If a foreign thread would get the core, it parks for a short time instead, which any
//! message ends. A program that does other work between its polls keeps its core, and so does a
//! poll that finds something.
//!
//! A program may also do a little work, less than 1 us, between any two polls: it computes one
//! number, and looks for a message. To give the core away at each of these polls would cost it many
//! times its work. So the longer nothing has moved, the longer the rank keeps its core between two
//! yields: for a share of this time, and until something moves. The share is so small that even a
//! message which all ranks of the host pass on, one after the other, and each on a core that others
//! keep, takes a third longer at most.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use motet_fabric::foreign_load;

use super::wait::Behaviour;
use super::{RankContext, Shared};

/// Polls that follow each other within this time, in nanoseconds, count as back to back.
const BACK_TO_BACK_NS: u64 = 1_000;
/// The number of polls in a row after which the rank yields, unless it keeps its core (see
/// [`KEPT_PART`]). Polling more often first gains
/// nothing: ranks on other cores answer within a turn of other threads, and those on this core
/// cannot run before.
const POLLS_BEFORE_YIELD: u32 = 2;
/// The longest that a poll parks.
const POLL_PARK_MAX: Duration = Duration::from_micros(50);
/// A rank keeps its core, between its yields, for one part in so many of the time for which nothing
/// has moved, divided by the ranks of the core and by those of the host: for a message that passes
/// all ranks, each adds the turns of all ranks of its core.
const KEPT_PART: u64 = 4;
/// The longest that a rank whose polls are back to back keeps its core, in nanoseconds: as long as
/// it parks, and short beside the time slice of a rank that computes on the same core.
const KEPT_MAX_NS: u64 = 50_000;

/// The unsuccessful polls of a rank. Threads that poll concurrently may lose a count.
#[derive(Debug, Default)]
pub(super) struct Polls {
    /// The end of the last one.
    last: AtomicU64,
    in_a_row: AtomicU32,
    /// The number of moves of the engine at the last yield.
    moves: AtomicU64,
    /// The time of the first yield with this number.
    moved: AtomicU64,
    /// Until then the rank keeps its core.
    kept_until: AtomicU64,
}

impl Polls {
    /// Nanoseconds of other work since the last poll, if the polls are not back to back.
    fn work_before(&self, now: u64) -> Option<u64> {
        let between = now.saturating_sub(self.last.load(Ordering::Relaxed));
        (between >= BACK_TO_BACK_NS).then_some(between)
    }

    /// Counts one more poll; `moves` returns the number of moves of the engine. Returns whether the
    /// rank is to yield its core.
    fn count(&self, now: u64, moves: impl FnOnce() -> u64) -> bool {
        let follows_work = self.work_before(now).is_some();
        let before = self.in_a_row.load(Ordering::Relaxed);
        let in_a_row = if follows_work { 1 } else { (before + 1).min(POLLS_BEFORE_YIELD) };
        self.in_a_row.store(in_a_row, Ordering::Relaxed);
        self.last.store(now, Ordering::Relaxed);
        // The answer to a message that has come may be for a rank of this core.
        let is_kept = || {
            now < self.kept_until.load(Ordering::Relaxed)
                && moves() == self.moves.load(Ordering::Relaxed)
        };
        in_a_row == POLLS_BEFORE_YIELD && !is_kept()
    }

    /// Called before a yield, with the number of moves of the engine.
    fn yield_begins(&self, now: u64, moves: u64) {
        let has_moved = self.moves.swap(moves, Ordering::Relaxed) != moves;
        if has_moved || self.moved.load(Ordering::Relaxed) == 0 {
            self.moved.store(now, Ordering::Relaxed);
        }
    }

    /// Called after a yield, with the number of turns of ranks that a message may wait for.
    fn yield_ends(&self, now: u64, turns: usize) {
        let in_vain = now.saturating_sub(self.moved.load(Ordering::Relaxed));
        let kept = (in_vain / (KEPT_PART * turns as u64)).min(KEPT_MAX_NS);
        self.kept_until.store(now + kept, Ordering::Relaxed);
        self.last.store(now, Ordering::Relaxed);
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
        if !polls.count(now, || self.engine().moves()) {
            return;
        }
        polls.yield_begins(now, self.engine().moves());
        if self.is_to_park() && !self.has_remote {
            self.park(POLL_PARK_MAX, |engine| engine.progress_before_parking());
        } else {
            self.yield_core();
        }
        let turns = self.segment.ranks_per_free_core() * self.segment.local_ranks().max(1);
        polls.yield_ends(foreign_load::now(), turns);
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
            polls.count(now, || 0)
        };
        assert!(
            (1..POLLS_BEFORE_YIELD).all(|_| !poll(BACK_TO_BACK_NS - 1)),
            "the first ones keep it"
        );
        assert!((0..100).all(|_| poll(BACK_TO_BACK_NS - 1)));
        assert!(!poll(BACK_TO_BACK_NS), "there was other work");
    }

    const POLL_NS: u64 = 100;
    const YIELD_NS: u64 = 1_000;
    const TURNS: u64 = 4 * 8;

    /// Polls in vain from one time to another. Returns the number of yields, and the longest time
    /// between two of them.
    fn polled(polls: &Polls, (mut now, end): (u64, u64), moves: u64) -> (u64, u64) {
        let (mut yields, mut yielded, mut kept) = (0, now, 0);
        while now < end {
            now += POLL_NS;
            if polls.count(now, || moves) {
                kept = kept.max(now - yielded);
                polls.yield_begins(now, moves);
                now += YIELD_NS;
                polls.yield_ends(now, TURNS as usize);
                (yields, yielded) = (yields + 1, now);
            }
        }
        (yields, kept)
    }

    #[test]
    fn the_longer_nothing_moves_the_fewer_polls_give_the_core_away() {
        let (polls, begun) = (Polls::default(), 1_000_000_000);
        for (moves, in_vain) in [10_000, 100_000, 1_000_000].into_iter().enumerate() {
            let times = (begun * (moves as u64 + 1), begun * (moves as u64 + 1) + in_vain);
            let (yields, kept) = polled(&polls, times, moves as u64 + 1);
            let others = kept * TURNS;
            assert!(yields > 3, "{yields} yields in {in_vain} ns");
            assert!(others <= in_vain / KEPT_PART + 3 * TURNS * POLL_NS, "{kept} ns");
            assert!(kept <= KEPT_MAX_NS + 2 * POLL_NS, "kept for {kept} ns");
            if in_vain >= 1_000_000 {
                assert!(yields * YIELD_NS < in_vain / 2, "{yields} yields in {in_vain} ns");
            }
        }
    }

    #[test]
    fn a_message_makes_the_next_polls_give_the_core_away_again() {
        let (polls, begun) = (Polls::default(), 1_000_000_000);
        polled(&polls, (begun, begun + 1_000_000), 1);
        let later = begun + 1_000_000; // in the time for which the core was kept
        assert!(polls.kept_until.load(Ordering::Relaxed) > later);
        let (yields, kept) = polled(&polls, (later, later + 10 * YIELD_NS), 2);
        assert!(yields >= 8 && kept < YIELD_NS, "{yields} yields, kept for {kept} ns");
    }

    #[test]
    fn polls_with_work_between_them_keep_the_core() {
        let polls = Polls::default();
        assert!((1..1000).all(|poll| !polls.count(poll * 20 * BACK_TO_BACK_NS, || 0)));
    }
}
