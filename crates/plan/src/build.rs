//! The builder: records the steps of an algorithm and derives their dependencies from the data.
//!
//! An algorithm calls [`Builder::send`], [`Builder::recv`], [`Builder::copy`] and
//! [`Builder::reduce`] in program order, as if each step were complete when the call returns. The
//! builder adds an edge from an earlier step to a later one if both touch an element and at least
//! one of them writes it (a data hazard).
//!
//! # Why hazards are enough
//!
//! Take any execution that respects the edges, and compare it with the execution in program order.
//! *Claim: every step reads the same values in both.* By induction over program order. An element
//! that step `s` reads was last written, in program order, by some step `w` before `s` (or by
//! nobody). There is a path of edges from `w` to `s` (read after write), so `w` is complete. Any
//! other write of the element stands before `w` in program order, and is complete before `w` by a
//! path of edges (write after write, or write after read after write); or it stands after `s`, and
//! waits for `s` (write after read). So the value is what `w` wrote, and `w` wrote
//! the same in both executions: it has read the same values, and if it is a receive, its message is
//! the same one, because a message is known by source, destination and ordinal and not by time;
//! what the source sent is the same by this claim at the source. Hence all legal orders
//! give the same result, and reuse of a scratch slice is the whole of flow control.
//!
//! The argument assumes that each receive has a matching send that is eventually reached. Freedom
//! from deadlock, even if a send completes only with its receive, is a property of all ranks
//! together: the [verifier](mod@crate::verify) checks it.
//!
//! # Messages of no elements
//!
//! Steps of length zero are dropped. Both ends of a message have the same length, so both drop it;
//! ordinals count what is kept, so they stay equal at both ends.
//!
//! # Phases
//!
//! A collective of all ranks may consist of collectives of some of them: for instance, each group
//! reduces, the group leaders exchange, each group broadcasts. [`Builder::within`] lets another
//! algorithm record such a [`Phase`]. That algorithm sees a call with its own ranks, counted from
//! 0, and its own buffers; the builder translates both. All phases go into one sequence of steps,
//! so the claim above holds for the whole: a phase waits for an earlier one only where both touch
//! the same elements, and the ordinals of its messages continue.
//!
//! Ranks that exchange messages in several phases must record these phases in the same order, as
//! they must with single messages.

mod phase;
mod record;

pub use phase::{Data, Phase};

use crate::call::{Call, Rank};
use crate::plan::{Action, Buffer, Plan, PlanParts, Slice};
use phase::Frame;
use record::Record;

/// Records the steps of one rank in program order.
#[derive(Debug)]
pub struct Builder<'a> {
    call: &'a Call,
    /// What the ranks and buffers of the call are in the whole plan; none if they are the same.
    frame: Option<Frame>,
    record: Record,
}

impl<'a> Builder<'a> {
    /// An empty plan for a call that has passed [`Call::check`].
    pub fn new(call: &'a Call) -> Self {
        Self { call, frame: None, record: Record::default() }
    }

    /// The rank whose plan is being built.
    pub fn rank(&self) -> Rank {
        self.call.rank
    }

    /// Ranks in the communicator.
    pub fn ranks(&self) -> u32 {
        self.call.ranks
    }

    /// The whole input; empty in place.
    pub fn input(&self) -> Slice {
        Slice { buffer: Buffer::Input, start: 0, len: self.call.input_len() }
    }

    /// The whole output.
    pub fn output(&self) -> Slice {
        Slice { buffer: Buffer::Output, start: 0, len: self.call.output_len() }
    }

    /// Where this rank's own data lies: [`Call::contribution`]. An algorithm that reads its input
    /// here needs no special case for calls in place.
    pub fn contribution(&self) -> Slice {
        self.call.contribution()
    }

    /// New scratch memory of `len` elements.
    pub fn scratch(&mut self, len: usize) -> Slice {
        self.record.scratch(len)
    }

