//! One collective on its way: a plan, its memory, and how its messages travel.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod binding;
mod dataflow;
mod failing;
mod fused;
mod inorder;
mod linked_program;
mod program;
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
use failing::Fault;
pub(in crate::engine) use failing::tells_lengths_apart;
pub(crate) use inorder::Advance;
use linked_program::LinkedProgram;
pub(crate) use program::PlanProgram;
pub(crate) use routes::LinkTime;
pub(crate) use transport_summary::TransportSummary;

/// Which collective of which communicator: the part of a message's label that is the same for
/// all its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpKey {
    pub(crate) context: u64,
    pub(crate) tag: u64,
}

/// How the message of one step travels.
enum MessageRoute {
    /// As a tagged message.
    Message,
    /// Through a channel whose receiver has not told yet where it is.
    Unknown,
    /// Through this channel.
    Out(OutChannel),
    /// Through this channel.
    In(InChannel),
}

/// What became of a step that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepAttempt {
    /// It is complete.
    Done,
    /// A completion will tell.
    Posted,
    /// It must be tried again.
    Stuck,
}

/// How the messages of a run travel that has channels.
struct MessageRoutes {
    /// One per step.
    links: Box<[MessageRoute]>,
    /// Steps that a channel could not do yet: receives without a message, sends without room.
    stuck: Vec<StepId>,
    script: LinkedProgram,
}

/// A plan in execution. A million of them may be under way, so what few of them need lies apart.
pub(crate) struct Execution {
    planned: Arc<CachedPlan>,
    /// Where the cache keeps the plan.
    place: u16,
    /// Where the run is kept with its call, if it is.
    kept_at: Option<NonZeroU16>,
    element: TypeCode,
    /// Whether the engine polls it for its channels.
    pub(super) polled: bool,
    /// Whether its channels are still to be opened.
    to_be_linked: bool,
    exec: Cursor,
    memory: Memory,
    kernel: Option<Box<dyn Kernel>>,
    /// The rank of the world for each rank of the plan.
    group: Group,
    number: OpKey,
    /// Not there if everything goes as messages.
    channels: Option<Box<MessageRoutes>>,
    /// What went wrong, if anything did. The run goes on, so that the others can end theirs.
    fault: Option<Box<Fault>>,
}

impl Execution {
    /// A run of a plan; bind it before starting it.
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

    /// The plan, and why it was chosen.
    pub(crate) fn planned(&self) -> &Arc<CachedPlan> {
        &self.planned
    }

    /// Where the cache keeps the plan.
    pub(crate) fn place(&self) -> u16 {
        self.place
    }

    /// Where it is kept with its call.
    pub(crate) fn kept_at(&self) -> Option<usize> {
        self.kept_at.map(|above| usize::from(above.get()) - 1)
    }

    /// It is to be kept there with its call.
    pub(crate) fn keep_at(&mut self, slot: usize) {
        self.kept_at = NonZeroU16::new(slot as u16 + 1);
    }

    /// It is not kept with its call any more.
    pub(crate) fn keep_nowhere(&mut self) {
        self.kept_at = None;
    }

    /// Those whose channels some step waits for.
    pub(crate) fn stuck_with(&self) -> Vec<Peer> {
        let other = |&step: &StepId| match *self.planned.plan.step(step) {
            Action::Recv { from: other, .. } | Action::Send { to: other, .. } => self.peer(other),
            Action::Copy { .. } | Action::Reduce { .. } => unreachable!("never stuck"),
        };
        self.stuck().iter().map(other).collect()
    }

    /// Which collective of which communicator it is.
    pub(crate) fn number(&self) -> OpKey {
        self.number
    }

    /// Begins the one execution of a run that is not linked.
    #[inline]
    pub(crate) fn begin(&mut self) {
        // Nobody has looked at it since: one that ended at a sprint was still marked.
        self.polled = false;
        self.memory.want_scratch();
        self.restart();
    }

    /// Begins another execution, after one that went well or whose fault is forgotten.
    pub(crate) fn restart(&mut self) {
        self.exec.restart(&self.planned.plan);
        if let Some(channels) = &mut self.channels {
            channels.stuck.clear();
        }
        self.compile_if_linked();
    }

    /// Does all that can be done now. Says whether the run is complete.
    pub(crate) fn advance(
        &mut self,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> bool {
        // A plan that reduces puts nothing off: there the receiver has most to do.
        let leaves_copies = self.kernel.is_none() && endpoint.begin_deferring();
        while let Some(step) = self.exec.next_ready(&self.planned.plan) {
            match self.perform(step, operation, endpoint, done) {
                StepAttempt::Done => self.exec.complete(&self.planned.plan, step),
                StepAttempt::Posted => {}
                StepAttempt::Stuck => self.channels().stuck.push(step),
            }
        }
        endpoint.end_deferring(leaves_copies, done);
        self.exec.is_done()
    }

    /// A transfer of this run has ended.
    pub(crate) fn complete(&mut self, step: u32, outcome: Result<(), TransferError>) {
        if let Err(error) = outcome {
            self.fail(error);
        }
        self.exec.complete(&self.planned.plan, StepId(step));
    }

    /// The ranks that it runs among, as the world counts them.
    pub(super) fn peers(&self) -> impl Iterator<Item = Peer> + '_ {
        self.group.peers()
    }

    /// Steps that are not complete.
    pub(crate) fn steps_left(&self) -> usize {
        self.exec.remaining()
    }

