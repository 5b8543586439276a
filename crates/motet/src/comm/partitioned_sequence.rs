//! Numbers of messages in parts: see [`crate::raw::Partitions`].

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use motet_fabric::Peer;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PartitionDirection {
    Out,
    In,
}

/// Counts the inits of a communicator that send or receive in parts: those with one rank and tag
/// each for themselves.
#[derive(Debug, Default)]
pub(crate) struct PartitionedSequence(Mutex<HashMap<(PartitionDirection, Peer, u64), u32>>);

impl PartitionedSequence {
    /// The number of another one.
    pub(crate) fn next(&self, way: PartitionDirection, peer: Peer, tag: u64) -> u32 {
        let mut inits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = inits.entry((way, peer, tag)).or_default();
        *next += 1;
        *next - 1
    }
}
