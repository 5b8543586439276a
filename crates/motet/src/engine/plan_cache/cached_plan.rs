//! A cached plan: the steps of a call for this rank, with what they say about its messages.

use std::collections::HashSet;

use motet_fabric::TrafficHint;
use motet_plan::plan::PlanParts;
use motet_plan::{Action, Call, Operation, Plan, Rank, Slice, StepId};

/// Bytes that stay in a core's caches from when a rank writes them until other ranks have read
/// them.
const CACHED_BYTES_MAX: usize = 512 << 10;

/// A plan, the reason for its choice, and its modelled cost.
#[derive(Debug)]
pub(crate) struct CachedPlan {
    pub(crate) plan: Plan,
    pub(crate) reason: String,
    /// Consecutive messages over all ranks, by the cost model.
    pub(crate) rounds: usize,
    /// Nanoseconds by the cost model, for at least the bytes that this rank sends or receives.
    pub(crate) nanoseconds: f64,
    pub(crate) element_bytes: usize,
    /// Whether its steps run one after the other.
    pub(crate) in_order: bool,
    /// Whether a message may be shorter than its slice of the output.
    pub(crate) takes_less: bool,
    /// The traffic hint of its sends.
    hint: TrafficHint,
    /// For each step the result of [`CachedPlan::fan_out`]; empty if that is `None` for all.
    readers: Box<[Option<u32>]>,
}

/// Whether each block of a collective is a message of its own, which no rank forwards and whose
/// length only its two ranks know. Then it may be shorter than its place, like a point-to-point
/// message; other libraries accept that, too.
fn takes_less(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Gatherv { .. }
            | Operation::Scatterv { .. }
            | Operation::Alltoallv { .. }
            | Operation::Exchangev { .. }
    )
}

impl CachedPlan {
    pub(super) fn new(
        plan: Plan,
        reason: String,
        (rounds, nanoseconds): (usize, f64),
        call: &Call,
    ) -> CachedPlan {
        let is_one_way = is_one_way(&plan);
        CachedPlan {
            takes_less: takes_less(&call.operation),
            hint: traffic_hint(&plan, call, is_one_way),
            readers: readers(&plan, is_one_way),
            plan,
            reason,
            rounds,
            nanoseconds,
            element_bytes: call.element_bytes,
            in_order: false,
        }
    }

    /// The number of receivers of a step whose data is copied once for all its receivers; 0 for all
    /// but the first of the steps that send this data. `None` for other steps.
    #[inline]
    pub(crate) fn fan_out(&self, step: StepId) -> Option<u32> {
        self.readers.get(step.index()).copied().flatten()
    }

    /// The traffic hint of its sends: whether and how their receivers answer.
    #[inline]
    pub(crate) fn hint(&self) -> TrafficHint {
        self.hint
    }

    /// Chooses in-order execution, if that cannot block any rank: messages of up to `short` bytes
    /// never wait for their receives.
    ///
    /// The verifier has shown that all algorithms may run in order if sends complete at once. So
    /// either all messages of all ranks must be short, as the `longest` one shows if all ranks know
    /// it; or those of this rank are, and it sends nothing after it has begun to receive, so that
    /// no rank waits for it meanwhile.
    pub(super) fn may_run_inorder(
        mut self,
        short: usize,
        call: &Call,
        longest: usize,
    ) -> CachedPlan {
        let is_message = |step: &&Action| matches!(step, Action::Send { .. } | Action::Recv { .. });
        let mut messages = self.plan.steps().iter().filter(is_message);
        let all_short = messages.all(|step| step.elements() * self.element_bytes <= short);
        let known = matches!(call.operation, Operation::Barrier) || call.bytes() > 0;
        let mut order = self.plan.order().iter().map(|&step| self.plan.step(step));
        let receives = order.by_ref().any(|step| matches!(step, Action::Recv { .. }));
        let replies = receives && order.any(|step| matches!(step, Action::Send { .. }));
        let known_short = known && longest <= short;
        self.in_order = all_short && (known_short || !replies);
        self
    }
}

