//! Builds the [`NodeKnowledge`] of the ranks of a node-aware exchange
//! ([`NodeExchange`](Operation::NodeExchange)).
//!
//! In a program the ranks collect it by messages: a source [numbers] its blocks and sends each
//! destination the numbers of its blocks; ranks of a node exchange their lists; and all ranks agree
//! on the maximum of each figure of [`demands`]. If the lists of all ranks are known in one place,
//! as in a test, [`everybody`] computes it without messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::algo;
use crate::call::{
    Call, Collective, Demands, Edge, EdgeDemand, Neighbour, NodeKnowledge, NodeMap, NodePeer,
    Operation, Rank,
};
use crate::plan::{Action, Plan};

/// The number of each block of a list of destinations: the same for the same elements, counted from
/// 0 in the order in which they first appear.
pub fn numbers(to: &[Neighbour]) -> Vec<u32> {
    let mut numbers = BTreeMap::new();
    let mut number = |other: &Neighbour| {
        let next = numbers.len() as u32;
        *numbers.entry((other.start, other.count)).or_insert(next)
    };
    to.iter().map(&mut number).collect()
}

/// What each algorithm asks of the calling rank, by counting the steps of its plans. The demands
/// that the call itself names do not matter.
///
/// # Panics
/// If the call is no exchange among nodes that passes [`Call::check`].
pub fn demands(call: &Call) -> Demands {
    let demand = |name| {
        let row = algo::find(Collective::NodeExchange, name).expect("the table has the row");
        counted(&row.plan(call).expect("these rows accept every exchange among nodes"))
    };
    Demands {
        linear: demand("linear"),
        two_step: demand("two_step"),
        three_step: demand("three_step"),
    }
}

fn counted(plan: &Plan) -> EdgeDemand {
    let (sent, received) = (plan.sent(), plan.received());
    let copies = plan.steps().iter().filter(|step| matches!(step, Action::Copy { .. }));
    EdgeDemand {
        messages: sent.messages.max(received.messages),
        elements: sent.elements.max(received.elements),
        copied: copies.map(Action::elements).sum(),
    }
}

/// The lists of one rank: destinations and sources.
pub type Lists = (Arc<[Neighbour]>, Arc<[Neighbour]>);

/// The calls of all ranks, in rank order, from the node and the lists of each rank.
///
/// # Panics
/// If there are not as many nodes as lists, or the k-th block from one rank to another in the list
/// of its destination is not in that of its source.
pub fn everybody(nodes: &[u32], lists: &[Lists], element_bytes: usize) -> Vec<Call> {
    assert_eq!(nodes.len(), lists.len(), "a node and two lists for each rank");
    let mates = mates(nodes, lists);
    let mut of_node: BTreeMap<u32, Vec<NodePeer>> = BTreeMap::new();
    for (node, mate) in nodes.iter().zip(mates) {
        of_node.entry(*node).or_default().push(mate);
    }
    let calls = |demands: Demands| -> Vec<Call> {
        let surroundings: BTreeMap<u32, Arc<NodeKnowledge>> = of_node
            .iter()
            .map(|(&node, mates)| {
                (node, Arc::new(NodeKnowledge { node, mates: mates[..].into(), demands }))
            })
            .collect();
        let call = |(rank, (to, from)): (usize, &Lists)| Call {
            rank: Rank::from_index(rank),
            ranks: Rank::from_index(lists.len()).0,
            element_bytes,
            in_place: false,
            nodes: NodeMap::ONE,
            operation: Operation::NodeExchange {
                to: to.clone(),
                from: from.clone(),
                surroundings: surroundings[&nodes[rank]].clone(),
            },
        };
        lists.iter().enumerate().map(call).collect()
    };
    let largest =
        calls(Demands::default()).iter().map(demands).fold(Demands::default(), Demands::max);
    calls(largest)
}

/// What is known of each rank on its node.
fn mates(nodes: &[u32], lists: &[Lists]) -> Vec<NodePeer> {
    // The numbers of the blocks from one rank to another, in the order of the list of the source.
    let mut sent: BTreeMap<(Rank, Rank), std::collections::VecDeque<u32>> = BTreeMap::new();
    let node = |rank: Rank| nodes[rank.index()];
    let edge = |other: &Neighbour, block| Edge {
        rank: other.rank,
        node: node(other.rank),
        block,
        count: other.count,
    };
    let mut mates = Vec::new();
    for (index, (to, _)) in lists.iter().enumerate() {
        let rank = Rank::from_index(index);
        let numbered = || to.iter().zip(numbers(to));
        for (other, number) in numbered() {
            sent.entry((rank, other.rank)).or_default().push_back(number);
        }
        let to = numbered().map(|(other, number)| edge(other, number)).collect();
        mates.push(NodePeer { rank, to, from: [].into() });
    }
    for (mate, (_, from)) in mates.iter_mut().zip(lists) {
        let number = |other: &Neighbour| {
            let numbers = sent.get_mut(&(other.rank, mate.rank));
            numbers.and_then(|numbers| numbers.pop_front()).expect("each block has a source")
        };
        let numbers: Vec<_> = from.iter().map(number).collect();
        mate.from = from.iter().zip(numbers).map(|(other, number)| edge(other, number)).collect();
    }
    mates
}
