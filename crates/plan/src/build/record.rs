//! The steps of one rank as they are recorded, and the edges between them.

use std::collections::BTreeMap;

use crate::call::Rank;
use crate::hazard::History;
use crate::plan::{Action, Buffer, Slice, StepId};

/// How many earlier steps are visited, for each new step, in search of implied edges.
///
/// An edge is implied when its first step is reached through another edge of the same step. The
/// bound keeps building near-linear; where it cuts the search short an edge too many remains,
/// which costs a counter and is never wrong.
const IMPLIED_SEARCH: usize = 64;

/// The steps so far, in program order, and what the next one must be compared with. Ranks and
/// slices are those of the whole plan.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) scratch_len: usize,
    pub(super) steps: Vec<Action>,
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

impl Default for Record {
    fn default() -> Self {
        Self {
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
}

impl Record {
    /// New scratch memory of `len` elements.
    pub(super) fn scratch(&mut self, len: usize) -> Slice {
        let start = self.scratch_len;
        self.scratch_len += len;
        Slice { buffer: Buffer::Scratch, start, len }
    }

    pub(super) fn send(&mut self, to: Rank, from: Slice) {
        let ordinal = count(&mut self.sent, to);
        self.push(Action::Send { to, ordinal, from });
    }

    pub(super) fn recv(&mut self, from: Rank, into: Slice) {
        let ordinal = count(&mut self.received, from);
        self.push(Action::Recv { from, ordinal, into });
    }

    /// All edges as pairs (before, after).
    pub(super) fn edges(&self) -> impl Iterator<Item = (StepId, StepId)> + '_ {
        self.bounds.windows(2).enumerate().flat_map(|(step, bounds)| {
            let after = StepId(step as u32);
            self.predecessors[bounds[0]..bounds[1]].iter().map(move |before| (*before, after))
        })
    }

    pub(super) fn push(&mut self, action: Action) {
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

    const OUTPUT: Slice = Slice { buffer: Buffer::Output, start: 0, len: 100 };

    /// A long chain of steps over a few places: the work for each step does not grow.
    #[test]
    fn work_is_near_linear() {
        let work = |steps: u32| {
            let mut record = Record::default();
            let places = [record.scratch(25), record.scratch(25)];
            for step in 0..steps {
                let (place, part) =
                    (places[step as usize % 2], OUTPUT.sub(step as usize % 4 * 25, 25));
                record.recv(Rank(0), place);
                record.push(Action::Reduce { left: place, right: part, into: part });
                record.send(Rank(2), part);
            }
            let Record { output, scratch, search, predecessors, .. } = &record;
            output.visits + scratch.visits + search.visits + predecessors.len()
        };
        let (short, long) = (work(1_000), work(10_000));
        assert!(long <= 11 * short, "{short} for 1000 rounds, {long} for 10000");
        assert!(short < 40 * 1_000, "{short} for 1000 rounds");
    }

    /// Many hazards of one step: the search for implied edges stays within its bound.
    #[test]
    fn the_search_for_implied_edges_is_bounded() {
        let mut record = Record::default();
        for part in 0..100 {
            record.recv(Rank(0), OUTPUT.sub(part, 1));
        }
        for _ in 0..1_000 {
            record.send(Rank(0), OUTPUT);
        }
        record.recv(Rank(0), OUTPUT);
        assert!(record.search.visits <= IMPLIED_SEARCH * record.steps.len());
        let last = record.edges().filter(|(_, after)| *after == StepId(1_100));
        assert_eq!(last.count(), 1_000);
    }
}
