//! A linked program runs a persistent execution all of whose messages go through channels: a list
//! of instructions with addresses, lengths and peers resolved.
//!
//! A start walks along the list. The list is compiled when all channels are known, which is before
//! the second start or soon after. It is discarded when an error occurs; the execution then
//! continues step by step from where it is. The instructions are in the plan's order, so at any
//! point at most one step waits.
//!
//! **No rank waits for ever for room.** A channel carries one message in each round. The rank that
//! is furthest behind, in round `n`, finds room in each channel that it sends through: the receiver
//! is in round `n` at least, and so has read all that was sent in rounds before. And that taking
//! one step after the other, with room for all that is sent, leads to the end of a round is what
//! the verifier has shown of the plan.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::sync::Arc;

use motet_fabric::{Endpoint, InChannel, Peer, Region, RegionMut, channel};
use motet_plan::{Action, Rank, Slice, StepId};

use super::fused::{OperandSide, Operands};
use super::{Execution, MessageRoute, MessageRoutes};
use crate::data::kernel::Kernel;

/// The longest linked program in steps, each of which takes 64 bytes while the operation lives.
const LINKED_STEPS_MAX: usize = 256;

/// The instructions of an execution in the plan's order, if all their addresses are known.
pub(super) struct LinkedProgram {
    acts: Vec<LinkedInstr>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// To be compiled when all channels are known.
    Missing,
    Written,
    /// A message does not go through a channel, or the steps are not taken in order.
    Impossible,
}

/// An instruction: a step with its addresses.
enum LinkedInstr {
    Send {
        link: usize,
        to: Peer,
        from: Region,
    },
    Receive {
        link: usize,
        from: Peer,
        into: RegionMut,
    },
    Copy {
        from: Region,
        into: RegionMut,
    },
    Reduce {
        left: Region,
        right: Region,
        into: RegionMut,
        count: usize,
    },
    /// Receives one operand and reduces it inside its cell: this step and the next one.
    ReceiveAndReduce {
        link: usize,
        from: Peer,
        /// The operand in local memory.
        other: Region,
        side: OperandSide,
        into: RegionMut,
        count: usize,
    },
}

impl LinkedProgram {
    /// The program of an execution with these routes: to be compiled later, with its memory
    /// allocated now so that no start allocates; or impossible.
    pub(super) fn of(run: &Execution, links: &[MessageRoute]) -> LinkedProgram {
        // If the operator may throw, the execution takes the general way.
        let may_throw = run.kernel.as_ref().is_some_and(|kernel| kernel.may_throw());
        if links.len() > LINKED_STEPS_MAX
            || !run.is_in_order()
            || may_throw
            || run.has_messages_beside(links)
        {
            return LinkedProgram { acts: Vec::new(), state: State::Impossible };
        }
        LinkedProgram { acts: Vec::with_capacity(links.len()), state: State::Missing }
    }

    fn forget(&mut self) {
        if self.state == State::Written {
            self.acts.clear();
            self.state = State::Missing;
        }
    }
}

impl Execution {
    /// Whether a linked program runs it: [`Execution::run_inorder`] moves it, and nothing else.
    #[inline]
    pub(crate) fn is_compiled(&self) -> bool {
        self.channels.as_ref().is_some_and(|channels| channels.script.state == State::Written)
    }

    /// Compiles the linked program, if it is missing and all channels are known.
    #[inline]
    pub(super) fn compile_if_linked(&mut self) {
        if self.channels.as_ref().is_some_and(|channels| channels.script.state == State::Missing) {
            self.write_script();
        }
    }

    /// Discards the compiled program.
    pub(super) fn invalidate(&mut self) {
        if let Some(channels) = &mut self.channels {
            channels.script.forget();
        }
    }

    #[cold]
    fn write_script(&mut self) {
        let Some(mut channels) = self.channels.take() else { return };
        let MessageRoutes { links, script, .. } = &mut *channels;
        if self.has_messages_beside(links) {
            script.state = State::Impossible;
        } else if !links.iter().any(|link| matches!(link, MessageRoute::Unknown)) {
            script.acts.clear();
            let planned = Arc::clone(&self.planned);
            script.acts.extend(planned.plan.order().iter().map(|&step| self.act(step)));
            script.state = State::Written;
        }
        self.channels = Some(channels);
    }

    /// Whether a step sends or receives without a channel.
    pub(super) fn has_messages_beside(&self, links: &[MessageRoute]) -> bool {
        let steps = self.planned.plan.steps().iter().zip(links);
        steps.into_iter().any(|(step, link)| {
            matches!(link, MessageRoute::Message)
                && matches!(step, Action::Send { .. } | Action::Recv { .. })
        })
    }

