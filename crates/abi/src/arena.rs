//! The arena of a kind of objects: generational slots that handles of C refer to.
//!
//! An arena is a list of slots that never move: chunk `k` has `64 · 2^k` slots and is allocated
//! when the first of them is needed. Both the look-up of an object and its insertion are lock-free:
//! see the README.md of this folder. The generation of a slot counts its objects; it distinguishes
//! stale handles from the handle of the current object.
//!
//! A slot whose generations are used up is not reused.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod slot;

pub(crate) use slot::{Claim, GENERATIONS, ObjectRef, Slot};

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use motet::raw::poison;

use crate::thread_level::update;

const FIRST_CHUNK_SLOTS: u32 = 64;
/// Enough for all indices.
const CHUNKS: usize = 27;

/// The place of an object: its slot and its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotIndex {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

type Chunk<T, X> = OnceLock<Box<[Slot<T, X>]>>;

/// Objects of one kind; see [`Slot`] for their two parts.
pub(crate) struct Arena<T: 'static, X: 'static = ()> {
    chunks: [Chunk<T, X>; CHUNKS],
    /// The slot that was freed last, and a count of changes: `count · 2^32 + index + 1`, or no
    /// index if there is none.
    free: AtomicU64,
    /// Slots that have ever been used.
    used: AtomicU64,
}

impl<T, X> Arena<T, X> {
    pub(crate) const fn new() -> Arena<T, X> {
        let chunks = [const { OnceLock::new() }; CHUNKS];
        Arena { chunks, free: AtomicU64::new(0), used: AtomicU64::new(0) }
    }

