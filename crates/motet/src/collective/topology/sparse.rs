//! Graphs of which each rank knows whom it sends to, and nobody who sends to it. (The proposal of
//! 2008, `Graph_create`; it leaves open what is passed beside the group: here it is how much.)

use super::mapping::Arranged;
use crate::base::error::{ErrorKind, Result};
use crate::base::group::{Group, GroupError};
use crate::base::info::Info;
use crate::comm::communicator::Communicator;
use crate::comm::topology::{
    Adjacent, EdgePairing, Graph, GraphCommunicator, Load, Neighbourhood, Reorder, Topological,
    Topology,
};

/// The end of an edge: a rank, and how much is sent, if that was said.
pub(super) type End = (usize, Option<Load>);

/// The edges of a rank, in the order of its neighbours.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    pub(super) to: Vec<End>,
    pub(super) from: Vec<End>,
}

/// The numbers that the end of an edge travels as.
const END: usize = 4;

impl Edges {
    /// As numbers.
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
    /// A communicator with a graph, of which each rank names those that it sends to, in the order
    /// of its blocks, and perhaps how much; who sends to it, it learns here. The edges may be
    /// other ones than those that are used later: they say what is near. Collective. (The proposal
    /// of 2008, `Graph_create`)
    ///
    /// **Reordering.** A process that passes [`Reorder::Allowed`] may come out with another rank;
    /// one that passes [`Reorder::Never`] keeps its own. The graph is one of *ranks*: the process
    /// that gets rank `r` has the neighbours that were named by the process that came with `r`,
    /// counted in the new communicator. Ranks are given to processes so that little is sent between
    /// [nodes](Communicator::nodes); where all are on one node all keep theirs. What came of it is
    /// told by [`GraphCommunicator::mapping`]. Hints say what "little" means, in any combination,
    /// and nothing else; rank 0's count:
    ///
    /// * [`LATENCY`](crate::LATENCY): messages; [`BANDWIDTH`](crate::BANDWIDTH): bytes; both or
    ///   neither: both, a message as much as 4 KiB. An edge without a load has one of each.
    /// * [`MAXCUT`](crate::MAXCUT): at the node that has most; [`TOTALCUT`](crate::TOTALCUT), both
    ///   or neither: in sum.
    ///
    /// **Cost.** Ranks learn who sends to them by a
    /// [sparse exchange](Communicator::sparse_exchange): a message for each edge, and memory for a
    /// rank's own edges. Only if there are several nodes, and some rank allows reordering, all
    /// edges are gathered at rank 0, and each rank learns the rank of each.
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
    /// A group with a member that is not in the communicator, or loads that are not one for each
    /// member, at the rank that passes them: the others get their communicator, in which that rank
    /// has no edges; that a rank has died or left.
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

    /// The edges that the caller names.
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

    /// The edges whose other ends are named here, in the order of the ranks that name them.
    #[track_caller]
    fn transposed(&self, call: &'static str, to: &[End]) -> Result<Vec<End>> {
        let load = |load: Option<Load>| load.map(|load| [load.messages, load.bytes]);
        let loads: Vec<Option<[u64; 2]>> = to.iter().map(|(_, each)| load(*each)).collect();
        let told = |(at, &(rank, _)): (usize, &End)| (rank, loads[at].as_slice().as_flattened());
        let came = self.sparse_exchange_as::<u64>(call, to.iter().enumerate().map(told))?;
        let end = |(rank, told): (usize, Vec<u64>)| {
            let load = told.as_chunks().0.first();
            (rank, load.map(|&[messages, bytes]| Load { messages, bytes }))
        };
        Ok(came.into_iter().map(end).collect())
    }

    /// As [`GraphCommunicator::neighbor_groups`], of a communicator whose type does not tell that
    /// it has a graph. Local. (The proposal of 2008, `Graph_neighbor_groups`)
    ///
    /// # Errors
    /// That it has none.
    pub fn graph_neighbor_groups(&self) -> Result<(Group, Group)> {
        let Some(Topology::Graph(_) | Topology::Indexed(_)) = self.topology() else {
            let kind = self.missing("a graph").into();
            return Err(self.error("graph_neighbor_groups", kind));
        };
        Ok(self.near_groups())
    }

    /// The groups of the destinations and of the sources.
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
    /// The groups of those that the caller sends to, and of those that send to it: the same sets
    /// as in the graph, each neighbour once, in the order of the graph. Local. (The proposal of
    /// 2008, `Graph_neighbor_groups`)
    pub fn neighbor_groups(&self) -> (Group, Group) {
        self.near_groups()
    }
}
