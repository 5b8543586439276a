//! The search for a mapping: region growing, swaps, and Kernighan-Lin sequences.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Edge, Objective};
use crate::order::set_of;

/// Times that all ranks are asked for a swap that helps.
const SWEEPS: usize = 32;
/// Ranks of a graph for which sequences of swaps are tried, and how many sequences.
const SEQUENCES_MAX_RANKS: usize = 256;
const SEQUENCES: usize = 8;
/// A sequence ends after this number of swaps without an improvement.
const FRUITLESS_SWAPS_MAX: usize = 24;

/// How good a state is: less is better.
type Price = (u64, u64);

/// The graph, and what may be done with it.
pub(super) struct Search<'a> {
    /// For each rank its neighbours in ascending order, and the weight both ways.
    adjacent: Vec<Vec<(usize, u64)>>,
    /// The sum of these weights.
    degrees: Vec<u64>,
    nodes: &'a [usize],
    movable: &'a [bool],
    objective: Objective,
}

/// A node for each rank.
#[derive(Clone)]
struct State {
    homes: Vec<usize>,
    /// For each node, the ranks there that may leave it.
    members: Vec<Vec<usize>>,
    /// For each node, the weight of edges of which one end is there.
    cuts: Vec<u64>,
}

/// How a rank is tied to two nodes and to another rank.
#[derive(Clone, Copy, Default)]
struct Ties {
    own: u64,
    other: u64,
    each_other: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        edges: &[Edge],
        nodes: &'a [usize],
        movable: &'a [bool],
        objective: Objective,
    ) -> Search<'a> {
        let mut adjacent: Vec<Vec<(usize, u64)>> = vec![Vec::new(); nodes.len()];
        for &Edge { from, to, weight } in edges {
            adjacent[from].push((to, weight));
            adjacent[to].push((from, weight));
        }
        for list in &mut adjacent {
            list.sort_unstable();
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
        }
        let degrees = adjacent.iter().map(|list| list.iter().map(|(_, weight)| weight).sum());
        let degrees = degrees.collect();
        Search { adjacent, degrees, nodes, movable, objective }
    }

    /// The best node for each rank that was found.
    pub(super) fn best(&self) -> Vec<usize> {
        let starts = [
            self.nodes.to_vec(),
            self.grown(|tie, _| tie),
            self.grown(|tie, degree| 2 * tie - degree),
        ];
        let refined = starts.into_iter().map(|homes| self.refined(homes));
        // Of equal ones the first: that from the order that is there.
        let best = refined.min_by_key(|state| self.price(state));
        best.map(|state| state.homes).unwrap_or_default()
    }

    /// Fills node after node, each time with the rank that is worth most there: by how it is tied
    /// to the node, and to all.
    fn grown(&self, worth: impl Fn(i128, i128) -> i128) -> Vec<usize> {
        let mut homes: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let fixed = (0..self.nodes.len()).filter(|&rank| !self.movable[rank]);
        fixed.for_each(|rank| homes[rank] = Some(self.nodes[rank]));
        let worth_of = |rank: usize, node: usize, homes: &[Option<usize>]| {
            let near = self.adjacent[rank].iter().filter(|(other, _)| homes[*other] == Some(node));
            let tie: u64 = near.map(|(_, weight)| weight).sum();
            worth(i128::from(tie), i128::from(self.degrees[rank]))
        };
        for node in 0..self.count() {
            let room = self.nodes.iter().zip(self.movable);
            let room = room.filter(|&(&home, &movable)| movable && home == node).count();
            let free = (0..homes.len()).filter(|&rank| homes[rank].is_none());
            let mut queue: BinaryHeap<_> =
                free.map(|rank| (worth_of(rank, node, &homes), Reverse(rank))).collect();
            let mut taken = 0;
            while taken < room {
                let (expected, Reverse(rank)) = queue.pop().expect("a rank for each place");
                if homes[rank].is_some() {
                    continue;
                }
                let is = worth_of(rank, node, &homes);
                if is != expected {
                    queue.push((is, Reverse(rank)));
                    continue;
                }
                homes[rank] = Some(node);
                taken += 1;
                // Who is worth more now must come up earlier.
                for &(other, _) in self.adjacent[rank].iter().filter(|(at, _)| homes[*at].is_none())
                {
                    queue.push((worth_of(other, node, &homes), Reverse(other)));
                }
            }
        }
        homes.into_iter().map(|home| home.expect("every rank has a place")).collect()
    }

    /// Swaps ranks as long as that helps.
    fn refined(&self, homes: Vec<usize>) -> State {
        let mut state = self.state(homes);
        self.descend(&mut state);
        for _ in 0..SEQUENCES {
            if self.nodes.len() > SEQUENCES_MAX_RANKS || !self.try_sequence(&mut state) {
                break;
            }
            self.descend(&mut state);
        }
        state
    }

    /// Swaps each rank with the best partner if that helps, until none does.
    fn descend(&self, state: &mut State) {
        for _ in 0..SWEEPS {
            let mut moved = false;
            for rank in (0..self.nodes.len()).filter(|&rank| self.movable[rank]) {
                let price = self.price(state);
                let best = self.partners(state, rank);
                let best = best.map(|other| (self.price_after(state, rank, other), other)).min();
                if let Some((after, other)) = best.filter(|&(after, _)| after < price) {
                    self.swap(state, rank, other);
                    debug_assert_eq!(self.price(state), after);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// Makes the best swap of ranks that have not been swapped yet, again and again, also for the
    /// worse; then goes back to where it was best. Says whether that is better than before.
    fn try_sequence(&self, state: &mut State) -> bool {
        let before = self.price(state);
        let (mut best, mut best_state, mut since) = (before, None, 0);
        let mut current = state.clone();
        let mut locked = vec![false; self.nodes.len()];
        while since < FRUITLESS_SWAPS_MAX {
            let ranks = (0..self.nodes.len()).filter(|&rank| self.movable[rank] && !locked[rank]);
            let swaps = ranks.flat_map(|rank| {
                let partners = self.partners(&current, rank).filter(|&other| !locked[other]);
                partners.map(move |other| (rank, other)).collect::<Vec<_>>()
            });
            let priced =
                swaps.map(|(rank, other)| (self.price_after(&current, rank, other), rank, other));
            let Some((price, rank, other)) = priced.min() else { break };
            self.swap(&mut current, rank, other);
            (locked[rank], locked[other]) = (true, true);
            since += 1;
            if price < best {
                (best, best_state, since) = (price, Some(current.clone()), 0);
            }
        }
        if let Some(better) = best_state {
            *state = better;
        }
        best < before
    }

    /// Ranks on nodes where a rank has neighbours, with which it may be swapped.
    fn partners<'s>(&self, state: &'s State, rank: usize) -> impl Iterator<Item = usize> + 's {
        let own = state.homes[rank];
        let near = self.adjacent[rank].iter().map(|&(other, _)| state.homes[other]);
        let near = set_of(near.filter(|&node| node != own));
        near.into_iter().flat_map(|node| state.members[node].iter().copied())
    }

    fn count(&self) -> usize {
        self.nodes.iter().max().map_or(0, |last| last + 1)
    }

    fn state(&self, homes: Vec<usize>) -> State {
        let mut members = vec![Vec::new(); self.count()];
        let mut cuts = vec![0; self.count()];
        for (rank, &home) in homes.iter().enumerate() {
            if self.movable[rank] {
                members[home].push(rank);
            }
            let away = self.adjacent[rank].iter().filter(|(other, _)| homes[*other] != home);
            cuts[home] += away.map(|(_, weight)| weight).sum::<u64>();
        }
        State { homes, members, cuts }
    }

    fn price(&self, state: &State) -> Price {
        let sum = state.cuts.iter().sum::<u64>();
        let largest = state.cuts.iter().copied().max().unwrap_or(0);
        self.priced(sum, largest)
    }

    /// Each edge between two nodes is in the cuts of both.
    fn priced(&self, sum: u64, largest: u64) -> Price {
        match self.objective {
            Objective::Total => (sum / 2, largest),
            Objective::Maximum => (largest, sum / 2),
        }
    }

    /// The price when two ranks have been swapped.
    fn price_after(&self, state: &State, rank: usize, other: usize) -> Price {
        let (here, there) = (state.homes[rank], state.homes[other]);
        let [at_here, at_there] = self.cuts_after(state, rank, other);
        let (mut sum, mut largest) = (at_here + at_there, at_here.max(at_there));
        for (node, &cut) in state.cuts.iter().enumerate() {
            if node != here && node != there {
                sum += cut;
                largest = largest.max(cut);
            }
        }
        self.priced(sum, largest)
    }

    /// The cuts of their two nodes when two ranks have been swapped. What a node is cut off from
    /// loses, with a rank that leaves, that one's edges to elsewhere, and gains those to the node.
    fn cuts_after(&self, state: &State, rank: usize, other: usize) -> [u64; 2] {
        let (here, there) = (state.homes[rank], state.homes[other]);
        let one = self.ties(state, rank, there, other);
        let two = self.ties(state, other, here, rank);
        let (degree, other_degree) = (self.degrees[rank], self.degrees[other]);
        let each_other = 2 * one.each_other;
        [
            state.cuts[here] + 2 * one.own + other_degree + each_other - degree - 2 * two.other,
            state.cuts[there] + 2 * two.own + degree + each_other - other_degree - 2 * one.other,
        ]
    }

    fn ties(&self, state: &State, rank: usize, there: usize, other: usize) -> Ties {
        let own = state.homes[rank];
        let mut ties = Ties::default();
        for &(neighbour, weight) in &self.adjacent[rank] {
            let home = state.homes[neighbour];
            if home == own {
                ties.own += weight;
            } else if home == there {
                ties.other += weight;
            }
            if neighbour == other {
                ties.each_other += weight;
            }
        }
        ties
    }

    fn swap(&self, state: &mut State, rank: usize, other: usize) {
        let [at_here, at_there] = self.cuts_after(state, rank, other);
        let (here, there) = (state.homes[rank], state.homes[other]);
        (state.cuts[here], state.cuts[there]) = (at_here, at_there);
        for (node, leaves, comes) in [(here, rank, other), (there, other, rank)] {
            let member = state.members[node].iter_mut().find(|member| **member == leaves);
            *member.expect("swapped ranks may leave their nodes") = comes;
        }
        (state.homes[rank], state.homes[other]) = (there, here);
    }
}
