//! Recycled bounce buffers: a rank that has read a bounce buffer writes its answer into it. Reason
//! and proof: `../README.md`, "Bounce buffers".

use std::sync::atomic::Ordering;

use super::bounce_pool::{BUFFERS_IN_USE_MAX, BounceBuffer, BouncePool};
use crate::layout::LINE;
use crate::{Region, SharedSegment};

/// Who calls for its turn late reads what came before it sends, so that it has sent two since it
/// kept one, or none.
const LIKELY: u8 = 2;

/// A bounce buffer of another rank that nobody but this rank uses, which has read it.
#[derive(Clone, Copy, Debug)]
struct Own {
    block: BounceBuffer,
    /// Behind its last byte.
    end: usize,
}

impl Own {
    /// Where a copy of these bytes goes in it, if it is large enough.
    fn for_copy_of(&self, source: Region) -> Option<BounceBuffer> {
        let fits = |block: &BounceBuffer| block.data + source.bytes() <= self.end;
        let best = BounceBuffer::at(self.block.readers, source);
        Some(best).filter(fits).or(Some(self.block).filter(fits))
    }
}

/// What a rank has of another one.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    /// The bounce buffer that was kept last.
    own: Option<Own>,
    /// How many of the last messages from there still want an answer, as far as one can tell: so
    /// many bounce buffers this rank has sent beyond those that it has kept, up to [`LIKELY`].
    likely: u8,
}

/// The bounce buffers that a rank keeps: of each other one that it answers, one at most.
#[derive(Debug)]
pub(super) struct RecycledBuffers {
    /// One for each rank that shares the segment, by its seat.
    answers: Vec<Answer>,
    /// Bytes of the longest message whose bounce buffer is kept.
    longest: usize,
}

impl RecycledBuffers {
    /// Those of a rank of this segment. Of many ranks, or of long messages, the bounce buffers that
    /// are kept would be most of what their owner has.
    pub(super) fn of(segment: &SharedSegment) -> RecycledBuffers {
        let seats = segment.segment_ranks();
        let may_keep = (2..=BUFFERS_IN_USE_MAX / 2).contains(&seats);
        let answers = if may_keep { vec![Answer::default(); seats] } else { Vec::new() };
        RecycledBuffers { answers, longest: BouncePool::longest(segment) / 2 / (seats - 1).max(1) }
    }

    /// The bounce buffer that is kept of the rank on this seat, if a copy of these bytes finds room
    /// in it. In any case a message goes there in a bounce buffer.
    pub(super) fn take(&mut self, to: usize, source: Region) -> Option<BounceBuffer> {
        let answer = self.answers.get_mut(to)?;
        answer.likely = LIKELY.min(answer.likely + 1);
        let block = answer.own.as_ref()?.for_copy_of(source)?;
        answer.own = None;
        Some(block)
    }

    /// Keeps a bounce buffer that has been read, with so many bytes from the rank on this seat, and
    /// gives one back that was kept before. `false` if this one is to go back.
    pub(super) fn keep(
        &mut self,
        segment: &SharedSegment,
        from: usize,
        (block, bytes): (BounceBuffer, usize),
    ) -> bool {
        let Some(answer) = self.answers.get_mut(from) else { return false };
        if answer.likely == 0 || bytes > self.longest {
            return false;
        }
        let end = (block.data + bytes).next_multiple_of(LINE);
        let block = BounceBuffer { filled: block.readers + size_of::<u32>(), ..block };
        if let Some(before) = answer.own.replace(Own { block, end }) {
            give_back(segment, before.block);
        }
        answer.likely -= 1;
        true
    }
}

/// Its owner may use a bounce buffer again, of which this rank was the last reader.
pub(super) fn give_back(segment: &SharedSegment, block: BounceBuffer) {
    segment.word32(block.readers).store(0, Ordering::Release);
}
