//! One symbolic run of all ranks, in an order drawn from a seed.

mod pass;

use std::ops::Range;

use super::memory::{Content, Fault, Faulty, Memory};
use super::value::{ValueId, Values};
use super::{Mode, Options, Stuck, Violation};
use crate::call::{Call, Collective, Rank};
use crate::pairing::{Pairing, StepRef};
use crate::plan::cursor::Cursor;
use crate::plan::{Action, Buffer, Plan, Slice, StepId};
use crate::spec::Expected;

pub(super) struct VerifierRun<'a> {
    calls: &'a [Call],
    plans: &'a [Plan],
    matching: &'a Pairing,
    mode: Mode,
    order: Order,
    values: Values,
    memories: Vec<Memory>,
    execs: Vec<Cursor>,
    messages: Vec<Progress>,
    /// Messages that have been left where they are until a reduction reads them there.
    in_place: Vec<LeftMessage>,
    /// What could happen next.
    possible: Vec<Event>,
    /// How often a reduction has read a message in place, and followed another one in a pass.
    counts: PassCounts,
}

/// What was done in place or in a pass.
#[derive(Clone, Copy, Default)]
pub(super) struct PassCounts {
    pub(super) read_in_place: usize,
    pub(super) followed_in_pass: usize,
}

/// A message that has been received, but left where it is.
struct LeftMessage {
    message: usize,
    /// The step that has received it.
    receive: StepRef,
    /// The step that is to read it.
    reduction: StepId,
    /// Unless sends wait for receives, what was read when the send started.
    values: Vec<ValueId>,
}

#[derive(Clone, Copy)]
enum Event {
    /// A step that is ready starts.
    Start(StepRef),
    /// A message of which both ends have started is delivered.
    Deliver(usize),
}

/// How far a message is.
#[derive(Clone, Default)]
struct Progress {
    sending: bool,
    receiving: bool,
    /// Unless sends wait for receives, what was read when the send started.
    captured: Vec<ValueId>,
}

impl<'a> VerifierRun<'a> {
    pub(super) fn new(
        calls: &'a [Call],
        plans: &'a [Plan],
        expected: &[Vec<Expected>],
        matching: &'a Pairing,
        options: &Options,
    ) -> Self {
        let mut values = Values::new(calls.iter().all(commutes));
        let memories = calls
            .iter()
            .zip(plans)
            .zip(expected)
            .map(|((call, plan), expected)| Memory::new(call, plan, expected, &mut values))
            .collect();
        Self {
            calls,
            plans,
            matching,
            mode: options.mode,
            order: Order::new(options.seed, calls.len()),
            values,
            memories,
            execs: plans.iter().map(|plan| begun(plan, options.mode)).collect(),
            messages: vec![Progress::default(); matching.messages().len()],
            in_place: Vec::new(),
            possible: Vec::new(),
            counts: PassCounts::default(),
        }
    }

    pub(super) fn counts(&self) -> PassCounts {
        self.counts
    }

    /// Executes all steps.
    pub(super) fn execute(&mut self) -> Result<(), Violation> {
        (0..self.plans.len()).for_each(|rank| self.collect(rank));
        while !self.possible.is_empty() {
            let choice = self.order.choose(&self.possible, self.matching);
            match self.possible.swap_remove(choice) {
                Event::Start(place) => self.start(place)?,
                Event::Deliver(message) => self.deliver(message)?,
            }
        }
        if self.execs.iter().all(Cursor::is_done) {
            return Ok(());
        }
        Err(Violation::Deadlock(self.stuck()))
    }

    /// Takes over the steps of a rank that have become ready.
    fn collect(&mut self, rank: usize) {
        while let Some(step) = self.execs[rank].next_ready(&self.plans[rank]) {
            self.possible.push(Event::Start(StepRef { rank: Rank::from_index(rank), step }));
        }
    }

    fn start(&mut self, place: StepRef) -> Result<(), Violation> {
        let action = *self.action(place);
        if matches!(action, Action::Reduce { .. }) {
            return self.reduce(place);
        }
        match self.act(place, &action) {
            Ok(true) => self.complete(place),
            Ok(false) => {}
            Err(fault) => return Err(violation(place, action, fault)),
        }
        if let Some(message) = self.matching.of_step(place) {
            let Progress { sending, receiving, .. } = self.messages[message];
            if sending && receiving {
                self.possible.push(Event::Deliver(message));
            }
        }
        Ok(())
    }

