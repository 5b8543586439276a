//! Nonblocking sends and receives.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::Region;

use super::{Mode, outgoing, staging_of};
use crate::base::error::Result;
use crate::base::status::{Source, Tag, TagFilter};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::comm::request::Request;
use crate::data::buffer::{GiveBack, RecvBuffer, SendBuffer, elements};
use crate::engine::{BufferGuard, Engine, Envelope, Transfer};
use crate::types::element::{Element, clear_padding, code_for};

impl Communicator {
    /// Nonblocking [`send`](Communicator::send). (`MPI_Isend`)
    ///
    /// # Errors
    /// The destination is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn isend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.isend_with("isend", buffer, (to, tag), Mode::Standard) }
    }

    /// Nonblocking [`ssend`](Communicator::ssend). (`MPI_Issend`)
    ///
    /// # Errors
    /// As [`isend`](Communicator::isend).
    pub fn issend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.isend_with("issend", buffer, (to, tag), Mode::Synchronous) }
    }

    /// Nonblocking [`bsend`](Communicator::bsend). (`MPI_Ibsend`)
    ///
    /// # Errors
    /// As [`isend`](Communicator::isend). If the buffer has no room, the wait returns the error.
    pub fn ibsend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.isend_with("ibsend", buffer, (to, tag), Mode::Buffered(self.rooms())) }
    }

    /// Nonblocking [`rsend`](Communicator::rsend). (`MPI_Irsend`)
    ///
    /// # Errors
    /// As [`isend`](Communicator::isend).
    pub fn irsend<B>(&self, buffer: B, to: usize, tag: Tag) -> Result<Request<B>>
    where
        B: SendBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.isend_with("irsend", buffer, (to, tag), Mode::Standard) }
    }

    /// Nonblocking [`recv`](Communicator::recv). (`MPI_Irecv`)
    ///
    /// # Errors
    /// The source is not in the communicator; or the tag is above [`TAG_UB`](crate::TAG_UB).
    pub fn irecv<B>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Request<B>>
    where
        B: RecvBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.irecv_with(buffer, from.into(), tag.into()) }
    }

    /// Nonblocking [`sendrecv`](Communicator::sendrecv): one request for the send and the receive.
    /// Its status is that of the receive. (`MPI_Isendrecv`)
    ///
    /// # Errors
    /// As [`isend`](Communicator::isend) and [`irecv`](Communicator::irecv).
    pub fn isendrecv<S, R>(
        &self,
        (data, to, send_tag): (S, usize, Tag),
        (buffer, from, receive_tag): (R, impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Request<(S, R)>>
    where
        S: SendBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
        R: RecvBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        let incoming = (buffer, from.into(), receive_tag.into());
        // SAFETY: nothing is borrowed.
        unsafe { self.isendrecv_with((data, to, send_tag), incoming) }
    }

    /// Nonblocking [`sendrecv_replace`](Communicator::sendrecv_replace). (`MPI_Isendrecv_replace`)
    ///
    /// # Errors
    /// As [`isendrecv`](Communicator::isendrecv).
    pub fn isendrecv_replace<B>(
        &self,
        buffer: B,
        (to, send_tag): (usize, Tag),
        (from, receive_tag): (impl Into<Source>, impl Into<TagFilter>),
    ) -> Result<Request<B>>
    where
        B: RecvBuffer + 'static, // borrowed buffers: `world.scope(|scope| ..)`
    {
        const CALL: &str = "isendrecv_replace";
        let envelope = self.envelope(CALL, to, send_tag, code_for::<B::Element>())?;
        let selector = self.selector(CALL, from.into(), receive_tag.into())?;
        let parts = GiveBack::<B>::new(buffer);
        let span = B::span(parts.get());
        // SAFETY: our own parts; no operation uses them yet.
        if let Some(mut staging) = unsafe { staging_of([B::items(parts.get()), None]) } {
            staging.collect();
        }
        // SAFETY: held by the request until the operation is over.
        let staging = unsafe { staging_of([None, B::items(parts.get())]) };
        // SAFETY: our own parts; no operation uses them yet.
        let data = unsafe { elements::<B::Element, _>(parts.get(), span) };
        let (outgoing, send) = copy_of(data, envelope);
        let receive = Transfer::receive::<B::Element>(selector, span);
        // SAFETY: held by the request or the operation until that is over.
        let begin = |engine: &mut Engine| unsafe {
            engine.start_pair(&send, &receive, Some(outgoing), staging)
        };
        let id = self.with_room(CALL, begin)?;
        // SAFETY: nothing is borrowed.
        Ok(unsafe { Request::new(OpHandle::new(self.origin(CALL), id, false), parts.keep()) })
    }

    /// # Safety
    /// As [`Request::new`].
    pub(crate) unsafe fn isendrecv_with<S: SendBuffer, R: RecvBuffer>(
        &self,
        (data, to, send_tag): (S, usize, Tag),
        (buffer, from, receive_tag): (R, Source, TagFilter),
    ) -> Result<Request<(S, R)>> {
        const CALL: &str = "isendrecv";
        let envelope = self.envelope(CALL, to, send_tag, code_for::<S::Element>())?;
        let selector = self.selector(CALL, from, receive_tag)?;
        let both = GiveBack::<(S, R)>::new((data, buffer));
        let (sent, received) = both.get();
        let receive = Transfer::receive::<R::Element>(selector, R::span(received));
        // SAFETY: held by the request until the operation is over, or borrowed by somebody who
        // waits for that.
        let staging = unsafe { staging_of([S::items(sent), R::items(received)]) };
        // SAFETY: as above.
        let (span, staging) = unsafe { outgoing::<S::Element>(S::span(sent), staging) };
        let send = Transfer::send::<S::Element>(envelope, span, Mode::Standard);
        // SAFETY: as above.
        let begin =
            |engine: &mut Engine| unsafe { engine.start_pair(&send, &receive, None, staging) };
        let id = self.with_room(CALL, begin)?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(OpHandle::new(self.origin(CALL), id, false), both.keep()) })
    }

    /// # Safety
    /// As [`Request::new`].
    pub(crate) unsafe fn isend_with<B: SendBuffer>(
        &self,
        call: &'static str,
        buffer: B,
        (to, tag): (usize, Tag),
        mode: Mode,
    ) -> Result<Request<B>> {
        let envelope = self.envelope(call, to, tag, code_for::<B::Element>())?;
        let parts = GiveBack::<B>::new(buffer);
        // SAFETY: held by the request until the operation is over, or borrowed by somebody who
        // waits for that.
        let staging = unsafe { staging_of([B::items(parts.get()), None]) };
        // SAFETY: as above.
        let (span, staging) = unsafe { outgoing::<B::Element>(B::span(parts.get()), staging) };
        let transfer = Transfer::send::<B::Element>(envelope, span, mode);
        // SAFETY: as above.
        let handle = unsafe { self.start_transfer(call, &transfer, staging) }?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(handle, parts.keep()) })
    }

    /// # Safety
    /// As [`Request::new`].
    pub(crate) unsafe fn irecv_with<B: RecvBuffer>(
        &self,
        buffer: B,
        from: Source,
        tag: TagFilter,
    ) -> Result<Request<B>> {
        let selector = self.selector("irecv", from, tag)?;
        let parts = GiveBack::<B>::new(buffer);
        let transfer = Transfer::receive::<B::Element>(selector, B::span(parts.get()));
        // SAFETY: as for a send.
        let staging = unsafe { staging_of([None, B::items(parts.get())]) };
        // SAFETY: as for a send.
        let handle = unsafe { self.start_transfer("irecv", &transfer, staging) }?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(handle, parts.keep()) })
    }
}

/// Copies the data to send, and returns the copy and the transfer that sends it.
fn copy_of<T: Element>(data: &[T], envelope: Option<Envelope>) -> (BufferGuard, Transfer) {
    let mut copy: Box<Vec<T>> = Box::new(data.to_vec());
    clear_padding(&mut copy);
    let region = Region::new(copy.as_ptr().cast(), size_of_val(data));
    let send = envelope
        .map_or(Transfer::Nothing, |envelope| Transfer::Send(envelope, region, Mode::Standard));
    (copy, send)
}
