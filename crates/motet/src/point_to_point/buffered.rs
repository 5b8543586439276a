//! Buffered sends: attach, flush and detach the buffers into which `bsend` copies messages. (MPI
//! 4.1 §3.6)
//!
//! A buffered send completes as soon as its message is copied. The buffers are those of
//! [`Rooms`](crate::engine::Rooms).

use motet_fabric::{Failure, TransferError};

use crate::base::error::{Error, ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::comm::request::Request;
use crate::engine::{BufferRoom, Room, Slot};
use crate::rank::RankContext;

impl Communicator {
    /// Attaches a buffer for the buffered sends of this communicator. Without one they use the
    /// buffer of the rank. Local. (`MPI_Comm_attach_buffer`, MPI 4.1 §3.6.1)
    ///
    /// # Errors
    /// A buffer is already attached.
    pub fn attach_buffer(&self, room: BufferRoom) -> Result<()> {
        self.attach("attach_buffer", &self.rooms().of_communicator, room)
    }

    /// Waits until all messages buffered for this communicator have been sent, and detaches and
    /// returns its buffer. (`MPI_Comm_detach_buffer`)
    ///
    /// # Errors
    /// No buffer is attached; or a rank has died.
    pub fn detach_buffer(&self) -> Result<BufferRoom> {
        self.detach("detach_buffer", &self.rooms().of_communicator)
    }

    /// Waits until all messages buffered for this communicator have been sent.
    /// (`MPI_Comm_flush_buffer`)
    ///
    /// # Errors
    /// A rank has died.
    pub fn flush_buffer(&self) -> Result<()> {
        self.flush("flush_buffer", &self.rooms().of_communicator)
    }

    /// Nonblocking [`flush_buffer`](Communicator::flush_buffer). The request completes when the
    /// buffer is empty, so messages buffered after this call count, too. (`MPI_Comm_iflush_buffer`)
    ///
    /// # Errors
    /// Too many operations are pending.
    pub fn iflush_buffer(&self) -> Result<Request<()>> {
        self.iflush("iflush_buffer", &self.rooms().of_communicator)
    }

    /// Attaches a buffer to this rank, for the buffered sends on all communicators that have no
    /// buffer of their own. Local. (`MPI_Buffer_attach`, `MPI_Session_attach_buffer`)
    ///
    /// # Errors
    /// A buffer is already attached.
    pub fn attach_rank_buffer(&self, room: BufferRoom) -> Result<()> {
        self.attach("attach_rank_buffer", &self.rooms().of_rank, room)
    }

    /// Waits until all messages in the buffer of the rank have been sent, and detaches and returns
    /// it. (`MPI_Buffer_detach`, `MPI_Session_detach_buffer`)
    ///
    /// # Errors
    /// No buffer is attached; or a rank has died.
    pub fn detach_rank_buffer(&self) -> Result<BufferRoom> {
        self.detach("detach_rank_buffer", &self.rooms().of_rank)
    }

    /// Waits until all messages in the buffer of the rank have been sent. (`MPI_Buffer_flush`,
    /// `MPI_Session_flush_buffer`)
    ///
    /// # Errors
    /// A rank has died.
    pub fn flush_rank_buffer(&self) -> Result<()> {
        self.flush("flush_rank_buffer", &self.rooms().of_rank)
    }

    /// Nonblocking [`flush_rank_buffer`](Communicator::flush_rank_buffer); completes like
    /// [`iflush_buffer`](Communicator::iflush_buffer). (`MPI_Buffer_iflush`,
    /// `MPI_Session_iflush_buffer`)
    ///
    /// # Errors
    /// Too many operations are pending.
    pub fn iflush_rank_buffer(&self) -> Result<Request<()>> {
        self.iflush("iflush_rank_buffer", &self.rooms().of_rank)
    }

    fn attach(&self, call: &'static str, slot: &Slot, room: BufferRoom) -> Result<()> {
        slot.attach(room).map_err(|error| self.error(call, error))
    }

    fn detach(&self, call: &'static str, slot: &Slot) -> Result<BufferRoom> {
        let room = slot.room().take();
        let missing = || self.error(call, ErrorKind::of_send_buffer("is not attached"));
        let room = room.ok_or_else(missing)?;
        drained(self.core(), &room).map_err(|failure| self.died(call, failure))?;
        Ok(room.limit)
    }

    fn flush(&self, call: &'static str, slot: &Slot) -> Result<()> {
        let Some(room) = slot.room().clone() else { return Ok(()) };
        drained(self.core(), &room).map_err(|failure| self.died(call, failure))
    }

    fn iflush(&self, call: &'static str, slot: &Slot) -> Result<Request<()>> {
        let room = slot.room().clone();
        let id = self.with_room(call, |engine| engine.start_flush(room))?;
        Ok(Request::<()>::without_buffers(OpHandle::new(self.origin(call), id, false)))
    }

    fn died(&self, call: &'static str, failure: Failure) -> Error {
        self.error(call, TransferError::Failed(failure).into())
    }
}

/// Waits until the buffer has no message left to send.
fn drained(core: &RankContext, room: &Room) -> Result<(), Failure> {
    core.wait_until(|_| room.is_empty().then_some(()))
}
