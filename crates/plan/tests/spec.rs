//! The specification itself, on examples that are small enough to be seen through.

mod cases;

use cases::{calls, known, layout};
use motet_plan::spec::{Expected, SpecError, expected};
use motet_plan::{Block, Call, Neighbour, Operation, Rank};

/// What each element of each output must be, in words: `b2` is element 2 of what rank 1
/// contributes, `ab2` the reduction of elements 2 of ranks 0 and 1, `=` unchanged, `?` undefined.
fn outputs(calls: &[Call]) -> Vec<String> {
    let letter = |rank: u32| char::from(b'a' + rank as u8);
    let word = |element: &Expected| match element {
        Expected::Contribution { rank, index } => format!("{}{index}", letter(rank.0)),
        Expected::Reduction { first, ranks, index } => {
            (first.0..first.0 + ranks).map(letter).chain(index.to_string().chars()).collect()
        }
        Expected::Combination { operands } => {
            let operand = |(rank, index): &(Rank, usize)| format!("{}{index}", letter(rank.0));
            operands.iter().map(operand).collect()
        }
        Expected::Unchanged => "=".to_owned(),
        Expected::Undefined => "?".to_owned(),
    };
    let outputs = expected(calls).expect("the calls fit together");
    outputs.iter().map(|output| output.iter().map(word).collect::<Vec<_>>().join(" ")).collect()
}

/// spec: 69
#[test]
fn gather_to_the_root() {
    let (count, root) = (2, Rank(1));
    let gather = |in_place| calls(3, in_place, move |_| Operation::Gather { count, root });
    assert_eq!(outputs(&gather(false)), ["", "a0 a1 b0 b1 c0 c1", ""]);
    assert_eq!(outputs(&gather(true)), ["", "a0 a1 = = c0 c1", ""]);
    let blocks = layout(&[1, 2, 0], [1, 0, 2].into_iter(), 1);
    let gatherv = |in_place| {
        calls(3, in_place, |rank| Operation::Gatherv { blocks: known(&blocks, rank, root), root })
    };
    assert_eq!(outputs(&gatherv(false)), ["", "= b0 b1 = a0", ""]);
    assert_eq!(outputs(&gatherv(true)), ["", "= = = = a0", ""]);
}

/// spec: 70
#[test]
fn scatter_from_the_root() {
    let (count, root) = (2, Rank(1));
    let scatter = |in_place| calls(3, in_place, move |_| Operation::Scatter { count, root });
    assert_eq!(outputs(&scatter(false)), ["b0 b1", "b2 b3", "b4 b5"]);
    assert_eq!(outputs(&scatter(true)), ["b0 b1", "", "b4 b5"]);
    let blocks = layout(&[1, 2, 0], [1, 0, 2].into_iter(), 1);
    let scatterv = |in_place| {
        calls(3, in_place, |rank| Operation::Scatterv { blocks: known(&blocks, rank, root), root })
    };
    assert_eq!(outputs(&scatterv(false)), ["b4", "b1 b2", ""]);
    assert_eq!(outputs(&scatterv(true)), ["b4", "", ""]);
}

/// Operands are in the order of the sources, from the blocks that were sent to this rank; own data
/// is among them only if the rank is its own source.
///
/// spec: 117, 119, A7, A8
#[test]
fn neighbor_reduce_combines_what_the_sources_send() {
    let to = |list: &[(u32, usize, usize)]| {
        let place = |&(rank, start, count)| Neighbour { rank: Rank(rank), start, count };
        list.iter().map(place).collect()
    };
    let calls = |from: [&[u32]; 3]| {
        calls(3, false, |me| Operation::NeighborReduce {
            count: [1, 2, 1][me.index()],
            to: match me.0 {
                0 => to(&[(1, 4, 2), (0, 0, 1)]),
                1 => to(&[(1, 0, 2)]),
                _ => to(&[(0, 0, 1), (1, 1, 2), (1, 3, 2)]),
            },
            from: from[me.index()].iter().copied().map(Rank).collect(),
            commutative: false,
        })
    };
    let outputs_of = outputs(&calls([&[2, 0], &[2, 1, 0, 2], &[]]));
    assert_eq!(outputs_of, ["c0a0", "c1b0a4c3 c2b1a5c4", "="]);
    let missing = expected(&calls([&[2, 0], &[2, 1, 0], &[]]));
    let (from, to) = (Rank(2), Rank(1));
    let error = SpecError::Exchange { from, to, sent: vec![2, 2], received: vec![2] };
    assert_eq!(missing, Err(error));
}

