//! Calls: their sizes, and what a rank can find wrong alone.

use std::sync::Arc;

use motet_plan::{Block, Blocks, Call, CallError, Collective, Neighbour, NodeMap, Operation, Rank};
use motet_plan::{Demands, Edge, EdgeDemand, NodeKnowledge, NodePeer};

fn call(operation: Operation) -> Call {
    Call {
        rank: Rank(1),
        ranks: 4,
        element_bytes: 8,
        in_place: false,
        nodes: NodeMap::ONE,
        operation,
    }
}

fn neighbour(rank: u32, start: usize, count: usize) -> Neighbour {
    Neighbour { rank: Rank(rank), start, count }
}

fn block(start: usize, count: usize) -> Block {
    Block { start, count }
}

#[test]
fn names_lead_back() {
    for collective in Collective::ALL {
        assert_eq!(Collective::from_name(collective.name()), Some(collective));
    }
    assert_eq!(Collective::from_name("gathering"), None);
}

#[test]
fn lengths_and_bytes() {
    let root = Rank(0);
    let commutative = true;
    let blocks: Arc<[Block]> = [block(9, 0), block(4, 2), block(0, 3), block(6, 1)].into();
    let all = || Blocks::All(blocks.clone());
    let (me, own) = (Rank(1), || Blocks::Own(2));
    let lists = || [Rank(0), Rank(0), Rank(3)].into();
    let cases = [
        (Operation::Barrier, (0, 0, 0)),
        (Operation::Bcast { count: 3, root }, (0, 3, 24)),
        (Operation::Gather { count: 3, root }, (3, 0, 96)),
        (Operation::Gather { count: 3, root: me }, (3, 12, 96)),
        (Operation::Gatherv { blocks: own(), root }, (2, 0, 0)),
        (Operation::Gatherv { blocks: all(), root: me }, (2, 7, 0)),
        (Operation::Scatter { count: 3, root }, (0, 3, 96)),
        (Operation::Scatter { count: 3, root: me }, (12, 3, 96)),
        (Operation::Scatterv { blocks: own(), root }, (0, 2, 0)),
        (Operation::Scatterv { blocks: all(), root: me }, (7, 2, 0)),
        (Operation::Reduce { count: 3, root, commutative }, (3, 0, 24)),
        (Operation::Reduce { count: 3, root: Rank(1), commutative }, (3, 3, 24)),
        (Operation::Allreduce { count: 3, commutative }, (3, 3, 24)),
        (Operation::ReduceScatterBlock { count: 3, commutative }, (12, 3, 96)),
        (Operation::ReduceScatter { counts: [1, 2, 0, 4].into(), commutative }, (7, 2, 56)),
        (Operation::Scan { count: 3, commutative }, (3, 3, 24)),
        (Operation::Exscan { count: 3, commutative }, (3, 3, 24)),
        (Operation::Allgather { count: 3 }, (3, 12, 96)),
        (Operation::Allgatherv { blocks: blocks.clone() }, (2, 7, 48)),
        (Operation::Alltoall { count: 3 }, (12, 12, 96)),
        (Operation::Alltoallv { to: [block(9, 2); 4].into(), from: blocks }, (11, 7, 0)),
        (Operation::Exchange { count: 3, to: lists(), from: [].into() }, (9, 0, 0)),
        (Operation::Exchangev { to: [neighbour(0, 2, 3)].into(), from: [].into() }, (5, 0, 0)),
        (neighbor_reduce(3, neighbour(0, 2, 4), &[Rank(2)]), (6, 3, 0)),
        (node_exchange(&[neighbour(0, 2, 3), neighbour(3, 7, 1)]), (8, 8, 32)),
    ];
    for (operation, expected) in cases {
        let call = call(operation);
        assert_eq!(call.check(), Ok(()));
        assert_eq!((call.input_len(), call.output_len(), call.bytes()), expected, "{call:?}");
        assert!(call.contribution().end() <= call.input_len());
    }
}

fn neighbor_reduce(count: usize, to: Neighbour, from: &[Rank]) -> Operation {
    Operation::NeighborReduce { count, to: [to].into(), from: from.into(), commutative: false }
}

