//! An inline run executes a short collective without posting receives, and usually without an
//! operation.
//!
//! If all messages of a collective are short, most of its time goes into the engine's work around
//! them. A caller that waits for the collective, or polls it, can avoid most of this work: the
//! engine posts no receive and hands out no completion, but polls the cell in which the next
//! message must arrive. A blocking collective becomes an operation only if it takes longer than a
//! message may take.
//!
//! The engine runs only a few operations in this way, because it polls them again and again.
//! Other operations that start meanwhile post their receives. Before a thread parks, all inline
//! runs post theirs, so that the code for parking, deaths, leaving and reports need not know of
//! inline runs.

#[cfg(test)]
mod tests;

use std::mem;

use motet_fabric::Completion;
use motet_fabric::slab::Id;

use super::execution::Advance;
use super::persistent::Polled;
use super::polling::MISSES_BESIDE_WORK;
use super::{End, Engine, Execution, Operation, PackedBuffers, State, Work, collected};

/// One in so many unsuccessful polls makes progress on other operations, if there are any.
pub(super) const POLLS_PER_PROGRESS: u32 = 16;
/// A rank that yields between its polls advances other operations once in so many yields.
const YIELDS_PER_PROGRESS: u32 = 8;
/// The number of operations that run inline at once; more than these post their receives.
pub(super) const POLLED_OPS_MAX: usize = 8;

/// A short collective that has started and is not an operation.
pub(crate) struct InlineRun {
    run: Box<Execution>,
    staging: Option<Box<PackedBuffers>>,
}

impl InlineRun {
    /// An inline run of an execution that has started, and whose data has been packed.
    pub(super) fn of(run: Box<Execution>, staging: Option<Box<PackedBuffers>>) -> InlineRun {
        InlineRun { run, staging }
    }
}