    /// The chunk of a slot, and the index of the slot there.
    #[inline]
    fn split(index: u32) -> (usize, usize) {
        let from_first = u64::from(index) + u64::from(FIRST_CHUNK_SLOTS);
        let chunk = from_first.ilog2() - FIRST_CHUNK_SLOTS.ilog2();
        (chunk as usize, (from_first - (u64::from(FIRST_CHUNK_SLOTS) << chunk)) as usize)
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T, X>> {
        let (chunk, place) = Self::split(index);
        let slots = self.chunks.get(chunk)?.get()?;
        debug_assert!(place < slots.len());
        // SAFETY: `place` is the rest of the index in this chunk, and so below the chunk's length.
        Some(unsafe { slots.get_unchecked(place) })
    }

    /// The slot, which has never been used or has been freed.
    fn made(&'static self, index: u32) -> &'static Slot<T, X> {
        let (chunk, place) = Self::split(index);
        let slots = FIRST_CHUNK_SLOTS << chunk;
        // The first slot of this chunk comes after those of all smaller chunks.
        let first = slots - FIRST_CHUNK_SLOTS;
        let make = || {
            let new = (0..slots).map(|each| Slot::new(Some((self, first + each))));
            let new: Box<[Slot<T, X>]> = new.collect();
            new.iter().for_each(|slot| slot.mark(poison::forbid));
            new
        };
        &self.chunks[chunk].get_or_init(make)[place]
    }

    /// A slot that no other object has.
    fn unused(&self) -> u32 {
        let next = |free: u64| {
            let first = (free as u32).checked_sub(1)?;
            let next = self.slot(first)?.next.load(Ordering::Relaxed);
            Some(counted(free, next))
        };
        if let Some(free) = update(&self.free, next) {
            return free as u32 - 1;
        }
        let used = update(&self.used, |used| Some(used + 1)).unwrap_or(0);
        u32::try_from(used).expect("there is not so much memory")
    }

    /// Frees a slot whose object is gone.
    pub(crate) fn give_back(&self, index: u32) {
        let Some(slot) = self.slot(index) else { return };
        update(&self.free, |free| {
            slot.next.store(free as u32, Ordering::Relaxed);
            Some(counted(free, index + 1))
        });
    }

    /// Stores an object, which may know its own place.
    #[inline(always)] // what is kept is written where it is to lie
    pub(crate) fn insert(&'static self, object: impl FnOnce(SlotIndex) -> (T, X)) -> SlotIndex {
        let index = self.unused();
        let slot = self.made(index);
        let place = SlotIndex { index, generation: slot.generation() };
        let (shared, own) = object(place);
        // SAFETY: it is free, and was given to this one.
        unsafe { slot.fill(shared, own) };
        place
    }

    /// Finds the object.
    #[inline(always)] // a call of C begins with it
    pub(crate) fn find(&'static self, place: SlotIndex) -> Option<ObjectRef<T, X>> {
        self.slot(place.index)?.find(place.generation)
    }

    /// Claims the object with its exclusive part.
    #[inline(always)] // as above
    pub(crate) fn claim(&'static self, place: SlotIndex) -> Option<Claim<T, X>> {
        self.slot(place.index)?.claim(place.generation)
    }

    /// Takes an object out that no other thread uses.
    pub(crate) fn take(&self, place: SlotIndex) -> Option<T> {
        self.slot(place.index)?.take(place.generation)
    }

    /// Makes the object unfindable; it is dropped when its last user is done. Returns whether there
    /// was one.
    pub(crate) fn retire(&self, place: SlotIndex) -> bool {
        self.slot(place.index).is_some_and(|slot| slot.retire(place.generation))
    }

    /// Whether the object exists.
    pub(crate) fn has(&self, place: SlotIndex) -> bool {
        self.slot(place.index).is_some_and(|slot| slot.live() == Some(place.generation))
    }

    /// The present generation of a slot.
    pub(crate) fn generation(&self, index: u32) -> u32 {
        self.slot(index).map_or(0, Slot::generation)
    }

    /// The places of all objects.
    pub(crate) fn places(&self) -> impl Iterator<Item = SlotIndex> {
        let used = self.used.load(Ordering::Acquire) as u32;
        let place = |index| Some(SlotIndex { index, generation: self.slot(index)?.live()? });
        (0..used).filter_map(place)
    }

    /// Retires all objects.
    pub(crate) fn clear(&self) {
        for place in self.places() {
            self.retire(place);
        }
    }
}

/// The next value of the list of free slots.
fn counted(former: u64, first: u32) -> u64 {
    ((former >> 32) + 1) << 32 | u64::from(first)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::{Arena, SlotIndex, poison};

    fn arena<T: Send + Sync, X: Send>() -> &'static Arena<T, X> {
        Box::leak(Box::new(Arena::new()))
    }

    #[test]
    fn a_place_is_of_one_object() {
        let arena = arena();
        let first = arena.insert(|_| ("first", ()));
        assert_eq!(arena.take(first), Some("first"));
        let second = arena.insert(|_| ("second", ()));
        assert_eq!((first.index, first.generation + 1), (second.index, second.generation));
        assert!(arena.find(first).is_none() && arena.take(first).is_none());
        assert!(!arena.has(first) && !arena.retire(first));
        assert_eq!(arena.find(second).as_deref(), Some(&"second"));
    }

    #[test]
    fn objects_are_kept_where_they_are() {
        let arena = arena();
        let places: Vec<_> = (0..10_000).map(|each| arena.insert(|_| (each, ()))).collect();
        for (each, &place) in places.iter().enumerate() {
            let found = arena.find(place);
            assert_eq!((place.index as usize, found.as_deref()), (each, Some(&each)));
        }
        arena.clear();
        assert!(places.iter().all(|&place| arena.find(place).is_none()));
    }

    /// A retired object stays as long as a thread has it, and no longer.
    #[test]
    fn the_last_one_frees() {
        let (arena, object) = (arena(), Arc::new(()));
        let place = arena.insert(|_| (object.clone(), ()));
        let found = arena.find(place).unwrap();
        let copy = found.clone();
        assert!(arena.take(place).is_none() && arena.retire(place) && !arena.retire(place));
        assert!(arena.find(place).is_none());
        drop(found);
        assert_eq!((Arc::strong_count(&object), Arc::strong_count(&copy)), (2, 2));
        drop(copy);
        assert_eq!(Arc::strong_count(&object), 1);
        assert_eq!(arena.insert(|_| (object, ())).index, place.index);
    }

    /// A use of an object that is gone is reported, where freed memory can be poisoned at all.
    #[test]
    fn memory_of_what_is_gone_is_forbidden() {
        let arena = arena::<u64, u64>();
        let place = arena.insert(|_| (7, 8));
        let other = arena.insert(|_| (7, 8));
        let forbidden = |place: SlotIndex| {
            let slot = arena.slot(place.index).unwrap();
            let mut bytes = Vec::new();
            slot.mark(|start, length| bytes.extend((0..length).map(|at| start.wrapping_add(at))));
            assert_eq!(bytes.len(), 16);
            bytes.into_iter().map(poison::is_forbidden).collect::<Vec<_>>()
        };
        let can_be = cfg!(poison);
        assert_eq!(forbidden(place), [false; 16]);
        let found = arena.find(place).unwrap();
        arena.retire(place);
        assert_eq!(forbidden(place), [false; 16], "somebody has it");
        drop(found);
        assert_eq!(forbidden(place), [can_be; 16]);
        arena.take(other);
        assert_eq!(forbidden(other), [can_be; 16]);
        assert_eq!(arena.insert(|_| (7, 8)).index, other.index);
        assert_eq!(forbidden(other), [false; 16], "it is in use again");
        assert_eq!(forbidden(SlotIndex { index: 2, generation: 0 }), [can_be; 16], "never used");
    }

    /// One at a time has what is for one alone, and the object stays meanwhile.
    #[test]
    fn a_claim_is_alone() {
        let (arena, object) = (arena(), Arc::new(()));
        let place = arena.insert(|_| (object.clone(), 1));
        let mut claim = arena.claim(place).unwrap();
        assert!(arena.claim(place).is_none() && arena.take(place).is_none());
        assert!(Arc::ptr_eq(&arena.find(place).unwrap(), claim.shared()));
        *claim.own() += 1;
        drop(claim);
        assert_eq!(*arena.claim(place).unwrap().own(), 2);
        let claim = arena.claim(place).unwrap();
        assert!(arena.retire(place) && Arc::strong_count(&object) == 2);
        drop(claim);
        assert_eq!(Arc::strong_count(&object), 1);
        let place = arena.insert(|_| (object.clone(), 3));
        arena.claim(place).unwrap().retire();
        assert!(arena.find(place).is_none() && Arc::strong_count(&object) == 1);
    }

    /// Threads that keep, find, claim and retire objects at the same time lose none of them, and
    /// free each of them once.
    #[test]
    fn threads_share_an_arena() {
        struct Counted(SlotIndex, &'static AtomicU32);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
        const ROUNDS: u32 = 2_000;
        const THREADS: u32 = 4;
        static GONE: AtomicU32 = AtomicU32::new(0);
        let arena = arena::<Counted, u32>();
        let common = arena.insert(|place| (Counted(place, &GONE), 0));
        let work = || {
            let mut claims = 0;
            for _ in 0..ROUNDS {
                let place = arena.insert(|place| (Counted(place, &GONE), 7));
                let found = arena.find(place).expect("nobody else knows it");
                let former = SlotIndex { generation: place.generation.wrapping_sub(1), ..place };
                assert!(arena.find(former).is_none() && found.0 == place);
                assert_eq!(*arena.claim(place).expect("as above").own(), 7);
                assert!(arena.retire(place));
                if let Some(mut claim) = arena.claim(common) {
                    *claim.own() += 1;
                    claims += 1;
                }
                assert_eq!(arena.find(common).expect("it is there").0, common);
            }
            claims
        };
        let claims: u32 = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
        });
        assert_eq!(*arena.claim(common).unwrap().own(), claims);
        assert_eq!(GONE.load(Ordering::Relaxed), THREADS * ROUNDS);
        arena.clear();
        assert_eq!(GONE.load(Ordering::Relaxed), THREADS * ROUNDS + 1);
    }
}
