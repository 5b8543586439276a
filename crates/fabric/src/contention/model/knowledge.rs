//! What ranks know of foreign load: [`Evidence`] itself, as [`Segment`](crate::Segment) uses it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{CHECK_PERIOD_NS, Evidence, LONG_TURN_NS, LONGEST_HOLD_NS, WHOLE_TURN_NS};
use super::costs::{Nanos, US};

#[derive(Debug, Default)]
struct Words {
    until: AtomicU64,
    hold: AtomicU64,
    checked: AtomicU64,
    seen: AtomicU64,
}

impl Words {
    fn evidence(&self) -> Evidence<'_> {
        let Words { until, hold, checked, seen } = self;
        Evidence { until, hold, checked, seen }
    }
}

/// How many threads of the machine are ready, and how many ranks do not sleep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Census {
    pub(super) ready: usize,
    pub(super) awake: usize,
}

impl Census {
    fn has_foreign_threads(self) -> bool {
        self.ready > self.awake
    }
}

/// What counts as evidence for one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Each long turn of others: what Motet does.
    LongTurns,
    /// A long turn of others, if ranks had not kept the core for `KEPT` since the one before: so
    /// that a yield, and not the end of a slice, has given it away.
    TurnsByYield,
}

/// Half of a slice.
const KEPT: Nanos = 700 * US;

/// The words of a segment: for each core, and the last for cores unknown.
#[derive(Debug)]
pub(super) struct Knowledge {
    words: Vec<Words>,
    anywhere: Nanos,
    /// When the last long turn of others ended on each core.
    last_turn: Vec<Nanos>,
    /// With `Rule::TurnsByYield`: cores where a yield costs a turn.
    costly: Vec<Words>,
    rule: Rule,
}

impl Knowledge {
    pub(super) fn new(cores: usize, rule: Rule) -> Knowledge {
        let [words, costly] = [0; 2].map(|_| (0..=cores).map(|_| Words::default()).collect());
        Knowledge { words, costly, anywhere: 0, last_turn: vec![0; cores], rule }
    }

    fn elsewhere(&self) -> usize {
        self.words.len() - 1
    }

    /// A rank has had its core back after others had it for so long.
    pub(super) fn note_turn(&mut self, core: usize, now: Nanos, taken: Nanos, census: Census) {
        let begun = now - taken;
        let seen = self.words[core].seen.swap(now, Ordering::Relaxed);
        let since_rank = now.saturating_sub(seen.max(begun));
        if since_rank >= LONG_TURN_NS {
            let last = std::mem::replace(&mut self.last_turn[core], now);
            if self.rule == Rule::TurnsByYield && (now - since_rank).saturating_sub(last) < KEPT {
                self.costly[core].evidence().renew(now - since_rank, now);
            }
            self.note(core, now, since_rank, since_rank >= WHOLE_TURN_NS, census);
        }
    }

    pub(super) fn note_rank(&mut self, core: usize, now: Nanos) {
        self.words[core].seen.store(now, Ordering::Relaxed);
    }

    pub(super) fn note_long_wait(&mut self, now: Nanos, taken: Nanos, census: Census) {
        self.note(self.elsewhere(), now, taken, false, census);
    }

    fn note(&mut self, at: usize, now: Nanos, taken: Nanos, is_certain: bool, census: Census) {
        let evidence = self.words[at].evidence();
        if !is_certain && !evidence.is_unchecked_for(now, CHECK_PERIOD_NS) {
            return;
        }
        if is_certain || census.has_foreign_threads() {
            self.anywhere = self.anywhere.max(evidence.renew(now - taken, now));
        }
    }

    pub(super) fn is_contended_on(&mut self, core: usize, now: Nanos, census: Census) -> bool {
        let words = if self.rule == Rule::TurnsByYield { &self.costly } else { &self.words };
        self.anywhere != 0
            && words[core].evidence().holds(now)
            && !self.is_refuted(core, now, census)
    }

    pub(super) fn is_contended(&mut self, now: Nanos, census: Census) -> bool {
        if self.anywhere <= now {
            self.anywhere = 0;
            return false;
        }
        !self.is_refuted(self.elsewhere(), now, census)
    }

    fn is_refuted(&mut self, at: usize, now: Nanos, census: Census) -> bool {
        let is_due = self.words[at].evidence().is_to_be_checked(now);
        let is_refuted = is_due && !census.has_foreign_threads();
        if is_refuted {
            let held =
                self.words.iter().chain(&self.costly).filter(|one| one.evidence().holds(now));
            held.for_each(|one| one.until.store(now, Ordering::Relaxed));
            self.anywhere = 0;
        }
        is_refuted
    }

    /// Whether no evidence holds for longer than it may.
    pub(super) fn is_bounded(&self, now: Nanos) -> bool {
        self.words.iter().all(|one| one.until.load(Ordering::Relaxed) <= now + LONGEST_HOLD_NS)
    }
}
