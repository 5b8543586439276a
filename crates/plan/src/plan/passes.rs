//! Finds what a reduction may read where it is, and which reductions may be done in one pass.
//!
//! A value that one step writes and one reduction alone reads need not be written at all:
//!
//! * A received message that is such a value may stay where it is until the reduction is ready.
//! * The result of a reduction that is such a value may stay in the caches: the rank does both
//!   reductions part by part, with a few kilobytes in each part. A *pass* is a chain of such
//!   reductions.

use std::collections::BTreeMap;

use super::{Action, Buffer, Slice, StepId};
use crate::order::sort_by_number;

/// What is known of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepPass {
    /// Of a step that receives: the reduction that alone reads what it receives.
    reduction: Option<StepId>,
    /// Of a step that receives for a reduction: whether this reduction waits for no send.
    may_wait: bool,
    /// Of a reduction: the steps that receive its left and its right operand for it alone.
    received: [Option<StepId>; 2],
    /// Of a reduction: the next one of its pass.
    next: Option<StepId>,
}

/// What is known of each step; empty if the plan reduces nothing.
#[derive(Debug)]
pub(super) struct ReductionPasses(Box<[StepPass]>);

impl ReductionPasses {
    /// Of these steps, with the steps that wait for each of them.
    pub(super) fn of<'a>(
        steps: &[Action],
        successors: impl Fn(StepId) -> &'a [StepId] + Copy,
    ) -> ReductionPasses {
        if !steps.iter().any(|step| matches!(step, Action::Reduce { .. })) {
            return ReductionPasses(Box::default());
        }
        let mut all = vec![StepPass::default(); steps.len()];
        let waits_for_send = waits_for_send(steps, successors);
        let mut chains = Vec::new();
        for (writer, reader) in values_read_once(steps) {
            match (&steps[writer.index()], side(steps, writer, reader)) {
                (Action::Recv { .. }, Some(side)) => {
                    all[writer.index()].reduction = Some(reader);
                    all[writer.index()].may_wait = !waits_for_send[reader.index()];
                    all[reader.index()].received[side] = Some(writer);
                }
                (Action::Reduce { .. }, Some(_)) => chains.push((writer, reader)),
                _ => {}
            }
        }
        // A step has only one reader here.
        sort_by_number(&mut chains, |&(writer, _)| writer.index() as u64);
        let mut before = vec![None; steps.len()];
        for (first, next) in chains {
            let is_alone = successors(first).contains(&next);
            // Two results that join begin no common pass: each pass is one chain.
            let is_first = before[next.index()].is_none();
            if is_alone && is_first && may_follow(steps, &before, first, next) {
                all[first.index()].next = Some(next);
                before[next.index()] = Some(first);
            }
        }
        ReductionPasses(all.into())
    }

    #[inline]
    fn step(&self, step: StepId) -> StepPass {
        self.0.get(step.index()).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn reduction(&self, step: StepId) -> Option<StepId> {
        self.step(step).reduction
    }

    #[inline]
    pub(super) fn may_wait(&self, step: StepId) -> bool {
        self.step(step).may_wait
    }

    #[inline]
    pub(super) fn received(&self, step: StepId) -> [Option<StepId>; 2] {
        self.step(step).received
    }

    #[inline]
    pub(super) fn next(&self, step: StepId) -> Option<StepId> {
        self.step(step).next
    }
}

#[cfg(test)]
impl ReductionPasses {
    /// Plants that `next` follows `first` in a pass, whether it may or not.
    pub(super) fn plant_next(&mut self, first: StepId, next: StepId) {
        self.0[first.index()].next = Some(next);
    }

    /// Plants that `reduction` alone reads what `receive` receives, whether it does or not.
    pub(super) fn plant_received(&mut self, receive: StepId, reduction: StepId, side: usize) {
        self.0[receive.index()].reduction = Some(reduction);
        self.0[receive.index()].may_wait = true;
        self.0[reduction.index()].received[side] = Some(receive);
    }
}

