//! Linear: one message for each block, all at once.
//!
//! ```text
//!   rank 1 of 4, to 0 2 3, from 0 2        0    1    2    3
//!                                          <----+---->
//!                                               +--------->
//!                                          ---->+<----
//! ```
//!
//! Receives come first, so that they wait for the data and not the data for them. Each rank begins
//! with the destination after it, so that not all ranks send to rank 0 at once. Blocks to the
//! rank itself are copies: the k-th block to itself meets the k-th block from itself.
//!
//! Cost: a latency, and what the rank with the most data has to move, which no rank knows unless
//! the ranks have agreed on it.

use crate::algo::{Algorithm, Refusal, aggregation};
use crate::build::Builder;
use crate::call::{Call, Collective, Neighbour, Operation, Rank};
use crate::cost::Cost;
use crate::order::sort_by_number;
use crate::plan::{Buffer, Slice};

/// The algorithm, of an exchange, an exchangev or an exchange among nodes.
pub(in crate::algo) struct Linear {
    pub(in crate::algo) collective: Collective,
}

pub(in crate::algo) const ROW: &dyn Algorithm = &Linear { collective: Collective::Exchange };

impl Algorithm for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn collective(&self) -> Collective {
        self.collective
    }

    fn summary(&self) -> &'static str {
        "one message for each block, all at once"
    }

    fn accepts(&self, _: &Call) -> Result<(), Refusal> {
        Ok(())
    }

    fn cost(&self, call: &Call) -> Cost {
        match &call.operation {
            Operation::NodeExchange { surroundings, .. } => {
                aggregation::cost(call, surroundings.demands.linear, 1)
            }
            _ => Cost { rounds: usize::from(call.ranks > 1), ..Cost::default() },
        }
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (mut to, mut from) = match &call.operation {
            Operation::Exchange { count, to, from } => (uniform(*count, to), uniform(*count, from)),
            Operation::Exchangev { to, from } => (to.to_vec(), from.to_vec()),
            Operation::NodeExchange { to, from, .. } => (to.to_vec(), from.to_vec()),
            _ => unreachable!("{} is no exchange", call.collective()),
        };
        let me = call.rank;
        // The sorts are stable, so blocks of one pair of ranks stay in order at both ends.
        sort_by_number(&mut to, |other| call.distance(me, other.rank));
        sort_by_number(&mut from, |other| call.distance(other.rank, me));
        // The rank itself is at distance 0, so its own blocks are at the front of both lists.
        let own = to.iter().take_while(|other| other.rank == me).count();
        for destination in &to[own..] {
            builder.send(destination.rank, slice(Buffer::Input, destination));
        }
        for source in &from[own..] {
            builder.recv(source.rank, slice(Buffer::Output, source));
        }
        for (destination, source) in to[..own].iter().zip(&from) {
            builder.copy(slice(Buffer::Input, destination), slice(Buffer::Output, source));
        }
    }
}

/// Blocks of one length, side by side.
fn uniform(count: usize, ranks: &[Rank]) -> Vec<Neighbour> {
    let block =
        |(index, rank): (usize, &Rank)| Neighbour { rank: *rank, start: index * count, count };
    ranks.iter().enumerate().map(block).collect()
}

fn slice(buffer: Buffer, block: &Neighbour) -> Slice {
    Slice { buffer, start: block.start, len: block.count }
}
