//! A node map tells which ranks share a node: a machine within which messages cost less than
//! between two machines.
//!
//! A node is a host; the network connects ranks on different hosts. For tests and measurements, and
//! to see what the library would do on more hosts, a setting divides one host into several nodes
//! ([`Settings::ranks_per_node`](crate::Settings::ranks_per_node)). Every rank knows the node of
//! every other rank without communication.

use std::num::NonZeroUsize;
use std::sync::Arc;

use motet_fabric::Peer;

/// How the ranks of a world are spread over nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// All ranks are on one node.
    #[default]
    One,
    /// So many consecutive ranks share a node.
    Of(NonZeroUsize),
    /// The node of each rank.
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
