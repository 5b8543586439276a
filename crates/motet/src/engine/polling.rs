//! Polls the messages that produce no completion: those in channels, and the next messages of
//! inline collectives in the eager rings.
//!
//! The engine polls such operations in turn. A poll that finds nothing is a *miss*. Each call of
//! the engine stops after a limited number of misses, and the next call continues where it stopped.
//! So the cost of a start, and of a wait that finds its message, does not grow with the number of
//! pending operations. Before a thread parks, the engine polls all of them.

#[cfg(test)]
mod tests;

use std::mem;

use motet_fabric::Completion;
use motet_fabric::slab::Id;

use super::persistent::Polled;
use super::{Engine, Operation, Outcome, State, Work};

/// One progress call in so many also detects operations that can never complete.
const THOROUGH_EVERY: u32 = 256;
/// Misses after which a call leaves the other operations to later calls.
pub(super) type MissLimit = usize;
/// The limit for a call that has done its own work and advances other operations: a miss takes
/// 50 ns if the operation is in no cache.
pub(super) const MISSES_BESIDE_WORK: MissLimit = 8;
/// The limit for a thread that waits or tests.
pub(super) const MISSES_OF_WAIT: MissLimit = 64;
/// Polls all operations, as a thread must before it parks.
pub(super) const NO_MISS_LIMIT: MissLimit = usize::MAX;

impl Engine {
    /// Advances operations as far as possible; if very many are pending, some of them in turn.
    /// Returns whether any moved.
    pub(crate) fn progress(&mut self) -> bool {
        self.progress_within(MISSES_OF_WAIT)
    }

    /// Like [`Engine::progress`], with this limit for polls of operations that do not move.
    #[inline(never)] // short calls rarely need it, and would save registers for it
    pub(super) fn progress_within(&mut self, limit: MissLimit) -> bool {
        let moved = self.move_on(limit);
        self.moves += u64::from(moved);
        moved
    }

    /// Advances all operations, then fails those that can never complete because a peer has left or
    /// the ranks disagree, and lets go the senders of messages that are still in place. Called now
    /// and then by threads that poll, and before a thread parks.
    pub(crate) fn progress_thoroughly(&mut self) -> bool {
        let mut moved = self.progress_within(NO_MISS_LIMIT);
        let mut done = mem::take(&mut self.done);
        self.endpoint.fail_ops_of_left_peers(&mut done);
        moved |= !done.is_empty();
        self.settle(done);
        moved |= self.give_up_exchanges();
        moved |= self.reconsider();
        moved |= !moved && self.copy_out_all();
        moved || self.end_disagreeing()
    }

    /// Like [`Engine::progress_thoroughly`], for a thread that is about to park: if nothing moves,
    /// it completes receives without their senders, for which it would otherwise be woken.
    pub(crate) fn progress_before_parking(&mut self) -> bool {
        self.progress_thoroughly() || self.complete_without_senders()
    }

    fn complete_without_senders(&mut self) -> bool {
        let mut done = mem::take(&mut self.done);
        self.endpoint.complete_without_senders(&mut done);
        self.settle(done)
    }

    /// Like [`Engine::progress`] and, once in [`THOROUGH_EVERY`] calls,
    /// [`Engine::progress_thoroughly`]. For threads that test `requests` requests and never park.
    pub(crate) fn progress_now_and_then_thoroughly(&mut self, requests: usize) {
        self.busy_polls = self.busy_polls.wrapping_add(1);
        if self.busy_polls.is_multiple_of(THOROUGH_EVERY) {
            self.progress_thoroughly();
        } else {
            // A test of many requests takes as long for the requests alone.
            self.progress_within(MISSES_OF_WAIT.max(requests));
        }
    }

    /// Tries the steps of operations that have posted nothing: channels, and the next messages of
    /// inline collectives. Polls each operation once, or fewer if `limit` is reached. Runs before
    /// the endpoint polls, which might take these messages in.
    pub(super) fn poll_channels(&mut self, limit: MissLimit, done: &mut Vec<Completion>) -> bool {
        let mut moved = false;
        let (mut left, mut misses) = (self.polled.len(), 0);
        if limit >= left {
            // Behind a wrap, a removal would bring an operation here that was polled before, in
            // place of one that was not.
            self.next_polled = 0;
        }
        while left > 0 && misses < limit {
            left -= 1;
            if self.next_polled >= self.polled.len() {
                self.next_polled = 0;
            }
            let id = self.polled[self.next_polled];
            let has_moved = self.poll_one(id, done);
            moved |= has_moved;
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
                self.next_polled += 1;
                misses += usize::from(!has_moved);
            } else {
                self.polled.swap_remove(self.next_polled);
            }
        }
        moved
    }

    pub(super) fn poll_one(&mut self, id: Id, done: &mut Vec<Completion>) -> bool {
        #[cfg(test)]
        {
            self.polls += 1;
        }
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

    /// Polls the operation that a thread waits for, and takes its outcome if it is complete.
    pub(crate) fn poll_and_take(&mut self, id: Id, persistent: bool) -> Option<Outcome> {
        self.poll_awaited(id);
        self.take(id, persistent)
    }

    /// Polls the operation that a thread waits for, if so many operations are polled that progress
    /// may take many calls to reach it.
    #[inline]
    pub(crate) fn poll_awaited(&mut self, id: Id) {
        if self.polled.len() > MISSES_OF_WAIT {
            self.poll_among_many(id);
        }
    }

    #[cold]
    fn poll_among_many(&mut self, id: Id) {
        if !self.is_polled(id) {
            return;
        }
        let mut done = mem::take(&mut self.done);
        let moved = self.poll_one(id, &mut done);
        self.moves += u64::from(moved);
        self.settle(done);
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
