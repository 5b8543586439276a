//! The lock of a process heap: one that a fork can hold in the parent and release in the child.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::thread_id;

/// Attempts to take the lock before a thread sleeps between them.
const ATTEMPTS: u64 = 100;
/// How long such a thread sleeps: a fork may take long, and a thread of a realtime policy that only
/// yields could keep the owner off the core.
const PAUSE: Duration = Duration::from_micros(50);

/// A lock that knows which thread holds it. It is taken for some hundred nanoseconds, but for a
/// fork.
#[derive(Debug)]
pub(super) struct ForkLock {
    /// The thread that holds it, or 0.
    owner: AtomicUsize,
}

impl ForkLock {
    pub(super) const fn new() -> ForkLock {
        ForkLock { owner: AtomicUsize::new(0) }
    }

    /// Takes the lock and gets what it protects. `None` if this thread holds the lock already: it
    /// allocates inside the heap, or prepares a fork.
    pub(super) fn enter<'a, T>(
        &'a self,
        get: impl FnOnce() -> &'a mut T,
    ) -> Option<LockGuard<'a, T>> {
        self.take().then(|| LockGuard { lock: self, value: get() })
    }

    /// Takes the lock for a fork.
    pub(super) fn hold(&self) {
        let _is_free_before = self.take();
    }

    /// Releases the lock. Also a child may do so, whose only thread has held it.
    pub(super) fn release(&self) {
        self.owner.store(0, Ordering::Release);
    }

    /// Whether this thread has taken the lock, after waiting for others. `false` if it had it.
    fn take(&self) -> bool {
        let me = thread_id();
        for attempt in 0_u64.. {
            match self.owner.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(owner) if owner == me => return false,
                Err(_) if attempt < ATTEMPTS => thread::yield_now(),
                Err(_) => thread::sleep(PAUSE),
            }
        }
        unreachable!("the attempts do not end")
    }
}

/// The protected value, until this is dropped.
pub(super) struct LockGuard<'a, T> {
    lock: &'a ForkLock,
    value: &'a mut T,
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}

impl<T> Drop for LockGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_inside_does_not_enter_again_and_others_wait() {
        static LOCK: ForkLock = ForkLock::new();
        let mut first = 1;
        let mut second = 2;
        let held = LOCK.enter(|| &mut first).expect("nobody holds it");
        assert!(LOCK.enter(|| &mut second).is_none());
        let other = thread::spawn(|| {
            let mut third = 3;
            LOCK.take().then(|| third += 1);
            LOCK.release();
            third
        });
        assert_eq!(*held, 1);
        drop(held);
        assert_eq!(other.join().expect("it ends"), 4);
        LOCK.hold();
        assert!(LOCK.enter(|| &mut second).is_none(), "a fork holds it");
        LOCK.release();
        assert!(LOCK.enter(|| &mut second).is_some());
    }
}
