//! Communicators of the same ranks with a context of their own. (MPI 4.1 §7.4.2)

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::Communicator;
use crate::buffer::SendBuffer;
use crate::collective::Shape;
use crate::error::Result;
use crate::flight::{Flight, Home};
use crate::info::Info;
use crate::request::Request;

/// A communicator that the ranks are about to agree on; see [`Communicator::idup`].
///
/// It waits, is tested, awaited, and put into sets with other operations, as a [`Request`] is. It
/// may outlive the communicator that is copied.
#[must_use = "a request that is dropped goes on unseen, and its communicator is lost"]
pub struct CommunicatorRequest {
    id: Request<Vec<u64>>,
    home: Arc<Home>,
    info: Info,
}

impl Communicator {
    /// A communicator of the same ranks with a context of its own, without name and hints.
    /// Collective. (`MPI_Comm_dup`)
    ///
    /// # Errors
    /// That a rank has died or left.
    #[track_caller]
    pub fn dup(&self) -> Result<Communicator> {
        self.duplicate("dup", &Info::new())?.wait()
    }

    /// As [`dup`](Communicator::dup), with hints. None is known yet, and unknown ones are ignored.
    /// (`MPI_Comm_dup_with_info`)
    ///
    /// # Errors
    /// That a rank has died or left.
    #[track_caller]
    pub fn dup_with_info(&self, info: &Info) -> Result<Communicator> {
        self.duplicate("dup_with_info", info)?.wait()
    }

    /// Nonblocking [`dup`](Communicator::dup). (`MPI_Comm_idup`)
    ///
    /// ```
    /// # motet::threads(3, |world| {
    /// let pending = world.idup()?;
    /// // ... something useful meanwhile ...
    /// let copy = pending.wait()?;
    /// assert_eq!(world.compare(&copy), motet::Comparison::Congruent);
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn idup(&self) -> Result<CommunicatorRequest> {
        self.duplicate("idup", &Info::new())
    }

    /// Nonblocking [`dup_with_info`](Communicator::dup_with_info). (`MPI_Comm_idup_with_info`)
    ///
    /// # Errors
    /// None today.
    #[track_caller]
    pub fn idup_with_info(&self, info: &Info) -> Result<CommunicatorRequest> {
        self.duplicate("idup_with_info", info)
    }

    #[track_caller]
    fn duplicate(&self, call: &'static str, info: &Info) -> Result<CommunicatorRequest> {
        let id = self.agree_on_id(call)?;
        Ok(CommunicatorRequest { id, home: self.home.clone(), info: info.clone() })
    }

    /// All ranks learn a fresh id, that of the first.
    #[track_caller]
    pub(super) fn agree_on_id(&self, call: &'static str) -> Result<Request<Vec<u64>>> {
        let id = if self.rank() == 0 { self.core().fresh_id() } else { 0 };
        self.post(vec![id], |parts| {
            self.prepare::<u64>(call, Shape::bcast(self, Vec::span(parts), 0), None)
        })
    }
}

impl CommunicatorRequest {
    /// Waits until the communicator is there.
    ///
    /// # Errors
    /// That a rank has died or left.
    pub fn wait(self) -> Result<Communicator> {
        let CommunicatorRequest { id, home, info } = self;
        Ok(communicator(home, id.wait()?, info))
    }

    /// Whether the communicator is there. Moves the operation on if it can; never waits.
    ///
    /// # Errors
    /// That a rank has died or left; it counts as complete then.
    pub fn test(&mut self) -> Result<bool> {
        self.id.test()
    }
}

fn communicator(home: Arc<Home>, id: Vec<u64>, info: Info) -> Communicator {
    Communicator { info, ..Communicator::new(home, id[0]) }
}

impl Future for CommunicatorRequest {
    type Output = Result<Communicator>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Communicator>> {
        let this = &mut *self;
        Pin::new(&mut this.id)
            .poll(context)
            .map(|id| Ok(communicator(this.home.clone(), id?, std::mem::take(&mut this.info))))
    }
}

impl fmt::Debug for CommunicatorRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(out)
    }
}

impl AsMut<Flight> for CommunicatorRequest {
    fn as_mut(&mut self) -> &mut Flight {
        self.id.as_mut()
    }
}
