//! The mapping of ranks to nodes: it is a permutation, it keeps who must be kept, it is never worse
//! than none, and it is good where it can be.

use motet_plan::mapping::{Cut, Edge, Mapping, Objective, map};
use proptest::prelude::*;

/// A grid of so many columns, with an edge each way between neighbours; its vertices are numbered
/// by `name`.
fn grid(side: usize, name: impl Fn(usize) -> usize) -> Vec<Edge> {
    let at = |row: usize, column: usize| name(row * side + column);
    let mut edges = Vec::new();
    for row in 0..side {
        for column in 0..side {
            for (beside, below) in [(1, 0), (0, 1)] {
                if row + below < side && column + beside < side {
                    let (from, to) = (at(row, column), at(row + below, column + beside));
                    edges.push(Edge { from, to, weight: 1 });
                    edges.push(Edge { from: to, to: from, weight: 1 });
                }
            }
        }
    }
    edges
}

fn blocks(ranks: usize, of: usize) -> Vec<usize> {
    (0..ranks).map(|rank| rank / of).collect()
}

/// What crosses, counted anew.
fn counted(edges: &[Edge], nodes: &[usize], processes: &[usize]) -> Cut {
    let ends = |edge: &Edge| (nodes[processes[edge.from]], nodes[processes[edge.to]]);
    let crossing: Vec<&Edge> = edges.iter().filter(|edge| ends(edge).0 != ends(edge).1).collect();
    let of_node = |node: usize| -> u64 {
        let touches = |edge: &&&Edge| ends(edge).0 == node || ends(edge).1 == node;
        crossing.iter().filter(touches).map(|edge| edge.weight).sum()
    };
    Cut {
        edges: crossing.len(),
        total: crossing.iter().map(|edge| edge.weight).sum(),
        maximum: nodes.iter().map(|&node| of_node(node)).max().unwrap_or(0),
    }
}

fn key(cut: Cut, objective: Objective) -> (u64, u64) {
    match objective {
        Objective::Total => (cut.total, cut.maximum),
        Objective::Maximum => (cut.maximum, cut.total),
    }
}

/// On a grid of 4 by 4 on four nodes, 16 of the 48 edges cross at best: each node has a square.
#[test]
fn a_shuffled_grid_is_put_in_order() {
    for seed in 1..8 {
        // 5 and 16 have no common factor, so this is a permutation.
        let shuffled = grid(4, |place| (place * 5 + seed) % 16);
        for objective in [Objective::Total, Objective::Maximum] {
            let mapping = map(&shuffled, &blocks(16, 4), &[true; 16], objective);
            assert!(mapping.before.edges >= 36, "{:?}", mapping.before);
            assert_eq!(mapping.after, Cut { edges: 16, total: 16, maximum: 8 }, "{objective:?}");
        }
    }
    let mapping =
        map(&grid(8, |place| place * 27 % 64), &blocks(64, 16), &[true; 64], Objective::Total);
    assert!(mapping.after.edges <= 40, "{mapping:?}");
}

#[test]
fn with_one_node_or_nobody_to_move_all_keep_their_ranks() {
    let (edges, identity) = (grid(4, |place| place * 5 % 16), Vec::from_iter(0..16));
    let one = map(&edges, &[7; 16], &[true; 16], Objective::Total);
    assert_eq!((one.processes, one.after), (identity.clone(), Cut::default()));
    let fixed = map(&edges, &blocks(16, 4), &[false; 16], Objective::Total);
    assert_eq!((&fixed.processes, fixed.after), (&identity, fixed.before));
    let none = map(&[], &[], &[], Objective::Maximum);
    assert_eq!(none.processes, []);
}

/// Two heavy pairs and many light edges: by weight the pairs come together.
#[test]
fn weights_count() {
    let edge = |from, to, weight| Edge { from, to, weight };
    let edges = [edge(0, 2, 1000), edge(3, 1, u64::MAX), edge(0, 1, 1), edge(2, 3, 1)];
    let mapping = map(&edges, &[0, 0, 1, 1], &[true; 4], Objective::Total);
    assert_eq!(mapping.after.total, 2);
    // If rank 0 stays, rank 2 comes to it.
    let mapping = map(&edges, &[0, 0, 1, 1], &[false, true, true, true], Objective::Total);
    assert_eq!((mapping.after.total, mapping.processes[0]), (2, 0));
}

/// A thousand ranks are done with in a moment.
#[test]
fn large_graphs_take_little_time() {
    let begun = std::time::Instant::now();
    let edges = grid(32, |place| place * 389 % 1024);
    let mapping = map(&edges, &blocks(1024, 32), &[true; 1024], Objective::Total);
    assert!(mapping.after.total * 3 < mapping.before.total, "{:?}", mapping.after);
    assert!(begun.elapsed().as_secs() < 20);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// spec: 130
    #[test]
    fn it_is_lawful(
        (nodes, movable, edges) in (1..24_usize).prop_flat_map(|ranks| (
            prop::collection::vec(0..5_usize, ranks),
            prop::collection::vec(prop::bool::weighted(0.7), ranks),
            prop::collection::vec((0..ranks, 0..ranks, 0..9_u64), 0..60),
        )),
        objective in prop_oneof![Just(Objective::Total), Just(Objective::Maximum)],
    ) {
        let edge = |(from, to, weight)| Edge { from, to, weight };
        let edges: Vec<Edge> = edges.into_iter().map(edge).collect();
        let Mapping { processes, before, after } = map(&edges, &nodes, &movable, objective);
        let mut sorted = processes.clone();
        sorted.sort_unstable();
        let identity: Vec<usize> = (0..nodes.len()).collect();
        prop_assert_eq!(sorted, identity.clone());
        for rank in identity.iter().copied().filter(|&rank| !movable[rank]) {
            prop_assert_eq!(processes[rank], rank);
        }
        prop_assert_eq!(before, counted(&edges, &nodes, &identity));
        prop_assert_eq!(after, counted(&edges, &nodes, &processes));
        prop_assert!(key(after, objective) <= key(before, objective));
        let again = map(&edges, &nodes, &movable, objective);
        prop_assert_eq!(again.processes, processes);
    }
}
