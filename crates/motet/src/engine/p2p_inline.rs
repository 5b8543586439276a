//! Inline sends and receives: one short message of a waiting caller, without an operation.
//!
//! A receive takes this path only while no other receive is posted, which would match first, and
//! while no unexpected message is queued, which may be the awaited one, and may be long. If the
//! message does not arrive within so many polls, or is not short, the receive is posted like any
//! other. A receive that is posted already takes it while no other one was posted before it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::matching::Ticket;
use motet_fabric::slab::Id;
use motet_fabric::{
    Fill, InlineRecv, Label, Peer, Received, Region, RegionMut, Selector, Token, TrafficHint,
    TransferError, TypeCode,
};

use super::inline_run::POLLS_PER_PROGRESS;
use super::p2p::{Envelope, Mode, Transfer};
use super::{Engine, Outcome, State, Work};

/// One in so many short transfers looks for messages of receives that are posted: no thread waits
/// for these receives, and a poll of all rings costs more than a transfer.
const TRANSFERS_PER_PROGRESS: u32 = 4;

/// A receive from one rank: which message, and where to.
pub(crate) struct ExactRecv {
    pub(crate) from: Peer,
    pub(crate) label: Label,
    pub(crate) element: TypeCode,
    pub(crate) into: RegionMut,
}

impl Engine {
    /// Sends a message now, if it is short and there is room for it. Returns whether it did.
    ///
    /// # Safety
    /// As [`Engine::transfer_at_once`].
    #[inline]
    pub(crate) unsafe fn send_at_once(&mut self, transfer: &Transfer) -> bool {
        match *transfer {
            // SAFETY: passed on.
            Transfer::Send(to, data, Mode::Standard) => unsafe { self.send_now(&to, data) },
            _ => false,
        }
    }

    /// Like [`Engine::send_at_once`], for a standard send.
    ///
    /// # Safety
    /// As [`Engine::transfer_at_once`].
    #[inline]
    pub(crate) unsafe fn send_now(&mut self, envelope: &Envelope, data: Region) -> bool {
        let &Envelope { to, label, element } = envelope;
        let is_short = to != self.endpoint.me() && data.bytes() <= self.endpoint.inline_max_bytes();
        if !is_short || self.has_more_to_do() {
            return false;
        }
        let hint = TrafficHint::Unknown;
        // SAFETY: readable by the caller's promise.
        let is_sent = unsafe { self.endpoint.send_inline(to, label, element, data, hint) };
        if is_sent {
            self.has_transferred();
        }
        is_sent
    }

    /// Does a transfer now, if it is short and completes within `max_polls` polls.
    ///
    /// # Safety
    /// Its memory is valid now, and nobody else uses it.
    pub(crate) unsafe fn transfer_at_once(
        &mut self,
        transfer: &Transfer,
        max_polls: u32,
    ) -> Option<Outcome> {
        match *transfer {
            Transfer::Send(Envelope { label, .. }, data, _) => {
                // SAFETY: passed on.
                let is_sent = unsafe { self.send_at_once(transfer) };
                let (source, bytes) = (self.endpoint.me(), data.bytes());
                is_sent.then_some(Ok(Received { source, tag: label.tag, bytes }))
            }
            Transfer::Receive(selector, element, into) => {
                let (from, label) = exact(selector)?;
                let expected = ExactRecv { from, label, element, into };
                // SAFETY: passed on.
                let received = unsafe { self.receive_now(&expected, max_polls) }?;
                let received =
                    received.map(|bytes| Received { source: from, tag: label.tag, bytes });
                Some(received.map_err(|error| *error))
            }
            _ => None,
        }
    }

    /// Receives a message now, if it arrives within `max_polls` polls. Returns its length in bytes.
    ///
    /// # Safety
    /// As [`Engine::transfer_at_once`].
    #[inline]
    pub(crate) unsafe fn receive_now(
        &mut self,
        expected: &ExactRecv,
        max_polls: u32,
    ) -> Option<Result<usize, Box<TransferError>>> {
        let from = expected.from;
        let is_next = from != self.endpoint.me() && self.endpoint.is_next_in_ring(from);
        if !is_next || self.has_more_to_do() {
            return None;
        }
        // SAFETY: passed on.
        let received = unsafe { self.poll_next(expected, max_polls) }?;
        self.has_transferred();
        Some(received)
    }

