//! Arithmetic of ranks: who talks to whom. Numbers only, no data.

pub(super) mod binomial;
pub(super) mod hypercube;
pub(super) mod partition;
pub(super) mod ring;
pub(super) mod tournament;

/// The number of doublings from 1 to at least `ranks`: the rounds of any algorithm in which what
/// a rank knows at most doubles.
pub(super) fn doublings(ranks: u32) -> u32 {
    ranks.next_power_of_two().trailing_zeros()
}

/// How many messages there are if each rank has one for every rank that is 1, 2, 4, ... after it.
pub(super) fn later(ranks: u32) -> usize {
    (0..doublings(ranks)).map(|round| ranks as usize - (1 << round)).sum()
}
