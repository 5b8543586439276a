//! Untyped point-to-point messages: addresses, counts and datatypes. (MPI 4.1 §3)
//!
//! Contiguous data is sent from and received into its place. Other data gets a stream: it is packed
//! when the send starts, or unpacked when the receive has completed without error, and only as much
//! as has arrived. A receive never reads the memory that it fills.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::TypeCode;

use super::request::{Past, Request, State};
use super::status::Status;
use crate::base::error::{ErrorKind, Result};
use crate::base::status::{Source, Tag, TagFilter};
use crate::collective::untyped::{CommRef, Stage, TypedBuffer, Unit};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::data::buffer::RawSlice;
use crate::engine::{Engine, Mode, PackDirection, PackedBuffers, Posting, Transfer};
use crate::point_to_point::{Message, Placed};

/// Send mode: when a send is complete. (MPI 4.1 §3.4)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendMode {
    /// When the program may change the data again. (`MPI_Send`)
    Standard,
    /// When a receive has matched the message. (`MPI_Ssend`)
    Synchronous,
    /// At once: the message is copied into the attached buffer. (`MPI_Bsend`)
    Buffered,
    /// Like a standard send; the receive is already posted. (`MPI_Rsend`)
    Ready,
}

/// A message to send. The destination is a rank of the communicator, a rank of the remote group of
/// an intercommunicator, or [`PROC_NULL`](crate::PROC_NULL).
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The send buffer.
    pub data: TypedBuffer<'a>,
    /// The destination.
    pub to: usize,
    /// The tag.
    pub tag: Tag,
    /// The send mode.
    pub mode: SendMode,
}

/// A message to receive. The source is a rank like the destination of [`Outgoing`], or
/// [`ANY_SOURCE`](crate::ANY_SOURCE).
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// The receive buffer. A shorter message leaves the rest of it unchanged.
    pub data: TypedBuffer<'a>,
    /// The source.
    pub from: Source,
    /// The tag, or any tag.
    pub tag: TagFilter,
}

/// Names of the calls: for each mode, the blocking, nonblocking and persistent form.
const SENDS: [[&str; 3]; 4] = [
    ["send", "isend", "send_init"],
    ["ssend", "issend", "ssend_init"],
    ["bsend", "ibsend", "bsend_init"],
    ["rsend", "irsend", "rsend_init"],
];

/// A transfer and the packed copies that it needs.
pub(super) type Ready = (Transfer, Option<Box<PackedBuffers>>);

impl Outgoing<'_> {
    /// Sends the message (blocking). (`MPI_Send`, `MPI_Ssend`, `MPI_Bsend`, `MPI_Rsend`)
    ///
    /// # Safety
    /// The data can be read during the call, and no code writes it meanwhile.
    ///
    /// # Errors
    /// The arguments violate the standard; the buffer for buffered sends has no room; or the
    /// destination has died or left.
    #[inline]
    pub unsafe fn run<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<()> {
        let comm = on.into().messages();
        // SAFETY: passed on.
        if unsafe { self.try_send_inline(comm) } {
            return Ok(());
        }
        // SAFETY: passed on.
        unsafe { self.run_thoroughly(comm) }
    }

    /// # Safety
    /// As [`Outgoing::run`].
    unsafe fn run_thoroughly(&self, comm: &Communicator) -> Result<()> {
        let call = self.call(0);
        // SAFETY: passed on.
        let (transfer, staging) = unsafe { self.transfer(call, comm) }?;
        // SAFETY: passed on: this waits until the operation is over.
        unsafe { comm.finish_thoroughly(call, &transfer, staging) }.map(drop)
    }

    /// Sends the message if that is possible at once, and returns whether it was sent. The caller
    /// then returns a constant handle instead of reading the new request: reading memory just after
    /// writing it in another width stalls until the store has left the core.
    ///
    /// # Safety
    /// As [`Outgoing::run`].
    #[inline]
    pub unsafe fn send_at_once<'on>(&self, on: impl Into<CommRef<'on>>) -> bool {
        // SAFETY: passed on.
        unsafe { self.try_send_inline(on.into().messages()) }
    }

    /// Starts a nonblocking send. (`MPI_Isend` and so on)
    ///
    /// # Safety
    /// As [`Outgoing::run`], until the request is complete, even if the request is dropped.
    ///
    /// # Errors
    /// The arguments violate the standard.
    #[inline]
    pub unsafe fn start<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request> {
        let comm = on.into().messages();
        // SAFETY: passed on.
        if unsafe { self.try_send_inline(comm) } {
            return Ok(Request::over(Past::Send));
        }
        // SAFETY: passed on.
        unsafe { self.start_thoroughly(comm) }
    }

    /// # Safety
    /// As [`Outgoing::start`].
    unsafe fn start_thoroughly(&self, comm: &Communicator) -> Result<Request> {
        let call = self.call(1);
        // SAFETY: passed on.
        let ready = unsafe { self.transfer(call, comm) }?;
        // SAFETY: passed on.
        unsafe { comm.start_message(call, ready) }
    }

    /// Makes a persistent send. (`MPI_Send_init` and so on)
    ///
    /// # Safety
    /// As [`Outgoing::run`], in each run from its start until it is complete. Between the runs, and
    /// until the request is freed, the memory stays at its place.
    ///
    /// # Errors
    /// The arguments violate the standard.
    pub unsafe fn init<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request> {
        let (call, comm) = (self.call(2), on.into().messages());
        // SAFETY: passed on.
        let ready = unsafe { self.transfer(call, comm) }?;
        // SAFETY: passed on.
        unsafe { comm.store_message(call, ready, Posting::AtStart) }.map(Request::stored)
    }

    fn call(&self, form: usize) -> &'static str {
        SENDS[self.mode as usize][form]
    }

    /// # Safety
    /// As for the form that uses the transfer.
    pub(super) unsafe fn transfer(&self, call: &'static str, comm: &Communicator) -> Result<Ready> {
        // SAFETY: passed on.
        let (span, code, staging) =
            unsafe { place(comm, call, SEND_BUFFER, self.data, PackDirection::In) }?;
        let envelope = comm.envelope(call, self.to, self.tag, code)?;
        let mode = match self.mode {
            SendMode::Standard | SendMode::Ready => Mode::Standard,
            SendMode::Synchronous => Mode::Synchronous,
            SendMode::Buffered => Mode::Buffered(comm.rooms()),
        };
        Ok((Transfer::send::<u8>(envelope, span, mode), staging))
    }
}

