//! Check mode verifies that all ranks of a communicator call the same collectives in the same
//! order.
//!
//! **Records.** Every collective of a communicator has a number, counted by one counter for
//! blocking calls, nonblocking calls and persistent inits together. When a rank makes a call it
//! sends a [`Record`] of it to each other rank of the communicator: the number, a fingerprint of
//! the arguments that must be equal on all ranks (see [`account`]), a fingerprint of the data that
//! it sends to this one rank and expects from it, and a text for people. Records are ordinary small
//! messages in a context of their own, one for the whole world. A rank sends them before anything
//! else of the call, so a receiver never gets data of a call before its record.
//!
//! **Comparing.** No rank waits for a record. Each rank keeps one receive posted for them, and a
//! thread that advances the engine enters arrived records into the [`CallLog`] of their
//! communicator, even if this rank has not created that yet. Under each number the records of all
//! ranks must agree; when all have arrived, they are discarded. A log therefore holds as many
//! records as the ranks are apart, without a limit.
//!
//! **A mismatch.** All ranks get the same records, so each of them detects it by itself. A mismatch
//! that only two ranks can detect (one sends data that the other does not expect) they report to
//! the others. The communicator is broken from that number on: calls that started later, and every
//! persistent operation, end with the same error, their transfers are cancelled, and each later
//! call is refused. Calls with a lower number were started by all ranks and go on, unless
//! persistent. An operation that was complete before the record arrived (the root of a broadcast
//! need not wait) stays complete. Then the next call on the communicator returns the mismatch or,
//! if there is none, the rank reports it when it leaves the world: it first receives the records of
//! all calls of the others, as far as they have been made.
//!
//! **The exit code.** If the environment has switched check mode on, a process that has found a
//! mismatch does not end with exit code 0, even if the program ignores the error of a call or makes
//! no call that could return it: a script that runs a check looks at the code.
//!
//! **Groups.** All ranks compare the name and the group of a call that takes a group; the members
//! compare the rest. So not every rank may see a mismatch, and a rank that does reports it to the
//! others.
//!
//! A call that is refused for its arguments has a number too, and its record says so: the other
//! ranks would wait for it for ever. A rank that frees its communicator sends a record of that as
//! well, so that a call which others make later is a mismatch; when all have freed it the log is
//! removed.
//!
//! **Not checked**: persistent starts (they cost nothing), point-to-point messages, the agreement
//! among the members in `create_group`, and operators that are closures, because two that do the
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

/// The configuration of check mode, hang reports and limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckConfig {
    /// Whether a mismatch of calls is an error.
    pub(crate) check: bool,
    /// Whether a process that has found a mismatch must not end with exit code 0: check mode was
    /// asked for by the environment, which makes the whole run a check.
    pub(crate) fails_run: bool,
    /// The time after which a wait is reported.
    pub(crate) hang: Option<Duration>,
    /// The number of the first operation of each communicator; not 0 in tests only.
    pub(crate) first: u64,
    /// The most operations that a rank may have.
    pub(crate) most: Option<usize>,
    /// Returns the source line of the caller, if that is not written in Rust.
    pub(crate) caller: Option<Caller>,
}

/// How strictly calls that the standard forbids are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Only calls that could do harm.
    Lenient,
    /// All of them, as far as the library can see: check mode.
    Strict,
}

/// Returns the source line of the current call of the program, if it can be found out.
pub type Caller = fn() -> Option<String>;

impl CheckConfig {
    pub(crate) fn strictness(&self) -> Strictness {
        if self.check { Strictness::Strict } else { Strictness::Lenient }
    }

    /// Whether records are sent.
    pub(crate) fn keeps_records(&self) -> bool {
        self.check || self.hang.is_some()
    }

    /// The source line of a call that entered the library at this location.
    pub(crate) fn place(&self, at: &Location<'_>) -> String {
        let called = self.caller.and_then(|caller| caller());
        called.unwrap_or_else(|| format!("{}:{}", at.file(), at.line()))
    }
}

/// A collective of this rank that has not ended (or, if persistent, has not been freed).
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    /// Whether it is persistent.
    pub(crate) traffic: ContextKind,
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// What one rank knows of the calls of all ranks.
pub(crate) struct CheckState {
    watch: CheckConfig,
    pub(crate) ledgers: HashMap<u64, CallLog>,
    /// The buffer for the next record.
    page: Box<[u8; record::RECORD_MAX_BYTES]>,
    /// Persistent operations that a mismatch has ended, with the reason.
    ended: HashMap<Id, &'static str>,
    live: HashMap<OpKey, PendingCall>,
    /// Reasons of mismatches that no call of this rank has returned: at most one for each
    /// communicator.
    pub(crate) unreported: Vec<&'static str>,
}

impl CheckState {
    pub(crate) fn new(watch: CheckConfig) -> CheckState {
        CheckState {
            watch,
            ledgers: HashMap::new(),
            page: Box::new([0; record::RECORD_MAX_BYTES]),
            ended: HashMap::new(),
            live: HashMap::new(),
            unreported: Vec::new(),
        }
    }

    /// Whether no more records can matter for a communicator that this rank has freed.
    pub(crate) fn is_over(&self, communicator: u64) -> bool {
        self.ledgers.get(&communicator).is_none_or(CallLog::is_pointless)
    }

    /// The log of a communicator, created by the first record or call.
    pub(crate) fn ledger(&mut self, communicator: u64) -> &mut CallLog {
        let first = self.watch.first;
        self.ledgers.entry(communicator).or_insert_with(|| CallLog::new(communicator, first))
    }

    /// The buffer for the next record.
    pub(crate) fn page(&mut self) -> RegionMut {
        RegionMut::of(&mut self.page[..])
    }

    /// Decodes the record that has been received.
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

    /// Makes the process fail at its exit, because a mismatch has been found.
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

    /// Remembers an operation until it has ended.
    pub(crate) fn begin(&mut self, number: OpKey, live: PendingCall) {
        self.live.insert(number, live);
    }

    /// Forgets the operation of this number, which has ended.
    pub(crate) fn forget(&mut self, number: OpKey) {
        self.live.remove(&number);
    }

    /// The pending operation of this number.
    pub(crate) fn live(&self, number: OpKey) -> Option<&PendingCall> {
        self.live.get(&number)
    }

    /// Records why a persistent operation was ended.
    pub(crate) fn end(&mut self, id: Id, reason: &'static str) {
        self.ended.insert(id, reason);
    }

    /// Why a persistent operation was ended, if it was.
    pub(crate) fn why_ended(&self, id: Id) -> Option<&'static str> {
        self.ended.get(&id).copied()
    }
}
