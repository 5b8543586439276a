//! The node map: which ranks share a node.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Rank;

/// How the ranks of a call are spread over nodes, the same on all ranks: messages within a node
/// cost less than those between two. [`NodeMap::ONE`] if all share one, or if it is unknown.
///
/// ```text
///   ranks       0   1   2   3   4   5
///   nodes       0   0   1   1   0   2        numbered as they first appear
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeMap(Option<Arc<Nodes>>);

#[derive(Debug, PartialEq, Eq)]
struct Nodes {
    /// The node of each rank.
    of: Box<[u32]>,
    /// How many ranks each node has.
    sizes: Box<[u32]>,
    /// Whether the ranks of each node follow each other.
    are_runs: bool,
}

/// A call is looked up by all else as well, and few programs have the same call on two divisions:
/// so this costs a look-up nothing.
impl Hash for NodeMap {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl NodeMap {
    /// All ranks are on one node.
    pub const ONE: Self = Self(None);

    /// The node of each rank, by any numbers.
    pub fn new(nodes: impl IntoIterator<Item = usize>) -> Self {
        let mut numbers = BTreeMap::new();
        let mut sizes = Vec::new();
        let number = |node| {
            let next = sizes.len();
            let number = *numbers.entry(node).or_insert(next);
            if number == next {
                sizes.push(0);
            }
            sizes[number] += 1;
            number as u32
        };
        let of: Box<[u32]> = nodes.into_iter().map(number).collect();
        if sizes.len() < 2 {
            return Self::ONE;
        }
        let are_runs = of.is_sorted();
        Self(Some(Arc::new(Nodes { of, sizes: sizes.into(), are_runs })))
    }

    /// Whether all ranks are on one node.
    pub fn is_one(&self) -> bool {
        self.0.is_none()
    }

    /// Whether no two ranks are on one node, of several.
    pub fn is_apart(&self) -> bool {
        self.largest() == 1
    }

    /// How many ranks are spread, if they are on several nodes.
    pub(super) fn ranks(&self) -> Option<usize> {
        self.0.as_ref().map(|nodes| nodes.of.len())
    }

    /// The node of a rank.
    pub fn node(&self, rank: Rank) -> usize {
        self.0.as_ref().map_or(0, |nodes| nodes.of[rank.index()] as usize)
    }

    /// How many ranks each node has; nothing if there is one node.
    pub fn sizes(&self) -> &[u32] {
        self.0.as_ref().map_or(&[], |nodes| &nodes.sizes)
    }

    /// The most ranks that one node has; 0 if there is one node.
    pub fn largest(&self) -> u32 {
        self.sizes().iter().copied().max().unwrap_or(0)
    }

    /// Whether the ranks of each node follow each other.
    pub fn is_in_runs(&self) -> bool {
        self.0.as_ref().is_none_or(|nodes| nodes.are_runs)
    }

    /// The first rank of each node, in the order of nodes; none if there is one node.
    pub fn first_ranks(&self) -> Vec<Rank> {
        let mut first = Vec::new();
        for (rank, &node) in self.0.iter().flat_map(|nodes| nodes.of.iter().enumerate()) {
            if node as usize == first.len() {
                first.push(Rank::from_index(rank));
            }
        }
        first
    }

    /// The last rank of each node, in the order of nodes; none if there is one node.
    pub fn last_ranks(&self) -> Vec<Rank> {
        let mut last = self.first_ranks();
        for (rank, &node) in self.0.iter().flat_map(|nodes| nodes.of.iter().enumerate()) {
            last[node as usize] = Rank::from_index(rank);
        }
        last
    }

    /// The ranks of a node, in order; none if there is one node.
    pub fn ranks_of(&self, node: usize) -> Vec<Rank> {
        let all = self.0.iter().flat_map(|nodes| nodes.of.iter().enumerate());
        all.filter(|(_, of)| **of as usize == node)
            .map(|(rank, _)| Rank::from_index(rank))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_as_they_appear() {
        let division = NodeMap::new([7, 7, 3, 7, 9]);
        let nodes: Vec<_> = (0..5).map(|rank| division.node(Rank(rank))).collect();
        assert_eq!(nodes, [0, 0, 1, 0, 2]);
        assert_eq!((division.sizes(), division.largest()), (&[3, 1, 1][..], 3));
        assert_eq!(division.first_ranks(), [Rank(0), Rank(2), Rank(4)]);
        assert_eq!(division.last_ranks(), [Rank(3), Rank(2), Rank(4)]);
        assert_eq!(division.ranks_of(0), [Rank(0), Rank(1), Rank(3)]);
        assert!(!division.is_in_runs() && NodeMap::new([4, 4, 1]).is_in_runs());
        assert_eq!(NodeMap::new([4, 4, 1]), NodeMap::new([0, 0, 8]));
    }

    #[test]
    fn one_node_is_no_division() {
        assert_eq!(NodeMap::new([5, 5, 5]), NodeMap::ONE);
        assert_eq!(NodeMap::new([]), NodeMap::ONE);
        assert!(NodeMap::ONE.is_one() && NodeMap::ONE.first_ranks().is_empty());
        assert_eq!((NodeMap::ONE.node(Rank(3)), NodeMap::ONE.largest()), (0, 0));
    }
}
