//! An execution runs one plan: it holds the plan, its buffers, and the route of each message.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod binding;
mod channel_routes;
mod dataflow;
mod failing;
mod fused;
mod inorder;
mod program;
mod ring_routes;
mod routes;
mod transport_summary;

use std::num::NonZeroU16;
use std::sync::Arc;

use motet_fabric::{
    Completion, Endpoint, Fill, InChannel, Label, OutChannel, Peer, Posted, Region, Selector,
    Token, TrafficHint, TransferError, TypeCode,
};
use motet_plan::{Action, Buffer, Call, Cursor, Rank, Slice, StepId};

use super::buffers::Memory;
use super::plan_cache::CachedPlan;
use crate::base::group::Group;
use crate::data::kernel::Kernel;
pub(crate) use binding::Binding;
use channel_routes::LinkedProgram;
use failing::Fault;
pub(in crate::engine) use failing::tells_lengths_apart;
pub(crate) use inorder::Advance;
pub(crate) use ring_routes::ReplayProgram;
pub(crate) use routes::LinkTime;
pub(crate) use transport_summary::TransportSummary;

/// Identifies a collective of a communicator: the part of the label that all its messages share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpKey {
    pub(crate) context: u64,
    pub(crate) tag: u64,
}

/// The route of one step's message.
enum MessageRoute {
    /// A tagged message.
    Message,
    /// A channel that the receiver has not announced yet.
    Unknown,
    /// Sent through this channel.
    Out(OutChannel),
    /// Received through this channel.
    In(InChannel),
}

/// The result of an attempt to do a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepAttempt {
    /// The step is complete.
    Done,
    /// The transfer was posted; a completion will report its end.
    Posted,
    /// The step cannot be done yet and must be tried again.
    Blocked,
}

/// The message routes of an execution with channels.
struct MessageRoutes {
    /// One route for each step.
    routes: Box<[MessageRoute]>,
    /// Steps that wait for a channel: receives without a message, sends without room.
    blocked: Vec<StepId>,
    program: LinkedProgram,
}

/// A plan with its buffers, its message routes, and the steps done so far. A million may be
/// pending, so rarely used fields are boxed.
pub(crate) struct Execution {
    planned: Arc<CachedPlan>,
    /// The index of the plan in the plan cache.
    place: u16,
    /// The slot of the replay cache that holds this execution, plus one.
    kept_at: Option<NonZeroU16>,
    element: TypeCode,
    /// Whether it is in the engine's list of polled operations.
    pub(super) polled: bool,
    /// Whether its channels are not opened yet.
    to_be_linked: bool,
    exec: Cursor,
    memory: Memory,
    kernel: Option<Box<dyn Kernel>>,
    /// The world rank of each rank of the plan.
    group: Group,
    number: OpKey,
    /// `None` if all messages are tagged.
    channels: Option<Box<MessageRoutes>>,
    /// The first error, if any. The execution goes on, so that the other ranks can end theirs.
    fault: Option<Box<Fault>>,
}

impl Execution {
    /// Creates an execution of a plan. Bind it before starting it.
    pub(crate) fn new(planned: Arc<CachedPlan>, place: u16, call: &Call) -> Execution {
        let plan = &planned.plan;
        Execution {
            exec: if planned.in_order { Cursor::in_order(plan) } else { Cursor::new(plan) },
            memory: Memory::new(plan.scratch_len(), call.element_bytes),
            planned,
            place,
            kept_at: None,
            element: TypeCode::BYTES,
            polled: false,
            to_be_linked: false,
            kernel: None,
            group: Group::empty(),
            number: OpKey { context: 0, tag: 0 },
            channels: None,
            fault: None,
        }
    }

    /// The plan and why it was chosen.
    pub(crate) fn planned(&self) -> &Arc<CachedPlan> {
        &self.planned
    }

    /// The index of the plan in the plan cache.
    pub(crate) fn place(&self) -> u16 {
        self.place
    }

    /// The slot of the replay cache that holds this execution.
    pub(crate) fn kept_at(&self) -> Option<usize> {
        self.kept_at.map(|above| usize::from(above.get()) - 1)
    }

    /// Records the slot of the replay cache that holds this execution.
    pub(crate) fn keep_at(&mut self, slot: usize) {
        self.kept_at = NonZeroU16::new(slot as u16 + 1);
    }

    /// Records that the replay cache does not hold this execution any more.
    pub(crate) fn keep_nowhere(&mut self) {
        self.kept_at = None;
    }

    /// The peers for whose channels a step waits.
    pub(crate) fn blocked_by(&self) -> Vec<Peer> {
        let other = |&step: &StepId| match *self.planned.plan.step(step) {
            Action::Recv { from: other, .. } | Action::Send { to: other, .. } => self.peer(other),
            Action::Copy { .. } | Action::Reduce { .. } => unreachable!("never blocked"),
        };
        self.blocked().iter().map(other).collect()
    }

    /// The communicator context and the tag of this collective.
    pub(crate) fn number(&self) -> OpKey {
        self.number
    }

