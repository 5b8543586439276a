//! Dataflow execution: starts each step when the steps that it waits for are complete.
//!
//! It posts receives, counts dependencies, and runs any plan, whatever the length of its messages.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ops::Range;

use motet_fabric::{Completion, Endpoint, Posted, Selector, Token, TrafficHint};
use motet_plan::{Action, Slice, StepId};

use super::{Execution, MessageRoute};
use crate::data::kernel::Kernel;

/// Bytes that a rank copies or reduces before it makes progress on messages.
const SLICE_BYTES: usize = 64 << 10;

/// The result of an attempt to do a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepAttempt {
    /// The step is complete.
    Done,
    /// The step is complete, and so are those after it in its pass up to this one.
    DoneTo(StepId),
    /// The transfer was posted; a completion will report its end.
    Posted,
    /// The step cannot be done yet and must be tried again.
    Blocked,
}

impl Execution {
    /// Takes the operator out, if dropping it may run user code.
    #[inline]
    pub(in crate::engine) fn take_operator(&mut self) -> Option<Box<dyn Kernel>> {
        self.kernel.take_if(|kernel| kernel.is_dropped_by_user())
    }

    /// Does all steps that are ready. Returns whether the execution is complete.
    pub(crate) fn advance(
        &mut self,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> bool {
        // A plan that reduces defers no copies: there the receiver has the most to do.
        let leaves_copies = self.kernel.is_none() && endpoint.begin_deferring();
        while let Some(step) = self.exec.next_ready(&self.planned.plan) {
            match self.perform(step, operation, endpoint, done) {
                StepAttempt::Done => self.exec.complete(&self.planned.plan, step),
                StepAttempt::DoneTo(last) => self.exec.complete(&self.planned.plan, last),
                StepAttempt::Posted => {}
                StepAttempt::Blocked => self.channels().blocked.push(step),
            }
        }
        self.release_after_fault(operation, endpoint);
        endpoint.end_deferring(leaves_copies, done);
        self.exec.is_done()
    }

    /// Tries the steps that wait for channels. Returns whether any was done.
    pub(crate) fn poll(&mut self, operation: u64, endpoint: &mut Endpoint) -> bool {
        let before = self.blocked().len();
        let mut next = 0;
        while next < self.blocked().len() {
            let step = self.blocked()[next];
            let attempt = self.try_channel(step, operation, endpoint);
            if attempt == StepAttempt::Done {
                self.exec.complete(&self.planned.plan, step);
            }
            if attempt == StepAttempt::Blocked {
                next += 1;
            } else {
                self.channels().blocked.swap_remove(next);
            }
        }
        self.blocked().len() < before
    }

    /// Re-examines the steps that wait for channels without success: receives as a tagged message
    /// what the sender has sent so, and fails the steps of silent peers. Returns whether a step has
    /// stopped waiting.
    pub(crate) fn reconsider(
        &mut self,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> bool {
        let before = self.blocked().len();
        let mut next = 0;
        while next < self.blocked().len() {
            let step = self.blocked()[next];
            let (other, is_receive) = match *self.planned.plan.step(step) {
                Action::Recv { from, .. } => (self.peer(from), true),
                Action::Send { to, .. } => (self.peer(to), false),
                Action::Copy { .. } | Action::Reduce { .. } => unreachable!("never blocked"),
            };
            if is_receive && endpoint.probe(self.selector(step)).is_some() {
                // The sender has given up the channel for good.
                self.invalidate();
                let route = std::mem::replace(
                    &mut self.channels().routes[step.index()],
                    MessageRoute::Message,
                );
                if let MessageRoute::In(channel) = route {
                    endpoint.close_channel(channel);
                }
                self.channels().blocked.swap_remove(next);
                self.receive(step, operation, endpoint, done);
            } else if let Some(why) = endpoint.why_silent(other).filter(|_| !self.has_message(step))
            {
                self.channels().blocked.swap_remove(next);
                self.complete(step.0, Err(why));
            } else {
                next += 1;
            }
        }
        self.blocked().len() < before
    }

    /// Whether the channel of a step holds a message. If the peer has left, call this only after
    /// that is known: what the peer sent just before it left must not be lost.
    fn has_message(&self, step: StepId) -> bool {
        matches!(self.route_of(step), Some(MessageRoute::In(channel)) if channel.has_message())
    }

    /// Starts a step.
    #[inline]
    fn perform(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> StepAttempt {
        match *self.planned.plan.step(step) {
            // The data to copy or reduce may not have arrived.
            Action::Copy { .. } | Action::Reduce { .. } if self.fault.is_some() => {
                StepAttempt::Done
            }
            Action::Copy { from, into } => {
                self.copy(from, into, endpoint, done);
                StepAttempt::Done
            }
            Action::Reduce { .. } => {
                StepAttempt::DoneTo(self.reduce(step, operation, endpoint, done))
            }
            Action::Send { .. } if self.fault.is_some() => {
                self.send_spoiled(step, operation, endpoint)
            }
            _ if self.has_route(step) => self.try_channel(step, operation, endpoint),
            Action::Send { .. } => self.send(step, operation, endpoint),
            Action::Recv { .. } => {
                self.receive(step, operation, endpoint, done);
                StepAttempt::Posted
            }
        }
    }

    /// The selector of the message that a step receives.
    fn selector(&self, step: StepId) -> Selector {
        let Action::Recv { from, ordinal, .. } = *self.planned.plan.step(step) else {
            unreachable!("not a receive")
        };
        Selector::exactly(self.peer(from), self.label(ordinal))
    }

    /// Posts the receive of a step as a tagged message.
    fn receive(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) {
        let Action::Recv { into, .. } = *self.planned.plan.step(step) else {
            unreachable!("not a receive")
        };
        let fill = self.fill(into);
        let (selector, into) = (self.selector(step), self.memory.region_mut(into));
        let (element, token) = (self.element, Token { operation, step: step.0 });
        // SAFETY (both): memory of an active run: the user's part is held by the operation until it
        // completes or is cancelled, and the plan keeps other steps off it.
        if let Some(alignment) = self.in_place_alignment(step) {
            let into = (into, alignment);
            // SAFETY: see above. The message is read when its reduction is ready.
            unsafe { endpoint.recv_in_place(selector, element, into, token, done) };
        } else {
            // SAFETY: see above.
            unsafe { endpoint.recv_filled(selector, element, (into, fill), token, done) };
        }
    }

    fn has_route(&self, step: StepId) -> bool {
        !matches!(self.route_of(step), None | Some(MessageRoute::Message))
    }

    /// Sends the message of a step as a tagged message.
    fn send(&mut self, step: StepId, operation: u64, endpoint: &mut Endpoint) -> StepAttempt {
        let (to, label, data) = self.message(step);
        let token = Token { operation, step: step.0 };
        let (hint, message) = (self.hint(), (label, self.element, data));
        if let Some(readers) = self.planned.fan_out(step) {
            let source = (operation, hint);
            // SAFETY: as in `receive`; the plan has no step write what others are still to send.
            if unsafe { endpoint.send_multicast(to, message, source, readers) } {
                return StepAttempt::Done;
            }
        }
        // SAFETY: as in `receive`.
        match unsafe { endpoint.send_with(hint, to, message, token) } {
            Posted::Done => StepAttempt::Done,
            Posted::Pending => StepAttempt::Posted,
        }
    }

    /// The traffic hint for its messages: what their receivers do with them. Some operators cannot
    /// read an operand in shared memory, because they need it aligned.
    #[inline]
    fn hint(&self) -> TrafficHint {
        let alignment = || self.kernel.as_ref().and_then(|kernel| kernel.alignment());
        match self.planned.hint() {
            TrafficHint::Reduced if alignment().is_none() => TrafficHint::OneWay,
            TrafficHint::Operands { .. } if alignment().is_none() => TrafficHint::Expected,
            hint => hint,
        }
    }

    /// Sends or receives through the channel of a step, if that is possible now.
    pub(super) fn try_channel(
        &mut self,
        step: StepId,
        operation: u64,
        endpoint: &mut Endpoint,
    ) -> StepAttempt {
        let channels = self.channels.as_mut().expect("only linked steps have channels");
        match &mut channels.routes[step.index()] {
            MessageRoute::In(channel) => {
                let Action::Recv { from, into, .. } = *self.planned.plan.step(step) else {
                    unreachable!("only receives have an incoming channel")
                };
                let into = self.memory.region_mut(into);
                // SAFETY: as in `receive`; the channel was opened for its length.
                match unsafe { channel.try_recv(into) } {
                    None => return StepAttempt::Blocked,
                    Some(true) => endpoint.wake(self.peer(from)),
                    Some(false) => {}
                }
                StepAttempt::Done
            }
            MessageRoute::Out(_) => self.send_through(step, endpoint),
            MessageRoute::Unknown => self.find_channel(step, operation, endpoint),
            MessageRoute::Message => self.send(step, operation, endpoint),
        }
    }

    fn send_through(&mut self, step: StepId, endpoint: &Endpoint) -> StepAttempt {
        let (to, _, data) = self.message(step);
        let MessageRoute::Out(channel) = &mut self.channels().routes[step.index()] else {
            unreachable!("only called with a channel")
        };
        // SAFETY: as in `receive`.
        if !unsafe { channel.try_send(data) } {
            return StepAttempt::Blocked;
        }
        endpoint.wake(to);
        StepAttempt::Done
    }

    /// Copies one slice into another.
    fn copy(
        &mut self,
        from: Slice,
        into: Slice,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) {
        self.part_by_part(from.len, endpoint, done, |run, part| {
            let [from, into] = [from, into].map(|slice| slice.range(part.clone()));
            // SAFETY: slices of our own plan; the buffers are bound while the run is active.
            unsafe { run.memory.copy(from, into) };
        });
    }

    /// Calls `work` on all elements, part by part if they are many, and makes progress on messages
    /// in between, because a peer may wait for them. If the plan has no reduction, a rank that
    /// copies its own data has more to do than its peers, so it defers copies of messages and
    /// leaves them to the peers.
    pub(super) fn part_by_part(
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
