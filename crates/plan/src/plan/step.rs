//! The steps of a plan, and what each does.

use std::fmt;

use crate::call::Rank;
use crate::slice::Slice;

/// The position of a step in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub u32);

impl StepId {
    /// The identity as an index into an array with one entry per step.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a step does.
///
/// A message is known by its source, its destination and its ordinal: the k-th send from one rank
/// to another in program order meets the k-th receive there, in whatever order they are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends elements to another rank; complete when they may be overwritten.
    Send {
        /// Destination, never the rank itself.
        to: Rank,
        /// How many messages to the same rank come before this one.
        ordinal: u32,
        /// What is sent.
        from: Slice,
    },
    /// Receives elements from another rank; complete when they may be read.
    Recv {
        /// Source, never the rank itself.
        from: Rank,
        /// How many messages from the same rank come before this one.
        ordinal: u32,
        /// Where they go.
        into: Slice,
    },
    /// Copies between slices that have the same length and do not overlap.
    Copy {
        /// What is copied.
        from: Slice,
        /// Where it goes.
        into: Slice,
    },
    /// `into = left ∘ right`, element by element. `into` is `left`, is `right`, or overlaps
    /// neither.
    Reduce {
        /// Left operand.
        left: Slice,
        /// Right operand.
        right: Slice,
        /// Result.
        into: Slice,
    },
}

impl Action {
    /// The slices that are read.
    pub fn reads(&self) -> impl Iterator<Item = Slice> {
        let (first, second) = match *self {
            Self::Send { from, .. } | Self::Copy { from, .. } => (Some(from), None),
            Self::Recv { .. } => (None, None),
            Self::Reduce { left, right, .. } => (Some(left), Some(right)),
        };
        first.into_iter().chain(second)
    }

    /// The slice that is written.
    pub fn writes(&self) -> Option<Slice> {
        match *self {
            Self::Send { .. } => None,
            Self::Recv { into, .. } | Self::Copy { into, .. } | Self::Reduce { into, .. } => {
                Some(into)
            }
        }
    }

    /// Number of elements moved or reduced.
    pub fn elements(&self) -> usize {
        match *self {
            Self::Send { from: slice, .. }
            | Self::Recv { into: slice, .. }
            | Self::Copy { into: slice, .. }
            | Self::Reduce { into: slice, .. } => slice.len,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send { to, ordinal, from } => write!(f, "send {from} to {to} #{ordinal}"),
            Self::Recv { from, ordinal, into } => write!(f, "recv {into} from {from} #{ordinal}"),
            Self::Copy { from, into } => write!(f, "copy {from} into {into}"),
            Self::Reduce { left, right, into } => write!(f, "reduce {left} ∘ {right} into {into}"),
        }
    }
}
