//! Finds receives that can be fused with a reduction: one reduction is the only reader of the
//! received data.

use super::{Action, Buffer, Slice, StepId};

/// For each step what [`Plan::reduction`](super::Plan::reduction) says of it; empty if that is
/// nothing for all.
#[derive(Debug)]
pub(super) struct Reductions(Box<[Option<StepId>]>);

impl Reductions {
    /// Those of these steps, which are taken in this order.
    pub(super) fn of(steps: &[Action], order: &[StepId]) -> Reductions {
        if !steps.iter().any(|step| matches!(step, Action::Reduce { .. })) {
            return Reductions(Box::default());
        }
        let (reads, mut reductions) = (Reads::of(steps), vec![None; steps.len()]);
        for pair in order.windows(2) {
            let [receive, next] = [pair[0], pair[1]];
            if is_read_once(&steps[receive.index()], &steps[next.index()], &reads) {
                reductions[receive.index()] = Some(next);
            }
        }
        Reductions(reductions.into())
    }

    #[inline]
    pub(super) fn of_step(&self, step: StepId) -> Option<StepId> {
        self.0.get(step.index()).copied().flatten()
    }
}

/// Whether the first step receives what the second one reduces with something else, and nobody
/// else ever reads: the result takes its place, or it is scratch memory of these two.
fn is_read_once(receive: &Action, reduce: &Action, reads: &Reads) -> bool {
    let Action::Recv { into: received, .. } = *receive else { return false };
    let Action::Reduce { left, right, into } = *reduce else { return false };
    if received.is_empty() || (left == received) == (right == received) {
        return false;
    }
    into == received || received.buffer == Buffer::Scratch && reads.across(received) == 1
}

/// Where all that is read of the scratch memory begins and ends, in order.
struct Reads {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Reads {
    fn of(steps: &[Action]) -> Reads {
        let is_scratch = |slice: &Slice| slice.buffer == Buffer::Scratch && !slice.is_empty();
        let slices: Vec<_> = steps.iter().flat_map(Action::reads).filter(is_scratch).collect();
        let mut starts: Vec<_> = slices.iter().map(|slice| slice.start).collect();
        let mut ends: Vec<_> = slices.iter().map(|slice| slice.end()).collect();
        starts.sort_unstable();
        ends.sort_unstable();
        Reads { starts, ends }
    }

    /// How many of them overlap a slice of it.
    fn across(&self, slice: Slice) -> usize {
        let begun = self.starts.partition_point(|&start| start < slice.end());
        begun - self.ends.partition_point(|&end| end <= slice.start)
    }
}
