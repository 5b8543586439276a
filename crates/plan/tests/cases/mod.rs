//! Calls of all ranks, for tests.

#![allow(dead_code)] // each test program needs a part of it

use std::sync::Arc;

use motet_plan::nodes::everybody;
use motet_plan::verify::{Mode, Options, Violation};
use motet_plan::{
    Algorithm, Block, Blocks, Call, Collective, Neighbour, NodeMap, Operation, Plan, Rank, verify,
};

/// The calls of all ranks, the operation of each given by `operation`.
pub(crate) fn calls(
    ranks: u32,
    in_place: bool,
    operation: impl Fn(Rank) -> Operation,
) -> Vec<Call> {
    let call = |rank| {
        let operation = operation(rank);
        let is_root = operation.root().is_none_or(|root| root == rank);
        let is_barrier = matches!(operation, Operation::Barrier | Operation::InterBarrier { .. });
        let element_bytes = if is_barrier { 0 } else { 8 };
        Call {
            rank,
            ranks,
            element_bytes,
            in_place: in_place && is_root,
            nodes: NodeMap::ONE,
            operation,
        }
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
    for mode in [Mode::Eager, Mode::Rendezvous, Mode::InOrder] {
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
    let list = |me: Rank, own: fn(&Edge) -> u32, other: fn(&Edge) -> u32| -> Arc<[Rank]> {
        edges.iter().filter(|edge| own(edge) == me.0).map(|edge| Rank(other(edge))).collect()
    };
    calls(ranks, false, |me| Operation::Exchange {
        count,
        to: list(me, |edge| edge.from, |edge| edge.to),
        from: list(me, |edge| edge.to, |edge| edge.from),
    })
}

/// The exchange of blocks of the lengths of the edges, with `gap` elements before each block.
pub(crate) fn exchangev(ranks: u32, gap: usize, edges: &[Edge]) -> Vec<Call> {
    let list = |me: Rank, own: fn(&Edge) -> u32, other: fn(&Edge) -> u32| -> Arc<[Neighbour]> {
        let mut end = 0;
        let mut place = |edge: &Edge| {
            let start = end + gap;
            end = start + edge.count;
            Neighbour { rank: Rank(other(edge)), start, count: edge.count }
        };
        edges.iter().filter(|edge| own(edge) == me.0).map(&mut place).collect()
    };
    calls(ranks, false, |me| Operation::Exchangev {
        to: list(me, |edge| edge.from, |edge| edge.to),
        from: list(me, |edge| edge.to, |edge| edge.from),
    })
}

/// The reduction over a graph, with results of the length `count(rank)` and `gap` elements before
/// each block; the lengths of the edges are not looked at.
pub(crate) fn neighbor_reduce(
    ranks: u32,
    (gap, commutative): (usize, bool),
    edges: &[Edge],
    count: impl Fn(u32) -> usize,
) -> Vec<Call> {
    calls(ranks, false, |me| {
        let mut end = 0;
        let mut place = |edge: &Edge| {
            let (start, count) = (end + gap, count(edge.to));
            end = start + count;
            Neighbour { rank: Rank(edge.to), start, count }
        };
        // Sources in another order than those of ranks; the edges of one source stay in theirs.
        let mut sources: Vec<_> = edges.iter().filter(|edge| edge.to == me.0).collect();
        sources.sort_by_key(|edge| (edge.from * 5 + me.0) % 7);
        Operation::NeighborReduce {
            count: count(me.0),
            to: edges.iter().filter(|edge| edge.from == me.0).map(&mut place).collect(),
            from: sources.iter().map(|edge| Rank(edge.from)).collect(),
            commutative,
        }
    })
}

/// The same exchange of blocks of different lengths, among ranks that know on which nodes they are.
pub(crate) fn on_nodes(nodes: &[u32], calls: &[Call]) -> Vec<Call> {
    let lists = |call: &Call| match &call.operation {
        Operation::Exchangev { to, from } => (to.clone(), from.clone()),
        operation => unreachable!("{operation:?} is no exchangev"),
    };
    everybody(nodes, &calls.iter().map(lists).collect::<Vec<_>>(), calls[0].element_bytes)
}

/// The alltoallv of blocks of lengths `count(from, to)`, with gaps, differently at each rank. In
/// place the lengths must be the same both ways.
pub(crate) fn alltoallv(
    ranks: u32,
    in_place: bool,
    count: impl Fn(usize, usize) -> usize,
) -> Vec<Call> {
    let lengths = |count: &dyn Fn(usize) -> usize| (0..ranks as usize).map(count).collect();
    calls(ranks, in_place, |rank| {
        let me = rank.index();
        let (sent, received): (Vec<_>, Vec<_>) =
            (lengths(&|to| count(me, to)), lengths(&|from| count(from, me)));
        let order = (0..ranks as usize).map(|index| (index + me) % ranks as usize);
        let from = layout(&received, order.clone(), me % 2);
        let to = if in_place { from.clone() } else { layout(&sent, order.rev(), me % 3) };
        Operation::Alltoallv { to, from }
    })
}

/// What a rank knows of the blocks of all: the root all, and any other its own.
pub(crate) fn known(blocks: &Arc<[Block]>, rank: Rank, root: Rank) -> Blocks {
    if rank == root { Blocks::All(blocks.clone()) } else { Blocks::Own(blocks[rank.index()].count) }
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

/// Sizes of the calls of [`specimen`].
pub(crate) struct Sizes {
    /// Length of data that is not in blocks.
    pub(crate) count: usize,
    /// Length of the block of a rank; where all blocks have one length, that of rank 0.
    pub(crate) block: fn(usize) -> usize,
    /// Whether operators commute.
    pub(crate) commutative: bool,
}

/// A call of any collective, on nodes of two ranks. Where ranks may differ in the places of their
/// blocks, they do.
pub(crate) fn specimen(collective: Collective, ranks: u32, sizes: &Sizes) -> Vec<Call> {
    let nodes = NodeMap::new((0..ranks as usize).map(|rank| rank / 2));
    let mut calls = specimen_on_one_node(collective, ranks, sizes);
    calls.iter_mut().for_each(|call| call.nodes = nodes.clone());
    calls
}

fn specimen_on_one_node(collective: Collective, ranks: u32, sizes: &Sizes) -> Vec<Call> {
    let (data, block, commutative) = (sizes.count, (sizes.block)(0), sizes.commutative);
    let lengths: Vec<_> = (0..ranks as usize).map(sizes.block).collect();
    let blocks = |rank: Rank| {
        let (order, gap) = (0..lengths.len(), rank.index() % 3);
        if rank.0.is_multiple_of(2) {
            layout(&lengths, order.rev(), gap)
        } else {
            layout(&lengths, order, gap)
        }
    };
    let root = Rank(1 % ranks);
    let everybody: Arc<[Rank]> = (0..ranks).map(Rank).collect();
    let edges: Vec<_> = (0..ranks)
        .flat_map(|from| [(from, (from + 1) % ranks, 2), (from, 0, 1)])
        .map(|(from, to, count)| Edge { from, to, count })
        .collect();
    calls(ranks, false, |rank| match collective {
        Collective::Barrier => Operation::Barrier,
        Collective::Bcast => Operation::Bcast { count: data, root },
        Collective::Gather => Operation::Gather { count: block, root },
        Collective::Gatherv => {
            Operation::Gatherv { blocks: known(&blocks(rank), rank, root), root }
        }
        Collective::Scatter => Operation::Scatter { count: block, root },
        Collective::Scatterv => {
            Operation::Scatterv { blocks: known(&blocks(rank), rank, root), root }
        }
        Collective::Reduce => Operation::Reduce { count: data, root, commutative },
        Collective::Allreduce => Operation::Allreduce { count: data, commutative },
        Collective::ReduceScatterBlock => {
            Operation::ReduceScatterBlock { count: block, commutative }
        }
        Collective::ReduceScatter => {
            Operation::ReduceScatter { counts: lengths.clone().into(), commutative }
        }
        Collective::Scan => Operation::Scan { count: data, commutative },
        Collective::Exscan => Operation::Exscan { count: data, commutative },
        Collective::Allgather => Operation::Allgather { count: block },
        Collective::Allgatherv => Operation::Allgatherv { blocks: blocks(rank) },
        Collective::Alltoall => Operation::Alltoall { count: block },
        Collective::Alltoallv => {
            let count = |from, to| (sizes.block)(from + 2 * to);
            alltoallv(ranks, false, count)[rank.index()].operation.clone()
        }
        Collective::Exchange => {
            Operation::Exchange { count: block, to: everybody.clone(), from: everybody.clone() }
        }
        Collective::Exchangev => exchangev(ranks, 1, &edges)[rank.index()].operation.clone(),
        Collective::NeighborReduce => {
            let count = |rank| (sizes.block)(rank as usize);
            let calls = neighbor_reduce(ranks, (1, commutative), &edges, count);
            calls[rank.index()].operation.clone()
        }
        Collective::NodeExchange => {
            let nodes: Vec<_> = (0..ranks).map(|rank| rank / 2).collect();
            on_nodes(&nodes, &exchangev(ranks, 1, &edges))[rank.index()].operation.clone()
        }
        _ => between(collective, ranks.div_ceil(2), sizes, (ranks, rank)),
    })
}

/// An operation of any collective between two groups, for one of the ranks.
pub(crate) fn between(
    collective: Collective,
    left: u32,
    sizes: &Sizes,
    (ranks, rank): (u32, Rank),
) -> Operation {
    let (count, commutative) = (sizes.count, sizes.commutative);
    let (first, second) = (left as usize, (ranks - left) as usize);
    let is_right = rank.0 >= left;
    match collective {
        Collective::InterBarrier => Operation::InterBarrier { left },
        Collective::InterAllgather => {
            let counts = [(sizes.block)(0), (sizes.block)(first)];
            Operation::InterAllgather { left, counts }
        }
        Collective::InterAllgatherv => {
            let far = if is_right { 0..first } else { first..first + second };
            let lengths: Vec<_> = far.map(sizes.block).collect();
            let (order, gap) = (0..lengths.len(), rank.index() % 3);
            let blocks = if rank.0.is_multiple_of(2) {
                layout(&lengths, order.rev(), gap)
            } else {
                layout(&lengths, order, gap)
            };
            Operation::InterAllgatherv { left, own: (sizes.block)(rank.index()), blocks }
        }
        Collective::InterReduce => {
            let root = Rank(ranks * 2 / 3);
            Operation::InterReduce { left, count, root, commutative }
        }
        Collective::InterAllreduce => Operation::InterAllreduce { left, count, commutative },
        Collective::InterReduceScatterBlock => {
            let block = (sizes.block)(0);
            let counts = [block * second, block * first];
            Operation::InterReduceScatterBlock { left, counts, commutative }
        }
        Collective::InterReduceScatter => {
            let counts = uneven(count, if is_right { second } else { first });
            Operation::InterReduceScatter { left, counts: counts.into(), commutative }
        }
        _ => unreachable!("{collective} is not between groups"),
    }
}

/// Lengths of so many blocks, which add up to `total`: the first is the longest, and some may be
/// empty.
pub(crate) fn uneven(total: usize, blocks: usize) -> Vec<usize> {
    let mut lengths: Vec<_> = (0..blocks).map(|block| total / blocks * (block % 3) / 3).collect();
    lengths[0] += total - lengths.iter().sum::<usize>();
    lengths
}
