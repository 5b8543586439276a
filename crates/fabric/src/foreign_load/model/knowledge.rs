//! What the modelled ranks know of foreign load: [`Evidence`] itself, used as
//! [`SharedSegment`](crate::SharedSegment) uses it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{CHECK_PERIOD_NS, Evidence, LONG_TURN_NS, LONGEST_HOLD_NS, WHOLE_TURN_NS};
use super::costs::Nanos;

#[derive(Debug, Default)]
struct Words {
    until: AtomicU64,
    hold: AtomicU64,
    checked: AtomicU64,
    seen: AtomicU64,
    suspected: AtomicU64,
}

impl Words {
    fn evidence(&self) -> Evidence<'_> {
        let Words { until, hold, checked, seen, suspected } = self;
        Evidence { until, hold, checked, seen, suspected }
    }
}

/// How many threads of the machine are runnable, and how many ranks do not sleep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Census {
    pub(super) ready: usize,
    pub(super) awake: usize,
}

impl Census {
    /// Runnable threads that are no ranks.
    fn foreign(self) -> usize {
        self.ready.saturating_sub(self.awake)
    }
}

/// The words of a segment: one set for each core, and the last for unknown cores.
#[derive(Debug)]
pub(super) struct Knowledge {
    words: Vec<Words>,
    anywhere: Nanos,
}

impl Knowledge {
    pub(super) fn new(cores: usize) -> Knowledge {
        Knowledge { words: (0..=cores).map(|_| Words::default()).collect(), anywhere: 0 }
    }

    fn elsewhere(&self) -> usize {
        self.words.len() - 1
    }

    /// A rank has its core again, or another one, after other threads had it for `taken`.
    pub(super) fn note_turn(&mut self, core: usize, now: Nanos, taken: Nanos, census: Census) {
        let begun = now - taken;
        let seen = self.words[core].seen.swap(now, Ordering::Relaxed);
        let since_rank = now.saturating_sub(seen.max(begun));
        if since_rank >= LONG_TURN_NS {
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
        let foreign = census.foreign();
        let known = if is_certain { 0 } else { self.contended_cores(now).count() };
        if foreign <= known {
            evidence.suspect_nobody();
        } else if evidence.suspect(now - taken, now) {
            self.anywhere = self.anywhere.max(evidence.renew(now - taken, now, is_certain));
            self.forget_all_but(foreign, now);
        }
    }

    fn forget_all_but(&self, foreign: usize, now: Nanos) {
        for _ in foreign..self.contended_cores(now).count() {
            if let Some(oldest) = self.contended_cores(now).min_by_key(|one| one.begun()) {
                oldest.until.store(now, Ordering::Relaxed);
            }
        }
    }

    fn contended_cores(&self, now: Nanos) -> impl Iterator<Item = Evidence<'_>> {
        let cores = &self.words[..self.elsewhere()];
        cores.iter().map(Words::evidence).filter(move |one| one.holds(now))
    }

    /// The core to which a rank migrates from one with foreign load: a core without evidence.
    pub(super) fn free_core(&self, rank: usize, now: Nanos) -> Option<usize> {
        let is_free = |&core: &usize| !self.words[core].evidence().holds(now);
        let free = (0..self.elsewhere()).filter(is_free).count();
        (0..self.elsewhere()).filter(is_free).nth(rank % free.max(1))
    }

    pub(super) fn is_contended_on(&mut self, core: usize, now: Nanos, census: Census) -> bool {
        self.anywhere != 0
            && self.words[core].evidence().holds(now)
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
        let is_refuted = self.words[at].evidence().is_to_be_checked(now) && census.foreign() == 0;
        if is_refuted {
            let held = self.words.iter().filter(|one| one.evidence().holds(now));
            held.for_each(|one| one.until.store(now, Ordering::Relaxed));
            self.anywhere = 0;
        }
        is_refuted
    }

    /// Whether all evidence ends within the time limit.
    pub(super) fn is_bounded(&self, now: Nanos) -> bool {
        self.words.iter().all(|one| one.until.load(Ordering::Relaxed) <= now + LONGEST_HOLD_NS)
    }
}