impl Incoming<'_> {
    /// Receives a message (blocking). (`MPI_Recv`)
    ///
    /// # Safety
    /// The memory of the data can be written, and no other code accesses it during the call.
    ///
    /// # Errors
    /// The arguments violate the standard; the message is longer than the buffer or (in check mode)
    /// has elements of another type, and nothing is written then; or the source has died or left.
    #[inline]
    pub unsafe fn run<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Status> {
        // SAFETY: passed on.
        unsafe { self.run_as("recv", on.into().messages()) }
    }

    /// The same in the name of a call.
    ///
    /// # Safety
    /// As [`Incoming::run`].
    #[inline]
    pub(super) unsafe fn run_as(&self, call: &'static str, comm: &Communicator) -> Result<Status> {
        // SAFETY: passed on.
        if let Some(received) = unsafe { self.try_recv_inline(call, comm) } {
            return received;
        }
        // SAFETY: passed on.
        unsafe { self.run_thoroughly(call, comm) }
    }

    /// # Safety
    /// As [`Incoming::run`].
    unsafe fn run_thoroughly(&self, call: &'static str, comm: &Communicator) -> Result<Status> {
        // SAFETY: passed on.
        let (transfer, staging) = unsafe { self.transfer(call, comm) }?;
        // SAFETY: passed on: this waits until the operation is over.
        let received = unsafe { comm.finish_thoroughly(call, &transfer, staging) }?;
        Ok(Status::of_receive(comm.home(), received))
    }

    /// Starts a nonblocking receive. (`MPI_Irecv`)
    ///
    /// # Safety
    /// As [`Incoming::run`], until the request is complete, even if the request is dropped.
    ///
    /// # Errors
    /// The arguments violate the standard.
    #[inline]
    pub unsafe fn start<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request> {
        let comm = on.into().messages();
        // SAFETY: passed on.
        if let Some(posted) = unsafe { self.post(comm) } {
            return posted.map(|posted| posted.request(comm));
        }
        // SAFETY: passed on.
        unsafe { self.start_thoroughly(comm) }
    }

    /// # Safety
    /// As [`Incoming::start`].
    unsafe fn start_thoroughly(&self, comm: &Communicator) -> Result<Request> {
        // SAFETY: passed on.
        let ready = unsafe { self.transfer("irecv", comm) }?;
        // SAFETY: passed on.
        unsafe { comm.start_message("irecv", ready) }
    }

    /// Makes a persistent receive. (`MPI_Recv_init`)
    ///
    /// # Safety
    /// As [`Incoming::run`], in each run from its start until it is complete. Between the runs, and
    /// until the request is freed, the memory stays at its place.
    ///
    /// # Errors
    /// The arguments violate the standard.
    pub unsafe fn init<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request> {
        let comm = on.into().messages();
        // SAFETY: passed on.
        let ready = unsafe { self.transfer("recv_init", comm) }?;
        // SAFETY: passed on.
        let handle = unsafe { comm.store_message("recv_init", ready, Posting::AtStart) };
        handle.map(Request::stored)
    }

    /// # Safety
    /// As for the form that uses the transfer.
    pub(super) unsafe fn transfer(&self, call: &'static str, comm: &Communicator) -> Result<Ready> {
        // SAFETY: passed on.
        let placed = unsafe { place(comm, call, RECEIVE_BUFFER, self.data, PackDirection::Out) };
        let (span, code, staging) = placed?;
        let selector = comm.selector(call, self.from, self.tag)?;
        Ok((Transfer::receive_as(selector, span, code), staging))
    }
}

