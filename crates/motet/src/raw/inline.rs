//! Inline fast path for short messages: completes without creating an operation.
//!
//! Contiguous data is sent from and received into its place. Short data with gaps has its packed
//! copy on the stack: both ends are done with it when the call returns.
//!
//! All other messages (longer data with gaps, wildcards, `PROC_NULL`, invalid ranks or tags, no
//! room, no message yet) take the general path in `message.rs`, which repeats all checks.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::mem::MaybeUninit;

use motet_fabric::slab::Id;
use motet_fabric::{Label, Peer, Region, RegionMut, TypeCode};

use super::message::{Incoming, Outgoing, SendMode, tells_type};
use super::request::Request;
use super::sendrecv::SendRecv;
use super::status::Status;
use crate::base::error::Result;
use crate::base::status::{Source, TAG_UB, Tag, TagFilter};
use crate::collective::untyped::{CommRef, Items, TypedBuffer, bytes_in_a_row, items_of};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::data::buffer::RawSlice;
use crate::engine::context::ContextKind;
use crate::engine::{Engine, Envelope, ExactRecv};

/// Bytes of the longest data with gaps whose packed copy is on the stack.
const STACK_BYTES: usize = 4 << 10;

/// Memory for a packed copy.
type OnStack = [MaybeUninit<u8>; STACK_BYTES];

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
            // SAFETY: passed on.
            return has_gaps(self.data) && unsafe { self.try_send_packed(comm) };
        };
        // SAFETY: passed on.
        unsafe { send_now(comm, (peer, label), Region::new(span.start, span.len)) }
    }

    /// The same for data with gaps.
    ///
    /// # Safety
    /// As [`Outgoing::run`].
    #[inline(never)] // it takes the stack of the copy
    unsafe fn try_send_packed(&self, comm: &Communicator) -> bool {
        let Some((items, bytes)) = short_items(comm, self.data) else { return false };
        let Some(to) = addressed(comm, self.to, self.tag) else { return false };
        let mut packed: OnStack = [MaybeUninit::uninit(); STACK_BYTES];
        let start = packed.as_mut_ptr().cast::<u8>();
        // SAFETY: the data can be read, by the caller's promise; there is room for all of it.
        let packed = unsafe { items.layout.pack_raw(items.address, items.count, 0, start, bytes) };
        // SAFETY: the bytes that have just been written.
        unsafe { send_now(comm, to, Region::new(start, packed)) }
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
        let Some(expected) = self.expected(comm) else {
            if !has_gaps(self.data) || self.from == Source::Any || self.tag == TagFilter::Any {
                return None;
            }
            // SAFETY: passed on.
            return unsafe { self.try_recv_packed(call, comm) };
        };
        // SAFETY: passed on.
        Some(unsafe { receive_now(call, comm, &expected) }?.map(|bytes| self.status(bytes)))
    }

    /// The same for data with gaps.
    ///
    /// # Safety
    /// As [`Incoming::run`].
    #[inline(never)] // it takes the stack of the copy
    unsafe fn try_recv_packed(
        &self,
        call: &'static str,
        comm: &Communicator,
    ) -> Option<Result<Status>> {
        let (Items { address, layout, count, .. }, peer, label, room) = self.gapped(comm)?;
        let mut packed: OnStack = [MaybeUninit::uninit(); STACK_BYTES];
        let start = packed.as_mut_ptr().cast::<u8>();
        let into = RegionMut::new(start, room);
        let expected = ExactRecv { from: peer, label, element: TypeCode::BYTES, into };
        // SAFETY: there is room for all of the data.
        let received = unsafe { receive_now(call, comm, &expected) }?;
        Some(received.map(|bytes| {
            // SAFETY: the data can be written, by the caller's promise; so many bytes have come.
            unsafe { layout.unpack_raw(address, count, 0, start, bytes) };
            self.status(bytes)
        }))
    }

    /// The data with gaps that the receive fills, its only source and label, and its bytes.
    fn gapped(&self, comm: &Communicator) -> Option<(Items<'_>, Peer, Label, usize)> {
        let (Source::Rank(from), TagFilter::Tag(tag)) = (self.from, self.tag) else { return None };
        let (items, bytes) = short_items(comm, self.data)?;
        let (peer, label) = addressed(comm, from, tag)?;
        Some((items, peer, label, bytes))
    }

    /// The status of a receive of so many bytes from the only source with the only tag.
    fn status(&self, bytes: usize) -> Status {
        Status { source: self.from, tag: self.tag, bytes: bytes as u64, ..Status::EMPTY }
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
        let expected = self.expected(comm)?;
        // SAFETY: passed on.
        let begin = |engine: &mut Engine| unsafe { engine.start_receive(&expected) };
        Some(comm.with_room("irecv", begin).map(PostedReceive))
    }

    /// The only message that the receive accepts.
    #[inline]
    fn expected(&self, comm: &Communicator) -> Option<ExactRecv> {
        let (Source::Rank(from), TagFilter::Tag(tag)) = (self.from, self.tag) else { return None };
        let Plain { peer, label, span } = plain(comm, self.data, from, tag)?;
        let into = RegionMut::new(span.start, span.len);
        Some(ExactRecv { from: peer, label, element: TypeCode::BYTES, into })
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
        let is_expected = || incoming.expected(comm).is_some() || incoming.gapped(comm).is_some();
        let is_plain = outgoing.mode == SendMode::Standard && is_expected();
        // SAFETY: passed on.
        if !is_plain || !unsafe { outgoing.try_send_inline(comm) } {
            return None;
        }
        // SAFETY: passed on.
        Some(unsafe { incoming.run_as("sendrecv", comm) })
    }
}

