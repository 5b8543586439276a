//! Conversion of typed requests and persistent operations of the safe layer to untyped requests.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use super::{Request, State};
use crate::comm::communicator_request::CommunicatorRequest;
use crate::comm::persistent::{Persistent, Running};
use crate::comm::request;
use crate::comm::sets::Pending;
use crate::data::buffer::{HeldBuffers, StableBuffer};

impl<B: StableBuffer + 'static> From<request::Request<B>> for Request {
    fn from(mut request: request::Request<B>) -> Request {
        let handle = request.handle.take_over();
        let parts = request.parts.take().expect("buffers are there until taken");
        // SAFETY: a raw request drops a keeper when its operation is over or gives it to the
        // engine, which does the same; nothing is borrowed.
        let keeper = unsafe { HeldBuffers::<B>::keeper(parts) };
        Request::message_or_collective(handle, keeper, State::Once)
    }
}

impl<B: StableBuffer + 'static> Persistent<B> {
    /// Removes the type from a persistent operation in the given state.
    fn erase(mut self, state: State) -> Request {
        let handle = self.handle.take_over();
        let parts = self.parts.take().expect("buffers are there until taken");
        // SAFETY: a raw request gives a keeper to the engine, which drops it when the operation is
        // complete or cancelled; nothing is borrowed.
        let keeper = unsafe { HeldBuffers::<B>::keeper(parts) };
        Request::message_or_collective(handle, keeper, state)
    }
}

impl<B: StableBuffer + 'static> From<Persistent<B>> for Request {
    fn from(operation: Persistent<B>) -> Request {
        let is_active = operation.is_active();
        operation.erase(if is_active { State::Active } else { State::Inactive })
    }
}

impl<B: StableBuffer + 'static> From<Running<B>> for Request {
    fn from(running: Running<B>) -> Request {
        running.operation.erase(State::Active)
    }
}

impl<C: 'static> CommunicatorRequest<C> {
    /// Converts the request to an untyped one. The first call that reports its completion passes
    /// the communicator to `deliver`; that may be a call that does not complete the request, such
    /// as [`Request::get_status`]. If the request is freed before, `deliver` is never called.
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let (here, communicator) = std::sync::mpsc::channel();
    /// let mut request = world.idup()?.into_raw(move |copy| {
    ///     let _ = here.send(copy);
    /// });
    /// request.wait()?;
    /// assert_eq!(communicator.try_recv().map(|copy| copy.size()), Ok(2));
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn into_raw(mut self, deliver: impl FnOnce(C) + Send + 'static) -> Request {
        let handle = self.id.in_flight().0.take_over();
        Request::delivering(handle, move |over| {
            self.id.in_flight().0.end_as(over);
            // The call that asks for the result returns the error.
            if let Ok(communicator) = self.wait() {
                deliver(communicator);
            }
        })
    }
}
