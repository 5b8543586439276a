//! In-order execution: runs the steps of a plan with short messages one after the other.
//!
//! No receive is posted: each step is tried until it can be done. At any point the execution can
//! switch to dataflow execution.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{Endpoint, InlineRecv, Peer};
use motet_plan::{Action, StepId};

use super::Execution;
use super::fused::Reduction;

/// The result of an in-order execution, or of one step of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    Complete,
    /// The message of a step has not arrived from this peer.
    Waiting(Peer),
    /// Another operation or message must move first.
    Behind,
    /// An error occurred, of which other ranks must be told.
    Failed,
}

impl Advance {
    /// Whether it is incomplete and has not failed.
    #[inline]
    pub(crate) fn is_under_way(self) -> bool {
        matches!(self, Advance::Waiting(_) | Advance::Behind)
    }
}

impl Execution {
    /// Whether its steps run one after the other, so that it may run inline.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.exec.is_in_order()
    }

    /// Whether it may go on in order without posted receives: no step has been posted, no step has
    /// a channel, and no error has occurred of which other ranks must be told.
    #[inline]
    pub(crate) fn may_run_inorder(&self) -> bool {
        self.is_in_order()
            && self.channels.is_none()
            && self.fault.is_none()
            && !self.exec.is_at_step()
    }

    /// Does the steps in order until one cannot be done yet.
    pub(crate) fn sprint(&mut self, endpoint: &mut Endpoint) -> Advance {
        debug_assert!(self.may_run_inorder());
        while let Some(step) = self.exec.next_ready(&self.planned.plan) {
            let reduction = self.reduction(step);
            let pace = self.try_step(step, reduction, endpoint);
            if pace != Advance::Complete {
                self.exec.unclaim();
                return pace;
            }
            self.exec.complete(&self.planned.plan, step);
            self.skip_fused(reduction);
            if self.fault.is_some() && !self.exec.is_done() {
                return Advance::Failed;
            }
        }
        Advance::Complete
    }

    /// Skips a reduction that was fused with the receive before it.
    #[inline]
    fn skip_fused(&mut self, reduction: Option<Reduction>) {
        if let Some(Reduction { step, .. }) = reduction
            && self.exec.take_last(&self.planned.plan, step)
        {
            self.exec.complete(&self.planned.plan, step);
        }
    }

    /// Does a step, with the reduction fused with it if any, if that is possible now.
    #[inline]
    fn try_step(
        &mut self,
        step: StepId,
        reduction: Option<Reduction>,
        endpoint: &mut Endpoint,
    ) -> Advance {
        match *self.planned.plan.step(step) {
            Action::Copy { from, into } => {
                // SAFETY: slices of our own plan; the buffers are bound while the run is active.
                unsafe { self.memory.copy(from, into) };
            }
            Action::Reduce { left, right, into } => {
                let kernel = self.kernel.as_deref().expect("a plan that reduces has a kernel");
                // SAFETY: as above; the kernel was made for this type together with the buffers.
                let reduced = unsafe { self.memory.reduce(kernel, left, right, into) };
                self.check_operator(reduced);
            }
            Action::Send { to, ordinal, from } => {
                let (to, label) = (self.peer(to), self.label(ordinal));
                let (data, element) = (self.memory.region(from), self.element);
                let reply = self.planned.hint();
                // SAFETY: as above.
                if !unsafe { endpoint.send_inline(to, label, element, data, reply) } {
                    return Advance::Behind;
                }
            }
            Action::Recv { from, ordinal, into } => {
                let short = match reduction {
                    Some(reduction) => self.receive_and_reduce(step, reduction, endpoint),
                    None => {
                        let (from, label) = (self.peer(from), self.label(ordinal));
                        let (fill, into) = (self.fill(into), self.memory.region_mut(into));
                        // SAFETY: as above; the plan keeps other steps off the slice.
                        unsafe { endpoint.recv_inline(from, label, self.element, into, fill) }
                    }
                };
                match short {
                    InlineRecv::Done(Ok(_)) => {}
                    InlineRecv::Done(Err(error)) => self.fail(error),
                    InlineRecv::Empty => return Advance::Waiting(self.peer(from)),
                    InlineRecv::Blocked => return Advance::Behind,
                }
            }
        }
        Advance::Complete
    }

    /// Whether it waits for exactly one channel.
    #[inline]
    pub(crate) fn waits_for_channel(&self) -> bool {
        self.is_in_order() && self.is_stuck()
    }
}
