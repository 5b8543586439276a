//! Tables and queues that grow by fixed chunks, without moving what they hold.
//!
//! A vector that grows takes twice the memory it needs and, for a moment, three times; and whoever
//! adds the value that makes it grow waits until all others have been copied. Where there may be a
//! million values, that is too much of both. Here nothing is copied or moved, and no more than a
//! piece is taken in advance. What was taken once is kept, so a steady flow allocates nothing.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

/// Values of a piece.
const CHUNK_ITEMS: usize = 64;

/// A table of values, which are numbered as they come.
#[derive(Debug)]
pub(crate) struct ChunkedVec<T> {
    /// All of them full but the last.
    pieces: Vec<Vec<T>>,
}

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        ChunkedVec { pieces: Vec::new() }
    }
}

impl<T> ChunkedVec<T> {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match self.pieces.last() {
            Some(last) => (self.pieces.len() - 1) * CHUNK_ITEMS + last.len(),
            None => 0,
        }
    }

    /// Adds a value, whose number is what [`ChunkedVec::len`] was.
    pub(crate) fn push(&mut self, value: T) {
        match self.pieces.last_mut() {
            Some(last) if last.len() < CHUNK_ITEMS => last.push(value),
            _ => {
                let mut piece = Vec::with_capacity(CHUNK_ITEMS);
                piece.push(value);
                self.pieces.push(piece);
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.pieces.get(at / CHUNK_ITEMS)?.get(at % CHUNK_ITEMS)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.pieces.get_mut(at / CHUNK_ITEMS)?.get_mut(at % CHUNK_ITEMS)
    }

    /// All values in order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }
}

impl<T> Index<usize> for ChunkedVec<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.pieces[at / CHUNK_ITEMS][at % CHUNK_ITEMS]
    }
}

impl<T> IndexMut<usize> for ChunkedVec<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.pieces[at / CHUNK_ITEMS][at % CHUNK_ITEMS]
    }
}

/// A queue: first in, first out.
#[derive(Debug)]
pub(crate) struct ChunkedQueue<T> {
    /// None of them empty.
    pieces: VecDeque<VecDeque<T>>,
    /// Pieces for use again.
    spare: Vec<VecDeque<T>>,
    len: usize,
}

impl<T> Default for ChunkedQueue<T> {
    fn default() -> Self {
        ChunkedQueue { pieces: VecDeque::new(), spare: Vec::new(), len: 0 }
    }
}

impl<T> ChunkedQueue<T> {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn push(&mut self, value: T) {
        self.len += 1;
        match self.pieces.back_mut() {
            Some(last) if last.len() < CHUNK_ITEMS => last.push_back(value),
            _ => {
                let spare = self.spare.pop();
                let mut piece = spare.unwrap_or_else(|| VecDeque::with_capacity(CHUNK_ITEMS));
                piece.push_back(value);
                self.pieces.push_back(piece);
            }
        }
    }

    /// The value that is next.
    pub(crate) fn front_mut(&mut self) -> Option<&mut T> {
        self.pieces.front_mut()?.front_mut()
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = self.pieces.front_mut()?;
        let value = first.pop_front()?;
        self.len -= 1;
        if first.is_empty() {
            self.spare.extend(self.pieces.pop_front());
        }
        Some(value)
    }

    /// All values in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.pieces.iter().flatten()
    }

    /// Drops the values of which `stays` says `false`.
    pub(crate) fn retain_mut(&mut self, mut stays: impl FnMut(&mut T) -> bool) {
        self.pieces.iter_mut().for_each(|piece| piece.retain_mut(&mut stays));
        self.len = self.pieces.iter().map(VecDeque::len).sum();
        let spare = &mut self.spare;
        self.pieces.retain_mut(|piece| {
            if piece.is_empty() {
                spare.push(std::mem::take(piece));
                return false;
            }
            true
        });
    }

    pub(crate) fn clear(&mut self) {
        self.retain_mut(|_| false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_values_under_their_numbers() {
        let mut table = ChunkedVec::default();
        for value in 0..1000 {
            assert_eq!(table.len(), value);
            table.push(value);
        }
        let first = std::ptr::from_ref(&table[0]);
        table.push(1000);
        assert!(std::ptr::eq(first, &table[0]), "nothing is moved");
        table[700] += 1;
        assert_eq!((table.get(699).copied(), table.get_mut(700).copied()), (Some(699), Some(701)));
        assert!(table.get(1001).is_none() && table.get(usize::MAX).is_none());
        assert_eq!(table.iter().count(), 1001);
    }

    #[test]
    fn a_queue_keeps_the_order() {
        let mut queue = ChunkedQueue::default();
        let (mut next, mut expected) = (0, 0);
        for round in 0..2000_usize {
            for _ in 0..round % 7 {
                queue.push(next);
                next += 1;
            }
            for _ in 0..round % 5 {
                if !queue.is_empty() {
                    assert_eq!(queue.front_mut().copied(), Some(expected));
                    assert_eq!(queue.pop(), Some(expected));
                    expected += 1;
                }
            }
            assert_eq!(queue.len(), next - expected);
        }
        assert!(queue.iter().copied().eq(expected..next));
        queue.retain_mut(|value| *value % 300 == 0);
        let rest: Vec<usize> = (expected..next).filter(|value| value % 300 == 0).collect();
        assert!(queue.iter().eq(&rest) && queue.len() == rest.len() && rest.len() > 1);
        assert_eq!(queue.pop(), Some(rest[0]));
        queue.clear();
        assert!(queue.is_empty() && queue.pop().is_none() && queue.front_mut().is_none());
    }

    #[test]
    fn pieces_are_used_again() {
        let mut queue = ChunkedQueue::default();
        let mut taken = 0;
        for _ in 0..10 {
            (0..10 * CHUNK_ITEMS).for_each(|value| queue.push(value));
            while queue.pop().is_some() {}
            taken = queue.spare.len();
        }
        assert_eq!(taken, 10);
    }
}
