//! Biased lock: costs next to nothing as long as one thread uses it. Protocol and proof:
//! `README.md`, "Locks".
//!
//! Nearly every rank is used by one thread only, but its state must be locked: another thread may
//! come. The cost of an ordinary lock is less its two atomic operations than the wait until earlier
//! stores, such as a message to another core, have left this core. So the lock is biased towards
//! the first thread that takes it: for that thread it is a plain flag. When another thread comes,
//! it has the system pass a fence in the first thread and revokes the bias; from then on the lock
//! is an ordinary one for all threads.
//!
//! A function of the user that runs under a lock must not take one: it would wait for itself. While
//! it runs, its thread is [excluded](exclude) from all locks: the thread has a special number,
//! towards which no lock is biased, so it reaches the slow path, and only the slow path checks for
//! the exclusion.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::{Cell, UnsafeCell};
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, compiler_fence};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use crate::membarrier::FenceScope;

/// The lock is biased towards no thread yet.
const NOBODY: u64 = 0;
/// The lock is an ordinary one.
const SHARED: u64 = u64::MAX;
/// The number of a thread that may take no lock at present.
const EXCLUDED: u64 = u64::MAX - 1;
/// Attempts to take an ordinary lock before the thread sleeps: some 20 µs.
const SPINS_BEFORE_SLEEP: u32 = 500;
/// Attempts to get a fence that the system has promised, one per millisecond.
const FENCE_ATTEMPTS: u32 = 1000;

/// The number of the next thread. No two threads have the same number; it has no other meaning.
static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// The number of this thread, which no other thread ever had.
#[inline]
fn number() -> u64 {
    NUMBER.with(|number| match number.get() {
        0 => {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
            number.get()
        }
        known => known,
    })
}

/// The exclusion of a thread from all locks, until it is dropped.
#[derive(Debug)]
#[must_use = "it is dropped at once"]
pub struct LockExclusion {
    /// The number of the thread before the exclusion.
    number: u64,
    thread: PhantomData<*const ()>,
}

/// Excludes this thread from all locks until the result is dropped, for a function of the user that
/// runs under a lock.
#[inline]
pub fn exclude() -> LockExclusion {
    LockExclusion { number: NUMBER.replace(EXCLUDED), thread: PhantomData }
}

/// Whether this thread is excluded.
#[inline]
pub fn is_excluded() -> bool {
    NUMBER.get() == EXCLUDED
}

impl Drop for LockExclusion {
    #[inline]
    fn drop(&mut self) {
        NUMBER.set(self.number);
    }
}

/// A value that a [`BiasedLock`] protects. Its use may produce work that cannot be done under the
/// lock, since that work calls foreign code.
pub trait Settle {
    /// The work that remains.
    type Rest;

    /// Whether no work remains. Called each time that the lock is released.
    fn is_settled(&self) -> bool;

    /// Takes the work that remains; `panics` says whether this thread has begun to panic since it
    /// took the lock.
    fn settle(&mut self, panics: bool) -> Self::Rest;

    /// Does the work that remained. Called after the lock has been released.
    fn finish(rest: Self::Rest);
}

/// A lock on a value that one thread at a time uses.
pub struct BiasedLock<T> {
    /// The number of the thread towards which the lock is biased, or one of `NOBODY` and `SHARED`.
    owner: AtomicU64,
    /// Whether the owner is using the value. Only the owner writes it.
    held: AtomicBool,
    /// The lock of all other threads, and of every thread once the bias is revoked.
    ordinary: Mutex<()>,
    value: UnsafeCell<T>,
}

// SAFETY: the protocol lets one thread at a time at the value, and orders what they do.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

/// The right to use the value of a lock, until it is dropped.
pub struct BiasedGuard<'a, T: Settle> {
    lock: &'a BiasedLock<T>,
    /// `None` if the lock is biased towards this thread. Dropped by hand, since a drop is seldom
    /// needed.
    ordinary: ManuallyDrop<Option<MutexGuard<'a, ()>>>,
    /// Whether the thread was already panicking when it took the lock; the value does not know of
    /// that panic.
    panicking: bool,
    /// Makes the guard stay in its thread.
    thread: PhantomData<*const ()>,
}

