//! The partial result of a rank in a reduction tree: its own operand, reduced with the operands
//! received so far.

use crate::algo::operand_placement::Places;
use crate::algo::shape::doublings;
use crate::build::Builder;
use crate::call::{Call, Rank};
use crate::cost::Cost;
use crate::plan::Slice;

/// The way from the farthest rank to the root of a tree that merges pairs, whichever they are.
pub(super) fn cost(call: &Call) -> Cost {
    let rounds = doublings(call.ranks) as usize;
    let bytes = call.bytes().saturating_mul(rounds);
    Cost { rounds, bytes, reduced: bytes, ..Cost::default() }
}

/// The reduction of the operands that a rank has come by.
pub(super) struct Sum {
    /// Where it can be read: at first the own contribution.
    value: Slice,
    /// Where the next one goes.
    into: Option<Slice>,
    incoming: Places,
    count: usize,
}

impl Sum {
    /// Of the own operand alone, of `count` elements; what will be reduced goes to the output if
    /// this rank is to have the result, and else into memory of the plan.
    pub(super) fn new(builder: &Builder<'_>, has_result: bool, count: usize) -> Self {
        let into = has_result.then(|| builder.output());
        Self { value: builder.contribution(), into, incoming: Places::new(count), count }
    }

    /// Where the reduction can be read.
    pub(super) fn value(&self) -> Slice {
        self.value
    }

    /// Receives that of another rank and reduces it with the own one. Memory is taken here, as most
    /// ranks only send.
    pub(super) fn merge(&mut self, builder: &mut Builder<'_>, other: Rank, other_is_left: bool) {
        let into = *self.into.get_or_insert_with(|| builder.scratch(self.count));
        let incoming = self.incoming.next(builder, self.value, into);
        builder.recv(other, incoming);
        if other_is_left {
            builder.reduce(incoming, self.value, into);
        } else {
            builder.reduce(self.value, incoming, into);
        }
        self.value = into;
    }

    /// Sees to it that the root has the result in its output even if there was nobody to merge
    /// with.
    pub(super) fn deliver(&self, builder: &mut Builder<'_>, root: Rank) {
        if builder.rank() == root {
            builder.copy(self.value, builder.output());
        }
    }
}
