//! The stage of the process: how far it is in its way through `MPI_Init` and `MPI_Finalize`.
//!
//! The process takes a seat in its world, and gives it up: [`crate::process`] does both, and
//! changes the stage with it. All other modules only ask.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Users of the seat: `MPI_Init`, and each session that has not ended.
static USERS: AtomicU32 = AtomicU32::new(0);

/// The progress of the process through `MPI_Init` and `MPI_Finalize`.
static STAGE: AtomicU8 = AtomicU8::new(BEFORE);
pub(crate) const BEFORE: u8 = 0;
/// A thread is in `MPI_Init`.
pub(crate) const BEGINNING: u8 = 1;
pub(crate) const INITIALIZED: u8 = 2;
/// A thread is in `MPI_Finalize`.
pub(crate) const ENDING: u8 = 3;
pub(crate) const FINALIZED: u8 = 4;
/// This process is a child by `fork` of a process with a seat.
pub(crate) const FORKED: u8 = 5;

/// The present stage.
pub(crate) fn now() -> u8 {
    STAGE.load(Ordering::Acquire)
}

/// Goes from one stage to another.
///
/// # Errors
/// The present stage, if it is another than the first.
pub(crate) fn advance(from: u8, to: u8) -> Result<u8, u8> {
    STAGE.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
}

/// Sets the stage.
pub(crate) fn set(stage: u8) {
    STAGE.store(stage, Ordering::Release);
}

/// Counts one more user of the seat.
pub(crate) fn add_user() {
    USERS.fetch_add(1, Ordering::AcqRel);
}

/// Counts one user of the seat less. Returns whether it was the last.
pub(crate) fn remove_user() -> bool {
    USERS.fetch_sub(1, Ordering::AcqRel) <= 1
}

/// Whether the program may make calls.
#[inline]
pub(crate) fn is_running() -> bool {
    USERS.load(Ordering::Acquire) > 0
}

/// Whether `MPI_Init` has ever been called.
pub(crate) fn is_initialized() -> bool {
    STAGE.load(Ordering::Acquire) >= INITIALIZED
}

/// Whether `MPI_Finalize` has been called.
pub(crate) fn is_finalized() -> bool {
    matches!(STAGE.load(Ordering::Acquire), FINALIZED | FORKED)
}

/// Whether this process is a child by `fork` of a process with a seat.
pub(crate) fn is_forked() -> bool {
    STAGE.load(Ordering::Acquire) == FORKED
}

/// Marks this process as such a child, if its parent has a seat that is in use.
pub(crate) fn become_child() {
    if USERS.swap(0, Ordering::AcqRel) > 0 {
        STAGE.store(FORKED, Ordering::Release);
    }
}

/// Whether `MPI_COMM_WORLD` and `MPI_COMM_SELF` exist.
#[inline]
pub(crate) fn is_in_world() -> bool {
    matches!(STAGE.load(Ordering::Acquire), INITIALIZED | ENDING)
}
