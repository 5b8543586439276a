//! Communicators that the ranks are about to agree on.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::base::error::Result;
use crate::comm::communicator::Communicator;
use crate::comm::request::Request;
use crate::comm::sets::{InFlight, Pending};

type Finish<C> = Box<dyn FnOnce(u64) -> C + Send>;

/// A communicator that the ranks are about to agree on; see [`Communicator::idup`].
///
/// It waits, is tested, awaited, and put into sets with other operations, as a [`Request`] is. It
/// may outlive the communicator that is copied.
#[must_use = "a request that is dropped goes on unseen, and its communicator is lost"]
pub struct CommunicatorRequest<C = Communicator> {
    pub(crate) id: Request<Vec<u64>>,
    /// Makes the communicator of its id, once.
    finish: Option<Finish<C>>,
}

impl<C: 'static> CommunicatorRequest<C> {
    /// The communicator is made of the id that the ranks agree on.
    pub(crate) fn new(
        id: Request<Vec<u64>>,
        finish: impl FnOnce(u64) -> C + Send + 'static,
    ) -> CommunicatorRequest<C> {
        CommunicatorRequest { id, finish: Some(Box::new(finish)) }
    }

    /// The same request for what is made of the communicator.
    pub fn map<D>(self, make: impl FnOnce(C) -> D + Send + 'static) -> CommunicatorRequest<D> {
        let CommunicatorRequest { id, finish } = self;
        let finish = finish.map(|finish| -> Finish<D> { Box::new(|id| make(finish(id))) });
        CommunicatorRequest { id, finish }
    }
}

impl<C> CommunicatorRequest<C> {
    /// Waits until the communicator is there.
    ///
    /// # Errors
    /// That a rank has died or left.
    pub fn wait(mut self) -> Result<C> {
        let finish = self.finish.take().expect("a request gives one communicator");
        Ok(finish(self.id.wait()?[0]))
    }

    /// Whether the communicator is there. Moves the operation on if it can; never waits.
    ///
    /// # Errors
    /// That a rank has died or left; it counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.id.test()
    }
}

impl<C> Future for CommunicatorRequest<C> {
    type Output = Result<C>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<C>> {
        let this = &mut *self;
        Pin::new(&mut this.id).poll(context).map(|id| {
            let finish = this.finish.take().expect("not polled again after it was ready");
            Ok(finish(id?[0]))
        })
    }
}

impl<C> fmt::Debug for CommunicatorRequest<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(out)
    }
}

impl<C> Pending for CommunicatorRequest<C> {
    fn in_flight(&mut self) -> InFlight<'_> {
        self.id.in_flight()
    }
}
