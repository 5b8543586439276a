//! How the ranks of an exchange come to know enough of each other to route its blocks by node.
//!
//! An init that all ranks make together has time for it. The ranks of an exchange that is between
//! several nodes take these steps, all of them in the same order:
//!
//! 1. Each numbers its blocks, so that the same elements for several ranks have one number, and
//!    tells each destination the numbers and lengths of the blocks that go there. Each hears from
//!    its sources in the same sparse exchange.
//! 2. Mates, the ranks of one node, send each other their lists. On which node a rank is all know.
//! 3. Each counts what the ways of the exchange would ask of it, and all agree on the most that
//!    any rank has. The same agreement says whether the lists of all have fitted together; whether
//!    all have elements of one type, as a rank that carries blocks of others must know what they
//!    are; and whether there is any difference between the ways: blocks that can share a message,
//!    or that several ranks of a node want.
//!
//! What a rank then knows, and what it has sent and received for it, is in the size of the
//! neighbourhood of its node, but for the rounds of a barrier at the end of each sparse exchange.

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

/// Words that tell of one entry of a list.
const ENTRY: usize = 3;
/// Words of the agreement: whether a rank's lists do not fit, the type and the size of its elements
/// as they are and with all bits turned, and the figures of three demands.
const WORDS: usize = 14;

/// Where the ranks of a communicator are.
struct Layout<'a> {
    /// The node of each rank.
    node_of: &'a dyn Fn(usize) -> u32,
    /// The ranks on the caller's node, in order.
    mates: &'a [usize],
}

impl Communicator {
    /// The exchange of all ranks that `call` is, as an exchange among the nodes of the world. None,
    /// on all ranks alike, if `call` is none, all ranks are on one node, or blocks cannot be
    /// routed any better than directly. Collective.
    ///
    /// # Errors
    /// That a rank has died or left.
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

    /// The same, where ranks are where `layout` says.
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

    /// Tells destinations the numbers of their blocks. Returns the own lists with the numbers, and
    /// nothing if what sources tell is not what this rank expects.
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
        let mut told: HashMap<usize, Vec<u64>> = HashMap::new();
        for edge in &*sent {
            let words = [u64::from(edge.block), edge.count as u64];
            told.entry(edge.rank.index()).or_default().extend(words);
        }
        let sends = told.iter().map(|(to, words)| (*to, &words[..]));
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

    /// The lists of all mates; nothing if one of them has none.
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

    /// The largest of each figure over all ranks. Nothing if a rank has none, if they are the same
    /// for all ways, or if two ranks have elements of different types or sizes.
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
        let ways = [own.direct, own.forwarders, own.gateways];
        for (figures, demand) in figures.as_chunks_mut::<3>().0.iter_mut().zip(ways) {
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
        let [direct, forwarders, gateways] = [0, 1, 2].map(demand);
        let differ = direct != forwarders || direct != gateways;
        Ok((unfit == 0 && differ && is_one_type).then_some(Demands {
            direct,
            forwarders,
            gateways,
        }))
    }
}

/// The lists of an exchange: destinations and sources.
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

/// The lists of a rank as words: the length of the first, and three words for each entry.
fn words_of(mate: &NodePeer) -> Vec<u64> {
    let entries = mate.to.iter().chain(&*mate.from);
    let entries =
        entries.flat_map(|edge| [u64::from(edge.rank.0), u64::from(edge.block), edge.count as u64]);
    [mate.to.len() as u64].into_iter().chain(entries).collect()
}

/// What a mate has told; nothing if it had nothing to tell.
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
