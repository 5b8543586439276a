//! Arithmetic of ranks: who talks to whom. Numbers only, no data.

pub(super) mod binomial;
pub(super) mod hypercube;
pub(super) mod partition;
pub(super) mod ring;
pub(super) mod tournament;

use crate::cost::Ends;

/// The number of doublings from 1 to at least `ranks`: the rounds of any algorithm in which what
/// a rank knows at most doubles.
pub(super) fn doublings(ranks: u32) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// How many messages there are if each rank has one for every rank that is 1, 2, 4, ... after it,
/// and what a rank in the middle has of them. Either before it or after it there are fewer than
/// half of the ranks, and so none in the last distance.
pub(super) fn later(ranks: u32) -> (usize, Ends) {
    let rounds = doublings(ranks);
    let messages = (0..rounds).map(|round| ranks as usize - (1 << round)).sum();
    (messages, Ends::new(rounds as usize, (rounds as usize).saturating_sub(1)))
}

/// How many messages there are in a tree from its root to all ranks, and what the root has of them.
pub(super) fn tree_down(ranks: u32) -> (usize, Ends) {
    (ranks as usize - 1, Ends::new(doublings(ranks) as usize, 0))
}

/// The same in a tree to its root, where the ranks next to the root have to send as well.
pub(super) fn tree_up(ranks: u32) -> (usize, Ends) {
    let below = (doublings(ranks) as usize).saturating_sub(1);
    (ranks as usize - 1, Ends::new(usize::from(ranks > 1), below))
}
