//! Walking a plan: each step once, when all it waits for is complete, any number of times.

mod cases;

use cases::{Sizes, calls, plans, specimen};
use motet_plan::verify::{Mode, Options};
use motet_plan::{
    Action, Buffer, Builder, Call, Cursor, Operation, Plan, Rank, Slice, StepId, Tuning, algo,
    select, verify,
};

fn call() -> Call {
    calls(4, false, |_| Operation::Allreduce { count: 8, commutative: true }).remove(1)
}

/// Steps 0 and 1 are ready; 2 waits for both, 3 for 2; 4 is ready.
fn diamond() -> Plan {
    let call = call();
    let mut builder = Builder::new(&call);
    let (output, scratch) = (builder.output(), builder.scratch(16));
    builder.recv(Rank(0), scratch.sub(0, 8));
    builder.recv(Rank(2), scratch.sub(8, 8));
    builder.reduce(scratch.sub(0, 8), scratch.sub(8, 8), output);
    builder.send(Rank(0), output);
    builder.send(Rank(3), builder.input());
    builder.finish("diamond")
}

fn ready(plan: &Plan, exec: &mut Cursor) -> Vec<u32> {
    std::iter::from_fn(|| exec.next_ready(plan)).map(|step| step.0).collect()
}

#[test]
fn steps_become_ready_in_order_and_once() {
    let plan = diamond();
    let mut exec = Cursor::new(&plan);
    for _ in 0..3 {
        assert_eq!(exec.remaining(), 5);
        assert_eq!(ready(&plan, &mut exec), [0, 1, 4]);
        exec.complete(&plan, StepId(1));
        assert_eq!(ready(&plan, &mut exec), []);
        exec.complete(&plan, StepId(0));
        assert_eq!(ready(&plan, &mut exec), [2]);
        exec.complete(&plan, StepId(4));
        exec.complete(&plan, StepId(2));
        assert_eq!(ready(&plan, &mut exec), [3]);
        assert!(!exec.is_done());
        exec.complete(&plan, StepId(3));
        assert!(exec.is_done());
        exec.restart(&plan);
    }
}

/// An execution may be begun again before it has ended.
#[test]
fn restart_in_the_middle() {
    let plan = diamond();
    let mut exec = Cursor::new(&plan);
    exec.complete(&plan, exec.clone().next_ready(&plan).expect("a step is ready"));
    exec.restart(&plan);
    assert_eq!(ready(&plan, &mut exec), [0, 1, 4]);
}

#[test]
#[should_panic(expected = "step 0 is complete already")]
#[cfg(debug_assertions)]
fn completing_twice() {
    let plan = diamond();
    let mut exec = Cursor::new(&plan);
    exec.complete(&plan, StepId(0));
    exec.complete(&plan, StepId(0));
}

#[test]
#[should_panic(expected = "step 2 is complete already, or was not ready")]
#[cfg(debug_assertions)]
fn completing_too_early() {
    let plan = diamond();
    Cursor::new(&plan).complete(&plan, StepId(2));
}

#[test]
fn a_plan_without_steps_is_done() {
    let call = &calls(1, false, |_| Operation::Barrier)[0];
    let (plan, _) = select::plan(call, &Tuning::default()).unwrap();
    let mut exec = Cursor::new(&plan);
    assert!(exec.is_done() && exec.next_ready(&plan).is_none());
}

/// A plan can be taken apart and put together again.
#[test]
fn parts_make_the_same_plan() {
    let plan = diamond();
    let again = Plan::assemble(plan.parts());
    assert_eq!(plan.parts(), again.parts());
    assert_eq!(ready(&plan, &mut Cursor::new(&plan)), ready(&again, &mut Cursor::new(&again)));
    assert_eq!(plan.messages(), 2);
}

/// One step after the other, receives when nothing else can be done.
#[test]
fn in_order() {
    let plan = diamond();
    let mut exec = Cursor::in_order(&plan);
    for _ in 0..2 {
        for step in [4, 0, 1, 2, 3] {
            assert!(!exec.is_at_step());
            assert_eq!(exec.next_ready(&plan), Some(StepId(step)));
            exec.resume_at(exec.place());
            assert_eq!(ready(&plan, &mut exec), [step]);
            assert!(exec.is_at_step() && !exec.is_done());
            exec.complete(&plan, StepId(step));
        }
        assert!(exec.is_done() && exec.next_ready(&plan).is_none());
        exec.restart(&plan);
    }
}

