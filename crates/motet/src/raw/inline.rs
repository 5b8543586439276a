//! Inline fast path for short contiguous messages: completes without creating an operation.
//!
//! All other messages (non-contiguous data, wildcards, `PROC_NULL`, invalid ranks or tags, no room,
//! no message yet) take the general path in `message.rs`, which repeats all checks.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::slab::Id;
use motet_fabric::{Label, Peer, Region, RegionMut, TypeCode};

use super::message::{Incoming, Outgoing, SendMode, tells_type};
use super::request::Request;
use super::sendrecv::SendRecv;
use super::status::Status;
use crate::base::error::Result;
use crate::base::status::{Source, TAG_UB, Tag, TagFilter};
use crate::collective::untyped::{CommRef, TypedBuffer, bytes_in_a_row};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::data::buffer::RawSlice;
use crate::engine::context::ContextKind;
use crate::engine::{Engine, Envelope, ExactRecv};

impl Outgoing<'_> {
    /// Sends the message if that is possible at once, and returns whether it was sent.
    ///
    /// # Safety
    /// As [`Outgoing::run`].
    #[inline]
    pub(super) unsafe fn try_send_inline(&self, comm: &Communicator) -> bool {
        if !matches!(self.mode, SendMode::Standard | SendMode::Ready) {
            return false;
        }
        let Some(Plain { peer, label, span }) = plain(comm, self.data, self.to, self.tag) else {
            return false;
        };
        let envelope = Envelope { to: peer, label, element: TypeCode::BYTES };
        let data = Region::new(span.start, span.len);
        let Some(mut engine) = comm.core().free_engine() else { return false };
        // SAFETY: passed on.
        unsafe { engine.send_now(&envelope, data) }
    }
}

impl Incoming<'_> {
    /// Receives the message if it arrives at once.
    ///
    /// # Safety
    /// As [`Incoming::run`].
    #[inline]
    pub(super) unsafe fn try_recv_inline(
        &self,
        call: &'static str,
        comm: &Communicator,
    ) -> Option<Result<Status>> {
        let (from, tag, expected) = self.expected(comm)?;
        let core = comm.core();
        // SAFETY: passed on.
        let received = unsafe { core.free_engine()?.receive_now(&expected, core.max_polls()) }?;
        Some(match received {
            Ok(bytes) => {
                let (source, tag) = (Source::Rank(from), TagFilter::Tag(tag));
                Ok(Status { source, tag, bytes: bytes as u64, ..Status::EMPTY })
            }
            Err(error) => Err(comm.home().error_of_transfer(call, *error)),
        })
    }

    /// Posts the receive if the message can be received directly into its buffer. The caller makes
    /// the request where it is to stay: to copy memory that was just written takes long.
    ///
    /// # Safety
    /// As [`Incoming::start`]. The caller makes the request, on the same communicator: only that
    /// tells when the receive is complete.
    ///
    /// # Errors
    /// As [`Incoming::start`].
    #[inline]
    pub unsafe fn post<'on>(&self, on: impl Into<CommRef<'on>>) -> Option<Result<PostedReceive>> {
        let comm = on.into().messages();
        if tells_type(comm) {
            return None;
        }
        let (.., expected) = self.expected(comm)?;
        // SAFETY: passed on.
        let begin = |engine: &mut Engine| unsafe { engine.start_receive(&expected) };
        Some(comm.with_room("irecv", begin).map(PostedReceive))
    }

    /// The source, the tag and the only message that the receive accepts.
    #[inline]
    fn expected(&self, comm: &Communicator) -> Option<(usize, Tag, ExactRecv)> {
        let (Source::Rank(from), TagFilter::Tag(tag)) = (self.from, self.tag) else { return None };
        let Plain { peer, label, span } = plain(comm, self.data, from, tag)?;
        let into = RegionMut::new(span.start, span.len);
        Some((from, tag, ExactRecv { from: peer, label, element: TypeCode::BYTES, into }))
    }
}

/// A receive that has been posted and has no request yet.
#[derive(Debug)]
#[must_use = "without a request nobody learns when the receive is complete"]
pub struct PostedReceive(Id);

impl PostedReceive {
    /// Makes the request of the receive, which was posted on this communicator.
    #[inline(always)] // a request that is moved is read before it has been written
    pub fn request<'on>(self, on: impl Into<CommRef<'on>>) -> Request {
        let origin = on.into().messages().origin("irecv");
        Request::of_message(OpHandle::new(origin, self.0, false), true)
    }
}

impl SendRecv<'_> {
    /// Sends the message if that is possible at once, and then receives the other one. Sends
    /// nothing if the receive may be refused.
    ///
    /// # Safety
    /// As [`SendRecv::run`].
    #[inline]
    pub(super) unsafe fn try_run_inline(&self, comm: &Communicator) -> Option<Result<Status>> {
        let SendRecv { outgoing, incoming } = self;
        let is_plain = outgoing.mode == SendMode::Standard && incoming.expected(comm).is_some();
        // SAFETY: passed on.
        if !is_plain || !unsafe { outgoing.try_send_inline(comm) } {
            return None;
        }
        // SAFETY: passed on.
        Some(unsafe { incoming.run_as("sendrecv", comm) })
    }
}

/// A message between two ranks whose data are contiguous bytes.
struct Plain {
    peer: Peer,
    label: Label,
    span: RawSlice,
}

#[inline]
fn plain(comm: &Communicator, data: TypedBuffer<'_>, rank: usize, Tag(tag): Tag) -> Option<Plain> {
    let span = match bytes_in_a_row(data) {
        Some((span, _)) => span,
        None if data.count == 0 => RawSlice { start: data.address, len: 0 },
        None => return None,
    };
    let peer = comm.group().peer_at(rank)?;
    let context = comm.context(ContextKind::PointToPoint);
    let label = Label { context, tag: u64::from(tag), ordinal: 0 };
    (tag <= TAG_UB).then_some(Plain { peer, label, span })
}
