//! Buffers that the program has attached for buffered sends.
//!
//! Motet stores messages in its own memory and only accounts for the size of the buffer. So this
//! module keeps only the address and size that the program gets back when it detaches.

use std::sync::{Mutex, PoisonError};

use motet::BufferRoom;

use super::{Comm, Shape};
use crate::constants::MPI_BUFFER_AUTOMATIC;
use crate::error::AbiResult;

/// The address of an attached buffer, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Attached(Mutex<Option<usize>>);

/// The owner of a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    /// The process, found by one of its communicators.
    Process(&'a Comm),
    Comm(&'a Comm),
}

/// The buffer of the process, and of its sessions.
static PROCESS: Attached = Attached(Mutex::new(None));

/// Calls the function for the buffer of a process, or that for the buffer of a communicator.
macro_rules! call {
    ($holder:expr, $of_process:ident, $of_comm:ident ($($argument:expr)?)) => {
        match $holder {
            Holder::Process(comm) => comm.intra()?.$of_process($($argument)?)?,
            Holder::Comm(comm) => match comm.shape() {
                Shape::Between(between) => between.$of_comm($($argument)?)?,
                _ => comm.intra()?.$of_comm($($argument)?)?,
            },
        }
    };
}

impl Holder<'_> {
    fn attached(&self) -> &Attached {
        match self {
            Holder::Process(_) => &PROCESS,
            Holder::Comm(comm) => &comm.buffer,
        }
    }

    /// Attaches a buffer of `bytes` bytes; automatic if the address is that of automatic buffering.
    ///
    /// # Errors
    /// A buffer is attached already.
    pub(crate) fn attach(self, address: usize, bytes: usize) -> AbiResult {
        let room = match address {
            MPI_BUFFER_AUTOMATIC => BufferRoom::Automatic,
            _ => BufferRoom::Bytes(bytes),
        };
        call!(self, attach_rank_buffer, attach_buffer(room));
        *self.attached().0.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
        Ok(())
    }

    /// Waits until all buffered messages have been sent, and detaches the buffer. Returns its
    /// address and its bytes.
    ///
    /// # Errors
    /// No buffer is attached; a rank has died.
    pub(crate) fn detach(self) -> AbiResult<(usize, usize)> {
        // First, so that the address is not that of another buffer which a thread attaches
        // meanwhile.
        let address = self.attached().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let bytes = match call!(self, detach_rank_buffer, detach_buffer()) {
            BufferRoom::Bytes(bytes) => bytes,
            BufferRoom::Automatic => 0,
        };
        Ok((address.unwrap_or(0), bytes))
    }

    /// Waits until all buffered messages have been sent.
    ///
    /// # Errors
    /// A rank has died.
    pub(crate) fn flush(self) -> AbiResult {
        call!(self, flush_rank_buffer, flush_buffer());
        Ok(())
    }

    /// The same wait as an operation.
    ///
    /// # Errors
    /// The limit of pending operations is reached.
    pub(crate) fn start_flush(self) -> AbiResult<motet::Request<()>> {
        Ok(call!(self, iflush_rank_buffer, iflush_buffer()))
    }
}