impl Engine {
    /// Starts a collective inline; one that is not short becomes an operation at once.
    #[inline]
    pub(crate) fn start_inline(
        &mut self,
        mut run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<InlineRun, Id> {
        run.begin();
        if !run.is_in_order() || self.books.is_some() {
            return Err(self.begin_run(run, collected(staging)));
        }
        Ok(InlineRun { run, staging: collected(staging) })
    }

    /// Polls up to `max_polls` times for the messages of an inline run. Returns `Complete` if it
    /// has succeeded.
    #[inline]
    pub(crate) fn poll_inline(&mut self, inline: &mut InlineRun, max_polls: u32) -> Advance {
        let mut advance = Advance::Behind;
        for poll in 1..=max_polls {
            advance = inline.run.run_inorder(&mut self.endpoint);
            match advance {
                Advance::Complete | Advance::Failed => return advance,
                Advance::Waiting(from)
                    if self.active == 0 || !poll.is_multiple_of(POLLS_PER_PROGRESS) =>
                {
                    self.endpoint.fetch_from(from);
                }
                Advance::Waiting(_) | Advance::Behind => {
                    self.progress();
                }
            }
        }
        advance
    }

    /// Ends an inline run that has succeeded, and returns its execution for the next call.
    #[inline]
    pub(crate) fn finish_inline(&mut self, inline: InlineRun) {
        let InlineRun { run, staging } = inline;
        self.finish_at_once(run, staging);
    }

    /// Turns an inline run into an operation, because it takes too long or has failed.
    pub(crate) fn promote(&mut self, inline: InlineRun) -> Id {
        self.begin_run(inline.run, inline.staging)
    }

    /// Advances other operations, if more than `own` are active, for a caller that polls only its
    /// own. Once in so many turns it advances others in any case, because the awaited message may
    /// be blocked by one that the caller does not poll.
    pub(crate) fn progress_others_every(&mut self, turn: u32, own: usize) {
        if turn.is_multiple_of(YIELDS_PER_PROGRESS) {
            self.progress();
        } else {
            self.progress_others(own);
        }
    }

    /// Ends an execution that has succeeded and is not an operation.
    fn finish_at_once(&mut self, run: Box<Execution>, mut staging: Option<Box<PackedBuffers>>) {
        self.ended += 1;
        if let Some(packed) = &mut staging {
            packed.unpack(usize::MAX);
            self.release_packed(&run, &mut staging);
        }
        self.release(run);
        self.progress_others(0);
    }

    /// Advances a few operations if more than `own` are active, if messages wait for room, or in
    /// check mode. So a program that calls the library again and again makes progress, even if no
    /// call ever waits. In check mode, the records of other ranks arrive before the checked call
    /// ends.
    #[inline]
    pub(super) fn progress_others(&mut self, own: usize) {
        if self.active > own || self.endpoint.has_waiting() || self.books.is_some() {
            self.progress_within(MISSES_BESIDE_WORK);
        }
    }

    /// Adds an execution that has started as an active operation.
    pub(super) fn insert_active(
        &mut self,
        run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        self.active += 1;
        self.insert(Work::Run(run), staging, State::Active)
    }

    /// Adds an execution that has started as an operation and advances it.
    fn begin_run(&mut self, run: Box<Execution>, staging: Option<Box<PackedBuffers>>) -> Id {
        let id = self.insert_active(run, staging);
        self.start_active(id);
        id
    }

    /// Advances an operation that has just started: inline if it may and if few others run inline.
    pub(super) fn start_active(&mut self, id: Id) {
        if self.books.is_none() && self.polled.len() < POLLED_OPS_MAX {
            let mut done = mem::take(&mut self.done);
            self.advance_inorder(id, &mut done);
            self.settle(done);
        } else {
            self.advance(id);
        }
    }

    /// Advances an operation inline if it may run so, else in general. Returns whether it moved.
    pub(super) fn advance_inorder(&mut self, id: Id, done: &mut Vec<Completion>) -> bool {
        let Some(Operation { work: Work::Run(run), .. }) = self.operations.get_mut(id) else {
            return false;
        };
        if !run.may_run_inorder() {
            self.advance_into(id, done);
            return true;
        }
        let before = run.steps_left();
        match run.run_inorder(&mut self.endpoint) {
            Advance::Complete => {
                self.finish_run(id);
                return true;
            }
            Advance::Failed => self.advance_into(id, done),
            Advance::Waiting(_) | Advance::Behind => {
                let moved = run.steps_left() < before;
                if !mem::replace(&mut run.polled, true) {
                    self.polled.push(id);
                }
                return moved;
            }
        }
        true
    }

    /// Polls up to `max_polls` times for the messages of an operation, and advances other
    /// operations, whose peers may wait for this rank.
    pub(crate) fn poll(&mut self, id: Id, max_polls: u32) {
        match self.poll_linked(id, max_polls) {
            Polled::Over => return self.progress_others(0),
            Polled::Moved | Polled::Waits => return self.progress_others(1),
            Polled::NotCompiled if self.is_polled(id) => self.poll_run(id, max_polls),
            Polled::NotCompiled | Polled::Message => self.poll_posted(id, max_polls),
        }
        self.progress_except(id);
    }

    /// Like [`Engine::poll`] without any poll.
    pub(crate) fn progress_except(&mut self, id: Id) {
        let own = usize::from(!self.is_complete(id));
        self.progress_others(own);
    }

    /// Like [`Engine::poll`], and takes the outcome if it is there.
    pub(crate) fn poll_until_done(&mut self, id: Id, persistent: bool, max_polls: u32) -> End {
        if self.take_well(id, persistent) {
            // It ended during the start: a rank that only sends waits for nothing.
            self.progress_others(0);
            return End::Well;
        }
        if let Some(outcome) = self.end_first(id, persistent, max_polls) {
            return End::As(outcome);
        }
        self.poll(id, max_polls);
        if self.take_well(id, persistent) {
            return End::Well;
        }
        End::of(self.take(id, persistent))
    }

    /// Whether an operation waits for messages that produce no completion, so that the engine must
    /// poll.
    pub(super) fn is_polled(&mut self, id: Id) -> bool {
        let Some(operation) = self.operations.get_mut(id) else { return false };
        let Work::Run(run) = &operation.work else { return false };
        let waits = run.may_run_inorder() || run.waits_for_channel();
        operation.state == State::Active && run.polled && waits
    }

    /// Polls an operation that has posted its receives. Its end must be seen at once: a rank that
    /// shares a core would otherwise give the core away before the next poll.
    fn poll_posted(&mut self, id: Id, max_polls: u32) {
        for _ in 0..max_polls {
            if self.is_complete(id) {
                return;
            }
            self.progress();
        }
    }

    fn poll_run(&mut self, id: Id, max_polls: u32) {
        let mut done = mem::take(&mut self.done);
        for poll in 1..=max_polls {
            if !self.is_polled(id) {
                break;
            }
            if self.poll_one(id, &mut done) {
                continue;
            }
            if self.active > 1 && poll.is_multiple_of(POLLS_PER_PROGRESS) {
                break; // what it waits for may wait for another operation
            }
            self.endpoint.poll_network(&mut done);
        }
        self.settle(done);
        self.stop_polling(id);
    }

    /// Takes an operation that has ended off the polled list, if it is the last there. It would
    /// otherwise take the place of one that starts among the [few](POLLED_OPS_MAX).
    fn stop_polling(&mut self, id: Id) {
        if self.polled.last() != Some(&id) {
            return;
        }
        if let Some(operation) = self.operations.get_mut(id) {
            if operation.state == State::Active {
                return;
            }
            if let Work::Run(run) = &mut operation.work {
                run.polled = false;
            }
        }
        self.polled.pop();
    }
}
