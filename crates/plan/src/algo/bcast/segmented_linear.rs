//! Segmented linear: the root sends the data to every other rank, one segment after the other.
//!
//! ```text
//!   3 ranks, root 0, segments abcd      0       1       2
//!                                     a --->  a
//!                                     a ----------->  a
//!                                     b --->  b               while rank 1 reads a
//!                                     b ----------->  b
//! ```
//!
//! What the root copies once for all of them must fit a block of shared memory, so data that is too
//! long for one goes in several. They are read while the next ones are written.
//!
//! Cost: a latency and `s (p - 1) - 1` further messages of `n / s`, all at the root, of which those
//! to the first rank count in full: the others read the same.

use crate::algo::gathered_blocks::{longest_of_parts, parts};
use crate::algo::{Algorithm, Refusal, linear};
use crate::build::Builder;
use crate::call::{Call, Collective, Operation};
use crate::cost::{AggregateWork, Cost, SendRecvCount};

/// Bytes of a segment: long enough that to tell of it takes no time worth counting, and short
/// enough that several of them are in the caches.
const SEGMENT_BYTES: usize = 64 << 10;
/// The largest number of segments: longer data has longer segments.
const SEGMENTS_MAX: usize = 128;

struct SegmentedLinear;

pub(in crate::algo) const ROW: &dyn Algorithm = &SegmentedLinear;

/// How many segments there are. A rank that is alone in reading them gains nothing by that.
fn segments(call: &Call) -> usize {
    if call.ranks > 2 { call.bytes().div_ceil(SEGMENT_BYTES).clamp(1, SEGMENTS_MAX) } else { 1 }
}

/// How many messages the root sends.
fn messages(call: &Call) -> usize {
    segments(call) * (call.ranks as usize - 1)
}

impl Algorithm for SegmentedLinear {
    fn name(&self) -> &'static str {
        "segmented_linear"
    }

    fn collective(&self) -> Collective {
        Collective::Bcast
    }

    fn summary(&self) -> &'static str {
        "the root sends to every other rank, one segment after the other"
    }

    fn accepts(&self, call: &Call) -> Result<(), Refusal> {
        linear::accepts(call)
    }

    fn cost(&self, call: &Call) -> Cost {
        let whole = linear::cost_of_same(call, call.bytes());
        Cost { extra_sends: messages(call).saturating_sub(1), ..whole }
    }

    fn work(&self, call: &Call) -> AggregateWork {
        AggregateWork::of_one(call.ranks, SendRecvCount::new(messages(call), 0), &self.cost(call))
    }

    fn longest(&self, call: &Call) -> usize {
        longest_of_parts(call, segments(call))
    }

    fn build(&self, call: &Call, builder: &mut Builder<'_>) {
        let Operation::Bcast { root, .. } = call.operation else {
            unreachable!("a broadcast is planned")
        };
        for segment in parts(builder.output(), segments(call)) {
            if call.rank == root {
                linear::send_to_all(builder, segment);
            } else {
                builder.recv(root, segment);
            }
        }
    }
}
