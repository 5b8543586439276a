//! Reads the hints of a persistent operation. (2008 proposal §2.3)
//!
//! Hints steer how an operation is planned, never its result. Each has the value `true` or `false`;
//! any other value has no effect, and neither has a missing hint. They are read once, when the
//! operation is created, so the [`Info`] may be freed right after. The standard lets ranks give
//! different hints; ours must be equal on all ranks of the call, because all ranks must choose the
//! same algorithm, and check mode reports ranks that differ.

use crate::base::info::{BLOCKING, DETERMINISTIC, ENFORCE, Info, NONBLOCKING, PREVIOUS, REUSE};

/// The hints of one persistent operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    /// Whether the bits of the result are fixed, if a hint says so.
    pub(crate) deterministic: Option<bool>,
    pub(crate) overlap: Overlap,
    pub(crate) init: Init,
    /// Whether the cache keeps the plan and the measured choice of the init.
    pub(crate) keep: Keep,
    /// Whether the init uses what an earlier one has kept.
    pub(crate) previous: Previous,
}

/// Whether the rank computes while the operation is pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Overlap {
    /// It waits, or no hint is given.
    #[default]
    Unknown,
    /// It computes, and rarely calls the library.
    Wanted,
}

/// How an init chooses the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Init {
    /// Locally, without communication.
    #[default]
    Local,
    /// All ranks together compare their calls and measure the fastest algorithm.
    Enforced,
}

/// How long the cache keeps a plan for later inits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keep {
    /// As long as there is room.
    #[default]
    AsLong,
    /// In preference to others.
    Before,
}

/// Whether an init uses what an earlier one has kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Previous {
    #[default]
    Ignored,
    Used,
}

impl Hints {
    /// Reads these hints.
    pub(crate) fn of(info: &Info) -> Hints {
        let is = |key| info.says(key) == Some(true);
        // Both hints together express no preference.
        let overlap = is(NONBLOCKING) && !is(BLOCKING);
        Hints {
            deterministic: info.says(DETERMINISTIC),
            overlap: if overlap { Overlap::Wanted } else { Overlap::Unknown },
            init: if is(ENFORCE) { Init::Enforced } else { Init::Local },
            keep: if is(REUSE) { Keep::Before } else { Keep::AsLong },
            previous: if is(PREVIOUS) { Previous::Used } else { Previous::Ignored },
        }
    }

    pub(crate) fn enforces(&self) -> bool {
        self.init == Init::Enforced
    }

    /// The hints that must be equal on all ranks, in a word; `deterministic` is compared by its
    /// effect instead.
    pub(crate) fn word(&self) -> u64 {
        self.names().map(|(_, bit)| bit).sum()
    }

    /// The names of the hints that are set, for people.
    pub(crate) fn text(&self) -> Option<String> {
        let names: Vec<_> = self.names().map(|(name, _)| name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn names(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let values = [
            (ENFORCE, self.enforces()),
            (NONBLOCKING, self.overlap == Overlap::Wanted),
            (REUSE, self.keep == Keep::Before),
            (PREVIOUS, self.previous == Previous::Used),
        ];
        let numbered = values.into_iter().enumerate();
        numbered.filter(|(_, (_, is_said))| *is_said).map(|(at, (name, _))| (name, 1 << at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// spec: 43, 125
    #[test]
    fn hints_are_read_once_and_what_says_nothing_is_ignored() {
        let all = Info::new().with(ENFORCE, "true").with(REUSE, "true").with(PREVIOUS, "true");
        let hints = Hints::of(&all.clone().with(NONBLOCKING, "true"));
        let (keep, previous) = (Keep::Before, Previous::Used);
        let (init, overlap) = (Init::Enforced, Overlap::Wanted);
        assert_eq!(hints, Hints { deterministic: None, overlap, init, keep, previous });
        assert_eq!(hints.text().as_deref(), Some("enforce, nonblocking, reuse, previous"));
        let both = Hints::of(&all.with(NONBLOCKING, "true").with(BLOCKING, "true"));
        assert_eq!(both.overlap, Overlap::Unknown, "both hints are none");
        for value in ["false", "", "yes", "TRUE", "1", " true"] {
            let hints = Hints::of(&Info::new().with(ENFORCE, value).with("unknown", "true"));
            assert_eq!(hints, Hints::default(), "{value:?}");
            assert_eq!((hints.word(), hints.text()), (0, None));
        }
    }
}
