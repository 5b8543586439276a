//! Point-to-point messages: blocking sends, receives and probes. (MPI 4.1 §3)
//!
//! Every call accepts [`PROC_NULL`] as a rank: a message to it is discarded, and a receive from it
//! completes at once without data. Ready sends are the same as standard sends: a receive posted in
//! advance makes them no faster here, and a missing one is no error.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod buffered;
mod matched;
mod nonblocking;
mod persistent;

use motet_fabric::slab::Id;
use motet_fabric::{
    Endpoint, Label, Peer, Received, Region, RegionMut, Selector, TransferError, TypeCode,
};

use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::status::{PROC_NULL, Source, Status, TAG_UB, Tag, TagFilter};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::data::buffer::{RawSlice, StreamOf};
pub(crate) use crate::engine::Mode;
use crate::engine::context::ContextKind;
use crate::engine::{Engine, Envelope, NOBODY, PackDirection, PackedBuffers, Rooms, Transfer};
use crate::types::element::{assert_valid, code_for};
pub use matched::Message;
pub(crate) use matched::Placed;

impl Communicator {
    /// Sends a message in standard mode. A small message has been handed to the transport when this
    /// returns; a large one has been received. (`MPI_Send`)
    ///
    /// # Errors
    /// The destination is not in the communicator, or has died or left; or the tag is above
    /// [`TAG_UB`].
    pub fn send<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.send_with("send", data, (to, tag), Mode::Standard)
    }

    /// Sends a message in synchronous mode: waits until a receive has matched it. (`MPI_Ssend`)
    ///
    /// # Errors
    /// As [`send`](Communicator::send).
    pub fn ssend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.send_with("ssend", data, (to, tag), Mode::Synchronous)
    }

    /// Sends a message in buffered mode: copies it into the [attached](Communicator::attach_buffer)
    /// buffer, from which the library sends it. Does not wait. (`MPI_Bsend`)
    ///
    /// # Errors
    /// As [`send`](Communicator::send); or the attached buffer has no room, or there is none.
    pub fn bsend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.send_with("bsend", data, (to, tag), Mode::Buffered(self.rooms()))
    }

    /// Sends a message in ready mode: its receive is already posted. Does the same as
    /// [`send`](Communicator::send). (`MPI_Rsend`)
    ///
    /// # Errors
    /// As [`send`](Communicator::send).
    pub fn rsend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        self.send_with("rsend", data, (to, tag), Mode::Standard)
    }

    /// Sends one message and receives another, in any order of completion: two ranks, or a ring of
    /// ranks, can exchange messages in this way without deadlock. (`MPI_Sendrecv`)
    ///
    /// # Errors
    /// As [`send`](Communicator::send) and [`recv`](Communicator::recv).
    pub fn sendrecv<S: Element, R: Element>(
        &self,
        (data, to, send_tag): (&[S], usize, Tag),
        (buffer, from, receive_tag): (&mut [R], impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Status> {
        const CALL: &str = "sendrecv";
        // One operation: a receive that began by itself would wait for ever if the send is refused.
        let envelope = self.envelope(CALL, to, send_tag, code_for::<S>())?;
        let selector = self.selector(CALL, from.into(), receive_tag.into())?;
        let span = RawSlice { start: data.as_ptr().cast_mut().cast(), len: data.len() };
        // SAFETY: borrowed for longer than this waits.
        let (span, staging) = unsafe { outgoing::<S>(span, None) };
        let send = Transfer::send::<S>(envelope, span, Mode::Standard);
        let room = RawSlice { start: buffer.as_mut_ptr().cast(), len: buffer.len() };
        let receive = Transfer::receive::<R>(selector, room);
        // SAFETY: both buffers are borrowed for longer than this waits.
        let received = unsafe { self.finish_pair(CALL, (&send, staging), &receive) };
        // SAFETY: the elements of the buffer, whose operation is over.
        unsafe { assert_valid::<R>(buffer.as_ptr().cast(), buffer.len()) };
        Ok(self.status(received?))
    }

    /// Sends the contents of a buffer, and receives a message into the same buffer.
    /// (`MPI_Sendrecv_replace`)
    ///
    /// # Errors
    /// As [`sendrecv`](Communicator::sendrecv). The buffer is unchanged then.
    pub fn sendrecv_replace<T: Element>(
        &self,
        buffer: &mut [T],
        (to, send_tag): (usize, Tag),
        (from, receive_tag): (impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Status> {
        let outgoing = buffer.to_vec();
        self.sendrecv((&outgoing, to, send_tag), (buffer, from, receive_tag))
    }

    /// Receives a message into a buffer that is long enough, and returns its status. (`MPI_Recv`)
    ///
    /// # Errors
    /// The source is not in the communicator, or has died or left; or the message is longer than
    /// the buffer or has another type.
    pub fn recv<T: Element>(
        &self,
        buffer: &mut [T],
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Status> {
        let selector = self.selector("recv", from.into(), tag.into())?;
        let span = RawSlice { start: buffer.as_mut_ptr().cast(), len: buffer.len() };
        let transfer = Transfer::receive::<T>(selector, span);
        // SAFETY: borrowed for longer than this waits.
        let received = unsafe { self.finish("recv", &transfer, None) };
        // SAFETY: the elements of the buffer, whose operation is over.
        unsafe { assert_valid::<T>(buffer.as_ptr().cast(), buffer.len()) };
        Ok(self.status(received?))
    }

    /// Waits until a matching message has arrived, and returns its status without receiving it.
    /// (`MPI_Probe`)
    ///
    /// # Errors
    /// The source is not in the communicator, or has died or left; or the tag is above [`TAG_UB`].
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Status> {
        let found = self.wait_for_message("probe", from.into(), tag.into(), peek)?;
        Ok(self.status(found.unwrap_or(NOBODY)))
    }

    /// Returns the status of a matching message if one has arrived, without receiving it. Never
    /// waits. (`MPI_Iprobe`)
    ///
    /// # Errors
    /// The source is not in the communicator, or has left; a rank has died; or the tag is above
    /// [`TAG_UB`].
    pub fn iprobe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Option<Status>> {
        let found = self.probe_message("iprobe", from.into(), tag.into(), peek)?;
        Ok(found.map(|found| self.status(found.unwrap_or(NOBODY))))
    }

    /// Waits until `find` finds a message. `None` if the source is [`PROC_NULL`].
    fn wait_for_message<T>(
        &self,
        call: &'static str,
        from: Source,
        tag: TagFilter,
        find: impl Fn(&mut Endpoint, Selector) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(selector) = self.selector(call, from, tag)? else { return Ok(None) };
        drop(self.home().engine(call)?);
        let ready = |engine: &mut Engine| match_message(engine, selector, &find).transpose();
        let found = self.core().wait_until(ready);
        let found = found.unwrap_or_else(|failure| Err(TransferError::Failed(failure)));
        found.map(Some).map_err(|error| self.home().error_of_transfer(call, error))
    }

    /// Does the same as [`Communicator::wait_for_message`] without waiting: the outer `None` means
    /// that no message has arrived. A search from any source is no error even if all other ranks
    /// have left: this rank may send itself a message later. A search from one rank that has left
    /// is an error, since no message can arrive.
    fn probe_message<T>(
        &self,
        call: &'static str,
        from: Source,
        tag: TagFilter,
        find: impl Fn(&mut Endpoint, Selector) -> Option<T>,
    ) -> Result<Option<Option<T>>> {
        let Some(selector) = self.selector(call, from, tag)? else { return Ok(Some(None)) };
        let mut engine = self.home().engine(call)?;
        engine.progress();
        let found = match selector.source {
            Some(_) => match_message(&mut engine, selector, &find),
            None => Ok(find(engine.endpoint(), selector)),
        };
        let found = found.and_then(|found| match engine.failure() {
            Some(failure) if found.is_none() => Err(TransferError::Failed(failure)),
            _ => Ok(found),
        });
        drop(engine); // an error handler may want it
        if let Ok(None) = found {
            self.core().has_polled_in_vain();
        }
        let found = found.map_err(|error| self.home().error_of_transfer(call, error))?;
        Ok(found.map(Some))
    }

    fn send_with<T: Element>(
        &self,
        call: &'static str,
        data: &[T],
        (to, tag): (usize, Tag),
        mode: Mode,
    ) -> Result<()> {
        let envelope = self.envelope(call, to, tag, code_for::<T>())?;
        let span = RawSlice { start: data.as_ptr().cast_mut().cast(), len: data.len() };
        // SAFETY: borrowed for longer than this waits.
        let (span, staging) = unsafe { outgoing::<T>(span, None) };
        // SAFETY: as above.
        unsafe { self.finish(call, &Transfer::send::<T>(envelope, span, mode), staging) }.map(drop)
    }

    /// Starts a transfer and waits until it is complete.
    ///
    /// # Safety
    /// The caller borrows the memory of the transfer.
    pub(crate) unsafe fn finish(
        &self,
        call: &'static str,
        transfer: &Transfer,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<Received> {
        if staging.is_none() {
            let core = self.core();
            // SAFETY: passed on.
            let at_once =
                unsafe { self.home().engine(call)?.transfer_at_once(transfer, core.max_polls()) };
            if let Some(outcome) = at_once {
                return outcome.map_err(|error| self.home().error_of_transfer(call, error));
            }
        }
        // SAFETY: passed on.
        unsafe { self.finish_thoroughly(call, transfer, staging) }
    }

    /// Sends and receives, and waits until both are complete.
    ///
    /// # Safety
    /// As [`Communicator::finish`], for both.
    unsafe fn finish_pair(
        &self,
        call: &'static str,
        (send, staging): (&Transfer, Option<Box<PackedBuffers>>),
        receive: &Transfer,
    ) -> Result<Received> {
        // SAFETY: passed on.
        if staging.is_none() && unsafe { self.home().engine(call)?.send_at_once(send) } {
            // SAFETY: passed on.
            return unsafe { self.finish(call, receive, None) };
        }
        // SAFETY: passed on: this waits until the operation is over, and a wait that unwinds has
        // taken it back.
        let begin =
            |engine: &mut Engine| unsafe { engine.start_pair(send, receive, None, staging) };
        let id = self.with_room(call, begin)?;
        let outcome = self.core().wait(id, false);
        outcome.map_err(|error| self.home().error_of_transfer(call, error))
    }

    /// Does the same as [`Communicator::finish`] for a transfer that does not complete at once.
    ///
    /// # Safety
    /// As [`Communicator::finish`].
    pub(crate) unsafe fn finish_thoroughly(
        &self,
        call: &'static str,
        transfer: &Transfer,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<Received> {
        // SAFETY: passed on: this waits until the operation is over.
        let id = unsafe { self.begin_transfer(call, transfer, staging) }?;
        let outcome = self.core().wait(id, false);
        outcome.map_err(|error| self.home().error_of_transfer(call, error))
    }

    /// Starts a transfer, if the limit on pending operations allows another one. A short send may
    /// complete at once.
    ///
    /// # Safety
    /// The memory of the transfer stays valid until the operation is complete or abandoned.
    pub(crate) unsafe fn start_transfer(
        &self,
        call: &'static str,
        transfer: &Transfer,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<OpHandle> {
        // First: the reference count of an origin waits for messages to leave the core.
        let origin = self.origin(call);
        // SAFETY: passed on.
        if staging.is_none() && unsafe { self.home().engine(call)?.send_at_once(transfer) } {
            return Ok(OpHandle::over(origin));
        }
        // SAFETY: passed on.
        let id = unsafe { self.begin_transfer(call, transfer, staging) }?;
        Ok(OpHandle::new(origin, id, false))
    }

    /// Starts a transfer as an operation, if the limit on pending operations allows another one.
    ///
    /// # Safety
    /// The memory of the transfer stays valid until the operation is complete or abandoned.
    pub(crate) unsafe fn begin_transfer(
        &self,
        call: &'static str,
        transfer: &Transfer,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<Id> {
        // SAFETY: passed on.
        self.with_room(call, |engine| unsafe { engine.begin_transfer(transfer, staging) })
    }

    /// See [`CommContext::with_room`](crate::comm::op_handle::CommContext::with_room).
    pub(crate) fn with_room<T>(
        &self,
        call: &'static str,
        begin: impl FnOnce(&mut Engine) -> T,
    ) -> Result<T> {
        self.home().with_room(call, begin)
    }

    fn status(&self, received: Received) -> Status {
        self.home().status(received)
    }

    /// Returns the buffers that buffered sends use.
    pub(crate) fn rooms(&self) -> Rooms {
        let (of_communicator, of_rank) = (self.slot().clone(), self.core().slot().clone());
        Rooms { of_communicator, of_rank }
    }

    /// Makes the envelope of a message to send. `None` if the destination is [`PROC_NULL`].
    pub(crate) fn envelope(
        &self,
        call: &'static str,
        to: usize,
        tag: Tag,
        element: TypeCode,
    ) -> Result<Option<Envelope>> {
        let tag = self.checked_tag(call, tag)?;
        let Some(to) = self.peer_of(call, "destination", to)? else { return Ok(None) };
        let label = Label { context: self.context(ContextKind::PointToPoint), tag, ordinal: 0 };
        Ok(Some(Envelope { to, label, element }))
    }

    fn checked_tag(&self, call: &'static str, Tag(tag): Tag) -> Result<u64> {
        if tag > TAG_UB {
            return Err(self.error(
                call,
                ErrorKind::Tag { what: "tag", tag: tag.into(), most: TAG_UB.into() },
            ));
        }
        Ok(u64::from(tag))
    }

    /// Converts a rank of the communicator to a rank of the world. `None` for [`PROC_NULL`].
    pub(crate) fn peer_of(
        &self,
        call: &'static str,
        what: &'static str,
        rank: usize,
    ) -> Result<Option<Peer>> {
        let size = self.size();
        match rank {
            PROC_NULL => Ok(None),
            rank if rank >= size => Err(self.error(call, ErrorKind::Rank { what, rank, size })),
            rank => Ok(Some(self.group().peer(rank))),
        }
    }

    /// Makes the selector of a receive: the messages that match it. `None` if the source is
    /// [`PROC_NULL`].
    pub(crate) fn selector(
        &self,
        call: &'static str,
        from: Source,
        tag: TagFilter,
    ) -> Result<Option<Selector>> {
        let tag = match tag {
            TagFilter::Tag(tag) => Some(self.checked_tag(call, tag)?),
            TagFilter::Any => None,
        };
        let source = match from {
            Source::Any => None,
            Source::Rank(rank) => match self.peer_of(call, "source", rank)? {
                None => return Ok(None),
                source => source,
            },
        };
        let context = self.context(ContextKind::PointToPoint);
        Ok(Some(Selector { context, source, tag, ordinal: 0 }))
    }
}

impl Transfer {
    /// Makes the transfer that sends the elements of a span; without an envelope it sends nothing.
    pub(crate) fn send<T: Element>(
        envelope: Option<Envelope>,
        span: RawSlice,
        mode: Mode,
    ) -> Transfer {
        let data = Region::new(span.start, span.len * size_of::<T>());
        envelope.map_or(Transfer::Nothing, |envelope| Transfer::Send(envelope, data, mode))
    }

    /// Makes the transfer that receives into a span; without a selector it receives nothing.
    fn receive<T: Element>(selector: Option<Selector>, span: RawSlice) -> Transfer {
        let bytes = RawSlice { len: span.len * size_of::<T>(), ..span };
        Transfer::receive_as(selector, bytes, code_for::<T>())
    }

    /// Makes the transfer that receives into a span of bytes, which are elements of the given type.
    pub(crate) fn receive_as(
        selector: Option<Selector>,
        span: RawSlice,
        element: TypeCode,
    ) -> Transfer {
        let into = RegionMut::new(span.start, span.len);
        selector.map_or(Transfer::Nothing, |selector| Transfer::Receive(selector, element, into))
    }
}

/// Returns the streams of items to pack for a send and to unpack for a receive. The receive buffer
/// is not read before.
///
/// # Safety
/// The operation that gets the staging holds the buffers.
unsafe fn staging_of([sent, received]: [Option<StreamOf>; 2]) -> Option<Box<PackedBuffers>> {
    if sent.is_none() && received.is_none() {
        return None;
    }
    let mut staging = PackedBuffers::new();
    for (items, direction) in [(sent, PackDirection::In), (received, PackDirection::Out)] {
        if let Some(items) = items {
            // SAFETY: passed on.
            unsafe { staging.add(items.staged(direction)) };
        }
    }
    staging.boxed()
}

/// Returns the memory to send and the packed copy it lies in, if any: elements of a type with
/// padding are copied without it.
///
/// # Safety
/// The operation that gets the staging holds the elements.
unsafe fn outgoing<T: Element>(
    span: RawSlice,
    staging: Option<Box<PackedBuffers>>,
) -> (RawSlice, Option<Box<PackedBuffers>>) {
    if !T::HAS_PADDING || span.len == 0 {
        return (span, staging);
    }
    let mut staging = staging.unwrap_or_else(|| Box::new(PackedBuffers::new()));
    // SAFETY: passed on.
    let span = unsafe { staging.cover::<T>(span) };
    (span, Some(staging))
}

/// Finds a message without removing it from the queue.
fn peek(endpoint: &mut Endpoint, selector: Selector) -> Option<Received> {
    endpoint.probe(selector)
}

/// Applies `find` to the message that a receive would match, if it has arrived. Fails if no
/// matching message can arrive any more.
fn match_message<T>(
    engine: &mut Engine,
    selector: Selector,
    find: impl Fn(&mut Endpoint, Selector) -> Option<T>,
) -> Result<Option<T>, TransferError> {
    let endpoint = engine.endpoint();
    // In this order: what a rank sent just before it left must be seen.
    let left = gone(endpoint, selector.source);
    match (find(endpoint, selector), left) {
        (None, Some(peer)) => Err(TransferError::Left(peer)),
        (None, None) if engine.has_left() => Err(engine.has_left_itself()),
        (found, _) => Ok(found),
    }
}

/// Returns one of the ranks that have left, if all possible sources have left.
fn gone(endpoint: &Endpoint, source: Option<Peer>) -> Option<Peer> {
    match source {
        Some(peer) => endpoint.has_left(peer).then_some(peer),
        None => {
            let ranks = endpoint.segment().ranks() as u32;
            let mut others = (0..ranks).map(Peer).filter(|&peer| peer != endpoint.me());
            others.clone().all(|peer| endpoint.has_left(peer)).then(|| others.next_back()).flatten()
        }
    }
}
