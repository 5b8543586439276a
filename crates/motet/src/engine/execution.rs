//! An execution runs one plan: it holds the plan, its buffers, and the route of each message.

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

use motet_fabric::{Fill, InChannel, Label, OutChannel, Peer, Region, TransferError, TypeCode};
use motet_plan::{Action, Buffer, Call, Cursor, Rank, Slice, StepId};

use super::buffers::Memory;
use super::plan_cache::CachedPlan;
use crate::base::group::Group;
use crate::data::kernel::Kernel;
pub(crate) use binding::Binding;
use channel_routes::LinkedProgram;
use failing::Fault;
pub(in crate::engine) use failing::{of_collective, tells_lengths_apart};
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

    /// Bytes of its scratch memory.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.memory.scratch_bytes()
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

    fn peer(&self, rank: Rank) -> Peer {
        self.group.peer(rank.index())
    }

    fn label(&self, ordinal: u32) -> Label {
        Label { context: self.number.context, tag: self.number.tag, ordinal }
    }

    /// Whether a message received here may be shorter than its slice.
    #[inline]
    fn fill(&self, place: Slice) -> Fill {
        let may_be_shorter = self.planned.takes_less && place.buffer == Buffer::Output;
        if may_be_shorter { Fill::Part } else { Fill::Whole }
    }

    #[inline]
    fn route_of(&self, step: StepId) -> Option<&MessageRoute> {
        self.channels.as_ref()?.routes.get(step.index())
    }

    /// The peer, label and data of a sending step.
    fn message(&mut self, step: StepId) -> (Peer, Label, Region) {
        let Action::Send { to, ordinal, from } = *self.planned.plan.step(step) else {
            unreachable!("not a send")
        };
        (self.peer(to), self.label(ordinal), self.memory.region(from))
    }
}
