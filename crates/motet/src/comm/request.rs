//! Operations under way: waiting, testing, and awaiting them.

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

/// A nonblocking operation under way. It holds the buffers, and gives them back when it is
/// complete: by [`wait`](Request::wait), or as a future by `.await`.
///
/// A request that is dropped lets the operation go on, and its buffers are freed when that is
/// complete. But a receive that has met no message yet is cancelled: its message is for another
/// receive. One that has met its message takes it, and what was received is lost. (In a
/// [`scope`](crate::Communicator::scope), which waits for what was dropped, a receive goes on.)
/// (MPI 5.0 §3.7, §6.12)
#[must_use = "a request that is dropped goes on unseen, and its buffers are lost"]
pub struct Request<B: StableBuffer> {
    pub(crate) flight: OpHandle,
    pub(crate) parts: Option<B::Parts>,
}

// Nothing in a request is ever borrowed from itself.
impl<B: StableBuffer> Unpin for Request<B> {}

impl<B: StableBuffer> Request<B> {
    /// # Safety
    /// If the buffers are borrowed, somebody waits for the end of the operation before the borrow
    /// ends, whatever becomes of this request.
    pub(crate) unsafe fn new(flight: OpHandle, parts: B::Parts) -> Request<B> {
        Request { flight, parts: Some(parts) }
    }

    /// Waits until the operation is complete; gives the buffers back.
    ///
    /// # Errors
    /// What went wrong with the operation; the buffers are dropped then.
    pub fn wait(self) -> Result<B> {
        self.wait_with_status().map(|(buffers, _)| buffers)
    }

    /// Waits until the operation is complete; gives the buffers back, and for a receive what was
    /// received. For other operations the status means nothing.
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn wait_with_status(mut self) -> Result<(B, Status)> {
        let received = self.flight.wait()?;
        let buffers = self.reclaim();
        Ok((buffers, self.flight.status(received)))
    }

    /// Whether the operation is complete. Moves it on if it can; never waits.
    ///
    /// # Errors
    /// What went wrong with the operation; it counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.flight.test()
    }

    /// Cancels a receive that has met no message yet: it is complete then, its buffer as it was,
    /// and its status says so. A send is complete then, too: it is taken back, and its status says
    /// so, if its receiver knows nothing of it; else its message goes on from a copy.
    /// (`MPI_Cancel`, MPI 5.0 §3.8.4)
    ///
    /// # Errors
    /// A collective cannot be cancelled.
    pub fn cancel(&mut self) -> Result<()> {
        self.flight.cancel()
    }

    /// What runs and why, in a few lines, while it is under way; see
    /// [`Persistent::explain`](crate::Persistent::explain).
    pub fn explain(&self) -> String {
        self.flight.explain()
    }

    /// The operation's number in the engine.
    pub(crate) fn id(&self) -> Id {
        self.flight.id
    }

    /// The buffers of an operation that is over.
    fn reclaim(&mut self) -> B {
        assert!(self.flight.is_over());
        let parts = self.parts.take().expect("buffers are given back once");
        // SAFETY: the parts of this request, taken once; its operation is over, as asserted.
        unsafe { B::from_raw(parts) }
    }
}

impl Request<()> {
    /// The operation alone.
    pub(crate) fn into_flight(self) -> OpHandle {
        let request = ManuallyDrop::new(self);
        // SAFETY: neither used again nor dropped, and all else in it is nothing.
        unsafe { (&raw const request.flight).read() }
    }

    /// A request of an operation that has no buffers.
    pub(crate) fn without_buffers(flight: OpHandle) -> Request<()> {
        Request { flight, parts: Some(()) }
    }
}

impl<B: StableBuffer> Future for Request<B> {
    type Output = Result<B>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<B>> {
        self.flight.poll(context).map(|received| received.map(|_| self.reclaim()))
    }
}

impl<B: StableBuffer> Drop for Request<B> {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else { return };
        if self.flight.is_over() {
            // SAFETY: the parts of this request, taken once; its operation is over.
            drop(unsafe { B::from_raw(parts) });
            return;
        }
        // SAFETY: the engine drops a keeper when its operation is complete or cancelled; if the
        // buffers are borrowed, that is before the borrow ends, by the promise of `new`.
        let keeper = unsafe { HeldBuffers::<B>::keeper(parts) };
        self.flight.origin.core.give_up(self.flight.id, keeper);
    }
}

impl<B: StableBuffer> fmt::Debug for Request<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.flight.is_over() { "complete" } else { "under way" };
        write!(out, "Request({}, {state})", self.flight.origin.call)
    }
}

impl<B: StableBuffer> Pending for Request<B> {
    fn in_flight(&mut self) -> InFlight<'_> {
        InFlight(&mut self.flight)
    }
}
