//! The queue of a matching engine: values by key, each key in order of arrival.

use super::index::Index;
use crate::chunked::ChunkedVec;
use crate::{Label, Peer};

/// Sender and label: what an exact receive names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    context: u64,
    tag: u64,
    ordinal: u32,
    source: u32,
}

impl Key {
    pub(super) fn new(source: Peer, Label { context, tag, ordinal }: Label) -> Key {
        Key { context, tag, ordinal, source: source.0 }
    }

    pub(super) fn source(&self) -> Peer {
        Peer(self.source)
    }

    pub(super) fn label(&self) -> Label {
        Label { context: self.context, tag: self.tag, ordinal: self.ordinal }
    }

    /// Mixes the few words of the key. The keys come from the ranks of this world, so the hash
    /// needs no defence against chosen keys, and a slow hash would cost too much for one message.
    #[inline]
    fn hash(&self) -> u32 {
        let ends = u64::from(self.ordinal) << 32 | u64::from(self.source);
        let words = [self.context, ends, self.tag];
        // An odd constant with well spread bits (the golden ratio); the rotation lets every word
        // reach the high bits.
        let mix = |mixed: u64, word: u64| {
            (mixed.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let mixed = words.into_iter().fold(0, mix);
        (mixed >> 32) as u32
    }
}

/// No slot.
const NONE: u32 = u32::MAX;
/// In place of the older neighbour: marks a free slot.
const FREE: u32 = u32::MAX - 1;

/// Values queued by key, first in first out for each key, and all together in order of arrival.
/// Slots are reused, so a steady flow of values allocates nothing.
#[derive(Debug)]
pub(super) struct Queue<T> {
    slots: ChunkedVec<Slot<T>>,
    /// The first slot of each key.
    firsts: Index,
    free: u32,
    oldest: u32,
    newest: u32,
    len: usize,
}

/// A million slots may be in use, so a slot stores nothing that can be computed.
#[derive(Debug)]
struct Slot<T> {
    key: Key,
    stamp: u64,
    /// The default while the slot is free.
    value: T,
    /// Next slot of the same key, or next free slot.
    next: u32,
    /// Last slot of the same key; valid in the first slot only.
    last: u32,
    older: u32,
    newer: u32,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            slots: ChunkedVec::default(),
            firsts: Index::default(),
            free: NONE,
            oldest: NONE,
            newest: NONE,
            len: 0,
        }
    }
}

impl<T: Default> Queue<T> {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All values with their keys, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &T)> {
        let used = self.slots.iter().filter(|slot| slot.older != FREE);
        used.map(|slot| (&slot.key, &slot.value))
    }

    /// The place in the index of the first slot of a key.
    #[inline]
    fn find_first(&self, key: &Key) -> Option<usize> {
        if self.len == 0 {
            return None;
        }
        self.firsts.find(key.hash(), |slot| self.slots[slot as usize].key == *key)
    }

    /// Adds a value. Returns its slot.
    pub(super) fn push(&mut self, key: Key, stamp: u64, value: T) -> u32 {
        let older = self.newest;
        let at = self.place(Slot { key, stamp, value, next: NONE, last: NONE, older, newer: NONE });
        match self.newest {
            NONE => self.oldest = at,
            newest => self.slots[newest as usize].newer = at,
        }
        self.newest = at;
        self.len += 1;
        match self.find_first(&key) {
            None => {
                self.slots[at as usize].last = at;
                self.firsts.insert(key.hash(), at);
            }
            Some(place) => {
                let first = &mut self.slots[self.firsts.slot(place) as usize];
                let last = std::mem::replace(&mut first.last, at);
                self.slots[last as usize].next = at;
            }
        }
        at
    }

    fn place(&mut self, slot: Slot<T>) -> u32 {
        if self.free == NONE {
            let at = self.slots.len();
            assert!(at < FREE as usize, "fewer than 2^32 messages wait at once");
            self.slots.push(slot);
            return at as u32;
        }
        let at = self.free;
        self.free = self.slots[at as usize].next;
        self.slots[at as usize] = slot;
        at
    }

    /// The first value of the key, and its stamp.
    pub(super) fn front(&self, key: &Key) -> Option<(u64, &T)> {
        let first = self.firsts.slot(self.find_first(key)?);
        let slot = &self.slots[first as usize];
        Some((slot.stamp, &slot.value))
    }

    /// Takes out the first value of the key.
    pub(super) fn pop(&mut self, key: &Key) -> Option<T> {
        let place = self.find_first(key)?;
        let at = self.firsts.slot(place);
        let Slot { next, last, .. } = self.slots[at as usize];
        if next == NONE {
            self.firsts.remove(place);
        } else {
            self.slots[next as usize].last = last;
            self.firsts.set_slot(place, next);
        }
        Some(self.release(at))
    }

    /// Takes out the value for which `is_it` holds. It lies in the slot `hint`, unless values have
    /// been moved meanwhile.
    pub(super) fn take_one(&mut self, hint: u32, is_it: impl Fn(&T) -> bool) -> Option<T> {
        let holds = |at: u32| {
            let slot = self.slots.get(at as usize);
            slot.is_some_and(|slot| slot.older != FREE && is_it(&slot.value))
        };
        let mut at = if holds(hint) { hint } else { self.oldest };
        while at != NONE && !holds(at) {
            at = self.slots[at as usize].newer;
        }
        if at == NONE {
            return None;
        }
        let Slot { key, next, .. } = self.slots[at as usize];
        let first = self.firsts.slot(self.find_first(&key)?);
        if first == at {
            return self.pop(&key);
        }
        let mut before = first;
        while self.slots[before as usize].next != at {
            before = self.slots[before as usize].next;
        }
        self.slots[before as usize].next = next;
        let first = &mut self.slots[first as usize];
        if first.last == at {
            first.last = before;
        }
        Some(self.release(at))
    }

    /// Removes a slot from the order of arrival and frees it.
    fn release(&mut self, at: u32) -> T {
        let Slot { older, newer, .. } = self.slots[at as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        self.len -= 1;
        let slot = &mut self.slots[at as usize];
        (slot.next, slot.older) = (self.free, FREE);
        self.free = at;
        std::mem::take(&mut slot.value)
    }

    /// The key of the oldest value whose key is accepted. That value is the first of its key, since
    /// an older one of that key would have been accepted before it.
    pub(super) fn find(&self, accepted: impl Fn(&Key) -> bool) -> Option<Key> {
        let mut at = self.oldest;
        while at != NONE {
            let slot = &self.slots[at as usize];
            if accepted(&slot.key) {
                return Some(slot.key);
            }
            at = slot.newer;
        }
        None
    }

    /// Takes out all values for which the predicate holds, and keeps the order of the others.
    pub(super) fn drain_where(&mut self, mut gone: impl FnMut(&Key, &T) -> bool) -> Vec<T> {
        let (mut taken, mut kept) = (Vec::new(), Vec::new());
        while self.oldest != NONE {
            let Slot { key, stamp, .. } = self.slots[self.oldest as usize];
            let Some(value) = self.pop(&key) else { break };
            if gone(&key, &value) { taken.push(value) } else { kept.push((key, stamp, value)) }
        }
        for (key, stamp, value) in kept {
            self.push(key, stamp, value);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a receive of the endpoint takes while it waits.
    #[test]
    fn slots_are_small() {
        assert_eq!(size_of::<Slot<[u64; 4]>>(), 24 + 8 + 32 + 16);
    }
}
