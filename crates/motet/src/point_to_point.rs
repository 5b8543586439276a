//! Messages from one rank to another. (MPI 4.1 §3)

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use motet_fabric::slab::Id;
use motet_fabric::{
    Endpoint, Label, Peer, Posted, Received, Region, RegionMut, Selector, Token, TransferError,
};

use crate::Element;
use crate::buffer::{RecvBuffer, SendBuffer, Span};
use crate::collective::staging_of;
use crate::communicator::{Communicator, Traffic};
use crate::engine::{Engine, Staging, Work};
use crate::error::{ErrorKind, Result};
use crate::flight::Flight;
use crate::request::Request;
use crate::status::{Source, Status, Tag, TagFilter};

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// When its buffer is free again.
    Standard,
    /// When a receive has taken the message.
    Synchronous,
}

impl Communicator {
    /// Sends a message. Small ones are on their way when this returns; a large one has been
    /// received. (`MPI_Send`)
    ///
    /// # Errors
    /// A destination that is not in the communicator, has died or left.
    pub fn send<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        let span = Span { start: data.as_ptr().cast_mut().cast(), len: data.len() };
        let id = self.post_send::<T>("send", (span, None), (to, tag), Mode::Standard)?;
        self.finish("send", id).map(drop)
    }

    /// Sends a message, and waits until a receive has taken it. (`MPI_Ssend`)
    ///
    /// # Errors
    /// As [`send`](Communicator::send).
    pub fn ssend<T: Element>(&self, data: &[T], to: usize, tag: Tag) -> Result<()> {
        let span = Span { start: data.as_ptr().cast_mut().cast(), len: data.len() };
        let id = self.post_send::<T>("ssend", (span, None), (to, tag), Mode::Synchronous)?;
        self.finish("ssend", id).map(drop)
    }

    /// Sends one message and receives another, whichever comes first: two ranks, or a ring of
    /// them, may do so with each other. (`MPI_Sendrecv`)
    ///
    /// # Errors
    /// As [`send`](Communicator::send) and [`recv`](Communicator::recv).
    pub fn sendrecv<S: Element, R: Element>(
        &self,
        (data, to, send_tag): (&[S], usize, Tag),
        (buffer, from, receive_tag): (&mut [R], impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Status> {
        let (from, receive_tag) = (from.into(), receive_tag.into());
        self.scope(|scope| {
            let pending = scope.irecv(buffer, from, receive_tag)?;
            scope.isend(data, to, send_tag)?.wait()?;
            pending.wait_with_status().map(|(_, status)| status)
        })
    }

    /// Sends what is in a buffer, and receives into the same. (`MPI_Sendrecv_replace`)
    ///
    /// # Errors
    /// As [`sendrecv`](Communicator::sendrecv). The buffer is as it was then.
    pub fn sendrecv_replace<T: Element>(
        &self,
        buffer: &mut [T],
        (to, send_tag): (usize, Tag),
        (from, receive_tag): (impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Status> {
        let outgoing = buffer.to_vec();
        self.sendrecv((&outgoing, to, send_tag), (buffer, from, receive_tag))
    }

    /// Receives a message into a buffer that is long enough. (`MPI_Recv`)
    ///
    /// # Errors
    /// A source that is not in the communicator, has died or left; a message that is too long or
    /// of another type.
    pub fn recv<T: Element>(
        &self,
        buffer: &mut [T],
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Status> {
        let span = Span { start: buffer.as_mut_ptr().cast(), len: buffer.len() };
        let id = self.post_recv::<T>("recv", (span, None), from.into(), tag.into())?;
        let received = self.finish("recv", id)?;
        Ok(self.status(received))
    }

    /// Nonblocking [`send`](Communicator::send). (`MPI_Isend`)
    ///
    /// # Errors
    /// A destination that is not in the communicator.
    pub fn isend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.isend_with("isend", buffer, (to, tag), Mode::Standard) }
    }

    /// Nonblocking [`ssend`](Communicator::ssend). (`MPI_Issend`)
    ///
    /// # Errors
    /// A destination that is not in the communicator.
    pub fn issend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.isend_with("issend", buffer, (to, tag), Mode::Synchronous) }
    }

    /// Nonblocking [`recv`](Communicator::recv). (`MPI_Irecv`)
    ///
    /// # Errors
    /// A source that is not in the communicator.
    pub fn irecv<B>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Request<B>>
    where
        B: RecvBuffer + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.irecv_with(buffer, from.into(), tag.into()) }
    }

    /// Waits until a message is there, without receiving it. (`MPI_Probe`)
    ///
    /// # Errors
    /// A source that is not in the communicator, has died or left.
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Status> {
        let selector = self.selector("probe", from.into(), tag.into())?;
        let found = self.core().wait_until(|engine| look_for(engine, selector).transpose());
        let found = found.unwrap_or_else(|failure| Err(TransferError::Failed(failure)));
        Ok(self.status(found.map_err(|error| self.error("probe", error.into()))?))
    }

    /// Whether a message is there; does not receive it. (`MPI_Iprobe`)
    ///
    /// # Errors
    /// A source that is not in the communicator, has died or left.
    pub fn iprobe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Option<Status>> {
        let selector = self.selector("iprobe", from.into(), tag.into())?;
        let mut engine = self.core().engine();
        engine.progress();
        let found = look_for(&mut engine, selector).and_then(|found| match engine.failure() {
            Some(failure) if found.is_none() => Err(TransferError::Failed(failure)),
            _ => Ok(found),
        });
        drop(engine); // an error handler may want it
        let found = found.map_err(|error| self.error("iprobe", error.into()))?;
        Ok(found.map(|found| self.status(found)))
    }

    /// # Safety
    /// As [`Request::new`].
    pub(crate) unsafe fn isend_with<B: SendBuffer>(
        &self,
        call: &'static str,
        buffer: B,
        to: (usize, Tag),
        mode: Mode,
    ) -> Result<Request<B>> {
        self.peer_of(call, "destination", to.0)?;
        let parts = buffer.take_apart();
        // SAFETY: the buffer is held by the operation that is about to begin.
        let staging = unsafe { staging_of([B::items(&parts), None]) };
        let id = self.post_send::<B::Element>(call, (B::span(&parts), staging), to, mode)?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(Flight::new(self.origin(call), id, false), parts) })
    }

    /// # Safety
    /// As [`Request::new`].
    pub(crate) unsafe fn irecv_with<B: RecvBuffer>(
        &self,
        buffer: B,
        from: Source,
        tag: TagFilter,
    ) -> Result<Request<B>> {
        self.selector("irecv", from, tag)?;
        let parts = buffer.take_apart();
        // SAFETY: as for a send.
        let staging = unsafe { staging_of([None, B::items(&parts)]) };
        let id = self.post_recv::<B::Element>("irecv", (B::span(&parts), staging), from, tag)?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(Flight::new(self.origin("irecv"), id, false), parts) })
    }

    fn post_send<T: Element>(
        &self,
        call: &'static str,
        (data, staging): (Span, Option<Box<Staging>>),
        (to, tag): (usize, Tag),
        mode: Mode,
    ) -> Result<Id> {
        let peer = self.peer_of(call, "destination", to)?;
        let context = self.context(Traffic::PointToPoint);
        let label = Label { context, tag: u64::from(tag.0), ordinal: 0 };
        let data = Region::new(data.start, data.len * size_of::<T>());
        Ok(self.core().engine().start_transfer(Work::Send, staging, |endpoint, operation, _| {
            let token = Token { operation, step: 0 };
            let send = match mode {
                Mode::Standard => Endpoint::send,
                Mode::Synchronous => Endpoint::send_synchronously,
            };
            // SAFETY: the buffer is held (or borrowed by a caller that waits) until the operation
            // is complete or abandoned.
            let posted = unsafe { send(endpoint, peer, label, T::CODE, data, token) };
            let sent = Received { source: endpoint.me(), tag: label.tag, bytes: data.bytes() };
            (posted == Posted::Done).then_some(sent)
        }))
    }

    fn post_recv<T: Element>(
        &self,
        call: &'static str,
        (buffer, staging): (Span, Option<Box<Staging>>),
        from: Source,
        tag: TagFilter,
    ) -> Result<Id> {
        let selector = self.selector(call, from, tag)?;
        let into = RegionMut::new(buffer.start, buffer.len * size_of::<T>());
        Ok(self.core().engine().start_transfer(
            Work::Receive,
            staging,
            |endpoint, operation, done| {
                let token = Token { operation, step: 0 };
                // SAFETY: as for a send.
                unsafe { endpoint.recv(selector, T::CODE, into, token, done) };
                None
            },
        ))
    }

    /// Waits for a transfer whose buffer is borrowed by the caller.
    fn finish(&self, call: &'static str, id: Id) -> Result<Received> {
        let outcome = self.core().wait(id, false);
        outcome.map_err(|error| self.error(call, error.into()))
    }

    fn status(&self, received: Received) -> Status {
        let source = self.group().rank_of_peer(received.source);
        Status {
            source: source.expect("messages of a communicator come from its members"),
            tag: Tag(received.tag as u32),
            bytes: received.bytes,
        }
    }

    fn peer_of(&self, call: &'static str, what: &'static str, rank: usize) -> Result<Peer> {
        let size = self.size();
        if rank >= size {
            return Err(self.error(call, ErrorKind::Rank { what, rank, size }));
        }
        Ok(self.group().peer(rank))
    }

    fn selector(&self, call: &'static str, from: Source, tag: TagFilter) -> Result<Selector> {
        let source = match from {
            Source::Rank(rank) => Some(self.peer_of(call, "source", rank)?),
            Source::Any => None,
        };
        let tag = match tag {
            TagFilter::Tag(Tag(tag)) => Some(u64::from(tag)),
            TagFilter::Any => None,
        };
        let context = self.context(Traffic::PointToPoint);
        Ok(Selector { context, source, tag, ordinal: 0 })
    }
}

/// The message that such a receive would get, if it is there; an error if none will ever come.
fn look_for(engine: &mut Engine, selector: Selector) -> Result<Option<Received>, TransferError> {
    let endpoint = engine.endpoint();
    // In this order: what a rank sent just before it left must be seen.
    let left = gone(endpoint, selector.source);
    match (endpoint.probe(selector), left) {
        (None, Some(peer)) => Err(TransferError::Left(peer)),
        (found, _) => Ok(found),
    }
}

/// One of those who have left, if all from whom something might come have.
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
