//! Groups.

use motet::{ErrorClass, Group};

use crate::arena::Arena;
use crate::exports;
use crate::handle::{Handle, Kind};

/// The kind of groups. What is kept is a group itself.
pub(crate) struct Groups;

impl Kind for Groups {
    type Object = Group;
    const CODE: u8 = 4;
    const NAME: &'static str = "MPI_Group";
    const CLASS: ErrorClass = ErrorClass::Group;

    fn arena() -> &'static Arena<Group> {
        static ARENA: Arena<Group> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<Group> {
        (Handle::constant(value) == exports::MPI_GROUP_EMPTY).then(Group::empty)
    }
}