/// The result of [`CachedPlan::fan_out`] for each step.
///
/// Copying a long message without waiting for its receiver, which copies it again, pays if the
/// sender gets no answer, or is to go on because it sends this one message, to any number of ranks.
/// It does not pay if it sends several messages and waits for as many: then both ranks need their
/// turn anyway.
fn readers(plan: &Plan, is_one_way: bool) -> Box<[Option<u32>]> {
    let mut readers = vec![None; plan.steps().len()];
    for burst in bursts(plan) {
        let is_same = |one: &StepId, next: &StepId| sent(plan, *one) == sent(plan, *next);
        let messages: Vec<_> = burst.chunk_by(is_same).collect();
        let is_alone = messages.len() == 1;
        for steps in messages.into_iter().filter(|to| is_one_way || is_alone || to.len() > 1) {
            steps.iter().for_each(|step| readers[step.index()] = Some(0));
            readers[steps[0].index()] = Some(steps.len() as u32);
        }
    }
    if readers.iter().all(Option::is_none) { Box::default() } else { readers.into() }
}

/// The slice that a step sends, if it is a send.
fn sent(plan: &Plan, step: StepId) -> Option<Slice> {
    match *plan.step(step) {
        Action::Send { from, .. } => Some(from),
        _ => None,
    }
}

/// The groups of consecutive sends.
fn bursts(plan: &Plan) -> impl Iterator<Item = &[StepId]> {
    let sends = |step: &StepId| sent(plan, *step).is_some();
    let both_send = move |one: &StepId, next: &StepId| sends(one) == sends(next);
    plan.order().chunk_by(both_send).filter(move |burst| sends(&burst[0]))
}

/// Whether the data of each group of consecutive sends stays in the caches until it is read.
fn stays_cached(plan: &Plan, element_bytes: usize) -> bool {
    let elements = |burst: &[StepId]| burst.iter().map(|&step| plan.step(step).elements()).sum();
    let most: usize = bursts(plan).map(elements).max().unwrap_or(0);
    most.saturating_mul(element_bytes) <= CACHED_BYTES_MAX
}

/// The traffic hint of a plan: what receivers do with its messages. In a gather or scatter they
/// leave the blocks unchanged, unless this rank forwards blocks of others. A one-way message of a
/// reduction or a scan is reduced; in an exclusive scan it is a result as well. Of the messages
/// that more than two ranks exchange in a reduction most are reduced.
fn traffic_hint(plan: &Plan, call: &Call, is_one_way: bool) -> TrafficHint {
    use Operation::{
        Allreduce, Gather, Gatherv, Reduce, ReduceScatter, ReduceScatterBlock, Scan, Scatter,
        Scatterv,
    };
    let receives = plan.steps().iter().any(|step| matches!(step, Action::Recv { .. }));
    match call.operation {
        Allreduce { .. } | Reduce { .. } | ReduceScatter { .. } | ReduceScatterBlock { .. }
            if !is_one_way && call.ranks > 2 =>
        {
            TrafficHint::Operands { stay_cached: stays_cached(plan, call.element_bytes) }
        }
        _ if !is_one_way => TrafficHint::Expected,
        Reduce { .. } | Scan { .. } => TrafficHint::Reduced,
        Gather { .. } | Gatherv { .. } | Scatter { .. } | Scatterv { .. } if !receives => {
            TrafficHint::Untouched { among_several: plan.messages() > 1 }
        }
        _ => TrafficHint::OneWay,
    }
}

/// Whether this rank receives nothing from the ranks to which it sends.
fn is_one_way(plan: &Plan) -> bool {
    let sources: HashSet<Rank> = plan
        .steps()
        .iter()
        .filter_map(|step| if let Action::Recv { from, .. } = step { Some(*from) } else { None })
        .collect();
    let replies = |step: &Action| matches!(step, Action::Send { to, .. } if sources.contains(to));
    !plan.steps().iter().any(replies)
}

