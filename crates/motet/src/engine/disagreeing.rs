//! Ends collectives whose ranks disagree on the length of their data.
//!
//! Such a call is erroneous, and outside check mode no rank compares the arguments of the ranks.
//! But a message carries its length, so a rank that receives a message of another length than its
//! plan says detects the error, and its call ends with it. That is not enough: ranks that disagree
//! may have chosen different algorithms, and wait for messages that no rank sends. So
//!
//! * a rank that has detected it ends its call instead of waiting, and tells all ranks of the call
//!   by a *notice*: a message without data that is in no plan;
//! * a rank that is about to park examines its unexpected messages and the channels announced to
//!   it. A notice ends the call that it names. A message or a channel of a call whose plan has none
//!   like it shows that the ranks disagree, even if the step that would receive it is not due yet.
//!
//! None of that slows a correct call: lengths are compared in any case, and a rank that is about to
//! park has time.
//!
//! A message for a call that has ended here is discarded when this rank parks in a later call of
//! the communicator, and reported to all ranks in the same way; so is a channel that was opened for
//! it. Until then it stays queued, as notices do: only an erroneous program pays for that.
//!
//! A persistent collective that has met a disagreement on a rank is *broken* there: each later
//! start ends at once with that error, since its lengths are those of the init. It must be so. All
//! starts have the same messages and the same notices, and ranks may be some starts apart: a rank
//! that gave up one start and sent for the next would hand that message to a rank that is still at
//! the start before. So a rank sends nothing more once it is told, and a notice concerns all
//! starts, and breaks a collective that is inactive. Every rank that waits for a broken collective
//! is told: the ranks that detected the error themselves have told all ranks.
//!
//! One case is never detected: a rank waits for a message of a call that all others have ended, and
//! has sent none of them anything for that call. It waits until one of them leaves the world. Check
//! mode names such a call before it starts.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashMap;
use std::time::{Duration, Instant};

use motet_fabric::slab::Id;
use motet_fabric::{Label, Peer, Region, Selector, Token, TransferError, TypeCode};

use super::execution::tells_lengths_apart;
use super::persistent::StartOutcome;
use super::{Engine, Execution, OpKey, Operation, State, Work};
use crate::engine::context::{ContextKind, split_context};

/// The ordinal of a notice, in place of the number of a message between two ranks.
const NOTICE_STEP: u32 = u32::MAX;
/// The token of notices, whose completions are ignored: no operation has this id.
const TOKEN: Token = Token { operation: 0, step: NOTICE_STEP };

/// Whether a completion with this token belongs to a notice.
#[inline]
pub(super) fn is_notice(token: Token) -> bool {
    token == TOKEN
}

/// With more operations than this, the engine scans them only when nothing has moved for
/// [`SCAN_PERIOD`].
const SCANNED_OPS_MAX: usize = 256;
const SCAN_PERIOD: Duration = Duration::from_secs(1);

/// Since when nothing has moved.
pub(super) struct Stall {
    moves: u64,
    since: Instant,
}

impl Default for Stall {
    fn default() -> Stall {
        Stall { moves: 0, since: Instant::now() }
    }
}

impl Stall {
    /// Whether nothing has moved for [`SCAN_PERIOD`], by a count of moves. The time then starts
    /// again.
    fn has_lasted(&mut self, moves: u64) -> bool {
        let now = Instant::now();
        let has_lasted = self.moves == moves && now - self.since >= SCAN_PERIOD;
        if has_lasted || self.moves != moves {
            *self = Stall { moves, since: now };
        }
        has_lasted
    }
}

/// Freed persistent collectives: for the last few communicators a lower bound of the number of
/// inits.
#[derive(Default)]
pub(super) struct Freed {
    inits: [(u64, u64); COMMUNICATORS],
    next: usize,
}

/// The number of communicators that are remembered.
const COMMUNICATORS: usize = 8;

