//! Collectives whose ranks disagree on how long their data is.
//!
//! Such a call is wrong, and nobody compares the ranks' arguments outside of check mode. But a
//! message tells its length, so a rank that receives one of another length than its plan says knows
//! of it, and its call ends with an error that says so. That is not enough: ranks that disagree may
//! have chosen different algorithms, and wait for messages that nobody sends. So
//!
//! * a rank that knows ends its call instead of waiting, and tells all ranks of the call by a
//!   *notice*: a message without data that is in no plan;
//! * a rank that is about to sleep looks through the messages that it has kept, and through the
//!   channels that were announced to it. A notice ends the call that it is about. A message or a
//!   channel of a call whose plan has none like it says that the ranks disagree, even if it
//!   is not yet the turn of the step that would receive it.
//!
//! None of that is in the way of a call that is right: lengths are compared in any case, and
//! whoever is about to sleep has time.
//!
//! What is sent for a call that has ended here is discarded when this rank sleeps in a later call
//! of the communicator, and told to all ranks in the same way. Until then it stays where it is, as
//! notices do: only a wrong program pays for that.
//!
//! A persistent collective that a rank has ended in this way is *broken* there: each later start
//! ends at once with the same error, since its lengths are those of the init. It must be so. All
//! starts have the same messages and the same notices, and ranks may be some starts apart: one that
//! had given a start up and sent for the next would hand that message to a rank that still is at
//! the start before. So a rank sends nothing more once it is told, and a notice is about all
//! starts: it waits for the next one if none is under way. Whoever waits for a broken one is told:
//! those who knew by themselves have told all ranks.
//!
//! One thing nobody finds out: that a rank waits for a message while all others have ended the
//! call, and none of them sleeps in another one of the communicator. That rank waits until one of
//! them leaves the world. Check mode names such a call before it begins.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::collections::HashMap;
use std::time::{Duration, Instant};

use motet_fabric::slab::Id;
use motet_fabric::{Label, Peer, Region, Selector, Token, TransferError, TypeCode};

use super::{Engine, Number, Operation, Run, State, Work};
use crate::communicator::{Traffic, split_context};

/// In place of the number of a message among those of two ranks: it is a notice.
const NOTICE: u32 = u32::MAX;
/// That of the sending of notices, in which nobody is interested: no operation has this id.
const TOKEN: Token = Token { operation: 0, step: NOTICE };

/// Whether the ranks of a call that has met this error may wait for each other in vain.
fn may_hang(error: &TransferError) -> bool {
    let is_told = matches!(error, TransferError::TypeMismatch { .. } | TransferError::Spoiled(_));
    is_told || tells_lengths_apart(error)
}

/// Whether the ranks of a call disagree on how long something is.
fn tells_lengths_apart(error: &TransferError) -> bool {
    use TransferError::{Astray, OtherElements, Short, Truncated};
    matches!(error, Truncated { .. } | Short { .. } | OtherElements { .. } | Astray(_))
}

/// Whether a completion with this token is of a notice.
#[inline]
pub(super) fn is_notice(token: Token) -> bool {
    token == TOKEN
}

/// Where there are more operations than these, they are looked through when nothing has moved for
/// so long.
const FEW: usize = 256;
const LONG: Duration = Duration::from_secs(1);

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
    /// Whether nothing has moved for long, by a count of what has. Then it begins anew.
    fn has_lasted(&mut self, moves: u64) -> bool {
        let now = Instant::now();
        let has_lasted = self.moves == moves && now - self.since >= LONG;
        if has_lasted || self.moves != moves {
            *self = Stall { moves, since: now };
        }
        has_lasted
    }
}

/// Persistent collectives that are freed: on the communicators of the last ones, how many inits at
/// least have been made.
#[derive(Default)]
pub(super) struct Freed {
    inits: [(u64, u64); COMMUNICATORS],
    next: usize,
}

/// So many communicators are remembered.
const COMMUNICATORS: usize = 8;

impl Freed {
    /// A collective is freed.
    #[inline]
    pub(super) fn add(&mut self, Number { context, tag }: Number) {
        let count = tag.wrapping_add(1);
        if let Some((_, inits)) = self.inits.iter_mut().find(|(its, _)| *its == context) {
            *inits = count.max(*inits);
            return;
        }
        self.inits[self.next] = (context, count);
        self.next = (self.next + 1) % COMMUNICATORS;
    }

