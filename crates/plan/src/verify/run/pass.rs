//! Reductions: alone or in a pass, of operands in memory or in place, as the engine does them.
//!
//! Where the engine may do one thing or another, the seed decides: whether a message is left in
//! place, how many reductions a pass has, and how long its parts are.

use super::{Event, LeftMessage, VerifierRun, violation};
use crate::pairing::StepRef;
use crate::plan::{Action, Slice, StepId};
use crate::verify::memory::Faulty;
use crate::verify::value::ValueId;
use crate::verify::{Mode, Violation};

/// The seed takes a choice that is left to it in so many of one more cases: 7 of 8.
const USUALLY: usize = 7;

/// A reduction of a pass.
struct PassStep {
    step: StepId,
    operands: [Operand; 2],
    into: Slice,
    /// Whether all parts are written to the same place, since only the next step reads them.
    is_reused: bool,
}

/// Where an operand of a reduction lies.
enum Operand {
    Memory(Slice),
    /// In a message that has been left where it is.
    Message(Vec<ValueId>),
    /// It is the result of the step before in the pass.
    Sum,
}

/// Some elements of a pass.
struct PassPart {
    start: usize,
    len: usize,
    /// The first element of the parts whose reused results are in the same place.
    first: usize,
}

impl PassStep {
    /// Where a part of the result lies.
    fn place(&self, part: &PassPart) -> Slice {
        let offset = if self.is_reused { part.first } else { part.start };
        Slice { start: self.into.start + offset, len: part.len, ..self.into }
    }
}

