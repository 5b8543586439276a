//! Starts and advances persistent operations. For those with a [linked program](super::execution)
//! the engine's work around the steps takes the most time, so there is as little of it as possible.

use std::mem;

use motet_fabric::Endpoint;
use motet_fabric::slab::Id;

use super::{Engine, Execution, Posting, State, Work, inline_run, staging_of};

/// The result of starting a persistent operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartOutcome {
    /// It has succeeded and is inactive again.
    Over,
    Pending,
    /// It has been removed, because of a death in the world for instance.
    Removed,
}

/// The result of advancing an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polled {
    /// It has ended or is inactive.
    Over,
    Moved,
    Waits,
    /// A collective without a linked program.
    NotCompiled,
    /// Not a collective.
    Message,
}

/// Advances the linked program of the operation with this id.
pub(super) fn run_linked(
    run: &mut Execution,
    id: Id,
    endpoint: &Endpoint,
    polled: &mut Vec<Id>,
) -> Polled {
    let before = run.steps_left();
    if run.run_linked(endpoint) {
        return Polled::Over;
    }
    if !mem::replace(&mut run.polled, true) {
        polled.push(id);
    }
    if run.steps_left() < before { Polled::Moved } else { Polled::Waits }
}

impl Engine {
    /// Starts an inactive persistent operation. One that ends during the start is inactive again: a
    /// rank that only sends waits for nothing, and need not poll.
    pub(crate) fn start(&mut self, id: Id) -> StartOutcome {
        let Some(operation) = self.operations.get_mut(id) else { return StartOutcome::Removed };
        if !matches!(operation.state, State::Inactive) {
            // A start has panicked before, and the rank has died.
            return StartOutcome::Removed;
        }
        if let Work::Run(run) = &mut operation.work {
            if let Some(staging) = staging_of(&mut operation.rare) {
                staging.collect();
            }
            if run.has_failed() && !run.forget_fault() {
                return self.start_broken(id);
            }
            if run.is_to_be_linked() {
                run.link(&mut self.endpoint);
            }
            run.restart();
            if run.is_compiled() {
                let polled = run_linked(run, id, &self.endpoint, &mut self.polled);
                if polled == Polled::Over && operation.rare.is_none() {
                    self.has_ended(0);
                    self.progress_others(0);
                    return StartOutcome::Over;
                }
                operation.state = State::Active;
                self.active += 1;
                if polled == Polled::Over {
                    self.finish_run(id);
                }
                return StartOutcome::Pending;
            }
        }
        operation.state = State::Active;
        self.active += 1;
        self.advance_first(id);
        StartOutcome::Pending
    }

    /// Advances a started operation without a linked program.
    fn advance_first(&mut self, id: Id) {
        let operation = self.operations.get_mut(id).expect("it has just been started");
        match &operation.work {
            Work::Stored(stored) if stored.posting == Posting::WhenReady => {}
            Work::Stored(_) => self.post_stored(id),
            Work::Run(run) if run.may_run_inorder() => self.start_active(id),
            Work::Run(_) if self.has_progress_thread => self.deferred_starts.push(id),
            Work::Run(_) => self.advance(id),
            // All others are nonpersistent.
            _ => {}
        }
    }

    /// Advances an operation, if it has a linked program.
    pub(super) fn advance_linked(&mut self, id: Id) -> Polled {
        let Some(operation) = self.operations.get_mut(id) else { return Polled::Over };
        let Work::Run(run) = &mut operation.work else { return Polled::Message };
        if !run.is_compiled() {
            return Polled::NotCompiled;
        }
        if operation.state != State::Active {
            return Polled::Over;
        }
        let polled = run_linked(run, id, &self.endpoint, &mut self.polled);
        if polled == Polled::Over {
            if operation.rare.is_some() {
                self.finish_run(id);
            } else {
                operation.state = State::Succeeded;
                self.has_ended(1);
            }
        }
        polled
    }

    /// Polls up to `max_polls` times for the messages of an operation, if it has a linked program.
    pub(super) fn poll_linked(&mut self, id: Id, max_polls: u32) -> Polled {
        let mut polled = Polled::Waits;
        for poll in 1..=max_polls {
            polled = self.advance_linked(id);
            match polled {
                Polled::Over | Polled::NotCompiled | Polled::Message => break,
                // The awaited message may depend on another operation of this rank.
                Polled::Waits
                    if self.active > 1 && poll.is_multiple_of(inline_run::POLLS_PER_PROGRESS) =>
                {
                    break;
                }
                Polled::Waits | Polled::Moved => {}
            }
        }
        polled
    }
}
