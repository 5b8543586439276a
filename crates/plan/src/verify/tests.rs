//! Passes and operands in place that must not be: the verifier finds each of them.

use super::*;
use crate::build::Builder;
use crate::call::{NodeMap, Operation};
use crate::plan::StepId;

const SEEDS: u64 = 50;
const MODES: [Mode; 3] = [Mode::Eager, Mode::Rendezvous, Mode::InOrder];

/// Rank 0 reduces seven elements of each of three ranks; `at_root` writes its steps, of which 0 and
/// 1 receive.
fn reduce(at_root: impl Fn(&mut Builder<'_>)) -> (Vec<Call>, Vec<Plan>) {
    let call = |rank| Call {
        rank: Rank(rank),
        ranks: 3,
        element_bytes: 8,
        in_place: false,
        nodes: NodeMap::ONE,
        operation: Operation::Reduce { count: 7, commutative: false, root: Rank(0) },
    };
    let calls: Vec<_> = (0..3).map(call).collect();
    let plan = |call: &Call| {
        let mut builder = Builder::new(call);
        match call.rank {
            Rank(0) => at_root(&mut builder),
            _ => builder.send(Rank(0), builder.contribution()),
        }
        builder.finish("by hand")
    };
    let plans = calls.iter().map(plan).collect();
    (calls, plans)
}

/// The first violation in many runs, and how many reductions have followed another one.
fn run(calls: &[Call], plans: &[Plan]) -> Result<usize, Violation> {
    let mut followed = 0;
    for mode in MODES {
        for seed in 0..SEEDS {
            followed += verify(calls, plans, &Options { seed, mode })?.followed_in_pass;
        }
    }
    Ok(followed)
}

/// Another step reads the sum.
#[test]
fn a_pass_over_a_sum_that_is_read_elsewhere() {
    let (calls, mut plans) = reduce(|builder| {
        let (own, output) = (builder.contribution(), builder.output());
        let [first, second, kept] = [(); 3].map(|()| builder.scratch(7));
        builder.recv(Rank(1), first);
        builder.recv(Rank(2), second);
        builder.reduce(own, first, first);
        builder.reduce(first, second, output);
        builder.copy(first, kept);
    });
    assert_eq!(run(&calls, &plans), Ok(0), "no pass is formed");
    plans[0].plant_next_of_pass(StepId(2), StepId(3));
    let found = run(&calls, &plans);
    assert!(matches!(found, Err(Violation::ReadUnset { .. })), "{found:?}");
}

/// The last result lies across an operand, so that each part of it overwrites the next part.
#[test]
fn a_pass_that_overwrites_what_it_has_to_read() {
    let (calls, mut plans) = reduce(|builder| {
        let (own, output) = (builder.contribution(), builder.output());
        let [first, second, sum] = [8, 7, 7].map(|len| builder.scratch(len));
        builder.recv(Rank(1), first.sub(0, 7));
        builder.recv(Rank(2), second);
        builder.reduce(own, first.sub(0, 7), sum);
        builder.reduce(sum, second, first.sub(1, 7));
        builder.copy(first.sub(1, 7), output);
    });
    assert_eq!(run(&calls, &plans), Ok(0), "no pass is formed");
    plans[0].plant_next_of_pass(StepId(2), StepId(3));
    let found = run(&calls, &plans);
    assert!(matches!(found, Err(Violation::Result { .. })), "{found:?}");
}

/// What is received is reduced and copied: the copy finds nothing.
#[test]
fn an_operand_in_place_that_is_read_twice() {
    let (calls, mut plans) = reduce(|builder| {
        let (own, output) = (builder.contribution(), builder.output());
        let [first, second, kept] = [(); 3].map(|()| builder.scratch(7));
        builder.recv(Rank(1), first);
        builder.recv(Rank(2), second);
        builder.copy(first, kept);
        builder.reduce(own, kept, kept);
        builder.reduce(kept, second, output);
    });
    assert!(run(&calls, &plans).is_ok_and(|followed| followed > 0), "a right one is formed");
    plans[0].plant_received_for(StepId(0), StepId(3), 1);
    let found = run(&calls, &plans);
    assert!(matches!(found, Err(Violation::ReadUnset { .. })), "{found:?}");
}

/// A message is read in the place of another operand.
#[test]
fn an_operand_in_place_on_the_wrong_side() {
    let (calls, mut plans) = reduce(|builder| {
        let (own, output) = (builder.contribution(), builder.output());
        let [first, second] = [(); 2].map(|()| builder.scratch(7));
        builder.recv(Rank(1), first);
        builder.recv(Rank(2), second);
        builder.reduce(own, first, first);
        builder.reduce(first, second, output);
    });
    assert!(run(&calls, &plans).is_ok_and(|followed| followed > 0), "a pass is formed");
    plans[0].plant_received_for(StepId(1), StepId(2), 0);
    assert!(run(&calls, &plans).is_err());
}
