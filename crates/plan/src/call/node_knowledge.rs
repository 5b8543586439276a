//! Node knowledge: what a rank knows of the other ranks of its node in a node-aware exchange.
//!
//! Ranks on one node are *mates*. A rank knows the lists of its mates, and the node of each rank in
//! these lists. So both nodes of a message can compute without communication which ranks send and
//! receive it, and which blocks it holds: all blocks from node A to node B are in the send lists of
//! the ranks of A, and in the receive lists of the ranks of B. A rank knows nothing else, so the
//! size is that of the neighbourhood of the node, whatever the number of ranks.
//!
//! A block that goes to several ranks has one name for all of them: its source, and its number at
//! the source.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Call, CallError, Neighbour, Rank};
use crate::order::map_of;

/// What the ranks of one node know of each other's part of an exchange; the same at all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeKnowledge {
    /// The node of these ranks. Nodes have any different numbers.
    pub node: u32,
    /// The ranks of the node in order, the calling rank among them.
    pub mates: Arc<[NodePeer]>,
    /// What each way to carry out the exchange asks of the busiest rank: the same at all ranks of
    /// all nodes.
    pub demands: Demands,
}

/// A rank of the node, and its lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodePeer {
    /// The rank.
    pub rank: Rank,
    /// What it sends, in the order of its list.
    pub to: Arc<[Edge]>,
    /// What it receives, in the order of its list.
    pub from: Arc<[Edge]>,
}

/// A block exchanged with one rank, as mates know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The other rank.
    pub rank: Rank,
    /// The node of that rank.
    pub node: u32,
    /// The number of the block at its source. Blocks of a source have the same number just if they
    /// are the same elements; it does not matter for those of no elements.
    pub block: u32,
    /// Number of elements.
    pub count: usize,
}

/// What each algorithm of an exchange among nodes asks of the busiest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Demands {
    /// A message for each block.
    pub linear: EdgeDemand,
    /// A message from each source to each node.
    pub two_step: EdgeDemand,
    /// A message from each node to each node.
    pub three_step: EdgeDemand,
}

/// What a rank has to do: of each figure the largest over all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EdgeDemand {
    /// Messages sent or messages received, whichever is more.
    pub messages: usize,
    /// Elements in those messages.
    pub elements: usize,
    /// Elements copied within the rank.
    pub copied: usize,
}

impl Demands {
    /// The larger of each figure.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            linear: self.linear.max(other.linear),
            two_step: self.two_step.max(other.two_step),
            three_step: self.three_step.max(other.three_step),
        }
    }
}

impl EdgeDemand {
    fn max(self, other: Self) -> Self {
        Self {
            messages: self.messages.max(other.messages),
            elements: self.elements.max(other.elements),
            copied: self.copied.max(other.copied),
        }
    }
}

impl NodeKnowledge {
    /// The lists of one of the mates.
    pub fn mate(&self, rank: Rank) -> Option<&NodePeer> {
        let position = self.mates.binary_search_by_key(&rank, |mate| mate.rank);
        position.ok().map(|position| &self.mates[position])
    }

    /// The same with elements cut: `scale` says what becomes of a number of them.
    pub(super) fn scaled(
        &self,
        scale: &dyn Fn(usize) -> Result<usize, CallError>,
    ) -> Result<Self, CallError> {
        let edges = |list: &[Edge]| -> Result<Arc<[Edge]>, CallError> {
            list.iter().map(|edge| Ok(Edge { count: scale(edge.count)?, ..*edge })).collect()
        };
        let mate = |mate: &NodePeer| -> Result<NodePeer, CallError> {
            Ok(NodePeer { rank: mate.rank, to: edges(&mate.to)?, from: edges(&mate.from)? })
        };
        let demand = |demand: EdgeDemand| -> Result<EdgeDemand, CallError> {
            let (elements, copied) = (scale(demand.elements)?, scale(demand.copied)?);
            Ok(EdgeDemand { elements, copied, ..demand })
        };
        let Demands { linear, two_step, three_step } = self.demands;
        Ok(Self {
            node: self.node,
            mates: self.mates.iter().map(mate).collect::<Result<_, _>>()?,
            demands: Demands {
                linear: demand(linear)?,
                two_step: demand(two_step)?,
                three_step: demand(three_step)?,
            },
        })
    }

