//! Messages that are found and taken at once, so that no other receive can get them.

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

/// A message that has come and that belongs to whoever holds this: no other receive or probe, of
/// whatever thread, sees it. (MPI 4.1 §3.8.2)
///
/// One that is dropped is lost; its sender's operation completes.
#[must_use = "a message that is dropped is lost"]
pub struct Message {
    home: Arc<CommContext>,
    received: Received,
    /// None of a message from nobody.
    taken: Option<MatchedMessage>,
}

/// Where a message is to be received: bytes, and what their elements are.
pub(crate) struct Placed {
    pub(crate) span: RawSlice,
    pub(crate) element: TypeCode,
}

impl Placed {
    /// A span of elements.
    fn of<T: Element>(span: RawSlice) -> Placed {
        Placed {
            span: RawSlice { len: span.len * size_of::<T>(), ..span },
            element: code_for::<T>(),
        }
    }
}

impl Communicator {
    /// Waits until a message is there, and takes it. (`MPI_Mprobe`)
    ///
    /// # Errors
    /// As [`probe`](Communicator::probe).
    pub fn mprobe(&self, from: impl Into<Source>, tag: impl Into<TagFilter>) -> Result<Message> {
        let found = self.wait_for_message("mprobe", from.into(), tag.into(), Endpoint::mprobe)?;
        Ok(self.message(found))
    }

    /// Takes a message if it is there. (`MPI_Improbe`)
    ///
    /// # Errors
    /// As [`iprobe`](Communicator::iprobe).
    pub fn improbe(
        &self,
        from: impl Into<Source>,
        tag: impl Into<TagFilter>,
    ) -> Result<Option<Message>> {
        let found = self.look_for_message("improbe", from.into(), tag.into(), Endpoint::mprobe)?;
        Ok(found.map(|found| self.message(found)))
    }

    /// The message that was found; without one, that from nobody.
    fn message(&self, taken: Option<MatchedMessage>) -> Message {
        let received = taken.as_ref().map_or(NOBODY, MatchedMessage::received);
        Message { home: self.origin("mprobe").home, received, taken }
    }
}

impl Message {
    /// From whom it is, its tag and its length.
    pub fn status(&self) -> Status {
        self.home.status(self.received)
    }

    /// Receives it into a buffer that is long enough. (`MPI_Mrecv`)
    ///
    /// # Errors
    /// A message that is too long or of another type: it is lost, and the buffer is as it was.
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
    /// That there may be no more operations; the message is lost then.
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

    /// The rank that it came to.
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