    /// Starts an execution without channels, which runs once.
    #[inline]
    pub(crate) fn begin(&mut self) {
        // A short collective that ended inline may still be marked.
        self.polled = false;
        self.memory.want_scratch();
        self.restart();
    }

    /// Starts the next execution, after one that succeeded or whose fault has been forgotten.
    pub(crate) fn restart(&mut self) {
        self.exec.restart(&self.planned.plan);
        if let Some(channels) = &mut self.channels {
            channels.blocked.clear();
        }
        self.compile_if_linked();
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
                StepAttempt::Posted => {}
                StepAttempt::Blocked => self.channels().blocked.push(step),
            }
        }
        endpoint.end_deferring(leaves_copies, done);
        self.exec.is_done()
    }

    /// Records that the transfer of a step has ended.
    pub(crate) fn complete(&mut self, step: u32, outcome: Result<(), TransferError>) {
        if let Err(error) = outcome {
            self.fail(error);
        }
        self.exec.complete(&self.planned.plan, StepId(step));
    }

    /// The world ranks that take part.
    pub(super) fn peers(&self) -> impl Iterator<Item = Peer> + '_ {
        self.group.peers()
    }

    /// The number of steps that are not complete.
    pub(crate) fn steps_left(&self) -> usize {
        self.exec.remaining()
    }

    /// Whether a step waits for a channel, so that the engine must poll this execution.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.blocked().is_empty()
    }

    #[inline]
    fn blocked(&self) -> &[StepId] {
        self.channels.as_ref().map_or(&[], |channels| &channels.blocked)
    }

    #[inline]
    fn channels(&mut self) -> &mut MessageRoutes {
        self.channels.as_mut().expect("only channels are blocked")
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
            } else if let Some(why) = endpoint.why_silent(other).filter(|_| !self.has_news(step)) {
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
    fn has_news(&self, step: StepId) -> bool {
        matches!(self.route_of(step), Some(MessageRoute::In(channel)) if channel.has_news())
    }

    fn peer(&self, rank: Rank) -> Peer {
        self.group.peer(rank.index())
    }

    fn label(&self, ordinal: u32) -> Label {
        Label { context: self.number.context, tag: self.number.tag, ordinal }
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
            Action::Copy { .. } | Action::Reduce { .. } => {
                self.compute(step, endpoint, done);
                StepAttempt::Done
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
        if self.reduction(step).is_some() {
            // SAFETY: see above. Whoever settles the completion takes what lies.
            unsafe { endpoint.recv_in_place(selector, element, into, token, done) };
        } else {
            // SAFETY: see above.
            unsafe { endpoint.recv_filled(selector, element, (into, fill), token, done) };
        }
    }

    /// Whether a message received here may be shorter than its slice.
    #[inline]
    fn fill(&self, place: Slice) -> Fill {
        let may_be_shorter = self.planned.takes_less && place.buffer == Buffer::Output;
        if may_be_shorter { Fill::Part } else { Fill::Whole }
    }

    fn has_route(&self, step: StepId) -> bool {
        !matches!(self.route_of(step), None | Some(MessageRoute::Message))
    }

    #[inline]
    fn route_of(&self, step: StepId) -> Option<&MessageRoute> {
        self.channels.as_ref()?.routes.get(step.index())
    }

    /// Sends the message of a step as a tagged message.
    fn send(&mut self, step: StepId, operation: u64, endpoint: &mut Endpoint) -> StepAttempt {
        let (to, label, data) = self.message(step);
        let token = Token { operation, step: step.0 };
        let (reply, message) = (self.reply(), (label, self.element, data));
        if let Some(readers) = self.planned.fan_out(step) {
            let source = (operation, reply);
            // SAFETY: as in `receive`; the plan has no step write what others are still to send.
            if unsafe { endpoint.send_multicast(to, message, source, readers) } {
                return StepAttempt::Done;
            }
        }
        // SAFETY: as in `receive`.
        match unsafe { endpoint.send_with(reply, to, message, token) } {
            Posted::Done => StepAttempt::Done,
            Posted::Pending => StepAttempt::Posted,
        }
    }

    /// The traffic hint for its messages: what their receivers do with them. Some operators cannot
    /// read an operand in shared memory, because they need it aligned.
    #[inline]
    fn reply(&self) -> TrafficHint {
        let alignment = || self.kernel.as_ref().and_then(|kernel| kernel.alignment());
        match self.planned.hint() {
            TrafficHint::Reduced if alignment().is_none() => TrafficHint::Never,
            TrafficHint::Operands if alignment().is_none() => TrafficHint::Expected,
            reply => reply,
        }
    }

    /// The peer, label and data of a sending step.
    fn message(&mut self, step: StepId) -> (Peer, Label, Region) {
        let Action::Send { to, ordinal, from } = *self.planned.plan.step(step) else {
            unreachable!("not a send")
        };
        (self.peer(to), self.label(ordinal), self.memory.region(from))
    }

    /// Sends or receives through the channel of a step, if that is possible now.
    fn try_channel(
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
}
