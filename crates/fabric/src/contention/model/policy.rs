//! How ranks wait: the numbers of the waits of Motet, for each of its ways to wait.

use super::costs::{MS, Nanos, US};
use super::knowledge::Rule;

/// A wait that has taken so long without news may be for a rank that lacks its core.
pub(super) const LONG_WAIT: Nanos = 500 * US;
/// So long ranks stay awake while foreign threads run on other cores.
const AWAKE_BESIDE: Nanos = 100 * US;
/// The same where a policy tries more.
const LONG_AWAKE_BESIDE: Nanos = 2 * MS;
const ROUND: Nanos = MS;
const POLITE: Nanos = 3 * US;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Auto,
    /// `Auto` that stays awake for longer beside foreign load on other cores.
    Patient,
    /// The same with another rule of evidence.
    Proposed,
    Spin,
    Yield,
    Sleep,
}

/// How long to look before sleeping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) first_look: Nanos,
    /// How long to look between two yields.
    pub(super) burst: Nanos,
    pub(super) spin: Nanos,
    pub(super) impolite: Nanos,
    pub(super) yields: u32,
    pub(super) awake: Nanos,
    pub(super) turns: u32,
    pub(super) sleeps: bool,
    pub(super) minds_others: bool,
    /// For so long it stays awake at most while foreign threads run on other cores.
    pub(super) beside: Nanos,
}

impl Policy {
    pub(super) fn rule(self) -> Rule {
        if self == Policy::Proposed { Rule::TurnsByYield } else { Rule::LongTurns }
    }

    pub(super) fn patience(self, ranks: usize, cores: usize) -> Patience {
        let has_cores = ranks <= cores;
        let spinning = Patience {
            first_look: 4 * US,
            burst: US,
            spin: 10 * MS,
            impolite: POLITE,
            yields: 4,
            awake: 0,
            turns: 0,
            sleeps: true,
            minds_others: false,
            beside: match self {
                Policy::Patient | Policy::Proposed => LONG_AWAKE_BESIDE,
                _ => AWAKE_BESIDE,
            },
        };
        let sharing = Patience {
            first_look: 50,
            burst: 50,
            spin: 0,
            yields: 32,
            awake: 10 * MS,
            turns: 16,
            minds_others: true,
            ..spinning
        };
        match self {
            Policy::Auto | Policy::Patient | Policy::Proposed if has_cores => spinning,
            Policy::Auto | Policy::Patient | Policy::Proposed => sharing,
            Policy::Spin => {
                let impolite = if has_cores { ROUND } else { POLITE };
                Patience { spin: ROUND, impolite, yields: 0, sleeps: false, ..spinning }
            }
            Policy::Yield => {
                Patience { yields: 100, awake: 0, sleeps: false, minds_others: false, ..sharing }
            }
            Policy::Sleep => Patience { yields: 0, turns: 0, ..sharing },
        }
    }
}

impl Patience {
    /// The same while there are foreign threads on cores of other ranks.
    pub(super) fn beside(self) -> Patience {
        let [spin, awake] = [self.spin, self.awake].map(|time| time.min(self.beside));
        Patience { spin, awake, ..self }
    }
}
