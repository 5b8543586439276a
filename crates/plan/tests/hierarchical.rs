//! The algorithms by node: right on all small divisions into nodes, with no more messages between
//! nodes than a collective of one rank for each node has.

mod cases;

use cases::{calls, check, plans};
use motet_plan::{
    Algorithm, Block, Call, Collective, NodeMap, Operation, Plan, Rank, Refusal, Tuning, algo,
    select,
};

const SEEDS: u64 = 6;

const COLLECTIVES: [Collective; 13] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Gather,
    Collective::Scatter,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::Allgather,
    Collective::Allgatherv,
    Collective::Alltoall,
    Collective::ReduceScatterBlock,
    Collective::ReduceScatter,
    Collective::Scan,
    Collective::Exscan,
];

/// The node of each rank, in several ways: even, uneven, with nodes of one rank, and in turns.
const NODES: [&[usize]; 8] = [
    &[0, 0, 1],
    &[0, 1, 1],
    &[0, 0, 1, 1],
    &[0, 1, 0, 1],
    &[0, 0, 1, 1, 2, 2],
    &[0, 1, 1, 1, 2, 3, 3],
    &[0, 1, 2, 0, 1, 2, 0],
    &[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
];

fn row(collective: Collective) -> &'static dyn Algorithm {
    algo::find(collective, "hierarchical").expect("the table has the row")
}

/// The operation with this much data, this root and this kind of operator, among so many ranks.
fn operation(
    collective: Collective,
    ranks: usize,
    (count, root, commutative): (usize, Rank, bool),
) -> Operation {
    // Of different lengths, some of none.
    let lengths = (0..ranks).map(|rank| if rank % 2 == 0 { count } else { rank % 3 * count });
    match collective {
        Collective::Barrier => Operation::Barrier,
        Collective::Bcast => Operation::Bcast { count, root },
        Collective::Gather => Operation::Gather { count, root },
        Collective::Scatter => Operation::Scatter { count, root },
        Collective::Reduce => Operation::Reduce { count, root, commutative },
        Collective::Allreduce => Operation::Allreduce { count, commutative },
        Collective::Allgather => Operation::Allgather { count },
        Collective::Allgatherv => {
            let blocks = lengths.scan(0, |end, count| {
                let start = *end;
                *end += count;
                Some(Block { start, count })
            });
            Operation::Allgatherv { blocks: blocks.collect() }
        }
        Collective::Alltoall => Operation::Alltoall { count },
        Collective::ReduceScatterBlock => Operation::ReduceScatterBlock { count, commutative },
        Collective::ReduceScatter => {
            Operation::ReduceScatter { counts: lengths.collect(), commutative }
        }
        Collective::Scan => Operation::Scan { count, commutative },
        Collective::Exscan => Operation::Exscan { count, commutative },
        _ => unreachable!("{collective} has no algorithm by node"),
    }
}

/// Whether the ranks of each node must follow each other.
fn needs_runs(collective: Collective, commutative: bool) -> bool {
    match collective {
        Collective::Barrier | Collective::Bcast | Collective::Alltoall => false,
        Collective::Reduce | Collective::Allreduce => !commutative,
        _ => true,
    }
}

fn on_nodes(nodes: &[usize], in_place: bool, operation: &Operation) -> Vec<Call> {
    let mut calls = calls(nodes.len() as u32, in_place, |_| operation.clone());
    let division = NodeMap::new(nodes.iter().copied());
    calls.iter_mut().for_each(|call| call.nodes = division.clone());
    calls
}

/// All calls of a collective on these nodes.
fn all_calls(collective: Collective, nodes: &[usize]) -> Vec<Vec<Call>> {
    let mut all = Vec::new();
    for root in (0..nodes.len() as u32).map(Rank) {
        for (count, in_place) in [(0, false), (1, false), (3, true), (40, false)] {
            for commutative in [false, true] {
                let operation = operation(collective, nodes.len(), (count, root, commutative));
                let in_place =
                    in_place && !matches!(operation, Operation::Barrier | Operation::Bcast { .. });
                let is_new = operation.commutative().is_some() || commutative;
                if is_new && (operation.root().is_some() || root == Rank(0)) {
                    all.push(on_nodes(nodes, in_place, &operation));
                }
            }
        }
    }
    all
}

/// Messages between nodes, and their elements.
fn between(calls: &[Call], plans: &[Plan]) -> (usize, usize) {
    let sent = calls.iter().zip(plans).map(|(call, plan)| plan.sent_to_other_nodes(&call.nodes));
    sent.fold((0, 0), |(messages, elements), sent| {
        (messages + sent.messages, elements + sent.elements)
    })
}

