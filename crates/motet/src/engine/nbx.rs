//! Runs sparse dynamic exchanges in the engine: only senders know which rank sends to which
//! (nonblocking consensus).
//!
//! # The protocol
//!
//! An exchange has a number, which it takes as any collective of its communicator does. Its
//! messages travel in a context that nothing else uses, with the number as their tag; the barrier
//! that ends it has the context of collectives and the same number. Each rank does this:
//!
//! 1. *Sending.* It sends all its messages synchronously: such a send is complete only when a
//!    receive has matched the message.
//! 2. All the time, also later, it receives every message with the number of the exchange: it makes
//!    room for each message, whose length it learns from the message itself.
//! 3. *Barrier.* When all its sends are complete it starts the barrier, whose start waits for no
//!    rank.
//! 4. *Over.* When the barrier has ended and no matched message is still being received, the
//!    exchange has ended.
//!
//! **Nobody leaves too early, and nothing is lost.** Let the barrier be over at rank `a`, and let
//! `m` be a message to `a`. Then all ranks have begun the barrier, so the sender of `m` has, so its
//! send is complete, so `a` has taken `m`. A large message may be complete at its sender when its
//! last piece is in a lane that `a` has not read; hence the second half of step 4.
//!
//! **Nothing is taken by another exchange**, nor by anything else. A receive of exchange `n` asks
//! for its number, and no two exchanges of a communicator have one; a rank that is in `n + 1`
//! already sends messages that stay at their receivers, those of one cell as copies and longer
//! ones as addresses, until these have come to `n + 1` as well. No other kind of traffic has this
//! context.
//!
//! **It ends.** A rank takes messages from the moment it begins, whatever else it waits for, as
//! long as anybody moves its engine. So, once all ranks have begun, every send completes, then
//! every barrier is begun, then is over.
//!
//! **If an error occurs** on a rank (a message of another type, say), it goes on with the steps, so
//! that no rank waits for it; its messages of the barrier tell other ranks that there was an error.
//! A rank that left before its part was done would leave others waiting: those in the barrier, whom
//! the fabric tells; and those whose messages are no longer received by a rank that was told so.
//! But a rank leaves only when its exchange has ended, and if all goes well that is after all sends
//! of all ranks. So a rank that still sends and sees that any rank of the communicator has left
//! knows that something is wrong, withdraws its messages and goes on to the barrier.
//!
//! **Cost.** A rank sends the messages of the pattern and as many as there are rounds in the
//! barrier (`⌈log2 p⌉`, whatever algorithm is preferred for barriers). It has no list of ranks: its
//! memory grows with its own messages and with those to it.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::mem;
use std::sync::Arc;

use motet_fabric::slab::Id;
use motet_fabric::{Completion, Label, Peer, Posted, Region, RegionMut, Selector, Token, TypeCode};

use super::{Engine, Execution, NOTHING, OpExtras, OpKey, Operation, State, Work};

/// The step of a token, in place of one of the barrier: a message of this rank has been received.
const SENT: u32 = u32::MAX;
/// The step of a token, in place of one of the barrier: a message to this rank has been received.
const LANDED: u32 = u32::MAX - 1;

/// Supplies the memory for the incoming messages of an exchange.
pub(crate) trait Arrivals: Send + Sync {
    /// Makes room for the next message of so many bytes. The room stays where it is and unused by
    /// others until the exchange has ended. It is smaller if the bytes are no whole number of
    /// elements.
    fn make_room(&self, from: Peer, bytes: usize) -> RegionMut;
}

/// The phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Some messages of this rank have not been received yet.
    Sending,
    /// The barrier has started.
    Barrier,
    /// The barrier has ended.
    Over,
}

/// The state of an exchange beside the execution of its barrier.
pub(crate) struct Dynamic {
    /// The label of its messages.
    label: Label,
    element: TypeCode,
    arrivals: Arc<dyn Arrivals>,
    phase: Phase,
    /// The number of messages of this rank that have not been received.
    unsent: usize,
    /// The number of messages that have matched and are still being received.
    receiving: usize,
}

impl Dynamic {
    /// Creates an exchange of messages of this datatype.
    pub(crate) fn new(
        OpKey { context, tag }: OpKey,
        element: TypeCode,
        arrivals: Arc<dyn Arrivals>,
    ) -> Dynamic {
        let label = Label { context, tag, ordinal: 0 };
        Dynamic { label, element, arrivals, phase: Phase::Sending, unsent: 0, receiving: 0 }
    }

    /// A selector for any message of the exchange, from any rank.
    fn selector(&self) -> Selector {
        let Label { context, tag, ordinal } = self.label;
        Selector { context, source: None, tag: Some(tag), ordinal }
    }
}