impl Freed {
    /// Records that a collective has been freed.
    #[inline]
    pub(super) fn add(&mut self, OpKey { context, tag }: OpKey) {
        let count = tag.wrapping_add(1);
        if let Some((_, inits)) = self.inits.iter_mut().find(|(its, _)| *its == context) {
            *inits = count.max(*inits);
            return;
        }
        self.inits[self.next] = (context, count);
        self.next = (self.next + 1) % COMMUNICATORS;
    }

    /// Whether the init of this number has been made, as far as is known.
    fn has(&self, context: u64, tag: u64) -> bool {
        self.inits.iter().any(|&(its, inits)| its == context && tag < inits)
    }
}

impl Engine {
    /// Ends the operations that would wait for ever because the ranks disagree. Called before a
    /// thread parks. Returns whether anything ended.
    pub(super) fn end_disagreeing(&mut self) -> bool {
        if self.active == 0
            || self.operations.len() > SCANNED_OPS_MAX && !self.stall.has_lasted(self.moves)
        {
            return false;
        }
        let mut hit = self.failed_collectives();
        let mut moved = false;
        if self.endpoint.has_unmatched() {
            let census = Census::of(self);
            hit.extend(self.collectives_astray(&census));
            let orphans = self.orphans(&census);
            moved = !orphans.is_empty();
            self.return_orphans(&orphans);
        }
        moved |= !hit.is_empty();
        hit.into_iter().for_each(|(id, error)| self.give_up_collective(id, error));
        moved
    }

    /// The active collectives of the program.
    fn collectives(&self) -> impl Iterator<Item = (Id, &Execution)> {
        self.operations.iter().filter_map(|(id, operation)| Some((id, collective(operation)?)))
    }

    /// Active collectives that have met a disagreement themselves and may wait for ever.
    fn failed_collectives(&self) -> Vec<(Id, TransferError)> {
        let failed = |(id, run): (Id, &Execution)| Some((id, run.disagreement()?));
        self.collectives().filter_map(failed).collect()
    }

    /// Active collectives for which a message or a channel shows that the ranks disagree.
    fn collectives_astray(&self, census: &Census<'_>) -> Vec<(Id, TransferError)> {
        let run_of = |Label { context, tag, .. }: Label| {
            let &(id, operation, _) = census.known.get(&OpKey { context, tag })?;
            Some((id, collective(operation)?))
        };
        let mut astray = Vec::new();
        self.endpoint.each_early(|from, label, element, bytes| {
            let Some((id, run)) = run_of(label) else { return };
            if label.ordinal == NOTICE_STEP {
                astray.push((id, TransferError::Spoiled(from)));
            } else if !element.is_reason() && !run.receives(from, label.ordinal, bytes) {
                astray.push((id, TransferError::Astray(from)));
            }
        });
        self.endpoint.each_announced(|to, label| {
            let run = run_of(label).filter(|(_, run)| !run.sends(to, label.ordinal));
            astray.extend(run.map(|(id, _)| (id, TransferError::Astray(to))));
        });
        astray
    }

    /// Discards messages and channels that no operation can take, and tells all ranks of their
    /// calls.
    fn return_orphans(&mut self, orphans: &[Orphan]) {
        for orphan in orphans {
            let Orphan { what, with, label, among } = *orphan;
            if what == What::Channel {
                self.endpoint.forget_channel(with, label);
            } else if let Some(taken) = self.endpoint.mprobe(Selector::exactly(with, label)) {
                self.endpoint.discard(taken);
            }
            let number = OpKey { context: label.context, tag: label.tag };
            if self.breaks(orphan, number) {
                self.send_notices(among, number);
            }
        }
    }

    /// Messages and channels for collectives that have ended here, or that are persistent,
    /// inactive, and have no place for them.
    fn orphans(&self, census: &Census<'_>) -> Vec<Orphan> {
        let mut orphans = Vec::new();
        let mut add = |what, with, label: Label, fits: &dyn Fn(&Execution) -> bool| {
            let among = census.lost_for(OpKey { context: label.context, tag: label.tag }, fits);
            orphans.extend(among.map(|among| Orphan { what, with, label, among }));
        };
        self.endpoint.each_early(|from, label, element, bytes| {
            let is_notice = label.ordinal == NOTICE_STEP;
            let what = if is_notice { What::Notice } else { What::Message };
            add(what, from, label, &|run| {
                !is_notice && (element.is_reason() || run.receives(from, label.ordinal, bytes))
            });
        });
        self.endpoint.each_announced(|to, label| {
            add(What::Channel, to, label, &|run| run.sends(to, label.ordinal));
        });
        orphans
    }