/// A reduction among neighbours is refused for neighbours that there are not, for results and
/// blocks too large for memory, in place, and if a rank is its own source but not its destination,
/// or the other way round, or with another length.
#[test]
fn neighbor_reduce_with_wrong_neighbours() {
    let check = |operation| call(operation).check();
    let me = call(Operation::Barrier).rank;
    let unknown = Err(CallError::Neighbour { neighbour: Rank(4), ranks: 4 });
    assert_eq!(check(neighbor_reduce(1, neighbour(4, 0, 1), &[])), unknown);
    assert_eq!(check(neighbor_reduce(1, neighbour(0, 0, 1), &[Rank(4)])), unknown);
    let own = neighbour(me.0, 3, 2);
    assert_eq!(check(neighbor_reduce(2, own, &[me, Rank(0)])), Ok(()));
    for operation in [
        neighbor_reduce(1, own, &[me]),
        neighbor_reduce(2, own, &[Rank(0)]),
        neighbor_reduce(2, own, &[me, me]),
        neighbor_reduce(2, neighbour(0, 0, 2), &[me]),
    ] {
        assert_eq!(check(operation), Err(CallError::Itself { rank: me }));
    }
    for operation in [
        neighbor_reduce(usize::MAX / 2, neighbour(0, 0, 1), &[Rank(0); 3]),
        neighbor_reduce(1, neighbour(0, usize::MAX, 2), &[Rank(0)]),
    ] {
        assert_eq!(check(operation), Err(CallError::TooLarge));
    }
    let mut in_place = call(neighbor_reduce(1, neighbour(0, 0, 1), &[]));
    in_place.in_place = true;
    assert_eq!(in_place.check(), Err(CallError::InPlace(Collective::NeighborReduce)));
}

/// In place there is no input, and what a rank contributes lies in its output.
#[test]
fn in_place() {
    let blocks: Arc<[Block]> = [block(0, 1), block(5, 2), block(2, 1), block(3, 1)].into();
    let root = Rank(1);
    let cases = [
        (Operation::Gather { count: 3, root }, 3..6),
        (Operation::Gatherv { blocks: Blocks::All(blocks.clone()), root }, 5..7),
        (Operation::Allreduce { count: 3, commutative: true }, 0..3),
        (Operation::Reduce { count: 3, root: Rank(1), commutative: true }, 0..3),
        (Operation::ReduceScatterBlock { count: 3, commutative: true }, 0..12),
        (Operation::ReduceScatter { counts: [1, 2, 0, 4].into(), commutative: true }, 0..7),
        (Operation::Scan { count: 3, commutative: true }, 0..3),
        (Operation::Exscan { count: 3, commutative: true }, 0..3),
        (Operation::Allgather { count: 3 }, 3..6),
        (Operation::Allgatherv { blocks: blocks.clone() }, 5..7),
        (Operation::Alltoall { count: 3 }, 0..12),
        (Operation::Alltoallv { to: blocks.clone(), from: blocks }, 0..7),
    ];
    for (operation, expected) in cases {
        let call = Call { in_place: true, ..call(operation) };
        assert_eq!((call.check(), call.input_len()), (Ok(()), 0));
        assert_eq!(call.contribution().positions(), expected, "{call:?}");
        assert!(call.contribution().end() <= call.output_len(), "{call:?}");
    }
}

/// In place a scatter has no output: the block of the root stays in the input.
///
/// spec: 70
#[test]
fn in_place_in_the_input() {
    let blocks = Blocks::All([block(0, 1), block(5, 2), block(2, 1), block(3, 1)].into());
    let root = Rank(1);
    for (operation, len) in
        [(Operation::Scatter { count: 3, root }, 12), (Operation::Scatterv { blocks, root }, 7)]
    {
        let call = Call { in_place: true, ..call(operation) };
        assert_eq!((call.check(), call.input_len(), call.output_len()), (Ok(()), len, 0));
        assert_eq!(call.contribution().positions(), 0..len);
    }
}

