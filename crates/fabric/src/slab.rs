//! Slab: values under generational ids. A slot is reused under another id, so that a stale id finds
//! nothing instead of another value.

use std::mem;

use crate::chunked::ChunkedVec;

/// Names a value of a [`Slab`]. Never zero for a value that was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(pub u64);

impl Id {
    fn new(slot: usize, generation: u32) -> Id {
        Id(u64::from(generation) << 32 | slot as u64)
    }

    fn slot(self) -> usize {
        self.0 as u32 as usize
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// A growing table of values; slots are used again. Limit: 2^32 - 1 values at a time.
///
/// It grows in pieces and moves nothing (see `chunked.rs`), so a million values take the
/// memory of a million, and none of them waits for the others to be copied.
#[derive(Debug)]
pub struct Slab<T> {
    slots: ChunkedVec<Slot<T>>,
    /// The slot to use next, if there is one to use again.
    free: u32,
    len: usize,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    /// Of a free slot: the next one that is free.
    next: u32,
    value: Option<T>,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: ChunkedVec::default(), free: NONE, len: 0 }
    }
}

impl<T> Slab<T> {
    /// Puts a value in and names it.
    // So that it is made where it stays: to copy what was just written takes long.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> Id {
        if self.free == NONE {
            return self.insert_behind(value);
        }
        self.len += 1;
        let at = self.free as usize;
        let slot = &mut self.slots[at];
        self.free = slot.next;
        slot.generation = slot.generation.wrapping_add(1).max(1);
        slot.value = Some(value);
        Id::new(at, slot.generation)
    }

    /// Puts a value behind all others.
    #[cold]
    fn insert_behind(&mut self, value: T) -> Id {
        self.len += 1;
        let at = self.slots.len();
        assert!(at < NONE as usize, "a slab holds fewer than 2^32 values");
        self.slots.push(Slot { generation: 1, next: NONE, value: Some(value) });
        Id::new(at, 1)
    }

    /// The value of this id, if it is still there.
    #[inline]
    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        match self.slots.get_mut(id.slot()) {
            Some(slot) if slot.generation == id.generation() => slot.value.as_mut(),
            _ => None,
        }
    }

    /// Takes the value of this id out, if it is still there.
    pub fn remove(&mut self, id: Id) -> Option<T> {
        let slot = self.slots.get_mut(id.slot())?;
        if slot.generation != id.generation() {
            return None;
        }
        let value = slot.value.take()?;
        slot.next = mem::replace(&mut self.free, id.slot() as u32);
        self.len -= 1;
        Some(value)
    }

    /// As [`Slab::remove`], for a value that nobody wants any more.
    #[inline]
    pub fn discard(&mut self, id: Id) {
        if let Some(slot) = self.slots.get_mut(id.slot())
            && slot.generation == id.generation()
            && slot.value.is_some()
        {
            // Where it lies: to move what was just written takes long.
            slot.value = None;
            slot.next = mem::replace(&mut self.free, id.slot() as u32);
            self.len -= 1;
        }
    }

    /// All values with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &T)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(at, slot)| {
            slot.value.as_ref().map(|value| (Id::new(at, slot.generation), value))
        })
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_come_round_without_zero() {
        let mut slab = Slab::default();
        let first = slab.insert('a');
        slab.slots[0].generation = u32::MAX;
        assert_eq!(slab.remove(Id::new(0, u32::MAX)), Some('a'));
        let second = slab.insert('b');
        assert_eq!(second.generation(), 1);
        assert_ne!(second, Id(0));
        assert_eq!(second, first, "only now could a stale id be taken for a new one");
    }

    #[test]
    fn stale_ids_find_nothing() {
        let mut slab = Slab::default();
        let first = slab.insert('a');
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert('b');
        assert_eq!(slab.len(), 1);
        assert_eq!(slab.get_mut(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.get_mut(second), Some(&mut 'b'));
        assert_eq!(slab.iter().count(), 1);
    }
}