    /// The instruction of a step, with its addresses.
    fn act(&mut self, step: StepId) -> LinkedInstr {
        let link = step.index();
        match *self.planned.plan.step(step) {
            Action::Send { to, from, .. } => {
                LinkedInstr::Send { link, to: self.peer(to), from: self.memory.region(from) }
            }
            Action::Recv { from, into, .. } => {
                if let Some(act) = self.receive_and_reduce_act(step, (from, into)) {
                    return act;
                }
                LinkedInstr::Receive {
                    link,
                    from: self.peer(from),
                    into: self.memory.region_mut(into),
                }
            }
            Action::Copy { from, into } => LinkedInstr::Copy {
                from: self.memory.region(from),
                into: self.memory.region_mut(into),
            },
            Action::Reduce { left, right, into } => {
                let (left, right) = (self.memory.region(left), self.memory.region(right));
                LinkedInstr::Reduce {
                    left,
                    right,
                    into: self.memory.region_mut(into),
                    count: into.len,
                }
            }
        }
    }

    /// The instruction that fuses a receive with its reduction, if the kernel can read inside a
    /// cell.
    fn receive_and_reduce_act(
        &mut self,
        receive: StepId,
        (from, place): (Rank, Slice),
    ) -> Option<LinkedInstr> {
        let reduction = self.reduction(receive)?;
        let Operands { other, side, into } = self.operands(reduction.step, place);
        let is_faster = channel::is_read_where_it_lies(self.memory.bytes(place.len));
        (is_faster && reduction.alignment <= channel::PAYLOAD_ALIGNMENT_BYTES).then(|| {
            LinkedInstr::ReceiveAndReduce {
                link: receive.index(),
                from: self.peer(from),
                other: self.memory.region(other),
                side,
                into: self.memory.region_mut(into),
                count: into.len,
            }
        })
    }

    /// Runs instructions until one must wait. Returns whether the execution is complete.
    #[inline(always)] // it is called from one place, and short
    pub(crate) fn run_inorder(&mut self, endpoint: &Endpoint) -> bool {
        let MessageRoutes { links, stuck, script } =
            self.channels.as_deref_mut().expect("has a script");
        let (mut place, mut is_waiting) = (self.exec.place(), false);
        while let Some(act) = script.acts.get(place) {
            // SAFETY: the addresses are those of the slices of our own plan, in buffers that are
            // bound while the run is active and stay where they are as long as it is linked; the
            // plan keeps other steps off them.
            let steps = unsafe { act.perform(links, self.kernel.as_deref(), endpoint) };
            if steps == 0 {
                is_waiting = true;
                break;
            }
            place += steps;
        }
        self.exec.move_to(place);
        stuck.clear();
        if is_waiting {
            stuck.push(self.planned.plan.order()[place]);
        }
        !is_waiting
    }
}

impl LinkedInstr {
    /// Runs the instruction if that is possible now. Returns the number of steps done.
    ///
    /// # Safety
    /// What it reads is readable, and what it writes is writable and used by nobody else. The links
    /// are those that it was written for, and the kernel is that of its run.
    #[inline]
    unsafe fn perform(
        &self,
        links: &mut [MessageRoute],
        kernel: Option<&dyn Kernel>,
        endpoint: &Endpoint,
    ) -> usize {
        match *self {
            LinkedInstr::Send { link, to, from } => {
                let MessageRoute::Out(channel) = &mut links[link] else {
                    unreachable!("written for a channel to send through")
                };
                // SAFETY: passed on.
                let sent = unsafe { channel.try_send(from) };
                if sent {
                    endpoint.wake(to);
                }
                return usize::from(sent);
            }
            LinkedInstr::Receive { link, from, into } => {
                // SAFETY: passed on; the channel was opened for its length.
                match unsafe { incoming(links, link).try_recv(into) } {
                    None => return 0,
                    Some(true) => endpoint.wake(from),
                    Some(false) => {}
                }
            }
            LinkedInstr::ReceiveAndReduce { link, from, other, side, into, count } => {
                let kernel = kernel.expect("a plan that reduces has a kernel");
                let is_rung = incoming(links, link).try_read(|received| {
                    let operands = [received.start(), other.start()];
                    // SAFETY: passed on, as for `Reduce`; what is received is as long as what the
                    // channel was opened for, and aligned well enough for this kernel.
                    unsafe { side.reduce(kernel, operands, into.start(), count) };
                });
                match is_rung {
                    None => return 0,
                    Some(true) => endpoint.wake(from),
                    Some(false) => {}
                }
                return 2;
            }
            LinkedInstr::Copy { from, into } => {
                // SAFETY: passed on; a plan copies between slices that do not overlap.
                unsafe { into.start().copy_from_nonoverlapping(from.start(), from.bytes()) };
            }
            LinkedInstr::Reduce { left, right, into, count } => {
                let kernel = kernel.expect("a plan that reduces has a kernel");
                // SAFETY: passed on; slices overlap only as plans allow, which is what kernels
                // allow.
                unsafe { kernel.reduce(left.start(), right.start(), into.start(), count) };
            }
        }
        1
    }
}

#[inline]
fn incoming(links: &mut [MessageRoute], link: usize) -> &mut InChannel {
    let MessageRoute::In(channel) = &mut links[link] else {
        unreachable!("written for a channel to receive through")
    };
    channel
}
