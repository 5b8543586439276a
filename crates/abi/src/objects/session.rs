//! Sessions.

use std::sync::{Arc, Mutex, PoisonError};

use motet::ErrorClass;

use super::Errhandler;
use crate::arena::Arena;
use crate::handle::{Kind, MPI_Session};

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    /// Its handle, which callbacks are told.
    pub(crate) handle: MPI_Session,
    handler: Mutex<Errhandler>,
}

impl Kind for Session {
    type Object = Arc<Session>;
    const CODE: u8 = 9;
    const NAME: &'static str = "MPI_Session";
    const CLASS: ErrorClass = ErrorClass::Session;

    fn arena() -> &'static Arena<Arc<Session>> {
        static ARENA: Arena<Arc<Session>> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<Arc<Session>> {
        None
    }
}

impl Session {
    /// A session with an error handler.
    pub(crate) fn publish(handler: Errhandler) -> MPI_Session {
        MPI_Session::keep_with(|handle| Arc::new(Session { handle, handler: Mutex::new(handler) }))
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
