//! The engine of one rank: the place where plans meet the fabric.
//!
//! It holds every operation that this rank has begun and not finished, moves all of them whenever
//! somebody calls [`Engine::progress`], and never waits itself (see [`crate::rank`]).
//!
//! **The promise behind the transfers.** The engine posts addresses of user memory to the
//! endpoint. They stay valid because an operation owns the parts of its buffers (see
//! [`crate::buffer`]) from before the first transfer is posted until either all its transfers have
//! completed, or [`Engine::abandon`] has cancelled them: after that call no rank touches the
//! memory. Nothing else ever hands buffers back.

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
mod quick_hash;
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
pub(crate) use execution::{
    Advance, Binding, Execution, LinkTime, OpKey, PlanProgram, TransportSummary,
};
pub(crate) use inline_run::InlineRun;
pub(crate) use nbx::{Arrivals, Dynamic};
pub(crate) use p2p::{CANCELLED, Envelope, Mode, NOBODY, Posting, Transfer};
use p2p::{Pair, Stored};
pub(crate) use p2p_inline::ExactRecv;
pub(crate) use persistent::StartOutcome;
pub use plan_cache::CacheCounters;
pub(crate) use plan_cache::{CacheHit, CachedPlan, PlanCache, Rule, Selection};
pub(crate) use replay::{CallSignature, HasLists, Lists, Replay, ReplayKey};
pub(crate) use wakers::Postponed;

/// Of so many looks one is thorough.
const THOROUGH_EVERY: u32 = 256;

/// What an operation ends with.
pub(crate) type Outcome = Result<Received, TransferError>;

/// What a transfer of a collective says it received: nothing that anybody looks at.
pub(crate) const NOTHING: Received = Received { source: motet_fabric::Peer(0), tag: 0, bytes: 0 };

/// So many completions have room from the beginning, so that the first one asks for no memory.
const DONE_AT_ONCE: usize = 8;

/// Where an operation is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Persistent, and not started.
    Inactive,
    Active,
    /// A collective has ended well. To tell what that came to would take longer than to run it.
    Succeeded,
    Complete(Outcome),
}

/// What an operation does.
pub(crate) enum Work {
    Run(Box<Execution>),
    /// One message that is sent.
    Send,
    /// One message that is received, perhaps still to come.
    Receive(Ticket),
    /// One message that is sent and another that is received.
    Pair(Box<Pair>),
    /// One message for each start.
    Stored(Box<Stored>),
    /// Something outside the library, of whose end it is told.
    Generalized,
}

/// An operation. A million of them may be under way, so what few of them need lies apart.
struct Operation {
    work: Work,
    state: State,
    rare: Option<Box<OpExtras>>,
    /// Whether a scope will ask for the outcome if the request does not.
    held: bool,
    /// Whether the request is gone.
    dropped: bool,
}

/// What few operations need.
#[derive(Default)]
struct OpExtras {
    /// Data that is not in memory as the work needs it.
    staging: Option<Box<PackedBuffers>>,
    waker: Option<Waker>,
    /// Set when its request is gone: its buffers, to be freed when it is complete.
    detached: Option<BufferGuard>,
    /// Why it has its algorithm, if its plan does not know.
    reason: Option<Arc<str>>,
    /// Of a sparse dynamic exchange: all but its barrier.
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
    /// Active operations with steps that wait for channels.
    polled: Vec<Id>,
    /// Whether another thread moves what this rank has begun, and so begins what takes long.
    has_helper: bool,
    /// Operations that are left to it.
    left: Vec<Id>,
    /// Sparse dynamic exchanges that take what comes.
    gathering: Vec<Id>,
    /// Completions being handed out; kept for its memory.
    done: Vec<Completion>,
    cache: PlanCache,
    calls: replay::ReplayCache,
    /// Operations that have been started and are not complete, but for generalized ones.
    active: usize,
    /// Counts the operations that have ended.
    ended: u64,
    moves: u64,
    /// Counts those who looked without waiting.
    looks: u32,
    /// Threads of this rank that sleep, or are about to.
    pub(crate) sleepers: usize,
    /// Operations that have a waker.
    wakers: usize,
    /// What is to be done once the engine is unlocked.
    postponed: Vec<Postponed>,
    /// Operations that wait until a buffer of buffered sends is empty.
    flushes: Vec<(Id, Arc<Room>)>,
    /// The calls of all ranks, in check mode.
    books: Option<Box<CheckState>>,
    /// Persistent collectives that are no more.
    freed: disagreeing::Freed,
    stall: disagreeing::Stall,
    /// Operations that there may be before more are asked for, and at all.
    room: usize,
    most: usize,
    /// Whether a death is known, so that nothing is repeated.
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
            has_helper: false,
            left: Vec::new(),
            gathering: Vec::new(),
            done: Vec::with_capacity(DONE_AT_ONCE),
            cache,
            calls: replay::ReplayCache::default(),
            active: 0,
            ended: 0,
            moves: 0,
            looks: 0,
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

    /// From now on another thread moves what this rank begins, as soon as it can: it is left
    /// collectives that are not short, so that to start one takes no time. Whoever waits or asks
    /// for one begins it, too, if it is earlier.
    pub(crate) fn leave_to_helper(&mut self) {
        self.has_helper = true;
    }

    /// A run for this call, not bound yet, and where its plan was found.
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

