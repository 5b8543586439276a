//! The graph, each rank with its vertices and all edges from them.

use std::ops::Range;

use anyhow::Result;
use motet::{Communicator, Neighbour, Sum};

use crate::partition::Partition;

/// One rank's part of a graph.
pub(crate) struct Graph {
    pub(crate) partition: Partition,
    /// The vertices of this rank.
    pub(crate) own: Range<usize>,
    /// The edges from own vertex `i` are numbers `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
    /// Where they lead: to an own vertex, numbered from 0, or after those to a ghost. Ascending.
    ends: Vec<u32>,
    /// The vertices of other ranks that edges lead to, ascending: those of one rank lie together.
    pub(crate) ghosts: Vec<u32>,
    pub(crate) pattern: Pattern,
    /// Edges of the whole graph.
    pub(crate) edges: usize,
}

/// Who must be told about which vertices.
pub(crate) struct Pattern {
    /// The own vertices that others have as ghosts, numbered from 0, receiver by receiver.
    pub(crate) wanted: Vec<u32>,
    /// Who gets which block of them.
    pub(crate) to: Vec<Neighbour>,
    /// Who sends which block of the ghosts.
    pub(crate) from: Vec<Neighbour>,
}

impl Graph {
    /// Brings edges that lie anywhere to the ranks of their vertices, and finds the neighbours.
    ///
    /// Nobody knows beforehand who has something for whom: both are sparse dynamic exchanges.
    pub(crate) fn new(
        world: &Communicator,
        partition: Partition,
        edges: &[[u32; 2]],
    ) -> Result<Self> {
        let own = partition.of(world.rank());
        let here = bring_home(world, partition, edges)?;
        let (starts, targets) = rows(&own, here);
        let foreign = |&&vertex: &&u32| !own.contains(&(vertex as usize));
        let mut ghosts: Vec<_> = targets.iter().filter(foreign).copied().collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        let pattern = Pattern::find(world, partition, &ghosts)?;
        let local = |&vertex: &u32| match own.contains(&(vertex as usize)) {
            true => vertex - own.start as u32,
            false => (own.len() + ghosts.partition_point(|&ghost| ghost < vertex)) as u32,
        };
        let mut ends: Vec<_> = targets.iter().map(local).collect();
        starts.windows(2).for_each(|row| ends[row[0]..row[1]].sort_unstable());
        let edges = world.allreduce_one(ends.len(), Sum)? / 2;
        Ok(Self { partition, own, starts, ends, ghosts, pattern, edges })
    }

    /// Where the edges of an own vertex lead.
    pub(crate) fn ends(&self, vertex: usize) -> &[u32] {
        &self.ends[self.starts[vertex]..self.starts[vertex + 1]]
    }

    /// The vertex that an end is.
    pub(crate) fn vertex(&self, end: u32) -> u32 {
        match (end as usize).checked_sub(self.own.len()) {
            Some(ghost) => self.ghosts[ghost],
            None => self.own.start as u32 + end,
        }
    }
}

/// Sends each edge to the ranks of both its vertices, from which it then leads away.
fn bring_home(
    world: &Communicator,
    partition: Partition,
    edges: &[[u32; 2]],
) -> Result<Vec<[u32; 2]>> {
    let mut outgoing = vec![Vec::new(); world.size()];
    for &[from, to] in edges.iter().filter(|[from, to]| from != to) {
        outgoing[partition.owner(from)].push([from, to]);
        outgoing[partition.owner(to)].push([to, from]);
    }
    let messages = outgoing.iter().enumerate().filter(|(_, edges)| !edges.is_empty());
    let came = world.sparse_exchange(messages.map(|(rank, edges)| (rank, &edges[..])))?;
    Ok(came.into_iter().flat_map(|(_, edges)| edges).collect())
}

/// The edges by the vertex that they leave, each once: where those of each begin, and where they
/// lead.
fn rows(own: &Range<usize>, mut edges: Vec<[u32; 2]>) -> (Vec<usize>, Vec<u32>) {
    edges.sort_unstable();
    edges.dedup();
    let begin = |vertex| edges.partition_point(|edge| (edge[0] as usize) < vertex);
    let starts = (own.start..=own.end).map(begin).collect();
    (starts, edges.into_iter().map(|[_, to]| to).collect())
}

impl Pattern {
    /// Asks the owners of the ghosts to send them. They learn so who needs what of them.
    fn find(world: &Communicator, partition: Partition, ghosts: &[u32]) -> Result<Self> {
        let (mut from, mut start) = (Vec::new(), 0);
        for block in ghosts.chunk_by(|&one, &next| partition.owner(one) == partition.owner(next)) {
            let (rank, count) = (partition.owner(block[0]), block.len());
            from.push(Neighbour { rank, start, count });
            start += count;
        }
        let asked = |owner: &Neighbour| (owner.rank, &ghosts[owner.start..][..owner.count]);
        let came = world.sparse_exchange(from.iter().map(asked))?;
        let (mut to, mut wanted) = (Vec::new(), Vec::new());
        let first = partition.of(world.rank()).start as u32;
        for (rank, vertices) in came {
            to.push(Neighbour { rank, start: wanted.len(), count: vertices.len() });
            wanted.extend(vertices.into_iter().map(|vertex| vertex - first));
        }
        Ok(Self { wanted, to, from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_sorted_by_the_vertex_they_leave() {
        let edges = vec![[12, 3], [10, 5], [12, 1], [10, 5]];
        assert_eq!(rows(&(10..13), edges), (vec![0, 1, 1, 3], vec![5, 1, 3]));
    }

    #[test]
    fn ranks_learn_who_needs_their_vertices() {
        // The path 0 - 1 - 2 - 3 - 4 - 5 on three ranks.
        let graphs = motet::threads(3, |world| {
            let partition = Partition::new(6, 3).unwrap();
            let edges: Vec<_> = (0..5).map(|vertex| [vertex, vertex + 1]).collect();
            let own = if world.rank() == 2 { &edges[..] } else { &[] };
            let graph = Graph::new(&world, partition, own).unwrap();
            let ranks = |list: &[Neighbour]| list.iter().map(|it| it.rank).collect::<Vec<_>>();
            let Pattern { wanted, to, from } = &graph.pattern;
            assert_eq!((graph.edges, graph.ends(0).len()), (5, usize::from(world.rank() > 0) + 1));
            (graph.ghosts.clone(), wanted.clone(), ranks(to), ranks(from))
        });
        let expected = [
            (vec![2], vec![1], vec![1], vec![1]),
            (vec![1, 4], vec![0, 1], vec![0, 2], vec![0, 2]),
            (vec![3], vec![0], vec![1], vec![1]),
        ];
        assert_eq!(graphs.unwrap(), expected);
    }
}