    /// Posts a receive. Does not look whether its message is there: in an exchange it comes later,
    /// and a look at its place costs the peer that then writes it the transfer of a cache line.
    ///
    /// # Safety
    /// As [`Engine::start_transfer`].
    #[inline]
    pub(crate) unsafe fn start_receive(&mut self, expected: &ExactRecv) -> Id {
        let &ExactRecv { from, label, element, into } = expected;
        let id = self.insert(Work::Receive(Ticket::default()), None, State::Active);
        self.active += 1;
        let token = Token { operation: id.0, step: 0 };
        // SAFETY: passed on.
        if !unsafe { self.endpoint.post_in_list(from, label, element, into, token) } {
            let transfer = Transfer::Receive(Selector::exactly(from, label), element, into);
            // SAFETY: passed on.
            unsafe { self.post(id, &transfer) };
        }
        id
    }

    /// The outcome of a posted receive before which no other one was posted, if its message arrives
    /// within `max_polls` polls, which take as long as a message may take. The operation is then
    /// removed, as if its outcome had been taken.
    #[inline]
    pub(crate) fn end_first(
        &mut self,
        id: Id,
        persistent: bool,
        max_polls: u32,
    ) -> Option<Outcome> {
        let operation = self.operations.get_mut(id)?;
        // The first receive of a collective has the same token.
        let is_bare = match operation.work {
            Work::Receive(_) => operation.rare.is_none(),
            Work::Stored(_) => false,
            _ => return None,
        };
        let token = Token { operation: id.0, step: 0 };
        for poll in 1..=max_polls {
            match self.endpoint.recv_first(token)? {
                (source, tag, InlineRecv::Done(ended)) => {
                    let outcome = ended.map(|bytes| Received { source, tag, bytes });
                    if is_bare {
                        self.has_ended(1);
                        self.operations.discard(id);
                    } else {
                        self.finish(id, outcome);
                        self.take(id, persistent);
                    }
                    // There the record of a call has a receive with a wildcard: none is listed.
                    debug_assert!(self.books.is_none(), "check mode moves others at each call");
                    // Who waits for the first of several receives waits for the next ones, too.
                    match self.endpoint.posted_receives() {
                        0 => self.progress_in_turn(),
                        _ => self.progress_if(false),
                    }
                    return Some(outcome);
                }
                (from, _, InlineRecv::Empty)
                    if self.has_only_receives() || !poll.is_multiple_of(POLLS_PER_PROGRESS) =>
                {
                    self.endpoint.fetch_from(from);
                }
                (_, _, InlineRecv::Empty | InlineRecv::Blocked) => return None,
            }
        }
        None
    }

    /// Whether a message needs more than a transfer (check mode), or there is no room for an
    /// operation.
    #[inline]
    fn has_more_to_do(&self) -> bool {
        self.books.is_some() || self.operations.len() >= self.room
    }

    /// # Safety
    /// As [`Engine::transfer_at_once`].
    #[inline]
    unsafe fn poll_next(
        &mut self,
        &ExactRecv { from, label, element, into }: &ExactRecv,
        max_polls: u32,
    ) -> Option<Result<usize, Box<TransferError>>> {
        for poll in 1..=max_polls {
            // SAFETY: passed on.
            match unsafe { self.endpoint.recv_inline(from, label, element, into, Fill::Part) } {
                InlineRecv::Done(received) => return Some(received.map_err(Box::new)),
                InlineRecv::Empty
                    if self.active == 0 || !poll.is_multiple_of(POLLS_PER_PROGRESS) =>
                {
                    self.endpoint.fetch_from(from);
                }
                // Other operations must move, which they do once this receive is posted.
                InlineRecv::Empty | InlineRecv::Blocked => return None,
            }
        }
        None
    }

    /// Counts a message that was sent or received without an operation, and advances other
    /// operations.
    #[inline]
    fn has_transferred(&mut self) {
        self.ended += 1;
        self.progress_in_turn();
    }

    /// Advances other operations after a short transfer; if all of them are posted receives, after
    /// every fourth one.
    #[inline]
    fn progress_in_turn(&mut self) {
        self.transfers = self.transfers.wrapping_add(1);
        self.progress_if(self.transfers.is_multiple_of(TRANSFERS_PER_PROGRESS));
    }

    /// Advances other operations, also if all of them are posted receives and `with_receives` is
    /// set.
    #[inline]
    fn progress_if(&mut self, with_receives: bool) {
        if with_receives || !self.has_only_receives() || self.endpoint.has_waiting() {
            self.progress_others(0);
        }
    }

    /// Whether the active operations are no more than the receives that have met no message. They
    /// may be a send that waits and a collective that has posted two: then others move a little
    /// later, at the next call that waits or polls.
    #[inline]
    fn has_only_receives(&self) -> bool {
        self.active <= self.endpoint.posted_receives()
    }
}

/// The rank and the label that a receive accepts, if exactly one.
fn exact(selector: Selector) -> Option<(Peer, Label)> {
    let Selector { context, source, tag, ordinal } = selector;
    Some((source?, Label { context, tag: tag?, ordinal }))
}
