//! Chooses where a rank receives an operand that it then reduces with another.
//!
//! The best place is that of the result: then the rank touches only memory of the caller, and large
//! operands evict less from the caches.

use crate::build::Builder;
use crate::plan::Slice;

/// A place for the operand that will be reduced with `other` into `into`: `into` itself unless
/// `other` lies there, and then a new one.
pub(super) fn place(builder: &mut Builder<'_>, other: Slice, into: Slice) -> Slice {
    if other.overlaps(into) { builder.scratch(into.len) } else { into }
}

/// Places for operands that come one after the other: two, taken when they are first needed, so
/// that one is free while the other is being reduced.
pub(super) struct Places {
    two: [Option<Slice>; 2],
    longest: usize,
}

impl Places {
    /// For operands of at most `longest` elements.
    pub(super) fn new(longest: usize) -> Self {
        Self { two: [None; 2], longest }
    }

    /// As [`place`], but in one of the two places.
    ///
    /// # Panics
    /// If the operand is longer than was said.
    pub(super) fn next(&mut self, builder: &mut Builder<'_>, other: Slice, into: Slice) -> Slice {
        if !other.overlaps(into) {
            return into;
        }
        self.two.swap(0, 1);
        self.two[0].get_or_insert_with(|| builder.scratch(self.longest)).sub(0, into.len)
    }
}
