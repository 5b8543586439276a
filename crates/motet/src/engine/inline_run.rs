//! Short collectives.
//!
//! Where all messages of a collective are short, most of its time is what the engine does around
//! them. Whoever waits for such an operation, or asks for it again and again, can do without most
//! of that: no receive is posted and no completion handed out, but the engine looks where the next
//! message must come. A blocking collective does not even get a place among the operations, unless
//! it takes longer than a message may take.
//!
//! The engine looks at few operations in that way, since it looks at each of them each time. All
//! that begin while there are more post their receives; and so do those before anybody sleeps, so
//! that nobody who sleeps, dies, leaves or reports need know of sprints.

#[cfg(test)]
mod tests;

use std::mem;

use motet_fabric::Completion;
use motet_fabric::slab::Id;

use super::execution::Advance;
use super::persistent::Polled;
use super::{End, Engine, Execution, Operation, PackedBuffers, State, Work, collected};

/// Of so many looks in vain one moves other operations, if there are any.
pub(super) const POLLS_PER_PROGRESS: u32 = 16;
/// So often who gives way between its looks moves everything.
const YIELDS_PER_PROGRESS: u32 = 8;
/// Operations at which the engine looks each time, before others post their receives.
pub(super) const POLLED_OPS_MAX: usize = 8;

/// A short collective that has begun and is no operation.
pub(crate) struct InlineRun {
    run: Box<Execution>,
    staging: Option<Box<PackedBuffers>>,
}

impl InlineRun {
    /// A run that has begun, of data that is in memory as it needs it.
    pub(super) fn of(run: Box<Execution>) -> InlineRun {
        InlineRun { run, staging: None }
    }
}

impl Engine {
    /// Begins a collective. Unless it is short it becomes an operation at once.
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

    /// Looks so many times for what a short collective waits for: complete if it has ended well.
    #[inline]
    pub(crate) fn poll_inline(&mut self, sprinter: &mut InlineRun, looks: u32) -> Advance {
        let mut pace = Advance::Behind;
        for look in 1..=looks {
            pace = sprinter.run.sprint(&mut self.endpoint);
            match pace {
                Advance::Complete if sprinter.run.error().is_some() => return Advance::Failed,
                Advance::Complete | Advance::Failed => return pace,
                Advance::Waiting(from)
                    if self.active == 0 || !look.is_multiple_of(POLLS_PER_PROGRESS) =>
                {
                    self.endpoint.fetch_from(from);
                }
                Advance::Waiting(_) | Advance::Behind => {
                    self.progress();
                }
            }
        }
        pace
    }

    /// A short collective has ended well: what it had is there for the next one.
    #[inline]
    pub(crate) fn finish_inline(&mut self, sprinter: InlineRun) {
        let InlineRun { run, mut staging } = sprinter;
        self.finish_at_once(run, staging.as_deref_mut());
    }

    /// A short collective becomes an operation: it takes longer than it should, or has failed.
    pub(crate) fn promote(&mut self, sprinter: InlineRun) -> Id {
        self.begin_run(sprinter.run, sprinter.staging)
    }

    /// Moves what else is under way than so many operations, for one who looks at nothing else;
    /// everything, now and then, since what it waits for may be blocked by what it does not look
    /// at.
    pub(crate) fn progress_others_every(&mut self, turn: u32, own: usize) {
        if turn.is_multiple_of(YIELDS_PER_PROGRESS) {
            self.progress();
        } else {
            self.progress_others(own);
        }
    }

    /// A run has ended well that is no operation.
    fn finish_at_once(&mut self, run: Box<Execution>, staging: Option<&mut PackedBuffers>) {
        self.ended += 1;
        if let Some(staging) = staging {
            staging.unpack(usize::MAX);
        }
        self.release(run);
        self.progress_others(0);
    }

    /// Whoever calls the library again and again moves all that is under way, even if the calls
    /// themselves never wait: more than so many operations, and messages that found no room. In
    /// check mode, what others tell comes before the end of what has been checked.
    #[inline]
    pub(super) fn progress_others(&mut self, own: usize) {
        if self.active > own || self.endpoint.has_waiting() || self.books.is_some() {
            self.progress();
        }
    }