#[test]
fn what_is_wrong() {
    let everywhere: std::sync::Arc<[Rank]> = [Rank(4)].into();
    let (rank, ranks, root) = (Rank(1), 4, Rank(0));
    let cases = [
        (Operation::Bcast { count: 1, root: Rank(4) }, CallError::Root { root: Rank(4), ranks }),
        (
            Operation::Exchange { count: 1, to: everywhere, from: [].into() },
            CallError::Neighbour { neighbour: Rank(4), ranks },
        ),
        (
            Operation::Allgatherv { blocks: [block(0, 1)].into() },
            CallError::Blocks { blocks: 1, ranks },
        ),
        (
            Operation::Scatterv { blocks: Blocks::All([block(0, 1)].into()), root: rank },
            CallError::Blocks { blocks: 1, ranks },
        ),
        (
            Operation::Gatherv { blocks: Blocks::All([block(0, 1); 4].into()), root: rank },
            CallError::Overlap { element: 0 },
        ),
        (
            Operation::Gatherv { blocks: Blocks::Own(2), root: rank },
            CallError::Knowledge { rank, root: rank, passed: "only its own block" },
        ),
        (
            Operation::Scatterv { blocks: Blocks::All([block(0, 1); 4].into()), root },
            CallError::Knowledge { rank, root, passed: "the blocks of all ranks" },
        ),
        (
            Operation::Allgatherv {
                blocks: [block(0, 2), block(5, 3), block(5, 0), block(7, 1)].into(),
            },
            CallError::Overlap { element: 7 },
        ),
        (
            Operation::Exchangev {
                to: [].into(),
                from: [neighbour(0, 0, 2), neighbour(2, 1, 1)].into(),
            },
            CallError::Overlap { element: 1 },
        ),
        (
            Operation::ReduceScatter { counts: [1; 5].into(), commutative: true },
            CallError::Blocks { blocks: 5, ranks },
        ),
        (
            Operation::ReduceScatter { counts: [usize::MAX; 4].into(), commutative: true },
            CallError::TooLarge,
        ),
        (
            Operation::Alltoallv { to: [block(0, 1); 4].into(), from: [block(0, 0); 3].into() },
            CallError::Blocks { blocks: 3, ranks },
        ),
        (
            Operation::Alltoallv { to: [block(0, 0); 4].into(), from: [block(0, 1); 4].into() },
            CallError::Overlap { element: 0 },
        ),
        (
            Operation::Alltoallv { to: [block(0, 1); 4].into(), from: [block(0, 0); 4].into() },
            CallError::Itself { rank },
        ),
        (
            Operation::Exchange { count: 1, to: [rank].into(), from: [Rank(0)].into() },
            CallError::Itself { rank },
        ),
        (
            Operation::Exchangev {
                to: [neighbour(1, 0, 2)].into(),
                from: [neighbour(1, 0, 1)].into(),
            },
            CallError::Itself { rank },
        ),
        (Operation::Allgather { count: usize::MAX / 2 }, CallError::TooLarge),
        (Operation::Bcast { count: usize::MAX / 8, root }, CallError::TooLarge),
        (
            Operation::Exchangev { to: [neighbour(0, usize::MAX, 1)].into(), from: [].into() },
            CallError::TooLarge,
        ),
    ];
    for (operation, expected) in cases {
        assert_eq!(call(operation).check(), Err(expected));
    }
    assert_eq!(
        Call { rank: Rank(4), ..call(Operation::Barrier) }.check(),
        Err(CallError::Rank { rank: Rank(4), ranks })
    );
}

/// spec: 69, 70, 73, 76
#[test]
fn in_place_where_there_is_no_such_form() {
    let root = Rank(0);
    let rooted = [
        Operation::Reduce { count: 1, root, commutative: true },
        Operation::Gather { count: 1, root },
        Operation::Gatherv { blocks: Blocks::Own(1), root },
        Operation::Scatter { count: 1, root },
        Operation::Scatterv { blocks: Blocks::Own(1), root },
    ];
    let exchange = Operation::Exchange { count: 1, to: [].into(), from: [].into() };
    let in_place = |operation| Call { in_place: true, ..call(operation) }.check();
    let alltoallv =
        Operation::Alltoallv { to: [block(0, 1); 4].into(), from: [block(0, 0); 4].into() };
    assert_eq!(in_place(alltoallv), Err(CallError::InPlaceBlocks { rank: Rank(1) }));
    for operation in rooted {
        assert_eq!(in_place(operation), Err(CallError::InPlaceNotRoot { rank: Rank(1), root }));
    }
    assert_eq!(in_place(exchange), Err(CallError::InPlace(Collective::Exchange)));
}

