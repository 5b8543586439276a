//! Generalized requests: operations outside the library that are waited for like those inside. (MPI
//! 4.1 §13.2)

use std::fmt;
use std::sync::Arc;

use motet_fabric::slab::Id;

use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::comm::request::Request;
use crate::rank::RankContext;

/// Frees the resources of an operation.
pub(crate) type Free = Box<dyn FnOnce() -> Result<()> + Send>;

/// An object of a generalized operation that is informed of its completion.
pub(crate) trait CompletionHook: Send + Sync {
    /// Called when the operation is complete. Returns a function to call once the completion is
    /// visible.
    fn complete(&self) -> Option<Free>;
}

/// Completes a generalized operation, from any thread. The rank leaves its world only after its
/// completers have been dropped, too.
///
/// A wait for an operation that is never completed does not return.
#[derive(Clone)]
pub struct Completer {
    core: Arc<RankContext>,
    id: Id,
    shared: Option<Arc<dyn CompletionHook>>,
}

impl Completer {
    pub(crate) fn new(
        core: Arc<RankContext>,
        id: Id,
        shared: Option<Arc<dyn CompletionHook>>,
    ) -> Completer {
        Completer { core, id, shared }
    }

    /// Completes the operation and wakes the threads that wait for it. Later calls have no effect.
    /// (`MPI_Grequest_complete`)
    ///
    /// # Errors
    /// The error of the callback that frees the operation, if its request has already been freed;
    /// or the caller is a reduction operator.
    pub fn complete(&self) -> Result<()> {
        let Some(mut engine) = self.core.free_engine() else {
            return Err(ErrorKind::WithinOperator.into());
        };
        let last = self.shared.as_ref().and_then(|shared| shared.complete());
        engine.end_generalized(self.id);
        drop(engine); // a callback may want it
        last.map_or(Ok(()), |last| last())
    }
}

impl fmt::Debug for Completer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Completer")
    }
}

impl Communicator {
    /// Starts an operation outside the library, and returns its request and its completer: the
    /// request completes when the program calls [`Completer::complete`]. It can be waited for,
    /// tested and awaited like any other request, and together with them. (`MPI_Grequest_start`)
    ///
    /// ```
    /// # motet::threads(2, |world| {
    /// let (mut reading, done) = world.generalized();
    /// let mut sum = world.iallreduce(vec![1], motet::Sum)?;
    /// let reader = std::thread::spawn(move || {
    ///     // ... something that takes its time ...
    ///     done.complete()
    /// });
    /// motet::wait_all(&mut [&mut reading, &mut sum])?;
    /// assert_eq!(sum.wait()?, [2]);
    /// # reader.join().expect("it does not panic")?;
    /// # Ok::<(), motet::Error>(())
    /// # })?.into_iter().collect::<Result<Vec<_>, _>>()?;
    /// # Ok::<(), motet::Error>(())
    /// ```
    pub fn generalized(&self) -> (Request<()>, Completer) {
        let id = self.core().engine().start_generalized();
        let handle = OpHandle::new(self.origin("generalized"), id, false);
        (Request::<()>::without_buffers(handle), Completer::new(self.core().clone(), id, None))
    }
}
