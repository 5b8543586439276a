//! The verifier finds what is wrong: planted faults, each of which must be caught.

mod cases;

use cases::{Sizes, calls, check, exchangev, plans, specimen};
use motet_plan::pairing::Mismatch;
use motet_plan::plan::PlanParts;
use motet_plan::spec::SpecError;
use motet_plan::verify::{Mode, Options, Violation};
use motet_plan::{
    Action, Algorithm, Builder, Call, Collective, Operation, Plan, Rank, Slice, StepId, algo,
    verify,
};

/// Enough orders to meet every fault of a small plan.
const SEEDS: u64 = 200;

fn row(collective: Collective, name: &str) -> &'static dyn Algorithm {
    algo::find(collective, name).expect("the table has the row")
}

/// Plans written by hand for this test.
fn by_hand(calls: &[Call], write: impl Fn(&mut Builder<'_>)) -> Vec<Plan> {
    let plan = |call| {
        let mut builder = Builder::new(call);
        write(&mut builder);
        builder.finish("by hand")
    };
    calls.iter().map(plan).collect()
}

/// Replaces the plan of one rank by a changed one.
fn change(plans: &mut [Plan], rank: usize, change: impl FnOnce(&mut PlanParts)) {
    let mut parts = plans[rank].parts();
    change(&mut parts);
    plans[rank] = Plan::assemble(parts);
}

/// Takes a step out, with its edges.
fn remove_step(parts: &mut PlanParts, step: StepId) {
    parts.steps.remove(step.index());
    parts.edges.retain(|(before, after)| *before != step && *after != step);
    let shift = |id: &mut StepId| id.0 -= u32::from(*id > step);
    parts.edges.iter_mut().for_each(|(before, after)| {
        shift(before);
        shift(after);
    });
}

/// Small calls of every algorithm, with operators that do not commute wherever it accepts them:
/// with those, more is wrong.
fn specimens() -> Vec<(&'static dyn Algorithm, Vec<Call>)> {
    let sizes = |commutative| Sizes { count: 7, block: |rank| 1 + rank % 3, commutative };
    let mut specimens = Vec::new();
    for row in algo::table() {
        for ranks in [4, 5, 6] {
            let calls = |commutative| specimen(row.collective(), ranks, &sizes(commutative));
            let accepted = |calls: &Vec<Call>| row.accepts(&calls[0]).is_ok();
            let calls = [false, true].map(calls).into_iter().find(accepted);
            specimens.extend(calls.map(|calls| (*row, calls)));
        }
    }
    specimens
}

/// No edge of any plan can be missed: implied ones are not there.
#[test]
fn every_missing_edge() {
    for (row, calls) in specimens() {
        for rank in 0..calls.len() {
            let edges = plans(row, &calls)[rank].parts().edges;
            for edge in edges {
                let mut plans = plans(row, &calls);
                change(&mut plans, rank, |parts| parts.edges.retain(|other| *other != edge));
                let found = check(&calls, &plans, SEEDS);
                assert!(found.is_err(), "{row:?} x{}, rank {rank}, edge {edge:?}", calls.len());
            }
        }
    }
}

/// No step of any plan can be left out.
#[test]
fn every_missing_step() {
    for (row, calls) in specimens() {
        for rank in 0..calls.len() {
            let ids: Vec<_> = plans(row, &calls)[rank].ids().collect();
            for step in ids {
                let mut plans = plans(row, &calls);
                change(&mut plans, rank, |parts| remove_step(parts, step));
                let found = check(&calls, &plans, SEEDS);
                assert!(found.is_err(), "{row:?} x{}, rank {rank}, step {step}", calls.len());
            }
        }
    }
}

/// A message that begins one element late is caught, wherever it is.
#[test]
fn every_message_off_by_one() {
    for (row, calls) in specimens() {
        for rank in 0..calls.len() {
            let plan = &plans(row, &calls)[rank];
            for step in plan.ids() {
                let slice = match plan.step(step) {
                    Action::Send { from: slice, .. } | Action::Recv { into: slice, .. } => slice,
                    _ => continue,
                };
                if slice.end() == plan.buffer_len(slice.buffer) {
                    continue;
                }
                let mut plans = plans(row, &calls);
                change(&mut plans, rank, |parts| match &mut parts.steps[step.index()] {
                    Action::Send { from: slice, .. } | Action::Recv { into: slice, .. } => {
                        slice.start += 1;
                    }
                    _ => {}
                });
                let found = check(&calls, &plans, SEEDS);
                assert!(found.is_err(), "{row:?} x{}, rank {rank}, step {step}", calls.len());
            }
        }
    }
}

/// Whatever reduces must keep the order of the ranks where the operator does not commute.
///
/// spec: 80
#[test]
fn operands_swapped() {
    let reduces = |step: &Action| matches!(step, Action::Reduce { .. });
    let mut swapped = 0;
    for (row, calls) in specimens() {
        if calls[0].operation.commutative() != Some(false) {
            continue;
        }
        for rank in 0..calls.len() {
            let mut plans = plans(row, &calls);
            change(&mut plans, rank, |parts| {
                for step in &mut parts.steps {
                    if let Action::Reduce { left, right, .. } = step {
                        std::mem::swap(left, right);
                    }
                }
            });
            let is_swapped = plans[rank].steps().iter().any(reduces);
            let found = check(&calls, &plans, 1);
            let is_caught = matches!(found, Err(Violation::Result { .. }));
            assert_eq!(is_caught, is_swapped, "{row:?}, rank {rank}: {found:?}");
            swapped += usize::from(is_swapped);
        }
    }
    assert!(swapped > 100, "{swapped} plans");
}

/// The right operands are not enough: ranks that add in different orders may differ in the bits.
///
/// spec: 79
#[test]
fn different_expressions() {
    let calls = calls(3, false, |_| Operation::Allreduce { count: 1, commutative: true });
    let plans = by_hand(&calls, |builder| {
        let (own, output) = (builder.contribution(), builder.output());
        let mut sum = own;
        for distance in 1..3 {
            let peer = |distance| Rank((builder.rank().0 + distance) % 3);
            let (to, from) = (peer(3 - distance), peer(distance));
            let incoming = builder.scratch(1);
            builder.send(to, own);
            builder.recv(from, incoming);
            builder.reduce(sum, incoming, output);
            sum = output;
        }
    });
    let found = check(&calls, &plans, 1);
    assert!(matches!(found, Err(Violation::Expressions { .. })), "{found:?}");
}

#[test]
fn a_message_nobody_receives() {
    let calls = calls(3, false, |_| Operation::Bcast { count: 2, root: Rank(0) });
    let mut plans = plans(row(Collective::Bcast, "binomial"), &calls);
    change(&mut plans, 0, |parts| {
        let first = parts.steps[0];
        let Action::Send { to, from, .. } = first else { panic!("{first} is no send") };
        parts.steps.push(Action::Send { to, ordinal: 1, from });
    });
    let found = check(&calls, &plans, 1);
    assert!(matches!(found, Err(Violation::Messages(Mismatch::Unreceived { .. }))), "{found:?}");
}

#[test]
fn a_message_nobody_sends() {
    let calls = calls(3, false, |_| Operation::Bcast { count: 2, root: Rank(0) });
    let mut plans = plans(row(Collective::Bcast, "binomial"), &calls);
    change(&mut plans, 0, |parts| remove_step(parts, StepId(0)));
    let found = check(&calls, &plans, 1);
    assert!(matches!(found, Err(Violation::Messages(Mismatch::Unsent { .. }))), "{found:?}");
}

#[test]
fn a_message_of_two_lengths() {
    let calls = calls(2, false, |_| Operation::Bcast { count: 2, root: Rank(0) });
    let plans = by_hand(&calls, |builder| match builder.rank() {
        Rank(0) => builder.send(Rank(1), builder.output().sub(0, 1)),
        _ => builder.recv(Rank(0), builder.output()),
    });
    let found = check(&calls, &plans, 1).unwrap_err();
    assert_eq!(found.to_string(), "rank 0, step 0 sends 1 elements, but rank 1, step 0 receives 2");
}

/// Both ranks send before they receive into the same memory: well as long as sends are buffered.
#[test]
fn a_deadlock_that_buffering_hides() {
    let calls = calls(2, true, |_| Operation::Allreduce { count: 1, commutative: true });
    let plans = by_hand(&calls, |builder| {
        let (peer, data) = (Rank(1 - builder.rank().0), builder.output());
        let (own, theirs) = (builder.scratch(1), builder.scratch(1));
        builder.copy(data, own);
        builder.copy(data, theirs);
        builder.send(peer, theirs);
        builder.recv(peer, theirs);
        if builder.rank() == Rank(0) {
            builder.reduce(own, theirs, data);
        } else {
            builder.reduce(theirs, own, data);
        }
    });
    for seed in 0..SEEDS {
        verify(&calls, &plans, &Options { seed, mode: Mode::Eager }).unwrap();
        let found = verify(&calls, &plans, &Options { seed, mode: Mode::Rendezvous }).unwrap_err();
        assert_eq!(
            found.to_string(),
            "dead-lock: rank 0, step 2: `send scratch[1..2] to 1 #0`; \
             rank 1, step 2: `send scratch[1..2] to 0 #0`"
        );
    }
}

/// Each rank passes on what it has not got: a dead-lock in any mode.
#[test]
fn a_deadlock_in_any_mode() {
    let calls = calls(3, false, |_| Operation::Bcast { count: 1, root: Rank(0) });
    let plans = by_hand(&calls, |builder| {
        if builder.rank() != Rank(0) {
            let peer = Rank(3 - builder.rank().0);
            builder.recv(peer, builder.output());
            builder.send(peer, builder.output());
        }
    });
    for mode in [Mode::Eager, Mode::Rendezvous, Mode::InOrder] {
        let found = verify(&calls, &plans, &Options { seed: 0, mode }).unwrap_err();
        assert!(matches!(&found, Violation::Deadlock(stuck) if stuck.len() == 2), "{found}");
    }
}

/// A plan whose steps leave its buffers cannot be made.
#[test]
#[should_panic(expected = "buffer of 2")]
fn out_of_bounds() {
    let calls = calls(2, false, |_| Operation::Bcast { count: 2, root: Rank(0) });
    by_hand(&calls, |builder| {
        let beyond = Slice { start: 1, ..builder.output() };
        builder.send(Rank(1 - builder.rank().0), beyond);
    });
}

/// A plan made for longer buffers than those of the call.
#[test]
fn buffers_of_another_call() {
    let of = |count| calls(2, false, move |_| Operation::Bcast { count, root: Rank(0) });
    let plans = plans(row(Collective::Bcast, "binomial"), &of(3));
    let found = check(&of(2), &plans, 1);
    assert!(matches!(found, Err(Violation::Buffer { .. })), "{found:?}");
}

#[test]
fn too_few_plans() {
    let calls = calls(2, false, |_| Operation::Barrier);
    let mut plans = plans(row(Collective::Barrier, "dissemination"), &calls);
    plans.pop();
    assert!(matches!(check(&calls, &plans, 1), Err(Violation::Messages(Mismatch::Plans { .. }))));
}

/// Elements between blocks are not those of the call.
///
/// spec: 116
#[test]
fn a_gap_is_written_or_read() {
    let edges =
        [cases::Edge { from: 0, to: 1, count: 2 }, cases::Edge { from: 1, to: 0, count: 2 }];
    let calls = exchangev(2, 1, &edges);
    let copy = |from: usize, into: usize| {
        let mut plans = plans(row(Collective::Exchangev, "linear"), &calls);
        let output = |start| Slice { buffer: motet_plan::Buffer::Output, start, len: 1 };
        change(&mut plans, 1, |parts| {
            let copy = Action::Copy { from: output(from), into: output(into) };
            parts.steps.push(copy);
            parts.edges.push((StepId(0), StepId(2)));
        });
        check(&calls, &plans, 1)
    };
    let written = copy(1, 0);
    assert!(matches!(written, Err(Violation::Touched { element: 0, .. })), "{written:?}");
    let read = copy(0, 1);
    assert!(matches!(read, Err(Violation::ReadUnset { element: 0, .. })), "{read:?}");
}

/// The data of the root is not written, not even with itself.
#[test]
fn the_root_is_written() {
    let calls = calls(2, false, |_| Operation::Bcast { count: 1, root: Rank(0) });
    let plans = by_hand(&calls, |builder| {
        let (peer, data) = (Rank(1 - builder.rank().0), builder.output());
        if builder.rank() == Rank(0) {
            builder.send(peer, data);
            builder.recv(peer, data);
        } else {
            builder.recv(peer, data);
            builder.send(peer, data);
        }
    });
    let found = check(&calls, &plans, 1);
    assert!(matches!(found, Err(Violation::Touched { .. })), "{found:?}");
}

/// A barrier with too few rounds: every rank leaves, though not all have entered.
#[test]
fn a_barrier_that_ends_early() {
    let calls = calls(4, false, |_| Operation::Barrier);
    let plans = by_hand(&calls, |builder| {
        let tokens = builder.scratch(2);
        let me = builder.rank().0;
        builder.send(Rank((me + 1) % 4), tokens.sub(0, 1));
        builder.recv(Rank((me + 3) % 4), tokens.sub(1, 1));
    });
    let found = check(&calls, &plans, 1);
    assert_eq!(found, Err(Violation::Barrier { rank: Rank(0), missing: Rank(1) }));
}

/// Between groups a rank must have heard of every rank of the other group; of its own it need not.
///
/// spec: 90
#[test]
fn a_barrier_between_groups_that_ends_early() {
    let calls = calls(4, false, |_| Operation::InterBarrier { left: 2 });
    // Each rank tells those of the other group, but for one that one of them leaves out.
    let plans = |left_out: Option<(u32, u32)>| {
        by_hand(&calls, |builder| {
            let (me, far) = (builder.rank().0, if builder.rank().0 < 2 { 2..4 } else { 0..2 });
            let own = builder.scratch(1);
            for peer in far {
                if left_out != Some((me, peer)) {
                    builder.send(Rank(peer), own);
                }
                if left_out != Some((peer, me)) {
                    let place = builder.scratch(1);
                    builder.recv(Rank(peer), place);
                }
            }
        })
    };
    assert_eq!(check(&calls, &plans(None), 20), Ok(()));
    let found = check(&calls, &plans(Some((2, 1))), 20);
    assert_eq!(found, Err(Violation::Barrier { rank: Rank(1), missing: Rank(2) }));
    let found = check(&calls, &plans(Some((0, 3))), 20);
    assert_eq!(found, Err(Violation::Barrier { rank: Rank(3), missing: Rank(0) }));
}

/// Ranks of one group that reduce in different ways may have different bits; those of the other
/// group have other data anyway. And what a group has is not the reduction of its own data.
///
/// spec: 79, 89
#[test]
fn ranks_of_a_group_that_differ() {
    let calls =
        calls(5, false, |_| Operation::InterAllreduce { left: 3, count: 1, commutative: false });
    // All ranks have the data of all; of three operands the first two or the last two come first.
    let plans = |is_first_first: fn(Rank) -> bool, operands: fn(bool) -> std::ops::Range<usize>| {
        by_hand(&calls, |builder| {
            let (me, own, output) = (builder.rank(), builder.input(), builder.output());
            let places: Vec<_> = (0..5).map(|_| builder.scratch(1)).collect();
            for peer in (0..5).map(Rank).filter(|peer| *peer != me) {
                builder.send(peer, own);
                builder.recv(peer, places[peer.index()]);
            }
            builder.copy(own, places[me.index()]);
            match places[operands(me.0 >= 3)] {
                [a, b, c] if is_first_first(me) => {
                    builder.reduce(a, b, a);
                    builder.reduce(a, c, output);
                }
                [a, b, c] => {
                    builder.reduce(b, c, b);
                    builder.reduce(a, b, output);
                }
                [a, b] => builder.reduce(a, b, output),
                _ => unreachable!("groups of three and of two"),
            }
        })
    };
    let far = |is_right: bool| if is_right { 0..3 } else { 3..5 };
    assert_eq!(check(&calls, &plans(|_| true, far), 20), Ok(()));
    assert_eq!(check(&calls, &plans(|_| false, far), 20), Ok(()));
    let found = check(&calls, &plans(|rank| rank == Rank(3), far), 20);
    let (first, rank) = (Rank(3), Rank(4));
    let is_found = matches!(
        &found,
        Err(Violation::Expressions { first: a, rank: b, .. }) if (*a, *b) == (first, rank)
    );
    assert!(is_found, "{found:?}");
    let near = |is_right: bool| if is_right { 3..5 } else { 0..3 };
    let found = check(&calls, &plans(|_| true, near), 20);
    assert!(matches!(found, Err(Violation::Result { .. })), "{found:?}");
}

/// Calls that are not those of one collective are refused with the name of the rank.
///
/// spec: 113
#[test]
fn calls_that_do_not_fit() {
    let mut counts = calls(3, false, |_| Operation::Allgather { count: 2 });
    counts[2].operation = Operation::Allgather { count: 3 };
    let found = motet_plan::spec::expected(&counts);
    assert_eq!(found, Err(SpecError::Differ { rank: Rank(2), what: "count" }));

    let one_sided = calls(2, false, |rank| Operation::Exchange {
        count: 1,
        to: if rank == Rank(0) { [Rank(1)].into() } else { [].into() },
        from: [].into(),
    });
    let found = motet_plan::spec::expected(&one_sided).unwrap_err();
    assert_eq!(found.to_string(), "rank 0 sends blocks of [1] to rank 1, which receives []");
}
