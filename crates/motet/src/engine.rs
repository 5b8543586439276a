//! The engine of one rank runs all its operations: here plans meet the fabric.
//!
//! It holds every operation that the rank has begun and not finished, and moves them whenever a
//! thread calls [`Engine::progress`]: all, or some in turn if very many are pending. It never waits
//! itself; the rank waits (see [`crate::rank`]).
//!
//! **Why posted addresses stay valid.** The engine posts addresses of user memory to the endpoint.
//! An operation owns the parts of its buffers (see [`crate::buffer`]) from before its first
//! transfer is posted until all its transfers have completed, or until [`Engine::abandon`] has
//! cancelled them: after that call no rank touches the memory. Nothing else hands buffers back.

mod admission;
mod bsend;
mod buffers;
mod cancel;
pub(crate) mod check;
mod closing;
mod completion;
pub(crate) mod context;
mod disagreeing;
mod execution;
mod inline_run;
mod introspect;
mod mourning;
mod nbx;
mod p2p;
mod p2p_inline;
mod persistent;
mod plan_cache;
mod polling;
pub(crate) mod quick_hash;
mod records;
mod replay;
mod wakers;

use std::mem;
use std::sync::Arc;
use std::task::Waker;

use motet_fabric::matching::Ticket;
use motet_fabric::slab::{Id, Slab};
use motet_fabric::{Completion, Endpoint, Received, TransferError};
use motet_plan::Call;

use crate::base::error::ErrorKind;
use crate::base::hints::Keep;
pub(crate) use crate::data::buffer::BufferGuard;
pub(crate) use crate::data::pack::{PackDirection, PackedBlock, PackedBuffers};
use crate::engine::check::CheckState;
pub use bsend::BufferRoom;
pub(crate) use bsend::{Room, Rooms, Slot};
pub(crate) use closing::Closing;
pub(crate) use completion::End;
use execution::of_collective;
pub(crate) use execution::{
    Advance, Binding, Execution, LinkTime, OpKey, ReplayProgram, TransportSummary,
};
pub(crate) use inline_run::InlineRun;
pub(crate) use nbx::{Arrivals, Dynamic};
pub(crate) use p2p::{CANCELLED, Envelope, Mode, NOBODY, Posting, Transfer};
use p2p::{Pair, Stored};
pub(crate) use p2p_inline::ExactRecv;
pub(crate) use persistent::StartOutcome;
pub use plan_cache::CacheCounters;
pub(crate) use plan_cache::{CacheHit, CachedPlan, PlanCache, Rule, Selection};
use polling::MissLimit;
pub(crate) use replay::{
    BlockList, CallSignature, DerivedReplay, FrontEnd, KeyDetails, Lists, Replay, ReplayKey,
};
pub(crate) use wakers::Postponed;

/// The result of an operation.
pub(crate) type Outcome = Result<Received, TransferError>;

/// The placeholder of a collective's transfers, whose source, tag and length nobody reads.
pub(crate) const NOTHING: Received = Received { source: motet_fabric::Peer(0), tag: 0, bytes: 0 };

/// Completions for which the engine allocates room at the start, so that the first one does not.
const DONE_AT_ONCE: usize = 8;

/// The state of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Persistent and not started.
    Inactive,
    Active,
    /// A collective has succeeded. Building its outcome would take longer than the collective.
    Succeeded,
    Complete(Outcome),
}

/// The work of an operation.
pub(crate) enum Work {
    Run(Box<Execution>),
    /// Sends one message.
    Send,
    /// Receives one message, which may not have arrived yet.
    Receive(Ticket),
    /// Sends one message and receives another.
    Pair(Box<Pair>),
    /// A persistent message: one message for each start.
    Stored(Box<Stored>),
    /// Work outside the library (a generalized request): the program tells the engine when it ends.
    Generalized,
}

/// An operation. A million may be pending, so rarely used fields are boxed in [`OpExtras`].
struct Operation {
    work: Work,
    state: State,
    rare: Option<Box<OpExtras>>,
    /// Whether a scope takes the outcome if the request does not.
    held: bool,
    /// Whether the request has been dropped.
    dropped: bool,
}

