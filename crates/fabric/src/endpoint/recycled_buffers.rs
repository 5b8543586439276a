//! Recycled bounce buffers: a rank that has read a bounce buffer writes its answer into it. Reason
//! and proof: `../README.md`, "Bounce buffers".

use std::sync::atomic::Ordering;

use super::bounce_pool::{BUFFERS_IN_USE_MAX, BounceBuffer, BouncePool};
use crate::layout::LINE;
use crate::{Region, SharedSegment};

/// The most answers that count as needed. A rank that is late reads the messages that have arrived
/// before it sends, so it has sent two messages since it kept a buffer, or none.
const EXPECTED_ANSWERS_MAX: u8 = 2;

/// A bounce buffer of another rank that this rank has read, and that no other rank uses.
#[derive(Clone, Copy, Debug)]
struct Own {
    buffer: BounceBuffer,
    /// The offset behind its last byte.
    end: usize,
}

impl Own {
    /// The place for a copy of these bytes in the buffer, if it is large enough.
    fn for_copy_of(&self, source: Region) -> Option<BounceBuffer> {
        let fits = |buffer: &BounceBuffer| buffer.data + source.bytes() <= self.end;
        let best = BounceBuffer::at(self.buffer.readers, source);
        Some(best).filter(fits).or(Some(self.buffer).filter(fits))
    }
}

/// The state of this rank for another one.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    /// The bounce buffer that was kept last.
    own: Option<Own>,
    /// How many of the last messages from that rank probably still need an answer: the number of
    /// bounce buffers that this rank has sent beyond those that it has kept, up to
    /// [`EXPECTED_ANSWERS_MAX`].
    expected_answers: u8,
}

/// The bounce buffers that a rank keeps: at most one of each rank that it answers.
#[derive(Debug)]
pub(super) struct RecycledBuffers {
    /// One for each rank that shares the segment, by its local index.
    answers: Vec<Answer>,
    /// Bytes of the longest message whose bounce buffer is kept.
    longest: usize,
}

impl RecycledBuffers {
    /// The buffers of a rank of this segment. With many ranks, or long messages, the kept bounce
    /// buffers would be most of what their owner has.
    pub(super) fn of(segment: &SharedSegment) -> RecycledBuffers {
        let seats = segment.segment_ranks();
        let may_keep = (2..=BUFFERS_IN_USE_MAX / 2).contains(&seats);
        let answers = if may_keep { vec![Answer::default(); seats] } else { Vec::new() };
        RecycledBuffers { answers, longest: BouncePool::longest(segment) / 2 / (seats - 1).max(1) }
    }

    /// The bounce buffer that is kept of the rank with this local index, if a copy of these bytes
    /// fits it. In any case a message goes to that rank in a bounce buffer.
    pub(super) fn take(&mut self, to: usize, source: Region) -> Option<BounceBuffer> {
        let answer = self.answers.get_mut(to)?;
        answer.expected_answers = EXPECTED_ANSWERS_MAX.min(answer.expected_answers + 1);
        let buffer = answer.own.as_ref()?.for_copy_of(source)?;
        answer.own = None;
        Some(buffer)
    }

    /// Keeps a bounce buffer that this rank has read, with `bytes` bytes from the rank with this
    /// local index, and frees the one that was kept before. `false` if the caller must free this
    /// one.
    pub(super) fn keep(
        &mut self,
        segment: &SharedSegment,
        from: usize,
        (buffer, bytes): (BounceBuffer, usize),
    ) -> bool {
        let Some(answer) = self.answers.get_mut(from) else { return false };
        if answer.expected_answers == 0 || bytes > self.longest {
            return false;
        }
        let end = (buffer.data + bytes).next_multiple_of(LINE);
        let buffer = BounceBuffer { filled: buffer.readers + size_of::<u32>(), ..buffer };
        if let Some(before) = answer.own.replace(Own { buffer, end }) {
            give_back(segment, before.buffer);
        }
        answer.expected_answers -= 1;
        true
    }
}

/// Frees a bounce buffer of which this rank was the last reader: its owner may use it again.
pub(super) fn give_back(segment: &SharedSegment, buffer: BounceBuffer) {
    segment.word32(buffer.readers).store(0, Ordering::Release);
}
