//! Calls of all ranks, for tests.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::sync::Arc;

use motet_plan::verify::{Mode, Options, Violation};
use motet_plan::{Algorithm, Block, Call, Neighbour, Operation, Plan, Rank, verify};

/// The calls of all ranks, the operation of each given by `operation`.
pub(crate) fn calls(
    ranks: u32,
    in_place: bool,
    operation: impl Fn(Rank) -> Operation,
) -> Vec<Call> {
    let call = |rank| {
        let operation = operation(rank);
        let is_root = match &operation {
            Operation::Reduce { root, .. } => *root == rank,
            _ => true,
        };
        let element_bytes = if matches!(operation, Operation::Barrier) { 0 } else { 8 };
        Call { rank, ranks, element_bytes, in_place: in_place && is_root, operation }
    };
    (0..ranks).map(|rank| call(Rank(rank))).collect()
}

/// The plans of all ranks.
///
/// # Panics
/// If the algorithm refuses the calls.
pub(crate) fn plans(algorithm: &'static dyn Algorithm, calls: &[Call]) -> Vec<Plan> {
    calls
        .iter()
        .map(|call| algorithm.plan(call).expect("the algorithm accepts the calls"))
        .collect()
}

/// Runs both modes with several seeds; the first violation, if any.
pub(crate) fn check(calls: &[Call], plans: &[Plan], seeds: u64) -> Result<(), Violation> {
    for mode in [Mode::Eager, Mode::Rendezvous] {
        for seed in 0..seeds {
            verify(calls, plans, &Options { seed, mode })?;
        }
    }
    Ok(())
}

/// An edge of a communication graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) count: usize,
}

/// The exchange of equal blocks over a graph; blocks of one pair are in the order of the edges.
pub(crate) fn exchange(ranks: u32, count: usize, edges: &[Edge]) -> Vec<Call> {
    let list = |me: Rank, mine: fn(&Edge) -> u32, other: fn(&Edge) -> u32| -> Arc<[Rank]> {
        edges.iter().filter(|edge| mine(edge) == me.0).map(|edge| Rank(other(edge))).collect()
    };
    calls(ranks, false, |me| Operation::Exchange {
        count,
        to: list(me, |edge| edge.from, |edge| edge.to),
        from: list(me, |edge| edge.to, |edge| edge.from),
    })
}

/// The exchange of blocks of the lengths of the edges, with `gap` elements before each block.
pub(crate) fn exchangev(ranks: u32, gap: usize, edges: &[Edge]) -> Vec<Call> {
    let list = |me: Rank, mine: fn(&Edge) -> u32, other: fn(&Edge) -> u32| -> Arc<[Neighbour]> {
        let mut end = 0;
        let mut place = |edge: &Edge| {
            let start = end + gap;
            end = start + edge.count;
            Neighbour { rank: Rank(other(edge)), start, count: edge.count }
        };
        edges.iter().filter(|edge| mine(edge) == me.0).map(&mut place).collect()
    };
    calls(ranks, false, |me| Operation::Exchangev {
        to: list(me, |edge| edge.from, |edge| edge.to),
        from: list(me, |edge| edge.to, |edge| edge.from),
    })
}

/// Where blocks of these lengths lie, laid out in the order of `order` with `gap` elements before
/// each.
pub(crate) fn layout(
    counts: &[usize],
    order: impl Iterator<Item = usize>,
    gap: usize,
) -> Arc<[Block]> {
    let mut blocks = vec![Block { start: 0, count: 0 }; counts.len()];
    let mut end = 0;
    for index in order {
        blocks[index] = Block { start: end + gap, count: counts[index] };
        end += gap + counts[index];
    }
    blocks.into()
}