    /// Begins a collective that runs once.
    pub(crate) fn start_run(
        &mut self,
        mut run: Box<Execution>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        run.begin();
        let is_left = self.has_helper && !run.may_run_inorder();
        let id = self.insert_active(run, collected(staging));
        if is_left {
            self.left.push(id);
        } else {
            self.start_active(id);
        }
        id
    }

    /// Takes in a persistent collective and links it, now or when it is first started.
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
        // No start makes room, even if it is the first that has to wait: there is some for all
        // operations, and for the few at a sprint that have ended and are still listed.
        let polled = self.operations.len() + inline_run::POLLED_OPS_MAX;
        self.polled.reserve(polled.saturating_sub(self.polled.len()));
        if self.has_helper {
            self.left.reserve(polled.saturating_sub(self.left.len()));
        }
        id
    }

    #[inline(always)] // an operation that is moved is read before it has been written
    fn insert(&mut self, work: Work, staging: Option<Box<PackedBuffers>>, state: State) -> Id {
        let apart = |staging| Box::new(OpExtras { staging: Some(staging), ..OpExtras::default() });
        let rare = staging.map(apart);
        self.operations.insert(Operation { work, state, rare, held: false, dropped: false })
    }

    /// Moves everything that can move. Says whether anything did.
    pub(crate) fn progress(&mut self) -> bool {
        let moved = self.move_on();
        self.moves += u64::from(moved);
        moved
    }

    /// As [`Engine::progress`] and, once in many times, as [`Engine::progress_thoroughly`]. For
    /// those who look again and again and never sleep.
    pub(crate) fn progress_now_and_then_thoroughly(&mut self) {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(THOROUGH_EVERY) {
            self.progress_thoroughly();
        } else {
            self.progress();
        }
    }

    /// Counts the operations that have ended: while it stays the same, none has.
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Counts the times that something moved.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }

    fn move_on(&mut self) -> bool {
        let moved = self.move_messages();
        let flushed = !self.flushes.is_empty() && self.end_flushes();
        moved || flushed
    }

    fn move_messages(&mut self) -> bool {
        let mut done = mem::take(&mut self.done);
        let begun = !self.left.is_empty() && self.begin_left(&mut done);
        // Operations at a sprint look into the lanes themselves, before the endpoint does.
        let fetched = self.endpoint.poll_network(&mut done);
        let mut moved = self.poll_channels(&mut done) || begun;
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

    /// Begins what was left to whoever is here first.
    #[cold]
    fn begin_left(&mut self, done: &mut Vec<Completion>) -> bool {
        for at in 0..self.left.len() {
            self.advance_into(self.left[at], done);
        }
        self.left.clear();
        true
    }

    /// Moves what can move and gives up what never will, because the other side has left or did
    /// not keep to what was agreed. For those who are about to sleep.
    pub(crate) fn progress_thoroughly(&mut self) -> bool {
        let mut moved = self.progress();
        let mut done = mem::take(&mut self.done);
        self.endpoint.fail_ops_of_left_peers(&mut done);
        moved |= !done.is_empty();
        self.settle(done);
        moved |= self.give_up_exchanges();
        moved |= self.reconsider();
        moved || self.end_disagreeing()
    }

    /// Lets a run do what it can, and settles what follows from that.
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
        } else if run.is_stuck() && !run.polled {
            run.polled = true;
            self.polled.push(id);
        }
    }

    /// Hands completions to their operations, and those that follow from that. Says whether there
    /// were any.
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
                    let outcome = cancel::of_collective(outcome, &self.endpoint);
                    run.complete_transfer(token, outcome, &mut self.endpoint);
                    self.advance_into(id, &mut done);
                }
                _ => self.finish(id, outcome),
            }
        }
        done.clear();
        self.done = done;
        next > 0
    }

    /// A collective is complete.
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

    /// An operation is complete, with this outcome.
    fn finish(&mut self, id: Id, outcome: Outcome) {
        if let Some(operation) = self.operations.get_mut(id) {
            operation.state = State::Complete(outcome);
        }
        self.end(id, outcome.ok().map(|received| received.bytes));
    }

    /// An operation has ended and, unless that went wrong, has received so much: tell whoever
    /// waits, or free what nobody waits for.
    fn end(&mut self, id: Id, received: Option<usize>) {
        let operation = self.operations.get_mut(id).expect("finished while alive");
        let (transfers, is_rare) = (operation.work.transfers(), operation.rare.is_some());
        self.has_ended(transfers);
        if is_rare {
            self.end_rare(id, received);
        }
    }

    /// The same, of what few operations need.
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

    /// One more operation has ended, for which another thread of this rank may sleep. It counts as
    /// so many of the active ones.
    #[inline]
    fn has_ended(&mut self, transfers: usize) {
        self.active -= transfers;
        self.ended += 1;
        if self.sleepers > 0 {
            self.endpoint.wake(self.endpoint.me());
        }
    }

    /// Whether an operation is complete (or gone).
    pub(crate) fn is_complete(&mut self, id: Id) -> bool {
        self.operations.get_mut(id).is_none_or(|operation| operation.state != State::Active)
    }
}

fn staging_of(rare: &mut Option<Box<OpExtras>>) -> Option<&mut PackedBuffers> {
    rare.as_mut()?.staging.as_deref_mut()
}

/// Staging for an operation that starts now.
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

    /// So much stays of every operation under way, beside what it does and its buffers.
    #[test]
    fn operations_are_small() {
        assert_eq!((size_of::<Outcome>(), size_of::<Operation>()), (24, 56));
    }
}