impl<T: Settle> BiasedLock<T> {
    /// Creates a lock that is biased towards the first thread that takes it, if the system supports
    /// the fences for it.
    pub fn new(value: T) -> BiasedLock<T> {
        let owner = if FenceScope::Threads.register() { NOBODY } else { SHARED };
        BiasedLock {
            owner: AtomicU64::new(owner),
            held: AtomicBool::new(false),
            ordinary: Mutex::new(()),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the lock, unless this thread is [excluded](exclude). A panic of an earlier holder is
    /// not passed on.
    ///
    /// # Panics
    /// If the lock is biased towards this thread, which holds it already.
    #[inline]
    pub fn lock(&self) -> Option<BiasedGuard<'_, T>> {
        let me = number();
        let is_own = self.owner.load(Ordering::Relaxed) == me && self.take_own(me);
        let ordinary = if is_own { None } else { self.lock_slowly(me)? };
        let (ordinary, panicking) = (ManuallyDrop::new(ordinary), thread::panicking());
        Some(BiasedGuard { lock: self, ordinary, panicking, thread: PhantomData })
    }

    /// Takes a lock that seems to be biased towards this thread. Returns whether it still is.
    #[inline]
    fn take_own(&self, me: u64) -> bool {
        assert!(!self.held.load(Ordering::Relaxed), "a thread takes a lock that it holds");
        self.held.store(true, Ordering::Relaxed);
        // The processor may swap the two; the thread that revokes the bias allows for that.
        compiler_fence(Ordering::SeqCst);
        if self.owner.load(Ordering::Acquire) == me {
            return true;
        }
        self.held.store(false, Ordering::Release);
        false
    }

    /// Biases the lock towards this thread, or takes the ordinary lock. `None` for an excluded
    /// thread.
    #[cold]
    fn lock_slowly(&self, me: u64) -> Option<Option<MutexGuard<'_, ()>>> {
        if me == EXCLUDED {
            return None;
        }
        let is_biased =
            self.owner.compare_exchange(NOBODY, me, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_biased && self.take_own(me) {
            return Some(None);
        }
        let ordinary = self.ordinary_soon();
        if self.owner.swap(SHARED, Ordering::SeqCst) != SHARED {
            fence_in_all_threads();
            while self.held.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }
        Some(Some(ordinary))
    }
}

impl<T> BiasedLock<T> {
    /// Takes the ordinary lock. Most threads hold it for less time than a sleep and a wake-up take,
    /// so this thread spins before it sleeps.
    fn ordinary_soon(&self) -> MutexGuard<'_, ()> {
        for _ in 0..SPINS_BEFORE_SLEEP {
            match self.ordinary.try_lock() {
                Ok(ordinary) => return ordinary,
                Err(TryLockError::Poisoned(panicked)) => return panicked.into_inner(),
                Err(TryLockError::WouldBlock) => spin_loop(),
            }
        }
        self.ordinary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes every thread of this process pass a fence.
fn fence_in_all_threads() {
    for _ in 0..FENCE_ATTEMPTS {
        if FenceScope::Threads.fence() {
            return;
        }
        thread::sleep(Duration::from_millis(1)); // it may be short of memory
    }
    panic!("the system no longer makes the barriers among threads that it has promised");
}

impl<T: Settle> Deref for BiasedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: whoever has a guard is the only one at the value (README, "Locks").
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: Settle> DerefMut for BiasedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed for as long.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: Settle> Drop for BiasedGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let is_settled = self.is_settled();
        // SAFETY: only here, once, and nothing looks at it after this.
        let ordinary = unsafe { ManuallyDrop::take(&mut self.ordinary) };
        if ordinary.is_none() && is_settled && !thread::panicking() {
            self.lock.held.store(false, Ordering::Release);
        } else {
            self.lock.give_back(ordinary, self.panicking);
        }
    }
}

