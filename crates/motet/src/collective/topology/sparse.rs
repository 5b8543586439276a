//! Sparse graphs: each rank knows its destinations, and no rank knows its sources. (The proposal of
//! 2008, `Graph_create`; it does not define the additional argument beside the group, which is the
//! load of each edge here.)

use super::mapping::Arranged;
use crate::base::error::{ErrorKind, Result};
use crate::base::group::{Group, GroupError};
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    Adjacent, EdgePairing, Graph, GraphCommunicator, Load, Neighbourhood, Reorder, Topological,
    Topology,
};

/// The end of an edge: a rank, and the load on the edge if given.
pub(super) type End = (usize, Option<Load>);

/// The edges of a rank, in the order of its neighbours.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    pub(super) to: Vec<End>,
    pub(super) from: Vec<End>,
}

/// Number of words in which the end of an edge is sent.
const END: usize = 4;

impl Edges {
    /// Encodes the edges as words.
    pub(super) fn pack(&self) -> Vec<u64> {
        let end = |&(rank, load): &End| {
            let Load { messages, bytes } = load.unwrap_or(Load { messages: 0, bytes: 0 });
            [rank as u64, u64::from(load.is_some()), messages, bytes]
        };
        let to = [self.to.len() as u64].into_iter();
        to.chain(self.to.iter().chain(&self.from).flat_map(end)).collect()
    }

    pub(super) fn unpack(packed: &[u64]) -> Edges {
        let Some((&to, ends)) = packed.split_first() else { return Edges::default() };
        let ends = ends.as_chunks::<END>().0.iter();
        let end = |&[rank, known, messages, bytes]: &[u64; END]| {
            (rank as usize, (known == 1).then_some(Load { messages, bytes }))
        };
        let mut to_and_from: Vec<End> = ends.map(end).collect();
        let from = to_and_from.split_off(to as usize);
        Edges { to: to_and_from, from }
    }

    fn graph(&self) -> Graph {
        let adjacent = |&(rank, load): &End| Adjacent {
            rank: Some(rank),
            weight: load.map(|load| u32::try_from(load.bytes).unwrap_or(u32::MAX)),
        };
        Graph::new(self.from.iter().map(adjacent), self.to.iter().map(adjacent))
    }

    fn neighbourhood(&self) -> Neighbourhood {
        let ranks = |ends: &[End]| ends.iter().map(|&(rank, _)| Some(rank)).collect();
        let (sources, destinations) = (ranks(&self.from), ranks(&self.to));
        Neighbourhood { sources, destinations, matching: EdgePairing::InOrder }
    }
}

impl Communicator {
    /// Makes a communicator with a graph, of which each rank passes its destinations, in the order
    /// of its blocks, and optionally their loads; the call finds its sources. The program may
    /// communicate along other edges later: these edges describe which ranks should be close.
    /// Collective. (The proposal of 2008, `Graph_create`)
    ///
    /// **Reordering.** A process that passes [`Reorder::Allowed`] may get another rank; one that
    /// passes [`Reorder::Never`] keeps its own. The graph is one of *ranks*: the process that gets
    /// rank `r` has the neighbours that the former process of rank `r` passed, as ranks of the new
    /// communicator. The mapping keeps the traffic between [nodes](Communicator::nodes) small; if
    /// all ranks are on one node, all keep theirs. [`GraphCommunicator::mapping`] returns the
    /// result. The hints of rank 0 define the traffic to minimize, in any combination:
    ///
    /// * [`LATENCY`](crate::hint::LATENCY): messages; [`BANDWIDTH`](crate::hint::BANDWIDTH): bytes;
    ///   both or neither: both, where a message counts as 4 KiB. An edge without a load counts as
    ///   one message and one byte.
    /// * [`MAXCUT`](crate::hint::MAXCUT): the node with the most traffic;
    ///   [`TOTALCUT`](crate::hint::TOTALCUT), both or neither: the sum.
    ///
    /// **Cost.** Ranks find their sources by a [sparse exchange](Communicator::sparse_exchange):
    /// one message for each edge, and memory for a rank's own edges. Only if there are several
    /// nodes, and some rank allows reordering, rank 0 gathers all edges, and each rank receives the
    /// rank of each process.
    ///
    /// ```
    /// use motet::{Info, Reorder};
    ///
    /// motet::threads(4, |world| {
    ///     // All but rank 3 send to the rank behind them.
    ///     let behind = Vec::from_iter((world.rank() < 3).then(|| world.rank() + 1));
    ///     let outgroup = world.group().include(&behind)?;
    ///     let chain = world.sparse_graph(&outgroup, None, Reorder::Allowed, &Info::new())?;
    ///     let (to, from) = chain.neighbor_groups();
    ///     assert_eq!((to.size(), from.size()), (behind.len(), usize::from(chain.rank() > 0)));
    ///     assert_eq!(chain.explain(), "identity: one node");
    ///
    ///     let mut before = vec![0; from.size()];
    ///     chain.neighbor_allgather(&[chain.rank()], &mut before)?;
    ///     Ok::<(), motet::Error>(())
    /// })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// The group has a member that is not in the communicator, or there is not one load for each
    /// member (error at the rank that passed them; the others get their communicator, in which that
    /// rank has no edges); or a rank has died or left.
    #[track_caller]
    pub fn sparse_graph(
        &self,
        outgroup: &Group,
        loads: Option<&[Load]>,
        reorder: Reorder,
        info: &Info,
    ) -> Result<GraphCommunicator> {
        const CALL: &str = "sparse_graph";
        let named = self.ends(outgroup, loads);
        // Also if that is wrong here: the others must not wait for this rank.
        let to = named.as_ref().map(Vec::as_slice).unwrap_or_default().to_vec();
        let from = self.transposed(CALL, &to)?;
        let arranged = self.arrange(CALL, Edges { to, from }, reorder, info)?;
        named.map_err(|kind| self.error(CALL, kind))?;
        let Arranged { communicator, edges, mapping } = arranged;
        let (graph, near) = (edges.graph(), edges.neighbourhood());
        Ok(Topological::mapped(communicator, graph, near, Some(mapping)))
    }

