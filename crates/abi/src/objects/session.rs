//! Sessions.

use std::sync::{Mutex, PoisonError};

use motet::{ErrorClass, Group};

use super::{Errhandler, world};
use crate::arena::{Arena, ObjectRef};
use crate::error::{AbiError, AbiErrorSite, AbiResult, HasErrorHandler, Reaction, argument};
use crate::handle::{Kind, MPI_ABI_Session, MPI_Session};

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its handle, for callbacks.
    pub(crate) handle: MPI_Session,
    handler: Mutex<Errhandler>,
}

/// The process sets that every session knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessSet {
    World,
    Own,
}

impl Kind for MPI_ABI_Session {
    type Object = Session;
    type Own = ();
    const CODE: u8 = 9;
    const NAME: &'static str = "MPI_Session";
    const CLASS: ErrorClass = ErrorClass::Session;

    fn arena() -> &'static Arena<Session> {
        static ARENA: Arena<Session> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<ObjectRef<Session>> {
        None
    }
}

impl Session {
    /// A session with an error handler.
    pub(crate) fn new(handle: MPI_Session, handler: Errhandler) -> Session {
        Session { handle, handler: Mutex::new(handler) }
    }

    pub(crate) fn handler(&self) -> Errhandler {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_handler(&self, handler: Errhandler) {
        let mut place = self.handler.lock().unwrap_or_else(PoisonError::into_inner);
        let former = std::mem::replace(&mut *place, handler);
        drop(place);
        drop(former);
    }
}

impl ObjectRef<Session> {
    /// The result of a call on it: its error handler receives the error.
    pub(crate) fn answer<T>(&self, work: impl FnOnce() -> AbiResult<T>) -> AbiResult<T> {
        work().map_err(|fault| fault.at(self.site()))
    }

    /// The session as the site of an error.
    #[cold]
    pub(crate) fn site(&self) -> AbiErrorSite {
        AbiErrorSite::of(self.clone())
    }
}

impl HasErrorHandler for ObjectRef<Session> {
    fn reaction(&self) -> Reaction {
        self.handler().reaction()
    }

    fn handle(&self) -> usize {
        self.handle.value()
    }

    fn described(&self) -> String {
        "the session".to_owned()
    }
}

impl ProcessSet {
    pub(crate) const ALL: [ProcessSet; 2] = [ProcessSet::World, ProcessSet::Own];

    pub(crate) fn name(self) -> &'static str {
        match self {
            ProcessSet::World => "mpi://WORLD",
            ProcessSet::Own => "mpi://SELF",
        }
    }

    /// The set with this name, in upper or lower case.
    ///
    /// # Errors
    /// There is no such set.
    pub(crate) fn named(name: &str) -> AbiResult<ProcessSet> {
        let mut all = ProcessSet::ALL.into_iter();
        let found = all.find(|set| set.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| argument(format!("there is no set of processes named `{name}`")))
    }

    /// The processes in the set.
    ///
    /// # Errors
    /// The process has left its world.
    pub(crate) fn group(self) -> AbiResult<Group> {
        let world = world()
            .ok_or_else(|| AbiError::new(ErrorClass::Session, "the process has left its world"))?;
        let all = world.intra()?;
        Ok(match self {
            ProcessSet::World => all.group().clone(),
            ProcessSet::Own => all.group().include(&[all.rank()]).map_err(motet::Error::from)?,
        })
    }
}
