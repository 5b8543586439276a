//! Appends a closing barrier to a plan, after which each rank knows of failures on all others.
//!
//! A step may fail on one rank: a reduction fails if its operator throws. A rank that knows of a
//! failure still executes the rest of its plan, and reports the failure in each message that it
//! sends. Only ranks that receive one of these messages learn of it; ranks that only send, or that
//! have received their last message before, have already left. If all ranks must fail together,
//! each must hear from all others at the end, as in a dissemination barrier.

use super::{Action, Buffer, Plan, PlanParts, Slice, StepId};
use crate::call::{Call, Operation, Rank};

impl Plan {
    /// The same plan, at whose end each rank hears from all others that take part in the call, by
    /// messages without elements that are sent when all its other steps are complete.
    ///
    /// So a failure at one rank, which each later message of this rank tells, is known to all
    /// ranks when they are done. It costs `⌈log2 p⌉` messages one after the other.
    pub fn closed_together(&self, call: &Call) -> Plan {
        let members = participants(call);
        let mut parts = self.parts();
        let Some(me) = members.iter().position(|&member| member == parts.rank) else {
            return Plan::assemble(parts);
        };
        let count = members.len();
        let mut before: Vec<StepId> =
            self.ids().filter(|&step| self.successors(step).is_empty()).collect();
        for round in 0..count.next_power_of_two().trailing_zeros() {
            let distance = 1 << round;
            let send = parts.tell(members[(me + distance) % count]);
            parts.edges.extend(before.iter().map(|&step| (step, send)));
            if round == 0 {
                // It waits for all the others, so later ones need not.
                before = vec![send];
            }
            before.push(parts.hear(members[(me + count - distance) % count]));
        }
        Plan::assemble(parts)
    }
}

/// The ranks that take part in a call: all, but for a reduction between two groups whose result
/// one rank gets, of which the others of its group know nothing.
fn participants(call: &Call) -> Vec<Rank> {
    let all = 0..call.ranks;
    match call.operation {
        Operation::InterReduce { left, root, .. } => {
            let is_left = |rank: u32| rank < left;
            let is_far = |&rank: &u32| is_left(rank) != is_left(root.0);
            all.filter(|rank| *rank == root.0 || is_far(rank)).map(Rank).collect()
        }
        _ => all.map(Rank).collect(),
    }
}

impl PlanParts {
    /// A message without elements.
    fn tell(&mut self, to: Rank) -> StepId {
        let is_earlier =
            |step: &&Action| matches!(step, Action::Send { to: other, .. } if *other == to);
        let ordinal = self.steps.iter().filter(is_earlier).count() as u32;
        self.add(Action::Send { to, ordinal, from: NOTHING })
    }

    /// The other end of one.
    fn hear(&mut self, from: Rank) -> StepId {
        let is_earlier =
            |step: &&Action| matches!(step, Action::Recv { from: other, .. } if *other == from);
        let ordinal = self.steps.iter().filter(is_earlier).count() as u32;
        self.add(Action::Recv { from, ordinal, into: NOTHING })
    }

    fn add(&mut self, step: Action) -> StepId {
        self.steps.push(step);
        StepId(self.steps.len() as u32 - 1)
    }
}

const NOTHING: Slice = Slice { buffer: Buffer::Scratch, start: 0, len: 0 };
