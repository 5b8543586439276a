//! The scheduler of one plan: counts unmet dependencies, and queues the steps that are ready.
//!
//! The verifier, the engine and the drawings all execute plans through [`Cursor`], so the verified
//! schedule is the one that runs; the engine may do a chain of reductions part by part. A step
//! becomes ready once, so a queue as long as the plan never wraps: every operation is a few array
//! accesses, and nothing is allocated after [`Cursor::new`].
//!
//! A program may have a million small operations under way, most with a few steps. For a plan of
//! few steps the counters are bytes inside the value; for a longer one they are words on the heap.
//! Both share the code of `State`. A plan keeps an execution in its initial state, and a restart
//! copies that.
//!
//! If messages are so short that no send waits for its receiver, counters cost more than they
//! gain. Then [`Cursor::in_order`] returns the steps one after the other, in the plan's
//! [order](Plan::order). The verifier shows that all ranks, or any of them, may do that
//! ([`Mode::InOrder`](crate::verify::Mode::InOrder)).

use std::marker::PhantomData;

use super::{Plan, StepId};

/// Steps of a plan whose counters take no memory of their own: of a doubling among 16 ranks, and
/// what fills four words.
const INLINE_STEPS_MAX: usize = 14;

/// The state of one execution of a plan.
#[derive(Clone, Debug)]
pub struct Cursor(Size);

#[derive(Clone, Debug)]
enum Size {
    InOrder(InOrder),
    Few(State<u8, [u8; INLINE_STEPS_MAX]>),
    Many(Box<State<u32, Box<[u32]>>>),
}

/// The state of an execution of one step after the other.
#[derive(Clone, Copy, Debug)]
struct InOrder {
    /// Steps that are complete: all before this one.
    complete: u32,
    /// Steps that have been handed out: as many, or one more.
    handed_out: u32,
    steps: u32,
}

impl InOrder {
    #[inline]
    fn next_ready(&mut self, plan: &Plan) -> Option<StepId> {
        if self.handed_out > self.complete || self.complete == self.steps {
            return None;
        }
        self.handed_out += 1;
        Some(plan.order()[self.complete as usize])
    }

    #[inline]
    fn take_ready(&mut self, plan: &Plan, step: StepId) -> bool {
        let is_next = plan.order().get(self.complete as usize) == Some(&step);
        let is_taken = is_next && self.handed_out == self.complete;
        self.handed_out += u32::from(is_taken);
        is_taken
    }

    /// Whether the step at this place of the order is the next one but one.
    #[inline]
    fn waits_for_one(&self, plan: &Plan, step: StepId) -> bool {
        plan.order().get(self.complete as usize + 1) == Some(&step)
    }

    #[inline]
    fn complete(&mut self, plan: &Plan, step: StepId) {
        debug_assert!(self.handed_out > self.complete, "step {step} was not handed out");
        debug_assert!(step == plan.order()[self.complete as usize], "step {step} is not next");
        self.complete += 1;
    }
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
#[derive(Clone, Copy, Debug)]
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
    /// The initial state of an execution whose steps have these numbers of
    /// dependencies. All numbers in `waiting` and `queue` are 0.
    fn beginning(waiting: A, queue: A, counts: &[u32]) -> State<N, A> {
        let (none, number) = (N::from(0), PhantomData);
        let remaining = N::new(counts.len() as u32);
        let mut state = State { waiting, queue, head: none, tail: none, remaining, number };
        for (step, &count) in (0..).zip(counts) {
            state.waiting.as_mut()[step as usize] = N::new(count);
            if count == 0 {
                state.push(step);
            }
        }
        state
    }

    /// A step has become ready.
    #[inline]
    fn push(&mut self, step: u32) {
        self.queue.as_mut()[self.tail.get() as usize] = N::new(step);
        self.tail = N::new(self.tail.get() + 1);
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
    fn take_ready(&mut self, step: StepId) -> bool {
        let ready = self.head.get() as usize..self.tail.get() as usize;
        let queue = &mut self.queue.as_mut()[ready];
        // It has most likely become ready last.
        let Some(at) = queue.iter().rposition(|ready| ready.get() == step.0) else { return false };
        queue.copy_within(at + 1.., at);
        self.tail = N::new(self.tail.get() - 1);
        true
    }

    #[inline]
    fn waits_for_one(&mut self, step: StepId) -> bool {
        self.waiting.as_mut()[step.index()].get() == 1
    }

    #[inline]
    fn complete(&mut self, plan: &Plan, step: StepId) {
        if cfg!(debug_assertions) {
            let place = &mut self.waiting.as_mut()[step.index()];
            let waiting = std::mem::replace(place, N::COMPLETE);
            assert!(waiting.get() == 0, "step {step} is complete already, or was not ready");
        }
        self.remaining = N::new(self.remaining.get() - 1);
        for &after in plan.successors(step) {
            let waiting = &mut self.waiting.as_mut()[after.index()];
            *waiting = N::new(waiting.get() - 1);
            if waiting.get() == 0 {
                self.push(after.0);
            }
        }
    }
}

impl Cursor {
    /// An execution of `plan` that has not begun.
    pub fn new(plan: &Plan) -> Self {
        plan.beginning().clone()
    }

