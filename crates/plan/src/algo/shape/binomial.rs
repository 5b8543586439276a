//! The binomial tree over positions `0..size`, rooted at 0.
//!
//! The parent of a position is the position with its lowest set bit cleared. The subtree of a
//! position is a run of consecutive positions, as long as that bit is worth.
//!
//! ```text
//!            0               subtree of 0: 0..8
//!      ______|_____
//!     |     |      |
//!     4     2      1         subtree of 4: 4..8, of 2: 2..4
//!    / \    |
//!   6   5   3
//!   |
//!   7
//! ```

use std::ops::Range;

/// The parent of a position; none at the root.
pub(crate) fn parent(position: usize) -> Option<usize> {
    (position != 0).then(|| position & (position - 1))
}

/// The positions below and including `position`, in a tree of `size`.
pub(crate) fn subtree(position: usize, size: usize) -> Range<usize> {
    let reach = if position == 0 { size } else { 1 << position.trailing_zeros() };
    position..size.min(position + reach)
}

/// The children of a position, that with the largest subtree first.
pub(crate) fn children(position: usize, size: usize) -> impl DoubleEndedIterator<Item = usize> {
    let reach = subtree(position, size).len().next_power_of_two();
    let bits = (0..reach.trailing_zeros()).rev();
    bits.map(move |bit| position + (1 << bit)).filter(move |child| *child < size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_and_children_agree() {
        for size in 1..70 {
            for position in 0..size {
                for child in children(position, size) {
                    assert_eq!(parent(child), Some(position));
                }
                let below: usize =
                    children(position, size).map(|child| subtree(child, size).len()).sum();
                assert_eq!(below + 1, subtree(position, size).len(), "{position} of {size}");
            }
        }
    }
}
