//! Finds the data hazards of an access: which earlier steps it must wait for. There is an ordered
//! map of intervals for each buffer.
//!
//! The map cuts the buffer into segments whose elements have the same history: the step that wrote
//! them last and the steps that have read them since. A read waits for the writer. A write waits
//! for the readers since or, where there are none, for the writer; those readers have waited
//! for the writer themselves. A write leaves one segment behind, so every segment that an access
//! visits was made by a cut or by one earlier step: finding the hazards costs a search plus a
//! visit for each segment, and the segments are as many as the hazards there are to find.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::plan::StepId;

/// The history of one buffer.
#[derive(Debug)]
pub(crate) struct History {
    /// By first element; together they cover the whole address range without gap.
    segments: BTreeMap<usize, Interval>,
    /// Segments visited so far: the measure of work in tests.
    pub(crate) visits: usize,
}

#[derive(Clone, Debug)]
struct Interval {
    end: usize,
    writer: Option<StepId>,
    readers: Vec<StepId>,
}

impl History {
    pub(crate) fn new() -> Self {
        let untouched = Interval { end: usize::MAX, writer: None, readers: Vec::new() };
        Self { segments: BTreeMap::from([(0, untouched)]), visits: 0 }
    }

    /// Records that `step` reads `range`; appends to `found` the steps it must wait for.
    pub(crate) fn read(&mut self, range: Range<usize>, step: StepId, found: &mut Vec<StepId>) {
        self.cut(range.start);
        self.cut(range.end);
        for (_, segment) in self.segments.range_mut(range) {
            self.visits += 1;
            found.extend(segment.writer);
            if segment.readers.last() != Some(&step) {
                segment.readers.push(step);
            }
        }
    }

    /// Records that `step` writes `range`; appends to `found` the steps it must wait for.
    pub(crate) fn write(&mut self, range: Range<usize>, step: StepId, found: &mut Vec<StepId>) {
        self.cut(range.start);
        self.cut(range.end);
        while let Some((&start, segment)) = self.segments.range(range.clone()).next() {
            self.visits += 1;
            match segment.readers.as_slice() {
                [] => found.extend(segment.writer),
                readers => found.extend_from_slice(readers),
            }
            self.segments.remove(&start);
        }
        let written = Interval { end: range.end, writer: Some(step), readers: Vec::new() };
        self.segments.insert(range.start, written);
    }

    /// Makes a segment start at `position`.
    fn cut(&mut self, position: usize) {
        let (&start, segment) =
            self.segments.range_mut(..=position).next_back().expect("the segments cover all");
        if start < position && position < segment.end {
            let tail = segment.clone();
            segment.end = position;
            self.segments.insert(position, tail);
        }
    }
}
