//! Sequence numbers of partitioned messages: see [`crate::raw::Partitions`].

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use motet_fabric::Peer;

/// The direction of a partitioned message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PartitionDirection {
    Out,
    In,
}

/// Counts the partitioned inits of a communicator, separately for each direction, peer and tag.
#[derive(Debug, Default)]
pub(crate) struct PartitionedSequence(Mutex<HashMap<(PartitionDirection, Peer, u64), u32>>);

impl PartitionedSequence {
    /// Returns the number of the next init.
    pub(crate) fn next(&self, direction: PartitionDirection, peer: Peer, tag: u64) -> u32 {
        let mut inits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = inits.entry((direction, peer, tag)).or_default();
        *next += 1;
        *next - 1
    }
}
