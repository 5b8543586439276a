//! Dataflow execution: the local steps, which copy and reduce.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ops::Range;

use motet_fabric::{Completion, Endpoint};
use motet_plan::{Action, StepId};

use super::Execution;
use crate::data::kernel::Kernel;

/// Bytes that a rank copies or reduces before it makes progress on messages.
const SLICE_BYTES: usize = 64 << 10;

impl Execution {
    /// Takes the operator out, if dropping it may run user code.
    #[inline]
    pub(in crate::engine) fn take_operator(&mut self) -> Option<Box<dyn Kernel>> {
        self.kernel.take_if(|kernel| kernel.is_dropped_by_user())
    }

    /// Does a step that copies or reduces.
    pub(super) fn compute(
        &mut self,
        step: StepId,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) {
        match *self.planned.plan.step(step) {
            Action::Copy { from, into } => {
                self.part_by_part(from.len, endpoint, done, |run, part| {
                    let [from, into] = [from, into].map(|slice| slice.range(part.clone()));
                    // SAFETY: slices of our own plan; the buffers are bound while the run is
                    // active.
                    unsafe { run.memory.copy(from, into) };
                });
            }
            // After a fault there is nothing to reduce, and no rank needs the result.
            Action::Reduce { .. } if self.fault.is_some() => {}
            Action::Reduce { left, right, into } => {
                self.part_by_part(into.len, endpoint, done, |run, part| {
                    if run.fault.is_some() {
                        return;
                    }
                    let [left, right, into] =
                        [left, right, into].map(|slice| slice.range(part.clone()));
                    let kernel = run.kernel.as_deref().expect("a plan that reduces has a kernel");
                    // SAFETY: as above; the kernel was made for this type together with the
                    // buffers.
                    let reduced = unsafe { run.memory.reduce(kernel, left, right, into) };
                    run.check_operator(reduced);
                });
            }
            Action::Send { .. } | Action::Recv { .. } => unreachable!("others take part in it"),
        }
    }

    /// Calls `work` on all elements, part by part if they are many, and makes progress on messages
    /// in between, because a peer may wait for them. If the plan has no reduction, a rank that
    /// copies its own data has more to do than its peers, so it defers copies of messages and
    /// leaves them to the peers.
    fn part_by_part(
        &mut self,
        elements: usize,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
        mut work: impl FnMut(&mut Execution, Range<usize>),
    ) {
        let each = SLICE_BYTES / self.memory.bytes(1).clamp(1, SLICE_BYTES);
        let reduces = self.kernel.is_some();
        let mut start = 0;
        while elements - start > each {
            work(self, start..start + each);
            start += each;
            if reduces {
                endpoint.progress(done);
            } else {
                endpoint.progress_deferring(done);
            }
        }
        work(self, start..elements);
        endpoint.flush_deferred(done);
    }
}