    /// Whether some step waits for a channel, so that the run must be polled.
    pub(crate) fn is_stuck(&self) -> bool {
        !self.stuck().is_empty()
    }

    #[inline]
    fn stuck(&self) -> &[StepId] {
        self.channels.as_ref().map_or(&[], |channels| &channels.stuck)
    }

    #[inline]
    fn channels(&mut self) -> &mut MessageRoutes {
        self.channels.as_mut().expect("only channels get stuck")
    }

    /// Tries the steps that wait for channels. Says whether any could be done.
    pub(crate) fn poll(&mut self, operation: u64, endpoint: &mut Endpoint) -> bool {
        let before = self.stuck().len();
        let mut next = 0;
        while next < self.stuck().len() {
            let step = self.stuck()[next];
            let attempt = self.try_channel(step, operation, endpoint);
            if attempt == StepAttempt::Done {
                self.exec.complete(&self.planned.plan, step);
            }
            if attempt == StepAttempt::Stuck {
                next += 1;
            } else {
                self.channels().stuck.swap_remove(next);
            }
        }
        self.stuck().len() < before
    }

    /// Looks at the steps that wait for channels in vain. Says whether any need not wait on.
    pub(crate) fn reconsider(
        &mut self,
        operation: u64,
        endpoint: &mut Endpoint,
        done: &mut Vec<Completion>,
    ) -> bool {
        let before = self.stuck().len();
        let mut next = 0;
        while next < self.stuck().len() {
            let step = self.stuck()[next];
            let (other, is_receive) = match *self.planned.plan.step(step) {
                Action::Recv { from, .. } => (self.peer(from), true),
                Action::Send { to, .. } => (self.peer(to), false),
                Action::Copy { .. } | Action::Reduce { .. } => unreachable!("never stuck"),
            };
            if is_receive && endpoint.probe(self.selector(step)).is_some() {
                // The sender has given the channel up, for good.
                self.invalidate();
                let link = std::mem::replace(
                    &mut self.channels().links[step.index()],
                    MessageRoute::Message,
                );
                if let MessageRoute::In(channel) = link {
                    endpoint.close_channel(channel);
                }
                self.channels().stuck.swap_remove(next);
                self.receive(step, operation, endpoint, done);
            } else if let Some(why) = endpoint.why_silent(other).filter(|_| !self.has_news(step)) {
                self.channels().stuck.swap_remove(next);
                self.complete(step.0, Err(why));
            } else {
                next += 1;
            }
        }
        self.stuck().len() < before
    }

    /// Whether a message waits in the channel of a step. Of a peer that has left, ask this after
    /// that is known: what it sent just before it left must not be lost.
    fn has_news(&self, step: StepId) -> bool {
        matches!(self.link_of(step), Some(MessageRoute::In(channel)) if channel.has_news())
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
            // What should be copied or reduced may not have come.
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
            _ if self.is_linked(step) => self.try_channel(step, operation, endpoint),
            Action::Send { .. } => self.send(step, operation, endpoint),
            Action::Recv { .. } => {
                self.receive(step, operation, endpoint, done);
                StepAttempt::Posted
            }
        }
    }

    /// Which message a receiving step receives.
    fn selector(&self, step: StepId) -> Selector {
        let Action::Recv { from, ordinal, .. } = *self.planned.plan.step(step) else {
            unreachable!("not a receive")
        };
        Selector::exactly(self.peer(from), self.label(ordinal))
    }

    /// Receives the message of a step as a tagged message.
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

    /// How long a message may be that is received into this place.
    #[inline]
    fn fill(&self, place: Slice) -> Fill {
        let may_be_shorter = self.planned.takes_less && place.buffer == Buffer::Output;
        if may_be_shorter { Fill::Part } else { Fill::Whole }
    }

    fn is_linked(&self, step: StepId) -> bool {
        !matches!(self.link_of(step), None | Some(MessageRoute::Message))
    }

    #[inline]
    fn link_of(&self, step: StepId) -> Option<&MessageRoute> {
        self.channels.as_ref()?.links.get(step.index())
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

    /// What those do with its messages who get them. Not all operators can read an operand wherever
    /// it lies.
    #[inline]
    fn reply(&self) -> TrafficHint {
        let alignment = || self.kernel.as_ref().and_then(|kernel| kernel.alignment());
        match self.planned.hint() {
            TrafficHint::Reduced if alignment().is_none() => TrafficHint::Never,
            TrafficHint::Operands if alignment().is_none() => TrafficHint::Expected,
            reply => reply,
        }
    }

    /// What a sending step sends.
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
        match &mut channels.links[step.index()] {
            MessageRoute::In(channel) => {
                let Action::Recv { from, into, .. } = *self.planned.plan.step(step) else {
                    unreachable!("only receives have an incoming channel")
                };
                let into = self.memory.region_mut(into);
                // SAFETY: as in `receive`; the channel was opened for its length.
                match unsafe { channel.try_recv(into) } {
                    None => return StepAttempt::Stuck,
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
        let MessageRoute::Out(channel) = &mut self.channels().links[step.index()] else {
            unreachable!("only called with a channel")
        };
        // SAFETY: as in `receive`.
        if !unsafe { channel.try_send(data) } {
            return StepAttempt::Stuck;
        }
        endpoint.wake(to);
        StepAttempt::Done
    }
}
