//! Every algorithm on random calls of up to 64 ranks.

mod cases;

use std::sync::Arc;

use cases::{
    Edge, Sizes, alltoallv, between, calls, check, exchange, exchangev, known, layout, plans,
};
use motet_plan::{Block, Call, Collective, Operation, Rank, algo};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestCaseError;

const RANKS: std::ops::RangeInclusive<u32> = 1..=64;

fn verify_all(calls: &[Call]) -> Result<(), TestCaseError> {
    for row in algo::of(calls[0].collective()).filter(|row| row.accepts(&calls[0]).is_ok()) {
        check(calls, &plans(row, calls), 2)
            .map_err(|violation| TestCaseError::fail(format!("{row:?}: {violation}")))?;
    }
    Ok(())
}

/// A graph over a number of ranks: any edges, also loops and the same edge again and again.
fn graph() -> impl Strategy<Value = (u32, Vec<Edge>)> {
    RANKS.prop_flat_map(|ranks| {
        let edge = (0..ranks, 0..ranks, 0..5usize);
        let edges = prop::collection::vec(edge, 0..200);
        let edge = |(from, to, count)| Edge { from, to, count };
        (Just(ranks), edges.prop_map(move |edges| edges.into_iter().map(edge).collect()))
    })
}

/// The lengths of the blocks of all ranks, and for each rank an order and a gap for its layout.
fn blocks() -> impl Strategy<Value = (Vec<usize>, Vec<Arc<[Block]>>)> {
    prop::collection::vec(0..6usize, 1..=64).prop_flat_map(|counts| {
        let order = Just((0..counts.len()).collect::<Vec<_>>()).prop_shuffle();
        let packed = Just((0..counts.len()).collect::<Vec<_>>());
        let lengths = counts.clone();
        let one = (prop_oneof![order, packed], 0..3usize)
            .prop_map(move |(order, gap)| layout(&lengths, order.into_iter(), gap));
        (Just(counts.clone()), prop::collection::vec(one, counts.len()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn bcast(ranks in RANKS, count in 0..100usize, root: Index) {
        let root = Rank(root.index(ranks as usize) as u32);
        verify_all(&calls(ranks, false, |_| Operation::Bcast { count, root }))?;
    }

    /// spec: 69, 70
    #[test]
    fn gather_and_scatter(ranks in RANKS, count in 0..6usize, root: Index, in_place: bool) {
        let root = Rank(root.index(ranks as usize) as u32);
        verify_all(&calls(ranks, in_place, |_| Operation::Gather { count, root }))?;
        verify_all(&calls(ranks, in_place, |_| Operation::Scatter { count, root }))?;
    }

    /// spec: 21, 69, 70
    #[test]
    fn gatherv_and_scatterv((counts, layouts) in blocks(), root: Index, in_place: bool) {
        let ranks = counts.len() as u32;
        let root = Rank(root.index(counts.len()) as u32);
        let known = |rank| known(&layouts[root.index()], rank, root);
        let gatherv = |rank| Operation::Gatherv { blocks: known(rank), root };
        verify_all(&calls(ranks, in_place, gatherv))?;
        let scatterv = |rank| Operation::Scatterv { blocks: known(rank), root };
        verify_all(&calls(ranks, in_place, scatterv))?;
    }

    /// spec: 80
    #[test]
    fn reduce(
        ranks in RANKS, count in 0..20usize, root: Index, commutative: bool, in_place: bool,
    ) {
        let root = Rank(root.index(ranks as usize) as u32);
        let operation = |_| Operation::Reduce { count, root, commutative };
        verify_all(&calls(ranks, in_place, operation))?;
    }

    /// spec: 79, 80
    #[test]
    fn allreduce(ranks in RANKS, count in 0..80usize, commutative: bool, in_place: bool) {
        let operation = |_| Operation::Allreduce { count, commutative };
        verify_all(&calls(ranks, in_place, operation))?;
    }

    /// spec: 75, 80
    #[test]
    fn reduce_scatter(
        counts in prop::collection::vec(0..4usize, 1..=64), commutative: bool, in_place: bool,
    ) {
        let ranks = counts.len() as u32;
        let block = |_| Operation::ReduceScatterBlock { count: counts[0], commutative };
        verify_all(&calls(ranks, in_place, block))?;
        let operation =
            |_| Operation::ReduceScatter { counts: counts.clone().into(), commutative };
        verify_all(&calls(ranks, in_place, operation))?;
    }

    /// spec: 74, 80
    #[test]
    fn scan_and_exscan(ranks in RANKS, count in 0..4usize, commutative: bool, in_place: bool) {
        verify_all(&calls(ranks, in_place, |_| Operation::Scan { count, commutative }))?;
        verify_all(&calls(ranks, in_place, |_| Operation::Exscan { count, commutative }))?;
    }

    #[test]
    fn allgather(ranks in RANKS, count in 0..4usize, in_place: bool) {
        verify_all(&calls(ranks, in_place, |_| Operation::Allgather { count }))?;
    }

    /// spec: 21
    #[test]
    fn allgatherv((counts, layouts) in blocks(), in_place: bool) {
        let blocks = |rank: Rank| layouts[rank.index()].clone();
        let operation = |rank| Operation::Allgatherv { blocks: blocks(rank) };
        verify_all(&calls(counts.len() as u32, in_place, operation))?;
    }

    /// spec: 72
    #[test]
    fn alltoall(ranks in RANKS, count in 0..4usize, in_place: bool) {
        verify_all(&calls(ranks, in_place, |_| Operation::Alltoall { count }))?;
    }

    /// spec: 21, 72
    #[test]
    fn alltoall_of_different_blocks(
        ranks in 1..=32u32, first in 1..9usize, second in 1..9usize, in_place: bool,
    ) {
        let symmetric = |from, to| first * (from + to) % 7 % 5;
        let one_way = |from, to| (first * from + second * to) % 7 % 5;
        if in_place {
            verify_all(&alltoallv(ranks, true, symmetric))?;
        } else {
            verify_all(&alltoallv(ranks, false, one_way))?;
        }
    }

    /// spec: 79, 80, 88, 89, 90
    #[test]
    fn between_groups(
        left in 1..=32u32, right in 1..=32u32, count in 0..40usize, commutative: bool,
        block in prop::sample::select(vec![(|_| 1) as fn(usize) -> usize, |rank| rank % 4]),
    ) {
        let (ranks, sizes) = (left + right, Sizes { count, block, commutative });
        for collective in Collective::ALL.into_iter().filter(|it| it.fewest_ranks() > 1) {
            let operation = |rank| between(collective, left, &sizes, (ranks, rank));
            verify_all(&calls(ranks, false, operation))?;
        }
    }

    /// spec: 80, 86
    #[test]
    fn reduce_between_groups(
        left in 1..=32u32, right in 1..=32u32, count in 0..40usize, root: Index,
        commutative: bool,
    ) {
        let root = Rank(root.index((left + right) as usize) as u32);
        let operation = |_| Operation::InterReduce { left, count, root, commutative };
        verify_all(&calls(left + right, false, operation))?;
    }

    /// spec: 112, 114
    #[test]
    fn exchange_of_equal_blocks((ranks, edges) in graph(), count in 0..4usize) {
        verify_all(&exchange(ranks, count, &edges))?;
    }

    /// spec: 114, 117, 119
    #[test]
    fn neighbor_reduce_over_a_graph(
        (ranks, edges) in graph(), shape in (0..3usize, any::<bool>()), most in 1..5u32,
    ) {
        let count = |rank| (rank % most) as usize;
        verify_all(&cases::neighbor_reduce(ranks, shape, &edges, count))?;
    }

    /// spec: 114, 116
    #[test]
    fn exchange_of_different_blocks((ranks, edges) in graph(), gap in 0..3usize) {
        verify_all(&exchangev(ranks, gap, &edges))?;
    }
}