    /// Breaks the operation of this rank for which an orphan is, if any. Returns whether other
    /// ranks may not know of the orphan's call.
    fn breaks(&mut self, orphan: &Orphan, number: OpKey) -> bool {
        let is_notice = orphan.what == What::Notice;
        let Some(Operation { work: Work::Run(run), .. }) = self.operations.get_mut(orphan.among)
        else {
            return false;
        };
        if run.number() != number {
            return !is_notice;
        }
        let is_first = run.disagreement().is_none();
        if is_first {
            let reported = TransferError::Spoiled(orphan.with);
            run.fail(if is_notice { reported } else { TransferError::Astray(orphan.with) });
        }
        is_first && !is_notice
    }

    /// Starts a broken persistent collective, which ends at once.
    #[cold]
    pub(super) fn start_broken(&mut self, id: Id) -> StartOutcome {
        // If a rank has died, the caller must get that error.
        self.failure();
        let Some(operation) = self.operations.get_mut(id) else { return StartOutcome::Removed };
        let Work::Run(run) = &mut operation.work else { return StartOutcome::Removed };
        let error = run.disagreement().expect("that is why it is broken");
        // Other ranks may not know yet, and write into channels that this rank never reads again.
        run.cut_off(&mut self.endpoint);
        operation.state = State::Active;
        self.active += 1;
        self.finish(id, Err(error));
        StartOutcome::Pending
    }

    /// Ends a collective with its first error, or with this one if it has none.
    #[cold]
    fn give_up_collective(&mut self, id: Id, error: TransferError) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let (Work::Run(run), State::Active) = (&mut operation.work, operation.state) else {
            return; // It was named twice.
        };
        let is_told = matches!(error, TransferError::Spoiled(_)) && run.error().is_none();
        run.fail(error);
        let error = run.error().unwrap_or(error);
        self.endpoint.cancel(|token| token.operation == id.0);
        run.cut_off(&mut self.endpoint);
        self.deferred_starts.retain(|&deferred| deferred != id);
        let number = run.number();
        self.take_notices(id, number);
        if !is_told {
            self.send_notices(id, number);
        }
        self.finish(id, Err(error));
    }

    /// Sends notices for a collective that has ended with an error, if the ranks disagree: other
    /// ranks may wait for messages that this one does not send, or will not send if the collective
    /// is broken.
    #[cold]
    pub(super) fn tell_of_disagreement(&mut self, id: Id, error: &TransferError) {
        if let Some(Operation { work: Work::Run(run), .. }) = self.operations.get_mut(id)
            && (tells_lengths_apart(error) || run.is_persistent() && run.disagreement().is_some())
        {
            let number = run.number();
            self.send_notices(id, number);
        }
    }

    /// Sends a notice to all other ranks of a collective: the one of this number has failed.
    fn send_notices(&mut self, among: Id, OpKey { context, tag }: OpKey) {
        let Some(operation) = self.operations.get_mut(among) else { return };
        let Work::Run(run) = &operation.work else { return };
        let label = Label { context, tag, ordinal: NOTICE_STEP };
        let peers: Vec<Peer> = run.peers().filter(|&peer| peer != self.endpoint.me()).collect();
        for peer in peers {
            // SAFETY: no memory at all.
            let _ =
                unsafe { self.endpoint.send(peer, label, TypeCode::SPOILED, Region::EMPTY, TOKEN) };
        }
    }

    /// Discards the notices of a collective that has ended. Later ones are orphans.
    fn take_notices(&mut self, id: Id, OpKey { context, tag }: OpKey) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Work::Run(run) = &operation.work else { return };
        let label = Label { context, tag, ordinal: NOTICE_STEP };
        for peer in run.peers().collect::<Vec<_>>() {
            if let Some(taken) = self.endpoint.mprobe(Selector::exactly(peer, label)) {
                self.endpoint.discard(taken);
            }
        }
    }
}

