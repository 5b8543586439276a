//! Calls: their sizes, and what a rank can find wrong alone.

use std::sync::Arc;

use motet_plan::{Block, Blocks, Call, CallError, Collective, Neighbour, Operation, Rank};

fn call(operation: Operation) -> Call {
    Call { rank: Rank(1), ranks: 4, element_bytes: 8, in_place: false, operation }
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
    ];
    for (operation, expected) in cases {
        let call = call(operation);
        assert_eq!(call.check(), Ok(()));
        assert_eq!((call.input_len(), call.output_len(), call.bytes()), expected, "{call:?}");
        assert!(call.contribution().end() <= call.input_len());
    }
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
