//! The two groups of an intercommunicator.

use std::ops::Range;

use super::{Call, Rank};

/// The two groups of an intercommunicator, as one of their ranks sees them.
///
/// A plan counts the ranks of both: first those of one group, in order, then those of the other.
/// Everybody must count the same group first.
///
/// ```text
///   first group           second group             ranks 0 and 1 see    near 0..2, far 2..5
///   0   1                 2   3   4                ranks 2, 3, 4 see    near 2..5, far 0..2
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The ranks of the group that the calling rank belongs to.
    pub near: Range<u32>,
    /// The ranks of the other group.
    pub far: Range<u32>,
    /// The index of the own group in what is given for both: 0 in the first, 1 in the second.
    pub side: usize,
}

impl Call {
    /// The groups, of a collective between two.
    pub fn groups(&self) -> Option<Groups> {
        let left = self.operation.left()?;
        let (first, second) = (0..left, left..self.ranks);
        Some(if self.rank.0 < left {
            Groups { near: first, far: second, side: 0 }
        } else {
            Groups { near: second, far: first, side: 1 }
        })
    }
}

impl Groups {
    /// The position of a rank of the own group in it.
    pub fn position(&self, rank: Rank) -> usize {
        (rank.0 - self.near.start) as usize
    }
}
