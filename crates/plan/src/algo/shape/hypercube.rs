//! The hypercube, and how any number of ranks folds onto one.
//!
//! The corners of a hypercube are numbered from 0; in round `k` corners that differ in bit `k`
//! meet. After round `k` a corner knows of the aligned run of `2^(k+1)` corners around it.
//!
//! Where the number of ranks is not a power of two, the first ranks fold in pairs: the even one
//! (the guest) hands its data to the odd one (the host) and waits. A pair is two consecutive
//! ranks, so corners are in the order of the ranks they stand for.
//!
//! ```text
//!   ranks     0   1   2   3   4   5        6 ranks, 4 corners
//!              \  |    \  |   |   |
//!   corners       0       1   2   3
//! ```

use crate::call::Rank;
use crate::cost::{AggregateWork, Cost};

/// The fold of all ranks onto the largest hypercube they can fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    corners: u32,
    /// How many ranks are guests.
    guests: u32,
}

/// The part of a rank in a [`Fold`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldRole {
    /// Stands for itself.
    Alone { corner: u32 },
    /// Stands for itself and for the guest, which is the rank before it.
    Host { corner: u32, guest: Rank },
    /// Is stood for by the host.
    Guest { host: Rank },
}

impl Fold {
    pub(crate) fn new(ranks: u32) -> Self {
        let corners = 1 << ranks.ilog2();
        Self { corners, guests: ranks - corners }
    }

    /// The number of rounds among the corners.
    pub(crate) fn rounds(self) -> u32 {
        self.corners.trailing_zeros()
    }

    /// Whether some rank is a guest.
    pub(crate) fn has_guests(self) -> bool {
        self.guests > 0
    }

    /// What all ranks do, if each corner does `meeting` and each guest `folding` with its host.
    /// While guests and hosts fold, those who meet the hosts wait, and so do their partners: about
    /// once for each rank and round, as measured.
    pub(crate) fn work(self, meeting: &Cost, folding: &Cost) -> AggregateWork {
        let work = AggregateWork::alike(self.corners, meeting)
            .beside(AggregateWork::alike(self.guests, folding));
        let rounds = self.cost(*meeting, *folding).rounds;
        AggregateWork { waits: work.ranks.saturating_mul(rounds), ..work }
    }

    /// The longest chain of the same.
    pub(crate) fn cost(self, meeting: Cost, folding: Cost) -> Cost {
        if self.has_guests() { meeting.then(folding) } else { meeting }
    }

    pub(crate) fn part(self, rank: Rank) -> FoldRole {
        match rank.0 {
            r if r >= 2 * self.guests => FoldRole::Alone { corner: r - self.guests },
            r if r % 2 == 1 => FoldRole::Host { corner: r / 2, guest: Rank(r - 1) },
            r => FoldRole::Guest { host: Rank(r + 1) },
        }
    }

    /// The rank that stands at a corner.
    pub(crate) fn rank(self, corner: u32) -> Rank {
        Rank(if corner < self.guests { 2 * corner + 1 } else { corner + self.guests })
    }
}

/// The corner met in a round.
pub(crate) fn partner(corner: u32, round: u32) -> u32 {
    corner ^ (1 << round)
}

/// Whether a corner is the lower of the two that meet in a round.
pub(crate) fn is_lower(corner: u32, round: u32) -> bool {
    corner & (1 << round) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_in_rank_order_and_lead_back() {
        for ranks in 1..40 {
            let fold = Fold::new(ranks);
            let corners: Vec<u32> = (0..ranks)
                .filter_map(|rank| match fold.part(Rank(rank)) {
                    FoldRole::Alone { corner } | FoldRole::Host { corner, .. } => {
                        assert_eq!(fold.rank(corner), Rank(rank));
                        Some(corner)
                    }
                    FoldRole::Guest { host } => {
                        let guest = Rank(rank);
                        assert!(
                            matches!(fold.part(host), FoldRole::Host { guest: g, .. } if g == guest)
                        );
                        None
                    }
                })
                .collect();
            assert!(corners.into_iter().eq(0..1 << fold.rounds()));
        }
    }
}