    /// Returns the edges that the caller passes.
    fn ends(&self, outgroup: &Group, loads: Option<&[Load]>) -> Result<Vec<End>, ErrorKind> {
        let size = outgroup.size();
        if let Some(loads) = loads.filter(|loads| loads.len() != size) {
            let (which, len) = ("list of loads", loads.len());
            return Err(ErrorKind::Length { which, len, needed: format!("the group has {size}") });
        }
        let end = |place: usize| {
            let rank = outgroup.translate(place, self.group());
            let outsider = || GroupError::Outsider { rank: outgroup.peer(place).index() };
            Ok((rank.ok_or_else(outsider)?, loads.map(|loads| loads[place])))
        };
        (0..size).map(end).collect()
    }

    /// Finds the edges that end at this rank, in the order of the ranks that passed them.
    #[track_caller]
    fn transposed(&self, call: &'static str, to: &[End]) -> Result<Vec<End>> {
        let load = |load: Option<Load>| load.map(|load| [load.messages, load.bytes]);
        let loads: Vec<Option<[u64; 2]>> = to.iter().map(|(_, each)| load(*each)).collect();
        let message = |(at, &(rank, _)): (usize, &End)| (rank, loads[at].as_slice().as_flattened());
        let came = self.sparse_exchange_as::<u64>(call, to.iter().enumerate().map(message))?;
        let end = |(rank, words): (usize, Vec<u64>)| {
            let load = words.as_chunks().0.first();
            (rank, load.map(|&[messages, bytes]| Load { messages, bytes }))
        };
        Ok(came.into_iter().map(end).collect())
    }

    /// Does the same as [`GraphCommunicator::neighbor_groups`], for a communicator whose type does
    /// not show that it has a graph. Local. (The proposal of 2008, `Graph_neighbor_groups`)
    ///
    /// # Errors
    /// The communicator has no graph.
    pub fn graph_neighbor_groups(&self) -> Result<(Group, Group)> {
        let Some(Topology::Graph(_) | Topology::Indexed(_)) = self.topology() else {
            let kind = self.missing("a graph").into();
            return Err(self.error("graph_neighbor_groups", kind));
        };
        Ok(self.near_groups())
    }

    /// Returns the groups of the destinations and of the sources.
    fn near_groups(&self) -> (Group, Group) {
        let near = self.near().expect("only asked where there is a topology");
        let group = |ranks: &[Option<usize>]| {
            let mut named = Vec::new();
            let mut known = std::collections::HashSet::new();
            named.extend(ranks.iter().flatten().filter(|&&rank| known.insert(rank)));
            self.group_of(&named)
        };
        (group(near.destinations()), group(near.sources()))
    }
}

impl GraphCommunicator {
    /// Returns the group of the caller's destinations and that of its sources: the neighbours in
    /// the graph, each once, in the order of the graph. Local. (The proposal of 2008,
    /// `Graph_neighbor_groups`)
    pub fn neighbor_groups(&self) -> (Group, Group) {
        self.near_groups()
    }
}
