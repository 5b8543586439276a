//! Plans that all ranks end together: right as they were before, and whatever fails at one rank is
//! known to all of them at the end.

mod cases;

use cases::{calls, check, plans};
use motet_plan::{Action, Algorithm, Call, Operation, Plan, Rank, StepId, algo};

const RANKS: std::ops::RangeInclusive<u32> = 1..=9;
const SEEDS: u64 = 4;

/// The reductions of so many ranks, with and without an operator that commutes.
fn operations(ranks: u32) -> Vec<Operation> {
    let (count, root) = (ranks as usize + 1, Rank(ranks / 2));
    let counts = || (0..ranks as usize).map(|rank| rank % 3).collect();
    let with = |commutative| {
        [
            Operation::Reduce { count, root, commutative },
            Operation::Allreduce { count, commutative },
            Operation::ReduceScatterBlock { count: 2, commutative },
            Operation::ReduceScatter { counts: counts(), commutative },
            Operation::Scan { count, commutative },
            Operation::Exscan { count, commutative },
        ]
    };
    let between = |commutative| {
        let left = ranks / 2;
        let reduce = |root| Operation::InterReduce { left, count, root, commutative };
        let counts = [ranks - left, left].map(|count| count as usize);
        [
            reduce(Rank(0)),
            reduce(Rank(ranks - 1)),
            Operation::InterAllreduce { left, count, commutative },
            Operation::InterReduceScatterBlock { left, counts, commutative },
        ]
    };
    let mut all: Vec<_> = [true, false].into_iter().flat_map(with).collect();
    if ranks > 1 {
        all.extend([true, false].into_iter().flat_map(between));
    }
    all
}

/// Each algorithm for each of these reductions, with its plans.
fn all(mut each: impl FnMut(&'static dyn Algorithm, &[Call], Vec<Plan>)) {
    for ranks in RANKS {
        for operation in operations(ranks) {
            let calls = calls(ranks, false, |_| operation.clone());
            let rows = algo::of(calls[0].collective());
            for row in rows.filter(|row| row.accepts(&calls[0]).is_ok()) {
                let plans = plans(row, &calls);
                let close = |(plan, call): (&Plan, _)| plan.closed_together(call);
                each(row, &calls, plans.iter().zip(&calls).map(close).collect());
            }
        }
    }
}

/// Which ranks know of a failure of this step at the end: whoever knows of it tells it in each
/// message that its plan has wait for that.
fn who_knows(plans: &[Plan], failed: (usize, StepId)) -> Vec<bool> {
    let mut knows: Vec<Vec<bool>> =
        plans.iter().map(|plan| vec![false; plan.steps().len()]).collect();
    let mut worklist = vec![failed];
    while let Some((rank, step)) = worklist.pop() {
        if std::mem::replace(&mut knows[rank][step.index()], true) {
            continue;
        }
        worklist.extend(plans[rank].successors(step).iter().map(|&after| (rank, after)));
        if let Action::Send { to, ordinal, .. } = *plans[rank].step(step) {
            let from = Rank(rank as u32);
            let is_end = |action: &Action| {
                matches!(*action, Action::Recv { from: source, ordinal: other, .. }
                    if source == from && other == ordinal)
            };
            let end = plans[to.index()].steps().iter().position(is_end);
            let end = end.expect("each message has two ends");
            worklist.push((to.index(), StepId(end as u32)));
        }
    }
    knows.iter().map(|steps| steps.contains(&true)).collect()
}

#[test]
fn they_are_right() {
    all(|row, calls, plans| {
        if let Err(violation) = check(calls, &plans, SEEDS) {
            panic!("{row:?} on {:?}: {violation}", calls[0]);
        }
    });
}

#[test]
fn all_ranks_know_what_fails_at_one() {
    let mut reductions = 0;
    all(|row, calls, plans| {
        for (rank, plan) in plans.iter().enumerate() {
            let reduces = |step: &StepId| matches!(plan.step(*step), Action::Reduce { .. });
            for step in plan.ids().filter(reduces) {
                reductions += 1;
                let known = who_knows(&plans, (rank, step));
                // Those that take no part have no steps.
                let mut all = known.iter().zip(&plans);
                let unknown = all.position(|(knows, plan)| !knows && !plan.steps().is_empty());
                assert_eq!(unknown, None, "{row:?} on {:?}: step {step} of {rank}", calls[0]);
            }
        }
    });
    assert!(reductions > 1000, "only {reductions} steps were tried");
}

/// Without that they do not: the others of a scan are done before its last rank reduces.
#[test]
fn else_some_ranks_do_not_know() {
    let calls = calls(3, false, |_| Operation::Scan { count: 1, commutative: false });
    let row = algo::find(calls[0].collective(), "chain").expect("it is in the table");
    let plans = plans(row, &calls);
    let reduces = |step: &StepId| matches!(plans[2].step(*step), Action::Reduce { .. });
    let last = plans[2].ids().filter(reduces).last().expect("it reduces");
    assert_eq!(who_knows(&plans, (2, last)), [false, false, true]);
}
