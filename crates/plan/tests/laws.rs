//! Every algorithm on every small case: up to nine ranks, every root, operators that commute and
//! not, in place and not, sends that complete at once and sends that wait. A table says which
//! algorithms accept a call (`rows`).

mod cases;
mod rows;

use std::collections::BTreeSet;

use cases::{
    Edge, Sizes, between, calls, check, exchange, exchangev, known, layout, plans, specimen,
};
use motet_plan::{
    Action, AggregateWork, Algorithm, Call, Collective, Neighbour, NodeMap, Operation, Plan, Rank,
    Refusal, algo,
};

const RANKS: std::ops::RangeInclusive<u32> = 1..=9;
const SEEDS: u64 = 24;

/// Lengths that are shorter, equal and longer than the number of ranks.
fn counts(ranks: u32) -> std::ops::RangeInclusive<usize> {
    0..=ranks as usize + 2
}

/// Verifies all algorithms of the collective on these calls; returns the names of those that accept
/// them.
fn verify_all(calls: &[Call]) -> Vec<&'static str> {
    let rows = algo::of(calls[0].collective());
    let accepting: Vec<_> = rows.filter(|row| row.accepts(&calls[0]).is_ok()).collect();
    for row in &accepting {
        assert_longest(*row, calls);
        if let Err(violation) = check(calls, &plans(*row, calls), SEEDS) {
            panic!("{row:?} on {:?}: {violation}", calls[0]);
        }
    }
    accepting.into_iter().map(|row| row.name()).collect()
}

/// Verifies all algorithms that accept these calls, which are those that must by the table of rows.
macro_rules! assert_verified {
    ($calls:expr) => {{
        let calls: &[Call] = $calls;
        let (call, accepting) = (&calls[0], rows::accepting(&calls[0]));
        assert_eq!(verify_all(calls), accepting, "{call:?}; new rows: `{}`", rows::REGENERATE);
    }};
}

/// No rank sends a longer message than all ranks expect, if the call tells of all data.
fn assert_longest(row: &'static dyn Algorithm, calls: &[Call]) {
    if calls[0].bytes() == 0 {
        return;
    }
    let longest = row.longest(&calls[0]);
    for (call, plan) in calls.iter().zip(plans(row, calls)) {
        assert_eq!(row.longest(call), longest, "{row:?} on {call:?}");
        let sent = plan.steps().iter().filter(|step| matches!(step, Action::Send { .. }));
        let most = sent.map(|step| step.elements() * call.element_bytes).max().unwrap_or(0);
        assert!(most <= longest, "{row:?} on {call:?}: {most} bytes at once, not {longest}");
    }
}

/// Nobody leaves before all have entered, with the messages alone.
#[test]
fn barrier() {
    for ranks in 1..=40 {
        assert_verified!(&calls(ranks, false, |_| Operation::Barrier));
    }
}

/// The data of every root reaches every rank, and that of the root is not touched.
#[test]
fn bcast() {
    for ranks in RANKS {
        for count in counts(ranks) {
            for root in (0..ranks).map(Rank) {
                let calls = calls(ranks, false, |_| Operation::Bcast { count, root });
                assert_verified!(&calls);
            }
        }
    }
}

/// The same of data that is so long that it goes in several segments.
#[test]
fn bcast_in_segments() {
    const ELEMENT: usize = 50 << 10;
    let row = algo::of(Collective::Bcast).find(|row| row.name() == "segmented_linear").unwrap();
    for (ranks, count) in [(2, 5), (3, 1), (3, 2), (4, 5), (5, 64), (3, 400)] {
        for root in [0, ranks - 1].map(Rank) {
            let call = |call| Call { element_bytes: ELEMENT, ..call };
            let calls = calls(ranks, false, |_| Operation::Bcast { count, root });
            let calls: Vec<_> = calls.into_iter().map(call).collect();
            assert_verified!(&calls);
            let sent = plans(row, &calls)[root.index()].messages();
            let segments = (count * ELEMENT).div_ceil(64 << 10).min(128).min(count);
            let segments = if ranks == 2 { 1 } else { segments };
            assert_eq!(sent, segments * (ranks as usize - 1), "{count} elements");
        }
    }
}

