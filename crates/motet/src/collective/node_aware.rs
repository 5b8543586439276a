//! Node-aware exchange: the ranks collect the information that routing blocks by node needs.
//!
//! An init that all ranks make together has the time for this. The ranks of an exchange over
//! several nodes take these steps, all of them in the same order:
//!
//! 1. Each rank numbers its blocks, so that equal elements for several ranks have one number, and
//!    sends each destination the numbers and lengths of its blocks. It receives those of its
//!    sources in the same sparse exchange.
//! 2. Mates (ranks of one node) send each other their lists. All ranks know the node of each rank.
//! 3. Each rank counts the cost of each route of the exchange for itself, and all ranks agree on
//!    the maximum. The same agreement tells whether the lists of all ranks match; whether all ranks
//!    have elements of one type, which a rank must know to forward blocks of others; and whether
//!    the routes differ at all: whether blocks can share a message, or several ranks of a node want
//!    the same block.
//!
//! The information that a rank then has, and the data that it sent and received for it, is
//! proportional to the neighbourhood of its node, except for the rounds of a barrier at the end of
//! each sparse exchange.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use motet_fabric::TypeCode;
use motet_plan::order::sort_by_number;
use motet_plan::{
    Call, Demands, Edge, EdgeDemand, Neighbour, NodeKnowledge, NodePeer, Operation, Rank, nodes,
};

use crate::base::error::Result;
use crate::comm::communicator::Communicator;
use crate::data::op::Max;

/// Number of words for one entry of a list.
const ENTRY: usize = 3;
/// Number of words of the agreement: whether a rank's lists do not match, the type and the size of
/// its elements with their bitwise complements, and the figures of three routes.
const WORDS: usize = 14;

/// The node of each rank of a communicator.
struct Layout<'a> {
    /// The node of each rank.
    node_of: &'a dyn Fn(usize) -> u32,
    /// The ranks on the caller's node, in order.
    mates: &'a [usize],
}

impl Communicator {
    /// Converts the exchange of all ranks in `call` to an exchange among the nodes of the world.
    /// Returns `None`, on all ranks alike, if `call` is no exchange, all ranks are on one node, or
    /// no route is better than the direct one. Collective.
    ///
    /// # Errors
    /// A rank has died or has left the world.
    pub(super) fn routed_by_node(
        &self,
        name: &'static str,
        call: &Call,
        element: TypeCode,
    ) -> Result<Option<Call>> {
        if self.is_on_one_node() {
            return Ok(None);
        }
        let nodes = self.core().nodes();
        let node_of = |rank: usize| nodes.of(self.group().peer(rank)) as u32;
        self.widen(name, (call, element), &Layout { node_of: &node_of, mates: &self.mates() })
    }

    /// Does the same as `routed_by_node`, for the nodes in `layout`.
    fn widen(
        &self,
        name: &'static str,
        (call, element): (&Call, TypeCode),
        layout: &Layout<'_>,
    ) -> Result<Option<Call>> {
        let Some([to, from]) = lists(&call.operation) else { return Ok(None) };
        if call.ranks as usize != self.size() {
            return Ok(None);
        }
        let has_elements = to.iter().chain(&*from).any(|other| other.count > 0);
        let unit = has_elements.then_some([u64::from(element.0), call.element_bytes as u64]);
        let own = self.told_by_sources(name, layout, &to, &from)?;
        let mates = self.told_by_mates(name, layout, own)?;
        let mut wide = mates.map(|mates| {
            let node = (layout.node_of)(self.rank());
            let surroundings = NodeKnowledge { node, mates, demands: Demands::default() };
            let surroundings = Arc::new(surroundings);
            let operation = Operation::NodeExchange { to, from, surroundings };
            Call { operation, ..call.clone() }
        });
        wide = wide.filter(|wide| wide.check().is_ok());
        let demands = self.agree_on_demands(name, unit, wide.as_ref().map(nodes::demands))?;
        Ok(demands.zip(wide).map(|(demands, mut wide)| {
            if let Operation::NodeExchange { surroundings, .. } = &mut wide.operation {
                Arc::make_mut(surroundings).demands = demands;
            }
            wide
        }))
    }

    /// Sends the destinations the numbers of their blocks. Returns the own lists with the numbers,
    /// or `None` if the sources send other lists than this rank expects.
    fn told_by_sources(
        &self,
        name: &'static str,
        layout: &Layout<'_>,
        to: &[Neighbour],
        from: &[Neighbour],
    ) -> Result<Option<NodePeer>> {
        let edge = |other: &Neighbour, block| Edge {
            rank: other.rank,
            node: (layout.node_of)(other.rank.index()),
            block,
            count: other.count,
        };
        let numbered = to.iter().zip(nodes::numbers(to));
        let sent: Arc<[Edge]> = numbered.map(|(other, number)| edge(other, number)).collect();
        let mut words_to: HashMap<usize, Vec<u64>> = HashMap::new();
        for edge in &*sent {
            let words = [u64::from(edge.block), edge.count as u64];
            words_to.entry(edge.rank.index()).or_default().extend(words);
        }
        let sends = words_to.iter().map(|(to, words)| (*to, &words[..]));
        let came = self.sparse_exchange_as::<u64>(name, sends)?;
        let mut numbers: HashMap<usize, VecDeque<[u64; 2]>> = HashMap::new();
        for (source, words) in came {
            numbers.entry(source).or_default().extend(words.as_chunks().0);
        }
        let mut received = Vec::new();
        for other in from {
            let next = numbers.get_mut(&other.rank.index()).and_then(VecDeque::pop_front);
            match next {
                Some([number, count]) if count == other.count as u64 => {
                    received.push(edge(other, number as u32));
                }
                _ => return Ok(None),
            }
        }
        let all_expected = numbers.values().all(VecDeque::is_empty);
        let rank = Rank::from_index(self.rank());
        Ok(all_expected.then(|| NodePeer { rank, to: sent, from: received.into() }))
    }

