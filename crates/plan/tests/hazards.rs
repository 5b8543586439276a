//! The builder's edges on random programs, compared with what every pair of steps says.

use motet_plan::{Action, Builder, Call, NodeMap, Operation, Plan, Rank, Slice};
use proptest::prelude::*;

const LEN: usize = 24;

/// A step on random slices: which kind, and where its slices begin and end.
#[derive(Clone, Debug)]
struct Step {
    kind: u8,
    starts: [usize; 3],
    len: usize,
    scratch: [bool; 3],
}

fn step() -> impl Strategy<Value = Step> {
    let starts = prop::array::uniform3(0..LEN);
    (0..4u8, starts, 1..8usize, prop::array::uniform3(any::<bool>()))
        .prop_map(|(kind, starts, len, scratch)| Step { kind, starts, len, scratch })
}

/// The plan of the steps, less those that no plan may hold.
fn plan(steps: &[Step]) -> Plan {
    let call = Call {
        rank: Rank(0),
        ranks: 2,
        element_bytes: 8,
        in_place: false,
        nodes: NodeMap::ONE,
        operation: Operation::Allreduce { count: LEN, commutative: true },
    };
    let mut builder = Builder::new(&call);
    let (output, scratch) = (builder.output(), builder.scratch(LEN));
    for step in steps {
        let slice = |index: usize| {
            let whole = if step.scratch[index] { scratch } else { output };
            whole.range(step.starts[index]..LEN.min(step.starts[index] + step.len))
        };
        let len = (0..3).map(|index| slice(index).len).min().unwrap_or(0);
        let [first, second, third] = [0, 1, 2].map(|index| slice(index).sub(0, len));
        let apart = |a: Slice, b: Slice| a == b || !a.overlaps(b);
        match step.kind {
            0 => builder.send(Rank(1), slice(0)),
            1 => builder.recv(Rank(1), slice(0)),
            2 if apart(first, second) => builder.copy(first, second),
            3 if apart(first, third) && apart(second, third) => {
                builder.reduce(first, second, third);
            }
            _ => {}
        }
    }
    builder.finish("random")
}

/// Whether the later of two steps must wait for the earlier one.
fn conflict(a: &Action, b: &Action) -> bool {
    let touches = |writer: &Action, other: &Action| {
        let hits = |slice: Slice| writer.writes().is_some_and(|into| into.overlaps(slice));
        other.reads().chain(other.writes()).any(hits)
    };
    touches(a, b) || touches(b, a)
}

/// For each step, which earlier steps it waits for, directly or not; `edge` says which directly.
fn closure(steps: usize, edge: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; steps]; steps];
    for after in 0..steps {
        for middle in (0..after).filter(|middle| edge(*middle, after)) {
            let reached = before[middle].clone();
            before[after].iter_mut().zip(reached).for_each(|(all, new)| *all |= new);
            before[after][middle] = true;
        }
    }
    before
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// The edges order exactly the steps that the hazards order, and none is implied by others.
    #[test]
    fn edges_are_the_hazards_and_no_more(steps in prop::collection::vec(step(), 0..40)) {
        let plan = plan(&steps);
        let (steps, len) = (plan.steps(), plan.steps().len());
        let edges: std::collections::HashSet<_> =
            plan.edges().map(|(before, after)| (before.index(), after.index())).collect();
        let by_edges = closure(len, |before, after| edges.contains(&(before, after)));
        let by_hazards = closure(len, |before, after| conflict(&steps[before], &steps[after]));
        prop_assert_eq!(&by_edges, &by_hazards);
        for (before, after) in edges {
            let mut between = before + 1..after;
            let is_implied =
                between.any(|middle| by_edges[middle][before] && by_edges[after][middle]);
            prop_assert!(!is_implied, "{before} -> {after}");
        }
    }
}