/// A message between two ranks whose data is contiguous.
struct Plain {
    peer: Peer,
    label: Label,
    span: RawSlice,
}

#[inline]
fn plain(comm: &Communicator, data: TypedBuffer<'_>, rank: usize, tag: Tag) -> Option<Plain> {
    let span = match bytes_in_a_row(data) {
        Some((span, _)) => span,
        None if data.count == 0 => RawSlice { start: data.address, len: 0 },
        None => return None,
    };
    let (peer, label) = addressed(comm, rank, tag)?;
    Some(Plain { peer, label, span })
}

/// The peer at a rank, and the label of a message with this tag; `None` if one of them is invalid.
#[inline]
fn addressed(comm: &Communicator, rank: usize, Tag(tag): Tag) -> Option<(Peer, Label)> {
    let peer = comm.group().peer_at(rank)?;
    let context = comm.context(ContextKind::PointToPoint);
    let label = Label { context, tag: u64::from(tag), ordinal: 0 };
    (tag <= TAG_UB).then_some((peer, label))
}

/// Whether the items of a buffer are no contiguous bytes.
#[inline]
fn has_gaps(data: TypedBuffer<'_>) -> bool {
    data.datatype.layout().row().is_none()
}

/// Data with gaps, and its bytes without them, if its packed copy fits the stack. A message that
/// tells its type takes the general path.
fn short_items<'a>(comm: &Communicator, data: TypedBuffer<'a>) -> Option<(Items<'a>, usize)> {
    if tells_type(comm) {
        return None;
    }
    let items = items_of(data)?;
    let bytes = usize::try_from(items.layout.pack_size(items.count).ok()?).ok()?;
    (1..=STACK_BYTES).contains(&bytes).then_some((items, bytes))
}

/// Sends these bytes if that is possible at once, and returns whether they were sent.
///
/// # Safety
/// They can be read now.
#[inline]
unsafe fn send_now(comm: &Communicator, (to, label): (Peer, Label), data: Region) -> bool {
    let envelope = Envelope { to, label, element: TypeCode::BYTES };
    let Some(mut engine) = comm.core().free_engine() else { return false };
    // SAFETY: passed on.
    unsafe { engine.send_now(&envelope, data) }
}

/// Receives this message if it arrives at once, and returns its length in bytes.
///
/// # Safety
/// The memory of the receive can be written now, and nobody else uses it.
#[inline]
unsafe fn receive_now(
    call: &'static str,
    comm: &Communicator,
    expected: &ExactRecv,
) -> Option<Result<usize>> {
    let core = comm.core();
    // SAFETY: passed on.
    let received = unsafe { core.free_engine()?.receive_now(expected, core.max_polls()) }?;
    Some(received.map_err(|error| comm.home().error_of_transfer(call, *error)))
}
