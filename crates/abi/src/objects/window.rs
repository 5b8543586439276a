//! Windows and files, which are not supported: every handle of one is invalid.
//!
//! Calls that would open a file use the error handler of `MPI_FILE_NULL`, which the program can
//! set: a program that cannot open files may have another way to its data.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use motet::ErrorClass;

use super::Errhandler;
use crate::arena::{Arena, ObjectRef};
use crate::constants::MPI_FILE_NULL;
use crate::error::{AbiErrorSite, HasErrorHandler, Reaction};
use crate::handle::{Kind, MPI_ABI_File, MPI_ABI_Win, MPI_File};

/// A type without values, since there are no such objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Never {}

impl Kind for MPI_ABI_Win {
    type Object = Never;
    type Own = ();
    const CODE: u8 = 10;
    const NAME: &'static str = "MPI_Win";
    const CLASS: ErrorClass = ErrorClass::Win;

    fn arena() -> &'static Arena<Never> {
        static ARENA: Arena<Never> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<ObjectRef<Never>> {
        None
    }
}

impl Kind for MPI_ABI_File {
    type Object = Never;
    type Own = ();
    const CODE: u8 = 11;
    const NAME: &'static str = "MPI_File";
    const CLASS: ErrorClass = ErrorClass::File;

    fn arena() -> &'static Arena<Never> {
        static ARENA: Arena<Never> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<ObjectRef<Never>> {
        None
    }
}

/// What all files share, as long as none is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File;

impl File {
    /// The initial handler of files is the one that returns. (MPI 5.0 §14.7)
    fn place() -> MutexGuard<'static, Errhandler> {
        static HANDLER: Mutex<Errhandler> = Mutex::new(Errhandler::Return);
        HANDLER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The initial error handler of files, which is that of calls without a file.
    pub(crate) fn handler() -> Errhandler {
        File::place().clone()
    }

    /// Sets that handler.
    pub(crate) fn set_handler(handler: Errhandler) {
        let former = mem::replace(&mut *File::place(), handler);
        // After the lock is released: dropping the last reference retires its handle.
        drop(former);
    }
}

impl HasErrorHandler for File {
    fn reaction(&self) -> Reaction {
        File::handler().reaction()
    }

    fn handle(&self) -> usize {
        MPI_FILE_NULL.value()
    }

    fn described(&self) -> String {
        "MPI_FILE_NULL".to_owned()
    }
}

impl From<MPI_File> for AbiErrorSite {
    fn from(_: MPI_File) -> AbiErrorSite {
        AbiErrorSite::of(File)
    }
}
