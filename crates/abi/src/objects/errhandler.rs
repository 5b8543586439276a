//! Error handlers.
//!
//! A handler of the program lives as long as an object uses it or the program holds a reference to
//! it. Creating a handler gives a reference, and so does querying the handler of an object; the
//! query returns the same handle as long as the handler lives. A handle without references is
//! invalid, even while an object still uses the handler.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use motet::ErrorClass;
use motet::env::InitialErrhandler;

use crate::arena::{Arena, ObjectRef};
use crate::constants::{MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use crate::error::{AbiError, AbiResult, Reaction, argument};
use crate::handle::{Callback, Kind, MPI_ABI_Errhandler, MPI_Errhandler};

/// The variable that names the initial error handler of a program.
pub(crate) const INITIAL_HANDLER: &str = motet::env::INITIAL_ERRHANDLER;

/// An error handler.
#[derive(Clone, Debug)]
pub(crate) enum Errhandler {
    /// All processes end.
    Fatal,
    /// The processes of the communicator end; in Motet all processes do.
    Abort,
    /// The code is returned.
    Return,
    /// A function of the program is called, then the code is returned.
    User(Arc<UserHandler>),
}

/// An error handler of the program.
#[derive(Debug)]
pub(crate) struct UserHandler {
    /// Address of the function.
    function: usize,
    target: Target,
    /// Its handle: a query for the handler of an object returns this one again.
    handle: MPI_Errhandler,
}

/// The kind of objects of an error handler of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Comm,
    Session,
    File,
}

/// The content of a handle.
pub(crate) enum Held {
    Predefined(Errhandler),
    User {
        /// References of the program to it.
        references: u32,
        /// Kept while there are references.
        kept: Option<Arc<UserHandler>>,
    },
}

impl Kind for MPI_ABI_Errhandler {
    type Object = Mutex<Held>;
    type Own = ();
    const CODE: u8 = 3;
    const NAME: &'static str = "MPI_Errhandler";
    const CLASS: ErrorClass = ErrorClass::Errhandler;

    fn arena() -> &'static Arena<Mutex<Held>> {
        static ARENA: Arena<Mutex<Held>> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<ObjectRef<Mutex<Held>>> {
        let found = PREDEFINED.iter().find(|(_, handle)| handle.value() == value);
        found.map(|(held, _)| ObjectRef::always(held))
    }
}

/// The handlers of the standard, with their handles.
static PREDEFINED: [(Mutex<Held>, MPI_Errhandler); 3] = [
    (Held::predefined(Errhandler::Fatal), MPI_ERRORS_ARE_FATAL),
    (Held::predefined(Errhandler::Abort), MPI_ERRORS_ABORT),
    (Held::predefined(Errhandler::Return), MPI_ERRORS_RETURN),
];

impl Held {
    const fn predefined(handler: Errhandler) -> Mutex<Held> {
        Mutex::new(Held::Predefined(handler))
    }
}

/// Locks the content of a handle.
fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Errhandler {
    /// What it does about an error.
    #[cold]
    pub(crate) fn reaction(&self) -> Reaction {
        match self {
            Errhandler::Fatal => Reaction::Fatal,
            Errhandler::Abort => Reaction::Abort,
            Errhandler::Return => Reaction::Return,
            Errhandler::User(user) => Reaction::Call(user.function),
        }
    }

    /// The initial error handler of a program.
    ///
    /// # Errors
    /// An unknown name.
    pub(crate) fn initial() -> AbiResult<Errhandler> {
        Ok(match motet::env::initial_errhandler()? {
            None | Some(InitialErrhandler::Fatal) => Errhandler::Fatal,
            Some(InitialErrhandler::Abort) => Errhandler::Abort,
            Some(InitialErrhandler::Return) => Errhandler::Return,
        })
    }

    /// Gives the program a reference to a handler of its own.
    ///
    /// # Safety
    /// The function has the type of a handler for the target.
    ///
    /// # Errors
    /// No function is given.
    pub(crate) unsafe fn publish(function: Callback, target: Target) -> AbiResult<MPI_Errhandler> {
        if function.is_null() {
            return Err(argument("the error handler is NULL"));
        }
        let function = function as usize;
        let user = |handle| Arc::new(UserHandler { function, target, handle });
        Ok(MPI_Errhandler::keep_with(|handle| {
            Mutex::new(Held::User { references: 1, kept: Some(user(handle)) })
        }))
    }

    /// Gives the program a reference to the handler.
    pub(crate) fn refer(&self) -> MPI_Errhandler {
        let user = match self {
            Errhandler::Fatal => return MPI_ERRORS_ARE_FATAL,
            Errhandler::Abort => return MPI_ERRORS_ABORT,
            Errhandler::Return => return MPI_ERRORS_RETURN,
            Errhandler::User(user) => user,
        };
        if let Ok(held) = user.handle.object()
            && let Held::User { references, kept } = &mut *lock(&held)
        {
            *references += 1;
            kept.get_or_insert_with(|| user.clone());
        }
        user.handle
    }
}

impl MPI_Errhandler {
    /// The handler, for an object of the kind `target`.
    ///
    /// # Errors
    /// A wrong handle; a handler of the program for objects of another kind.
    pub(crate) fn handler(self, target: Target) -> AbiResult<Errhandler> {
        let user = match &*lock(&*self.object()?) {
            Held::Predefined(handler) => return Ok(handler.clone()),
            Held::User { kept, .. } => kept.clone().ok_or_else(|| self.wrong())?,
        };
        if user.target != target {
            let text = "the error handler was made for objects of another kind";
            return Err(AbiError::new(ErrorClass::Errhandler, text));
        }
        Ok(Errhandler::User(user))
    }

    /// Frees a reference to the handler.
    ///
    /// # Errors
    /// A wrong handle.
    pub(crate) fn free(self) -> AbiResult {
        let held = self.object()?;
        let last = match &mut *lock(&held) {
            Held::Predefined(_) => None,
            Held::User { references: 0, .. } => return Err(self.wrong()),
            Held::User { references, kept } => {
                *references -= 1;
                if *references == 0 { kept.take() } else { None }
            }
        };
        // Dropped here, since the drop may retire its handle, which is locked above.
        drop(last);
        Ok(())
    }
}

impl Drop for UserHandler {
    fn drop(&mut self) {
        let _ = self.handle.retire();
    }
}