/// What the ranks of both groups have, where each sees the other group as the far one.
///
/// spec: 86, 88, 89
#[test]
fn lengths_and_bytes_between_groups() {
    let (left, count, commutative) = (1, 3, true);
    let blocks = |blocks: &[Block]| blocks.into();
    let counts = [2, 5];
    let own_counts = |counts: &[usize]| counts.into();
    let of = |first: Operation, second: Operation| {
        let lengths = |rank, operation| {
            let call = Call { rank: Rank(rank), ..call(operation) };
            assert_eq!(call.check(), Ok(()), "{call:?}");
            assert_eq!(call.contribution().len, call.input_len());
            (call.input_len(), call.output_len(), call.bytes())
        };
        [lengths(0, first), lengths(2, second)]
    };
    let same = |operation: Operation| of(operation.clone(), operation);
    assert_eq!(same(Operation::InterBarrier { left }), [(0, 0, 0); 2]);
    let found = same(Operation::InterAllgather { left, counts });
    assert_eq!(found, [(2, 15, 120), (5, 2, 120)]);
    let found = of(
        Operation::InterAllgatherv {
            left,
            own: 2,
            blocks: blocks(&[block(0, 1), block(4, 2), block(9, 0)]),
        },
        Operation::InterAllgatherv { left, own: 1, blocks: blocks(&[block(3, 2)]) },
    );
    assert_eq!(found, [(2, 6, 0), (1, 5, 0)]);
    let reduce = |root| same(Operation::InterReduce { left, count, root: Rank(root), commutative });
    assert_eq!(reduce(0), [(0, 3, 24), (3, 0, 24)]);
    assert_eq!(reduce(1), [(3, 0, 24), (0, 0, 24)]);
    assert_eq!(reduce(2), [(3, 0, 24), (0, 3, 24)]);
    let found = same(Operation::InterAllreduce { left, count, commutative });
    assert_eq!(found, [(3, 3, 24); 2]);
    let counts = [6, 2];
    let found = same(Operation::InterReduceScatterBlock { left, counts, commutative });
    assert_eq!(found, [(6, 6, 48), (6, 2, 48)]);
    let scatter = |counts| Operation::InterReduceScatter { left, counts, commutative };
    let found = of(scatter(own_counts(&[7])), scatter(own_counts(&[1, 4, 2])));
    assert_eq!(found, [(7, 7, 56), (7, 4, 56)]);
}

/// Both groups have ranks, share out the same, and have no form in place.
///
/// spec: 88, 89
#[test]
fn what_is_wrong_between_groups() {
    let (count, commutative, ranks) = (1, true, 4);
    let every = |left| -> [Operation; 7] {
        [
            Operation::InterBarrier { left },
            Operation::InterAllgather { left, counts: [1, 2] },
            Operation::InterAllgatherv { left, own: 1, blocks: [block(0, 1); 2].into() },
            Operation::InterReduce { left, count, root: Rank(1), commutative },
            Operation::InterAllreduce { left, count, commutative },
            Operation::InterReduceScatterBlock { left, counts: [1, 1], commutative },
            Operation::InterReduceScatter { left, counts: [1; 2].into(), commutative },
        ]
    };
    for operation in every(2) {
        let call = Call { in_place: true, ..call(operation) };
        assert_eq!(call.check(), Err(CallError::InPlace(call.collective())));
    }
    for left in [0, 4, 5] {
        for operation in every(left) {
            assert_eq!(call(operation).check(), Err(CallError::Groups { left, ranks }));
        }
    }
    let left = 3;
    let (blocks, counts) = ([block(0, 2), block(1, 1)].into(), [2; 4].into());
    let cases = [
        (
            Operation::InterReduceScatterBlock { left, counts: [2, 5], commutative },
            CallError::Totals(6, 5),
        ),
        (
            Operation::InterReduceScatterBlock { left, counts: [usize::MAX, 1], commutative },
            CallError::TooLarge,
        ),
        (Operation::InterAllgather { left, counts: [0, usize::MAX / 8] }, CallError::TooLarge),
        (
            Operation::InterAllgatherv { left, own: 1, blocks },
            CallError::Blocks { blocks: 2, ranks: 1 },
        ),
        (
            Operation::InterAllgatherv {
                left: 2,
                own: 1,
                blocks: [block(0, 2), block(1, 1)].into(),
            },
            CallError::Overlap { element: 1 },
        ),
        (
            Operation::InterReduceScatter { left, counts, commutative },
            CallError::Blocks { blocks: 4, ranks: 3 },
        ),
        (
            Operation::InterReduce { left, count, root: Rank(4), commutative },
            CallError::Root { root: Rank(4), ranks },
        ),
        (Operation::InterAllreduce { left, count: usize::MAX, commutative }, CallError::TooLarge),
    ];
    for (operation, expected) in cases {
        assert_eq!(call(operation).check(), Err(expected));
    }
    assert_eq!(
        CallError::Totals(6, 5).to_string(),
        "the first group receives 6 elements in all, but the second 5"
    );
}