    /// Checks what the calling rank can check alone; `to` and `from` are its lists.
    pub(super) fn check(
        &self,
        call: &Call,
        to: &[Neighbour],
        from: &[Neighbour],
    ) -> Result<(), CallError> {
        let wrong = |what| Err(CallError::Surroundings { rank: call.rank, what });
        let ascending = self.mates.windows(2).all(|pair| pair[0].rank < pair[1].rank);
        if !ascending || self.all_edges().any(|(rank, edge)| rank.max(edge.rank).0 >= call.ranks) {
            return wrong("ranks are out of order or out of range");
        }
        let Some(own) = self.mate(call.rank) else { return wrong("it is not on its own node") };
        if !is_list_of(&own.to, to) || !is_list_of(&own.from, from) {
            return wrong("its own lists are not those of the call");
        }
        if !are_numbers_of(&own.to, to) {
            return wrong("its blocks are not numbered by their places");
        }
        if !self.nodes_agree() {
            return wrong("a rank is on two nodes");
        }
        if !self.lengths_agree() {
            return wrong("a block has two lengths");
        }
        if !self.mates_agree() {
            return wrong("two ranks of the node do not exchange the same blocks");
        }
        Ok(())
    }

    /// All entries of all lists, each with the mate whose it is.
    fn all_edges(&self) -> impl Iterator<Item = (Rank, &Edge)> {
        let lists = self.mates.iter().map(|mate| (mate.rank, mate.to.iter().chain(&*mate.from)));
        lists.flat_map(|(rank, edges)| edges.map(move |edge| (rank, edge)))
    }

    /// Each rank is on one node, and just the mates are on this one.
    fn nodes_agree(&self) -> bool {
        let mut nodes = map_of(self.mates.iter().map(|mate| (mate.rank, self.node)));
        let agree = self
            .all_edges()
            .all(|(_, edge)| *nodes.entry(edge.rank).or_insert(edge.node) == edge.node);
        agree && nodes.values().filter(|node| **node == self.node).count() == self.mates.len()
    }

    /// A block is as long for each of its destinations.
    fn lengths_agree(&self) -> bool {
        let sent = self
            .mates
            .iter()
            .flat_map(|mate| mate.to.iter().map(move |edge| ((mate.rank, edge.block), edge.count)));
        let received = self.mates.iter().flat_map(|mate| &*mate.from);
        let mut lengths = BTreeMap::new();
        sent.chain(received.map(|edge| ((edge.rank, edge.block), edge.count)))
            .filter(|(_, count)| *count > 0)
            .all(|(block, count)| *lengths.entry(block).or_insert(count) == count)
    }

    /// What one mate sends to another is what that one receives from it.
    fn mates_agree(&self) -> bool {
        let mut sent: BTreeMap<(Rank, Rank), Vec<(u32, usize)>> = BTreeMap::new();
        let mut received = sent.clone();
        let is_near = |edge: &&Edge| edge.node == self.node && edge.count > 0;
        for mate in &*self.mates {
            for edge in mate.to.iter().filter(is_near) {
                sent.entry((mate.rank, edge.rank)).or_default().push((edge.block, edge.count));
            }
            for edge in mate.from.iter().filter(is_near) {
                received.entry((edge.rank, mate.rank)).or_default().push((edge.block, edge.count));
            }
        }
        sent == received
    }
}

/// Whether what mates know is the list that the rank passes.
fn is_list_of(edges: &[Edge], list: &[Neighbour]) -> bool {
    let known = edges.iter().map(|edge| (edge.rank, edge.count));
    known.eq(list.iter().map(|other| (other.rank, other.count)))
}

/// Whether two blocks have the same number just if they are the same elements.
fn are_numbers_of(edges: &[Edge], list: &[Neighbour]) -> bool {
    let (mut by_number, mut by_place) = (BTreeMap::new(), BTreeMap::new());
    edges.iter().zip(list).filter(|(edge, _)| edge.count > 0).all(|(edge, other)| {
        let place = (other.start, other.count);
        *by_number.entry(edge.block).or_insert(place) == place
            && *by_place.entry(place).or_insert(edge.block) == edge.block
    })
}
