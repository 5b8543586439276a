//! Point-to-point operations: single messages, pairs of them, and generalized requests.
//!
//! A transfer is plain data, so the engine stores a persistent one and posts it again at each
//! start. The caller that supplies a transfer keeps the promise of [`crate::engine`]: its memory
//! stays valid until the operation is complete or abandoned.

#![allow(unsafe_code)] // listed in docs/unsafe.md

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use motet_fabric::endpoint::{Copied, MatchedMessage};
use motet_fabric::matching::Ticket;
use motet_fabric::slab::Id;
use motet_fabric::{
    Completion, Endpoint, Label, Peer, Posted, Received, Region, RegionMut, Selector, Token,
    TransferError, TypeCode,
};

use super::polling::MISSES_BESIDE_WORK;
use super::{
    BufferGuard, Engine, NOTHING, Operation, Outcome, PackedBuffers, Room, Rooms, State, Work,
    collected,
};

/// The outcome of a receive from `PROC_NULL`.
pub(crate) const NOBODY: Received = Received { source: Peer(u32::MAX), tag: 0, bytes: 0 };

/// The outcome of a cancelled receive.
pub(crate) const CANCELLED: Received = Received { source: Peer(u32::MAX), tag: 1, bytes: 0 };

/// The step number of the send of a pair.
const SEND: u32 = 0;
/// The step number of the receive of a pair.
const RECEIVE: u32 = 1;

/// The mode of a send: when it is complete.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    /// When its buffer may be reused.
    Standard,
    /// When a receive has matched the message.
    Synchronous,
    /// At once: the message is copied into one of these buffers.
    Buffered(Rooms),
}

/// The destination, label and datatype of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) to: Peer,
    pub(crate) label: Label,
    pub(crate) element: TypeCode,
}

/// One message to send or to receive.
#[derive(Clone, Debug)]
pub(crate) enum Transfer {
    Send(Envelope, Region, Mode),
    Receive(Selector, TypeCode, RegionMut),
    /// To or from `PROC_NULL`.
    Nothing,
}

/// How often, at most, a send receives while it waits for room.
const RECEIVES_PER_WAITING_SEND: usize = 8;

/// The result of posting a transfer.
enum Begun {
    Done(Outcome),
    /// A completion will report its end; a receive has this ticket.
    Pending(Ticket),
}

/// When the transfer of a persistent operation is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posting {
    AtStart,
    /// When all partitions are ready, as the program tells the engine.
    WhenReady,
}

/// A transfer that is posted at each start.
pub(crate) struct Stored {
    transfer: Transfer,
    pub(super) posting: Posting,
    ticket: Ticket,
}

/// A send and a receive in one operation.
pub(crate) struct Pair {
    missing: u8,
    /// The outcome of the receive, or the first error.
    outcome: Outcome,
    /// The memory of the outgoing message, if it is not in the operation's own buffers.
    _outgoing: Option<BufferGuard>,
}

impl Pair {
    /// Records the end of one half. Returns the outcome once both have ended.
    pub(super) fn complete(&mut self, step: u32, outcome: Outcome) -> Option<Outcome> {
        self.missing -= 1;
        if self.outcome.is_ok() && (step == RECEIVE || outcome.is_err()) {
            self.outcome = outcome;
        }
        (self.missing == 0).then_some(self.outcome)
    }
}

impl Transfer {
    /// # Safety
    /// The memory stays valid until the operation is complete or abandoned.
    unsafe fn post(
        &self,
        endpoint: &mut Endpoint,
        token: Token,
        done: &mut Vec<Completion>,
    ) -> Begun {
        match *self {
            Transfer::Nothing => Begun::Done(Ok(NOBODY)),
            Transfer::Receive(selector, element, into) => {
                // SAFETY: passed on.
                Begun::Pending(unsafe { endpoint.recv(selector, element, into, token, done) })
            }
            Transfer::Send(Envelope { to, label, element }, data, ref mode) => {
                let send = match mode {
                    Mode::Synchronous => Endpoint::send_synchronously,
                    Mode::Standard | Mode::Buffered(_) => Endpoint::send,
                };
                // SAFETY: passed on.
                match unsafe { send(endpoint, to, label, element, data, token) } {
                    Posted::Pending => Begun::Pending(Ticket::default()),
                    Posted::Done => {
                        let (source, bytes) = (endpoint.me(), data.bytes());
                        Begun::Done(Ok(Received { source, tag: label.tag, bytes }))
                    }
                }
            }
        }
    }
}

