//! Check mode in the engine: sends and receives records, and ends operations because the ranks
//! disagree.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::collections::HashSet;
use std::mem;
use std::time::Duration;

use motet_fabric::slab::Id;
use motet_fabric::{Completion, Label, Peer, Region, Selector, Token, TransferError, TypeCode};

use super::{Engine, Envelope, Mode, OpKey, Outcome, State, Transfer, Work};
use crate::base::group::Group;
use crate::engine::check::{
    Awaited, CallDescription, CheckState, Kind, PendingCall, Record, Tell, Verdict, report,
};
use crate::engine::context::{ContextKind, split_context};

/// The operation id in the token of the receive for records: no operation has it.
pub(super) const RECORDS: u64 = 0;
/// The communicator of all ranks.
const WORLD: u64 = 0;
/// The label of records, in a context of their own.
const LABEL: Label = Label { context: ContextKind::Check as u64, tag: 0, ordinal: 0 };

impl Engine {
    /// Switches records on.
    pub(crate) fn keep_books(&mut self, books: CheckState) {
        self.books = Some(Box::new(books));
        let mut done = mem::take(&mut self.done);
        self.await_record(&mut done);
        self.settle(done);
    }

    pub(super) fn books(&mut self) -> &mut CheckState {
        self.books.as_deref_mut().expect("only asked where records are kept")
    }

    /// Posts the receive for the next record.
    fn await_record(&mut self, done: &mut Vec<Completion>) {
        let Some(books) = self.books.as_deref_mut() else { return };
        let Label { context, tag, ordinal } = LABEL;
        let selector = Selector { context, source: None, tag: Some(tag), ordinal };
        let token = Token { operation: RECORDS, step: 0 };
        // SAFETY: the page lives as long as the engine, and is read between two receives only.
        unsafe { self.endpoint.recv(selector, TypeCode::BYTES, books.page(), token, done) };
    }

    /// Handles the completion at this place: a record has arrived, or none will any more. If the
    /// record breaks a communicator, its operations end before later completions are handed out.
    #[cold]
    pub(super) fn record_came(&mut self, at: usize, done: &mut Vec<Completion>) {
        let Completion { token, outcome } = done[at];
        assert_eq!(token.operation, RECORDS, "transfers end before operations");
        let Ok(received) = outcome else { return };
        let books = self.books();
        let record = books.read(received.bytes);
        let verdict = record.and_then(|record| books.enter(received.source, record));
        if let Some(verdict) = verdict
            && self.endpoint.failure().is_none()
        {
            self.carry_out(verdict);
            let rest = done.split_off(at + 1);
            done.extend(rest.into_iter().filter(|each| self.awaits(each.token)));
        }
        self.await_record(done);
    }

    /// Whether a completion with this token belongs to an active operation.
    fn awaits(&mut self, token: Token) -> bool {
        let operation = self.operations.get_mut(Id(token.operation));
        operation.is_some_and(|operation| operation.state == State::Active)
    }

    /// Records the group of a new communicator.
    pub(crate) fn meet(&mut self, communicator: u64, group: Group) {
        let me = self.endpoint.me();
        self.books().ledger(communicator).meet(me, group);
    }

    /// Sets the name of a communicator in its ledger.
    pub(crate) fn name_ledger(&mut self, communicator: u64, name: String) {
        self.books().ledger(communicator).name = name;
    }

    /// Whether all ranks have announced that they make no more calls in the world, or cannot agree.
    pub(crate) fn has_heard_all(&self) -> bool {
        self.books.as_ref().is_none_or(|books| books.is_over(WORLD))
    }

