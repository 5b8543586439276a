//! Which step may run next: counters and a queue, and nothing that runs anything.
//!
//! The verifier, the engine and the drawings all execute plans through [`Exec`], so what is
//! verified is what runs. A step becomes ready once, so a queue as long as the plan never wraps:
//! every operation is a few array accesses, and nothing is allocated after [`Exec::new`].
//!
//! A program may have a million small operations under way, most of them of a few steps. So for
//! few steps all counters are bytes and lie in the value itself; only for many they are words in
//! memory of their own. Both are one piece of code, [`State`].

use std::marker::PhantomData;

use crate::plan::{Plan, StepId};

/// Steps of a plan whose counters take no memory of their own: of a doubling among 16 ranks, and
/// what fills four words.
const FEW: usize = 14;

/// The state of one execution of a plan.
#[derive(Clone, Debug)]
pub struct Exec(Size);

#[derive(Clone, Debug)]
enum Size {
    Few(State<u8, [u8; FEW]>),
    Many(Box<State<u32, Box<[u32]>>>),
}

/// A number of a step, or of steps.
trait Number: Copy + From<u8> + PartialEq {
    /// Marks a step as complete where the counter is no longer needed, to find a second completion.
    const COMPLETE: Self;

    fn new(number: u32) -> Self;
    fn get(self) -> u32;
}

impl Number for u8 {
    const COMPLETE: u8 = u8::MAX;

    #[inline]
    fn new(number: u32) -> u8 {
        number as u8
    }

    #[inline]
    fn get(self) -> u32 {
        self.into()
    }
}

impl Number for u32 {
    const COMPLETE: u32 = u32::MAX;

    #[inline]
    fn new(number: u32) -> u32 {
        number
    }

    #[inline]
    fn get(self) -> u32 {
        self
    }
}

/// The state of an execution with numbers of type `N`, in arrays of type `A`.
#[derive(Clone, Debug)]
struct State<N, A> {
    /// How many steps each step still waits for.
    waiting: A,
    /// Steps in the order in which they became ready; `queue[head..tail]` are not handed out yet.
    queue: A,
    head: N,
    tail: N,
    remaining: N,
    number: PhantomData<N>,
}

impl<N: Number, A: AsMut<[N]>> State<N, A> {
    fn new(waiting: A, queue: A) -> State<N, A> {
        let none = N::from(0);
        let number = PhantomData;
        State { waiting, queue, head: none, tail: none, remaining: none, number }
    }

    #[inline]
    fn restart(&mut self, plan: &Plan) {
        let (counts, roots) = (plan.dependency_counts(), plan.roots());
        let waiting = &mut self.waiting.as_mut()[..counts.len()];
        waiting.iter_mut().zip(counts).for_each(|(waiting, &count)| *waiting = N::new(count));
        let queue = &mut self.queue.as_mut()[..roots.len()];
        queue.iter_mut().zip(roots).for_each(|(place, &root)| *place = N::new(root.0));
        self.head = N::from(0);
        self.tail = N::new(roots.len() as u32);
        self.remaining = N::new(counts.len() as u32);
    }

    #[inline]
    fn next_ready(&mut self) -> Option<StepId> {
        if self.head == self.tail {
            return None;
        }
        let step = self.queue.as_mut()[self.head.get() as usize];
        self.head = N::new(self.head.get() + 1);
        Some(StepId(step.get()))
    }

    #[inline]
    fn complete(&mut self, plan: &Plan, step: StepId) {
        let waiting = self.waiting.as_mut();
        if cfg!(debug_assertions) {
            let waiting = std::mem::replace(&mut waiting[step.index()], N::COMPLETE);
            assert!(waiting.get() == 0, "step {step} is complete already, or was not ready");
        }
        self.remaining = N::new(self.remaining.get() - 1);
        for &after in plan.successors(step) {
            let waiting = &mut waiting[after.index()];
            *waiting = N::new(waiting.get() - 1);
            if waiting.get() == 0 {
                self.queue.as_mut()[self.tail.get() as usize] = N::new(after.0);
                self.tail = N::new(self.tail.get() + 1);
            }
        }
    }
}

impl Exec {
    /// An execution of `plan` that has not begun.
    pub fn new(plan: &Plan) -> Self {
        let steps = plan.steps().len();
        let mut exec = Self(if steps <= FEW {
            Size::Few(State::new([0; FEW], [0; FEW]))
        } else {
            let zeros = || vec![0; steps].into_boxed_slice();
            Size::Many(Box::new(State::new(zeros(), zeros())))
        });
        exec.restart(plan);
        exec
    }

    /// Makes ready for another execution of the same plan, without allocation.
    ///
    /// # Panics
    /// If `plan` has more steps than the plan of [`Exec::new`].
    pub fn restart(&mut self, plan: &Plan) {
        match &mut self.0 {
            Size::Few(state) => state.restart(plan),
            Size::Many(state) => state.restart(plan),
        }
    }

    /// The next step that may start. Each step is handed out once, in the order in which they
    /// became ready, and in program order among those ready from the start.
    #[inline]
    pub fn next_ready(&mut self) -> Option<StepId> {
        match &mut self.0 {
            Size::Few(state) => state.next_ready(),
            Size::Many(state) => state.next_ready(),
        }
    }

    /// Says that a step handed out by [`Exec::next_ready`] is complete.
    ///
    /// Steps may complete in any order. Completing a step twice, or one that was not handed out,
    /// is a fault of the caller; builds with debug assertions panic.
    #[inline]
    pub fn complete(&mut self, plan: &Plan, step: StepId) {
        match &mut self.0 {
            Size::Few(state) => state.complete(plan, step),
            Size::Many(state) => state.complete(plan, step),
        }
    }

    /// Whether every step is complete.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.remaining() == 0
    }

    /// How many steps are not complete.
    #[inline]
    pub fn remaining(&self) -> usize {
        match &self.0 {
            Size::Few(state) => usize::from(state.remaining),
            Size::Many(state) => state.remaining as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_steps_take_four_words() {
        assert_eq!(size_of::<Exec>(), 32);
    }
}
