//! A buffer for buffered sends counts bytes and holds copies of messages. (MPI 4.1 §3.6)
//!
//! It limits the bytes that may wait to be sent. The allocator supplies the memory message by
//! message, so there is no fragmentation, and unused room takes no memory.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use motet_fabric::Region;

use crate::base::error::ErrorKind;
use crate::base::status::BSEND_OVERHEAD;

/// The capacity of a buffer for buffered sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRoom {
    /// So many bytes; each message needs [`BSEND_OVERHEAD`] more than its length.
    Bytes(usize),
    /// As many bytes as the messages need. (`MPI_BUFFER_AUTOMATIC`)
    Automatic,
}

/// A buffer for messages that wait to be sent.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) limit: BufferRoom,
    used: AtomicUsize,
}

impl Room {
    /// Reserves bytes, if there is room for them.
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

/// A slot to which the program may attach a buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot(Arc<Mutex<Option<Arc<Room>>>>);

impl Slot {
    pub(crate) fn room(&self) -> MutexGuard<'_, Option<Arc<Room>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn attach(&self, limit: BufferRoom) -> Result<(), ErrorKind> {
        let mut room = self.room();
        if room.is_some() {
            return Err(ErrorKind::of_send_buffer("is attached already"));
        }
        *room = Some(Arc::new(Room { limit, used: AtomicUsize::new(0) }));
        Ok(())
    }
}

/// The buffers for a send: that of its communicator, else that of its rank.
#[derive(Clone, Debug)]
pub(crate) struct Rooms {
    pub(crate) of_communicator: Slot,
    pub(crate) of_rank: Slot,
}

/// A copied message; dropping it frees its room.
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