/// The fields that few operations need.
#[derive(Default)]
struct OpExtras {
    /// Packed copies of data with gaps.
    staging: Option<Box<PackedBuffers>>,
    waker: Option<Waker>,
    /// The buffers of a dropped request, freed when the operation completes.
    detached: Option<BufferGuard>,
    /// Why the algorithm was chosen, if the plan does not know.
    reason: Option<Arc<str>>,
    /// The part of a sparse dynamic exchange beside its barrier.
    dynamic: Option<Box<Dynamic>>,
}

impl Operation {
    fn staging(&mut self) -> Option<&mut PackedBuffers> {
        staging_of(&mut self.rare)
    }

    fn take_waker(&mut self) -> Option<Waker> {
        self.rare.as_mut()?.waker.take()
    }

    fn rare(&mut self) -> &mut OpExtras {
        self.rare.get_or_insert_default()
    }
}

/// All operations of one rank.
pub(crate) struct Engine {
    endpoint: Endpoint,
    operations: Slab<Operation>,
    /// Active operations that the engine polls: steps of theirs wait for channels or eager rings.
    polled: Vec<Id>,
    /// The index in `polled` at which the next call continues.
    next_polled: usize,
    /// Number of polls of operations in `polled`.
    #[cfg(test)]
    polls: u64,
    /// Whether a progress thread runs, which then starts the long collectives.
    has_progress_thread: bool,
    /// Operations whose start is deferred to the progress thread.
    deferred_starts: Vec<Id>,
    /// Sparse dynamic exchanges that receive from any rank.
    gathering: Vec<Id>,
    /// Completions being handed out; kept to reuse the allocation.
    done: Vec<Completion>,
    cache: PlanCache,
    calls: replay::ReplayCache,
    /// Started operations that are not complete, without generalized ones.
    active: usize,
    /// Number of operations that have ended.
    ended: u64,
    /// Number of short messages that were sent or received without an operation.
    transfers: u32,
    moves: u64,
    /// Number of progress calls by threads that poll and never park.
    busy_polls: u32,
    /// Threads of this rank that are parked or about to park.
    pub(crate) sleepers: usize,
    /// Number of operations that have a waker.
    wakers: usize,
    /// Work to do after the engine has been unlocked.
    postponed: Vec<Postponed>,
    /// Operations that wait until a buffer of buffered sends is empty.
    flushes: Vec<(Id, Arc<Room>)>,
    /// The calls of all ranks, in check mode.
    books: Option<Box<CheckState>>,
    /// Persistent collectives that have been freed.
    freed: disagreeing::Freed,
    stall: disagreeing::Stall,
    /// Pending operations allowed before the engine checks its limit (`room`), and the limit
    /// (`most`).
    room: usize,
    most: usize,
    /// Whether this rank has been told of a death; after that no call is replayed.
    has_mourned: bool,
    /// Whether the rank has left its world.
    has_left: bool,
}

impl Engine {
    pub(crate) fn new(endpoint: Endpoint, cache: PlanCache) -> Engine {
        Engine {
            endpoint,
            operations: Slab::default(),
            polled: Vec::with_capacity(2 * inline_run::POLLED_OPS_MAX),
            next_polled: 0,
            #[cfg(test)]
            polls: 0,
            has_progress_thread: false,
            deferred_starts: Vec::new(),
            gathering: Vec::new(),
            done: Vec::with_capacity(DONE_AT_ONCE),
            cache,
            calls: replay::ReplayCache::default(),
            active: 0,
            ended: 0,
            transfers: 0,
            moves: 0,
            busy_polls: 0,
            sleepers: 0,
            wakers: 0,
            postponed: Vec::new(),
            flushes: Vec::new(),
            books: None,
            freed: disagreeing::Freed::default(),
            stall: disagreeing::Stall::default(),
            room: admission::UNASKED,
            most: u32::MAX as usize,
            has_mourned: false,
            has_left: false,
        }
    }

    pub(crate) fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// From now on a progress thread moves the operations of this rank and also starts collectives
    /// that are not short, so that the caller spends no time on the start. A thread that waits or
    /// tests starts them if it comes first.
    pub(crate) fn leave_starts_to_progress_thread(&mut self) {
        self.has_progress_thread = true;
    }