/// The blocks of all ranks, in rank order, are at every root, and the root's own may be there from
/// the start.
///
/// spec: 69
#[test]
fn gather() {
    for ranks in RANKS {
        for count in 0..=3 {
            for root in (0..ranks).map(Rank) {
                for in_place in [false, true] {
                    let calls = calls(ranks, in_place, |_| Operation::Gather { count, root });
                    assert_verified!(&calls);
                }
            }
        }
    }
}

/// Every rank has its block of the input of every root, and the root's own may stay where it is.
///
/// spec: 70
#[test]
fn scatter() {
    for ranks in RANKS {
        for count in 0..=3 {
            for root in (0..ranks).map(Rank) {
                for in_place in [false, true] {
                    let calls = calls(ranks, in_place, |_| Operation::Scatter { count, root });
                    assert_verified!(&calls);
                }
            }
        }
    }
}

/// Blocks of different lengths, some empty, in any order, with gaps. Only the root knows them all.
///
/// spec: 21, 69, 70
#[test]
fn gatherv_and_scatterv() {
    for ranks in RANKS {
        for (shift, root) in counts(ranks).zip((0..ranks).map(Rank).cycle()) {
            let counts: Vec<_> = (0..ranks as usize).map(|rank| (rank + shift) % 4).collect();
            let order = (0..counts.len()).map(|index| (index + shift) % counts.len());
            let layouts = [layout(&counts, order.clone(), 0), layout(&counts, order.rev(), 2)];
            for (blocks, in_place) in layouts.iter().flat_map(|it| [(it, false), (it, true)]) {
                let known = |rank| known(blocks, rank, root);
                let gatherv = |rank| Operation::Gatherv { blocks: known(rank), root };
                assert_verified!(&calls(ranks, in_place, gatherv));
                let scatterv = |rank| Operation::Scatterv { blocks: known(rank), root };
                assert_verified!(&calls(ranks, in_place, scatterv));
            }
        }
    }
}

/// Operands are in rank order where the operator does not commute, for every root.
///
/// spec: 80, 84
#[test]
fn reduce() {
    for ranks in RANKS {
        for count in counts(ranks) {
            for root in (0..ranks).map(Rank) {
                for (in_place, commutative) in pairs() {
                    let operation = |_| Operation::Reduce { count, root, commutative };
                    assert_verified!(&calls(ranks, in_place, operation));
                }
            }
        }
    }
}

/// All ranks compute the same expression, in rank order where the operator does not commute.
///
/// spec: 79, 80, 84
#[test]
fn allreduce() {
    for ranks in RANKS {
        for count in counts(ranks) {
            for (in_place, commutative) in pairs() {
                let operation = |_| Operation::Allreduce { count, commutative };
                assert_verified!(&calls(ranks, in_place, operation));
            }
        }
    }
}

/// Each rank has its block of the reduction, in rank order where the operator does not commute. In
/// place the input is longer than the result, and nothing is said about what lies behind that.
///
/// spec: 75, 80, 84
#[test]
fn reduce_scatter() {
    for ranks in RANKS {
        for (in_place, commutative) in pairs() {
            for count in 0..=3 {
                let operation = |_| Operation::ReduceScatterBlock { count, commutative };
                assert_verified!(&calls(ranks, in_place, operation));
            }
            for shift in 0..4 {
                let counts: Vec<_> =
                    (0..ranks as usize).map(|rank| (rank * 3 + shift) % 4).collect();
                let operation = |_| {
                    let counts = counts.clone().into();
                    Operation::ReduceScatter { counts, commutative }
                };
                assert_verified!(&calls(ranks, in_place, operation));
            }
        }
    }
}

