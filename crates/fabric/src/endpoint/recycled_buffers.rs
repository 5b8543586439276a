//! Recycled bounce buffers: a rank that has read a bounce buffer writes its answer into it. Reason
//! and proof: `../README.md`, "Bounce buffers".

use std::sync::atomic::Ordering;

use super::bounce_pool::{BUFFERS_IN_USE_MAX, BounceBuffer, BouncePool, KEPT};
use crate::layout::LINE;
use crate::{Region, SharedSegment};

/// The smallest limit of the answers that count as needed; else the limit is the number of buffers
/// that may be kept. It is 2 even if one buffer is kept, because a rank that is late reads several
/// messages before it sends.
const EXPECTED_ANSWERS_MIN: usize = 2;

/// A bounce buffer of another rank that this rank has read, and that no other rank uses.
#[derive(Clone, Copy, Debug)]
struct KeptBuffer {
    buffer: BounceBuffer,
    /// The offset behind its last byte.
    end: usize,
}

impl KeptBuffer {
    /// The place for a copy of these bytes in the buffer, if it is large enough.
    fn for_copy_of(&self, source: Region) -> Option<BounceBuffer> {
        let fits = |buffer: &BounceBuffer| buffer.data + source.bytes() <= self.end;
        let best = BounceBuffer::at(self.buffer.readers, source);
        Some(best).filter(fits).or(Some(self.buffer).filter(fits))
    }

    fn bytes(&self) -> usize {
        self.end - self.buffer.readers
    }
}

/// The state of this rank for another one.
#[derive(Debug)]
struct Answer {
    /// The bounce buffers that are kept, the last one last.
    kept: Vec<KeptBuffer>,
    /// How many of the last messages from that rank probably still need an answer: the number of
    /// bounce buffers that this rank has sent beyond those that it has kept, up to a limit.
    expected_answers: usize,
}

impl Answer {
    /// Frees the buffers that were kept first, until one more of so many bytes may be kept.
    fn make_room(&mut self, segment: &SharedSegment, bytes: usize, limits: &RecycleLimits) {
        let mut all = self.kept.iter().fold(bytes, |all, kept| all + kept.bytes());
        while !self.kept.is_empty() && (self.kept.len() >= limits.buffers || all > limits.bytes) {
            let first = self.kept.remove(0);
            all -= first.bytes();
            give_back(segment, first.buffer);
        }
    }
}

/// What a rank may keep of another one.
#[derive(Clone, Copy, Debug)]
struct RecycleLimits {
    buffers: usize,
    /// Of all of them, and of the longest message whose buffer is kept.
    bytes: usize,
}

/// The bounce buffers that a rank keeps: a few of each rank that it answers.
#[derive(Debug)]
pub(super) struct RecycledBuffers {
    /// One for each rank that shares the segment, by its local index.
    answers: Vec<Answer>,
    limits: RecycleLimits,
}

impl RecycledBuffers {
    /// The buffers of a rank of this segment. With many ranks, or long messages, the kept bounce
    /// buffers would be most of what their owner has.
    pub(super) fn of(segment: &SharedSegment) -> RecycledBuffers {
        let seats = segment.segment_ranks();
        let others = (seats - 1).max(1);
        let limits = RecycleLimits {
            buffers: BouncePool::kept_of_each_max(segment),
            bytes: BouncePool::longest(segment) / 2 / others,
        };
        let may_keep = (2..=BUFFERS_IN_USE_MAX / 2).contains(&seats);
        let answer = || Answer { kept: Vec::with_capacity(limits.buffers), expected_answers: 0 };
        let answers = if may_keep { (0..seats).map(|_| answer()).collect() } else { Vec::new() };
        RecycledBuffers { answers, limits }
    }

    /// The bounce buffer of the rank with this local index that was kept last of those that a copy
    /// of these bytes fits, if any. In any case a message goes to that rank in a bounce buffer.
    pub(super) fn take(&mut self, to: usize, source: Region) -> Option<BounceBuffer> {
        let RecycleLimits { buffers, .. } = self.limits;
        let answer = self.answers.get_mut(to)?;
        answer.expected_answers =
            EXPECTED_ANSWERS_MIN.max(buffers).min(answer.expected_answers + 1);
        // Mostly all are as long as the message.
        if let Some(buffer) = answer.kept.last().and_then(|kept| kept.for_copy_of(source)) {
            answer.kept.pop();
            return Some(buffer);
        }
        let at = answer.kept.iter().rposition(|kept| kept.for_copy_of(source).is_some())?;
        answer.kept.remove(at).for_copy_of(source)
    }

    /// Keeps a bounce buffer that this rank has read, with `bytes` bytes from the rank with this
    /// local index, and frees those that were kept first, if they are too many. `false` if the
    /// caller must free this one.
    pub(super) fn keep(
        &mut self,
        segment: &SharedSegment,
        from: usize,
        (buffer, bytes): (BounceBuffer, usize),
    ) -> bool {
        let Some(answer) = self.answers.get_mut(from) else { return false };
        if answer.expected_answers == 0 || bytes > self.limits.bytes {
            return false;
        }
        let end = (buffer.data + bytes).next_multiple_of(LINE);
        let buffer = BounceBuffer { filled: buffer.readers + size_of::<u32>(), ..buffer };
        let kept = KeptBuffer { buffer, end };
        answer.make_room(segment, kept.bytes(), &self.limits);
        if segment.is_oversubscribed() {
            segment.word32(buffer.readers).store(KEPT, Ordering::Relaxed);
        }
        answer.kept.push(kept);
        answer.expected_answers -= 1;
        true
    }
}

/// Frees a bounce buffer of which this rank was the last reader: its owner may use it again.
pub(super) fn give_back(segment: &SharedSegment, buffer: BounceBuffer) {
    segment.word32(buffer.readers).store(0, Ordering::Release);
}
