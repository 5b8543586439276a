//! Nonblocking requests: wait, test, cancel and await.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use motet_fabric::slab::Id;

use crate::base::error::Result;
use crate::base::status::Status;
use crate::comm::op_handle::OpHandle;
use crate::comm::sets::{InFlight, Pending};
use crate::data::buffer::{HeldBuffers, StableBuffer};

/// A nonblocking operation in flight. It holds the buffers and returns them on completion: by
/// [`wait`](Request::wait), or as a future by `.await`. (MPI 5.0 §3.7, §6.12)
///
/// A dropped request does not stop its operation: it goes on, and the library frees the buffers on
/// completion. A receive that has not matched a message is cancelled instead, and its message goes
/// to another receive. A receive that has matched takes its message, and the data are lost. (A
/// [`scope`](crate::Communicator::scope) waits for dropped requests, so that a receive in it goes
/// on.)
#[must_use = "a request that is dropped goes on unseen, and its buffers are lost"]
pub struct Request<B: StableBuffer> {
    pub(crate) handle: OpHandle,
    pub(crate) parts: Option<B::Parts>,
}

// Nothing in a request is ever borrowed from itself.
impl<B: StableBuffer> Unpin for Request<B> {}

impl<B: StableBuffer> Request<B> {
    /// # Safety
    /// If the buffers are borrowed, the caller ensures that the operation has ended before the
    /// borrow ends, whatever happens to this request.
    pub(crate) unsafe fn new(handle: OpHandle, parts: B::Parts) -> Request<B> {
        Request { handle, parts: Some(parts) }
    }

    /// Waits until the operation is complete, and returns the buffers. (`MPI_Wait`)
    ///
    /// # Errors
    /// The error of the operation; the buffers are dropped then.
    pub fn wait(self) -> Result<B> {
        self.wait_with_status().map(|(buffers, _)| buffers)
    }

    /// Waits until the operation is complete, and returns the buffers and the status of a receive.
    /// For other operations the status has no meaning.
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn wait_with_status(mut self) -> Result<(B, Status)> {
        let received = self.handle.wait()?;
        let buffers = self.reclaim();
        Ok((buffers, self.handle.status(received)))
    }

    /// Tests whether the operation is complete. Makes progress if possible, and never waits.
    ///
    /// # Errors
    /// The error of the operation, which counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.handle.test()
    }

    /// Cancels a receive that has not matched a message: it completes, its buffer is unchanged, and
    /// its status reports the cancellation. A send completes, too: if its receiver does not know of
    /// the message yet, the message is withdrawn and the status reports the cancellation; otherwise
    /// the library sends the message from a copy. (`MPI_Cancel`, MPI 5.0 §3.8.4)
    ///
    /// # Errors
    /// The operation is a collective, which cannot be cancelled.
    pub fn cancel(&mut self) -> Result<()> {
        self.handle.cancel()
    }

    /// Describes in a few lines the algorithm in use and the reason for it, while the operation is
    /// in flight; see [`Persistent::explain`](crate::Persistent::explain).
    pub fn explain(&self) -> String {
        self.handle.explain()
    }

    /// Returns the identifier of the operation in the engine.
    pub(crate) fn id(&self) -> Id {
        self.handle.id
    }

    /// Takes the buffers of a complete operation.
    fn reclaim(&mut self) -> B {
        assert!(self.handle.is_over());
        let parts = self.parts.take().expect("buffers are given back once");
        // SAFETY: the parts of this request, taken once; its operation is over, as asserted.
        unsafe { B::from_raw(parts) }
    }
}

impl Request<()> {
    /// Takes the operation handle without the buffers.
    pub(crate) fn into_flight(self) -> OpHandle {
        let request = ManuallyDrop::new(self);
        // SAFETY: neither used again nor dropped, and all else in it is nothing.
        unsafe { (&raw const request.handle).read() }
    }

    /// Makes a request for an operation without buffers.
    pub(crate) fn without_buffers(handle: OpHandle) -> Request<()> {
        Request { handle, parts: Some(()) }
    }
}

impl<B: StableBuffer> Future for Request<B> {
    type Output = Result<B>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<B>> {
        self.handle.poll(context).map(|received| received.map(|_| self.reclaim()))
    }
}

impl<B: StableBuffer> Drop for Request<B> {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        if self.handle.is_over() {
            // SAFETY: the parts of this request, taken once; its operation is over.
            drop(unsafe { B::from_raw(parts) });
            return;
        }
        // SAFETY: the engine drops a keeper when its operation is complete or cancelled; if the
        // buffers are borrowed, that is before the borrow ends, by the promise of `new`.
        let keeper = unsafe { HeldBuffers::<B>::keeper(parts) };
        self.handle.origin.core.give_up(self.handle.id, keeper);
    }
}

impl<B: StableBuffer> fmt::Debug for Request<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.handle.is_over() { "complete" } else { "under way" };
        write!(out, "Request({}, {state})", self.handle.origin.call)
    }
}

impl<B: StableBuffer> Pending for Request<B> {
    fn in_flight(&mut self) -> InFlight<'_> {
        InFlight(&mut self.handle)
    }
}
