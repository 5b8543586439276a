//! Whether one thread at a time is in the library, and words that threads change.
//!
//! An atomic change of a word costs as much as twenty plain ones, and a small call makes several.
//! A program that asks for less than `MPI_THREAD_MULTIPLE` promises that its threads make no calls
//! at the same time; then the same change is a load and a store. The promise is given by
//! `MPI_Init`, before which nothing is known, and ends for good where somebody else may come: with
//! the first session, which has threads of its own, and with the first operator of the program,
//! which a thread of the library may call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static ALONE: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);

/// From now on one thread at a time is in the library, unless that has ended already. Called by
/// that thread.
pub(crate) fn begin() {
    ALONE.store(!ENDED.load(Ordering::Acquire), Ordering::Release);
}

/// From now on there may be several threads. While there was a promise, nobody else is in the
/// library now; who comes next comes after this.
pub(crate) fn end() {
    ENDED.store(true, Ordering::Release);
    ALONE.store(false, Ordering::Release);
}

/// Changes a word to what `change` says, if it says anything; returns what it was before.
#[inline]
pub(crate) fn update(word: &AtomicU64, mut change: impl FnMut(u64) -> Option<u64>) -> Option<u64> {
    if ALONE.load(Ordering::Relaxed) {
        let former = word.load(Ordering::Relaxed);
        word.store(change(former)?, Ordering::Relaxed);
        return Some(former);
    }
    word.fetch_update(Ordering::AcqRel, Ordering::Acquire, change).ok()
}
