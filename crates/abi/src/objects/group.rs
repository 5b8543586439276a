//! Groups.

use std::sync::LazyLock;

use motet::{ErrorClass, Group};

use crate::arena::{Arena, ObjectRef};
use crate::constants;
use crate::handle::{Handle, Kind, MPI_ABI_Group, MPI_Group};

impl Kind for MPI_ABI_Group {
    type Object = Group;
    type Own = ();
    const CODE: u8 = 4;
    const NAME: &'static str = "MPI_Group";
    const CLASS: ErrorClass = ErrorClass::Group;

    fn arena() -> &'static Arena<Group> {
        static ARENA: Arena<Group> = Arena::new();
        &ARENA
    }

    fn constant(value: usize) -> Option<ObjectRef<Group>> {
        static EMPTY: LazyLock<Group> = LazyLock::new(Group::empty);
        let is_empty = Handle::constant(value) == constants::MPI_GROUP_EMPTY;
        is_empty.then(|| ObjectRef::always(&*EMPTY))
    }
}

impl MPI_Group {
    /// Gives a handle to a group; a group without members has that of the standard.
    pub(crate) fn publish(group: Group) -> MPI_Group {
        if group.is_empty() { constants::MPI_GROUP_EMPTY } else { MPI_Group::keep(group) }
    }
}
