//! Persistent operations and their buffers.

use motet::{Persistent, Result};

/// An input and an output.
pub(super) type Buffers = (Vec<f64>, Vec<f64>);

/// A persistent operation, by the buffers that it owns.
pub(super) enum Stored {
    None(Persistent<()>),
    One(Persistent<Vec<f64>>),
    Pair(Persistent<Buffers>),
}

impl Stored {
    /// The name of its algorithm.
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Stored::None(barrier) => barrier.algorithm(),
            Stored::One(bcast) => bcast.algorithm(),
            Stored::Pair(pair) => pair.algorithm(),
        }
    }

    #[inline]
    pub(super) fn run(&mut self) -> Result<()> {
        match self {
            Stored::None(barrier) => barrier.run(),
            Stored::One(bcast) => bcast.run(),
            Stored::Pair(pair) => pair.run(),
        }
    }
}
