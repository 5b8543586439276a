//! Search in breadth: from a vertex to those next to it, to those next to these, and so on.

use std::time::Instant;

use anyhow::Result;
use motet::Communicator;

use crate::frontier::{Cost, Found, Frontier};
use crate::graph::Graph;
use crate::options::GraphExchange;

/// The level, and the parent, of a vertex that is not reached.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What a search has found of the vertices of this rank.
pub(crate) struct Tree {
    pub(crate) root: u32,
    /// How many edges away from the root each vertex is.
    pub(crate) levels: Vec<u32>,
    /// From where it was reached.
    pub(crate) parents: Vec<u32>,
}

/// A search and what it took.
pub(crate) struct Search {
    pub(crate) tree: Tree,
    /// Rounds of exchange: one for each level.
    pub(crate) rounds: u64,
    pub(crate) seconds: f64,
    pub(crate) cost: Cost,
    /// Vertices that were reached, on all ranks.
    pub(crate) reached: usize,
}

impl Tree {
    fn new(graph: &Graph, root: u32) -> Self {
        let nowhere = vec![NOWHERE; graph.own.len()];
        Self { root, levels: nowhere.clone(), parents: nowhere }
    }

    /// Reaches an own vertex, numbered from 0, unless it is reached already.
    fn reach(&mut self, vertex: u32, parent: u32, level: u32) -> bool {
        let fresh = self.levels[vertex as usize] == NOWHERE;
        if fresh {
            self.levels[vertex as usize] = level;
            self.parents[vertex as usize] = parent;
        }
        fresh
    }
}

/// Searches from a vertex. Collective.
pub(crate) fn search(
    world: &Communicator,
    graph: &Graph,
    root: u32,
    exchange: GraphExchange,
) -> Result<Search> {
    let mut frontier = Frontier::new(world, exchange);
    let mut tree = Tree::new(graph, root);
    // A ghost is reported to its rank once: that rank knows already whatever is found later.
    let mut told = vec![false; graph.ghosts.len()];
    world.barrier()?;
    let begin = Instant::now();
    let mut last = Vec::new();
    if graph.own.contains(&(root as usize)) {
        let vertex = root - graph.own.start as u32;
        tree.reach(vertex, root, 0);
        last.push(vertex);
    }
    let (mut level, mut reached) = (0, 1);
    loop {
        level += 1;
        let mut next = expand(graph, &mut tree, &last, level, (&mut told, &mut frontier.outgoing));
        for [vertex, parent] in frontier.exchange()?.into_iter().flatten() {
            let vertex = vertex - graph.own.start as u32;
            if tree.reach(vertex, parent, level) {
                next.push(vertex);
            }
        }
        let found = frontier.sum(next.len())?;
        if found == 0 {
            break;
        }
        reached += found;
        last = next;
    }
    let (seconds, cost) = (begin.elapsed().as_secs_f64(), frontier.cost);
    Ok(Search { tree, rounds: u64::from(level), seconds, cost, reached })
}

/// Goes along all edges of the vertices that were reached last. Returns the own ones that are new;
/// the others go to their ranks.
fn expand(
    graph: &Graph,
    tree: &mut Tree,
    last: &[u32],
    level: u32,
    (told, outgoing): (&mut [bool], &mut [Vec<Found>]),
) -> Vec<u32> {
    let (own, mut next) = (graph.own.len() as u32, Vec::new());
    for &vertex in last {
        let parent = graph.vertex(vertex);
        for &end in graph.ends(vertex as usize) {
            match end.checked_sub(own) {
                None if tree.reach(end, parent, level) => next.push(end),
                Some(ghost) if !told[ghost as usize] => {
                    told[ghost as usize] = true;
                    let found = graph.ghosts[ghost as usize];
                    outgoing[graph.partition.owner(found)].push([found, parent]);
                }
                _ => {}
            }
        }
    }
    next
}