/// Each rank has the reduction up to itself, or of all before it, in rank order where the operator
/// does not commute. The output of rank 0 is not touched where nobody is before it.
///
/// spec: 74, 80, 84
#[test]
fn scan_and_exscan() {
    for ranks in 1..=17 {
        for count in [0, 1, 3] {
            for (in_place, commutative) in pairs() {
                let scan = |_| Operation::Scan { count, commutative };
                assert_verified!(&calls(ranks, in_place, scan));
                let exscan = |_| Operation::Exscan { count, commutative };
                assert_verified!(&calls(ranks, in_place, exscan));
            }
        }
    }
}

/// Only some ranks in place: each rank decides for itself.
#[test]
fn in_place_at_some_ranks() {
    for ranks in RANKS {
        let mut calls =
            calls(ranks, false, |_| Operation::Allreduce { count: 5, commutative: true });
        calls.iter_mut().step_by(2).for_each(|call| call.in_place = true);
        verify_all(&calls);
        for call in &mut calls {
            call.operation = Operation::Allgather { count: 2 };
        }
        verify_all(&calls);
        for call in &mut calls {
            call.operation = Operation::Alltoall { count: 2 };
        }
        verify_all(&calls);
        for call in &mut calls {
            call.operation = Operation::Exscan { count: 2, commutative: false };
        }
        verify_all(&calls);
        for call in &mut calls {
            call.operation = Operation::ReduceScatterBlock { count: 2, commutative: true };
        }
        verify_all(&calls);
    }
}

#[test]
fn allgather() {
    for ranks in RANKS {
        for count in 0..=3 {
            for in_place in [false, true] {
                let calls = calls(ranks, in_place, |_| Operation::Allgather { count });
                assert_verified!(&calls);
            }
        }
    }
}

/// Blocks of different lengths, some empty, in any order, with gaps, differently at each rank.
///
/// spec: 21
#[test]
fn allgatherv() {
    for ranks in RANKS {
        for shift in counts(ranks) {
            let counts: Vec<_> = (0..ranks as usize).map(|rank| (rank + shift) % 4).collect();
            for (in_place, gap) in [(false, 0), (true, 0), (false, 2), (true, 1)] {
                let operation = |rank: Rank| {
                    let order = 0..counts.len();
                    let blocks = match (rank.index() + shift) % 3 {
                        0 => layout(&counts, order, gap),
                        1 => layout(&counts, order.rev(), gap),
                        _ => layout(&counts, order.map(|i| (i + shift) % counts.len()), gap),
                    };
                    Operation::Allgatherv { blocks }
                };
                assert_verified!(&calls(ranks, in_place, operation));
            }
        }
    }
}

/// Block `j` of rank `i` is block `i` of rank `j` afterwards, as if from a copy of the data.
///
/// spec: 72
#[test]
fn alltoall() {
    for ranks in RANKS {
        for count in 0..=3 {
            for in_place in [false, true] {
                let calls = calls(ranks, in_place, |_| Operation::Alltoall { count });
                assert_verified!(&calls);
            }
        }
    }
}

/// Blocks of different lengths, some empty, in any order, with gaps, differently at each rank; in
/// place, of the same length both ways.
///
/// spec: 21, 72
#[test]
fn alltoallv() {
    for ranks in RANKS {
        for shift in 0..4 {
            let one_way = |from, to| (from + 2 * to + shift) % 4;
            assert_verified!(&cases::alltoallv(ranks, false, one_way));
            let symmetric = |from, to| (from + to + shift) % 4;
            assert_verified!(&cases::alltoallv(ranks, true, symmetric));
        }
    }
}

/// Lists of edges: none, to all, a ring both ways, a star, self only, and each edge twice.
fn graphs(ranks: u32, count: impl Fn(u32) -> usize) -> Vec<Vec<Edge>> {
    let edge = |from: u32, to: u32| Edge { from, to: to % ranks, count: count(from + 2 * to) };
    let all: Vec<_> =
        (0..ranks).flat_map(|from| (0..ranks).map(move |to| edge(from, to))).collect();
    let ring: Vec<_> =
        (0..ranks).flat_map(|me| [edge(me, me + 1), edge(me, me + ranks - 1)]).collect();
    let star = (1..ranks).map(|leaf| edge(leaf, 0)).collect();
    let own = (0..ranks).map(|me| edge(me, me)).collect();
    let twice = all.iter().chain(&ring).copied().collect();
    vec![Vec::new(), all, ring, star, own, twice]
}