    /// Takes an unbound execution for this call, and says where its plan was found.
    pub(crate) fn run_for(
        &mut self,
        call: &Call,
        rule: Rule,
        keep: Keep,
        closing: Closing,
    ) -> Result<(Box<Execution>, CacheHit), ErrorKind> {
        self.make_room()?;
        self.cache.take(call, rule, keep, closing)
    }

    /// Starts a nonpersistent collective.
    pub(crate) fn start_run(
        &mut self,
        mut run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        run.begin();
        let is_deferred = self.has_progress_thread && !run.may_run_inorder();
        let id = self.insert_active(run, collected(staging));
        if is_deferred {
            self.deferred_starts.push(id);
        } else {
            self.start_active(id);
        }
        id
    }

    /// Adds a persistent collective and links it, now or at its first start.
    pub(crate) fn add_persistent(
        &mut self,
        mut run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
        linking: LinkTime,
    ) -> Id {
        match linking {
            LinkTime::Now => run.link(&mut self.endpoint),
            LinkTime::AtStart => run.link_at_start(),
        }
        let id = self.insert(Work::Run(run), staging, State::Inactive);
        // Allocate here, so that no start does: room for all operations, and for the few inline
        // collectives that have ended and are still in the list.
        let polled = self.operations.len() + inline_run::POLLED_OPS_MAX;
        self.polled.reserve(polled.saturating_sub(self.polled.len()));
        if self.has_progress_thread {
            self.deferred_starts.reserve(polled.saturating_sub(self.deferred_starts.len()));
        }
        id
    }

    #[inline(always)] // an operation that is moved is read before it has been written
    fn insert(&mut self, work: Work, staging: Option<Box<PackedBuffers>>, state: State) -> Id {
        let apart = |staging| Box::new(OpExtras { staging: Some(staging), ..OpExtras::default() });
        let rare = staging.map(apart);
        self.operations.insert(Operation { work, state, rare, held: false, dropped: false })
    }

    /// Number of operations that have ended. While it is unchanged, none has ended.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Number of progress calls that moved something.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }

    fn move_on(&mut self, limit: MissLimit) -> bool {
        let moved = self.move_messages(limit);
        let flushed = !self.flushes.is_empty() && self.end_flushes();
        moved || flushed
    }

    fn move_messages(&mut self, limit: MissLimit) -> bool {
        let mut done = mem::take(&mut self.done);
        let begun = !self.deferred_starts.is_empty() && self.begin_deferred(&mut done);
        // Inline collectives read the eager rings themselves, before the endpoint does.
        let fetched = self.endpoint.poll_network(&mut done);
        let mut moved = self.poll_channels(limit, &mut done) || begun;
        let came = self.endpoint.take_in(&mut done) || fetched;
        if came && !self.gathering.is_empty() {
            self.gather(&mut done);
        }
        moved |= came;
        if !done.is_empty() {
            return self.settle(done);
        }
        self.done = done;
        moved
    }

    /// Starts the collectives that a start has deferred to the first thread that makes progress.
    #[cold]
    fn begin_deferred(&mut self, done: &mut Vec<Completion>) -> bool {
        for at in 0..self.deferred_starts.len() {
            self.advance_into(self.deferred_starts[at], done);
        }
        self.deferred_starts.clear();
        true
    }

    /// Advances one execution and handles the completions that result.
    fn advance(&mut self, id: Id) {
        let mut done = mem::take(&mut self.done);
        self.advance_into(id, &mut done);
        self.settle(done);
    }

