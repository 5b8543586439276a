//! Where the objects are that C has handles of.
//!
//! An arena is a list of slots that never move: chunk `k` has `64 · 2^k` of them and is made when
//! the first of them is needed. A slot is locked for as long as its object is looked at, and no
//! longer: whoever needs an object for longer has a clone of it. A generation counts the objects
//! that have been in a slot; it tells handles of an object that is gone from that of the one that
//! is there.
//!
//! A slot whose generations are used up is not used again.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::handle::GENERATIONS;

const FIRST: u32 = 64;
const CHUNKS: usize = 26;

/// Which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Objects of one kind.
pub(crate) struct Arena<T> {
    chunks: [OnceLock<Box<[Slot<T>]>>; CHUNKS],
    free: Mutex<Free>,
}

struct Free {
    /// Slots that have been given back.
    back: Vec<u32>,
    /// Slots that have ever been used.
    used: u32,
}

struct Slot<T>(Mutex<Content<T>>);

struct Content<T> {
    generation: u32,
    object: Option<T>,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Content<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Arena<T> {
    pub(crate) const fn new() -> Arena<T> {
        let free = Mutex::new(Free { back: Vec::new(), used: 0 });
        Arena { chunks: [const { OnceLock::new() }; CHUNKS], free }
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunk of a slot, and its place there.
    fn split(index: u32) -> (usize, usize) {
        let from_first = u64::from(index) + u64::from(FIRST);
        let chunk = from_first.ilog2() - FIRST.ilog2();
        (chunk as usize, (from_first - (u64::from(FIRST) << chunk)) as usize)
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        let (chunk, place) = Self::split(index);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    /// The slot, which has never been used or has been given back.
    fn made(&self, index: u32) -> &Slot<T> {
        let (chunk, place) = Self::split(index);
        let slots = (FIRST as usize) << chunk;
        let empty = || Slot(Mutex::new(Content { generation: 0, object: None }));
        let chunk = &self.chunks[chunk];
        &chunk.get_or_init(|| (0..slots).map(|_| empty()).collect())[place]
    }

    /// Keeps an object, which may know its own place.
    pub(crate) fn insert(&self, object: impl FnOnce(Place) -> T) -> Place {
        let mut free = self.free();
        let index = free.back.pop().unwrap_or_else(|| {
            free.used += 1;
            free.used - 1
        });
        drop(free);
        let slot = self.made(index);
        let generation = slot.lock().generation;
        let place = Place { index, generation };
        // Made without a lock, since it may be foreign code that makes it.
        let object = object(place);
        slot.lock().object = Some(object);
        place
    }

    /// A clone of the object.
    #[inline]
    pub(crate) fn get(&self, place: Place) -> Option<T>
    where
        T: Clone,
    {
        self.with(place, |object| object.clone())
    }

    /// What is done with the object itself. It must be short, and use no other object.
    #[inline]
    pub(crate) fn with<R>(&self, place: Place, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut content = self.slot(place.index)?.lock();
        let is_there = content.generation == place.generation;
        content.object.as_mut().filter(|_| is_there).map(work)
    }

    /// Takes an object away.
    pub(crate) fn take(&self, place: Place) -> Option<T> {
        let mut content = self.slot(place.index)?.lock();
        if content.generation != place.generation {
            return None;
        }
        let object = content.object.take()?;
        content.generation += 1;
        let is_usable = content.generation < GENERATIONS;
        drop(content);
        if is_usable {
            self.free().back.push(place.index);
        }
        Some(object)
    }

    /// The generation that a slot is in.
    pub(crate) fn generation(&self, index: u32) -> u32 {
        self.slot(index).map_or(0, |slot| slot.lock().generation)
    }

    /// Takes all objects away.
    pub(crate) fn clear(&self) -> Vec<T> {
        let used = self.free().used;
        let place = |index| Place { index, generation: self.generation(index) };
        (0..used).filter_map(|index| self.take(place(index))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn a_place_is_of_one_object() {
        let arena = Arena::new();
        let first = arena.insert(|_| "first");
        assert_eq!(arena.take(first), Some("first"));
        let second = arena.insert(|_| "second");
        assert_eq!((first.index, first.generation + 1), (second.index, second.generation));
        assert_eq!((arena.get(first), arena.take(first)), (None, None));
        assert_eq!(arena.get(second), Some("second"));
    }

    #[test]
    fn objects_are_kept_where_they_are() {
        let arena = Arena::new();
        let places: Vec<_> = (0..10_000).map(|each| arena.insert(|_| each)).collect();
        for (each, &place) in places.iter().enumerate() {
            assert_eq!((place.index as usize, arena.get(place)), (each, Some(each)));
        }
        assert_eq!(arena.clear().len(), 10_000);
        assert!(places.iter().all(|&place| arena.get(place).is_none()));
    }
}
