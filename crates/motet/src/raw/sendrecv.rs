//! Combined send and receive as one operation. (MPI 4.1 §3.10)

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::Region;

use super::message::{Incoming, Outgoing, SendMode, conclude, place};
use super::request::{Request, State};
use super::status::Status;
use crate::base::error::{ErrorKind, Result};
use crate::base::status::{Source, Tag, TagFilter};
use crate::collective::untyped::{CommRef, TypedBuffer};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::data::buffer::RawSlice;
use crate::engine::{BufferGuard, Engine, Envelope, Mode, PackDirection, PackedBuffers, Transfer};

const BUFFER: &str = "buffer";

/// A message to send and another one to receive, in any order of completion. The send mode must be
/// the standard one.
#[derive(Clone, Copy, Debug)]
pub struct SendRecv<'a> {
    /// The message to send.
    pub outgoing: Outgoing<'a>,
    /// The message to receive, into other memory.
    pub incoming: Incoming<'a>,
}

/// A buffer whose contents are sent, and into which another message is received.
#[derive(Clone, Copy, Debug)]
pub struct SendRecvReplace<'a> {
    /// The buffer.
    pub data: TypedBuffer<'a>,
    /// Destination and tag of the send.
    pub to: (usize, Tag),
    /// Source and tag of the receive.
    pub from: (Source, TagFilter),
}

impl SendRecv<'_> {
    /// Sends and receives (blocking). (`MPI_Sendrecv`)
    ///
    /// # Safety
    /// As [`Outgoing::run`] and [`Incoming::run`]; the two buffers do not overlap.
    ///
    /// # Errors
    /// As [`Outgoing::run`] and [`Incoming::run`].
    pub unsafe fn run<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Status> {
        let comm = on.into().messages();
        // SAFETY: passed on.
        if let Some(received) = unsafe { self.try_run_inline(comm) } {
            return received;
        }
        // SAFETY: passed on: this waits until the operation is over.
        let handle = unsafe { self.begin("sendrecv", comm) }?;
        conclude(handle)
    }

    /// Starts the nonblocking form: one request for the send and the receive, whose status is that
    /// of the receive. (`MPI_Isendrecv`)
    ///
    /// # Safety
    /// As [`SendRecv::run`], until the request is complete.
    ///
    /// # Errors
    /// The arguments violate the standard.
    pub unsafe fn start<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request> {
        // SAFETY: passed on.
        let handle = unsafe { self.begin("isendrecv", on.into().messages()) }?;
        Ok(Request::message_or_collective(handle, Box::new(()), State::Once))
    }

    /// # Safety
    /// As for the form that calls this.
    unsafe fn begin(&self, call: &'static str, comm: &Communicator) -> Result<OpHandle> {
        let SendRecv { outgoing, incoming } = self;
        if outgoing.mode != SendMode::Standard {
            let problem = "is not the standard one, as it must be where a message comes back";
            let kind = ErrorKind::Argument { which: "mode", problem: problem.into() };
            return Err(comm.error(call, kind));
        }
        // SAFETY: passed on.
        let (send, collected) = unsafe { outgoing.transfer(call, comm) }?;
        // SAFETY: passed on.
        let (receive, spread) = unsafe { incoming.transfer(call, comm) }?;
        // The operation collects for the send what it keeps only: so that is done here.
        let outgoing = collected.map(|mut staging| -> BufferGuard {
            staging.collect();
            Box::new(staging)
        });
        // SAFETY: passed on, or kept by the operation.
        unsafe { comm.begin_pair(call, (&send, outgoing), (&receive, spread)) }
    }
}

impl SendRecvReplace<'_> {
    /// Sends the contents of the buffer and receives into it (blocking). (`MPI_Sendrecv_replace`)
    ///
    /// # Safety
    /// The memory of the data can be read and written, and no other code accesses it during the
    /// call.
    ///
    /// # Errors
    /// As [`SendRecv::run`]. If no message is received, the data is unchanged.
    pub unsafe fn run<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Status> {
        let comm = on.into().messages();
        // SAFETY: passed on: this waits until the operation is over.
        let handle = unsafe { self.begin("sendrecv_replace", comm) }?;
        conclude(handle)
    }

    /// Starts the nonblocking form. (`MPI_Isendrecv_replace`)
    ///
    /// # Safety
    /// As [`SendRecvReplace::run`], until the request is complete.
    ///
    /// # Errors
    /// The arguments violate the standard.
    pub unsafe fn start<'on>(&self, on: impl Into<CommRef<'on>>) -> Result<Request> {
        // SAFETY: passed on.
        let handle = unsafe { self.begin("isendrecv_replace", on.into().messages()) }?;
        Ok(Request::message_or_collective(handle, Box::new(()), State::Once))
    }

    /// # Safety
    /// As for the form that calls this.
    unsafe fn begin(&self, call: &'static str, comm: &Communicator) -> Result<OpHandle> {
        let SendRecvReplace { data, to: (to, send_tag), from: (from, receive_tag) } = *self;
        // SAFETY: passed on.
        let (sent, code, collected) =
            unsafe { place(comm, call, BUFFER, data, PackDirection::In) }?;
        // SAFETY: passed on.
        let (span, _, spread) = unsafe { place(comm, call, BUFFER, data, PackDirection::Out) }?;
        let envelope = comm.envelope(call, to, send_tag, code)?;
        let selector = comm.selector(call, from, receive_tag)?;
        let (region, kept): (Region, BufferGuard) = match collected {
            Some(mut staging) => {
                staging.collect();
                (Region::new(sent.start, sent.len), Box::new(staging))
            }
            None => {
                // SAFETY: the data can be read, by the caller's promise.
                let copy: Box<[u8]> = unsafe { bytes_of(sent) }.into();
                (Region::of(&copy), Box::new(copy))
            }
        };
        let send = envelope
            .map_or(Transfer::Nothing, |to: Envelope| Transfer::Send(to, region, Mode::Standard));
        let receive = Transfer::receive_as(selector, span, code);
        // SAFETY: passed on, or kept by the operation.
        unsafe { comm.begin_pair(call, (&send, Some(kept)), (&receive, spread)) }
    }
}

impl Communicator {
    /// Starts a send and a receive as one operation; the send may read from a copy that the
    /// operation keeps.
    ///
    /// # Safety
    /// As [`Communicator::start_message`], for both.
    unsafe fn begin_pair(
        &self,
        call: &'static str,
        (send, outgoing): (&Transfer, Option<BufferGuard>),
        (receive, staging): (&Transfer, Option<Box<PackedBuffers>>),
    ) -> Result<OpHandle> {
        // SAFETY: passed on.
        let begin =
            |engine: &mut Engine| unsafe { engine.start_pair(send, receive, outgoing, staging) };
        let id = self.with_room(call, begin)?;
        Ok(OpHandle::new(self.origin(call), id, false))
    }
}

/// Returns the bytes of a span.
///
/// # Safety
/// They can be read, and are not written while they are borrowed.
unsafe fn bytes_of<'a>(RawSlice { start, len }: RawSlice) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: passed on.
    unsafe { std::slice::from_raw_parts(start, len) }
}
