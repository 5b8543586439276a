//! Measures how long a rank computes between two waits, only while foreign threads run on cores of
//! this world, when it matters.

use std::sync::atomic::{AtomicU64, Ordering};

/// A rank that computes for less than this many nanoseconds between two waits loses less by sharing
/// a core with other ranks than by being woken from sleep each time.
pub(super) const FINE_NS: u64 = 60_000;
/// A longer computation, in nanoseconds, counts as one of this length: other threads may have had
/// the core meanwhile.
const COARSE_NS: u64 = 4 * FINE_NS;
/// The weight of the average so far, against that of one computation.
const INERTIA: u64 = 7;

/// The computation time of one rank between its waits. Threads that wait concurrently may lose a
/// computation. All zero is right for a rank without measurements: it counts as fine-grained.
#[derive(Debug, Default)]
pub(super) struct Granularity {
    /// When the last wait ended, in nanoseconds of the monotonic clock; 0 if that is unknown or has
    /// been counted.
    ended: AtomicU64,
    /// The average time from the end of a wait to the begin of the next, in nanoseconds.
    mean: AtomicU64,
}

impl Granularity {
    /// Records the end of a wait.
    pub(super) fn wait_ends(&self, now: u64) {
        self.ended.store(now, Ordering::Relaxed);
    }

    /// Counts the computation before this wait, unless it has been counted.
    pub(super) fn wait_begins(&self, now: u64) {
        let ended = self.ended.load(Ordering::Relaxed);
        if ended != 0 {
            self.ended.store(0, Ordering::Relaxed);
            self.count(now.saturating_sub(ended));
        }
    }

    /// Counts one computation that has taken so many nanoseconds.
    pub(super) fn count(&self, taken: u64) {
        let mean = self.mean.load(Ordering::Relaxed).min(COARSE_NS);
        let mean = (INERTIA * mean + taken.min(COARSE_NS)) / (INERTIA + 1);
        self.mean.store(mean, Ordering::Relaxed);
    }

    /// Whether the rank has computed for less than `limit_ns` nanoseconds between its last waits,
    /// as far as is known.
    pub(super) fn is_below(&self, limit_ns: u64) -> bool {
        self.mean.load(Ordering::Relaxed) < limit_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits and computes in turns, so long each.
    fn after(granularity: &Granularity, computations: impl IntoIterator<Item = u64>) -> bool {
        let mut now = 1;
        for computation in computations {
            granularity.wait_ends(now);
            now += computation;
            granularity.wait_begins(now);
            now += 100 * FINE_NS;
            granularity.wait_begins(now); // the same wait
        }
        granularity.is_below(FINE_NS)
    }

    #[test]
    fn short_computations_are_fine_and_long_ones_are_not() {
        let granularity = Granularity::default();
        assert!(granularity.is_below(FINE_NS), "nothing is known");
        assert!(after(&granularity, [FINE_NS / 2; 100]));
        assert!(!after(&granularity, [2 * FINE_NS; 10]));
        assert!(after(&granularity, [FINE_NS / 2; 20]));
        assert!(!after(&granularity, [1000 * FINE_NS; 3]));
    }

    #[test]
    fn one_computation_that_others_have_interrupted_changes_nothing() {
        let granularity = Granularity::default();
        assert!(after(&granularity, [FINE_NS / 4; 20]));
        assert!(after(&granularity, [1000 * FINE_NS]));
    }
}
