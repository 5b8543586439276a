//! Static matching: pairs each send with its receive, over the plans of all ranks.
//!
//! A message is identified by source, destination and ordinal, so this needs no execution.

use std::collections::HashMap;

use thiserror::Error;

use crate::call::Rank;
use crate::plan::{Action, Plan, StepId};

/// A step of one of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepRef {
    /// The rank.
    pub rank: Rank,
    /// The step in the plan of the rank.
    pub step: StepId,
}

/// A send and the receive it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The send.
    pub send: StepRef,
    /// The receive.
    pub recv: StepRef,
    /// Elements in the message.
    pub len: usize,
}

/// All messages of a set of plans.
#[derive(Clone, Debug)]
pub struct Pairing {
    messages: Vec<Message>,
    /// The message of each step of each rank, if it has one.
    of_step: Vec<Vec<Option<u32>>>,
}

/// Why sends and receives do not match.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// Plan `i` must be that of rank `i`, and there must be one for each rank.
    #[error("plan {index} of {plans} is that of rank {rank} of {ranks}")]
    Plans {
        /// Position of the plan.
        index: usize,
        /// How many plans there are.
        plans: usize,
        /// The rank it says it is for.
        rank: Rank,
        /// The number of ranks it says there are.
        ranks: u32,
    },
    /// A send has no matching receive.
    #[error("rank {}, step {}: `{action}` has no receive", place.rank, place.step)]
    Unreceived {
        /// The send.
        place: StepRef,
        /// What it does.
        action: Action,
    },
    /// A receive has no matching send.
    #[error("rank {}, step {}: `{action}` has no send", place.rank, place.step)]
    Unsent {
        /// The receive.
        place: StepRef,
        /// What it does.
        action: Action,
    },
    /// Two messages have the same source, destination and ordinal.
    #[error("rank {}, step {}: `{action}` occurs twice", place.rank, place.step)]
    Twice {
        /// The second of them.
        place: StepRef,
        /// What it does.
        action: Action,
    },
    /// A message is received with another length than it is sent with.
    #[error(
        "rank {}, step {} sends {sent} elements, but rank {}, step {} receives {received}",
        send.rank, send.step, recv.rank, recv.step
    )]
    Length {
        /// The send.
        send: StepRef,
        /// The receive.
        recv: StepRef,
        /// Elements sent.
        sent: usize,
        /// Elements received.
        received: usize,
    },
}

/// Source, destination and ordinal.
type Identity = (Rank, Rank, u32);

impl Pairing {
    /// Matches the plans of all ranks, in rank order.
    ///
    /// # Errors
    /// The first mismatch found.
    pub fn new(plans: &[Plan]) -> Result<Self, Mismatch> {
        check_ranks(plans)?;
        let mut sends = HashMap::new();
        for (place, action) in places(plans) {
            if let Action::Send { to, ordinal, from } = *action {
                let before = sends.insert((place.rank, to, ordinal), (place, from.len));
                if before.is_some() {
                    return Err(Mismatch::Twice { place, action: *action });
                }
            }
        }
        let matching = Self::with_receives(plans, &mut sends)?;
        match sends.into_values().map(|(place, _)| place).min() {
            None => Ok(matching),
            Some(place) => {
                let action = *plans[place.rank.index()].step(place.step);
                Err(Mismatch::Unreceived { place, action })
            }
        }
    }

    /// Takes each receive's send out of `sends`.
    fn with_receives(
        plans: &[Plan],
        sends: &mut HashMap<Identity, (StepRef, usize)>,
    ) -> Result<Self, Mismatch> {
        let of_step = plans.iter().map(|plan| vec![None; plan.steps().len()]).collect();
        let mut matching = Self { messages: Vec::new(), of_step };
        let mut seen = std::collections::HashSet::new();
        for (recv, action) in places(plans) {
            let Action::Recv { from, ordinal, into } = *action else { continue };
            let identity = (from, recv.rank, ordinal);
            if !seen.insert(identity) {
                return Err(Mismatch::Twice { place: recv, action: *action });
            }
            let (send, sent) =
                sends.remove(&identity).ok_or(Mismatch::Unsent { place: recv, action: *action })?;
            if sent != into.len {
                return Err(Mismatch::Length { send, recv, sent, received: into.len });
            }
            matching.push(Message { send, recv, len: sent });
        }
        Ok(matching)
    }

    fn push(&mut self, message: Message) {
        let index = self.messages.len() as u32;
        for StepRef { rank, step } in [message.send, message.recv] {
            self.of_step[rank.index()][step.index()] = Some(index);
        }
        self.messages.push(message);
    }

    /// All messages.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The index in [`messages`](Self::messages) of the message of a step; none if it is a copy or
    /// a reduction.
    pub fn of_step(&self, place: StepRef) -> Option<usize> {
        self.of_step[place.rank.index()][place.step.index()].map(|index| index as usize)
    }
}

fn check_ranks(plans: &[Plan]) -> Result<(), Mismatch> {
    for (index, plan) in plans.iter().enumerate() {
        let (rank, ranks) = (plan.rank(), plan.ranks());
        if rank.index() != index || ranks as usize != plans.len() {
            return Err(Mismatch::Plans { index, plans: plans.len(), rank, ranks });
        }
    }
    Ok(())
}

fn places(plans: &[Plan]) -> impl Iterator<Item = (StepRef, &Action)> {
    plans.iter().flat_map(|plan| {
        let place = |step| StepRef { rank: plan.rank(), step };
        plan.ids().map(move |step| (place(step), plan.step(step)))
    })
}