/// A message, notice or channel for a collective that will never take it.
#[derive(Clone, Copy)]
struct Orphan {
    what: What,
    with: Peer,
    label: Label,
    /// An operation among the ranks of its communicator: the one that it is for, if that is still
    /// there.
    among: Id,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Message,
    Notice,
    /// A channel that a receiver has opened for a message that this rank does not send.
    Channel,
}

/// The collectives of a rank.
struct Census<'a> {
    freed: &'a Freed,
    known: HashMap<OpKey, (Id, &'a Operation, &'a Execution)>,
    busy: HashMap<u64, Busy>,
}

/// The active collectives of a communicator.
#[derive(Clone, Copy, Default)]
struct Busy {
    /// The last nonpersistent one, and its number.
    latest: Option<(u64, Id)>,
    persistent: Option<Id>,
}

/// The execution of an operation, if it is an active collective of the program. Sparse dynamic
/// exchanges are left out, because none waits for ever; so are calls of the library among a subset
/// of the ranks, because different groups may use the same number.
fn collective(operation: &Operation) -> Option<&Execution> {
    match &operation.work {
        Work::Run(run) if operation.state == State::Active => {
            let is_dynamic = operation.rare.as_ref().is_some_and(|rare| rare.dynamic.is_some());
            let traffic = split_context(run.number().context).1;
            let is_counted = matches!(traffic, ContextKind::Collective | ContextKind::Persistent);
            (is_counted && !is_dynamic).then_some(&**run)
        }
        _ => None,
    }
}

impl<'a> Census<'a> {
    fn of(engine: &'a Engine) -> Census<'a> {
        let (known, busy) = (HashMap::new(), HashMap::new());
        let mut census = Census { freed: &engine.freed, known, busy };
        for (id, operation) in engine.operations.iter() {
            if let Work::Run(run) = &operation.work {
                census.add(id, operation, run);
            }
        }
        census
    }

    fn add(&mut self, id: Id, operation: &'a Operation, run: &'a Execution) {
        let number = run.number();
        self.known.insert(number, (id, operation, run));
        if operation.state != State::Active {
            return;
        }
        let (communicator, traffic) = split_context(number.context);
        let busy = self.busy.entry(communicator).or_default();
        match traffic {
            ContextKind::Collective => {
                let is_last = busy.latest.is_none_or(|(last, _)| number.tag > last);
                if is_last {
                    busy.latest = Some((number.tag, id));
                }
            }
            ContextKind::Persistent => busy.persistent = Some(id),
            _ => {}
        }
    }

    /// An operation among the ranks of the collective of this number, if a message or channel for
    /// that is lost. `fits` says whether it fits an execution.
    fn lost_for(&self, number: OpKey, fits: &dyn Fn(&Execution) -> bool) -> Option<Id> {
        let Some(&(id, operation, run)) = self.known.get(&number) else {
            return self.ended_here(number);
        };
        let is_broken = run.disagreement().is_some();
        let is_lost = match operation.state {
            State::Inactive => is_broken || !fits(run),
            State::Complete(_) => is_broken && run.is_persistent(),
            State::Active | State::Succeeded => false,
        };
        is_lost.then_some(id)
    }

    /// The same for a number that no operation of this rank has. Its collective has ended or has
    /// not started yet.
    ///
    /// Nonpersistent collectives of a communicator take their numbers when they start: one with a
    /// lower number than another active one has started, and if it is not there any more it has
    /// ended. Of the persistent ones some are known to be freed.
    fn ended_here(&self, OpKey { context, tag }: OpKey) -> Option<Id> {
        let (communicator, traffic) = split_context(context);
        let Busy { latest, persistent } = self.busy.get(&communicator).copied()?;
        let id = |(_, id)| id;
        match traffic {
            ContextKind::Collective => latest.filter(|&(last, _)| tag < last).map(id),
            ContextKind::Persistent if self.freed.has(context, tag) => {
                latest.map(id).or(persistent)
            }
            _ => None,
        }
    }
}
