//! The builder: an algorithm says what happens in program order, and the order follows.
//!
//! An algorithm calls [`Builder::send`], [`Builder::recv`], [`Builder::copy`] and
//! [`Builder::reduce`] as if each were done when the call returns. The builder adds an edge from an
//! earlier step to a later one where both touch an element and at least one of them writes it.
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
//! The argument needs each receive to be met by a send that is reached sooner or later. That no
//! plan waits for ever, even when a send completes only with its receive, is a property of all
//! ranks together; it is shown by the [verifier](mod@crate::verify), not here.
//!
//! # Messages of no elements
//!
//! Steps of length zero are dropped. Both ends of a message have the same length, so both drop it;
//! ordinals count what is kept, so they stay equal at both ends.

use std::collections::BTreeMap;

use crate::call::{Call, Rank};
use crate::hazard::History;
use crate::plan::{Action, Buffer, Parts, Plan, Slice, StepId};

/// How many earlier steps are visited, for each new step, in search of implied edges.
///
/// An edge is implied when its first step is reached through another edge of the same step. The
/// bound keeps building near-linear; where it cuts the search short an edge too many remains,
/// which costs a counter and is never wrong.
const IMPLIED_SEARCH: usize = 64;

/// Records the steps of one rank in program order.
#[derive(Debug)]
pub struct Builder<'a> {
    call: &'a Call,
    scratch_len: usize,
    steps: Vec<Action>,
    output: History,
    scratch: History,
    /// Messages so far, by peer.
    sent: BTreeMap<Rank, u32>,
    received: BTreeMap<Rank, u32>,
    /// The predecessors of step `i` are `predecessors[bounds[i]..bounds[i + 1]]`.
    predecessors: Vec<StepId>,
    bounds: Vec<usize>,
    /// The hazards of the step being recorded; kept to save allocations.
    found: Vec<StepId>,
    search: Search,
}

/// The memory of the search for implied edges.
#[derive(Debug, Default)]
struct Search {
    /// The last step whose search reached this one.
    reached_for: Vec<Option<StepId>>,
    stack: Vec<StepId>,
    /// Steps visited so far: the measure of work in tests.
    visits: usize,
}

impl<'a> Builder<'a> {
    /// An empty plan for a call that has passed [`Call::check`].
    pub fn new(call: &'a Call) -> Self {
        Self {
            call,
            scratch_len: 0,
            steps: Vec::new(),
            output: History::new(),
            scratch: History::new(),
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            predecessors: Vec::new(),
            bounds: vec![0],
            found: Vec::new(),
            search: Search::default(),
        }
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
        let start = self.scratch_len;
        self.scratch_len += len;
        Slice { buffer: Buffer::Scratch, start, len }
    }

    /// Sends `slice` to another rank.
    ///
    /// # Panics
    /// If `to` is the rank itself or out of range.
    pub fn send(&mut self, to: Rank, slice: Slice) {
        self.check_peer(to);
        if !slice.is_empty() {
            let ordinal = count(&mut self.sent, to);
            self.push(Action::Send { to, ordinal, from: slice });
        }
    }

    /// Receives into `slice` from another rank.
    ///
    /// # Panics
    /// If `from` is the rank itself or out of range, or `slice` lies in the input.
    pub fn recv(&mut self, from: Rank, slice: Slice) {
        self.check_peer(from);
        if !slice.is_empty() {
            let ordinal = count(&mut self.received, from);
            self.push(Action::Recv { from, ordinal, into: slice });
        }
    }

    /// Copies; a copy of a slice onto itself is dropped.
    ///
    /// # Panics
    /// If the lengths differ, or the slices overlap without being equal.
    pub fn copy(&mut self, from: Slice, into: Slice) {
        assert!(from.len == into.len, "copy {from} into {into}");
        if !from.is_empty() && from != into {
            self.push(Action::Copy { from, into });
        }
    }

    /// `into = left ∘ right`.
    ///
    /// # Panics
    /// If the lengths differ, or `into` overlaps an operand without being equal to it.
    pub fn reduce(&mut self, left: Slice, right: Slice, into: Slice) {
        assert!(left.len == into.len && right.len == into.len, "{left} ∘ {right} into {into}");
        if !into.is_empty() {
            self.push(Action::Reduce { left, right, into });
        }
    }

    /// The plan of all steps so far.
    ///
    /// # Panics
    /// If a step breaks one of the promises of [`Plan`].
    pub fn finish(self, algorithm: &'static str) -> Plan {
        let edges = self.edges().collect();
        Plan::assemble(Parts {
            algorithm,
            rank: self.call.rank,
            ranks: self.call.ranks,
            input_len: self.call.input_len(),
            output_len: self.call.output_len(),
            scratch_len: self.scratch_len,
            steps: self.steps,
            edges,
        })
    }

