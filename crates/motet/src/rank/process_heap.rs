//! The endpoint of a rank, and its process heap: found when the rank joins its world.

use std::sync::Arc;

use motet_fabric::net::Network;
use motet_fabric::process_heap::{self, HeapDescription};
use motet_fabric::{Endpoint, Options, Peer, SharedSegment, log_line};

use super::environment::shared_heap;
use super::settings::{SHARED_HEAP, Settings};

/// The endpoint of a rank, with the heap that other ranks may map.
pub(super) fn endpoint(
    settings: &Settings,
    segment: &Arc<SharedSegment>,
    network: Option<Box<Network>>,
    me: Peer,
) -> Endpoint {
    let options = Options { process_heap: description(segment, me), ..settings.options };
    Endpoint::reaching(Arc::clone(segment), network, me, options)
}

/// The heap that other ranks may map. If the environment promises one and there is none, the first
/// rank reports that.
fn description(segment: &SharedSegment, me: Peer) -> Option<HeapDescription> {
    if !segment.is_shared() {
        return None; // Ranks that are threads reach all memory.
    }
    let heap = process_heap::installed();
    if heap.is_none() && me == Peer(0) && shared_heap().unwrap_or(false) {
        log_line(format_args!(
            "motet: {} is set, but the ranks have no shared heap: their program is linked \
             statically, has an allocator of its own, was started without libmotet_heap.so, or \
             the address space or the length of files is limited. Messages go as without it",
            SHARED_HEAP
        ));
    }
    heap
}
