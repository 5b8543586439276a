//! Trusts no search: looks at every edge whether the tree can be right.

use anyhow::{Result, anyhow};
use motet::{Communicator, Sum};

use crate::failure::alike;
use crate::graph::Graph;
use crate::search::{NOWHERE, Search};

/// What the tree of a search must be: every edge joins vertices that are both reached, on the same
/// level or on two that follow each other, or both not; every vertex but the root has a parent one
/// level before it, at the other end of an edge; the root has level 0 and is its own parent.
pub(crate) fn check(world: &Communicator, graph: &Graph, search: &Search) -> Result<usize> {
    let tree = &search.tree;
    let levels = with_ghosts(world, graph, &tree.levels)?;
    let mut sums = [0; 3];
    let [wrong, reached, edges] = &mut sums;
    for vertex in 0..graph.own.len() {
        let (level, ends) = (levels[vertex], graph.ends(vertex));
        if level != NOWHERE {
            *reached += 1;
            *edges += ends.len();
        }
        let joins = |&&end: &&u32| match (level, levels[end as usize]) {
            (NOWHERE, other) | (other, NOWHERE) => other == NOWHERE,
            (one, other) => one.abs_diff(other) <= 1,
        };
        *wrong += ends.len() - ends.iter().filter(joins).count();
        let parent = tree.parents[vertex];
        let from_parent = |&end: &u32| {
            graph.vertex(end) == parent && levels[end as usize].checked_add(1) == Some(level)
        };
        let right = match (graph.vertex(vertex as u32) == tree.root, level) {
            (true, level) => level == 0 && parent == tree.root,
            (false, NOWHERE) => parent == NOWHERE,
            (false, _) => ends.iter().any(from_parent),
        };
        *wrong += usize::from(!right);
    }
    world.allreduce_in_place(&mut sums, Sum)?;
    let [wrong, reached, edges] = sums;
    if wrong > 0 || reached != search.reached {
        return Err(alike(world, anyhow!("the tree of a search is wrong in {wrong} places")));
    }
    Ok(edges / 2)
}

/// The levels of the own vertices, and after them those of the ghosts.
fn with_ghosts(world: &Communicator, graph: &Graph, own: &[u32]) -> Result<Vec<u32>> {
    let pattern = &graph.pattern;
    let wanted: Vec<_> = pattern.wanted.iter().map(|&vertex| own[vertex as usize]).collect();
    let mut all = own.to_vec();
    all.resize(own.len() + graph.ghosts.len(), NOWHERE);
    world.exchangev(&wanted, &mut all[own.len()..], &pattern.to, &pattern.from)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::GraphExchange;
    use crate::partition::Partition;
    use crate::search::{Tree, search};

    /// Searches the path 0 - 1 - 2 - 3 - 4 - 5 with 6 - 7 beside it on three ranks, spoils what one
    /// of them has found, and says how many ranks accept that.
    fn accepting(spoil: impl Fn(usize, &mut Tree) + Sync) -> usize {
        let outcomes = motet::threads(3, |world| {
            let partition = Partition::new(8, 3).unwrap();
            let edges: Vec<_> = [0, 1, 2, 3, 4, 6].map(|vertex| [vertex, vertex + 1]).to_vec();
            let own = if world.rank() == 0 { &edges[..] } else { &[] };
            let graph = Graph::new(&world, partition, own).unwrap();
            let mut search = search(&world, &graph, 1, GraphExchange::Sparse).unwrap();
            assert_eq!(search.reached, 6);
            spoil(world.rank(), &mut search.tree);
            let checked = check(&world, &graph, &search);
            checked.is_ok_and(|edges| edges == 5)
        });
        outcomes.unwrap().into_iter().filter(|&accepted| accepted).count()
    }

    #[test]
    fn a_right_tree_is_accepted_and_a_wrong_one_nowhere() {
        assert_eq!(accepting(|_, _| ()), 3);
        // The ranks have the vertices 0 and 1, 2 to 4, and 5 to 7.
        let spoilers: [fn(&mut Tree); 5] = [
            |tree| tree.levels[0] = 7,
            |tree| tree.levels[1] = NOWHERE,
            |tree| tree.parents[1] = 0,
            |tree| tree.parents[0] = 3,
            |tree| tree.root = 2,
        ];
        for (number, spoil) in spoilers.into_iter().enumerate() {
            let on_one = |rank, tree: &mut Tree| {
                if rank == 1 {
                    spoil(tree)
                }
            };
            assert_eq!(accepting(on_one), 0, "{number}");
        }
        // A vertex that is reached although nothing leads there.
        let reach = |rank, tree: &mut Tree| {
            if rank == 2 {
                tree.levels[2] = 6;
                tree.parents[2] = 6;
            }
        };
        assert_eq!(accepting(reach), 0);
    }
}
