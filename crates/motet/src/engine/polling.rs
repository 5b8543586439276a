//! Polls the messages that produce no completion: those in channels, and the next messages of
//! inline collectives in the eager rings.

use std::mem;

use motet_fabric::Completion;
use motet_fabric::slab::Id;

use super::persistent::Polled;
use super::{Engine, Operation, State, Work};

impl Engine {
    /// Tries the steps of operations that have posted nothing: channels, and the next messages of
    /// inline collectives. Runs before the endpoint polls, which might take these messages in.
    pub(super) fn poll_channels(&mut self, done: &mut Vec<Completion>) -> bool {
        let mut moved = false;
        let mut next = 0;
        while next < self.polled.len() {
            let id = self.polled[next];
            moved |= self.poll_one(id, done);
            let operation = self.operations.get_mut(id);
            let is_polled = operation.is_some_and(|operation| match &mut operation.work {
                Work::Run(run) => {
                    let waits = run.is_blocked() || run.may_run_inorder();
                    run.polled = operation.state == State::Active && waits;
                    run.polled
                }
                _ => false,
            });
            if is_polled {
                next += 1;
            } else {
                self.polled.swap_remove(next);
            }
        }
        moved
    }

    pub(super) fn poll_one(&mut self, id: Id, done: &mut Vec<Completion>) -> bool {
        let Some(operation) = self.operations.get_mut(id) else { return false };
        let Work::Run(run) = &mut operation.work else { return false };
        if operation.state != State::Active {
            return false;
        }
        if run.is_compiled() {
            return self.advance_linked(id) != Polled::Waits;
        }
        if run.may_run_inorder() {
            return self.advance_inorder(id, done);
        }
        if !run.poll(id.0, &mut self.endpoint) {
            return false;
        }
        if run.advance(id.0, &mut self.endpoint, done) {
            self.finish_run(id);
        }
        true
    }

    /// Fails the steps that can never complete, because the peer has left or the ranks disagree,
    /// and lets inline collectives post their receives: no thread parks while one runs inline.
    pub(super) fn reconsider(&mut self) -> bool {
        let mut moved = false;
        for at in 0..self.polled.len() {
            let id = self.polled[at];
            let mut done = mem::take(&mut self.done);
            if let Some(Operation { work: Work::Run(run), state, .. }) = self.operations.get_mut(id)
                && *state == State::Active
                && (run.may_run_inorder() || run.reconsider(id.0, &mut self.endpoint, &mut done))
            {
                moved = true;
                self.advance_into(id, &mut done);
            }
            self.settle(done);
        }
        moved
    }
}
