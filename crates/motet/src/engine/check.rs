//! Check mode: do all ranks of a communicator call the same collectives in the same order?
//!
//! **Records.** Every collective of a communicator has a number, counted by one counter for
//! blocking calls, nonblocking calls and persistent inits together. When a rank makes a call it
//! sends a [`Record`] of it to each other rank of the communicator: the number, a
//! fingerprint of what must be equal on all ranks (see [`account`]), a fingerprint of what it will
//! send to just that rank and expects from it, and a text for people. Records are ordinary small
//! messages in a context of their own, one for the whole world. They are sent before anything
//! else of the call, so they overtake its data on no lane.
//!
//! **Comparing.** Nobody waits for a record. Each rank keeps one receive posted for them, and
//! whoever moves the engine enters what has come into the [`CallLog`] of its
//! communicator, also if that is not there yet on this rank. Under each number the records of all
//! ranks must agree; when all have come, they are forgotten. A ledger therefore holds as many
//! records as the ranks are apart, and no limit is set to that.
//!
//! **A mismatch.** All ranks get the same records, so each of them finds out by itself. What only
//! two can find (one sends the other what that one does not expect) they tell the others. The
//! communicator is broken from that number on: what was begun later, and every persistent
//! operation, is ended with the same error, its transfers are cancelled, and each later call is
//! refused. What has a lower number was begun by all and goes on, unless it is persistent. An
//! operation that was complete before the record came (a root of a broadcast need not wait) stays
//! complete: then the next call on the communicator says what was wrong, or, if there is none, who
//! leaves the world: it first hears of all calls of the others, as far as they have been made.
//!
//! **The exit code.** Where the environment has switched check mode on, a process that has found a
//! mismatch does not end with exit code 0, even if the program ignores the error that a call
//! returns, or no call was left to return it: who runs a check looks at the code.
//!
//! **Groups.** A call that takes a group is compared by all ranks as far as its name and its group
//! go, and by the members in all that remains. So not everybody may see a mismatch, and whoever
//! does tells the others.
//!
//! A call that is refused for its arguments has a number too, and its record says so: the other
//! ranks would wait for it in vain. A rank that frees its communicator says that as well, so that
//! a call which others make later is a mismatch; when all have freed it the ledger goes.
//!
//! **Not checked**: persistent starts (they cost nothing), point-to-point messages, the agreement
//! among the members in `create_group`, and operators that are closures, of which two that do the
//! same have different types.

mod account;
mod ledger;
mod record;
mod report;

use std::collections::HashMap;
use std::panic::Location;
use std::time::Duration;

use motet_fabric::slab::Id;
use motet_fabric::{Peer, RegionMut, exit_code};

use crate::engine::OpKey;
use crate::engine::context::ContextKind;
pub(crate) use account::{CallDescription, Elements, Reducing, Within, operator_name};
pub(crate) use ledger::{CallLog, Own, Tell, Verdict};
pub(crate) use record::{Kind, Record};
pub(crate) use report::{Awaited, report};

/// How a world watches its ranks, and what it allows them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckConfig {
    /// Whether calls that do not fit together are errors.
    pub(crate) check: bool,
    /// Whether a process that has found such calls must not end with exit code 0: check mode was
    /// asked for by the environment, which makes the whole run a check.
    pub(crate) fails_run: bool,
    /// After how long a wait is reported.
    pub(crate) hang: Option<Duration>,
    /// The number of the first operation of each communicator; not 0 in tests only.
    pub(crate) first: u64,
    /// The most operations that a rank may have.
    pub(crate) most: Option<usize>,
    /// Tells where in the program the call was made, if that is not written in Rust.
    pub(crate) caller: Option<Caller>,
}

/// How much of what the standard forbids is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Only what could do harm.
    Lenient,
    /// All of it, as far as the library can see: check mode.
    Strict,
}

/// Says where in the program the call was made in which it is asked, if that can be found out.
pub type Caller = fn() -> Option<String>;

impl CheckConfig {
    pub(crate) fn strictness(&self) -> Strictness {
        if self.check { Strictness::Strict } else { Strictness::Lenient }
    }

    /// Whether records are sent.
    pub(crate) fn keeps_records(&self) -> bool {
        self.check || self.hang.is_some()
    }