    /// Returns the lists of all mates; `None` if one of them has no valid lists.
    fn told_by_mates(
        &self,
        name: &'static str,
        layout: &Layout<'_>,
        own: Option<NodePeer>,
    ) -> Result<Option<Arc<[NodePeer]>>> {
        let words = own.as_ref().map(words_of).unwrap_or_default();
        let others = layout.mates.iter().filter(|mate| **mate != self.rank());
        let came = self.sparse_exchange_as(name, others.map(|mate| (*mate, &words[..])))?;
        let Some(own) = own else { return Ok(None) };
        let mut mates = vec![own];
        for (rank, words) in came {
            let Some(mate) = mate_of(rank, &words, layout) else { return Ok(None) };
            mates.push(mate);
        }
        sort_by_number(&mut mates, |mate| u64::from(mate.rank.0));
        Ok(Some(mates.into()))
    }

    /// Returns the maximum of each figure over all ranks. `None` if a rank has no figures, if they
    /// are equal for all routes, or if two ranks have elements of different types or sizes.
    fn agree_on_demands(
        &self,
        name: &'static str,
        unit: Option<[u64; 2]>,
        own: Option<Demands>,
    ) -> Result<Option<Demands>> {
        let mut words = [0; WORDS];
        let [unfit, code, size, turned_code, turned_size, figures @ ..] = &mut words;
        *unfit = u64::from(own.is_none());
        if let Some(unit) = unit {
            [*code, *size] = unit;
            [*turned_code, *turned_size] = unit.map(|word| !word);
        }
        let own = own.unwrap_or_default();
        let demands = [own.linear, own.two_step, own.three_step];
        for (figures, demand) in figures.as_chunks_mut::<3>().0.iter_mut().zip(demands) {
            *figures =
                [demand.messages, demand.elements, demand.copied].map(|figure| figure as u64);
        }
        self.combined(name, &mut words, Max)?;
        let [unfit, code, size, turned_code, turned_size, figures @ ..] = words;
        // The greatest and, turned back, the least. With no elements all ways are the same.
        let is_one_type = code == !turned_code && size == !turned_size;
        let demand = |at: usize| {
            let [messages, elements, copied] =
                [0, 1, 2].map(|figure| figures[3 * at + figure] as usize);
            EdgeDemand { messages, elements, copied }
        };
        let [linear, two_step, three_step] = [0, 1, 2].map(demand);
        let differ = linear != two_step || linear != three_step;
        Ok((unfit == 0 && differ && is_one_type).then_some(Demands {
            linear,
            two_step,
            three_step,
        }))
    }
}

/// Returns the lists of an exchange: destinations and sources.
fn lists(operation: &Operation) -> Option<[Arc<[Neighbour]>; 2]> {
    let side_by_side = |ranks: &[Rank], count: usize| -> Arc<[Neighbour]> {
        let place = |(at, &rank)| Neighbour { rank, start: at * count, count };
        ranks.iter().enumerate().map(place).collect()
    };
    match operation {
        Operation::Exchange { count, to, from } => {
            Some([side_by_side(to, *count), side_by_side(from, *count)])
        }
        Operation::Exchangev { to, from } => Some([to.clone(), from.clone()]),
        _ => None,
    }
}

/// Encodes the lists of a rank as words: the length of the first list, and three words for each
/// entry.
fn words_of(mate: &NodePeer) -> Vec<u64> {
    let entries = mate.to.iter().chain(&*mate.from);
    let entries =
        entries.flat_map(|edge| [u64::from(edge.rank.0), u64::from(edge.block), edge.count as u64]);
    [mate.to.len() as u64].into_iter().chain(entries).collect()
}

/// Decodes the lists of a mate; `None` if it sent none.
fn mate_of(rank: usize, words: &[u64], layout: &Layout<'_>) -> Option<NodePeer> {
    let (sent, entries) = words.split_first()?;
    let (sent, received) = entries.as_chunks::<ENTRY>().0.split_at_checked(*sent as usize)?;
    let list = |entries: &[[u64; ENTRY]]| -> Arc<[Edge]> {
        let edge = |&[rank, block, count]: &[u64; ENTRY]| Edge {
            rank: Rank(rank as u32),
            node: (layout.node_of)(rank as usize),
            block: block as u32,
            count: count as usize,
        };
        entries.iter().map(edge).collect()
    };
    Some(NodePeer { rank: Rank::from_index(rank), to: list(sent), from: list(received) })
}

#[cfg(test)]
mod tests;
