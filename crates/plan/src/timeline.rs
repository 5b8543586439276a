//! Executes the plans of all ranks in lock step: which message travels in which round.
//!
//! In a round each rank sends at most one message and receives at most one. Local steps run at the
//! end of the round in which they become ready. Drawings and counts of messages use these rounds.
//! They do not predict time: messages of one rank that do not wait for each other (the
//! [extra sends](crate::Cost::extra_sends) of a cost) have a round each here.

use thiserror::Error;

use crate::call::Rank;
use crate::pairing::{Mismatch, Pairing, StepRef};
use crate::plan::cursor::Cursor;
use crate::plan::{Action, Plan};

/// The round of every step of every rank.
#[derive(Clone, Debug)]
pub struct Timeline {
    matching: Pairing,
    /// By rank and step; 0 is before the first message.
    rounds: Vec<Vec<usize>>,
    last: usize,
}

/// Why plans have no timeline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimelineError {
    /// Sends and receives do not match.
    #[error(transparent)]
    Messages(#[from] Mismatch),
    /// Some steps wait for each other.
    #[error("rank {rank} cannot go on: {steps} steps are left")]
    Deadlock {
        /// The first rank that cannot go on.
        rank: Rank,
        /// How many of its steps are left.
        steps: usize,
    },
}

impl Timeline {
    /// Runs the plans of all ranks, in rank order, in lock step.
    ///
    /// # Errors
    /// If the plans do not fit together.
    pub fn new(plans: &[Plan]) -> Result<Self, TimelineError> {
        let matching = Pairing::new(plans)?;
        let rounds = plans.iter().map(|plan| vec![0; plan.steps().len()]).collect();
        let mut timeline = Self { matching, rounds, last: 0 };
        let mut lockstep = Lockstep::new(plans, &timeline.matching);
        loop {
            for place in lockstep.settle() {
                timeline.rounds[place.rank.index()][place.step.index()] = timeline.last;
            }
            let delivered = lockstep.deliver();
            if delivered.is_empty() {
                break;
            }
            timeline.last += 1;
            for place in delivered {
                timeline.rounds[place.rank.index()][place.step.index()] = timeline.last;
            }
        }
        let left = lockstep.execs.iter().map(Cursor::remaining).enumerate().find(|(_, n)| *n > 0);
        match left {
            None => Ok(timeline),
            Some((rank, steps)) => {
                Err(TimelineError::Deadlock { rank: Rank::from_index(rank), steps })
            }
        }
    }

    /// How many rounds have a message.
    pub fn rounds(&self) -> usize {
        self.last
    }

    /// The round of a step, counted from 1. Both ends of a message are in the same round; local
    /// steps are at the end of their round, and those in round 0 come before all messages.
    pub fn round(&self, place: StepRef) -> usize {
        self.rounds[place.rank.index()][place.step.index()]
    }

    /// The messages of the plans.
    pub fn matching(&self) -> &Pairing {
        &self.matching
    }
}

/// The state between two rounds.
struct Lockstep<'a> {
    plans: &'a [Plan],
    matching: &'a Pairing,
    execs: Vec<Cursor>,
    /// How many ends of each message are ready.
    ready: Vec<u8>,
    /// Messages of which both ends are ready, in the order in which they became so.
    waiting: Vec<usize>,
}

impl<'a> Lockstep<'a> {
    fn new(plans: &'a [Plan], matching: &'a Pairing) -> Self {
        Self {
            plans,
            matching,
            execs: plans.iter().map(Cursor::new).collect(),
            ready: vec![0; matching.messages().len()],
            waiting: Vec::new(),
        }
    }

    /// Does everything local that is possible, and returns it.
    fn settle(&mut self) -> Vec<StepRef> {
        let mut done = Vec::new();
        for (plan, exec) in self.plans.iter().zip(&mut self.execs) {
            while let Some(step) = exec.next_ready(plan) {
                let place = StepRef { rank: plan.rank(), step };
                if let Some(message) = self.matching.of_step(place) {
                    self.ready[message] += 1;
                    if self.ready[message] == 2 {
                        self.waiting.push(message);
                    }
                } else {
                    debug_assert!(matches!(
                        plan.step(step),
                        Action::Copy { .. } | Action::Reduce { .. }
                    ));
                    exec.complete(plan, step);
                    done.push(place);
                }
            }
        }
        done
    }

    /// Delivers what fits into one round, and returns both ends of each message.
    fn deliver(&mut self) -> Vec<StepRef> {
        let mut sending = vec![false; self.plans.len()];
        let mut receiving = sending.clone();
        let mut places = Vec::new();
        let messages = self.matching.messages();
        // What a rank sends first in program order goes first.
        self.waiting.sort_by_key(|message| (messages[*message].send.step, *message));
        self.waiting.retain(|message| {
            let message = messages[*message];
            let (from, to) = (message.send.rank.index(), message.recv.rank.index());
            let fits = !sending[from] && !receiving[to];
            if fits {
                (sending[from], receiving[to]) = (true, true);
                places.extend([message.send, message.recv]);
            }
            !fits
        });
        for place in &places {
            let rank = place.rank.index();
            self.execs[rank].complete(&self.plans[rank], place.step);
        }
        places
    }
}
