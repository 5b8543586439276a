//! Node information of a communicator: which of its ranks share a node.

use motet_fabric::Peer;
use motet_plan::NodeMap;

use crate::base::error::{ErrorKind, Result};
use crate::base::group::Group;
use crate::comm::communicator::Communicator;
use crate::rank::Nodes;

impl Communicator {
    /// Returns the number of the node of a rank, as the world numbers its nodes: ranks with the
    /// same number share a machine. Local.
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
    /// The rank is not in the communicator.
    pub fn node_of(&self, rank: usize) -> Result<usize> {
        let size = self.size();
        if rank >= size {
            return Err(self.error("node_of", ErrorKind::Rank { what: "rank", rank, size }));
        }
        Ok(self.core().nodes().of(self.group().peer(rank)))
    }

    /// Returns the node of each rank, in rank order; see [`node_of`](Communicator::node_of). Local;
    /// takes memory proportional to the number of ranks.
    pub fn nodes(&self) -> Vec<usize> {
        let nodes = self.core().nodes();
        self.group().world_ranks().map(|rank| nodes.of(Peer(rank as u32))).collect()
    }

    /// Returns whether the clocks of all ranks of the world are synchronized: true if they share
    /// one segment of memory, and so the clock of one host. The clocks of several hosts are not
    /// compared. Local. (`MPI_WTIME_IS_GLOBAL`)
    pub fn is_time_global(&self) -> bool {
        !self.core().reaches_other_hosts()
    }

    /// Returns the number of packets that the caller has sent to ranks on other hosts since its
    /// world began: one for each short message, several for a long one. Local.
    pub fn packets_to_other_hosts(&self) -> u64 {
        self.core().engine().endpoint().cells_to_other_hosts()
    }

    /// Returns the ranks on the caller's node, in rank order. Local; where a setting divides the
    /// nodes, takes time and memory proportional to their number only.
    pub(crate) fn mates(&self) -> Vec<usize> {
        let me = self.core().me();
        let near: Vec<usize> = match self.core().nodes() {
            Nodes::One => return (0..self.size()).collect(),
            &Nodes::Of(ranks) => {
                let first = me.index() - me.index() % ranks;
                (first..first + ranks.get()).collect()
            }
            nodes @ Nodes::Each(each) => {
                let own = nodes.of(me);
                (0..each.len()).filter(|&rank| each[rank] == own).collect()
            }
        };
        let near = near.into_iter().map(|index| Peer(index as u32));
        let mut mates: Vec<_> = near.filter_map(|peer| self.group().rank_of_peer(peer)).collect();
        mates.sort_unstable();
        mates
    }

    /// Returns the division of the ranks into nodes, for the planner. Local.
    pub(crate) fn division(&self) -> NodeMap {
        match self.core().nodes() {
            Nodes::One => NodeMap::ONE,
            _ => self.kept_division(|| self.division_of(self.group())).clone(),
        }
    }

    /// Returns the division of the ranks of a group into nodes.
    pub(crate) fn division_of(&self, group: &Group) -> NodeMap {
        match self.core().nodes() {
            Nodes::One => NodeMap::ONE,
            nodes => NodeMap::new(group.peers().map(|peer| nodes.of(peer))),
        }
    }

    /// Returns whether all ranks are on one node. Local.
    pub(crate) fn is_on_one_node(&self) -> bool {
        let nodes = self.core().nodes();
        let own = nodes.of(self.core().me());
        *nodes == Nodes::One || self.group().peers().all(|peer| nodes.of(peer) == own)
    }
}
