//! Rank reordering: maps the ranks of a communication graph to processes so that little traffic
//! crosses between nodes.
//!
//! The weights of the graph say how much its ranks send to each other. Process `i` starts with rank
//! `i`. The processes that may be reordered exchange their ranks, so that ranks with much traffic
//! between them come to one node. The measure is the *cut* of a node: the weight of the edges with
//! exactly one end on the node.
//!
//! The search has three initial mappings: the given one, and two that fill node after node, each
//! time with the rank that has the heaviest edges to the node so far (region growing). It improves
//! each by swaps of two ranks as long as one helps (it tries all partners on nodes where the rank
//! has neighbours). In a small graph it also tries sequences of swaps whose first ones may increase
//! the cut (Kernighan and Lin, *An efficient heuristic procedure for partitioning graphs*, 1970).
//! The best mapping wins, so the result is never worse than the given one; it need not be optimal.
//! Equal arguments give equal results.
//!
//! Cost: for `p` ranks with `d` neighbours each on nodes of `c`, a sweep takes time in `p·d²·c`.

mod search;

use std::collections::HashMap;

use search::Search;

/// An edge of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The rank that sends.
    pub from: usize,
    /// The rank that receives.
    pub to: usize,
    /// How much it weighs; more than 2³² counts as that.
    pub weight: u64,
}

/// What is to become small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// The weight of all edges between nodes; then the largest cut of a node.
    #[default]
    Total,
    /// The largest cut of a node; then the weight of all edges between nodes.
    Maximum,
}

/// What crosses between nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cut {
    /// Edges between two nodes.
    pub edges: usize,
    /// Their weight.
    pub total: u64,
    /// The weight of those of the node that has most, in both directions.
    pub maximum: u64,
}

/// Which process has which rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// For each rank, the process that has it: the one that came with this rank.
    pub processes: Vec<usize>,
    /// What would cross between nodes if all kept their ranks.
    pub before: Cut,
    /// What crosses now.
    pub after: Cut,
}

/// The heaviest edge that is told from lighter ones: sums of such weights cannot overflow.
const HEAVIEST: u64 = 1 << 32;

/// Gives ranks to processes; `nodes` has the node of each process, and `movable` says which may
/// get another rank than they came with. Edges of a rank with itself do not matter.
///
/// # Panics
/// If the two lists have different lengths, or an edge has an end that is not in them.
pub fn map(edges: &[Edge], nodes: &[usize], movable: &[bool], objective: Objective) -> Mapping {
    assert_eq!(nodes.len(), movable.len(), "a node and a wish for each process");
    let edges: Vec<Edge> = edges
        .iter()
        .map(|edge| Edge { weight: edge.weight.min(HEAVIEST), ..*edge })
        .filter(|edge| edge.from != edge.to)
        .collect();
    let nodes = numbered(nodes);
    let identity: Vec<usize> = (0..nodes.len()).collect();
    let before = cut(&edges, &nodes, &identity);
    let best = Search::new(&edges, &nodes, movable, objective).best();
    let processes = processes(&best, &nodes, movable);
    let after = cut(&edges, &nodes, &processes);
    Mapping { processes, before, after }
}

/// The same nodes, numbered from 0 in the order in which they occur.
fn numbered(nodes: &[usize]) -> Vec<usize> {
    let mut known = HashMap::new();
    nodes
        .iter()
        .map(|&node| {
            let next = known.len();
            *known.entry(node).or_insert(next)
        })
        .collect()
}

/// What crosses between nodes if each rank is at this process.
fn cut(edges: &[Edge], nodes: &[usize], processes: &[usize]) -> Cut {
    let mut of_node = vec![0; nodes.iter().max().map_or(0, |last| last + 1)];
    let mut cut = Cut::default();
    for &Edge { from, to, weight } in edges {
        let (from, to) = (nodes[processes[from]], nodes[processes[to]]);
        if from != to {
            cut.edges += 1;
            cut.total += weight;
            of_node[from] += weight;
            of_node[to] += weight;
        }
    }
    cut.maximum = of_node.into_iter().max().unwrap_or(0);
    cut
}

/// A process for each rank, on the node that it is to be on: its own one if that is there.
fn processes(homes: &[usize], nodes: &[usize], movable: &[bool]) -> Vec<usize> {
    let count = nodes.iter().max().map_or(0, |last| last + 1);
    let stays = |rank: usize| !movable[rank] || homes[rank] == nodes[rank];
    let mut free = vec![Vec::new(); count];
    // From the last to the first, since they are taken from the end.
    for process in (0..nodes.len()).rev().filter(|&process| !stays(process)) {
        free[nodes[process]].push(process);
    }
    let at = |rank| match stays(rank) {
        true => rank,
        false => free[homes[rank]].pop().expect("as many come to a node as leave it"),
    };
    (0..nodes.len()).map(at).collect()
}