/// spec: 72
#[test]
fn alltoall_transposes() {
    let alltoall = |in_place| calls(3, in_place, |_| Operation::Alltoall { count: 1 });
    assert_eq!(outputs(&alltoall(false)), ["a0 b0 c0", "a1 b1 c1", "a2 b2 c2"]);
    assert_eq!(outputs(&alltoall(true)), ["= b0 c0", "a1 = c1", "a2 b2 ="]);
    let block = |start, count| Block { start, count };
    // The same length both ways, so that it is a call in place too.
    let blocks = |rank: Rank| match rank.0 {
        0 => [block(3, 1), block(0, 2)],
        _ => [block(1, 2), block(4, 1)],
    };
    let alltoallv = |in_place, from_start: usize| {
        calls(2, in_place, move |rank| {
            let shift = |it: Block| block(it.start + from_start, it.count);
            let from = blocks(rank).map(shift);
            Operation::Alltoallv { to: blocks(rank).into(), from: from.into() }
        })
    };
    assert_eq!(outputs(&alltoallv(false, 1)), ["= b1 b2 = a3", "= = a0 a1 = b4"]);
    assert_eq!(outputs(&alltoallv(true, 0)), ["b1 b2 = =", "= a0 a1 = ="]);
}

/// spec: 75
#[test]
fn reduce_scatter_leaves_a_block_at_each_rank() {
    let commutative = false;
    let block = |in_place| {
        calls(3, in_place, move |_| Operation::ReduceScatterBlock { count: 2, commutative })
    };
    assert_eq!(outputs(&block(false)), ["abc0 abc1", "abc2 abc3", "abc4 abc5"]);
    let behind = "? ? ? ?";
    let blocks = ["abc0 abc1", "abc2 abc3", "abc4 abc5"].map(|own| format!("{own} {behind}"));
    assert_eq!(outputs(&block(true)), blocks);
    let lengths = |in_place| {
        let counts: std::sync::Arc<[usize]> = [1, 0, 2].into();
        calls(3, in_place, move |_| Operation::ReduceScatter {
            counts: counts.clone(),
            commutative,
        })
    };
    assert_eq!(outputs(&lengths(false)), ["abc0", "", "abc1 abc2"]);
    assert_eq!(outputs(&lengths(true)), ["abc0 ? ?", "? ? ?", "abc1 abc2 ?"]);
}

/// spec: 74
#[test]
fn scans_end_at_or_before_the_rank() {
    let (count, commutative) = (2, false);
    for in_place in [false, true] {
        let scan = calls(3, in_place, |_| Operation::Scan { count, commutative });
        assert_eq!(outputs(&scan), ["a0 a1", "ab0 ab1", "abc0 abc1"]);
        let exscan = calls(3, in_place, |_| Operation::Exscan { count, commutative });
        assert_eq!(outputs(&exscan), ["= =", "a0 a1", "ab0 ab1"]);
    }
}

/// What must be equal on all ranks is compared, and what one rank sends with what the other
/// receives.
#[test]
fn calls_that_do_not_fit() {
    let differ = |rank, what| Err(SpecError::Differ { rank: Rank(rank), what });
    let root = Rank(0);
    let found = expected(&calls(3, false, |rank| Operation::Gather { count: 1, root: rank }));
    assert_eq!(found, differ(1, "root"));
    let found = expected(&calls(3, false, |rank| Operation::ReduceScatter {
        counts: [1, 2, rank.index()].into(),
        commutative: true,
    }));
    assert_eq!(found, differ(1, "counts"));
    let found = expected(&calls(2, false, |rank| Operation::Scan {
        count: 1,
        commutative: rank == Rank(0),
    }));
    assert_eq!(found, differ(1, "operator"));
    let blocks = |rank: Rank| layout(&[1, 2 + rank.index()], 0..2, 0);
    let found = expected(&calls(2, false, |rank| Operation::Gatherv {
        blocks: known(&blocks(rank), rank, root),
        root,
    }));
    let (sent, received) = (vec![3], vec![2]);
    assert_eq!(found, Err(SpecError::Exchange { from: Rank(1), to: root, sent, received }));
}

