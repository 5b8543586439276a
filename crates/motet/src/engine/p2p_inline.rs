//! One short message for a caller who waits for it: sent, or received, without a place among the
//! operations.
//!
//! A receive takes the shortcut only while no other one is posted, for that one would come first,
//! and while no message is kept, which may be the one, and a long one. If the message does not come
//! within so many looks, or is none that is short, the receive is posted as any other is.

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

/// A message that is taken from one rank: which one, and where to.
pub(crate) struct ExactRecv {
    pub(crate) from: Peer,
    pub(crate) label: Label,
    pub(crate) element: TypeCode,
    pub(crate) into: RegionMut,
}

impl Engine {
    /// Sends a message now, if it is short and there is room for it. Says whether it did.
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

    /// As [`Engine::send_at_once`], of a standard send.
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
        let reply = TrafficHint::Unsaid;
        // SAFETY: readable by the caller's promise.
        let is_sent = unsafe { self.endpoint.send_inline(to, label, element, data, reply) };
        if is_sent {
            self.has_transferred();
        }
        is_sent
    }

    /// Does a transfer now, if it is short and that is possible within so many looks.
    ///
    /// # Safety
    /// Its memory is valid now, and nobody else uses it.
    pub(crate) unsafe fn transfer_at_once(
        &mut self,
        transfer: &Transfer,
        looks: u32,
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
                let received = unsafe { self.receive_now(&expected, looks) }?;
                let received =
                    received.map(|bytes| Received { source: from, tag: label.tag, bytes });
                Some(received.map_err(|error| *error))
            }
            _ => None,
        }
    }

    /// Receives a message now, if that is possible within so many looks: the length of what has
    /// come.
    ///
    /// # Safety
    /// As [`Engine::transfer_at_once`].
    #[inline]
    pub(crate) unsafe fn receive_now(
        &mut self,
        expected: &ExactRecv,
        looks: u32,
    ) -> Option<Result<usize, Box<TransferError>>> {
        let from = expected.from;
        let is_next = from != self.endpoint.me() && self.endpoint.is_next_in_ring(from);
        if !is_next || self.has_more_to_do() {
            return None;
        }
        // SAFETY: passed on.
        let received = unsafe { self.look_for_next(expected, looks) }?;
        self.has_transferred();
        Some(received)
    }

    /// Begins to receive a message.
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
        if !unsafe { self.endpoint.post_alone(from, label, element, into, token) } {
            let transfer = Transfer::Receive(Selector::exactly(from, label), element, into);
            // SAFETY: passed on.
            unsafe { self.post(id, &transfer) };
        }
        id
    }

    /// The outcome of a receive that is posted alone, if its message comes within so many looks,
    /// which take as long as a message may take. It is gone then, as if it had been taken.
    #[inline]
    pub(super) fn end_alone(&mut self, id: Id, persistent: bool, looks: u32) -> Option<Outcome> {
        let operation = self.operations.get_mut(id)?;
        // The first receive of a collective has the same token.
        let is_bare = match operation.work {
            Work::Receive(_) => operation.rare.is_none(),
            Work::Stored(_) => false,
            _ => return None,
        };
        let token = Token { operation: id.0, step: 0 };
        for look in 1..=looks {
            match self.endpoint.recv_alone(token)? {
                (source, tag, InlineRecv::Done(ended)) => {
                    let outcome = ended.map(|bytes| Received { source, tag, bytes });
                    if is_bare {
                        self.has_ended(1);
                        self.operations.discard(id);
                    } else {
                        self.finish(id, outcome);
                        self.take(id, persistent);
                    }
                    self.progress_others(0);
                    return Some(outcome);
                }
                (from, _, InlineRecv::Empty)
                    if self.active == 1 || !look.is_multiple_of(POLLS_PER_PROGRESS) =>
                {
                    self.endpoint.fetch_from(from);
                }
                (_, _, InlineRecv::Empty | InlineRecv::Blocked) => return None,
            }
        }
        None
    }

    /// Whether there is more to be done for a message than to move it, or no room for another.
    #[inline]
    fn has_more_to_do(&self) -> bool {
        self.books.is_some() || self.operations.len() >= self.room
    }

    /// # Safety
    /// As [`Engine::transfer_at_once`].
    #[inline]
    unsafe fn look_for_next(
        &mut self,
        &ExactRecv { from, label, element, into }: &ExactRecv,
        looks: u32,
    ) -> Option<Result<usize, Box<TransferError>>> {
        for look in 1..=looks {
            // SAFETY: passed on.
            match unsafe { self.endpoint.recv_inline(from, label, element, into, Fill::Part) } {
                InlineRecv::Done(received) => return Some(received.map_err(Box::new)),
                InlineRecv::Empty
                    if self.active == 0 || !look.is_multiple_of(POLLS_PER_PROGRESS) =>
                {
                    self.endpoint.fetch_from(from);
                }
                // Others must move, which who has posted lets them do.
                InlineRecv::Empty | InlineRecv::Blocked => return None,
            }
        }
        None
    }

    /// A message has been sent or received that is no operation.
    #[inline]
    fn has_transferred(&mut self) {
        self.ended += 1;
        self.progress_others(0);
    }
}

/// The one rank and the one label that a receive accepts.
fn exact(selector: Selector) -> Option<(Peer, Label)> {
    let Selector { context, source, tag, ordinal } = selector;
    Some((source?, Label { context, tag: tag?, ordinal }))
}