/// Every call on every division that the algorithm accepts gives what the standard says, whether
/// or not sends wait for their receives, and also step by step.
#[test]
fn results_are_right_on_all_nodes() {
    for collective in COLLECTIVES {
        for nodes in NODES {
            let mut accepted = 0;
            for calls in all_calls(collective, nodes) {
                if row(collective).accepts(&calls[0]).is_ok() {
                    accepted += 1;
                    if let Err(violation) = check(&calls, &plans(row(collective), &calls), SEEDS) {
                        panic!("{collective} on {nodes:?}: {violation}: {:?}", calls[0]);
                    }
                }
            }
            let may_refuse = needs_runs(collective, true) && !nodes.is_sorted();
            assert!(accepted > 0 || may_refuse, "{collective} {nodes:?}");
        }
    }
}

/// Messages between nodes, and their elements, of the algorithm by node.
fn counted(collective: Collective, nodes: &[usize], count: usize, root: Rank) -> (usize, usize) {
    let operation = operation(collective, nodes.len(), (count, root, false));
    let calls = on_nodes(nodes, false, &operation);
    between(&calls, &plans(row(collective), &calls))
}

fn in_runs() -> impl Iterator<Item = (&'static [usize], usize)> {
    let sorted = NODES.into_iter().filter(|nodes| nodes.is_sorted());
    sorted.map(|nodes| (nodes, nodes[nodes.len() - 1] + 1))
}

/// Between nodes are the fewest messages that there can be: a root hears of each other node once,
/// or tells it once. No data goes to a node twice.
#[test]
fn messages_from_and_to_a_root_are_the_fewest() {
    let count = 3;
    for (nodes, number) in in_runs() {
        for root in (0..nodes.len() as u32).map(Rank) {
            let beside_root = nodes.iter().filter(|&&node| node != nodes[root.index()]).count();
            for collective in
                [Collective::Bcast, Collective::Reduce, Collective::Gather, Collective::Scatter]
            {
                let elements = match collective {
                    Collective::Bcast | Collective::Reduce => (number - 1) * count,
                    _ => beside_root * count,
                };
                let found = counted(collective, nodes, count, root);
                assert_eq!(found, (number - 1, elements), "{collective} {nodes:?}");
            }
        }
    }
}

/// Where all nodes must hear of all others, messages are those of the algorithm that is chosen for
/// as many ranks as there are nodes; where each has something of its own for each other, one for
/// each pair. No data goes to a node twice.
#[test]
fn messages_among_all_nodes_are_those_of_one_rank_each() {
    let count = 3;
    for (nodes, number) in in_runs() {
        let (ranks, pairs) = (nodes.len(), number * (number - 1));
        let found = |collective| counted(collective, nodes, count, Rank(0));
        for collective in [
            Collective::Barrier,
            Collective::Allreduce,
            Collective::Allgather,
            Collective::Allgatherv,
            Collective::ReduceScatterBlock,
            Collective::ReduceScatter,
        ] {
            let messages = found(collective).0;
            // Nobody knows of all before `number - 1` messages, and as many must tell the others.
            assert!((2 * (number - 1)..=pairs).contains(&messages), "{collective} {nodes:?}");
        }
        assert_eq!(found(Collective::Allgather).1, ranks * count * (number - 1), "{nodes:?}");
        let (messages, elements) = found(Collective::Allreduce);
        assert_eq!(elements, messages * count, "{nodes:?}");
        for collective in [Collective::Scan, Collective::Exscan] {
            let (messages, elements) = found(collective);
            assert!((number - 1..=pairs / 2).contains(&messages), "{collective} {nodes:?}");
            assert_eq!(elements, messages * count, "{collective} {nodes:?}");
        }
        let size = |node| nodes.iter().filter(|of| **of == node).count();
        let within: usize = (0..number).map(|node| size(node) * size(node)).sum();
        let alltoall = (pairs, (ranks * ranks - within) * count);
        assert_eq!(found(Collective::Alltoall), alltoall, "{nodes:?}");
    }
}

/// Ranks of a node that all have something for all other nodes share the messages among them.
#[test]
fn ranks_of_a_node_take_turns() {
    let nodes: Vec<_> = (0..24).map(|rank| rank / 4).collect();
    let operation = operation(Collective::Alltoall, nodes.len(), (2, Rank(0), true));
    let calls = on_nodes(&nodes, false, &operation);
    for (call, plan) in calls.iter().zip(plans(row(Collective::Alltoall), &calls)) {
        let sent = plan.sent_to_other_nodes(&call.nodes).messages;
        assert!(sent <= 2, "rank {} of 4 on a node sends {sent} messages of 5", call.rank);
    }
}

