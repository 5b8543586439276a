//! Arithmetic of ranks: who talks to whom. Numbers only, no data.

pub(super) mod binomial;
pub(super) mod hypercube;
pub(super) mod partition;
pub(super) mod ring;
pub(super) mod tournament;

use crate::cost::{OneWayFlow, SendRecvCount};

/// The number of doublings from 1 to at least `ranks`: the rounds of any algorithm in which what
/// a rank knows at most doubles.
pub(super) fn doublings(ranks: u32) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// A message from each rank to every rank that is 1, 2, 4, ... after it; but for those to the next
/// one, and those of the first rank, they are of what has come. The busiest rank is in the middle:
/// either before it or after it there are fewer than half of the ranks, and so none in the last
/// distance.
pub(super) fn later(ranks: u32) -> OneWayFlow {
    let rounds = doublings(ranks);
    let in_round = |round: u32| ranks as usize - (1 << round);
    let messages = (0..rounds).map(in_round).sum();
    let sent_on = (1..rounds).map(|round| in_round(round) - 1).sum();
    let busiest = SendRecvCount::new(rounds as usize, (rounds as usize).saturating_sub(1));
    OneWayFlow { messages, busiest, most_received: rounds as usize, sent_on }
}

/// A tree from its root, which is the busiest, to all ranks.
pub(super) fn tree_down(ranks: u32) -> OneWayFlow {
    let (messages, of_root) = (ranks as usize - 1, doublings(ranks) as usize);
    let busiest = SendRecvCount::new(of_root, 0);
    OneWayFlow { messages, busiest, most_received: 1, sent_on: messages - of_root }
}

/// A tree to its root, which receives most. The ranks next to it are the busiest, as they have to
/// send as well; the leaves are every other rank.
pub(super) fn tree_up(ranks: u32) -> OneWayFlow {
    let most_received = doublings(ranks) as usize;
    let below = most_received.saturating_sub(1);
    let (messages, leaves) = (ranks as usize - 1, ranks as usize / 2);
    let busiest = SendRecvCount::new(usize::from(ranks > 1), below);
    OneWayFlow { messages, busiest, most_received, sent_on: leaves.saturating_sub(1) }
}

/// A tree to its root in which the farthest send first. Ranks that have received one pass it on;
/// they are those that another one is above, by the first distance beyond their own.
pub(super) fn tree_from_far(ranks: u32) -> OneWayFlow {
    let farthest = (1u32 << doublings(ranks)) / 2;
    let with_others_above = (farthest / 2).max(ranks - farthest) as usize;
    OneWayFlow { sent_on: with_others_above.saturating_sub(1), ..tree_up(ranks) }
}