/// Block `j` goes to the `j`-th destination and comes from the `j`-th source; lists may be empty,
/// of different lengths, and hold the rank itself, or a rank twice.
///
/// spec: 112, 114
#[test]
fn exchange_of_equal_blocks() {
    for ranks in RANKS {
        for count in 0..=3 {
            for edges in graphs(ranks, |_| count) {
                assert_verified!(&exchange(ranks, count, &edges));
            }
        }
    }
}

/// Sending to all and receiving from all in rank order is an all-to-all.
///
/// spec: 115
#[test]
fn exchange_with_all_is_alltoall() {
    use motet_plan::spec::{Expected, expected};
    let ranks = 5;
    let everybody: std::sync::Arc<[Rank]> = (0..ranks).map(Rank).collect();
    let calls = calls(ranks, false, |_| Operation::Exchange {
        count: 1,
        to: everybody.clone(),
        from: everybody.clone(),
    });
    verify_all(&calls);
    for (me, output) in expected(&calls).unwrap().iter().enumerate() {
        let transposed =
            everybody.iter().map(|rank| Expected::Contribution { rank: *rank, index: me });
        assert!(output.iter().cloned().eq(transposed));
    }
}

/// Blocks of different lengths, some empty, with gaps that stay as they are.
///
/// spec: 116
#[test]
fn exchange_of_different_blocks() {
    for ranks in RANKS {
        for gap in 0..=2 {
            for edges in graphs(ranks, |edge| edge as usize % 3) {
                assert_verified!(&exchangev(ranks, gap, &edges));
            }
        }
    }
}

/// The reduction of a block from each source in the order of the sources, of lengths that differ
/// from rank to rank: also of one source, of the rank itself, of a rank twice, and of none, where
/// the output stays as it is. Blocks lie apart, or are one for all.
///
/// spec: 114, 117, 119, A7, A8
#[test]
fn neighbor_reduce() {
    for ranks in RANKS {
        for (gap, commutative) in [(0, false), (1, true), (2, false)] {
            for edges in graphs(ranks, |_| 0) {
                for count in [|_| 2, |rank: u32| rank as usize % 4] {
                    let calls = cases::neighbor_reduce(ranks, (gap, commutative), &edges, count);
                    assert_verified!(&calls);
                }
                let mut calls = cases::neighbor_reduce(ranks, (0, commutative), &edges, |_| 3);
                for call in &mut calls {
                    let Operation::NeighborReduce { to, .. } = &mut call.operation else {
                        unreachable!("that is what it was made as")
                    };
                    *to = to.iter().map(|other| Neighbour { start: 1, ..*other }).collect();
                }
                assert_verified!(&calls);
            }
        }
    }
}

/// However many sources a rank has, two blocks of scratch memory are enough to take them in turn.
#[test]
fn sequential_needs_two_places() {
    for ranks in RANKS {
        let all = &graphs(ranks, |_| 0)[1];
        let calls = cases::neighbor_reduce(ranks, (0, false), all, |_| 5);
        let scratch = |name| {
            let row = algo::find(Collective::NeighborReduce, name).unwrap();
            plans(row, &calls).iter().map(Plan::scratch_len).max().unwrap()
        };
        assert!(scratch("sequential") <= 10);
        assert!(ranks < 5 || scratch("linear") > 10);
    }
}

/// However many ranks there are, three blocks of scratch memory are enough to take their parts of a
/// block in turn.
#[test]
fn pairwise_needs_three_places() {
    for ranks in RANKS {
        for in_place in [false, true] {
            let operation = |_| Operation::ReduceScatterBlock { count: 5, commutative: true };
            let calls = calls(ranks, in_place, operation);
            let scratch = |name| {
                let row = algo::find(Collective::ReduceScatterBlock, name).unwrap();
                plans(row, &calls).iter().map(Plan::scratch_len).max().unwrap()
            };
            assert!(scratch("pairwise") <= 15);
            assert!(ranks < 5 || scratch("linear") > 15);
        }
    }
}