    fn edges(&self) -> impl Iterator<Item = (StepId, StepId)> + '_ {
        self.bounds.windows(2).enumerate().flat_map(|(step, bounds)| {
            let after = StepId(step as u32);
            self.predecessors[bounds[0]..bounds[1]].iter().map(move |before| (*before, after))
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

    fn push(&mut self, action: Action) {
        let step = StepId(u32::try_from(self.steps.len()).expect("a plan is below 2^32 steps"));
        let mut found = std::mem::take(&mut self.found);
        // Reads come first: a step that overwrites its own operand must not wait for itself.
        for slice in action.reads() {
            if let Some(history) = self.history(slice) {
                history.read(slice.positions(), step, &mut found);
            }
        }
        if let Some(slice) = action.writes() {
            let history = self.history(slice).expect("the input is never written");
            history.write(slice.positions(), step, &mut found);
        }
        self.steps.push(action);
        self.connect(step, &mut found);
        found.clear();
        self.found = found;
    }

    /// The history of a slice's buffer; the input has none, since it never changes.
    fn history(&mut self, slice: Slice) -> Option<&mut History> {
        match slice.buffer {
            Buffer::Input => None,
            Buffer::Output => Some(&mut self.output),
            Buffer::Scratch => Some(&mut self.scratch),
        }
    }

    /// Keeps those of the hazards `found` that are not implied by others, latest first: an edge
    /// can be implied only by way of a later step.
    fn connect(&mut self, step: StepId, found: &mut Vec<StepId>) {
        found.retain(|before| *before != step);
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        self.search.reached_for.push(None);
        let mut budget = IMPLIED_SEARCH;
        for (position, &before) in found.iter().enumerate() {
            if self.search.reached_for[before.index()] == Some(step) {
                continue;
            }
            self.predecessors.push(before);
            if position + 1 < found.len() {
                let earliest = found[found.len() - 1];
                self.reach(step, before, earliest, &mut budget);
            }
        }
        let end = self.predecessors.len();
        self.bounds.push(end);
    }

    /// Marks for `step` what is reached from `before` backwards, down to `earliest`.
    fn reach(&mut self, step: StepId, before: StepId, earliest: StepId, budget: &mut usize) {
        let Search { reached_for, stack, visits } = &mut self.search;
        stack.clear();
        stack.push(before);
        while let Some(next) = stack.pop() {
            let bounds = self.bounds[next.index()]..self.bounds[next.index() + 1];
            for &candidate in &self.predecessors[bounds] {
                if candidate < earliest || reached_for[candidate.index()] == Some(step) {
                    continue;
                }
                if *budget == 0 {
                    return;
                }
                *budget -= 1;
                *visits += 1;
                reached_for[candidate.index()] = Some(step);
                stack.push(candidate);
            }
        }
    }
}

/// The next ordinal for a peer.
fn count(messages: &mut BTreeMap<Rank, u32>, peer: Rank) -> u32 {
    let next = messages.entry(peer).or_insert(0);
    let ordinal = *next;
    *next += 1;
    ordinal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Operation;

    fn call() -> Call {
        Call {
            rank: Rank(1),
            ranks: 4,
            element_bytes: 8,
            in_place: false,
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

    /// A long chain of steps over a few places: the work for each step does not grow.
    #[test]
    fn work_is_near_linear() {
        let work = |steps: u32| {
            let call = call();
            let mut builder = Builder::new(&call);
            let (output, places) = (builder.output(), [builder.scratch(25), builder.scratch(25)]);
            for step in 0..steps {
                let (place, part) =
                    (places[step as usize % 2], output.sub(step as usize % 4 * 25, 25));
                builder.recv(Rank(0), place);
                builder.reduce(place, part, part);
                builder.send(Rank(2), part);
            }
            let Builder { output, scratch, search, predecessors, .. } = &builder;
            output.visits + scratch.visits + search.visits + predecessors.len()
        };
        let (short, long) = (work(1_000), work(10_000));
        assert!(long <= 11 * short, "{short} for 1000 rounds, {long} for 10000");
        assert!(short < 40 * 1_000, "{short} for 1000 rounds");
    }

    /// Many hazards of one step: the search for implied edges stays within its bound.
    #[test]
    fn the_search_for_implied_edges_is_bounded() {
        let call = call();
        let mut builder = Builder::new(&call);
        let output = builder.output();
        for part in 0..100 {
            builder.recv(Rank(0), output.sub(part, 1));
        }
        for _ in 0..1_000 {
            builder.send(Rank(0), output);
        }
        builder.recv(Rank(0), output);
        assert!(builder.search.visits <= IMPLIED_SEARCH * builder.steps.len());
        let plan = builder.finish("test");
        assert_eq!(plan.dependencies(StepId(1_100)), 1_000);
    }
}
