//! Wait policies of the model: the spin, yield and sleep limits of each kind of wait in Motet.

use super::costs::{MS, Nanos, US};

/// A wait of this length without a message may be for a rank that lacks its core.
pub(super) const LONG_WAIT: Nanos = 500 * US;
/// How long ranks stay awake while foreign threads run on other cores.
pub(super) const AWAKE_BESIDE: Nanos = 100 * US;
/// A rank that computes for less than this between two waits is fine. A longer computation counts
/// as one of `COARSE`.
const FINE: Nanos = 60 * US;
const COARSE: Nanos = 4 * FINE;
/// The weight of the known mean of a rank, against that of one computation.
const INERTIA: Nanos = 7;
const ROUND: Nanos = MS;
const POLITE: Nanos = 3 * US;
/// How long a rank with a core of its own polls beside foreign threads before it sleeps.
const CONTENDED_SPIN: Nanos = 2 * US;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Auto,
    Spin,
    Yield,
    Sleep,
}

/// How long to spin and yield before sleeping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) first_poll: Nanos,
    /// How long to spin between two yields.
    pub(super) burst: Nanos,
    pub(super) spin: Nanos,
    pub(super) spin_before_yield: Nanos,
    pub(super) yields: u32,
    pub(super) awake: Nanos,
    pub(super) turns: u32,
    pub(super) parks: bool,
    pub(super) parks_when_contended: bool,
    pub(super) has_core: bool,
}

impl Policy {
    pub(super) fn wait_policy(self, ranks: usize, cores: usize) -> Patience {
        let has_cores = ranks <= cores;
        let spinning = Patience {
            first_poll: 4 * US,
            burst: US,
            spin: 10 * MS,
            spin_before_yield: POLITE,
            yields: 4,
            awake: 0,
            turns: 0,
            parks: true,
            parks_when_contended: false,
            has_core: has_cores,
        };
        let sharing = Patience {
            first_poll: 50,
            burst: 50,
            spin: 0,
            yields: 32,
            awake: 10 * MS,
            turns: 16,
            parks_when_contended: true,
            ..spinning
        };
        match self {
            Policy::Auto if has_cores => Patience { parks_when_contended: true, ..spinning },
            Policy::Auto => sharing,
            Policy::Spin => {
                let spin_before_yield = if has_cores { ROUND } else { POLITE };
                Patience { spin: ROUND, spin_before_yield, yields: 0, parks: false, ..spinning }
            }
            Policy::Yield => Patience {
                yields: 100,
                awake: 0,
                parks: false,
                parks_when_contended: false,
                ..sharing
            },
            Policy::Sleep => Patience { yields: 0, turns: 0, ..sharing },
        }
    }
}

impl Patience {
    /// The same patience while there are foreign threads on cores of other ranks.
    pub(super) fn beside(self) -> Patience {
        Patience { awake: self.awake.min(AWAKE_BESIDE), ..self }
    }

    /// The same patience where a yield would give the core to a foreign thread.
    pub(super) fn asleep(self) -> Patience {
        let spin = if self.has_core { CONTENDED_SPIN } else { 0 };
        Patience { spin, spin_before_yield: spin, yields: 0, ..self }
    }
}

/// How long a rank computes between its waits, on average. At first the mean is unknown: then the
/// rank counts as fine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Granularity {
    /// When the last wait ended, unless the computation since then has been counted.
    ended: Option<Nanos>,
    mean: Nanos,
}

impl Granularity {
    pub(super) fn wait_ends(&mut self, now: Nanos) {
        self.ended = Some(now);
    }

    pub(super) fn wait_begins(&mut self, now: Nanos) {
        if let Some(ended) = self.ended.take() {
            self.mean = (INERTIA * self.mean + (now - ended).min(COARSE)) / (INERTIA + 1);
        }
    }

    pub(super) fn is_fine(self) -> bool {
        self.mean < FINE
    }
}
