//! The thread level: whether one thread at a time is in the library, and cheap updates of shared
//! words.
//!
//! An atomic update of a word costs as much as twenty plain ones, and a small call makes several. A
//! program that requires less than `MPI_THREAD_MULTIPLE` promises that its threads make no calls at
//! the same time; then the update is a load and a store. The promise begins with `MPI_Init`. It
//! ends for good as soon as another thread may enter the library: with the first session, to which
//! it does not apply, and with the first operator of the program, which a thread of the library may
//! call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static ALONE: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);

/// Begins the promise that one thread at a time is in the library, unless it has already ended.
/// That thread calls this.
pub(crate) fn begin() {
    ALONE.store(!ENDED.load(Ordering::Acquire), Ordering::Release);
}

/// Ends the promise: from now on several threads may be in the library. If the promise held until
/// now, no other thread is in the library at this moment.
pub(crate) fn end() {
    ENDED.store(true, Ordering::Release);
    ALONE.store(false, Ordering::Release);
}

/// Replaces a word by the result of `change`, and returns the former value; `None` if `change`
/// returns `None`.
#[inline]
pub(crate) fn update(word: &AtomicU64, mut change: impl FnMut(u64) -> Option<u64>) -> Option<u64> {
    if ALONE.load(Ordering::Relaxed) {
        let former = word.load(Ordering::Relaxed);
        word.store(change(former)?, Ordering::Relaxed);
        return Some(former);
    }
    word.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).ok()
}