impl Work {
    /// 1 if the operation counts as active, 0 for a generalized one.
    pub(super) fn transfers(&self) -> usize {
        usize::from(!matches!(self, Work::Generalized))
    }
}

impl Engine {
    /// Starts a transfer.
    ///
    /// # Safety
    /// Its memory stays valid until the operation is complete or abandoned.
    pub(crate) unsafe fn start_transfer(
        &mut self,
        transfer: &Transfer,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        let work = match transfer {
            Transfer::Send(..) => Work::Send,
            Transfer::Receive(..) | Transfer::Nothing => Work::Receive(Ticket::default()),
        };
        let id = self.insert(work, collected(staging), State::Active);
        self.active += 1;
        // SAFETY: passed on.
        unsafe { self.post(id, transfer) };
        id
    }

    /// Starts a transfer for a caller that is about to return: meanwhile others may end.
    ///
    /// # Safety
    /// As [`Engine::start_transfer`].
    pub(crate) unsafe fn begin_transfer(
        &mut self,
        transfer: &Transfer,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        // SAFETY: passed on.
        let id = unsafe { self.start_transfer(transfer, staging) };
        if self.endpoint.has_waiting() {
            self.receive_while_it_waits(id, transfer);
        }
        id
    }

    /// Adds a persistent transfer.
    ///
    /// # Safety
    /// Its memory stays valid as long as the operation is there.
    pub(crate) unsafe fn add_transfer(
        &mut self,
        transfer: Transfer,
        staging: Option<Box<PackedBuffers>>,
        posting: Posting,
    ) -> Id {
        let stored = Box::new(Stored { transfer, posting, ticket: Ticket::default() });
        self.insert(Work::Stored(stored), staging, State::Inactive)
    }

