//! Pairwise: ranks meet in pairs, round after round, and swap their two blocks.
//!
//! ```text
//!   4 ranks      0        1        2        3
//!   round 0      03 <-------------------->  30       and 12 <> 21
//!   round 1      01 <-->  10       23 <-->  32
//!   round 2      02 <----------->  20                and 13 <> 31
//! ```
//!
//! A block leaves through one of two places in scratch memory, used in turn. So a rank has at most
//! two blocks on their way, however many ranks there are; what arrives goes straight to its
//! place. In place that is where the block for the same rank was, which has been copied out, as
//! both of a pair are in the same round: the same steps serve both forms, at the price of a copy.
//!
//! Cost: `(p - 1) (latency + n + copy of n)` for blocks of `n`, and a latency more if `p` is odd.
//!
//! Paper: Thakur, Rabenseifner and Gropp, *Optimization of collective communication operations in
//! MPICH*, 2005; the pairs are those of a tournament, as in Lucas, *Récréations mathématiques*,
//! 1883.

use crate::algo::shape::tournament;
use crate::algo::{Algorithm, Refusal, gathered_blocks, scattered_blocks};
use crate::build::Builder;
use crate::call::{Call, Collective};
use crate::cost::Cost;

/// The algorithm, of an alltoall or an alltoallv.
pub(in crate::algo) struct Pairwise {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Pairwise { collective: Collective::Alltoall };

impl Algorithm for Pairwise {
    fn name(&self) -> &'static str {
        "pairwise"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "ranks meet in pairs, round after round, and swap their two blocks"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        let ranks = call.ranks as usize;
        let bytes = (call.bytes() / ranks).saturating_mul(ranks - 1);
        let rounds = tournament::rounds(call.ranks) as usize;
        Cost { rounds, bytes, copied: bytes, ..Cost::default() }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (outgoing, incoming) = (scattered_blocks::blocks(call), gathered_blocks::blocks(call));
        let rounds = tournament::rounds(call.ranks);
        let peers: Vec<_> = (0..rounds)
            .filter_map(|round| tournament::peer(call.ranks, call.rank, round))
            .collect();
        let longest = peers.iter().map(|peer| outgoing[peer.index()].len).max().unwrap_or(0);
        let places = [builder.scratch(longest), builder.scratch(longest)];
        for (peer, place) in peers.into_iter().zip(places.into_iter().cycle()) {
            let block = outgoing[peer.index()];
            let place = place.sub(0, block.len);
            builder.copy(block, place);
            builder.send(peer, place);
            builder.recv(peer, incoming[peer.index()]);
        }
        // Last, as nobody waits for it; in place it is there already.
        builder.copy(outgoing[call.rank.index()], incoming[call.rank.index()]);
    }
}