impl OpExtras {
    /// Records the end of the barrier. Returns whether messages are still being received.
    pub(super) fn outlasts_barrier(&mut self) -> bool {
        self.dynamic.as_mut().is_some_and(|dynamic| {
            dynamic.phase = Phase::Over;
            dynamic.receiving > 0
        })
    }
}

/// Whether a completion with this token belongs to a message of an exchange.
#[inline]
pub(super) fn is_message(token: Token) -> bool {
    token.step >= LANDED
}

impl Engine {
    /// Starts an exchange whose barrier is this execution.
    ///
    /// # Safety
    /// What is sent stays valid until the operation is complete or abandoned.
    pub(crate) unsafe fn start_dynamic(
        &mut self,
        mut run: Box<Execution>,
        mut dynamic: Dynamic,
        sends: &[(Peer, Region)],
    ) -> Id {
        run.begin();
        let (label, element) = (dynamic.label, dynamic.element);
        dynamic.unsent = sends.len();
        let id = self.insert(Work::Run(run), None, State::Active);
        if let Some(operation) = self.operations.get_mut(id) {
            operation.rare().dynamic = Some(Box::new(dynamic));
        }
        self.active += 1;
        self.gathering.push(id);
        let mut done = mem::take(&mut self.done);
        let token = Token { operation: id.0, step: SENT };
        for &(to, data) in sends {
            // SAFETY: passed on.
            let posted =
                unsafe { self.endpoint.send_synchronously(to, label, element, data, token) };
            if posted == Posted::Done {
                done.push(Completion { token, outcome: Ok(NOTHING) });
            }
        }
        self.gather_for(id, &mut done);
        self.settle(done);
        let mut done = mem::take(&mut self.done);
        self.begin_barrier(id, &mut done);
        self.settle(done);
        id
    }

    /// Receives the messages that have arrived for all active exchanges.
    pub(super) fn gather(&mut self, done: &mut Vec<Completion>) {
        let mut next = 0;
        while next < self.gathering.len() {
            if self.gather_for(self.gathering[next], done) {
                next += 1;
            } else {
                self.gathering.swap_remove(next);
            }
        }
    }

    /// Receives the messages that have arrived for an exchange. Returns whether it is active.
    fn gather_for(&mut self, id: Id, done: &mut Vec<Completion>) -> bool {
        let Some(operation) = self.operations.get_mut(id) else { return false };
        let Some((_, dynamic)) = active_exchange(operation) else { return false };
        let token = Token { operation: id.0, step: LANDED };
        while let Some(taken) = self.endpoint.mprobe(dynamic.selector()) {
            let received = taken.received();
            let into = dynamic.arrivals.make_room(received.source, received.bytes);
            dynamic.receiving += 1;
            let element = dynamic.element;
            // SAFETY: the room that was just made, which the operation keeps.
            unsafe { self.endpoint.mrecv(taken, element, into, token, done) };
        }
        true
    }

    /// Handles the end of a message of an exchange, to this rank or from it, received or failed.
    #[cold]
    pub(super) fn message_is_over(
        &mut self,
        Completion { token, outcome }: Completion,
        done: &mut Vec<Completion>,
    ) {
        let id = Id(token.operation);
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Some((run, dynamic)) = active_exchange(operation) else { return };
        if let Err(error) = outcome {
            run.fail(error);
        }
        match token.step {
            SENT => dynamic.unsent -= 1,
            _ => dynamic.receiving -= 1,
        }
        if dynamic.phase == Phase::Over && dynamic.receiving == 0 {
            return self.finish_run(id);
        }
        self.begin_barrier(id, done);
    }

    /// Starts the barrier of an exchange when all its sends are complete.
    fn begin_barrier(&mut self, id: Id, done: &mut Vec<Completion>) {
        let Some(operation) = self.operations.get_mut(id) else { return };
        let Some((_, dynamic)) = active_exchange(operation) else { return };
        if dynamic.phase == Phase::Sending && dynamic.unsent == 0 {
            dynamic.phase = Phase::Barrier;
            self.advance_into(id, done);
        }
    }

    /// Withdraws the messages of exchanges that a rank has left; see the module's documentation.
    /// Returns whether there were any.
    pub(super) fn give_up_exchanges(&mut self) -> bool {
        let mut moved = false;
        for at in 0..self.gathering.len() {
            let id = self.gathering[at];
            let Some(operation) = self.operations.get_mut(id) else { continue };
            let Some((run, dynamic)) = active_exchange(operation) else { continue };
            if dynamic.unsent == 0 {
                continue;
            }
            let why = run.peers().find_map(|peer| self.endpoint.why_silent(peer));
            let Some(why) = why else { continue };
            run.fail(why);
            dynamic.unsent = 0;
            let own = Token { operation: id.0, step: SENT };
            self.endpoint.cancel(|token| token == own);
            let mut done = mem::take(&mut self.done);
            self.begin_barrier(id, &mut done);
            self.settle(done);
            moved = true;
        }
        moved
    }
}