    /// Whether the init of this number was made, as far as is known.
    fn has(&self, context: u64, tag: u64) -> bool {
        self.inits.iter().any(|&(its, inits)| its == context && tag < inits)
    }
}

impl Run {
    /// Whether an execution has ended since the ranks disagree, so that another one would, too.
    #[inline]
    pub(super) fn is_broken(&self) -> bool {
        self.error().is_some_and(|error| may_hang(&error))
    }
}

impl Engine {
    /// Ends what would wait in vain since the ranks disagree. For those who are about to sleep.
    pub(super) fn end_disagreeing(&mut self) -> bool {
        if self.active == 0 || self.operations.len() > FEW && !self.stall.has_lasted(self.moves) {
            return false;
        }
        let mut hit = self.failed_collectives();
        let mut moved = false;
        if self.endpoint.has_unmatched() {
            hit.extend(self.collectives_astray());
            moved = self.return_orphans();
        }
        moved |= !hit.is_empty();
        hit.into_iter().for_each(|(id, error)| self.give_up_collective(id, error));
        moved
    }

    /// Active collectives of programs. In a sparse dynamic exchange nobody waits in vain. What the
    /// library runs among a part of the ranks is left out: there a number is not that of one
    /// operation, since different groups may have the same one at once.
    fn collectives(&self) -> impl Iterator<Item = (Id, &Run)> {
        self.operations.iter().filter_map(|(id, operation)| match &operation.work {
            Work::Run(run) if operation.state == State::Active => {
                let is_dynamic = operation.rare.as_ref().is_some_and(|rare| rare.dynamic.is_some());
                let traffic = split_context(run.number().context).1;
                let is_counted = matches!(traffic, Traffic::Collective | Traffic::Persistent);
                (is_counted && !is_dynamic).then_some((id, &**run))
            }
            _ => None,
        })
    }

    /// Those that have met an error, after which they may wait in vain.
    fn failed_collectives(&self) -> Vec<(Id, TransferError)> {
        let failed = |(id, run): (Id, &Run)| Some((id, run.error().filter(may_hang)?));
        self.collectives().filter_map(failed).collect()
    }

