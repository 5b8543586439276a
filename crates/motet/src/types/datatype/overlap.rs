//! Finds out whether the data of a layout overlaps.
//!
//! The standard forbids overlaps in a receive buffer (MPI 4.1, 5.1.11). Sending such data is
//! allowed, and there is no cheap test for every layout.

use super::Layout;
use super::layout::{Node, Placed};

/// The greatest number of runs that are listed and sorted, if the form of the loops does not
/// decide.
const LISTED: usize = 1 << 16;

impl Layout {
    /// Whether bytes of `count` items lie in the same place, so that they must not be received
    /// into; `None` if that cannot be found out cheaply (more than 65536 interleaved runs).
    pub fn overlaps(&self, count: u64) -> Option<bool> {
        let apart = disjoint(self.root())
            && (count < 2 || self.extent().unsigned_abs() >= width(self.reach(1)));
        if apart || self.size() == 0 || count == 0 {
            return Some(false);
        }
        let (low, high) = self.reach(count);
        if high - low < i128::from(self.size()) * i128::from(count) {
            return Some(true); // more data than places
        }
        let total = self.pack_size(count).ok()?;
        let (mut pieces, end) = self.pieces(count, 0, LISTED);
        pieces.sort_unstable_by_key(|piece| piece.at);
        let touch = |pair: &[super::Piece]| {
            i128::from(pair[0].at) + i128::from(pair[0].len) > i128::from(pair[1].at)
        };
        match pieces.windows(2).any(touch) {
            true => Some(true),
            false => (end == total).then_some(false),
        }
    }
}

fn width((low, high): (i128, i128)) -> u64 {
    u64::try_from(high - low).unwrap_or(u64::MAX)
}

/// Whether the form of a part shows that no two of its bytes lie in the same place.
fn disjoint(placed: &Placed) -> bool {
    match &placed.node {
        Node::Strided { count, stride, block } => *count < 2 || stride.unsigned_abs() >= *block,
        Node::Scattered { block, places } => ascending(places.iter().map(|&place| (place, *block))),
        Node::Runs { runs, .. } => ascending(runs.iter().map(|run| (run.at, run.len))),
        Node::Loop { stride, body, .. } => {
            disjoint(body) && stride.unsigned_abs() >= width(reach(body))
        }
        Node::Parts { parts, .. } => {
            let reaches = parts.iter().map(|part| reach(&part.placed));
            parts.iter().all(|part| disjoint(&part.placed))
                && ascending(reaches.map(|reach| (reach.0 as i64, width(reach))))
        }
    }
}

/// Whether each begins where the one before it ends, or later.
fn ascending(runs: impl Iterator<Item = (i64, u64)>) -> bool {
    let mut end = i128::MIN;
    runs.into_iter().all(|(at, len)| {
        let behind = i128::from(at) >= end;
        end = i128::from(at) + i128::from(len);
        behind
    })
}

/// The first byte of a part, and one behind the last.
fn reach(placed: &Placed) -> (i128, i128) {
    let around = |low: i64, high: i128| (i128::from(low), high);
    let within = match &placed.node {
        Node::Strided { count, stride, block } => {
            let distance = i128::from(*stride) * (i128::from(*count) - 1).max(0);
            (distance.min(0), distance.max(0) + i128::from(*block))
        }
        Node::Scattered { block, places } => places
            .iter()
            .map(|&at| around(at, i128::from(at) + i128::from(*block)))
            .fold((i128::MAX, i128::MIN), join),
        Node::Runs { runs, .. } => runs
            .iter()
            .map(|run| around(run.at, i128::from(run.at) + i128::from(run.len)))
            .fold((i128::MAX, i128::MIN), join),
        Node::Loop { count, stride, body, .. } => {
            let (low, high) = reach(body);
            let distance = i128::from(*stride) * (i128::from(*count) - 1);
            (low + distance.min(0), high + distance.max(0))
        }
        Node::Parts { parts, .. } => {
            parts.iter().map(|part| reach(&part.placed)).fold((i128::MAX, i128::MIN), join)
        }
    };
    (within.0 + i128::from(placed.at), within.1 + i128::from(placed.at))
}

fn join(one: (i128, i128), other: (i128, i128)) -> (i128, i128) {
    (one.0.min(other.0), one.1.max(other.1))
}
