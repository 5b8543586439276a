//! Phases: collectives of some of the ranks within a plan, and larger ones put together from them.

mod cases;

use cases::{Sizes, calls, check, specimen};
use motet_plan::{
    Algorithm, Builder, Call, Collective, Cost, Data, NodeMap, Operation, Phase, Plan, Rank, Slice,
    algo,
};

const SEEDS: u64 = 24;

fn row(collective: Collective, name: &str) -> &'static dyn Algorithm {
    algo::find(collective, name).expect("the table has the row")
}

fn by_hand(calls: &[Call], write: impl Fn(&Call, &mut Builder<'_>)) -> Vec<Plan> {
    let plan = |call| {
        let mut builder = Builder::new(call);
        write(call, &mut builder);
        builder.finish("by hand")
    };
    calls.iter().map(plan).collect()
}

/// The ranks that share a node with the calling rank, in nodes of `size`.
fn node(call: &Call, size: u32) -> Vec<Rank> {
    let first = call.rank.0 / size * size;
    (first..call.ranks.min(first + size)).map(Rank).collect()
}

/// The first rank of each node.
fn leaders(call: &Call, size: u32) -> Vec<Rank> {
    (0..call.ranks).step_by(size as usize).map(Rank).collect()
}

/// A phase of all ranks is the plan itself, step by step and edge by edge, for every algorithm and
/// in place too.
#[test]
fn a_phase_of_all_ranks_is_the_whole() {
    let sizes = Sizes { count: 7, block: |rank| 1 + rank % 3, commutative: true };
    let mut compared = 0;
    let is_phase = |row: &&&'static dyn Algorithm| {
        !matches!(row.collective(), Collective::Barrier | Collective::InterBarrier)
    };
    for row in algo::table().iter().filter(is_phase) {
        for (ranks, in_place) in [(4, false), (5, false), (4, true), (5, true)] {
            for mut call in specimen(row.collective(), ranks, &sizes) {
                // A phase knows no nodes.
                call.nodes = NodeMap::ONE;
                call.in_place = in_place;
                if call.check().is_err() || row.accepts(&call).is_err() {
                    continue;
                }
                let members: Vec<_> = (0..ranks).map(Rank).collect();
                let plan = by_hand(std::slice::from_ref(&call), |call, builder| {
                    let (input, output) = (builder.input(), builder.output());
                    let data = match (in_place, output.is_empty()) {
                        (true, true) => Data::InPlace(input),
                        (true, false) => Data::InPlace(output),
                        (false, _) => Data::Apart { input, output },
                    };
                    let operation = call.operation.clone();
                    builder.within(*row, &Phase { members: &members, operation, data });
                });
                let (mut found, whole) = (plan[0].parts(), row.plan(&call).unwrap().parts());
                found.algorithm = whole.algorithm;
                assert_eq!(found, whole, "{row:?} {call:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 4 * algo::table().len(), "{compared}");
}

/// Nodes reduce to their first ranks, these reduce among themselves, and each node broadcasts:
/// the same result and the same bits as by one algorithm. Each message is counted where it is, and
/// steps of different phases wait for each other only by their data.
#[test]
fn an_allreduce_over_nodes() {
    for (ranks, size) in [(1, 1), (4, 2), (5, 2), (7, 3), (9, 4), (8, 8), (12, 4)] {
        for leading in algo::of(Collective::Allreduce) {
            let calls =
                calls(ranks, false, |_| Operation::Allreduce { count: 5, commutative: false });
            if leading.accepts(&calls[0]).is_err() {
                continue;
            }
            let plans = by_hand(&calls, |call, builder| {
                let (node, leaders) = (node(call, size), leaders(call, size));
                let (count, root, commutative) = (5, Rank(0), false);
                let sum = if node[0] == call.rank { builder.scratch(5) } else { Slice::NONE };
                let (input, output) = (builder.contribution(), builder.output());
                let phase = |operation, input, output| Phase {
                    members: &node,
                    operation,
                    data: Data::Apart { input, output },
                };
                let reduce = Operation::Reduce { count, root, commutative };
                builder.within(row(Collective::Reduce, "binomial"), &phase(reduce, input, sum));
                let allreduce = Phase {
                    members: &leaders,
                    operation: call.operation.clone(),
                    data: Data::Apart { input: sum, output },
                };
                builder.within(leading, &allreduce);
                let bcast = phase(Operation::Bcast { count, root }, Slice::NONE, output);
                builder.within(row(Collective::Bcast, "binomial"), &bcast);
            });
            if let Err(violation) = check(&calls, &plans, SEEDS) {
                panic!("{leading:?}, {ranks} ranks in nodes of {size}: {violation}");
            }
        }
    }
}

/// Members in any order, far apart from each other, as a phase of a phase: blocks gathered by every
/// other rank arrive in the order of the list.
#[test]
fn members_in_any_order_and_phases_of_phases() {
    struct Nested;

    impl Algorithm for Nested {
        fn name(&self) -> &'static str {
            "nested"
        }

        fn collective(&self) -> Collective {
            Collective::Allgather
        }

        fn summary(&self) -> &'static str {
            "the last rank comes first, and a phase of the rest follows"
        }

        fn accepts(&self, _: &Call) -> Result<(), motet_plan::Refusal> {
            Ok(())
        }

        fn cost(&self, _: &Call) -> Cost {
            Cost::default()
        }

        /// The first member has the block of all others from a gather of its own.
        fn build(&self, call: &Call, builder: &mut Builder<'_>) {
            let members: Vec<_> = (0..call.ranks).map(Rank).rev().collect();
            let (count, root) = (builder.contribution().len, Rank(0));
            let (input, output) = (builder.contribution(), builder.output());
            // Reversed in scratch memory, then put in order where the broadcast begins.
            let reversed = if call.rank.0 + 1 == call.ranks { output.len } else { 0 };
            let room = builder.scratch(reversed);
            let data = Data::Apart { input, output: room };
            let operation = Operation::Gather { count, root };
            let gather = row(Collective::Gather, "binomial");
            builder.within(gather, &Phase { members: &members, operation, data });
            for block in 0..reversed / count.max(1) {
                let last = output.len - (block + 1) * count;
                builder.copy(room.sub(block * count, count), output.sub(last, count));
            }
            let operation = Operation::Bcast { count: output.len, root };
            let data = Data::Apart { input: Slice::NONE, output };
            let bcast = row(Collective::Bcast, "scatter_allgather");
            builder.within(bcast, &Phase { members: &members, operation, data });
        }
    }

    for ranks in 1..=6 {
        let calls = calls(ranks, false, |_| Operation::Allgather { count: 2 });
        let plans = by_hand(&calls, |call, builder| {
            let members: Vec<_> = (0..ranks).map(Rank).collect();
            let data = Data::Apart { input: builder.input(), output: builder.output() };
            let operation = call.operation.clone();
            builder.within(&Nested, &Phase { members: &members, operation, data });
        });
        check(&calls, &plans, SEEDS).unwrap_or_else(|found| panic!("{ranks} ranks: {found}"));
    }
}

fn within(data: impl Fn(&Builder<'_>) -> Data, operation: Operation, members: &[Rank]) -> Plan {
    let calls = calls(4, false, |_| Operation::Allreduce { count: 4, commutative: true });
    let row = algo::of(operation.collective()).next().expect("every collective has a row");
    by_hand(&calls[1..2], |_, builder| {
        let data = data(builder);
        builder.within(row, &Phase { members, operation: operation.clone(), data });
    })
    .remove(0)
}

fn apart(builder: &Builder<'_>) -> Data {
    Data::Apart { input: builder.input(), output: builder.output() }
}

/// Ranks that do not take part have nothing to do.
#[test]
fn who_is_no_member_has_no_steps() {
    let operation = Operation::Allreduce { count: 4, commutative: true };
    assert_eq!(within(apart, operation.clone(), &[Rank(0), Rank(2)]).steps(), []);
    assert_eq!(within(apart, operation, &[Rank(3), Rank(1)]).messages(), 1);
}

#[test]
#[should_panic(expected = "buffers of Call")]
fn buffers_have_the_lengths_of_the_phase() {
    within(apart, Operation::Allreduce { count: 3, commutative: true }, &[Rank(1)]);
}

#[test]
#[should_panic(expected = "overlaps")]
fn input_and_output_of_a_phase_lie_apart() {
    let data = |builder: &Builder<'_>| Data::Apart {
        input: builder.output().sub(0, 2),
        output: builder.output().sub(1, 2),
    };
    within(data, Operation::Allreduce { count: 2, commutative: true }, &[Rank(1)]);
}

#[test]
#[should_panic(expected = "a barrier has no buffers")]
fn a_barrier_is_no_phase() {
    let data = |_: &Builder<'_>| Data::Apart { input: Slice::NONE, output: Slice::NONE };
    within(data, Operation::Barrier, &[Rank(1)]);
}

/// What is done one after the other adds up; of what is done side by side the dearer counts.
#[test]
fn costs_of_phases() {
    let one = Cost { rounds: 1, extra_sends: 2, bytes: 3, repeated: 2, reduced: 4, copied: 5 };
    let other =
        Cost { rounds: 5, extra_sends: 4, bytes: 3, repeated: 1, reduced: 2, copied: usize::MAX };
    let sum =
        Cost { rounds: 6, extra_sends: 6, bytes: 6, repeated: 3, reduced: 6, copied: usize::MAX };
    assert_eq!(one.then(other), sum);
    let larger =
        Cost { rounds: 5, extra_sends: 4, bytes: 3, repeated: 2, reduced: 4, copied: usize::MAX };
    assert_eq!(one.beside(other), larger);
}
