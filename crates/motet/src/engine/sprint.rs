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

use std::mem;

use motet_fabric::Completion;
use motet_fabric::slab::Id;

use super::run::Pace;
use super::{Engine, Operation, Run, Staging, State, Work, collected};

/// Of so many looks in vain one moves other operations, if there are any.
pub(super) const LOOKS: u32 = 16;
/// Operations at which the engine looks each time, before others post their receives.
const FEW: usize = 8;

impl Engine {
    /// Begins a collective and, if it is short, looks so many times for what it waits for. Nothing
    /// if it has ended well then, or else the operation that it has become.
    pub(crate) fn run_at_once(
        &mut self,
        mut run: Box<Run>,
        staging: Option<Box<Staging>>,
        looks: u32,
    ) -> Option<Id> {
        if !run.is_in_order() || self.books.is_some() {
            return Some(self.start_run(run, staging));
        }
        run.begin();
        let mut staging = collected(staging);
        for look in 1..=looks {
            match run.sprint(&mut self.endpoint) {
                Pace::Complete if run.error().is_none() => {
                    self.finish_at_once(run, staging.as_deref_mut());
                    return None;
                }
                Pace::Complete | Pace::Failed => break,
                Pace::Waiting(from) if self.active == 0 || !look.is_multiple_of(LOOKS) => {
                    self.endpoint.fetch_from(from);
                }
                Pace::Waiting(_) | Pace::Behind => drop(self.progress()),
            }
        }
        Some(self.begin_run(run, staging))
    }

    /// A run has ended well that is no operation.
    fn finish_at_once(&mut self, run: Box<Run>, staging: Option<&mut Staging>) {
        self.ended += 1;
        if let Some(staging) = staging {
            staging.spread(usize::MAX);
        }
        self.take_back(run);
        self.move_others(0);
    }

    /// Whoever calls the library again and again moves all that is under way, even if the calls
    /// themselves never wait: more than so many operations, and messages that found no room. In
    /// check mode, what others tell comes before the end of what has been checked.
    pub(super) fn move_others(&mut self, own: usize) {
        if self.active > own || self.endpoint.has_waiting() || self.books.is_some() {
            self.progress();
        }
    }

    /// Takes in a run that has begun, and moves it.
    pub(super) fn begin_run(&mut self, run: Box<Run>, staging: Option<Box<Staging>>) -> Id {
        let id = self.insert(Work::Run(run), staging, State::Active);
        self.active += 1;
        self.go(id);
        id
    }

    /// Moves an operation that has just begun: at a sprint if it may, and if there are few others.
    pub(super) fn go(&mut self, id: Id) {
        if self.books.is_none() && self.polled.len() < FEW {
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
        if !run.may_sprint() {
            self.advance_into(id, done);
            return true;
        }
        let before = run.steps_left();
        match run.sprint(&mut self.endpoint) {
            Pace::Complete => {
                self.finish_run(id);
                return true;
            }
            Pace::Failed => self.advance_into(id, done),
            Pace::Waiting(_) | Pace::Behind => {
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
    pub(crate) fn hurry(&mut self, id: Id, looks: u32) {
        match self.operations.get_mut(id) {
            Some(Operation { work: Work::Run(_), .. }) => self.hurry_run(id, looks),
            Some(_) => self.hurry_message(id, looks),
            None => {}
        }
        let own = usize::from(!self.is_complete(id));
        self.move_others(own);
    }

    fn hurry_message(&mut self, id: Id, looks: u32) {
        for _ in 0..looks {
            if self.is_complete(id) {
                return;
            }
            self.progress();
        }
    }

    fn hurry_run(&mut self, id: Id, looks: u32) {
        let mut done = mem::take(&mut self.done);
        for look in 1..=looks {
            let Some(operation) = self.operations.get_mut(id) else { break };
            let Work::Run(run) = &mut operation.work else { break };
            // What is not polled waits for something else, or has not begun to run.
            let waits = run.polled && (run.may_sprint() || run.waits_for_channel());
            if operation.state != State::Active || !waits {
                break;
            }
            let sprints = run.may_sprint();
            let moved = self.poll_one(id, &mut done);
            if !moved && self.active > 1 && look.is_multiple_of(LOOKS) {
                break; // what it waits for may wait for another operation
            }
            if !moved && sprints {
                self.endpoint.fetch(&mut done);
            }
        }
        self.settle(done);
    }
}
