//! Buffered sends: the message is copied, and the send is complete at once. (MPI 4.1 §3.6)
//!
//! A buffer is room that is counted: so many bytes may wait to be sent. The memory comes from the
//! allocator, message by message, so nothing is fragmented and nothing is taken that is not used.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use motet_fabric::{Failure, Region, TransferError};

use super::BSEND_OVERHEAD;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorKind, Result};
use crate::op_handle::OpHandle;
use crate::rank::RankContext;
use crate::request::Request;

/// How much a buffer for buffered sends holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRoom {
    /// So many bytes; each message needs [`BSEND_OVERHEAD`] more than its length.
    Bytes(usize),
    /// As many as there are messages. (`MPI_BUFFER_AUTOMATIC`)
    Automatic,
}

/// What is wrong with the buffer for buffered sends.
fn wrong(problem: impl Into<String>) -> ErrorKind {
    ErrorKind::Buffer { which: "buffer for buffered sends", problem: problem.into() }
}

/// A message of so many bytes does not fit into what is left of it.
pub(crate) fn no_room(needed: usize) -> ErrorKind {
    wrong(format!("has no room for {needed} bytes and {BSEND_OVERHEAD} more, or is not attached"))
}

/// Room for messages that wait to be sent.
#[derive(Debug)]
pub(crate) struct Room {
    limit: BufferRoom,
    used: AtomicUsize,
}

impl Room {
    /// Sets bytes aside, if there is room for them.
    fn reserve(&self, bytes: usize) -> bool {
        let limit = match self.limit {
            BufferRoom::Bytes(limit) => limit,
            BufferRoom::Automatic => usize::MAX,
        };
        let more = |used: usize| used.checked_add(bytes).filter(|&used| used <= limit);
        self.used.try_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used.load(Ordering::Acquire) == 0
    }
}

/// A place where a buffer may be attached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Arc<Room>>>>);

impl Slot {
    fn room(&self) -> MutexGuard<'_, Option<Arc<Room>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attach(&self, limit: BufferRoom) -> Result<(), ErrorKind> {
        let mut room = self.room();
        if room.is_some() {
            return Err(wrong("is attached already"));
        }
        *room = Some(Arc::new(Room { limit, used: AtomicUsize::new(0) }));
        Ok(())
    }
}

/// The buffers that a send may use: that of its communicator, else that of its rank.
#[derive(Clone, Debug)]
pub(crate) struct Rooms {
    pub(crate) of_communicator: Slot,
    pub(crate) of_rank: Slot,
}

/// A message that has been copied; its room is free again when it is dropped.
pub(crate) struct Copied {
    data: Box<[u8]>,
    room: Arc<Room>,
}

impl Copied {
    pub(crate) fn region(&self) -> Region {
        Region::of(&self.data)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        self.room.used.fetch_sub(self.data.len() + BSEND_OVERHEAD, Ordering::AcqRel);
    }
}

impl Rooms {
    /// Copies a message. `None` if there is no room.
    ///
    /// # Safety
    /// The data can be read.
    pub(crate) unsafe fn copy(&self, data: Region) -> Option<Copied> {
        let room = self.of_communicator.room().clone().or_else(|| self.of_rank.room().clone())?;
        if !room.reserve(data.bytes().checked_add(BSEND_OVERHEAD)?) {
            return None;
        }
        let bytes: &[u8] = match data.bytes() {
            0 => &[],
            // SAFETY: readable, by the caller's promise.
            bytes => unsafe { std::slice::from_raw_parts(data.start(), bytes) },
        };
        Some(Copied { data: bytes.into(), room })
    }
}

impl Communicator {
    /// Gives the buffered sends of this communicator a buffer of their own. Without one they use
    /// that of the rank. Local. (`MPI_Comm_attach_buffer`, MPI 4.1 §3.6.1)
    ///
    /// # Errors
    /// There is one already.
    pub fn attach_buffer(&self, room: BufferRoom) -> Result<()> {
        self.attach("attach_buffer", &self.rooms().of_communicator, room)
    }

    /// Waits until all that was buffered here has been sent, and takes the buffer away. Says what
    /// it was. (`MPI_Comm_detach_buffer`)
    ///
    /// # Errors
    /// There is none; a rank has died.
    pub fn detach_buffer(&self) -> Result<BufferRoom> {
        self.detach("detach_buffer", &self.rooms().of_communicator)
    }

    /// Waits until all that was buffered here has been sent. (`MPI_Comm_flush_buffer`)
    ///
    /// # Errors
    /// A rank has died.
    pub fn flush_buffer(&self) -> Result<()> {
        self.flush("flush_buffer", &self.rooms().of_communicator)
    }

    /// Nonblocking [`flush_buffer`](Communicator::flush_buffer): complete when nothing is buffered
    /// here, so what is buffered after the call counts too. (`MPI_Comm_iflush_buffer`)
    ///
    /// # Errors
    /// That there may be no more operations.
    pub fn iflush_buffer(&self) -> Result<Request<()>> {
        self.iflush("iflush_buffer", &self.rooms().of_communicator)
    }

    /// Gives the buffered sends of this rank a buffer, on whatever communicator that has none of
    /// its own. Local. (`MPI_Buffer_attach`, `MPI_Session_attach_buffer`)
    ///
    /// # Errors
    /// There is one already.
    pub fn attach_rank_buffer(&self, room: BufferRoom) -> Result<()> {
        self.attach("attach_rank_buffer", &self.rooms().of_rank, room)
    }

    /// Waits until all that was buffered in the rank's buffer has been sent, and takes it away.
    /// Says what it was. (`MPI_Buffer_detach`, `MPI_Session_detach_buffer`)
    ///
    /// # Errors
    /// There is none; a rank has died.
    pub fn detach_rank_buffer(&self) -> Result<BufferRoom> {
        self.detach("detach_rank_buffer", &self.rooms().of_rank)
    }

    /// Waits until all that was buffered in the rank's buffer has been sent. (`MPI_Buffer_flush`,
    /// `MPI_Session_flush_buffer`)
    ///
    /// # Errors
    /// A rank has died.
    pub fn flush_rank_buffer(&self) -> Result<()> {
        self.flush("flush_rank_buffer", &self.rooms().of_rank)
    }

    /// Nonblocking [`flush_rank_buffer`](Communicator::flush_rank_buffer), as
    /// [`iflush_buffer`](Communicator::iflush_buffer). (`MPI_Buffer_iflush`,
    /// `MPI_Session_iflush_buffer`)
    ///
    /// # Errors
    /// That there may be no more operations.
    pub fn iflush_rank_buffer(&self) -> Result<Request<()>> {
        self.iflush("iflush_rank_buffer", &self.rooms().of_rank)
    }

    fn attach(&self, call: &'static str, slot: &Slot, room: BufferRoom) -> Result<()> {
        slot.attach(room).map_err(|error| self.error(call, error))
    }

    fn detach(&self, call: &'static str, slot: &Slot) -> Result<BufferRoom> {
        let room = slot.room().take();
        let missing = || self.error(call, wrong("is not attached"));
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

/// Waits until nothing is left to be sent.
fn drained(core: &RankContext, room: &Room) -> Result<(), Failure> {
    core.wait_until(|_| room.is_empty().then_some(()))
}