/// Every collective between two groups, every algorithm, on groups of all small sizes and some
/// larger ones, blocks of no length and of several, operators that commute and not. Whoever leaves
/// a barrier has heard of all ranks of the other group; data of each group arrives in the other;
/// all ranks of a group compute the same expression, over operands in the order of the other group.
///
/// spec: 79, 80, 84, 88, 89, 90
#[test]
fn between_groups() {
    let small = (1..=5).flat_map(|left| (1..=5).map(move |right| (left, right)));
    let larger = [(1, 9), (8, 3), (6, 11)];
    let blocks: [fn(usize) -> usize; 4] = [|_| 0, |_| 1, |rank| rank % 3, |rank| 2 - rank.min(2)];
    for (left, right) in small.chain(larger) {
        for (count, block) in [0, 1, 4, 11].into_iter().zip(blocks) {
            for collective in Collective::ALL.into_iter().filter(|it| it.fewest_ranks() > 1) {
                for commutative in [false, true] {
                    let (ranks, sizes) = (left + right, Sizes { count, block, commutative });
                    let operation = |rank| between(collective, left, &sizes, (ranks, rank));
                    if commutative && operation(Rank(0)).commutative().is_none() {
                        continue;
                    }
                    assert_verified!(&calls(ranks, false, operation));
                }
            }
        }
    }
}

/// A reduction between groups arrives at any root, on either side, and nobody else of the root's
/// group has anything to do.
///
/// spec: 80, 86
#[test]
fn reduce_between_groups() {
    for (left, right) in [(1, 1), (1, 3), (2, 2), (3, 2), (4, 5)] {
        let ranks = left + right;
        for root in (0..ranks).map(Rank) {
            for (count, commutative) in [(0, false), (1, true), (4, false), (9, true)] {
                let operation = |_| Operation::InterReduce { left, count, root, commutative };
                let calls = calls(ranks, false, operation);
                assert_verified!(&calls);
                for row in algo::of(Collective::InterReduce) {
                    for (call, plan) in calls.iter().zip(plans(row, &calls)) {
                        let is_beside_root = (call.rank.0 < left) == (root.0 < left);
                        if is_beside_root && call.rank != root {
                            assert_eq!((plan.steps().len(), plan.input_len()), (0, 0), "{row:?}");
                        }
                    }
                }
            }
        }
    }
}

/// Data may go one way only, and then no message goes the other way.
///
/// spec: 88
#[test]
fn one_way_between_groups() {
    for counts in [[0, 2], [2, 0], [0, 0]] {
        for (left, right) in [(1, 4), (3, 2), (4, 4)] {
            let operation = |_| Operation::InterAllgather { left, counts };
            let calls = calls(left + right, false, operation);
            assert_verified!(&calls);
            for row in algo::of(Collective::InterAllgather) {
                for plan in plans(row, &calls) {
                    for step in plan.steps() {
                        let Action::Send { to, .. } = step else { continue };
                        let (from, to) = (plan.rank().0 >= left, to.0 >= left);
                        assert!(from == to || counts[usize::from(from)] > 0, "{row:?} {step}");
                    }
                }
            }
        }
    }
}

/// What decides about an algorithm is the same at all ranks, in place or not, wherever blocks lie.
#[test]
fn acceptance_and_cost_are_equal_on_all_ranks() {
    let sizes = Sizes { count: 7, block: |rank| rank % 4, commutative: false };
    for ranks in RANKS {
        let fits = |row: &&&'static dyn Algorithm| row.collective().fewest_ranks() <= ranks;
        for row in algo::table().iter().filter(fits) {
            let mut calls = specimen(row.collective(), ranks, &sizes);
            calls.iter_mut().step_by(2).for_each(|call| call.in_place = true);
            for call in &calls {
                assert_eq!(call.bytes(), calls[0].bytes(), "{row:?}");
                assert_eq!(row.accepts(call), row.accepts(&calls[0]), "{row:?}");
                if row.accepts(call).is_ok() {
                    assert_eq!(row.cost(call), row.cost(&calls[0]), "{row:?}");
                }
            }
        }
    }
}