    /// An execution that has not begun, and will take one step after the other, in the plan's
    /// [order](Plan::order).
    pub fn in_order(plan: &Plan) -> Self {
        let steps = plan.steps().len() as u32;
        Self(Size::InOrder(InOrder { complete: 0, handed_out: 0, steps }))
    }

    /// Whether the steps are taken one after the other.
    #[inline]
    pub fn is_in_order(&self) -> bool {
        matches!(self.0, Size::InOrder(_))
    }

    /// The initial state of an execution whose steps have these numbers of dependencies.
    pub(crate) fn beginning(counts: &[u32]) -> Self {
        if counts.len() <= INLINE_STEPS_MAX {
            return Self(Size::Few(State::beginning(
                [0; INLINE_STEPS_MAX],
                [0; INLINE_STEPS_MAX],
                counts,
            )));
        }
        let zeros = || vec![0; counts.len()].into_boxed_slice();
        Self(Size::Many(Box::new(State::beginning(zeros(), zeros(), counts))))
    }

    /// Makes ready for another execution of the same plan, without allocation.
    ///
    /// # Panics
    /// If `plan` has so many more or fewer steps than the plan of [`Cursor::new`] that they are
    /// counted in another way.
    #[inline]
    pub fn restart(&mut self, plan: &Plan) {
        match (&mut self.0, &plan.beginning().0) {
            (Size::InOrder(state), _) => (state.complete, state.handed_out) = (0, 0),
            (Size::Few(state), Size::Few(beginning)) => *state = *beginning,
            (Size::Many(state), Size::Many(beginning)) => {
                state.waiting.copy_from_slice(&beginning.waiting);
                state.queue.copy_from_slice(&beginning.queue);
                state.head = beginning.head;
                state.tail = beginning.tail;
                state.remaining = beginning.remaining;
            }
            _ => unreachable!("an execution is of one plan"),
        }
    }

    /// The next step that may start. Each step is handed out once, in the order in which they
    /// became ready, and in program order among those ready from the start.
    #[inline]
    pub fn next_ready(&mut self, plan: &Plan) -> Option<StepId> {
        match &mut self.0 {
            Size::InOrder(state) => state.next_ready(plan),
            Size::Few(state) => state.next_ready(),
            Size::Many(state) => state.next_ready(),
        }
    }

    /// Steps that are complete, where one is taken after the other: all before the one at this
    /// place of the plan's [order](Plan::order).
    ///
    /// # Panics
    /// If steps are taken as they become ready.
    #[inline]
    pub fn place(&self) -> usize {
        match &self.0 {
            Size::InOrder(state) => state.complete as usize,
            _ => panic!("steps that become ready have no place"),
        }
    }

    /// Says that all steps before this place are complete, and that the one at it, if there is one,
    /// has been handed out. Only where one step is taken after the other.
    ///
    /// # Panics
    /// As [`Cursor::place`]; builds with debug assertions, if a step would be complete no longer.
    #[inline]
    pub fn move_to(&mut self, place: usize) {
        let Size::InOrder(state) = &mut self.0 else {
            panic!("steps that become ready have no place")
        };
        let place = place as u32;
        debug_assert!((state.complete..=state.steps).contains(&place), "no way to {place}");
        (state.complete, state.handed_out) = (place, (place + 1).min(state.steps));
    }

    /// Says that all steps before this place are complete, and that none is handed out. Only where
    /// one step is taken after the other.
    ///
    /// # Panics
    /// As [`Cursor::move_to`].
    #[inline]
    pub fn resume_at(&mut self, place: usize) {
        self.move_to(place);
        if let Size::InOrder(state) = &mut self.0 {
            state.handed_out = state.complete;
        }
    }

    /// Whether a step has been handed out that is not complete. Only known where one step is taken
    /// after the other.
    #[inline]
    pub fn is_at_step(&self) -> bool {
        matches!(&self.0, Size::InOrder(state) if state.handed_out > state.complete)
    }

    /// Hands this step out before its turn, if it is ready. Returns whether it did. An executor
    /// uses this to do several steps in one pass.
    #[inline]
    pub fn take_ready(&mut self, plan: &Plan, step: StepId) -> bool {
        match &mut self.0 {
            Size::InOrder(state) => state.take_ready(plan, step),
            Size::Few(state) => state.take_ready(step),
            Size::Many(state) => state.take_ready(step),
        }
    }

    /// Whether a step, which is not complete, waits for exactly one other step.
    #[inline]
    pub fn waits_for_one(&mut self, plan: &Plan, step: StepId) -> bool {
        match &mut self.0 {
            Size::InOrder(state) => state.waits_for_one(plan, step),
            Size::Few(state) => state.waits_for_one(step),
            Size::Many(state) => state.waits_for_one(step),
        }
    }

    /// Says that a step handed out by [`Cursor::next_ready`] is complete.
    ///
    /// Steps may complete in any order. Completing a step twice, or one that was not handed out,
    /// is a fault of the caller; builds with debug assertions panic.
    #[inline]
    pub fn complete(&mut self, plan: &Plan, step: StepId) {
        match &mut self.0 {
            Size::InOrder(state) => state.complete(plan, step),
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
            Size::InOrder(state) => (state.steps - state.complete) as usize,
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
        assert_eq!(size_of::<Cursor>(), 32);
    }
}