    /// Does what a step does when it starts; says whether it is complete.
    fn act(&mut self, place: StepRef, action: &Action) -> Result<bool, Faulty> {
        let memory = &mut self.memories[place.rank.index()];
        match *action {
            Action::Copy { from, into } => {
                let values = memory.read(from)?;
                memory.write(into, &values)?;
                Ok(true)
            }
            Action::Reduce { .. } => unreachable!("a reduction may be the first one of a pass"),
            Action::Send { from, .. } => {
                let values = memory.read(from)?;
                if self.mode == Mode::Rendezvous {
                    memory.begin_send(from);
                }
                let progress = self.progress(place);
                progress.sending = true;
                progress.captured = values;
                Ok(self.mode != Mode::Rendezvous)
            }
            Action::Recv { into, .. } => {
                memory.begin_recv(into)?;
                self.progress(place).receiving = true;
                Ok(false)
            }
        }
    }

    fn progress(&mut self, place: StepRef) -> &mut Progress {
        let message = self.matching.of_step(place).expect("every send and receive is matched");
        &mut self.messages[message]
    }

    fn deliver(&mut self, index: usize) -> Result<(), Violation> {
        let message = self.matching.messages()[index];
        let mut values = std::mem::take(&mut self.messages[index].captured);
        if self.mode == Mode::Rendezvous {
            let from = self.slice(message.send);
            let memory = &mut self.memories[message.send.rank.index()];
            values = memory
                .read(from)
                .map_err(|fault| violation(message.send, *self.action(message.send), fault))?;
        }
        if let Some(reduction) = self.reader_in_place(message.recv) {
            let receive = message.recv;
            return self.leave(LeftMessage { message: index, receive, reduction, values });
        }
        if self.mode == Mode::Rendezvous {
            self.end_send(index);
        }
        let into = self.slice(message.recv);
        self.memories[message.recv.rank.index()].end_recv(into, &values);
        self.complete(message.recv);
        Ok(())
    }

    fn end_send(&mut self, message: usize) {
        let send = self.matching.messages()[message].send;
        let from = self.slice(send);
        self.memories[send.rank.index()].end_send(from);
        self.complete(send);
    }

    fn complete(&mut self, place: StepRef) {
        let rank = place.rank.index();
        self.execs[rank].complete(&self.plans[rank], place.step);
        self.collect(rank);
    }