/// The algorithms of whose work the model says that there is some of this kind, once it is found to
/// be as much as the plans have. Of others it says nothing.
fn as_the_model_says(
    model: impl Fn(&AggregateWork) -> Option<usize>,
    done: impl Fn(&[Plan]) -> usize,
) -> Vec<(&'static str, &'static str)> {
    let mut predicted = BTreeSet::new();
    for ranks in RANKS {
        // A piece for each rank.
        let sizes = Sizes { count: 2 * ranks as usize, block: |_| 1, commutative: true };
        for row in algo::table().iter().filter(|row| row.collective().fewest_ranks() <= ranks) {
            let mut calls = specimen(row.collective(), ranks, &sizes);
            // On several nodes work is not what counts.
            calls.iter_mut().for_each(|call| call.nodes = NodeMap::ONE);
            let work =
                row.accepts(&calls[0]).map_or(AggregateWork::default(), |()| row.work(&calls[0]));
            let Some(model) = model(&work) else { continue };
            assert_eq!(model, done(&plans(*row, &calls)), "{row:?} on {:?}", calls[0]);
            if model > 0 {
                predicted.insert((row.collective().name(), row.name()));
            }
        }
    }
    predicted.into_iter().collect()
}

/// Bytes that ranks send which they have just sent to another one.
fn repeated(plans: &[Plan]) -> usize {
    let of_one = |plan: &Plan| {
        let sent = |step| match *plan.step(step) {
            Action::Send { from, .. } => Some(from),
            _ => None,
        };
        let pairs = plan.order().windows(2).map(|pair| (sent(pair[0]), sent(pair[1])));
        let again = pairs.filter_map(|(one, next)| next.filter(|next| one == Some(*next)));
        again.map(|slice| slice.len * 8).sum::<usize>()
    };
    plans.iter().map(of_one).sum()
}

fn rows_that_repeat() -> Vec<(&'static str, &'static str)> {
    let model = |work: &AggregateWork| Some(work.repeated).filter(|&bytes| bytes > 0);
    as_the_model_says(model, repeated)
}

/// What the model says of data that a rank sends to several others, one after the other, is so.
#[test]
fn repeated_messages_are_as_many_as_the_model_says() {
    assert_eq!(rows_that_repeat(), rows::noted(rows::REPEATS));
}

/// Messages of what a rank has received before, as it came or reduced.
fn sent_on(plans: &[Plan]) -> usize {
    let of_one = |plan: &Plan| {
        let mut has_come = vec![false; plan.steps().len()];
        for &step in plan.order() {
            has_come[step.index()] |= matches!(plan.step(step), Action::Recv { .. });
            for after in plan.successors(step) {
                has_come[after.index()] |= has_come[step.index()];
            }
        }
        let steps = plan.steps().iter().zip(has_come);
        steps.filter(|(step, come)| *come && matches!(step, Action::Send { .. })).count()
    };
    plans.iter().map(of_one).sum()
}

fn rows_that_send_on() -> Vec<(&'static str, &'static str)> {
    let flows = |work: &AggregateWork| work.waits == 0 && work.messages > 0;
    as_the_model_says(|work| flows(work).then_some(work.sent_on), sent_on)
}

/// What the model says of messages that flow one way and are sent on is so.
#[test]
fn messages_that_are_sent_on_are_as_many_as_the_model_says() {
    assert_eq!(rows_that_send_on(), rows::noted(rows::SENDS_ON));
}

/// The table of rows is what the algorithms say of themselves, and all that decides whether they
/// accept a call.
#[test]
fn the_table_of_rows() {
    let notes = [(rows::REPEATS, rows_that_repeat()), (rows::SENDS_ON, rows_that_send_on())];
    rows::compare(&rows::text(&notes));
}

