//! Whether a rank does nothing but take what others send.
//!
//! Who yields its core has it back at once where cores are shared out evenly: the scheduler gives
//! each thread as much of a core, so a rank that waits takes as much from those who work as they
//! have. Only a sleeper takes nothing, but nobody wakes it when something comes from another host,
//! so it should not keep anybody waiting. Who has given nothing to others since it waited last
//! keeps nobody waiting but itself.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Who has given something to others does not nap in the wait behind that, and not in this one.
const WAITS: u32 = 2;

/// What a rank knows of its last waits. Threads that wait at once may spoil it: it is an estimate
/// anyway.
#[derive(Debug, Default)]
pub(super) struct Listening {
    /// How often this rank had given something to others when it waited last.
    given: AtomicU64,
    /// Waits until it naps.
    waits: AtomicU32,
}

impl Listening {
    /// A wait begins; this rank has given something to others so often. Says whether it may nap.
    pub(super) fn begin(&self, given: u64) -> bool {
        let has_given = self.given.swap(given, Ordering::Relaxed) != given;
        let waits = self.waits.load(Ordering::Relaxed);
        let waits = if has_given { WAITS } else { waits.saturating_sub(1) };
        self.waits.store(waits, Ordering::Relaxed);
        waits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_only_listens_naps() {
        let listening = Listening::default();
        (0..100).for_each(|_| assert!(listening.begin(0)));
    }

    #[test]
    fn who_gives_something_to_others_does_not() {
        let listening = Listening::default();
        for given in 1..10 {
            assert!(!listening.begin(given));
            assert!(!listening.begin(given));
            assert!(listening.begin(given));
        }
    }
}