/// What a rank is told of all blocks must not be longer than what it sends.
#[test]
fn alltoall_is_for_a_limited_number_of_blocks() {
    let accepts = |ranks: usize| {
        let nodes: Vec<_> = (0..ranks).map(|rank| rank / 64).collect();
        let operation = operation(Collective::Alltoall, ranks, (1, Rank(0), true));
        let division = NodeMap::new(nodes);
        let call = Call {
            rank: Rank(0),
            ranks: ranks as u32,
            element_bytes: 8,
            in_place: false,
            nodes: division,
            operation,
        };
        row(Collective::Alltoall).accepts(&call)
    };
    assert_eq!(accepts(1024), Ok(()));
    assert_eq!(accepts(1088), Err(Refusal::TooManyRanks { ranks: 1088, most: 1024 }));
}

/// On one node, or on nodes of one rank each, there is nothing to tell apart; and what must stay in
/// the order of ranks needs nodes that are runs.
#[test]
fn other_divisions_are_refused() {
    for collective in COLLECTIVES {
        let accepts = |nodes: &[usize], commutative| {
            let operation = operation(collective, nodes.len(), (2, Rank(1), commutative));
            row(collective).accepts(&on_nodes(nodes, false, &operation)[0])
        };
        assert_eq!(accepts(&[0, 0, 0], true), Err(Refusal::NoNodes));
        assert_eq!(accepts(&[0, 1, 2], true), Err(Refusal::NoNodes));
        assert_eq!(accepts(&[0, 0, 1], false), Ok(()));
        for commutative in [false, true] {
            let refused = needs_runs(collective, commutative);
            let expected = if refused { Err(Refusal::Scattered) } else { Ok(()) };
            assert_eq!(accepts(&[0, 1, 0], commutative), expected, "{collective}");
        }
    }
}

/// On several nodes these algorithms are taken for short data; on one, and where the result must
/// have the same bits on every machine, nodes play no part.
#[test]
fn they_are_chosen_on_several_nodes() {
    let nodes: Vec<_> = (0..24).map(|rank| rank / 8).collect();
    for collective in COLLECTIVES {
        let call =
            &on_nodes(&nodes, false, &operation(collective, nodes.len(), (4, Rank(9), true)))[0];
        let name = |call: &Call| {
            select::choose(call, &Tuning::default()).expect("a call").algorithm.name()
        };
        assert_eq!(name(call), "hierarchical", "{collective}");
        let alone = Call { nodes: NodeMap::ONE, ..call.clone() };
        assert_ne!(name(&alone), "hierarchical", "{collective}");
        let fixed = |call| select::fixed(call).expect("a call").algorithm.name();
        assert_eq!(fixed(call), fixed(&alone), "{collective}");
    }
}

/// Asked for by name they are taken where there are nodes to tell apart; elsewhere it is as if
/// nobody had asked, so that one name serves communicators of all kinds.
#[test]
fn by_name_they_are_taken_where_there_are_nodes() {
    let overrides = "allreduce=hierarchical".parse().expect("a row of the table");
    let tuning = Tuning { overrides, ..Tuning::default() };
    let operation = operation(Collective::Allreduce, 3, (100_000, Rank(0), false));
    let choose = |nodes| select::choose(&on_nodes(nodes, false, &operation)[0], &tuning);
    assert_eq!(choose(&[0, 0, 1]).expect("nodes").reason, select::Reason::Override);
    assert_ne!(choose(&[0, 0, 0]).expect("one node").algorithm.name(), "hierarchical");
    assert!(choose(&[0, 1, 0]).unwrap_err().to_string().contains("nodes of consecutive ranks"));
}

/// All ranks must say the same of the nodes, and of all ranks.
#[test]
fn calls_that_disagree_about_nodes_are_wrong() {
    let operation = operation(Collective::Bcast, 3, (1, Rank(0), true));
    let mut calls = on_nodes(&[0, 0, 1], false, &operation);
    calls[2].nodes = NodeMap::new([0, 1, 1]);
    let violation = check(&calls, &plans(row(Collective::Bcast), &calls), 1).unwrap_err();
    assert!(violation.to_string().contains("division into nodes"), "{violation}");
    calls[2].nodes = NodeMap::new([0, 1, 1, 1]);
    let error = calls[2].check().unwrap_err().to_string();
    assert_eq!(error, "the node map is of 4 ranks, but the communicator has 3");
}