/// A plan without steps.
pub(super) fn nothing(call: &Call) -> CachedPlan {
    let plan = Plan::assemble(PlanParts {
        algorithm: "none",
        rank: call.rank,
        ranks: call.ranks,
        input_len: 0,
        output_len: 0,
        scratch_len: 0,
        steps: Vec::new(),
        edges: Vec::new(),
    });
    let reason = "there is nothing to do for this rank".into();
    CachedPlan::new(plan, reason, (0, 0.0), call)
}

#[cfg(test)]
mod tests {
    use motet_plan::NodeMap;

    use super::*;

    /// The hints of operands that leave the caches, and of those that stay there.
    const OPERANDS: [TrafficHint; 2] =
        [TrafficHint::Operands { stay_cached: false }, TrafficHint::Operands { stay_cached: true }];

    fn call(count: usize) -> Call {
        let operation = Operation::Bcast { count, root: Rank(0) };
        let (rank, nodes) = (Rank(1), NodeMap::ONE);
        Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation }
    }

    /// The plan of a call by the algorithm of this name.
    fn plan_of(name: &str, call: &Call) -> Plan {
        let mut rows = motet_plan::algo::of(call.collective());
        let row = rows.find(|row| row.name() == name).expect("an algorithm of this name");
        row.plan(call).expect("a plan")
    }

    /// The fan-out of each send of a plan, in the plan's order.
    fn readers_of(name: &str, operation: Operation, rank: u32) -> Vec<Option<u32>> {
        let (rank, nodes) = (Rank(rank), NodeMap::ONE);
        let call = Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation };
        let plan = plan_of(name, &call);
        let readers = readers(&plan, is_one_way(&plan));
        let is_send = |step: &&StepId| matches!(plan.step(**step), Action::Send { .. });
        let of = |step: &StepId| readers.get(step.index()).copied().flatten();
        plan.order().iter().filter(is_send).map(of).collect()
    }

    /// Whether each of 4 ranks runs in order, with blocks of so many words.
    fn all_in_order(name: &str, operation: impl Fn(usize) -> Operation, count: usize) -> bool {
        const SHORT: usize = 8 << 10;
        let in_order = (0..4).map(|rank| {
            let (rank, nodes) = (Rank(rank), NodeMap::ONE);
            let operation = operation(count);
            let call = Call { rank, ranks: 4, element_bytes: 8, in_place: false, nodes, operation };
            let row = motet_plan::algo::find(call.collective(), name).expect("of this name");
            let plan = row.plan(&call).expect("a plan");
            let planned = CachedPlan::new(plan, String::new(), (0, 0.0), &call);
            planned.may_run_inorder(SHORT, &call, row.longest(&call)).in_order
        });
        let in_order: Vec<_> = in_order.collect();
        assert!(in_order.iter().all(|&one| one == in_order[0]), "{name}: {in_order:?}");
        in_order[0]
    }

    #[test]
    fn steps_follow_each_other_while_no_message_waits_for_its_receive() {
        let gather = |count| Operation::Gather { count, root: Rank(0) };
        let (alltoall, allgather) =
            (|count| Operation::Alltoall { count }, |count| Operation::Allgather { count });
        // A rank that sends nothing after it has begun to receive checks only its own messages.
        for (count, is_short) in [(1, true), (1024, true), (1025, false)] {
            assert_eq!(all_in_order("linear", gather, count), is_short, "{count}");
            assert_eq!(all_in_order("linear", alltoall, count), is_short, "{count}");
        }
        // Other ranks check the longest message of all ranks: two blocks, one, or all four.
        for (name, longest) in [("recursive_doubling", 512), ("ring", 1024), ("via_root", 256)] {
            assert!(all_in_order(name, allgather, longest), "{name}");
            assert!(!all_in_order(name, allgather, longest + 1), "{name}");
        }
    }

    #[test]
    fn what_several_get_or_what_is_alone_is_copied_once() {
        let bcast = Operation::Bcast { count: 9, root: Rank(0) };
        assert_eq!(readers_of("linear", bcast.clone(), 0), [Some(3), Some(0), Some(0)]);
        assert_eq!(readers_of("linear", bcast.clone(), 1), []);
        assert_eq!(readers_of("binomial", bcast, 0), [Some(2), Some(0)]);
        let scatter = Operation::Scatter { count: 9, root: Rank(0) };
        assert_eq!(readers_of("linear", scatter, 0), [Some(1); 3], "nothing comes back");
        let all = Operation::Alltoall { count: 9 };
        assert_eq!(readers_of("linear", all.clone(), 0), [None; 3], "as much comes back");
        assert_eq!(readers_of("pairwise", all, 0), [Some(1); 3], "one by one");
        let all = Operation::Allgather { count: 9 };
        assert_eq!(readers_of("linear", all, 0), [Some(3), Some(0), Some(0)]);
    }

    /// Blocks of a gather or a scatter are unchanged, unless ranks forward those of others.
    #[test]
    fn replies_tell_what_becomes_of_messages() {
        let hint_of = |name: &str, operation: &Operation, rank| {
            let call = Call { rank: Rank(rank), operation: operation.clone(), ..call(9) };
            let plan = plan_of(name, &call);
            traffic_hint(&plan, &call, is_one_way(&plan))
        };
        let root = Rank(0);
        let untouched = |among_several| TrafficHint::Untouched { among_several };
        let gather = Operation::Gather { count: 9, root };
        let scatter = Operation::Scatter { count: 9, root };
        assert_eq!(hint_of("linear", &scatter, 0), untouched(true));
        assert_eq!(hint_of("linear", &gather, 1), untouched(false));
        assert_eq!(hint_of("binomial", &gather, 1), untouched(false), "a leaf");
        assert_eq!(
            hint_of("binomial", &gather, 2),
            TrafficHint::OneWay,
            "it has that of rank 3, too"
        );
        assert_eq!(hint_of("linear", &Operation::Bcast { count: 9, root }, 0), TrafficHint::OneWay);
        let reduce = Operation::Reduce { count: 9, root, commutative: true };
        assert_eq!(hint_of("linear", &reduce, 1), TrafficHint::Reduced);
        assert_eq!(hint_of("binomial", &reduce, 2), TrafficHint::Reduced, "with that of rank 3");
        assert_eq!(
            hint_of("linear_reduce_scatter_gather", &reduce, 1),
            OPERANDS[1],
            "it gets one, too"
        );
        let both = Call { ranks: 2, ..call(9) };
        let allreduce = Operation::Allreduce { count: 9, commutative: true };
        assert_eq!(hint_of("recursive_doubling", &allreduce, 1), OPERANDS[1]);
        let both = Call { rank: Rank(1), operation: allreduce, ..both };
        let plan = plan_of("recursive_doubling", &both);
        assert_eq!(
            traffic_hint(&plan, &both, is_one_way(&plan)),
            TrafficHint::Expected,
            "there are only two"
        );
        let halves = |count| Operation::Allreduce { count, commutative: true };
        let count = 2 * CACHED_BYTES_MAX / call(9).element_bytes;
        let hints = [count, count + 4].map(|count| {
            let names = ["reduce_scatter_allgather", "linear_reduce_scatter_allgather"];
            names.map(|name| hint_of(name, &halves(count), 1))
        });
        let far = [OPERANDS[0]; 2];
        assert_eq!(hints, [[OPERANDS[1], OPERANDS[0]], far], "half, or three quarters");
        let scan = Operation::Scan { count: 9, commutative: true };
        assert_eq!(hint_of("chain", &scan, 1), TrafficHint::Reduced);
        let exscan = Operation::Exscan { count: 9, commutative: true };
        assert_eq!(hint_of("chain", &exscan, 1), TrafficHint::OneWay, "it is a result, too");
        assert_eq!(hint_of("linear", &Operation::Alltoall { count: 9 }, 0), TrafficHint::Expected);
    }
}