/// Which operand of the second step, a reduction, the first one writes: 0 for the left one.
fn side(steps: &[Action], writer: StepId, reader: StepId) -> Option<usize> {
    let written = steps[writer.index()].writes()?;
    let Action::Reduce { left, right, .. } = steps[reader.index()] else { return None };
    [left, right].iter().position(|&operand| operand == written)
}

/// Of each step whether it waits for a send, directly or not.
fn waits_for_send<'a>(steps: &[Action], successors: impl Fn(StepId) -> &'a [StepId]) -> Vec<bool> {
    let mut waits = vec![false; steps.len()];
    for (at, step) in steps.iter().enumerate() {
        if waits[at] || matches!(step, Action::Send { .. }) {
            for next in successors(StepId(at as u32)) {
                waits[next.index()] = true;
            }
        }
    }
    waits
}

/// A value that has been written and not overwritten.
struct WrittenValue {
    slice: Slice,
    writer: StepId,
    /// The reduction that has read it, if one has.
    reader: Option<StepId>,
}

/// The values that one step writes, and one reduction alone reads: these two steps. A value is the
/// whole slice that a step writes; one in the output that is not overwritten is read by the caller.
fn values_read_once(steps: &[Action]) -> Vec<(StepId, StepId)> {
    let mut found = Vec::new();
    // By buffer and first element; they do not overlap.
    let mut values = BTreeMap::<(Buffer, usize), WrittenValue>::new();
    for (at, action) in steps.iter().enumerate() {
        let step = StepId(at as u32);
        for slice in action.reads() {
            for start in overlapping(&values, slice) {
                let value = values.get_mut(&(slice.buffer, start)).expect("it was just found");
                if value.reader.is_none() && value.slice == slice && is_one_operand(action, slice) {
                    value.reader = Some(step);
                } else {
                    values.remove(&(slice.buffer, start));
                }
            }
        }
        let Some(slice) = action.writes().filter(|slice| !slice.is_empty()) else { continue };
        for start in overlapping(&values, slice) {
            let Some(value) = values.remove(&(slice.buffer, start)) else { continue };
            let is_covered = slice.start <= value.slice.start && value.slice.end() <= slice.end();
            found.extend(value.reader.filter(|_| is_covered).map(|reader| (value.writer, reader)));
        }
        if matches!(action, Action::Recv { .. } | Action::Reduce { .. }) {
            let value = WrittenValue { slice, writer: step, reader: None };
            values.insert((slice.buffer, slice.start), value);
        }
    }
    let left = values.into_values().filter(|value| value.slice.buffer == Buffer::Scratch);
    found.extend(left.filter_map(|value| Some((value.writer, value.reader?))));
    found
}

/// Where the values begin that overlap a slice.
fn overlapping(values: &BTreeMap<(Buffer, usize), WrittenValue>, slice: Slice) -> Vec<usize> {
    let before = values.range((slice.buffer, 0)..(slice.buffer, slice.end()));
    let is_reached = |value: &&WrittenValue| value.slice.overlaps(slice);
    before.rev().map(|(_, value)| value).take_while(is_reached).map(|it| it.slice.start).collect()
}

/// Whether a step reduces this slice with another one.
fn is_one_operand(action: &Action, slice: Slice) -> bool {
    matches!(*action, Action::Reduce { left, right, .. } if (left == slice) != (right == slice))
}

/// Whether a reduction may be done in one pass with the one before it and all those before that:
/// no part of it writes what another part of these reads or has written.
fn may_follow(steps: &[Action], before: &[Option<StepId>], first: StepId, next: StepId) -> bool {
    let Action::Reduce { left, right, into } = steps[next.index()] else { return false };
    let Some(sum) = steps[first.index()].writes() else { return false };
    let other = if left == sum { right } else { left };
    let is_apart = |slice: Slice| slice == into || !slice.overlaps(into);
    let mut earlier = Some(first);
    while let Some(step) = earlier {
        let action = &steps[step.index()];
        let result = action.writes().expect("a reduction has a result");
        if other.overlaps(result) || !is_apart(result) || !action.reads().all(is_apart) {
            return false;
        }
        earlier = before[step.index()];
    }
    true
}
