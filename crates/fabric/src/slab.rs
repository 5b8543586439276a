//! Values under stable ids. A slot is used again, but under another id, so that a stale id finds
//! nothing instead of somebody else's value.

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

/// A growing table of values; slots are used again. Limit: 2^32 values at a time.
#[derive(Debug)]
pub struct Slab<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Puts a value in and names it.
    pub fn insert(&mut self, value: T) -> Id {
        if let Some(slot) = self.free.pop() {
            let (generation, place) = &mut self.slots[slot as usize];
            *generation = generation.wrapping_add(1).max(1);
            *place = Some(value);
            return Id::new(slot as usize, *generation);
        }
        assert!(self.slots.len() < u32::MAX as usize, "a slab holds fewer than 2^32 values");
        self.slots.push((1, Some(value)));
        Id::new(self.slots.len() - 1, 1)
    }

    /// The value of this id, if it is still there.
    #[inline]
    pub fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        match self.slots.get_mut(id.slot()) {
            Some((generation, value)) if *generation == id.generation() => value.as_mut(),
            _ => None,
        }
    }

    /// Takes the value of this id out, if it is still there.
    pub fn remove(&mut self, id: Id) -> Option<T> {
        self.get_mut(id)?;
        self.free.push(id.slot() as u32);
        self.slots[id.slot()].1.take()
    }

    /// All values with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &T)> {
        let values = self.slots.iter().enumerate();
        values.filter_map(|(slot, (generation, value))| {
            value.as_ref().map(|value| (Id::new(slot, *generation), value))
        })
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_come_round_without_zero() {
        let mut slab = Slab::default();
        let first = slab.insert('a');
        slab.slots[0].0 = u32::MAX;
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
