//! A linked program runs a persistent execution all of whose messages go through channels: a
//! [program](super::program) with addresses, lengths and peers resolved.
//!
//! A start runs its instructions. They are compiled when all channels are known, which is before
//! the second start or soon after. They are discarded when an error occurs; the execution then
//! continues step by step from where it is. The instructions are in the plan's order, so at any
//! point at most one step waits.
//!
//! **No rank waits for ever for room.** A channel carries one message in each round. The rank that
//! is furthest behind, in round `n`, finds room in each channel that it sends through: the receiver
//! is in round `n` at least, and so has read all that was sent in rounds before. And that taking
//! one step after the other, with room for all that is sent, leads to the end of a round is what
//! the verifier has shown of the plan.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet_fabric::{Endpoint, Fill, InChannel, Peer, Region, RegionMut, channel};
use motet_plan::{Action, StepId};

use super::inorder::{Executor, Routes};
use super::program::PlanProgram;
use super::{Execution, MessageRoute, MessageRoutes};

/// The program of a persistent execution, if all its addresses are known.
pub(super) struct LinkedProgram {
    program: PlanProgram<RegionMut>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be compiled when all channels are known.
    Missing,
    Compiled,
    /// A message does not go through a channel, or the steps are not taken in order.
    Impossible,
}

impl LinkedProgram {
    /// The program of an execution with these routes: to be compiled later, with its memory
    /// allocated now so that no start allocates; or impossible.
    pub(super) fn of(run: &Execution, routes: &[MessageRoute]) -> LinkedProgram {
        // If the operator may throw, the execution takes the general way.
        let may_throw = run.kernel.as_ref().is_some_and(|kernel| kernel.may_throw());
        if !run.is_in_order() || may_throw || run.has_messages_beside(routes) {
            return LinkedProgram {
                program: PlanProgram::with_capacity(0),
                state: State::Impossible,
            };
        }
        let program = PlanProgram::with_capacity(routes.len());
        LinkedProgram { program, state: State::Missing }
    }

    fn forget(&mut self) {
        if self.state == State::Compiled {
            self.state = State::Missing;
        }
    }
}

/// Each message goes through the channel of its step.
struct ChannelRoutes<'a> {
    routes: &'a mut [MessageRoute],
    endpoint: &'a Endpoint,
}

impl ChannelRoutes<'_> {
    #[inline(always)]
    fn incoming(&mut self, step: u32) -> &mut InChannel {
        let MessageRoute::In(channel) = &mut self.routes[step as usize] else {
            unreachable!("compiled for a channel to receive through")
        };
        channel
    }

    /// The result of a receive, which says whether the sender waits for the room that it has given
    /// back.
    #[inline(always)]
    fn received(&self, wakes: Option<bool>, from: Peer) -> bool {
        match wakes {
            None => return false,
            Some(true) => self.endpoint.wake(from),
            Some(false) => {}
        }
        true
    }
}

impl Routes for ChannelRoutes<'_> {
    #[inline]
    fn message(step: StepId, _: u32) -> u32 {
        step.0
    }

    #[inline]
    fn fuses(alignment: usize, bytes: usize) -> bool {
        channel::is_read_where_it_lies(bytes) && alignment <= channel::PAYLOAD_ALIGNMENT_BYTES
    }

    #[inline]
    fn has_failed(&self) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn send(&mut self, to: Peer, step: u32, from: Region) -> bool {
        let MessageRoute::Out(channel) = &mut self.routes[step as usize] else {
            unreachable!("compiled for a channel to send through")
        };
        // SAFETY: passed on.
        let is_sent = unsafe { channel.try_send(from) };
        if is_sent {
            self.endpoint.wake(to);
        }
        is_sent
    }

    #[inline(always)]
    unsafe fn receive(&mut self, from: Peer, step: u32, into: RegionMut, _: Fill) -> bool {
        // SAFETY: passed on; the channel was opened for its length.
        let wakes = unsafe { self.incoming(step).try_recv(into) };
        self.received(wakes, from)
    }

    #[inline(always)]
    unsafe fn read(
        &mut self,
        from: Peer,
        step: u32,
        _: (RegionMut, usize),
        read: impl FnOnce(Region),
    ) -> bool {
        // What is received is as long as what the channel was opened for.
        let wakes = self.incoming(step).try_read(read);
        self.received(wakes, from)
    }
}

impl Execution {
    /// Whether a linked program runs it: [`Execution::run_linked`] moves it, and nothing else.
    #[inline]
    pub(crate) fn is_compiled(&self) -> bool {
        self.channels.as_ref().is_some_and(|channels| channels.program.state == State::Compiled)
    }

    /// Compiles the linked program, if it is missing and all channels are known.
    #[inline]
    pub(super) fn compile_if_linked(&mut self) {
        if self.channels.as_ref().is_some_and(|channels| channels.program.state == State::Missing) {
            self.compile_linked();
        }
    }

    /// Discards the compiled program.
    pub(super) fn invalidate(&mut self) {
        if let Some(channels) = &mut self.channels {
            channels.program.forget();
        }
    }

    #[cold]
    fn compile_linked(&mut self) {
        let Some(mut channels) = self.channels.take() else { return };
        let MessageRoutes { routes, program, .. } = &mut *channels;
        if self.has_messages_beside(routes) {
            program.state = State::Impossible;
        } else if !routes.iter().any(|route| matches!(route, MessageRoute::Unknown)) {
            program.program.compile::<ChannelRoutes<'_>>(self);
            program.state = State::Compiled;
        }
        self.channels = Some(channels);
    }

    /// Whether a step sends or receives without a channel.
    pub(super) fn has_messages_beside(&self, routes: &[MessageRoute]) -> bool {
        let steps = self.planned.plan.steps().iter().zip(routes);
        steps.into_iter().any(|(step, route)| {
            matches!(route, MessageRoute::Message)
                && matches!(step, Action::Send { .. } | Action::Recv { .. })
        })
    }

    /// Runs instructions until one must wait. Returns whether the execution is complete.
    #[inline(always)] // it is called from one place, and short
    pub(crate) fn run_linked(&mut self, endpoint: &Endpoint) -> bool {
        let MessageRoutes { routes, blocked, program } =
            self.channels.as_deref_mut().expect("has a program");
        let mut place = self.exec.place();
        let routes = ChannelRoutes { routes, endpoint };
        // The spans are addresses, and no operator that may throw has a linked program.
        let (bases, kernel) = ([std::ptr::null_mut(); 3], &self.kernel);
        let mut executor = Executor::<_, false> { routes, kernel, thrown: None };
        let instructions = &program.program.instructions;
        // SAFETY: the addresses are those of the slices of our own plan, in buffers that are
        // bound while the run is active and stay where they are as long as it is linked; the
        // plan keeps other steps off them.
        let is_done =
            unsafe { executor.run_all(&bases, &mut place, |place| instructions.get(place)) };
        self.exec.move_to(place);
        blocked.clear();
        if !is_done {
            blocked.push(self.planned.plan.order()[place]);
        }
        is_done
    }
}
