//! A plan: the steps of one rank in one collective, and their dependencies (a DAG).
//!
//! A plan names buffers, never addresses, so the same value feeds the engine, the verifier, the
//! drawings and a cache. The edges are stored as one array of successors, cut by step: a plan of
//! `s` steps and `e` edges takes a few allocations, whatever its shape.

mod closing;
pub mod cursor;
mod figures;
mod fusion;
mod passes;
mod step;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::call::Rank;
pub use crate::slice::{Buffer, Slice};
use cursor::Cursor;
pub use figures::Load;
use fusion::Reductions;
use passes::ReductionPasses;
pub use step::{Action, StepId};

/// A plan taken apart: what a pass from plan to plan, or a test, may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanParts {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// The rank whose plan it is.
    pub rank: Rank,
    /// Ranks in the communicator.
    pub ranks: u32,
    /// Length of the input in elements.
    pub input_len: usize,
    /// Length of the output in elements.
    pub output_len: usize,
    /// Length of the scratch memory in elements.
    pub scratch_len: usize,
    /// The steps in program order.
    pub steps: Vec<Action>,
    /// Pairs (before, after): the first must be complete before the second starts. Each pair once.
    pub edges: Vec<(StepId, StepId)>,
}

/// The steps of one rank, ready to be executed any number of times.
///
/// Every plan has these invariants, on which its executors rely:
/// every slice lies in its buffer; the input is never written; no rank sends to itself or to a
/// rank out of range; operands have equal lengths and overlap only as [`Action`] allows; every
/// edge leads from an earlier step to a later one, so there is no cycle.
#[derive(Debug)]
pub struct Plan {
    algorithm: &'static str,
    rank: Rank,
    ranks: u32,
    input_len: usize,
    output_len: usize,
    scratch_len: usize,
    messages: usize,
    steps: Box<[Action]>,
    /// The successors of step `i` are `successors[bounds[i]..bounds[i + 1]]`.
    bounds: Box<[u32]>,
    successors: Box<[StepId]>,
    dependencies: Box<[u32]>,
    order: Box<[StepId]>,
    reductions: Reductions,
    passes: ReductionPasses,
    beginning: Cursor,
}

impl Plan {
    /// Puts a plan together.
    ///
    /// # Panics
    /// If one of the promises of [`Plan`] does not hold: the parts were made by a faulty program.
    pub fn assemble(parts: PlanParts) -> Self {
        parts.steps.iter().for_each(|step| check_step(step, &parts));
        let (bounds, successors) = successor_lists(&parts);
        let mut dependencies = vec![0; parts.steps.len()];
        successors.iter().for_each(|after| dependencies[after.index()] += 1);
        let is_send = |step: &&Action| matches!(step, Action::Send { .. });
        let order = receives_last(&parts.steps, &bounds, &successors, dependencies.clone());
        let after = |step: StepId| {
            let index = step.index();
            &successors[bounds[index] as usize..bounds[index + 1] as usize]
        };
        let passes = ReductionPasses::of(&parts.steps, after);
        Self {
            algorithm: parts.algorithm,
            rank: parts.rank,
            ranks: parts.ranks,
            input_len: parts.input_len,
            output_len: parts.output_len,
            scratch_len: parts.scratch_len,
            messages: parts.steps.iter().filter(is_send).count(),
            reductions: Reductions::of(&parts.steps, &order),
            passes,
            steps: parts.steps.into(),
            bounds,
            successors,
            order,
            beginning: Cursor::beginning(&dependencies),
            dependencies: dependencies.into(),
        }
    }

    /// Takes a copy of the plan apart.
    pub fn parts(&self) -> PlanParts {
        PlanParts {
            algorithm: self.algorithm,
            rank: self.rank,
            ranks: self.ranks,
            input_len: self.input_len,
            output_len: self.output_len,
            scratch_len: self.scratch_len,
            steps: self.steps.to_vec(),
            edges: self.edges().collect(),
        }
    }

    /// The name of the algorithm.
    pub fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// The rank whose plan it is.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// Ranks in the communicator.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The steps in program order.
    pub fn steps(&self) -> &[Action] {
        &self.steps
    }

    /// One step.
    ///
    /// # Panics
    /// If `step` is not of this plan.
    pub fn step(&self, step: StepId) -> &Action {
        &self.steps[step.index()]
    }