    /// Takes in a run that has begun.
    pub(super) fn insert_active(
        &mut self,
        run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        self.active += 1;
        self.insert(Work::Run(run), staging, State::Active)
    }

    /// The same, and moves it.
    fn begin_run(&mut self, run: Box<Execution>, staging: Option<Box<PackedBuffers>>) -> Id {
        let id = self.insert_active(run, staging);
        self.start_active(id);
        id
    }

    /// Moves an operation that has just begun: at a sprint if it may, and if there are few others.
    pub(super) fn start_active(&mut self, id: Id) {
        if self.books.is_none() && self.polled.len() < POLLED_OPS_MAX {
            let mut done = mem::take(&mut self.done);
            self.sprint(id, &mut done);
            self.settle(done);
        } else {
            self.advance(id);
        }
    }

    /// Moves an operation at a sprint, if it may; or else as all others.
    pub(super) fn sprint(&mut self, id: Id, done: &mut Vec<Completion>) -> bool {
        let Some(Operation { work: Work::Run(run), .. }) = self.operations.get_mut(id) else {
            return false;
        };
        if !run.may_run_inorder() {
            self.advance_into(id, done);
            return true;
        }
        let before = run.steps_left();
        match run.sprint(&mut self.endpoint) {
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

    /// Looks so many times for what an operation waits for, and moves others that wait for this
    /// rank.
    pub(crate) fn poll(&mut self, id: Id, looks: u32) {
        match self.hurry_play(id, looks) {
            Polled::Over => return self.progress_others(0),
            Polled::Moved | Polled::Waits => return self.progress_others(1),
            Polled::Unscripted if self.is_polled(id) => self.poll_run(id, looks),
            Polled::Unscripted | Polled::Message => self.poll_posted(id, looks),
        }
        self.progress_except(id);
    }

    /// As [`Engine::poll`] with no look at all.
    pub(crate) fn progress_except(&mut self, id: Id) {
        let own = usize::from(!self.is_complete(id));
        self.progress_others(own);
    }

    /// As [`Engine::poll`]. Takes the end if it is there.
    pub(crate) fn poll_until_done(&mut self, id: Id, persistent: bool, looks: u32) -> End {
        if self.take_well(id, persistent) {
            // It was over when it had begun: who only sends waits for nothing.
            self.progress_others(0);
            return End::Well;
        }
        if let Some(outcome) = self.end_alone(id, persistent, looks) {
            return End::As(outcome);
        }
        self.poll(id, looks);
        if self.take_well(id, persistent) {
            return End::Well;
        }
        End::of(self.take(id, persistent))
    }

    /// Whether an operation waits for what nobody tells it, and so looks itself.
    fn is_polled(&mut self, id: Id) -> bool {
        let Some(operation) = self.operations.get_mut(id) else { return false };
        let Work::Run(run) = &operation.work else { return false };
        let waits = run.may_run_inorder() || run.waits_for_channel();
        operation.state == State::Active && run.polled && waits
    }

    /// What has posted its receives moves as all others do. That it is over must be seen at once:
    /// who shares a core would give it away between that and the next look.
    fn poll_posted(&mut self, id: Id, looks: u32) {
        for _ in 0..looks {
            if self.is_complete(id) {
                return;
            }
            self.progress();
        }
    }

    fn poll_run(&mut self, id: Id, looks: u32) {
        let mut done = mem::take(&mut self.done);
        for look in 1..=looks {
            if !self.is_polled(id) {
                break;
            }
            if self.poll_one(id, &mut done) {
                continue;
            }
            if self.active > 1 && look.is_multiple_of(POLLS_PER_PROGRESS) {
                break; // what it waits for may wait for another operation
            }
            self.endpoint.poll_network(&mut done);
        }
        self.settle(done);
        self.stop_polling(id);
    }

    /// Looks no more at an operation that is over, if it is the last of those that are looked at:
    /// left among the [few](POLLED_OPS_MAX) it would take the place of one that begins.
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
