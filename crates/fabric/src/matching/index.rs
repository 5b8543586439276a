//! Hash index of the matching queues: finds the list of a key, with open addressing.
//!
//! An entry is a word: the number of a slot, and the hash of its key. So a search reads a slot only
//! if its hash matches, and growing the table reads no slot at all. A word of zero is an empty
//! place. An entry lies at the place of its hash, or behind it with no empty place between. When an
//! entry is removed, the entries behind it move up: no tombstone remains, and a table in steady use
//! needs no cleaning.

/// Places of a new table.
const INITIAL_SLOTS: usize = 16;

/// Slots by the hash of their keys.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Their number is a power of two, or zero.
    entries: Box<[u64]>,
    used: usize,
}

fn entry(hash: u32, slot: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(slot + 1)
}

impl Index {
    /// The place of the entry with this hash for whose slot `is_it` holds.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<usize> {
        let mask = self.entries.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            let entry = *self.entries.get(at)?;
            if entry == 0 {
                return None;
            }
            if (entry >> 32) as u32 == hash && is_it(entry as u32 - 1) {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// The slot of the entry at this place.
    #[inline]
    pub(super) fn slot(&self, at: usize) -> u32 {
        self.entries[at] as u32 - 1
    }

    /// Replaces the slot of the entry at this place by another slot of the same key.
    #[inline]
    pub(super) fn set_slot(&mut self, at: usize, slot: u32) {
        self.entries[at] = entry((self.entries[at] >> 32) as u32, slot);
    }

    /// Adds an entry for a key that has none.
    pub(super) fn insert(&mut self, hash: u32, slot: u32) {
        if self.used >= self.entries.len() / 4 * 3 {
            self.grow();
        }
        self.used += 1;
        self.put(entry(hash, slot));
    }

    fn put(&mut self, entry: u64) {
        let mask = self.entries.len() - 1;
        let mut at = (entry >> 32) as usize & mask;
        while self.entries[at] != 0 {
            at = (at + 1) & mask;
        }
        self.entries[at] = entry;
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.entries.len()).max(INITIAL_SLOTS);
        let former = std::mem::replace(&mut self.entries, vec![0; places].into());
        former.into_iter().filter(|&entry| entry != 0).for_each(|entry| self.put(entry));
    }

    /// Removes the entry at this place.
    pub(super) fn remove(&mut self, at: usize) {
        let mask = self.entries.len() - 1;
        let (mut empty, mut next) = (at, (at + 1) & mask);
        while self.entries[next] != 0 {
            // It may move up unless its hash belongs behind the empty place.
            let home = (self.entries[next] >> 32) as usize;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(empty) & mask {
                self.entries[empty] = self.entries[next];
                empty = next;
            }
            next = (next + 1) & mask;
        }
        self.entries[empty] = 0;
        self.used -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few hashes, so that entries crowd; keys of the same hash are told apart by their slots.
    #[test]
    fn entries_are_found_as_long_as_they_are_there() {
        for spread in [1, 3, 14, 1000] {
            let mut index = Index::default();
            let hash = |slot: u32| (slot.wrapping_mul(0x9e37_79b9) >> 7) % spread * 5;
            let mut there = vec![false; 400];
            let mut random = 1_u64;
            for _ in 0..4000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let slot = (random >> 33) as u32 % 400;
                match index.find(hash(slot), |each| each == slot) {
                    Some(at) => {
                        assert!(there[slot as usize] && index.slot(at) == slot);
                        index.remove(at);
                    }
                    None => {
                        assert!(!there[slot as usize]);
                        index.insert(hash(slot), slot);
                    }
                }
                there[slot as usize] ^= true;
                assert_eq!(index.used, there.iter().filter(|&&there| there).count());
            }
            for slot in 0..400 {
                let found = index.find(hash(slot), |each| each == slot).is_some();
                assert_eq!(found, there[slot as usize]);
            }
        }
    }

    #[test]
    fn a_steady_table_does_not_grow() {
        let mut index = Index::default();
        for slot in 0..100_000_u32 {
            let hash = slot.wrapping_mul(0x9e37_79b9);
            index.insert(hash, slot);
            if let Some(old) = slot.checked_sub(10) {
                let at = index.find(old.wrapping_mul(0x9e37_79b9), |each| each == old);
                index.remove(at.expect("added ten rounds ago"));
            }
        }
        assert_eq!((index.entries.len(), index.used), (INITIAL_SLOTS, 10));
    }
}