    /// Where in the program the call was made that came to the library at this place.
    pub(crate) fn place(&self, at: &Location<'_>) -> String {
        let called = self.caller.and_then(|caller| caller());
        called.unwrap_or_else(|| format!("{}:{}", at.file(), at.line()))
    }
}

/// A collective of this rank that is not over (or, if persistent, not freed).
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    /// Whether it is persistent or not.
    pub(crate) traffic: ContextKind,
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// What one rank knows of the calls of all.
pub(crate) struct CheckState {
    watch: CheckConfig,
    pub(crate) ledgers: HashMap<u64, CallLog>,
    /// Where the next record is received.
    page: Box<[u8; record::RECORD_MAX_BYTES]>,
    /// Persistent operations that have been ended, and why.
    ended: HashMap<Id, &'static str>,
    live: HashMap<OpKey, PendingCall>,
    /// Reasons of mismatches that no call of this rank has returned: one for each communicator at
    /// most.
    pub(crate) untold: Vec<&'static str>,
}

impl CheckState {
    pub(crate) fn new(watch: CheckConfig) -> CheckState {
        CheckState {
            watch,
            ledgers: HashMap::new(),
            page: Box::new([0; record::RECORD_MAX_BYTES]),
            ended: HashMap::new(),
            live: HashMap::new(),
            untold: Vec::new(),
        }
    }

    /// Whether there is nothing more to hear of a communicator that this rank has freed.
    pub(crate) fn is_over(&self, communicator: u64) -> bool {
        self.ledgers.get(&communicator).is_none_or(CallLog::is_pointless)
    }

    /// The ledger of a communicator, opened by whatever comes first: a record or a call.
    pub(crate) fn ledger(&mut self, communicator: u64) -> &mut CallLog {
        let first = self.watch.first;
        self.ledgers.entry(communicator).or_insert_with(|| CallLog::new(communicator, first))
    }

    /// Where a record is to be received.
    pub(crate) fn page(&mut self) -> RegionMut {
        RegionMut::of(&mut self.page[..])
    }

    /// The record that has been received.
    pub(crate) fn read(&self, bytes: usize) -> Option<Record> {
        Record::read(&self.page[..bytes])
    }

    /// Enters a record of another rank.
    pub(crate) fn enter(&mut self, from: Peer, record: Record) -> Option<Verdict> {
        let check = self.watch.check;
        let communicator = record.communicator;
        let ledger = self.ledger(communicator);
        let verdict = ledger.enter(from, record).filter(|_| check);
        if ledger.is_over() {
            self.ledgers.remove(&communicator);
        }
        verdict
    }

    /// Calls have been found that do not fit together.
    pub(crate) fn note_mismatch(&self, me: Peer) {
        if self.watch.fails_run {
            exit_code::fail_at_exit(|| {
                format!(
                    "motet: rank {me} ends with exit code 1 instead of 0: MOTET_CHECK has found \
                     collective calls that do not fit together"
                )
            });
        }
    }

    /// Enters a call of this rank.
    pub(crate) fn enter_own(
        &mut self,
        communicator: u64,
        kind: Kind,
        account: CallDescription,
        tag: u64,
    ) -> Own {
        let check = self.watch.check;
        let ledger = self.ledger(communicator);
        let mut own = ledger.enter_own(kind, account, tag);
        own.verdict = own.verdict.filter(|_| check);
        own.refusal = own.refusal.filter(|_| check);
        if ledger.is_over() {
            self.ledgers.remove(&communicator);
        }
        own
    }

    /// Remembers an operation until it is over.
    pub(crate) fn begin(&mut self, number: OpKey, live: PendingCall) {
        self.live.insert(number, live);
    }

    /// The operation of this number is over.
    pub(crate) fn forget(&mut self, number: OpKey) {
        self.live.remove(&number);
    }

    /// The operation of this number.
    pub(crate) fn live(&self, number: OpKey) -> Option<&PendingCall> {
        self.live.get(&number)
    }

    /// A persistent operation has been ended.
    pub(crate) fn end(&mut self, id: Id, reason: &'static str) {
        self.ended.insert(id, reason);
    }

    /// Why a persistent operation has been ended, if it has.
    pub(crate) fn why_ended(&self, id: Id) -> Option<&'static str> {
        self.ended.get(&id).copied()
    }
}
