//! Which step may run next: counters and a queue, and nothing that runs anything.
//!
//! The verifier, the engine and the drawings all execute plans through [`Exec`], so what is
//! verified is what runs. A step becomes ready once, so a queue as long as the plan never wraps:
//! every operation is a few array accesses, and nothing is allocated after [`Exec::new`].

use crate::plan::{Plan, StepId};

/// The state of one execution of a plan.
#[derive(Clone, Debug)]
pub struct Exec {
    /// How many steps each step still waits for.
    waiting: Box<[u32]>,
    /// Steps in the order in which they became ready; `queue[head..tail]` are not handed out yet.
    queue: Box<[StepId]>,
    head: usize,
    tail: usize,
    remaining: usize,
}

/// Marks a step as complete where the counter is no longer needed, to find a second completion.
const COMPLETE: u32 = u32::MAX;

impl Exec {
    /// An execution of `plan` that has not begun.
    pub fn new(plan: &Plan) -> Self {
        let steps = plan.steps().len();
        let mut exec = Self {
            waiting: vec![0; steps].into(),
            queue: vec![StepId(0); steps].into(),
            head: 0,
            tail: 0,
            remaining: 0,
        };
        exec.restart(plan);
        exec
    }

    /// Makes ready for another execution of the same plan, without allocation.
    ///
    /// # Panics
    /// If `plan` has another number of steps than the plan of [`Exec::new`].
    pub fn restart(&mut self, plan: &Plan) {
        self.waiting.copy_from_slice(plan.dependency_counts());
        self.queue[..plan.roots().len()].copy_from_slice(plan.roots());
        self.head = 0;
        self.tail = plan.roots().len();
        self.remaining = plan.steps().len();
    }

    /// The next step that may start. Each step is handed out once, in the order in which they
    /// became ready, and in program order among those ready from the start.
    #[inline]
    pub fn next_ready(&mut self) -> Option<StepId> {
        if self.head == self.tail {
            return None;
        }
        let step = self.queue[self.head];
        self.head += 1;
        Some(step)
    }

    /// Says that a step handed out by [`Exec::next_ready`] is complete.
    ///
    /// Steps may complete in any order. Completing a step twice, or one that was not handed out,
    /// is a fault of the caller; builds with debug assertions panic.
    #[inline]
    pub fn complete(&mut self, plan: &Plan, step: StepId) {
        if cfg!(debug_assertions) {
            let waiting = std::mem::replace(&mut self.waiting[step.index()], COMPLETE);
            assert!(waiting == 0, "step {step} is complete already, or was not ready");
        }
        self.remaining -= 1;
        for &after in plan.successors(step) {
            let waiting = &mut self.waiting[after.index()];
            *waiting -= 1;
            if *waiting == 0 {
                self.queue[self.tail] = after;
                self.tail += 1;
            }
        }
    }

    /// Whether every step is complete.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.remaining == 0
    }

    /// How many steps are not complete.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.remaining
    }
}
