//! Requests for new communicators: the ranks still have to agree on the identifier.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::base::error::Result;
use crate::comm::communicator::Communicator;
use crate::comm::request::Request;
use crate::comm::sets::{InFlight, Pending};

type Finish<C> = Box<dyn FnOnce(u64) -> C + Send>;

/// A request for a new communicator, whose identifier the ranks have yet to agree on; see
/// [`Communicator::idup`].
///
/// Like a [`Request`], it can be waited for, tested, awaited, and put into sets with other
/// operations. It may outlive the original communicator.
#[must_use = "a request that is dropped goes on unseen, and its communicator is lost"]
pub struct CommunicatorRequest<C = Communicator> {
    pub(crate) id: Request<Vec<u64>>,
    /// Makes the communicator from the identifier; called once.
    finish: Option<Finish<C>>,
}

impl<C: 'static> CommunicatorRequest<C> {
    /// Makes a request that calls `finish` with the identifier on which the ranks agree.
    pub(crate) fn new(
        id: Request<Vec<u64>>,
        finish: impl FnOnce(u64) -> C + Send + 'static,
    ) -> CommunicatorRequest<C> {
        CommunicatorRequest { id, finish: Some(Box::new(finish)) }
    }

    /// Converts the result: the request returns what `make` makes of the communicator.
    pub fn map<D>(self, make: impl FnOnce(C) -> D + Send + 'static) -> CommunicatorRequest<D> {
        let CommunicatorRequest { id, finish } = self;
        let finish = finish.map(|finish| -> Finish<D> { Box::new(|id| make(finish(id))) });
        CommunicatorRequest { id, finish }
    }
}

impl<C> CommunicatorRequest<C> {
    /// Waits until the ranks have agreed, and returns the communicator.
    ///
    /// # Errors
    /// A rank has died or has left the world.
    pub fn wait(mut self) -> Result<C> {
        let finish = self.finish.take().expect("a request gives one communicator");
        Ok(finish(self.id.wait()?[0]))
    }

    /// Tests whether the ranks have agreed. Makes progress if possible, and never waits.
    ///
    /// # Errors
    /// A rank has died or has left the world; the request counts as complete then.
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