    /// Posts the transfer of a persistent operation whose partitions are all ready, if it still
    /// exists.
    pub(crate) fn post_parts(&mut self, id: Id) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        if operation.state == State::Active {
            self.post_stored(id);
        }
    }

    /// Posts the transfer of a persistent operation that has become active.
    pub(super) fn post_stored(&mut self, id: Id) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        if let Some(staging) = operation.staging() {
            staging.collect();
        }
        let Work::Stored(stored) = &operation.work else { return };
        let transfer = stored.transfer.clone();
        // SAFETY: the promise of `add_transfer`.
        unsafe { self.post(id, &transfer) };
        if self.endpoint.has_waiting() {
            self.receive_while_it_waits(id, &transfer);
        }
    }

    /// # Safety
    /// As [`Engine::start_transfer`].
    pub(super) unsafe fn post(&mut self, id: Id, transfer: &Transfer) {
        if let Transfer::Send(envelope, data, Mode::Buffered(rooms)) = transfer {
            // SAFETY: passed on.
            let outcome = unsafe { self.send_buffered(*envelope, *data, rooms) };
            return self.finish(id, outcome);
        }
        let mut done = mem::take(&mut self.done);
        let token = Token { operation: id.0, step: 0 };
        // SAFETY: passed on.
        match unsafe { transfer.post(&mut self.endpoint, token, &mut done) } {
            Begun::Done(outcome) => self.finish(id, outcome),
            Begun::Pending(posted) => match self.operations.get_mut(id) {
                Some(Operation { work: Work::Receive(ticket), .. }) => *ticket = posted,
                Some(Operation { work: Work::Stored(stored), .. }) => stored.ticket = posted,
                _ => {}
            },
        }
        self.settle(done);
    }

    /// Receives while this send and others wait for room in the ring of a peer. That one may be
    /// sending to us and wait for room, too: then neither would receive before it has posted all of
    /// its messages. What is received may end any operation.
    #[cold]
    fn receive_while_it_waits(&mut self, id: Id, transfer: &Transfer) {
        let Transfer::Send(.., mode) = transfer else { return };
        // Of a buffered send a copy waits, as an operation of its own.
        let is_copied = matches!(mode, Mode::Buffered(_));
        for _ in 0..RECEIVES_PER_WAITING_SEND {
            let waits = self.endpoint.has_waiting() && (is_copied || !self.is_complete(id));
            if !waits || !self.progress_within(MISSES_BESIDE_WORK) {
                break;
            }
        }
    }

    /// Copies a message into a buffer for buffered sends, and sends the copy.
    ///
    /// # Safety
    /// The data can be read now.
    unsafe fn send_buffered(&mut self, envelope: Envelope, data: Region, rooms: &Rooms) -> Outcome {
        // SAFETY: passed on.
        let mut copied = unsafe { rooms.copy(data) };
        if copied.is_none() {
            self.progress();
            // SAFETY: passed on.
            copied = unsafe { rooms.copy(data) };
        }
        let Some(copied) = copied else {
            return Err(TransferError::NoRoom { needed: data.bytes() });
        };
        let transfer = Transfer::Send(envelope, copied.region(), Mode::Standard);
        // SAFETY: the copy is kept until the send is complete or abandoned.
        let id = unsafe { self.start_transfer(&transfer, None) };
        self.detach(id, Box::new(copied));
        Ok(Received { source: self.endpoint.me(), tag: envelope.label.tag, bytes: data.bytes() })
    }

    /// Starts a send and a receive as one operation. `outgoing` keeps the sent data alive.
    ///
    /// # Safety
    /// As [`Engine::start_transfer`], for both.
    pub(crate) unsafe fn start_pair(
        &mut self,
        send: &Transfer,
        receive: &Transfer,
        outgoing: Option<BufferGuard>,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        let pair = Pair { missing: 2, outcome: Ok(NOTHING), _outgoing: outgoing };
        let id = self.insert(Work::Pair(Box::new(pair)), collected(staging), State::Active);
        self.active += 1;
        let mut done = mem::take(&mut self.done);
        for (step, transfer) in [(RECEIVE, receive), (SEND, send)] {
            let token = Token { operation: id.0, step };
            // SAFETY: passed on.
            let begun = unsafe { transfer.post(&mut self.endpoint, token, &mut done) };
            if let Begun::Done(outcome) = begun {
                done.push(Completion { token, outcome });
            }
        }
        self.settle(done);
        id
    }

    /// Receives a message that a matched probe has taken.
    ///
    /// # Safety
    /// As [`Engine::start_transfer`].
    pub(crate) unsafe fn start_taken(
        &mut self,
        taken: MatchedMessage,
        element: TypeCode,
        into: RegionMut,
        staging: Option<Box<PackedBuffers>>,
    ) -> Id {
        let id = self.insert(Work::Receive(Ticket::default()), staging, State::Active);
        self.active += 1;
        let mut done = mem::take(&mut self.done);
        let token = Token { operation: id.0, step: 0 };
        // SAFETY: passed on.
        unsafe { self.endpoint.mrecv(taken, element, into, token, &mut done) };
        self.settle(done);
        id
    }

    /// Cancels a receive that has not matched yet, or a send: if the receiver knows nothing of the
    /// message, it is withdrawn, else the send continues from a copy. Leaves other operations
    /// unchanged. Returns whether it has ended the operation.
    pub(crate) fn cancel(&mut self, id: Id) -> bool {
        let Some(operation) = self.operations.get_mut(id) else { return false };
        let ticket = match &operation.work {
            _ if operation.state != State::Active => return false,
            Work::Send => return self.cancel_send(id),
            Work::Stored(stored) if matches!(stored.transfer, Transfer::Send(..)) => {
                return self.cancel_send(id);
            }
            Work::Receive(ticket) => *ticket,
            Work::Stored(stored) => stored.ticket,
            _ => return false,
        };
        let cancelled = self.endpoint.cancel_receive(ticket, Token { operation: id.0, step: 0 });
        if cancelled {
            self.finish(id, Ok(CANCELLED));
        }
        cancelled
    }

    /// Cancels a receive that has not matched yet, if no scope waits for it.
    pub(crate) fn cancel_receive_unless_held(&mut self, id: Id) {
        if self.operations.get_mut(id).is_some_and(|operation| !operation.held) {
            self.cancel_receive(id);
        }
    }

    /// Cancels a receive that has not matched yet. Leaves other operations unchanged.
    pub(crate) fn cancel_receive(&mut self, id: Id) {
        let is_receive =
            self.operations.get_mut(id).is_some_and(|operation| match &operation.work {
                Work::Receive(_) => true,
                Work::Stored(stored) => matches!(stored.transfer, Transfer::Receive(..)),
                _ => false,
            });
        if is_receive {
            self.cancel(id);
        }
    }

    fn cancel_send(&mut self, id: Id) -> bool {
        let token = |id: Id| Token { operation: id.0, step: 0 };
        if self.endpoint.take_back_send(token(id)) {
            self.finish(id, Ok(CANCELLED));
            return true;
        }
        let stand_in = self.insert(Work::Send, None, State::Active);
        // SAFETY: the stand-in keeps the copy until it is complete or abandoned.
        let copied = unsafe { self.endpoint.copy_send(token(id), token(stand_in)) };
        let Some(Copied { data, sent }) = copied else {
            self.remove(stand_in);
            return false;
        };
        self.active += 1;
        self.detach(stand_in, Box::new(data));
        self.finish(id, Ok(sent));
        true
    }

    /// Adds an operation that ends when [`Engine::end_generalized`] is called.
    pub(crate) fn start_generalized(&mut self) -> Id {
        self.insert(Work::Generalized, None, State::Active)
    }

    /// Adds an operation that ends when a buffer of buffered sends is empty; without a buffer it
    /// ends at once.
    pub(crate) fn start_flush(&mut self, room: Option<Arc<Room>>) -> Id {
        let id = self.start_generalized();
        match room {
            Some(room) => {
                self.flushes.push((id, room));
                self.end_flushes();
            }
            None => self.finish(id, Ok(NOTHING)),
        }
        id
    }

    /// Ends the flushes of empty buffers. A buffer empties as its messages end, which happens in
    /// many places, so this runs whenever something may have moved. Returns whether any flush
    /// ended.
    pub(super) fn end_flushes(&mut self) -> bool {
        let (mut next, before) = (0, self.flushes.len());
        while let Some((id, room)) = self.flushes.get(next) {
            let id = *id;
            if room.is_empty() {
                self.flushes.swap_remove(next);
                self.end_generalized(id);
            } else {
                next += 1;
            }
        }
        self.flushes.len() < before
    }

    /// Ends a generalized operation. `false` if it has ended before or is gone.
    pub(crate) fn end_generalized(&mut self, id: Id) -> bool {
        let is_pending = !self.is_complete(id);
        if is_pending {
            self.finish(id, Ok(NOTHING));
        }
        is_pending
    }

    /// Whether an operation is a collective.
    pub(crate) fn is_collective(&mut self, id: Id) -> bool {
        let operation = self.operations.get_mut(id);
        operation.is_some_and(|operation| matches!(operation.work, Work::Run(_)))
    }

    /// Whether an operation is known to receive nothing.
    pub(crate) fn receives_nothing(&mut self, id: Id) -> bool {
        self.operations.get_mut(id).is_some_and(|operation| match &operation.work {
            Work::Send | Work::Generalized => true,
            Work::Stored(stored) => matches!(stored.transfer, Transfer::Send(..)),
            _ => false,
        })
    }

    /// Ends the pending receives, because the rank leaves.
    pub(crate) fn end_receives(&mut self) {
        let receives = self.operations.iter().filter(|(_, operation)| {
            let waits = match &operation.work {
                Work::Receive(_) => true,
                Work::Stored(stored) => matches!(stored.transfer, Transfer::Receive(..)),
                Work::Pair(pair) => pair.missing == 1,
                _ => false,
            };
            waits && operation.state == State::Active
        });
        let receives: HashSet<u64> = receives.map(|(id, _)| id.0).collect();
        self.endpoint.cancel(|token| receives.contains(&token.operation));
        let left = self.has_left_itself();
        receives.into_iter().for_each(|id| self.finish(Id(id), Err(left)));
    }
}
