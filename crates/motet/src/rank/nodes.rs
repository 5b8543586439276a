//! Which ranks share a node: a machine, within which messages cost less than between two.
//!
//! A node is a host; ranks on other hosts are reached by the network. For tests and measurements,
//! and to see what the library would do on more hosts, a setting divides one
//! ([`Settings::ranks_per_node`](crate::Settings::ranks_per_node)). Every rank knows the node of
//! every other without asking.

use std::num::NonZeroUsize;
use std::sync::Arc;

use motet_fabric::Peer;

/// How the ranks of a world are spread over nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// All are on one.
    #[default]
    One,
    /// So many after each other share one.
    Of(NonZeroUsize),
    /// The node of each.
    Each(Arc<[usize]>),
}

impl Nodes {
    /// The node of a rank of the world.
    pub(crate) fn of(&self, peer: Peer) -> usize {
        match self {
            Nodes::One => 0,
            Nodes::Of(ranks) => peer.index() / *ranks,
            Nodes::Each(nodes) => nodes[peer.index()],
        }
    }
}
