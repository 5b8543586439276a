//! The verifier: symbolic execution of the plans of all ranks, in random legal orders.
//!
//! A value is an expression over the elements that ranks contribute, so one run covers all data.
//! Each run executes the plans of all ranks with [`Cursor`], as the engine does. At each point a
//! seeded generator picks one of the steps and deliveries that are possible. There are three modes;
//! every transport lies between the first two:
//!
//! - [`Mode::Eager`]: a send completes at once, its data captured; the message may arrive any
//!   time later.
//! - [`Mode::Rendezvous`]: a send completes only when its receive has been posted, and its
//!   data is read at that moment; if the data [may wait](Plan::may_wait) for a reduction, the send
//!   completes only when that reduction starts. A plan that finishes here relies on no buffering.
//! - [`Mode::InOrder`]: as eager, and each rank executes its steps one after the other. A plan that
//!   finishes here also finishes if only some ranks do that: the others wait for less.
//!
//! Reductions run as in the engine: a message that one reduction alone reads
//! ([`Plan::reduction_of`]) is mostly left where it is and read there, and reductions that may
//! follow each other in one pass ([`Plan::next_of_pass`]) mostly do, part by part. The place of the
//! receive, and the results between, then hold nothing that a step may read.
//!
//! A run is a violation if a step reads an element that is not set or still arriving, overwrites
//! one that is being sent or received, or writes one that must stay unchanged; if the ranks
//! deadlock; or if the result differs from the [specification](crate::spec). In an allreduce all
//! ranks must have computed the same expression, so that they have the same bits. A barrier is an
//! allgather of tokens of no bytes; each rank must hold those of all ranks at the end. Between two
//! groups both rules hold for each group: the same expression at all its ranks, and the tokens of
//! the other group.

mod memory;
mod run;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;

use thiserror::Error;

use crate::call::{Call, Rank};
use crate::pairing::{Mismatch, Pairing, StepRef};
#[cfg(doc)]
use crate::plan::cursor::Cursor;
use crate::plan::{Action, Buffer, Plan};
use crate::spec::{self, SpecError};

/// When a send is complete, and which steps wait for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// At once.
    Eager,
    /// When its receive has been posted.
    Rendezvous,
    /// At once; and each step waits for the one before it.
    InOrder,
}

/// Which of the legal orders is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Determines all choices of the run.
    pub seed: u64,
    /// When a send is complete.
    pub mode: Mode,
}

/// What was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Steps of all ranks.
    pub steps: usize,
    /// Messages of all ranks.
    pub messages: usize,
    /// Operands of all ranks that reductions have read in messages that stayed where they were.
    pub read_in_place: usize,
    /// Reductions of all ranks that have followed another one in a pass.
    pub followed_in_pass: usize,
}

/// A step that cannot complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Where it is.
    pub place: StepRef,
    /// What it does.
    pub action: Action,
}

/// Why a set of plans is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// The calls are not those of one collective, so nothing can be said about the plans.
    #[error("the calls do not fit together: {0}")]
    Calls(#[from] SpecError),
    /// Sends and receives do not match.
    #[error(transparent)]
    Messages(#[from] Mismatch),
    /// A plan is for other buffers than those of the call.
    #[error("rank {rank}: the {buffer} of the plan has {found} elements, of the call {expected}")]
    Buffer {
        /// Whose plan.
        rank: Rank,
        /// Which buffer.
        buffer: Buffer,
        /// Its length in the plan.
        found: usize,
        /// Its length in the call.
        expected: usize,
    },
    /// A step reads an element that holds no value of the call.
    #[error("{} reads {buffer}[{element}], which is not set", At(place, action))]
    ReadUnset {
        /// The step.
        place: StepRef,
        /// What it does.
        action: Action,
        /// Which buffer.
        buffer: Buffer,
        /// Which element.
        element: usize,
    },
    /// A step touches an element that a message in progress reads or writes.
    #[error(
        "{} touches {buffer}[{element}] while a message is in progress there",
        At(place, action)
    )]
    Race {
        /// The step.
        place: StepRef,
        /// What it does.
        action: Action,
        /// Which buffer.
        buffer: Buffer,
        /// Which element.
        element: usize,
    },
    /// A step writes an element that must stay unchanged.
    #[error("{} writes {buffer}[{element}], which must stay unchanged", At(place, action))]
    Touched {
        /// The step.
        place: StepRef,
        /// What it does.
        action: Action,
        /// Which buffer.
        buffer: Buffer,
        /// Which element.
        element: usize,
    },
    /// No step can complete, and some are left.
    #[error("dead-lock: {}", Stucks(.0))]
    Deadlock(
        /// The steps that were started and cannot complete, by rank.
        Vec<Stuck>,
    ),
    /// An element of an output is not what it must be.
    #[error("rank {rank}: output[{element}] must be {expected}, but is {found}")]
    Result {
        /// Whose output.
        rank: Rank,
        /// Which element.
        element: usize,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Two ranks have computed different expressions.
    #[error(
        "output[{element}] is {expression} at rank {first}, but {other} at rank {rank}: \
         bits may differ"
    )]
    Expressions {
        /// Which element.
        element: usize,
        /// The first rank that must have the same expression.
        first: Rank,
        /// The expression there.
        expression: String,
        /// The rank that differs.
        rank: Rank,
        /// Its expression.
        other: String,
    },
    /// A rank leaves a barrier without having heard of all others.
    #[error("rank {rank} leaves without having heard of rank {missing}")]
    Barrier {
        /// The rank that leaves.
        rank: Rank,
        /// A rank that may not have entered yet.
        missing: Rank,
    },
}

/// Runs the plans of all ranks once, in an order that `options` determines. `calls` and `plans`
/// are in rank order, one of each for each rank.
///
/// # Errors
/// The first violation found.
pub fn verify(calls: &[Call], plans: &[Plan], options: &Options) -> Result<Report, Violation> {
    let expected = spec::expected(calls)?;
    let matching = Pairing::new(plans)?;
    check_buffers(calls, plans)?;
    let mut run = run::VerifierRun::new(calls, plans, &expected, &matching, options);
    run.execute()?;
    run.check(&expected)?;
    let steps = plans.iter().map(|plan| plan.steps().len()).sum();
    let run::PassCounts { read_in_place, followed_in_pass } = run.counts();
    let messages = matching.messages().len();
    Ok(Report { steps, messages, read_in_place, followed_in_pass })
}

fn check_buffers(calls: &[Call], plans: &[Plan]) -> Result<(), Violation> {
    if let Some(call) = calls.get(plans.len()) {
        let (index, plans) = (plans.len(), plans.len());
        return Err(Mismatch::Plans { index, plans, rank: call.rank, ranks: call.ranks }.into());
    }
    for (call, plan) in calls.iter().zip(plans) {
        let lengths = [
            (Buffer::Input, plan.input_len(), call.input_len()),
            (Buffer::Output, plan.output_len(), call.output_len()),
        ];
        if let Some((buffer, found, expected)) = lengths.into_iter().find(|(_, a, b)| a != b) {
            return Err(Violation::Buffer { rank: call.rank, buffer, found, expected });
        }
    }
    Ok(())
}

/// A step, for messages.
struct At<'a>(&'a StepRef, &'a Action);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}, step {}: `{}`", self.0.rank, self.0.step, self.1)
    }
}

/// The first steps of a dead-lock, for messages.
struct Stucks<'a>(&'a [Stuck]);

impl fmt::Display for Stucks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        for (index, Stuck { place, action }) in self.0.iter().take(SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}", At(place, action))?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