    /// The reason of a mismatch that no call has returned. Returns each once.
    pub(crate) fn unreported_mismatch(&mut self) -> Option<&'static str> {
        self.books.as_mut()?.unreported.pop()
    }

    /// Records that a call has returned this reason.
    pub(crate) fn tell(&mut self, reason: &'static str) {
        self.books().unreported.retain(|&unreported| unreported != reason);
    }

    /// Remembers an operation until it has ended.
    pub(crate) fn begin_live(&mut self, number: OpKey, live: PendingCall) {
        self.books().begin(number, live);
    }

    /// Counts a call of this rank and sends its record to the other ranks. Returns its number.
    ///
    /// # Errors
    /// Why the call must not be made.
    pub(crate) fn note(
        &mut self,
        communicator: u64,
        kind: Kind,
        account: CallDescription,
        tag: u64,
    ) -> Result<u64, &'static str> {
        if self.has_left {
            return Ok(0); // The call is refused for that.
        }
        let own = self.books().enter_own(communicator, kind, account, tag);
        for (peer, record) in &own.records {
            self.send_record(*peer, record);
        }
        // After a death the calls of the ranks may differ without a mistake.
        if self.endpoint.failure().is_some() {
            return Ok(own.number);
        }
        if let Some(verdict) = own.verdict {
            self.carry_out(verdict);
        }
        own.refusal.map_or(Ok(own.number), Err)
    }

    fn send_record(&mut self, to: Peer, record: &Record) {
        let bytes = record.to_bytes();
        let data = Region::of(&bytes);
        let envelope = Envelope { to, label: LABEL, element: TypeCode::BYTES };
        let transfer = Transfer::Send(envelope, data, Mode::Standard);
        // SAFETY: the operation keeps the bytes until it is over.
        let id = unsafe { self.start_transfer(&transfer, None) };
        self.detach(id, Box::new(bytes));
    }

    /// Ends the operations that a mismatch makes pointless, and tells the ranks that cannot detect
    /// it.
    pub(super) fn carry_out(&mut self, Verdict { communicator, broken, tell }: Verdict) {
        let me = self.endpoint.me();
        self.books().note_mismatch(me);
        if tell == Tell::Others {
            let group = self.books().ledger(communicator).group();
            let record = Record {
                communicator,
                number: broken.number,
                kind: Kind::Verdict,
                fingerprint: 0,
                group: 0,
                shared: 0,
                includes: false,
                element: 0,
                sends: 0,
                expects: 0,
                text: broken.reason.to_owned(),
            };
            for peer in group.peers().filter(|&peer| peer != me) {
                self.send_record(peer, &record);
            }
        }
        let is_hit = |number: OpKey| match split_context(number.context) {
            (id, ContextKind::Collective) => id == communicator && number.tag >= broken.tag,
            (id, ContextKind::Persistent) => id == communicator,
            _ => false,
        };
        let hit = self.operations.iter().filter(|(_, operation)| match &operation.work {
            Work::Run(run) => {
                let is_over = matches!(operation.state, State::Succeeded | State::Complete(_));
                !is_over && is_hit(run.number())
            }
            _ => false,
        });
        let hit: Vec<(Id, State)> = hit.map(|(id, operation)| (id, operation.state)).collect();
        // A pending operation returns the reason to its caller.
        if hit.iter().all(|&(_, state)| state == State::Inactive) {
            self.books().unreported.push(broken.reason);
        }
        let tokens: HashSet<u64> = hit.iter().map(|(id, _)| id.0).collect();
        self.endpoint.cancel(|token| tokens.contains(&token.operation));
        hit.into_iter().for_each(|(id, _)| self.cut_off(id, broken.reason));
    }

    /// Ends an operation whose transfers have been cancelled.
    fn cut_off(&mut self, id: Id, reason: &'static str) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Work::Run(run) = &mut operation.work else { return };
        run.cut_off(&mut self.endpoint);
        let is_persistent = split_context(run.number().context).1 == ContextKind::Persistent;
        let state = operation.state;
        if is_persistent {
            self.books().end(id, reason);
        }
        match state {
            State::Active => self.finish(id, Outcome::Err(TransferError::Ended(reason))),
            State::Inactive => self.remove(id),
            State::Succeeded | State::Complete(_) => {}
        }
    }

    /// Reports a long wait for these operations on standard error.
    #[cold]
    pub(crate) fn report_wait(&mut self, ids: &[Id], waited: Duration) {
        let mut awaited = Vec::with_capacity(ids.len());
        for &id in ids {
            let Some(operation) = self.operations.get_mut(id) else { continue };
            let (number, blocked_by) = match &operation.work {
                Work::Run(run) => (Some(run.number()), run.blocked_by()),
                _ => (None, Vec::new()),
            };
            awaited.push(Awaited { id, number, blocked_by });
        }
        if let Some(books) = &self.books {
            report(books, &self.endpoint, waited, &awaited);
        }
    }

    /// Why a persistent operation has been removed.
    #[cold]
    pub(crate) fn why_removed(&mut self, id: Id) -> TransferError {
        if self.has_left {
            return self.has_left_itself();
        }
        let ended = self.books.as_ref().and_then(|books| books.why_ended(id));
        ended.map(TransferError::Ended).unwrap_or_else(|| {
            let failure = self.failure();
            let failure = failure.expect("only a death, a mismatch or a leave ends it");
            TransferError::Failed(failure)
        })
    }
}
