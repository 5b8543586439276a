//! By node: one message from each node to each other one.
//!
//! ```text
//!   nodes 0 1 and 2 3      0              1              2              3
//!   within                 01 <-> 10      12 13 ->0      23 <-> 32      30 31 ->2
//!   between                02 03 12 13 ->  ..            20 21 30 31 -> ..
//!   within                 (from 1)       20 30 21 31    02 12 ->3 ...
//! ```
//!
//! It is an exchange among nodes by their [gateways](crate::algo), of which every rank knows all,
//! as everybody has a block for everybody. Ranks of a node take turns, so each sends and receives
//! its share of the messages. The ranks of a node need not follow each other.
//!
//! Cost: three messages in a row. Each rank hands over what it has for other nodes and gets what
//! they have for it, which are `(p - m) n` each way for blocks of `n`, `p` ranks and `m` on a node;
//! and sends its share of the messages between nodes, of `m m n` each.

use std::sync::Arc;

use crate::algo::node_exchange::three_step;
use crate::algo::{Algorithm, Refusal};
use crate::build::{Builder, Data, Phase};
use crate::call::{
    Call, Collective, Demands, Edge, Neighbour, NodeKnowledge, NodePeer, Operation, Rank,
};
use crate::cost::Cost;

/// A rank lists each block that its node sends and receives. With more of them than this the list
/// is longer than the messages are dear.
const MOST_BLOCKS: usize = 1 << 16;

struct Hierarchical;

pub(in crate::algo) const ROW: &dyn Algorithm = &Hierarchical;

/// Length of one block.
fn count(call: &Call) -> usize {
    let Operation::Alltoall { count } = call.operation else {
        unreachable!("an alltoall is planned")
    };
    count
}

/// All ranks but one, in order.
fn others(call: &Call, rank: Rank) -> impl Iterator<Item = Rank> {
    (0..call.ranks).map(Rank).filter(move |other| *other != rank)
}

/// What the ranks of a node know of each other: each has a block for all others, and one from each.
fn surroundings(call: &Call) -> NodeKnowledge {
    let (count, node) = (count(call), call.nodes.node(call.rank));
    let node_of = |rank| call.nodes.node(rank) as u32;
    // The blocks of a rank are numbered in the order of their destinations.
    let number = |from: Rank, to: Rank| if to < from { to.0 } else { to.0 - 1 };
    let mate = |mate: Rank| {
        let edge = |rank, block| Edge { rank, node: node_of(rank), block, count };
        let to = others(call, mate).map(|other| edge(other, number(mate, other))).collect();
        let from = others(call, mate).map(|other| edge(other, number(other, mate))).collect();
        NodePeer { rank: mate, to, from }
    };
    let mates = call.nodes.ranks_of(node).into_iter().map(mate).collect();
    NodeKnowledge { node: node as u32, mates, demands: Demands::default() }
}

impl Algorithm for Hierarchical {
    fn name(&self) -> &'static str {
        "hierarchical"
    }

    fn collective(&self) -> Collective {
        Collective::Alltoall
    }

    fn summary(&self) -> &'static str {
        "one message from each node to each other, with the blocks of all its ranks"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        let mates = call.nodes.largest() as usize;
        let most = (MOST_BLOCKS / mates.max(1)) as u32;
        if mates < 2 {
            Err(Refusal::NoNodes)
        } else if call.ranks > most {
            Err(Refusal::TooManyRanks { ranks: call.ranks, most })
        } else {
            Ok(())
        }
    }

    fn cost(&self, call: &Call) -> Cost {
        let (within, between) = self.parts(call);
        within.then(between)
    }

    fn parts(&self, call: &Call) -> (Cost, Cost) {
        let (ranks, mates) = (call.ranks as usize, call.nodes.largest() as usize);
        let others = call.nodes.sizes().len() - 1;
        let block = call.bytes() / ranks;
        let elsewhere = (ranks - mates).saturating_mul(block);
        // To each mate a block, and something for the gateways that it is, there and back.
        let gateways = others.min(mates - 1);
        let within = Cost {
            rounds: 2,
            extra_sends: mates - 1 + 2 * gateways.saturating_sub(1),
            bytes: elsewhere.saturating_mul(2).saturating_add((mates - 1).saturating_mul(block)),
            copied: elsewhere.saturating_mul(4),
            ..Cost::default()
        };
        // The fewer ranks a node has the more of its messages each of them sends.
        let fewest = call.nodes.sizes().iter().copied().min().unwrap_or(1) as usize;
        let turns = others.div_ceil(fewest);
        let bytes = block.saturating_mul(fewest * mates).saturating_mul(turns);
        (within, Cost { rounds: 1, extra_sends: turns - 1, bytes, ..Cost::default() })
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let (count, output) = (count(call), builder.output());
        let block = |rank: Rank| rank.index() * count;
        let list: Arc<[Neighbour]> = others(call, call.rank)
            .map(|rank| Neighbour { rank, start: block(rank), count })
            .collect();
        let operation = Operation::NodeExchange {
            to: list.clone(),
            from: list,
            surroundings: Arc::new(surroundings(call)),
        };
        let mut input = builder.contribution();
        if call.in_place {
            input = builder.scratch(output.len);
            builder.copy(output, input);
        } else {
            let own = block(call.rank);
            builder.copy(input.sub(own, count), output.sub(own, count));
        }
        // The exchange ends with its last block: the last rank has none for itself.
        let last = if call.rank.0 + 1 < call.ranks { call.ranks } else { call.rank.0 };
        let [input, output] = [input, output].map(|all| all.range(0..last as usize * count));
        let data = Data::Apart { input, output };
        let members: Vec<_> = (0..call.ranks).map(Rank).collect();
        builder.within(three_step::ROW, &Phase { members: &members, operation, data });
    }
}