    fn action(&self, place: StepRef) -> &'a Action {
        self.plans[place.rank.index()].step(place.step)
    }

    /// What a message reads or writes at one end.
    fn slice(&self, place: StepRef) -> Slice {
        match *self.action(place) {
            Action::Send { from: slice, .. } | Action::Recv { into: slice, .. } => slice,
            action => unreachable!("{action} is no message"),
        }
    }

    /// The ends of messages that have started while the other end has not.
    fn stuck(&self) -> Vec<Stuck> {
        let messages = self.matching.messages().iter().zip(&self.messages);
        let mut stuck: Vec<_> = messages
            .filter_map(|(message, progress)| match (progress.sending, progress.receiving) {
                (true, false) if self.mode == Mode::Rendezvous => Some(message.send),
                (false, true) => Some(message.recv),
                _ => None,
            })
            .map(|place| Stuck { place, action: *self.action(place) })
            .collect();
        stuck.sort_by_key(|stuck| stuck.place);
        stuck
    }

    /// Compares what has been computed with what must be.
    pub(super) fn check(&self, expected: &[Vec<Expected>]) -> Result<(), Violation> {
        for (call, expected) in self.calls.iter().zip(expected) {
            let output = self.memories[call.rank.index()].contents(Buffer::Output);
            for (element, (content, expected)) in output.zip(expected).enumerate() {
                self.check_element(call.rank, element, content, expected)?;
            }
            match call.collective() {
                Collective::Barrier => self.check_barrier(call.rank, 0..call.ranks)?,
                Collective::Allreduce => self.check_expressions(call.rank, Rank(0))?,
                _ => {}
            }
            match (call.collective(), call.groups()) {
                (Collective::InterBarrier, Some(groups)) => {
                    self.check_barrier(call.rank, groups.far)?;
                }
                (Collective::InterAllreduce, Some(groups)) => {
                    self.check_expressions(call.rank, Rank(groups.near.start))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_element(
        &self,
        rank: Rank,
        element: usize,
        content: Content,
        expected: &Expected,
    ) -> Result<(), Violation> {
        let operands: Vec<(Rank, usize)> = match expected {
            // The memory has refused every write to what stays unchanged.
            Expected::Unchanged | Expected::Undefined => return Ok(()),
            Expected::Contribution { rank, index } => vec![(*rank, *index)],
            Expected::Reduction { first, ranks, index } => {
                (first.0..first.0 + ranks).map(|rank| (Rank(rank), *index)).collect()
            }
            Expected::Combination { operands } => operands.to_vec(),
        };
        if let Content::Value(value) = content
            && self.values.is_reduction(value, &operands)
        {
            return Ok(());
        }
        let names = operands.iter().map(|(rank, index)| format!("a{rank}[{index}]"));
        let expected = names.collect::<Vec<_>>().join("∘");
        Err(Violation::Result { rank, element, expected, found: self.text(content) })
    }

    /// Compares the expressions of a rank with those of the first one that must have the same.
    fn check_expressions(&self, rank: Rank, first: Rank) -> Result<(), Violation> {
        let outputs = |rank: Rank| self.memories[rank.index()].contents(Buffer::Output);
        let pairs = outputs(first).zip(outputs(rank)).enumerate();
        for (element, (content, other)) in pairs {
            if content != other {
                let (expression, other) = (self.text(content), self.text(other));
                return Err(Violation::Expressions { element, first, expression, rank, other });
            }
        }
        Ok(())
    }

    /// Looks for the tokens of others in the scratch memory of one rank.
    fn check_barrier(&self, rank: Rank, mut others: Range<u32>) -> Result<(), Violation> {
        let mut heard = vec![false; self.calls.len()];
        heard[rank.index()] = true;
        for content in self.memories[rank.index()].contents(Buffer::Scratch) {
            if let Content::Value(value) = content {
                self.values.operands(value).iter().for_each(|(rank, _)| heard[rank.index()] = true);
            }
        }
        match others.find(|other| !heard[*other as usize]) {
            None => Ok(()),
            Some(missing) => Err(Violation::Barrier { rank, missing: Rank(missing) }),
        }
    }

    fn text(&self, content: Content) -> String {
        match content {
            Content::Value(value) => self.values.text(value),
            Content::Unset | Content::Foreign => "not set".to_owned(),
            Content::Arriving => "still arriving".to_owned(),
        }
    }
}

fn begun(plan: &Plan, mode: Mode) -> Cursor {
    match mode {
        Mode::Eager | Mode::Rendezvous => Cursor::new(plan),
        Mode::InOrder => Cursor::in_order(plan),
    }
}

/// Whether operands may be swapped; of no matter where nothing is reduced.
fn commutes(call: &Call) -> bool {
    call.operation.commutative().unwrap_or(true)
}

fn violation(place: StepRef, action: Action, (fault, buffer, element): Faulty) -> Violation {
    match fault {
        Fault::ReadUnset => Violation::ReadUnset { place, action, buffer, element },
        Fault::WriteProtected => Violation::Touched { place, action, buffer, element },
        Fault::ReadArriving | Fault::WriteArriving | Fault::WriteSending => {
            Violation::Race { place, action, buffer, element }
        }
    }
}

/// The choices of a run.
///
/// One rank is slow: it is passed over most of the time while others can go on. Drawing evenly
/// would keep all ranks close together, and faults show when one lags behind. And every second seed
/// mostly takes what has become possible last, so that what could have been done long ago still
/// waits: drawing evenly, a step that waits for nothing is hardly ever late.
struct Order {
    state: u64,
    slow: Rank,
    prefers_last: bool,
}

impl Order {
    fn new(seed: u64, ranks: usize) -> Self {
        let prefers_last = !seed.is_multiple_of(2);
        let mut order = Self { state: seed, slow: Rank(0), prefers_last };
        order.slow = Rank::from_index(order.below(ranks.max(1)));
        order
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    /// The position of the event that happens next.
    fn choose(&mut self, possible: &[Event], matching: &Pairing) -> usize {
        const DRAWS: usize = 4;
        const LAST: usize = 8;
        if self.prefers_last && self.below(LAST) > 0 {
            return possible.len() - 1;
        }
        let mut choice = self.below(possible.len());
        for _ in 1..DRAWS {
            let rank = match possible[choice] {
                Event::Start(place) => place.rank,
                Event::Deliver(message) => matching.messages()[message].recv.rank,
            };
            if rank != self.slow {
                break;
            }
            choice = self.below(possible.len());
        }
        choice
    }
}