    /// Those of which a message or a channel says that the ranks disagree.
    fn collectives_astray(&self) -> Vec<(Id, TransferError)> {
        let runs: HashMap<Number, (Id, &Run)> =
            self.collectives().map(|(id, run)| (run.number(), (id, run))).collect();
        let mut astray = Vec::new();
        let run_of =
            |Label { context, tag, .. }: Label| runs.get(&Number { context, tag }).copied();
        self.endpoint.each_early(|from, label, element, bytes| {
            let Some((id, run)) = run_of(label) else { return };
            if label.ordinal == NOTICE {
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

    /// Discards messages that this rank will never receive, and tells all ranks of their call. Says
    /// whether there were any.
    fn return_orphans(&mut self) -> bool {
        let orphans = self.orphans();
        for &(from, label, id) in &orphans {
            if let Some(taken) = self.endpoint.take(Selector::exactly(from, label)) {
                self.endpoint.discard(taken);
            }
            let number = Number { context: label.context, tag: label.tag };
            if label.ordinal != NOTICE && self.breaks(id, number, from) {
                self.send_notices(id, number);
            }
        }
        !orphans.is_empty()
    }

    /// Messages for collectives that have ended here, or that are persistent, inactive, and have no
    /// place for them; each with an operation among the ranks of its communicator.
    fn orphans(&self) -> Vec<(Peer, Label, Id)> {
        let (mut known, mut latest) = (HashMap::new(), HashMap::new());
        for (id, operation) in self.operations.iter() {
            let Work::Run(run) = &operation.work else { continue };
            let number = run.number();
            known.insert(number, (id, operation.state, &**run));
            let (communicator, traffic) = split_context(number.context);
            if traffic == Traffic::Collective && operation.state == State::Active {
                let last = latest.entry(communicator).or_insert((number.tag, id));
                if number.tag > last.0 {
                    *last = (number.tag, id);
                }
            }
        }
        let mut orphans = Vec::new();
        self.endpoint.each_early(|from, label, element, bytes| {
            let number = Number { context: label.context, tag: label.tag };
            match known.get(&number) {
                Some(&(id, state, run)) if run.is_broken() => {
                    if state != State::Active {
                        orphans.push((from, label, id));
                    }
                }
                // A notice waits for the next start.
                Some(&(id, State::Inactive, run)) if !element.is_reason() => {
                    if !run.receives(from, label.ordinal, bytes) {
                        orphans.push((from, label, id));
                    }
                }
                Some(_) => {}
                None => {
                    let last = latest.get(&split_context(label.context).0);
                    let later = last.filter(|(last, _)| self.has_ended_here(number, *last));
                    orphans.extend(later.map(|&(_, id)| (from, label, id)));
                }
            }
        });
        orphans
    }

    /// A message of the collective of this number, from that rank, is discarded. If the operation
    /// is that collective, it is broken from now on. Says whether others do not know of that.
    fn breaks(&mut self, id: Id, number: Number, from: Peer) -> bool {
        let Some(Operation { work: Work::Run(run), .. }) = self.operations.get_mut(id) else {
            return false;
        };
        if run.number() != number {
            return true;
        }
        let is_news = !run.is_broken();
        if is_news {
            run.fail(TransferError::Astray(from));
        }
        is_news
    }

    /// Starts a persistent collective that is broken: that ends at once.
    #[cold]
    pub(super) fn start_broken(&mut self, id: Id) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Work::Run(run) = &mut operation.work else { return };
        let error = run.error().expect("that is why it is broken");
        // Others may not know yet, and go on to put into channels what nobody will take out.
        run.cut_off(&mut self.endpoint);
        operation.state = State::Active;
        self.active += 1;
        self.finish(id, Err(error));
    }

    /// Whether a collective that is no operation of this rank has ended: on a communicator of which
    /// the collective of this number is under way.
    ///
    /// The collectives of a communicator that are not persistent take their numbers when they
    /// begin: one with a lower number than another that is under way has begun, and if it is not
    /// there any more it has ended. Of those that are persistent some are known to be freed.
    fn has_ended_here(&self, Number { context, tag }: Number, last: u64) -> bool {
        match split_context(context).1 {
            Traffic::Collective => tag < last,
            Traffic::Persistent => self.freed.has(context, tag),
            _ => false,
        }
    }

    /// Ends a collective with this error, or with the one that it has met before.
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
        self.left.retain(|&left| left != id);
        let number = run.number();
        self.take_notices(id, number);
        if !is_told {
            self.send_notices(id, number);
        }
        self.finish(id, Err(error));
    }

    /// A collective has ended with an error. If the ranks disagree, some of them may wait for what
    /// this one does not send, or will not send if it is broken.
    #[cold]
    pub(super) fn tell_of_disagreement(&mut self, id: Id, error: &TransferError) {
        if let Some(Operation { work: Work::Run(run), .. }) = self.operations.get_mut(id)
            && (tells_lengths_apart(error) || run.is_persistent() && run.is_broken())
        {
            let number = run.number();
            self.send_notices(id, number);
        }
    }

    /// Tells all other ranks of a collective that the one of this number has come to nothing.
    fn send_notices(&mut self, among: Id, Number { context, tag }: Number) {
        let Some(operation) = self.operations.get_mut(among) else { return };
        let Work::Run(run) = &operation.work else { return };
        let label = Label { context, tag, ordinal: NOTICE };
        let peers: Vec<Peer> = run.peers().filter(|&peer| peer != self.endpoint.me()).collect();
        for peer in peers {
            // SAFETY: no memory at all.
            let _ =
                unsafe { self.endpoint.send(peer, label, TypeCode::SPOILED, Region::EMPTY, TOKEN) };
        }
    }

    /// Takes the notices of a collective that has ended. Those that come later are orphans.
    fn take_notices(&mut self, id: Id, Number { context, tag }: Number) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Work::Run(run) = &operation.work else { return };
        let label = Label { context, tag, ordinal: NOTICE };
        for peer in run.peers().collect::<Vec<_>>() {
            if let Some(taken) = self.endpoint.take(Selector::exactly(peer, label)) {
                self.endpoint.discard(taken);
            }
        }
    }
}