    /// Sends `slice` to another rank.
    ///
    /// # Panics
    /// If `to` is the rank itself or out of range.
    pub fn send(&mut self, to: Rank, slice: Slice) {
        self.check_peer(to);
        if !slice.is_empty() {
            self.record.send(self.outer_rank(to), self.outer(slice));
        }
    }

    /// Receives into `slice` from another rank.
    ///
    /// # Panics
    /// If `from` is the rank itself or out of range, or `slice` lies in the input.
    pub fn recv(&mut self, from: Rank, slice: Slice) {
        self.check_peer(from);
        if !slice.is_empty() {
            self.record.recv(self.outer_rank(from), self.outer(slice));
        }
    }

    /// Copies; a copy of a slice onto itself is dropped.
    ///
    /// # Panics
    /// If the lengths differ, or the slices overlap without being equal.
    pub fn copy(&mut self, from: Slice, into: Slice) {
        assert!(from.len == into.len, "copy {from} into {into}");
        if !from.is_empty() && from != into {
            let (from, into) = (self.outer(from), self.outer(into));
            self.record.push(Action::Copy { from, into });
        }
    }

    /// `into = left ∘ right`.
    ///
    /// # Panics
    /// If the lengths differ, or `into` overlaps an operand without being equal to it.
    pub fn reduce(&mut self, left: Slice, right: Slice, into: Slice) {
        assert!(left.len == into.len && right.len == into.len, "{left} ∘ {right} into {into}");
        if !into.is_empty() {
            let (left, right, into) = (self.outer(left), self.outer(right), self.outer(into));
            self.record.push(Action::Reduce { left, right, into });
        }
    }

    /// The call of a phase as this rank makes it, unless the rank is not one of its members.
    pub(crate) fn call_in(&self, phase: &Phase<'_>) -> Option<Call> {
        let position = phase.members.iter().position(|member| *member == self.call.rank)?;
        Some(phase.call(Rank::from_index(position), self.call.element_bytes))
    }

