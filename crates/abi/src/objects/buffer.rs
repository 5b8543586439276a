//! Buffers that the program has attached for buffered sends.
//!
//! Motet stores messages in its own memory and only accounts for the size of the buffer. So this
//! module keeps only the address and size that the program gets back when it detaches.

use std::sync::{Mutex, PoisonError};

use motet::BufferRoom;

use super::{Comm, Shape};
use crate::error::AbiResult;
use crate::exports::MPI_BUFFER_AUTOMATIC;

/// A place where a buffer may be attached: the address of the one that is.
#[derive(Debug, Default)]
pub(crate) struct Attached(Mutex<Option<usize>>);

/// Whose buffer it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Holder<'a> {
    /// That of the process, found by one of its communicators.
    Process(&'a Comm),
    Comm(&'a Comm),
}

/// That of the process, and of its sessions.
static PROCESS: Attached = Attached(Mutex::new(None));

/// Calls what Motet has for the buffer of a process, or for that of a communicator.
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

    /// Attaches a buffer of so many bytes; automatic if that is its address.
    ///
    /// # Errors
    /// There is one already.
    pub(crate) fn attach(self, address: usize, bytes: usize) -> AbiResult {
        let room = match address {
            MPI_BUFFER_AUTOMATIC => BufferRoom::Automatic,
            _ => BufferRoom::Bytes(bytes),
        };
        call!(self, attach_rank_buffer, attach_buffer(room));
        *self.attached().0.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
        Ok(())
    }

    /// Waits until all that was buffered has been sent, and takes the buffer away: its address and
    /// its bytes.
    ///
    /// # Errors
    /// There is none; a rank has died.
    pub(crate) fn detach(self) -> AbiResult<(usize, usize)> {
        // First, so that it is not that of another buffer which somebody attaches meanwhile.
        let address = self.attached().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let bytes = match call!(self, detach_rank_buffer, detach_buffer()) {
            BufferRoom::Bytes(bytes) => bytes,
            BufferRoom::Automatic => 0,
        };
        Ok((address.unwrap_or(0), bytes))
    }

    /// Waits until all that was buffered has been sent.
    ///
    /// # Errors
    /// A rank has died.
    pub(crate) fn flush(self) -> AbiResult {
        call!(self, flush_rank_buffer, flush_buffer());
        Ok(())
    }

    /// The same as an operation.
    ///
    /// # Errors
    /// That there may be no more operations.
    pub(crate) fn start_flush(self) -> AbiResult<motet::Request<()>> {
        Ok(call!(self, iflush_rank_buffer, iflush_buffer()))
    }
}