/// In one exchange of all with all, a rank announces what others may copy before it begins to
/// receive, which may be to copy at once.
#[test]
fn exchanges_send_before_they_receive() {
    let sizes = Sizes { count: 2, block: |_| 1, commutative: true };
    for (collective, name) in [
        (Collective::Allgather, "linear"),
        (Collective::Alltoall, "linear"),
        (Collective::Alltoallv, "linear"),
        (Collective::Exchange, "linear"),
        (Collective::Exchangev, "linear"),
        (Collective::Allreduce, "linear"),
        (Collective::ReduceScatterBlock, "linear"),
        (Collective::ReduceScatterBlock, "pairwise"),
        (Collective::ReduceScatter, "pairwise"),
    ] {
        let row = algo::find(collective, name).unwrap();
        for plan in plans(row, &specimen(collective, 4, &sizes)) {
            let is_receive = |step: &Action| matches!(step, Action::Recv { .. });
            let is_send = |step: &Action| matches!(step, Action::Send { .. });
            let first_receive = plan.steps().iter().position(is_receive);
            let last_send = plan.steps().iter().rposition(is_send);
            assert!(last_send.is_some() && last_send < first_receive, "{row:?}");
        }
    }
    // Those in pieces do so before they have anything to send on; each rank has a piece here.
    let sizes = Sizes { count: 8, ..sizes };
    for (collective, name) in [
        (Collective::Allreduce, "linear_reduce_scatter_allgather"),
        (Collective::Reduce, "linear_reduce_scatter_gather"),
    ] {
        let row = algo::find(collective, name).unwrap();
        for plan in plans(row, &specimen(collective, 4, &sizes)) {
            let first = plan.steps().iter().filter_map(|step| match step {
                Action::Send { .. } => Some(true),
                Action::Recv { .. } => Some(false),
                _ => None,
            });
            assert!(first.take(3).all(|is_send| is_send), "{row:?}");
        }
    }
}

/// What a rank has in progress at once has a limit: above it the direct algorithms refuse, and
/// every collective has another one. Where a rank names those it has messages with, or knows only
/// its own block, there is nothing to refuse in favour of.
#[test]
fn direct_up_to_64_ranks() {
    let sizes = Sizes { count: 1, block: |_| 1, commutative: false };
    let without_limit = [
        Collective::Gatherv,
        Collective::Scatterv,
        Collective::Exchange,
        Collective::Exchangev,
        Collective::NeighborReduce,
        Collective::NodeExchange,
        Collective::InterAllgatherv,
    ];
    for collective in Collective::ALL {
        for ranks in [64, 65] {
            let call = specimen(collective, ranks, &sizes).remove(0);
            let row = algo::find(collective, "linear").unwrap();
            let is_refused = ranks > 64 && !without_limit.contains(&collective);
            let refusal = Refusal::TooManyRanks { ranks, most: 64 };
            let expected = if is_refused { Err(refusal) } else { Ok(()) };
            assert_eq!(row.accepts(&call), expected, "{row:?}");
            assert!(algo::of(collective).any(|row| row.accepts(&call).is_ok()));
        }
    }
}

/// Where all ranks send to all, their k-th messages go to different ranks.
#[test]
fn direct_messages_do_not_all_go_to_one_rank() {
    for operation in [
        Operation::Barrier,
        Operation::Allreduce { count: 1, commutative: true },
        Operation::Allgather { count: 1 },
        Operation::Alltoall { count: 1 },
        Operation::ReduceScatterBlock { count: 1, commutative: true },
    ] {
        let calls = calls(5, false, |_| operation.clone());
        let row = algo::find(calls[0].collective(), "linear").unwrap();
        let destinations = |plan: &Plan| -> Vec<Rank> {
            let to = |step: &Action| match step {
                Action::Send { to, .. } => Some(*to),
                _ => None,
            };
            plan.steps().iter().filter_map(to).collect()
        };
        let lists: Vec<_> = plans(row, &calls).iter().map(destinations).collect();
        for turn in 0..4 {
            let reached: BTreeSet<_> = lists.iter().map(|list| list[turn]).collect();
            assert_eq!(reached.len(), 5, "{row:?}, message {turn}");
        }
    }
}

/// (in place, commutative)
fn pairs() -> [(bool, bool); 4] {
    [(false, false), (false, true), (true, false), (true, true)]
}