/// Out of turn goes what is ready, and nothing else; the others keep their turns.
#[test]
fn what_is_ready_may_go_out_of_turn() {
    let plan = diamond();
    let mut exec = Cursor::new(&plan);
    assert!(exec.take_ready(&plan, StepId(1)) && !exec.take_ready(&plan, StepId(1)), "it is out");
    assert_eq!(ready(&plan, &mut exec), [0, 4]);
    exec.complete(&plan, StepId(1));
    assert!(exec.waits_for_one(&plan, StepId(2)));
    assert!(!exec.take_ready(&plan, StepId(2)), "it waits for another one");
    exec.complete(&plan, StepId(0));
    assert!(!exec.take_ready(&plan, StepId(3)) && exec.take_ready(&plan, StepId(2)));
    assert!(!exec.take_ready(&plan, StepId(2)) && exec.next_ready(&plan).is_none(), "it is out");
    exec.complete(&plan, StepId(2));
    assert_eq!(ready(&plan, &mut exec), [3]);

    let mut exec = Cursor::in_order(&plan);
    for step in [4, 0, 1] {
        assert!(!exec.take_ready(&plan, StepId(2)));
        assert_eq!(exec.waits_for_one(&plan, StepId(2)), step == 1);
        assert_eq!(exec.next_ready(&plan), Some(StepId(step)));
        assert!(!exec.take_ready(&plan, StepId(step)), "it is out already");
        exec.complete(&plan, StepId(step));
    }
    assert!(exec.take_ready(&plan, StepId(2)) && exec.is_at_step());
    exec.complete(&plan, StepId(2));
    assert_eq!(exec.next_ready(&plan), Some(StepId(3)));
}

/// Receives into `place`, reduces that with the input into `into`, and perhaps does more.
fn receiving(place: Slice, into: Slice, more: impl FnOnce(&mut Builder)) -> Option<StepId> {
    let call = call();
    let mut builder = Builder::new(&call);
    let (input, _) = (builder.input(), builder.scratch(16));
    builder.recv(Rank(0), place);
    builder.reduce(place, input, into);
    more(&mut builder);
    builder.finish("receiving").reduction(StepId(0))
}

/// Both steps may be one if nobody else sees what was received.
#[test]
fn what_is_received_to_be_reduced_once_may_be_reduced_where_it_lies() {
    let slice = |buffer, start| Slice { buffer, start, len: 8 };
    let [output, scratch] = [Buffer::Output, Buffer::Scratch].map(|buffer| slice(buffer, 0));
    let other_scratch = slice(Buffer::Scratch, 8);
    let nothing = |_: &mut Builder| {};
    let reduction = Some(StepId(1));
    assert_eq!(receiving(scratch, output, nothing), reduction);
    assert_eq!(receiving(output, output, nothing), reduction, "the result takes its place");
    assert_eq!(receiving(output, scratch, nothing), None, "it is what the caller gets");
    let send = |what: Slice| move |builder: &mut Builder| builder.send(Rank(3), what);
    assert_eq!(receiving(scratch, output, send(output)), reduction, "the result is sent");
    assert_eq!(receiving(scratch, output, send(other_scratch)), reduction);
    assert_eq!(receiving(scratch, output, send(scratch.sub(7, 1))), None, "it is sent, too");
    let reduced_again = |builder: &mut Builder| builder.reduce(output, scratch, other_scratch);
    assert_eq!(receiving(scratch, output, reduced_again), None);
}

/// Only a reduction of all that came, with something else, by the step behind it.
#[test]
fn other_steps_receive_as_they_say() {
    let call = call();
    let mut builder = Builder::new(&call);
    let (input, output, scratch) = (builder.input(), builder.output(), builder.scratch(16));
    builder.recv(Rank(0), scratch.sub(0, 8));
    builder.copy(scratch.sub(0, 8), output);
    builder.recv(Rank(2), scratch.sub(8, 8));
    builder.reduce(scratch.sub(8, 4), input.sub(0, 4), output.sub(0, 4));
    builder.recv(Rank(3), scratch.sub(0, 4));
    builder.reduce(scratch.sub(0, 4), scratch.sub(0, 4), output.sub(4, 4));
    let plan = builder.finish("others");
    assert!(plan.ids().all(|step| plan.reduction(step).is_none()), "{plan:?}");
    let plan = diamond();
    assert_eq!(plan.ids().map(|step| plan.reduction(step)).filter(Option::is_some).count(), 1);
    assert_eq!(plan.reduction(StepId(1)), Some(StepId(2)), "the second receive is the last step");
}

/// The plan of a rank of an allreduce by this algorithm, of 8 elements among 4 ranks.
fn allreduce(name: &str, rank: usize, in_place: bool) -> Plan {
    let operation = |_| Operation::Allreduce { count: 8, commutative: false };
    let call = calls(4, in_place, operation).remove(rank);
    let overrides = format!("allreduce={name}").parse().expect("a row of the table");
    let tuning = Tuning { overrides, ..Tuning::default() };
    select::plan(&call, &tuning).expect("it accepts the call").0
}

/// The reductions of a plan, from the first one of its only pass on.
fn pass(plan: &Plan) -> Vec<StepId> {
    let reduces = |step: &StepId| matches!(plan.step(*step), Action::Reduce { .. });
    let first = plan.ids().find(reduces).expect("it reduces");
    std::iter::successors(Some(first), |&step| plan.next_of_pass(step)).collect()
}

