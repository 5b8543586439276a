//! The communicators of the process: `MPI_COMM_WORLD` and `MPI_COMM_SELF`.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet::raw;

use super::{Comm, FoundComm};
use crate::arena::Slot;
use crate::stage::is_in_world;

/// The content of the seat. It is taken once; from then until it is given up, `MPI_COMM_WORLD` and
/// `MPI_COMM_SELF` exist.
static WORLD: Slot<Comm> = Slot::new(None);
static OWN: Slot<Comm> = Slot::new(None);

/// Puts both into their places.
///
/// # Safety
/// This is called once.
pub(crate) unsafe fn fill_world(world: Comm, own: Comm) {
    // SAFETY: it is free, and filled here only, once.
    unsafe { WORLD.fill(world, ()) };
    // SAFETY: as above.
    unsafe { OWN.fill(own, ()) };
}

/// Leaves the world, as soon as no thread uses its communicators any more.
pub(crate) fn give_up_world() {
    OWN.retire(0);
    WORLD.retire(0);
}

/// The communicator of all ranks, also of a program that has sessions only.
#[inline]
pub(crate) fn world() -> Option<FoundComm> {
    WORLD.find(0)
}

/// The communicator of this rank alone, also of a program that has sessions only.
#[inline]
pub(crate) fn own() -> Option<FoundComm> {
    OWN.find(0)
}

/// The communicator whose error handler receives errors without an object: that of this rank alone
/// if the program has set its handler, else that of all ranks. The standard always names the former
/// (MPI 5.0 §9.3), but programs set a handler for all ranks, and other libraries follow them.
#[cold]
pub(crate) fn without_object() -> Option<FoundComm> {
    if !is_in_world() {
        return None;
    }
    own().filter(|own| own.has_set_handler()).or_else(world)
}

/// Whether the library refuses everything that the standard forbids: check mode.
pub(crate) fn is_strict() -> bool {
    own().is_some_and(|comm| comm.inside().is_some_and(raw::is_strict))
}