    /// The identities of all steps in program order.
    pub fn ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..self.steps.len() as u32).map(StepId)
    }

    /// The steps that wait for this one.
    ///
    /// # Panics
    /// If `step` is not of this plan.
    pub fn successors(&self, step: StepId) -> &[StepId] {
        let index = step.index();
        &self.successors[self.bounds[index] as usize..self.bounds[index + 1] as usize]
    }

    /// How many steps this one waits for.
    ///
    /// # Panics
    /// If `step` is not of this plan.
    pub fn dependencies(&self, step: StepId) -> u32 {
        self.dependencies[step.index()]
    }

    /// All steps in an order in which they may be taken one after the other: what must be complete
    /// before a step comes before it, and a receive comes when nothing else can be done.
    #[inline]
    pub fn order(&self) -> &[StepId] {
        &self.order
    }

    /// Of a step that receives what nobody reads but the next step of the [order](Plan::order),
    /// which reduces it: that step. Whoever takes both at once need not put the message where the
    /// first one says, but may reduce it from wherever it lies.
    #[inline]
    pub fn reduction(&self, step: StepId) -> Option<StepId> {
        self.reductions.of_step(step)
    }

    /// Of a step that receives what one reduction alone reads: that reduction, wherever it comes in
    /// the [order](Plan::order). If it is ready when the message comes, or the message
    /// [may wait](Plan::may_wait) for it, it may read the message wherever that lies.
    #[inline]
    pub fn reduction_of(&self, receive: StepId) -> Option<StepId> {
        self.passes.reduction(receive)
    }

    /// Whether the message of a step that receives for a [reduction](Plan::reduction_of) may stay
    /// with its sender until that reduction is ready.
    ///
    /// It may if the reduction waits for no send of this rank, directly or not; else two ranks
    /// could wait for each other to read what they have sent.
    #[inline]
    pub fn may_wait(&self, receive: StepId) -> bool {
        self.passes.may_wait(receive)
    }

    /// Of a reduction, the steps that receive its left and its right operand, if nobody else reads
    /// what they receive.
    #[inline]
    pub fn received_for(&self, reduction: StepId) -> [Option<StepId>; 2] {
        self.passes.received(reduction)
    }

    /// Of a reduction, the next one that may be done in the same pass: it alone reads the result of
    /// the first one, which need not be written. The elements may be taken part by part, each part
    /// through all reductions of the pass.
    #[inline]
    pub fn next_of_pass(&self, reduction: StepId) -> Option<StepId> {
        self.passes.next(reduction)
    }

    /// Plants that `next` follows `first` in a pass, whether it may or not.
    #[cfg(test)]
    pub(crate) fn plant_next_of_pass(&mut self, first: StepId, next: StepId) {
        self.passes.plant_next(first, next);
    }

    /// Plants that `reduction` alone reads what `receive` receives, whether it does or not.
    #[cfg(test)]
    pub(crate) fn plant_received_for(&mut self, receive: StepId, reduction: StepId, side: usize) {
        self.passes.plant_received(receive, reduction, side);
    }

    /// An execution that has not begun, to be copied.
    #[inline]
    pub(crate) fn beginning(&self) -> &Cursor {
        &self.beginning
    }

    /// All edges as pairs (before, after).
    pub fn edges(&self) -> impl Iterator<Item = (StepId, StepId)> + '_ {
        self.ids().flat_map(|step| self.successors(step).iter().map(move |after| (step, *after)))
    }

    /// Length of the input in elements.
    pub fn input_len(&self) -> usize {
        self.input_len
    }

    /// Length of the output in elements.
    pub fn output_len(&self) -> usize {
        self.output_len
    }

    /// Length of the scratch memory in elements.
    pub fn scratch_len(&self) -> usize {
        self.scratch_len
    }

    /// Length of one of the buffers in elements.
    pub fn buffer_len(&self, buffer: Buffer) -> usize {
        match buffer {
            Buffer::Input => self.input_len,
            Buffer::Output => self.output_len,
            Buffer::Scratch => self.scratch_len,
        }
    }

    /// How many messages this rank sends.
    pub fn messages(&self) -> usize {
        self.messages
    }
}

/// Groups the edges by their first step, keeping program order within a group.
fn successor_lists(parts: &PlanParts) -> (Box<[u32]>, Box<[StepId]>) {
    let steps = parts.steps.len();
    u32::try_from(steps.max(parts.edges.len()))
        .expect("a plan has fewer than 2^32 steps and edges");
    let mut bounds = vec![0u32; steps + 1];
    for (before, after) in &parts.edges {
        assert!(before < after && after.index() < steps, "edge {before} -> {after}");
        bounds[before.index() + 1] += 1;
    }
    for step in 0..steps {
        bounds[step + 1] += bounds[step];
    }
    let mut next = bounds.clone();
    let mut successors = vec![StepId(0); parts.edges.len()];
    for (before, after) in &parts.edges {
        let place = &mut next[before.index()];
        successors[*place as usize] = *after;
        *place += 1;
    }
    (bounds.into(), successors.into())
}

/// The order of [`Plan::order`]. Among steps that are alike it is that of the program.
fn receives_last(
    steps: &[Action],
    bounds: &[u32],
    successors: &[StepId],
    mut waiting: Vec<u32>,
) -> Box<[StepId]> {
    let rank_of = |step: StepId| {
        let is_receive = matches!(steps[step.index()], Action::Recv { .. });
        Reverse((is_receive, step))
    };
    let ready = (0..steps.len()).filter(|&step| waiting[step] == 0);
    let mut ready: BinaryHeap<_> = ready.map(|step| rank_of(StepId(step as u32))).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some(Reverse((_, step))) = ready.pop() {
        order.push(step);
        let at = step.index();
        for after in &successors[bounds[at] as usize..bounds[at + 1] as usize] {
            waiting[after.index()] -= 1;
            if waiting[after.index()] == 0 {
                ready.push(rank_of(*after));
            }
        }
    }
    order.into()
}

fn check_step(step: &Action, parts: &PlanParts) {
    for slice in step.reads().chain(step.writes()) {
        let len = match slice.buffer {
            Buffer::Input => parts.input_len,
            Buffer::Output => parts.output_len,
            Buffer::Scratch => parts.scratch_len,
        };
        assert!(slice.start <= len && slice.len <= len - slice.start, "{step}: buffer of {len}");
    }
    let into = step.writes();
    assert!(into.is_none_or(|into| into.buffer != Buffer::Input), "{step}: input is read only");
    match *step {
        Action::Send { to: peer, .. } | Action::Recv { from: peer, .. } => {
            assert!(peer != parts.rank && peer.0 < parts.ranks, "{step}: at rank {}", parts.rank);
        }
        Action::Copy { from, into } => {
            assert!(from.len == into.len && !from.overlaps(into), "{step}");
        }
        Action::Reduce { left, right, into } => {
            let apart = |operand: Slice| operand == into || !operand.overlaps(into);
            assert!(left.len == into.len && right.len == into.len, "{step}");
            assert!(apart(left) && apart(right), "{step}");
        }
    }
}