/// The barrier of an active exchange, and the rest of it.
fn active_exchange(operation: &mut Operation) -> Option<(&mut Execution, &mut Dynamic)> {
    if operation.state != State::Active {
        return None;
    }
    let Work::Run(run) = &mut operation.work else { return None };
    let dynamic = operation.rare.as_mut()?.dynamic.as_deref_mut()?;
    Some((run, dynamic))
}

#[cfg(test)]
mod tests {
    use motet_plan::{Call, NodeMap, Operation, Rank, Tuning};

    use super::super::{Closing, PlanCache, Rule, Selection};
    use super::*;
    use crate::base::hints::Keep;
    use crate::{Result, Settings};

    fn rounds(ranks: usize) -> u64 {
        u64::from(ranks.next_power_of_two().trailing_zeros())
    }

    /// Each rank sends its messages, one packet for each that it has received (which makes the
    /// other's send complete), and those of the barrier.
    #[test]
    fn messages_are_those_of_the_pattern_and_of_a_barrier() -> Result<()> {
        for ranks in [1, 2, 3, 8, 13, 16] {
            let settings = Settings::new();
            let outcomes = crate::threads_with(ranks, &settings, |world| {
                let (me, packets) = (world.rank(), || world.core().engine().endpoint().packets());
                // Many from the even ones, nothing from the odd ones.
                let sent = if me % 2 == 0 { 2 } else { 0 };
                let message = vec![1; 100 * me];
                let sends = (0..sent).map(|each| ((me + each) % ranks, &message[..]));
                world.sparse_exchange::<u8>([])?;
                let before = packets();
                let came = world.sparse_exchange(sends)?.len();
                let expected = (sent + came) as u64 + rounds(ranks);
                assert_eq!(packets() - before, expected, "rank {me} of {ranks}");
                Ok(())
            })?;
            outcomes.into_iter().collect::<Result<Vec<()>>>()?;
        }
        Ok(())
    }

    /// A barrier may be over while pieces of a message are still in their lane: here rank 0 does
    /// not look into the lane from rank 1 while there is anything else, since so much of it has no
    /// receive yet; and it hears in the barrier from ranks 2 and 3 only. It looks at nothing from
    /// when it has asked for the pieces until all of that has come.
    #[test]
    fn pieces_in_flight_are_waited_for() -> Result<()> {
        const EARLY: usize = 400;
        let (tag, settings) = (crate::Tag(1), Settings::new().without_single_copy());
        let outcomes = crate::threads_with(4, &settings, |world| {
            let data: Vec<u32> = (1..60_000).collect();
            match world.rank() {
                0 => {
                    let packets = || world.core().engine().endpoint().packets();
                    let before = packets();
                    let mut pending = world.isparse_exchange::<u32>(Vec::new())?;
                    // Two of the barrier, and one that asks for the pieces. A rank that comes late
                    // may find everything there, and then has nothing to wait for.
                    while packets() < before + 3 && !pending.test()? {}
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    assert!(pending.wait()? == [(1, data)], "a message that is not whole");
                    (0..EARLY).try_for_each(|_| world.recv(&mut [0_u8], 1, tag).map(drop))
                }
                1 => {
                    let early = (0..EARLY).map(|_| world.isend(vec![7_u8], 0, tag));
                    let early: Vec<_> = early.collect::<Result<_>>()?;
                    assert_eq!(world.sparse_exchange([(0, &data[..])])?, []);
                    early.into_iter().try_for_each(|each| each.wait().map(drop))
                }
                _ => world.sparse_exchange::<u32>([]).map(drop),
            }
        })?;
        outcomes.into_iter().collect::<Result<()>>()
    }

    /// At a million ranks a barrier has twenty rounds, and nothing else of an exchange knows how
    /// many ranks there are.
    #[test]
    fn memory_grows_with_the_logarithm_of_the_ranks() -> Result<(), crate::ErrorKind> {
        let (rank, ranks) = (Rank(7), 1 << 20);
        let operation = Operation::Barrier;
        let (element_bytes, in_place, nodes) = (0, false, NodeMap::ONE);
        let call = Call { rank, ranks, element_bytes, in_place, nodes, operation };
        let rule = Rule::By(Selection::Few);
        let (run, _) =
            PlanCache::new(Tuning::default(), 0).take(&call, rule, Keep::AsLong, Closing::Alone)?;
        let plan = &run.planned().plan;
        assert_eq!((plan.messages(), plan.ids().count()), (20, 40));
        assert!(size_of::<Dynamic>() <= 72);
        Ok(())
    }
}
