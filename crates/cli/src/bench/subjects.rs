//! The collectives that can be measured, by the names of their calls.

use std::fmt;

use motet_plan::Collective;

/// A collective that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    /// A collective in the table of algorithms.
    Planned(Collective),
    /// `neighbor_alltoall` on a ring.
    NeighborAlltoall,
}

impl Measured {
    /// All measurable collectives: those that are measured unless the user names some. No program
    /// calls an exchange among nodes; other calls become one where that is faster.
    pub(super) fn all() -> impl Iterator<Item = Measured> {
        let called = Collective::ALL.into_iter().filter(|it| *it != Collective::NodeExchange);
        called.map(Measured::Planned).chain([Measured::NeighborAlltoall])
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Measured::Planned(collective) => collective.name(),
            Measured::NeighborAlltoall => "neighbor_alltoall",
        }
    }

    /// The collective whose plans it runs.
    pub(super) fn collective(self) -> Collective {
        match self {
            Measured::Planned(collective) => collective,
            Measured::NeighborAlltoall => Collective::Exchangev,
        }
    }

    /// Whether it takes no data.
    pub(super) fn is_barrier(self) -> bool {
        matches!(self.collective(), Collective::Barrier | Collective::InterBarrier)
    }

    /// Whether the collective runs between two groups.
    pub(super) fn is_between_groups(self) -> bool {
        self.collective().fewest_ranks() > 1
    }

    /// Reads a name.
    pub(super) fn parse(name: &str) -> Result<Measured, String> {
        Measured::all().find(|measured| measured.name() == name).ok_or_else(|| {
            let names: Vec<_> = Measured::all().map(Measured::name).collect();
            format!("no collective `{name}`; there are {}", names.join(", "))
        })
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}