/// An exchange with these neighbours, who are all on another node than rank 1.
fn node_exchange(neighbours: &[Neighbour]) -> Operation {
    let edge = |(block, other): (usize, &Neighbour)| Edge {
        rank: other.rank,
        node: 9,
        block: block as u32,
        count: other.count,
    };
    let edges: Arc<[Edge]> = neighbours.iter().enumerate().map(edge).collect();
    let demand = EdgeDemand { messages: 2, elements: 4, copied: 1 };
    let surroundings = NodeKnowledge {
        node: 7,
        mates: [NodePeer { rank: Rank(1), to: edges.clone(), from: edges }].into(),
        demands: Demands { linear: demand, two_step: demand, three_step: demand },
    };
    Operation::NodeExchange {
        to: neighbours.into(),
        from: neighbours.into(),
        surroundings: surroundings.into(),
    }
}

/// An operation of every collective, with lengths that differ where they may.
fn every_operation() -> Vec<Operation> {
    let (root, commutative, count, left) = (Rank(1), false, 3, 2);
    let blocks: Arc<[Block]> = [block(9, 0), block(4, 2), block(0, 3), block(6, 1)].into();
    let far: Arc<[Block]> = [block(5, 2), block(1, 3)].into();
    let all = || Blocks::All(blocks.clone());
    let ranks: Arc<[Rank]> = [Rank(0), Rank(0), Rank(3)].into();
    let neighbours: Arc<[Neighbour]> = [neighbour(0, 2, 3), neighbour(3, 7, 1)].into();
    vec![
        Operation::Barrier,
        Operation::Bcast { count, root },
        Operation::Gather { count, root },
        Operation::Gatherv { blocks: all(), root },
        Operation::Gatherv { blocks: Blocks::Own(2), root: Rank(0) },
        Operation::Scatter { count, root },
        Operation::Scatterv { blocks: all(), root },
        Operation::Reduce { count, root, commutative },
        Operation::Allreduce { count, commutative },
        Operation::ReduceScatterBlock { count, commutative },
        Operation::ReduceScatter { counts: [1, 2, 0, 4].into(), commutative },
        Operation::Scan { count, commutative },
        Operation::Exscan { count, commutative },
        Operation::Allgather { count },
        Operation::Allgatherv { blocks: blocks.clone() },
        Operation::Alltoall { count },
        Operation::Alltoallv { to: blocks.clone(), from: blocks.clone() },
        Operation::Exchange { count, to: ranks.clone(), from: ranks },
        node_exchange(&neighbours),
        Operation::Exchangev { to: neighbours.clone(), from: neighbours },
        neighbor_reduce(count, neighbour(0, 2, 3), &[Rank(3), Rank(3)]),
        Operation::InterBarrier { left },
        Operation::InterAllgather { left, counts: [1, 2] },
        Operation::InterAllgatherv { left, own: 4, blocks: far },
        Operation::InterReduce { left, count, root, commutative },
        Operation::InterAllreduce { left, count, commutative },
        Operation::InterReduceScatterBlock { left, counts: [3, 3], commutative },
        Operation::InterReduceScatter { left, counts: [1, 5].into(), commutative },
    ]
}

/// With elements cut in three, all lengths are three times as long, and nothing else changes.
#[test]
fn scaled_operations() {
    let operations = every_operation();
    for collective in Collective::ALL {
        assert!(operations.iter().any(|operation| operation.collective() == collective));
    }
    for operation in operations {
        let whole = call(operation.clone());
        let (input, output, bytes) = (whole.input_len(), whole.output_len(), whole.bytes());
        assert_eq!(whole.check(), Ok(()));
        let scaled = call(operation.scaled(3).expect("it fits"));
        assert_eq!(scaled.check(), Ok(()));
        let lengths = (scaled.input_len(), scaled.output_len(), scaled.bytes());
        assert_eq!(lengths, (3 * input, 3 * output, 3 * bytes), "{operation:?}");
        assert_eq!(scaled.contribution().start, 3 * whole.contribution().start);
        assert_eq!(
            (scaled.collective(), scaled.operation.root(), scaled.operation.left()),
            (whole.collective(), operation.root(), operation.left())
        );
        assert_eq!(scaled.operation.commutative(), operation.commutative());
        assert_eq!(operation.scaled(1), Ok(operation.clone()));
        let has_data = input + output > 0;
        let expected = if has_data { Err(CallError::TooLarge) } else { Ok(operation.clone()) };
        assert_eq!(operation.scaled(usize::MAX), expected);
    }
}