    /// Records the steps that `write` writes down for `call`, the call of a phase.
    ///
    /// # Panics
    /// If a buffer has not the length that the call says, or input and output overlap.
    pub(crate) fn record_phase(
        &mut self,
        phase: &Phase<'_>,
        call: &Call,
        write: impl FnOnce(&mut Builder<'_>),
    ) {
        let (input, output) = phase.buffers(call);
        let members = phase.members.iter().map(|member| self.outer_rank(*member)).collect();
        let frame = Frame { members, input: self.outer(input), output: self.outer(output) };
        let record = std::mem::take(&mut self.record);
        let mut inner = Builder { call, frame: Some(frame), record };
        write(&mut inner);
        self.record = inner.record;
    }

    /// The plan of all steps so far.
    ///
    /// # Panics
    /// If a step breaks one of the promises of [`Plan`].
    pub fn finish(self, algorithm: &'static str) -> Plan {
        let edges = self.record.edges().collect();
        Plan::assemble(PlanParts {
            algorithm,
            rank: self.call.rank,
            ranks: self.call.ranks,
            input_len: self.call.input_len(),
            output_len: self.call.output_len(),
            scratch_len: self.record.scratch_len,
            steps: self.record.steps,
            edges,
        })
    }

    fn check_peer(&self, peer: Rank) {
        assert!(
            peer != self.call.rank && peer.0 < self.call.ranks,
            "rank {} of {} has no message with rank {peer}",
            self.call.rank,
            self.call.ranks,
        );
    }

    /// The rank of the whole plan that is meant by a rank of the call.
    fn outer_rank(&self, rank: Rank) -> Rank {
        self.frame.as_ref().map_or(rank, |frame| frame.members[rank.index()])
    }

    /// The elements of the whole plan that are meant by a slice of the call.
    fn outer(&self, slice: Slice) -> Slice {
        match (&self.frame, slice.buffer) {
            (None, _) | (_, Buffer::Scratch) => slice,
            (Some(frame), Buffer::Input) => frame.input.sub(slice.start, slice.len),
            (Some(frame), Buffer::Output) => frame.output.sub(slice.start, slice.len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{NodeMap, Operation};

    fn call() -> Call {
        Call {
            rank: Rank(1),
            ranks: 4,
            element_bytes: 8,
            in_place: false,
            nodes: NodeMap::ONE,
            operation: Operation::Allreduce { count: 100, commutative: true },
        }
    }

    /// The edges of the plan that `write` makes.
    fn edges(write: impl FnOnce(&mut Builder<'_>)) -> Vec<(u32, u32)> {
        let call = call();
        let mut builder = Builder::new(&call);
        write(&mut builder);
        let plan = builder.finish("test");
        plan.edges().map(|(before, after)| (before.0, after.0)).collect()
    }

    #[test]
    fn read_after_write() {
        let found = edges(|builder| {
            let output = builder.output();
            builder.recv(Rank(0), output.range(0..10));
            builder.recv(Rank(0), output.range(10..20));
            builder.send(Rank(2), output.range(5..15));
            builder.send(Rank(2), output.range(15..20));
        });
        assert_eq!(found, [(0, 2), (1, 2), (1, 3)]);
    }

    #[test]
    fn write_after_read_and_write() {
        let found = edges(|builder| {
            let output = builder.output();
            builder.send(Rank(0), output.range(0..10));
            builder.send(Rank(2), output.range(5..15));
            builder.recv(Rank(0), output.range(8..9));
            builder.recv(Rank(3), output.range(0..20));
            builder.recv(Rank(2), output.range(19..21));
        });
        // Steps 0 and 1 come before 3 by way of 2.
        assert_eq!(found, [(0, 2), (1, 2), (2, 3), (3, 4)]);
    }

    #[test]
    fn reads_do_not_wait_for_reads_and_the_input_never_waits() {
        let found = edges(|builder| {
            let (input, output) = (builder.input(), builder.output());
            for peer in [0, 2, 3] {
                builder.send(Rank(peer), input);
                builder.send(Rank(peer), output);
            }
        });
        assert_eq!(found, []);
    }

    #[test]
    fn a_step_that_overwrites_its_operand_does_not_wait_for_itself() {
        let found = edges(|builder| {
            let (output, scratch) = (builder.output(), builder.scratch(100));
            builder.reduce(output, scratch, output);
            builder.reduce(scratch, output, output);
            builder.reduce(output, output, output);
        });
        assert_eq!(found, [(0, 1), (1, 2)]);
    }

    #[test]
    fn what_has_no_elements_is_dropped_and_not_counted() {
        let call = call();
        let mut builder = Builder::new(&call);
        let output = builder.output();
        builder.send(Rank(0), output.sub(3, 0));
        builder.send(Rank(0), output.sub(3, 1));
        builder.recv(Rank(0), output.sub(100, 0));
        builder.copy(output, output);
        builder.copy(output.sub(0, 0), output.sub(1, 0));
        builder.reduce(output.sub(0, 0), output.sub(0, 0), output.sub(0, 0));
        builder.send(Rank(0), output.sub(4, 1));
        let plan = builder.finish("test");
        let ordinals: Vec<_> = plan
            .steps()
            .iter()
            .map(|step| match step {
                Action::Send { ordinal, .. } => *ordinal,
                action => panic!("{action} should have been dropped"),
            })
            .collect();
        assert_eq!(ordinals, [0, 1]);
    }

    #[test]
    #[should_panic(expected = "rank 1 of 4 has no message with rank 1")]
    fn no_rank_sends_to_itself() {
        edges(|builder| builder.send(Rank(1), builder.input()));
    }

    #[test]
    #[should_panic(expected = "the input is never written")]
    fn the_input_is_not_written() {
        edges(|builder| builder.recv(Rank(0), builder.input()));
    }

    #[test]
    #[should_panic(expected = "copy output[0..10] into output[5..15]")]
    fn a_copy_does_not_overlap() {
        edges(|builder| {
            let output = builder.output();
            builder.copy(output.range(0..10), output.range(5..15));
        });
    }
}