/// Between groups of two and three: data of each group arrives in the other, in rank order.
///
/// spec: 88
#[test]
fn what_is_moved_between_groups() {
    let left = 2;
    let allgather = |counts| calls(5, false, move |_| Operation::InterAllgather { left, counts });
    let (both, one) = (outputs(&allgather([1, 2])), outputs(&allgather([0, 1])));
    assert_eq!(both[..2], ["c0 c1 d0 d1 e0 e1"; 2]);
    assert_eq!(both[2..], ["a0 b0"; 3]);
    assert_eq!(one[..2], ["c0 d0 e0"; 2]);
    assert_eq!(one[2..], [""; 3]);
    let own = [2, 0, 1, 1, 3];
    let allgatherv = |rank: Rank| {
        let (far, order) =
            if rank.0 < left { (&own[2..], [2, 0, 1]) } else { (&own[..2], [0, 1, 0]) };
        let blocks = layout(far, order.into_iter().take(far.len()), 1);
        Operation::InterAllgatherv { left, own: own[rank.index()], blocks }
    };
    let found = outputs(&calls(5, false, allgatherv));
    assert_eq!(found[..2], ["= e0 e1 e2 = c0 = d0"; 2]);
    assert_eq!(found[2..], ["= a0 a1"; 3]);
}

/// Between groups of two and three: what one group reduces, the other has.
///
/// spec: 86, 89
#[test]
fn what_is_reduced_between_groups() {
    let (left, count, commutative) = (2, 2, false);
    let allreduce = |_| Operation::InterAllreduce { left, count, commutative };
    let [cde, ab] = ["cde0 cde1", "ab0 ab1"];
    assert_eq!(outputs(&calls(5, false, allreduce)), [cde, cde, ab, ab, ab]);
    let reduce =
        |root| calls(5, false, move |_| Operation::InterReduce { left, count, root, commutative });
    assert_eq!(outputs(&reduce(Rank(1))), ["", cde, "", "", ""]);
    assert_eq!(outputs(&reduce(Rank(4))), ["", "", "", "", ab]);
    let block = |_| Operation::InterReduceScatterBlock { left, counts: [3, 2], commutative };
    let found = outputs(&calls(5, false, block));
    assert_eq!(found, ["cde0 cde1 cde2", "cde3 cde4 cde5", "ab0 ab1", "ab2 ab3", "ab4 ab5"]);
    let blocks = |rank: Rank| {
        let counts: &[usize] = if rank.0 < left { &[1, 3] } else { &[0, 4, 0] };
        Operation::InterReduceScatter { left, counts: counts.into(), commutative }
    };
    let found = outputs(&calls(5, false, blocks));
    assert_eq!(found, ["cde0", "cde1 cde2 cde3", "", "ab0 ab1 ab2 ab3", ""]);
}

/// Between groups some things must be equal at all ranks, and some in a group only.
///
/// spec: 89
#[test]
fn calls_between_groups_that_do_not_fit() {
    let differ = |rank, what| Err(SpecError::Differ { rank: Rank(rank), what });
    let barrier = |rank: Rank| Operation::InterBarrier { left: 1 + rank.0 / 2 };
    assert_eq!(expected(&calls(4, false, barrier)).map(drop), differ(2, "groups"));
    let (left, commutative) = (2, true);
    let scattered = |lists: [[usize; 2]; 4]| {
        let operation = move |rank: Rank| {
            let counts = lists[rank.index()].into();
            Operation::InterReduceScatter { left, counts, commutative }
        };
        expected(&calls(4, false, operation)).map(drop)
    };
    assert_eq!(scattered([[1, 3], [1, 3], [2, 2], [2, 2]]), Ok(()));
    let found = scattered([[1, 3], [1, 3], [2, 3], [2, 3]]);
    assert_eq!(found, differ(2, "sum of the counts"));
    let found = scattered([[1, 3], [1, 3], [2, 2], [4, 0]]);
    let (rank, first) = (Rank(3), Rank(2));
    assert_eq!(found, Err(SpecError::DifferInGroup { rank, first, what: "counts" }));
    let (sent, received) = (vec![2], vec![1]);
    let allgatherv = |rank: Rank| {
        let blocks = [Block { start: 0, count: 1 }].into();
        Operation::InterAllgatherv { left: 1, own: 1 + rank.index(), blocks }
    };
    let found = expected(&calls(2, false, allgatherv));
    assert_eq!(found, Err(SpecError::Exchange { from: Rank(1), to: Rank(0), sent, received }));
}
