//! A slot of an arena: holds one object, and hands out references to it without a lock.
//!
//! The README.md of this folder describes the protocol and proves it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::{MaybeUninit, size_of};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use motet::raw::poison;

use super::Arena;
use crate::thread_level::update;

/// One user of the object.
const USER: u64 = 1;
const USERS: u64 = (1 << 32) - 1;
/// There is an object, and its handle is valid.
const LIVE: u64 = 1 << 32;
/// A thread has the exclusive part.
const CLAIMED: u64 = 1 << 33;
const GENERATION_SHIFT: u32 = 40;
/// The number of generations of a slot.
pub(crate) const GENERATIONS: u32 = 1 << 24;

/// A place for an object: a `T`, which all users share, and an `X`, which belongs to the thread
/// that has claimed it. The object lies at the address of its slot, so code that uses both needs
/// one address.
#[repr(C)]
pub(crate) struct Slot<T: 'static, X: 'static = ()> {
    shared: UnsafeCell<MaybeUninit<T>>,
    word: AtomicU64,
    /// The next free slot, while this one is free.
    pub(crate) next: AtomicU32,
    /// The arena and the index to which the slot returns when its object is gone.
    home: Option<(&'static Arena<T, X>, u32)>,
    own: UnsafeCell<MaybeUninit<X>>,
}

// SAFETY: the shared part is only given out as shared references, and dropped by whoever was the
// last to have one, in whichever thread; the other part by whoever has claimed it alone.
unsafe impl<T: Send + Sync, X: Send> Sync for Slot<T, X> {}

impl<T, X> Slot<T, X> {
    /// A slot of an arena; or one that is used once.
    pub(crate) const fn new(home: Option<(&'static Arena<T, X>, u32)>) -> Slot<T, X> {
        Slot {
            word: AtomicU64::new(0),
            next: AtomicU32::new(0),
            home,
            shared: UnsafeCell::new(MaybeUninit::uninit()),
            own: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Marks the memory of both parts for the address sanitizer, which then reports a use of an
    /// object that is gone.
    #[inline]
    pub(crate) fn mark(&self, mut mark: impl FnMut(*const u8, usize)) {
        mark(self.shared.get().cast(), size_of::<T>());
        mark(self.own.get().cast(), size_of::<X>());
    }

    /// How many objects the slot has had before the present or next one.
    pub(crate) fn generation(&self) -> u32 {
        (self.word.load(Ordering::Acquire) >> GENERATION_SHIFT) as u32
    }

    /// The generation of the present object.
    pub(crate) fn live(&self) -> Option<u32> {
        let word = self.word.load(Ordering::Acquire);
        (word & LIVE != 0).then_some((word >> GENERATION_SHIFT) as u32)
    }

    /// Puts an object here, which every thread can find from now on.
    ///
    /// # Safety
    /// The slot is free, and the caller is the one who has it.
    #[inline(always)] // what is kept is written where it is to lie
    pub(crate) unsafe fn fill(&self, shared: T, own: X) {
        self.mark(poison::allow);
        // SAFETY (for both): nobody else looks at a slot that is free.
        // SAFETY: see above.
        unsafe { self.shared.get().cast::<T>().write(shared) };
        // SAFETY: see above.
        unsafe { self.own.get().cast::<X>().write(own) };
        let word = u64::from(self.generation()) << GENERATION_SHIFT | LIVE;
        self.word.store(word, Ordering::Release);
    }

    /// Changes the word if the object of this generation is here.
    #[inline]
    fn change(&self, generation: u32, to: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let there = u64::from(generation) << GENERATION_SHIFT | LIVE;
        let is_there = |word: u64| word & !(USERS | CLAIMED) == there;
        update(&self.word, |word| if is_there(word) { to(word) } else { None })
    }

    /// Finds the object, which stays as long as a thread has it.
    #[inline]
    pub(crate) fn find(&'static self, generation: u32) -> Option<ObjectRef<T, X>> {
        self.change(generation, |word| Some(word + USER))?;
        Some(ObjectRef { object: self.object(), slot: Some(self) })
    }

    /// Claims the object with its exclusive part, unless a thread has that.
    #[inline]
    pub(crate) fn claim(&'static self, generation: u32) -> Option<Claim<T, X>> {
        self.change(generation, |word| (word & CLAIMED == 0).then_some(word | CLAIMED))?;
        Some(Claim { slot: self })
    }

    /// Makes the object unfindable. It is dropped when its last user is done.
    pub(crate) fn retire(&self, generation: u32) -> bool {
        let former = self.change(generation, |word| Some(word & !LIVE));
        if let Some(former) = former {
            self.go_if_last(former & !LIVE);
        }
        former.is_some()
    }

    /// Takes the object out, if no thread has it.
    pub(crate) fn take(&self, generation: u32) -> Option<T> {
        self.change(generation, |word| (word & (USERS | CLAIMED) == 0).then_some(word & !LIVE))?;
        Some(self.empty().0)
    }

    fn object(&self) -> NonNull<T> {
        // The cell is not null, and holds no more than the object.
        NonNull::from(&self.shared).cast()
    }

    /// Takes the new value of the word after a user has left: if no user, claim or handle
    /// remains, the object is dropped.
    #[inline]
    fn go_if_last(&self, word: u64) {
        if word & (USERS | LIVE | CLAIMED) == 0 {
            self.drop_object();
        }
    }

    #[inline(never)] // most who look whether they are the last are not
    fn drop_object(&self) {
        // SAFETY (for both): as in `empty`; whoever fills the slot comes after `free`.
        // SAFETY: see above.
        unsafe { self.shared.get().cast::<T>().drop_in_place() };
        // SAFETY: see above.
        unsafe { self.own.get().cast::<X>().drop_in_place() };
        self.free();
    }

    /// Takes the object out and frees the slot. Only for the thread after whose change of the word
    /// no other thread changes it.
    #[inline]
    fn empty(&self) -> (T, X) {
        // SAFETY (for both): there was an object, which nobody has and nobody can get any more; see
        // the README.md.
        // SAFETY: see above.
        let shared = unsafe { self.shared.get().cast::<T>().read() };
        // SAFETY: see above.
        let own = unsafe { self.own.get().cast::<X>().read() };
        self.free();
        (shared, own)
    }

    /// Marks the slot as free.
    #[inline]
    fn free(&self) {
        self.mark(poison::forbid);
        let next = self.generation() + 1;
        // The last generation stays for ever, without an object.
        if next < GENERATIONS {
            self.word.store(u64::from(next) << GENERATION_SHIFT, Ordering::Release);
            if let Some((arena, index)) = self.home {
                arena.give_back(index);
            }
        }
    }
}

/// A found object, which stays while this exists; or a static one.
pub(crate) struct ObjectRef<T: 'static, X: 'static = ()> {
    object: NonNull<T>,
    slot: Option<&'static Slot<T, X>>,
}

// SAFETY: it is a shared reference, and may be what drops the object.
unsafe impl<T: Send + Sync, X: Send> Send for ObjectRef<T, X> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync, X: Send> Sync for ObjectRef<T, X> {}

impl<T, X> ObjectRef<T, X> {
    /// A static object.
    #[inline]
    pub(crate) fn always(object: &'static T) -> ObjectRef<T, X> {
        ObjectRef { object: NonNull::from(object), slot: None }
    }
}

impl<T, X> Deref for ObjectRef<T, X> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: it stays while this is here, and nobody has it exclusively.
        unsafe { self.object.as_ref() }
    }
}

impl<T, X> Clone for ObjectRef<T, X> {
    #[inline]
    fn clone(&self) -> ObjectRef<T, X> {
        if let Some(slot) = self.slot {
            // Also for a retired object: it stays as long as this reference has it.
            update(&slot.word, |word| Some(word + USER));
        }
        ObjectRef { object: self.object, slot: self.slot }
    }
}

impl<T, X> Drop for ObjectRef<T, X> {
    #[inline]
    fn drop(&mut self) {
        let Some(slot) = self.slot else { return };
        let former = update(&slot.word, |word| Some(word - USER));
        slot.go_if_last(former.map_or(LIVE, |former| former - USER));
    }
}

impl<T: fmt::Debug, X> fmt::Debug for ObjectRef<T, X> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

/// A found object, with its exclusive part.
pub(crate) struct Claim<T: 'static, X: 'static> {
    slot: &'static Slot<T, X>,
}

impl<T, X> Claim<T, X> {
    /// The shared part.
    #[inline]
    pub(crate) fn shared(&self) -> &T {
        // SAFETY: the object is here as long as it is claimed, and nobody has it exclusively.
        unsafe { self.slot.object().as_ref() }
    }

    /// The exclusive part.
    #[inline]
    pub(crate) fn own(&mut self) -> &mut X {
        // SAFETY: there is an object, and one claim.
        let own = unsafe { &mut *self.slot.own.get() };
        // SAFETY: as above.
        unsafe { own.assume_init_mut() }
    }

    /// Makes the object unfindable.
    #[inline]
    pub(crate) fn retire(self) {
        self.give_up(CLAIMED | LIVE);
        std::mem::forget(self);
    }

    #[inline]
    fn give_up(&self, what: u64) {
        let former = update(&self.slot.word, |word| Some(word & !what));
        self.slot.go_if_last(former.map_or(LIVE, |former| former & !what));
    }
}

impl<T, X> Drop for Claim<T, X> {
    #[inline]
    fn drop(&mut self) {
        self.give_up(CLAIMED);
    }
}
