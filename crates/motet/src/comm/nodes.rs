//! What a communicator knows of the nodes that its ranks are on.

use motet_fabric::Peer;
use motet_plan::NodeMap;

use crate::base::error::{ErrorKind, Result};
use crate::base::group::Group;
use crate::comm::communicator::Communicator;
use crate::rank::Nodes;

impl Communicator {
    /// The node that a rank is on, as the nodes of the world are counted: ranks with the same
    /// number share a machine. Local.
    ///
    /// ```
    /// let settings = motet::Settings::new().ranks_per_node(2);
    /// motet::threads_with(4, &settings, |world| {
    ///     assert_eq!(world.node_of(2)?, 1);
    ///     assert_eq!(world.nodes(), [0, 0, 1, 1]);
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// A rank that is not in the communicator.
    pub fn node_of(&self, rank: usize) -> Result<usize> {
        let size = self.size();
        if rank >= size {
            return Err(self.error("node_of", ErrorKind::Rank { what: "rank", rank, size }));
        }
        Ok(self.core().nodes().of(self.group().peer(rank)))
    }

    /// The node of each rank, in the order of ranks; see [`node_of`](Communicator::node_of). Local,
    /// and takes memory in the number of ranks.
    pub fn nodes(&self) -> Vec<usize> {
        let nodes = self.core().nodes();
        self.group().world_ranks().map(|rank| nodes.of(Peer(rank as u32))).collect()
    }

    /// How many packets the caller has sent to ranks on other hosts since its world began: one for
    /// each short message, several for a long one. Local.
    pub fn packets_to_other_hosts(&self) -> u64 {
        self.core().engine().endpoint().cells_to_other_hosts()
    }

    /// The ranks that are on the caller's node, in order. Local; takes time and memory in their
    /// number only, where nodes are divided by a setting.
    pub(crate) fn mates(&self) -> Vec<usize> {
        let me = self.core().me();
        let near: Vec<usize> = match self.core().nodes() {
            Nodes::One => return (0..self.size()).collect(),
            &Nodes::Of(ranks) => {
                let first = me.index() - me.index() % ranks;
                (first..first + ranks.get()).collect()
            }
            nodes @ Nodes::Each(each) => {
                let mine = nodes.of(me);
                (0..each.len()).filter(|&rank| each[rank] == mine).collect()
            }
        };
        let near = near.into_iter().map(|index| Peer(index as u32));
        let mut mates: Vec<_> = near.filter_map(|peer| self.group().rank_of_peer(peer)).collect();
        mates.sort_unstable();
        mates
    }

    /// How the ranks are spread over nodes, to plan a collective of them. Local.
    pub(crate) fn division(&self) -> NodeMap {
        match self.core().nodes() {
            Nodes::One => NodeMap::ONE,
            _ => self.kept_division(|| self.division_of(self.group())).clone(),
        }
    }

    /// The same for a group of the ranks.
    pub(crate) fn division_of(&self, group: &Group) -> NodeMap {
        match self.core().nodes() {
            Nodes::One => NodeMap::ONE,
            nodes => NodeMap::new(group.peers().map(|peer| nodes.of(peer))),
        }
    }

    /// Whether all ranks are on one node. Local.
    pub(crate) fn is_on_one_node(&self) -> bool {
        let nodes = self.core().nodes();
        let mine = nodes.of(self.core().me());
        *nodes == Nodes::One || self.group().peers().all(|peer| nodes.of(peer) == mine)
    }
}
