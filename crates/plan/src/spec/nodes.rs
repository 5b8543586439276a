//! Checks that the calls of all ranks of a node-aware exchange are consistent.

use std::collections::BTreeMap;

use super::SpecError;
use crate::call::{Call, Edge, NodeKnowledge, Operation, Rank};

/// Checks that ranks of one node know the same, that all ranks have agreed on the demands, and that
/// both ends of each block know it by one number and each other's nodes.
pub(super) fn agree(calls: &[Call]) -> Result<(), SpecError> {
    let mut first_of_node = BTreeMap::new();
    let mut sent: BTreeMap<(Rank, Rank), Vec<u32>> = BTreeMap::new();
    let mut received = sent.clone();
    for (call, surroundings) in known(calls) {
        let rank = call.rank;
        let &mut (first, known) =
            first_of_node.entry(surroundings.node).or_insert((rank, surroundings));
        if surroundings != known {
            return Err(SpecError::Knowledge { first, rank, what: "things of their node" });
        }
        if surroundings.demands != first_demands(calls, surroundings) {
            return Err(SpecError::Knowledge { first: Rank(0), rank, what: "demands" });
        }
        let own = surroundings.mate(rank).expect("the call has been checked");
        for edge in own.to.iter().chain(&*own.from) {
            agree_about(calls, rank, edge)?;
        }
        // A block of no elements needs no number.
        for edge in own.to.iter().filter(|edge| edge.count > 0) {
            sent.entry((rank, edge.rank)).or_default().push(edge.block);
        }
        for edge in own.from.iter().filter(|edge| edge.count > 0) {
            received.entry((edge.rank, rank)).or_default().push(edge.block);
        }
    }
    for (&(first, rank), numbers) in &sent {
        // What is missing altogether is found where lengths are compared.
        if received.get(&(first, rank)).is_some_and(|received| received != numbers) {
            return Err(SpecError::Knowledge { first, rank, what: "numbers of blocks" });
        }
    }
    Ok(())
}

fn known(calls: &[Call]) -> impl Iterator<Item = (&Call, &NodeKnowledge)> {
    calls.iter().filter_map(|call| match &call.operation {
        Operation::NodeExchange { surroundings, .. } => Some((call, &**surroundings)),
        _ => None,
    })
}

fn first_demands(calls: &[Call], otherwise: &NodeKnowledge) -> crate::call::Demands {
    known(calls).next().map_or(otherwise.demands, |(_, first)| first.demands)
}

/// The other rank must be on the node where `rank` takes it to be.
fn agree_about(calls: &[Call], rank: Rank, edge: &Edge) -> Result<(), SpecError> {
    match &calls[edge.rank.index()].operation {
        Operation::NodeExchange { surroundings, .. } if surroundings.node != edge.node => {
            Err(SpecError::Knowledge { first: rank, rank: edge.rank, what: "nodes" })
        }
        _ => Ok(()),
    }
}