    fn advance_into(&mut self, id: Id, done: &mut Vec<Completion>) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Work::Run(run) = &mut operation.work else { return };
        if run.advance(id.0, &mut self.endpoint, done) {
            if !operation.rare.as_mut().is_some_and(|rare| rare.outlasts_barrier()) {
                self.finish_run(id);
            }
        } else if run.is_blocked() && !run.polled {
            run.polled = true;
            self.polled.push(id);
        }
    }

    /// Hands completions to their operations, with all completions that result. Returns whether
    /// there were any.
    fn settle(&mut self, mut done: Vec<Completion>) -> bool {
        let mut next = 0;
        while next < done.len() {
            let Completion { token, outcome } = done[next];
            next += 1;
            let (id, outcome) = (Id(token.operation), self.after_a_death(outcome));
            let Some(operation) = self.operations.get_mut(id) else {
                if disagreeing::is_notice(token) {
                    continue;
                }
                self.endpoint.release_in_place(token);
                self.record_came(next - 1, &mut done);
                continue;
            };
            match &mut operation.work {
                Work::Pair(pair) => {
                    if let Some(outcome) = pair.complete(token.step, outcome) {
                        self.finish(id, outcome);
                    }
                }
                Work::Run(_) if nbx::is_message(token) => {
                    self.message_is_over(Completion { token, outcome }, &mut done);
                }
                Work::Run(run) => {
                    let outcome = outcome.map(drop);
                    let outcome = outcome.map_err(|error| of_collective(error, &self.endpoint));
                    run.complete(token.step, outcome);
                    // A reduction does more in one pass if all that has come is known.
                    let is_last = done.get(next).is_none_or(|next| {
                        next.token.operation != id.0 || nbx::is_message(next.token)
                    });
                    if is_last {
                        self.advance_into(id, &mut done);
                    }
                }
                _ => self.finish(id, outcome),
            }
        }
        done.clear();
        self.done = done;
        if self.endpoint.has_in_place() {
            self.copy_out();
        }
        next > 0
    }

    /// Ends a collective whose steps are all complete.
    fn finish_run(&mut self, id: Id) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Work::Run(run) = &operation.work else { return };
        if let Some(error) = run.error() {
            self.tell_of_disagreement(id, &error);
            return self.finish(id, Err(error));
        }
        operation.state = State::Succeeded;
        self.end(id, Some(usize::MAX));
    }

    /// Ends an operation with this outcome.
    fn finish(&mut self, id: Id, outcome: Outcome) {
        if let Some(operation) = self.operations.get_mut(id) {
            operation.state = State::Complete(outcome);
        }
        self.end(id, outcome.ok().map(|received| received.bytes));
    }

    /// Ends an operation that received so many bytes (`None` after an error): wakes its waiter, or
    /// frees it if its request was dropped.
    fn end(&mut self, id: Id, received: Option<usize>) {
        let operation = self.operations.get_mut(id).expect("finished while alive");
        let (transfers, is_rare) = (operation.work.transfers(), operation.rare.is_some());
        self.has_ended(transfers);
        if is_rare {
            self.end_rare(id, received);
        }
    }

    /// The part of [`Engine::end`] for operations with [`OpExtras`].
    #[cold]
    fn end_rare(&mut self, id: Id, received: Option<usize>) {
        let operation = self.operations.get_mut(id).expect("finished while alive");
        if let (Some(staging), Some(received)) = (operation.staging(), received) {
            staging.unpack(received);
        }
        if let Some(waker) = operation.take_waker() {
            self.wakers -= 1;
            self.postponed.push(Postponed::Wake(waker));
        }
        let keeper = operation.rare.as_mut().and_then(|rare| rare.detached.take());
        let held = operation.held;
        if keeper.is_some() && !held {
            self.remove(id);
        }
    }

    /// Counts an ended operation, which had so many active transfers, and wakes parked threads of
    /// the rank.
    #[inline]
    fn has_ended(&mut self, transfers: usize) {
        self.active -= transfers;
        self.ended += 1;
        if self.sleepers > 0 {
            self.endpoint.wake(self.endpoint.me());
        }
    }
}

fn staging_of(rare: &mut Option<Box<OpExtras>>) -> Option<&mut PackedBuffers> {
    rare.as_mut()?.staging.as_deref_mut()
}

/// Packs the staged data of an operation that starts now.
#[inline]
fn collected(mut staging: Option<Box<PackedBuffers>>) -> Option<Box<PackedBuffers>> {
    if let Some(staging) = &mut staging {
        staging.collect();
    }
    staging
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that every pending operation needs beside its work and its buffers.
    #[test]
    fn operations_are_small() {
        assert_eq!((size_of::<Outcome>(), size_of::<Operation>()), (24, 56));
    }
}
