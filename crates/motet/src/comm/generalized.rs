//! Operations outside the library that are waited for like those inside. (MPI 4.1 §13.2)

use std::fmt;
use std::sync::Arc;

use motet_fabric::slab::Id;

use crate::base::error::{ErrorKind, Result};
use crate::comm::communicator::Communicator;
use crate::comm::op_handle::OpHandle;
use crate::comm::request::Request;
use crate::rank::RankContext;

/// Frees what belongs to an operation.
pub(crate) type Free = Box<dyn FnOnce() -> Result<()> + Send>;

/// What belongs to an operation and is told of its end.
pub(crate) trait CompletionHook: Send + Sync {
    /// The operation is complete. Returns what is to be done once that is known, if anything is.
    fn complete(&self) -> Option<Free>;
}

/// Ends a generalized operation, from whatever thread. It keeps its rank in the world: that is left
/// only when this, too, has been dropped.
///
/// Whoever waits for an operation that nobody completes waits for ever.
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

    /// The operation is complete: whoever waits for it goes on. More than once means no more than
    /// once. (`MPI_Grequest_complete`)
    ///
    /// # Errors
    /// What the callback says that frees the operation, if its request is gone already; that an
    /// operator calls it.
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
    /// Begins an operation outside the library: its request is complete when the completer says
    /// so. It can be waited for, tested and awaited like any other, and together with them.
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
        let flight = OpHandle::new(self.origin("generalized"), id, false);
        (Request::<()>::without_buffers(flight), Completer::new(self.core().clone(), id, None))
    }
}