impl VerifierRun<'_> {
    fn is_usual(&mut self) -> bool {
        self.order.below(USUALLY + 1) > 0
    }

    /// The reduction that will read the message of this receive where it is. If sends wait for
    /// their receivers, a message that may wait always does: that is the stricter case.
    pub(super) fn reader_in_place(&mut self, receive: StepRef) -> Option<StepId> {
        let plan = &self.plans[receive.rank.index()];
        let reduction = plan.reduction_of(receive.step)?;
        let always = self.mode == Mode::Rendezvous && plan.may_wait(receive.step);
        (always || self.is_usual()).then_some(reduction)
    }

    /// Completes a receive, and leaves its message where it is. If the message may not wait there,
    /// its reduction reads it at once, or it is copied.
    pub(super) fn leave(&mut self, left: LeftMessage) -> Result<(), Violation> {
        let receive = left.receive;
        let reduction = StepRef { step: left.reduction, ..receive };
        let into = self.slice(receive);
        self.memories[receive.rank.index()].forget(into);
        self.in_place.push(left);
        self.complete(receive);
        if self.plans[receive.rank.index()].may_wait(receive.step) {
            return Ok(());
        }
        let is_it = |event: &Event| matches!(event, Event::Start(place) if *place == reduction);
        if let Some(at) = self.possible.iter().position(is_it) {
            self.possible.swap_remove(at);
            return self.reduce(reduction);
        }
        let values = self.message_in_place(receive)?.expect("it was just left");
        self.memories[receive.rank.index()].bring(into, &values);
        self.close(receive);
        Ok(())
    }

    /// What is in the message of this receive, if that was left where it is.
    fn message_in_place(&self, receive: StepRef) -> Result<Option<Vec<ValueId>>, Violation> {
        let Some(left) = self.in_place.iter().find(|left| left.receive == receive) else {
            return Ok(None);
        };
        if self.mode != Mode::Rendezvous {
            return Ok(Some(left.values.clone()));
        }
        let send = self.matching.messages()[left.message].send;
        let values = self.memories[send.rank.index()].read(self.slice(send));
        let values = values.map_err(|fault| violation(send, *self.action(send), fault))?;
        assert_eq!(values, left.values, "nothing is written where a send is in progress");
        Ok(Some(values))
    }

    /// Ends the message of this receive if it was left where it is.
    fn close(&mut self, receive: StepRef) {
        let Some(at) = self.in_place.iter().position(|left| left.receive == receive) else {
            return;
        };
        let left = self.in_place.swap_remove(at);
        if self.mode == Mode::Rendezvous {
            self.end_send(left.message);
        }
    }

    /// Does a reduction that is ready, and those that may follow it in one pass.
    pub(super) fn reduce(&mut self, first: StepRef) -> Result<(), Violation> {
        let rank = first.rank.index();
        let steps = self.pass_from(first)?;
        if let Err((step, fault)) = self.part_by_part(rank, &steps) {
            let place = StepRef { step, ..first };
            return Err(violation(place, *self.action(place), fault));
        }
        let plan = &self.plans[rank];
        for PassStep { step, .. } in &steps {
            for receive in plan.received_for(*step).into_iter().flatten() {
                self.close(StepRef { step: receive, ..first });
            }
        }
        for pair in steps.windows(2) {
            self.execs[rank].complete(plan, pair[0].step);
            let is_taken = self.execs[rank].take_ready(plan, pair[1].step);
            assert!(is_taken, "step {} waits only for step {}", pair[1].step, pair[0].step);
        }
        self.counts.followed_in_pass += steps.len() - 1;
        let last = steps.last().expect("a pass has a step").step;
        self.complete(StepRef { step: last, ..first });
        Ok(())
    }

    /// The steps of a pass, which begins with this one.
    fn pass_from(&mut self, first: StepRef) -> Result<Vec<PassStep>, Violation> {
        let (rank, plan) = (first.rank.index(), &self.plans[first.rank.index()]);
        let mut steps = vec![first.step];
        while let Some(next) = plan.next_of_pass(steps[steps.len() - 1])
            && self.execs[rank].waits_for_one(plan, next)
            && self.is_usual()
        {
            steps.push(next);
        }
        let last = plan.step(steps[steps.len() - 1]).writes();
        let mut sum = None;
        let mut pass = Vec::new();
        for step in steps {
            let Action::Reduce { left, right, into } = *plan.step(step) else {
                unreachable!("a pass consists of reductions")
            };
            let received = plan.received_for(step);
            let mut operands = [Operand::Sum, Operand::Sum];
            for (side, slice) in [left, right].into_iter().enumerate() {
                if sum == Some(slice) {
                    continue;
                }
                let receive = received[side].map(|step| StepRef { step, ..first });
                let message = receive.map(|it| self.message_in_place(it)).transpose()?.flatten();
                self.counts.read_in_place += usize::from(message.is_some());
                operands[side] = message.map_or(Operand::Memory(slice), Operand::Message);
            }
            pass.push(PassStep { step, operands, into, is_reused: Some(into) != last });
            sum = Some(into);
        }
        Ok(pass)
    }

    /// Does all reductions of a pass for a part of the elements, then for the next one.
    fn part_by_part(&mut self, rank: usize, steps: &[PassStep]) -> Result<(), (StepId, Faulty)> {
        let elements = steps[0].into.len;
        let mut each = elements.max(1);
        if let [_, others @ ..] = steps
            && !others.is_empty()
        {
            each = 1 + self.order.below(each);
            // Parts are written one after the other, so that a write must be allowed everywhere.
            for PassStep { step, into, .. } in steps {
                self.memories[rank].may_write(*into).map_err(|fault| (*step, fault))?;
            }
        }
        let together = each * (1 + self.order.below(3));
        for start in (0..elements).step_by(each) {
            let len = each.min(elements - start);
            let part = PassPart { start, len, first: start - start % together };
            let mut before = None;
            for step in steps {
                let done = self.reduce_part(rank, step, before, &part);
                done.map_err(|fault| (step.step, fault))?;
                before = Some(step.place(&part));
            }
        }
        for step in steps.iter().filter(|step| step.is_reused) {
            self.memories[rank].forget(step.into);
        }
        Ok(())
    }

    /// Does a reduction for a part of the elements, after the step that has written its part here.
    fn reduce_part(
        &mut self,
        rank: usize,
        step: &PassStep,
        before: Option<Slice>,
        part: &PassPart,
    ) -> Result<(), Faulty> {
        let memory = &mut self.memories[rank];
        let operand = |operand: &Operand| match operand {
            Operand::Memory(slice) => {
                memory.read(Slice { start: slice.start + part.start, len: part.len, ..*slice })
            }
            Operand::Message(values) => Ok(values[part.start..][..part.len].to_vec()),
            Operand::Sum => memory.read(before.expect("the first step of a pass has no sum")),
        };
        let [left, right] = &step.operands;
        let pairs = operand(left)?.into_iter().zip(operand(right)?);
        let results: Vec<_> =
            pairs.map(|(left, right)| self.values.reduction(left, right)).collect();
        memory.write(step.place(part), &results)
    }
}
