//! A rank that has joined a world, as each way to join returns it.

use std::sync::Arc;

use super::ForeignLauncher;
use crate::net::Network;
use crate::{Peer, SharedSegment};

/// A rank that has joined a world.
#[derive(Debug)]
pub struct JoinedRank {
    /// The memory that the ranks of a host share.
    pub segment: Arc<SharedSegment>,
    /// The rank of this process or thread.
    pub rank: Peer,
    /// Its number among the [`SharedSegment::local_ranks`] that compete for the same cores.
    pub place: usize,
    /// Whether this process is the rank, and contains no other one.
    pub is_process: bool,
    /// The network to ranks on other hosts, if there are any.
    pub network: Option<Box<Network>>,
    /// The launcher of another library, if one has started this process.
    pub launched: Option<Arc<ForeignLauncher>>,
}

/// Takes the place of a rank in a segment of one host.
pub(super) fn take(segment: &Arc<SharedSegment>, rank: usize) -> JoinedRank {
    let (rank, place) = (Peer(rank as u32), rank);
    segment.enter(rank, std::process::id());
    let (segment, is_process) = (Arc::clone(segment), segment.is_shared());
    JoinedRank { segment, rank, place, is_process, network: None, launched: None }
}