impl Message {
    /// Receives the message into an untyped buffer. (`MPI_Mrecv`)
    ///
    /// # Safety
    /// As [`Incoming::run`].
    ///
    /// # Errors
    /// As [`Message::mrecv`].
    pub unsafe fn mrecv_data(self, data: TypedBuffer<'_>) -> Result<Status> {
        // SAFETY: passed on: this waits until the operation is over.
        let handle = unsafe { self.begin_data("mrecv", data) }?;
        conclude(handle)
    }

    /// Nonblocking [`mrecv_data`](Message::mrecv_data). (`MPI_Imrecv`)
    ///
    /// # Safety
    /// As [`Incoming::start`].
    ///
    /// # Errors
    /// The arguments violate the standard; the message is lost then.
    pub unsafe fn imrecv_data(self, data: TypedBuffer<'_>) -> Result<Request> {
        // SAFETY: passed on.
        let handle = unsafe { self.begin_data("imrecv", data) }?;
        Ok(Request::message_or_collective(handle, Box::new(()), State::Once))
    }

    /// # Safety
    /// As for the form that calls this.
    unsafe fn begin_data(self, call: &'static str, data: TypedBuffer<'_>) -> Result<OpHandle> {
        let origin = self.origin(call);
        // SAFETY: passed on.
        let placed = unsafe { locate(RECEIVE_BUFFER, data, PackDirection::Out) };
        let (span, element, staging) = placed.map_err(|kind| origin.error(kind))?;
        // SAFETY: passed on.
        let id = unsafe { self.begin(call, Placed { span, element }, staging) }?;
        Ok(OpHandle::new(origin, id, false))
    }
}

impl Communicator {
    /// # Safety
    /// The memory stays valid until the operation is complete or abandoned.
    unsafe fn start_message(&self, call: &'static str, ready: Ready) -> Result<Request> {
        let (transfer, staging) = ready;
        // SAFETY: passed on.
        let id = unsafe { self.begin_transfer(call, &transfer, staging) }?;
        let handle = OpHandle::new(self.origin(call), id, false);
        Ok(Request::of_message(handle, !matches!(transfer, Transfer::Send(..))))
    }

    /// # Safety
    /// The memory stays valid as long as the operation exists.
    pub(super) unsafe fn store_message(
        &self,
        call: &'static str,
        (transfer, staging): Ready,
        posting: Posting,
    ) -> Result<OpHandle> {
        // SAFETY: passed on.
        let store =
            |engine: &mut Engine| unsafe { engine.add_transfer(transfer, staging, posting) };
        let id = self.with_room(call, store)?;
        Ok(OpHandle::new(self.origin(call), id, true))
    }
}

impl<'on> CommRef<'on> {
    /// Returns the communicator that carries the messages.
    pub(super) fn messages(self) -> &'on Communicator {
        match self {
            CommRef::Communicator(communicator) => communicator,
            CommRef::Intercommunicator(inter) => inter.far(),
        }
    }
}

/// Waits until a receive is complete, and returns its status.
pub(super) fn conclude(mut handle: OpHandle) -> Result<Status> {
    let received = handle.wait()?;
    Ok(Status::of_receive(&handle.origin, received))
}

const SEND_BUFFER: &str = "send buffer";
const RECEIVE_BUFFER: &str = "receive buffer";

/// Returns whether messages of this layer carry their type. Programs in languages without type
/// safety often receive data as another type of the same size, so a different type is an error in
/// check mode only. Without check mode all messages are bytes.
#[inline]
pub(super) fn tells_type(comm: &Communicator) -> bool {
    comm.home().core.watch().check
}

/// The contiguous bytes of a buffer, their type, and the packed copy that they need, if any.
pub(super) type Located = (RawSlice, TypeCode, Option<Box<PackedBuffers>>);

/// # Safety
/// The operation that gets the staging holds the memory of the data.
unsafe fn locate(
    which: &'static str,
    data: TypedBuffer<'_>,
    direction: PackDirection,
) -> Result<Located, ErrorKind> {
    let mut stage = Stage::new(Unit::of([data.datatype]));
    // SAFETY: passed on.
    let RawSlice { start, len } = unsafe { stage.data(which, data, 1, direction) }?;
    let Unit { bytes, code, .. } = stage.unit();
    Ok((RawSlice { start, len: len * bytes }, code, stage.finish()))
}

/// Does the same as [`locate`] for a call on a communicator. The type is bytes except in check
/// mode: C programs send characters that are received as integers, and other implementations accept
/// that.
///
/// # Safety
/// As [`locate`].
pub(super) unsafe fn place(
    comm: &Communicator,
    call: &'static str,
    which: &'static str,
    data: TypedBuffer<'_>,
    direction: PackDirection,
) -> Result<Located> {
    let tells_type = tells_type(comm);
    if !tells_type && let Some(span) = Stage::new(Unit::BYTE).as_it_is(data, 1) {
        return Ok((span, TypeCode::BYTES, None));
    }
    // SAFETY: passed on.
    let located = unsafe { locate(which, data, direction) };
    let (span, code, staging) = located.map_err(|kind| comm.error(call, kind))?;
    Ok((span, if tells_type { code } else { TypeCode::BYTES }, staging))
}