impl<T: Settle> BiasedLock<T> {
    /// Releases a lock that is not biased, or whose value has work left. Takes the parts of the
    /// guard and not its address, so that guards need not lie in memory.
    #[cold]
    fn give_back(&self, ordinary: Option<MutexGuard<'_, ()>>, panicked_before: bool) {
        // SAFETY: of a guard that is being dropped, which is the only one at the value.
        let value = unsafe { &mut *self.value.get() };
        let panics = thread::panicking() && !panicked_before;
        let rest = (panics || !value.is_settled()).then(|| value.settle(panics));
        match ordinary {
            None => self.held.store(false, Ordering::Release),
            Some(ordinary) => drop(ordinary),
        }
        if let Some(rest) = rest {
            T::finish(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Values of which nothing is left to be done.
    macro_rules! settled {
        ($($type:ty),*) => {$(
            impl Settle for $type {
                type Rest = ();

                fn is_settled(&self) -> bool {
                    true
                }

                fn settle(&mut self, _panics: bool) {}

                fn finish((): ()) {}
            }
        )*};
    }

    settled!((), i32, (u64, u64));

    /// Counts up under the lock, and copies the count after the lock has been released.
    struct Telling(u64, Arc<Mutex<Vec<(u64, bool)>>>);

    impl Settle for Telling {
        type Rest = (u64, bool, Arc<Mutex<Vec<(u64, bool)>>>);

        fn is_settled(&self) -> bool {
            self.0.is_multiple_of(2)
        }

        fn settle(&mut self, panics: bool) -> Self::Rest {
            (self.0, panics, self.1.clone())
        }

        fn finish((count, panics, told): Self::Rest) {
            told.lock().unwrap().push((count, panics));
        }
    }

    /// With the lock biased towards this thread, and as an ordinary one.
    #[test]
    fn what_is_left_to_be_done_is_done_once() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let lock = Arc::new(BiasedLock::new(Telling(0, told.clone())));
        let count = |lock: &BiasedLock<Telling>| lock.lock().unwrap().0 += 1;
        (0..4).for_each(|_| count(&lock));
        let other = lock.clone();
        thread::spawn(move || (0..4).for_each(|_| count(&other))).join().unwrap();
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = lock.lock().unwrap();
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        let expected = [(1, false), (3, false), (5, false), (7, false), (8, true)];
        assert_eq!(*told.lock().unwrap(), expected);
    }

    #[test]
    fn one_thread_takes_it_again_and_again() {
        let lock = BiasedLock::new(0);
        for round in 0..1000 {
            let mut guard = lock.lock().unwrap();
            assert_eq!(*guard, round);
            *guard += 1;
        }
        assert!(!lock.held.load(Ordering::Relaxed));
    }

    #[test]
    #[should_panic(expected = "that it holds")]
    fn to_take_it_twice_is_told() {
        let lock = BiasedLock::new(());
        if lock.owner.load(Ordering::Relaxed) == SHARED {
            panic!("not tested: the system has no barriers among threads, that it holds");
        }
        let _first = lock.lock();
        let _second = lock.lock();
    }

    /// The loan is taken back in the middle of what its owner does, many times.
    #[test]
    fn nothing_is_lost_when_another_thread_comes() {
        const ROUNDS: u64 = 300;
        const TURNS: u64 = 200;
        for round in 0..ROUNDS {
            // Two words, to see halves of an update.
            let lock = Arc::new(BiasedLock::new((0u64, 0u64)));
            let add = |lock: &BiasedLock<(u64, u64)>| {
                let mut guard = lock.lock().unwrap();
                assert_eq!(guard.0, guard.1);
                guard.0 += 1;
                std::hint::black_box(&mut guard.0);
                guard.1 += 1;
            };
            add(&lock);
            let other = lock.clone();
            let late = thread::spawn(move || {
                for _ in 0..round % 50 {
                    std::hint::spin_loop();
                }
                (0..TURNS).for_each(|_| add(&other));
            });
            (0..TURNS).for_each(|_| add(&lock));
            late.join().expect("the other thread ends");
            assert_eq!(*lock.lock().unwrap(), (2 * TURNS + 1, 2 * TURNS + 1));
            assert_eq!(lock.owner.load(Ordering::Relaxed), SHARED);
        }
    }

    #[test]
    fn a_panic_gives_it_back() {
        let lock = BiasedLock::new(7);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = lock.lock().unwrap();
            panic!("on purpose");
        }));
        assert!(ended.is_err());
        assert_eq!(*lock.lock().unwrap(), 7);
    }

    /// Whether the lock is biased or an ordinary one, taken or not.
    #[test]
    fn who_is_kept_out_gets_no_lock_and_does_not_wait() {
        let lock = Arc::new(BiasedLock::new(7));
        let other = lock.clone();
        let attempts = |lock: &BiasedLock<i32>| {
            let held = lock.lock().unwrap();
            let out = exclude();
            assert!(is_excluded() && lock.lock().is_none());
            drop(held);
            assert!(lock.lock().is_none());
            drop(exclude());
            assert!(is_excluded() && lock.lock().is_none(), "the first one counts");
            drop(out);
            assert!(!is_excluded() && lock.lock().is_some());
        };
        attempts(&lock);
        thread::spawn(move || attempts(&other)).join().unwrap();
        attempts(&lock);
    }
}
