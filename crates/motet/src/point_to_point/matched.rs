//! Matched probes: find a message and remove it from the queue, so that no other receive can get
//! it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt;
use std::sync::Arc;

use motet_fabric::endpoint::MatchedMessage;
use motet_fabric::slab::Id;
use motet_fabric::{Endpoint, Received, RegionMut, TypeCode};

use super::staging_of;
use crate::Element;
use crate::base::error::{ErrorKind, Result};
use crate::base::status::{Source, Status, TagFilter};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::{CallOrigin, CommContext, OpHandle};
use crate::comm::request::Request;
use crate::data::buffer::{GiveBack, RawSlice, RecvBuffer};
use crate::engine::{NOBODY, PackedBuffers, Transfer};
use crate::rank::RankContext;
use crate::types::element::{assert_valid, code_for};

/// A message that a matched probe has removed from the queue: no other receive or probe, of any
/// thread, can match it. (MPI 4.1 §3.8.2)
///
/// A dropped `Message` is lost; its sender's operation completes.
#[must_use = "a message that is dropped is lost"]
pub struct Message {
    home: Arc<CommContext>,
    received: Received,
    /// `None` for a message from `PROC_NULL`.
    taken: Option<MatchedMessage>,
}

/// A receive buffer: its bytes and the type of their elements.
pub(crate) struct Placed {
    pub(crate) span: RawSlice,
    pub(crate) element: TypeCode,
}

impl Placed {
    /// Makes a receive buffer of a span of elements.
    fn of<T: Element>(span: RawSlice) -> Placed {
        Placed {
            span: RawSlice { len: span.len * size_of::<T>(), ..span },
            element: code_for::<T>(),
        }
    }
}

impl Communicator {
    /// Waits until a matching message has arrived, and removes it from the queue. (`MPI_Mprobe`)
    ///
    /// # Errors
    /// As [`probe`](Communicator::probe).
    pub fn mprobe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Message> {
        let found = self.wait_for_message("mprobe", from.into(), tag.into(), Endpoint::mprobe)?;
        Ok(self.message(found))
    }

    /// Removes a matching message from the queue if one has arrived. Never waits. (`MPI_Improbe`)
    ///
    /// # Errors
    /// As [`iprobe`](Communicator::iprobe).
    pub fn improbe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Option<Message>> {
        let found = self.probe_message("improbe", from.into(), tag.into(), Endpoint::mprobe)?;
        Ok(found.map(|found| self.message(found)))
    }

    /// Wraps the message that was found; `None` makes a message from `PROC_NULL`.
    fn message(&self, taken: Option<MatchedMessage>) -> Message {
        let received = taken.as_ref().map_or(NOBODY, MatchedMessage::received);
        Message { home: self.origin("mprobe").home, received, taken }
    }
}

impl Message {
    /// Returns the source, the tag and the length of the message.
    pub fn status(&self) -> Status {
        self.home.status(self.received)
    }

    /// Receives the message into a buffer that is long enough. (`MPI_Mrecv`)
    ///
    /// # Errors
    /// The message is longer than the buffer or has another type: it is lost, and the buffer is
    /// unchanged.
    pub fn mrecv<T: Element>(self, buffer: &mut [T]) -> Result<Status> {
        let origin = self.origin("mrecv");
        let span = RawSlice { start: buffer.as_mut_ptr().cast(), len: buffer.len() };
        // SAFETY: borrowed for longer than this waits.
        let id = unsafe { self.begin("mrecv", Placed::of::<T>(span), None) }?;
        let received = origin.core.wait(id, false);
        // SAFETY: the elements of the buffer, whose operation is over.
        unsafe { assert_valid::<T>(buffer.as_ptr().cast(), buffer.len()) };
        let received = received.map_err(|error| origin.error(ErrorKind::from(error)))?;
        Ok(origin.home.status(received))
    }

    /// Nonblocking [`mrecv`](Message::mrecv). (`MPI_Imrecv`)
    ///
    /// # Errors
    /// Too many operations are pending; the message is lost then.
    pub fn imrecv<B: RecvBuffer + 'static>(self, buffer: B) -> Result<Request<B>> {
        // SAFETY: nothing is borrowed.
        unsafe { self.imrecv_with(buffer) }
    }

    /// # Safety
    /// As [`Request::new`].
    pub(crate) unsafe fn imrecv_with<B: RecvBuffer>(self, buffer: B) -> Result<Request<B>> {
        let origin = self.origin("imrecv");
        let parts = GiveBack::<B>::new(buffer);
        // SAFETY: held by the request until the operation is over, or borrowed by somebody who
        // waits for that.
        let staging = unsafe { staging_of([None, B::items(parts.get())]) };
        let placed = Placed::of::<B::Element>(B::span(parts.get()));
        // SAFETY: as above.
        let id = unsafe { self.begin("imrecv", placed, staging) }?;
        // SAFETY: passed on.
        Ok(unsafe { Request::new(OpHandle::new(origin, id, false), parts.keep()) })
    }

    /// Returns the context of the rank that received the message.
    pub(crate) fn core(&self) -> &Arc<RankContext> {
        &self.home.core
    }

    pub(crate) fn origin(&self, call: &'static str) -> CallOrigin {
        CallOrigin { home: self.home.clone(), call }
    }

    /// # Safety
    /// The memory stays valid until the operation is complete or abandoned.
    pub(crate) unsafe fn begin(
        mut self,
        call: &'static str,
        Placed { span, element }: Placed,
        staging: Option<Box<PackedBuffers>>,
    ) -> Result<Id> {
        let into = RegionMut::new(span.start, span.len);
        let home = self.home.clone();
        home.with_room(call, |engine| match self.taken.take() {
            // SAFETY: passed on.
            Some(taken) => unsafe { engine.start_taken(taken, element, into, staging) },
            // SAFETY: no memory at all.
            None => unsafe { engine.start_transfer(&Transfer::Nothing, None) },
        })
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Some(taken) = self.taken.take() {
            // In an operator the message is lost, as it is here, but its memory too.
            if let Some(mut engine) = self.home.core.free_engine() {
                engine.endpoint().discard(taken);
            }
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Message({:?})", self.status())
    }
}
