//! Windows and files, of which there are none yet: every handle of one is wrong.

use motet::ErrorClass;

use crate::arena::Arena;
use crate::handle::Kind;
use crate::slot::Found;

/// The kind of windows.
pub(crate) struct Window;

/// The kind of files.
pub(crate) struct File;

/// What there is none of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Never {}

impl Kind for Window {
    type Object = Never;
    type Own = ();
    const CODE: u8 = 10;
    const NAME: &'static str = "MPI_Win";
    const CLASS: ErrorClass = ErrorClass::Win;

    fn arena() -> &'static Arena<Never> {
        static ARENA: Arena<Never> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<Found<Never>> {
        None
    }
}

impl Kind for File {
    type Object = Never;
    type Own = ();
    const CODE: u8 = 11;
    const NAME: &'static str = "MPI_File";
    const CLASS: ErrorClass = ErrorClass::File;

    fn arena() -> &'static Arena<Never> {
        static ARENA: Arena<Never> = Arena::new();
        &ARENA
    }

    fn constant(_: usize) -> Option<Found<Never>> {
        None
    }
}
