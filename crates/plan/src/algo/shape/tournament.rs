//! The round-robin tournament: in each round ranks meet in pairs, and each meets every other once.
//!
//! An odd number of ranks sits in a circle; in round `k` those meet whose numbers add up to `k`,
//! modulo their number, and the one who would meet itself rests. Of an even number the last rank
//! stays outside the circle, and meets the one who would rest.
//!
//! ```text
//!   4 ranks: 0 1 2 in the circle      round 0    0-3  1-2
//!                                     round 1    0-1  2-3
//!                                     round 2    0-2  1-3
//! ```
//!
//! Who meets whom is mutual, which a rotation is not: both ends swap their blocks at the same time.

use crate::call::Rank;

/// The number of rounds.
pub(crate) fn rounds(ranks: u32) -> u32 {
    match ranks {
        0 | 1 => 0,
        _ => circle(ranks),
    }
}

/// The partner of a rank in a round; `None` if it rests.
pub(crate) fn peer(ranks: u32, rank: Rank, round: u32) -> Option<Rank> {
    let (seats, me, last) = (circle(ranks), rank.0, ranks - 1);
    // 64 bits, as the product may be beyond 32.
    let resting = (u64::from(round) * u64::from(seats.div_ceil(2)) % u64::from(seats)) as u32;
    let has_outsider = seats == last;
    if has_outsider && me == last {
        return Some(Rank(resting));
    }
    if me == resting {
        return has_outsider.then_some(Rank(last));
    }
    let distance = u64::from(round) + u64::from(seats - me);
    Some(Rank((distance % u64::from(seats)) as u32))
}

/// How many ranks sit in the circle: an odd number.
fn circle(ranks: u32) -> u32 {
    ranks - u32::from(ranks.is_multiple_of(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_meets_each_once_and_it_is_mutual() {
        for ranks in 1..40 {
            for me in (0..ranks).map(Rank) {
                let peers: Vec<_> =
                    (0..rounds(ranks)).map(|round| peer(ranks, me, round)).collect();
                for (round, peer_of_me) in (0..).zip(&peers) {
                    let mutual = peer_of_me.is_none_or(|it| peer(ranks, it, round) == Some(me));
                    assert!(mutual, "{me} of {ranks} in round {round}");
                }
                let mut met: Vec<_> = peers.into_iter().flatten().collect();
                met.sort();
                assert!(met.into_iter().eq((0..ranks).map(Rank).filter(|it| *it != me)));
            }
        }
    }
}