/// Each rank reads the operands of all others where they are, and reduces them in one pass.
#[test]
fn a_direct_reduction_is_one_pass() {
    for in_place in [false, true] {
        for rank in 0..4 {
            let plan = allreduce("linear_reduce_scatter_allgather", rank, in_place);
            let may_wait =
                |&step: &StepId| plan.reduction_of(step).is_some() && plan.may_wait(step);
            assert_eq!(plan.ids().filter(may_wait).count(), 3, "rank {rank}: {plan:?}");
            let steps = pass(&plan);
            assert_eq!(steps.len(), 3, "rank {rank}: {plan:?}");
            let received = steps.iter().flat_map(|&step| plan.received_for(step)).flatten();
            assert_eq!(received.count(), 3);
        }
    }
}

/// A pair that swaps what it has reduced before: both overwrite what the other one is to read.
#[test]
fn nothing_waits_for_a_reduction_over_what_is_sent() {
    for (in_place, expected) in [(false, [true, false]), (true, [false, false])] {
        let plan = allreduce("recursive_doubling", 1, in_place);
        let receives = plan.ids().filter(|&step| plan.reduction_of(step).is_some());
        let may_wait: Vec<_> = receives.map(|step| plan.may_wait(step)).collect();
        assert_eq!(may_wait, expected, "{plan:?}");
        assert_eq!(pass(&plan).len(), 1, "between the two the sum is sent");
    }
}

/// Writes a pass of two reductions, with something between them.
fn two(into: Slice, between: impl FnOnce(&mut Builder, Slice)) -> usize {
    let call = call();
    let mut builder = Builder::new(&call);
    let (input, scratch) = (builder.input(), builder.scratch(24));
    let sum = scratch.sub(0, 8);
    builder.recv(Rank(0), sum);
    builder.recv(Rank(2), scratch.sub(8, 8));
    builder.reduce(input, sum, sum);
    between(&mut builder, sum);
    builder.reduce(sum, scratch.sub(8, 8), into);
    pass(&builder.finish("two")).len()
}

/// Nothing but the next reduction reads a sum of a pass, and its result lies across nothing.
#[test]
fn what_is_read_by_others_is_in_no_pass() {
    let slice = |buffer, start| Slice { buffer, start, len: 8 };
    let (output, scratch) = (slice(Buffer::Output, 0), |start| slice(Buffer::Scratch, start));
    assert_eq!(two(output, |_, _| {}), 2);
    assert_eq!(two(scratch(0), |_, _| {}), 2, "in the place of the sum");
    assert_eq!(two(scratch(8), |_, _| {}), 2, "in the place of the operand");
    assert_eq!(two(output, |builder, sum| builder.send(Rank(3), sum)), 1, "it is sent");
    assert_eq!(two(output, |builder, sum| builder.send(Rank(3), sum.sub(7, 1))), 1);
    let copied = |builder: &mut Builder, sum: Slice| builder.copy(sum.sub(0, 1), sum.sub(7, 1));
    assert_eq!(two(output, copied), 1, "it is changed");
    let elsewhere = |builder: &mut Builder, _| builder.send(Rank(3), scratch(16));
    assert_eq!(two(output, elsewhere), 2);
}

/// Each algorithm whose plans have passes is verified with passes, in all modes together, and so
/// are the operands that it may read in place.
#[test]
fn every_algorithm_with_passes_is_verified_with_them() {
    let mut forming = Vec::new();
    for row in algo::table() {
        let (mut has_pass, mut has_operand, mut followed, mut in_place) = (false, false, 0, 0);
        for (ranks, commutative) in [(4, false), (5, false), (8, false), (5, true), (8, true)] {
            let sizes = Sizes { count: 19, block: |rank| 1 + rank % 3, commutative };
            let calls = specimen(row.collective(), ranks, &sizes);
            if row.accepts(&calls[0]).is_err() {
                continue;
            }
            let plans = plans(*row, &calls);
            for plan in &plans {
                has_pass |= plan.ids().any(|step| plan.next_of_pass(step).is_some());
                has_operand |= plan.ids().any(|step| plan.reduction_of(step).is_some());
            }
            for mode in [Mode::Eager, Mode::Rendezvous, Mode::InOrder] {
                for seed in 0..4 {
                    let report = verify(&calls, &plans, &Options { seed, mode });
                    let report = report.unwrap_or_else(|violation| panic!("{row:?}: {violation}"));
                    followed += report.followed_in_pass;
                    in_place += report.read_in_place;
                }
            }
        }
        assert_eq!((has_pass, has_operand), (followed > 0, in_place > 0), "{row:?}");
        if has_pass {
            forming.push(format!("{}/{}", row.collective(), row.name()));
        }
    }
    let known = "allreduce/linear_reduce_scatter_allgather";
    assert!(forming.iter().any(|name| name == known) && forming.len() >= 10, "{forming:?}");
}
