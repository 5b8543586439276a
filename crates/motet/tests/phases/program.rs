//! Random programs of phases, and what each rank must find: plain loops over all ranks.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use motet::op::Op;
use motet::raw::{self, Collective, CollectiveKind, Reduction, Root, TypedBuffer};
use motet::{Communicator, Datatype, Result, Settings, World};
use proptest::prelude::*;

use crate::worlds::Random;

static INT: Datatype = Datatype::INT64_T;

/// What is called.
#[derive(Clone, Copy, Debug)]
enum What {
    Barrier,
    Bcast,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    Reduce,
    Allreduce,
    ReduceScatterBlock,
    Scan,
    Exscan,
}

const ALL: [What; 11] = [
    What::Barrier,
    What::Bcast,
    What::Gather,
    What::Scatter,
    What::Allgather,
    What::Alltoall,
    What::Reduce,
    What::Allreduce,
    What::ReduceScatterBlock,
    What::Scan,
    What::Exscan,
];

/// What a step does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Begin,
    /// Ends the innermost phase, if there is one.
    End,
    /// Calls the collective in its blocking form.
    Whole,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    act: Act,
    what: What,
    root: usize,
    count: usize,
    /// Which of the communicators.
    place: usize,
}

/// How phases are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Making {
    Phases,
    /// Each begin is the blocking form, and the end does nothing: what 1997 allows.
    BlockingAtBegin,
}

/// A program, and the world to run it on.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) ranks: usize,
    making: Making,
    check: bool,
    channels: bool,
    steps: Vec<Step>,
}

impl Program {
    pub(crate) fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        if self.check {
            settings = settings.check();
        }
        if !self.channels {
            settings = settings.without_channels();
        }
        settings
    }
}

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![4 => Just(Act::Begin), 3 => Just(Act::End), 1 => Just(Act::Whole)];
    let count = prop_oneof![8 => 0..30usize, 2 => 300..700usize, 1 => 3000..5000usize];
    let step = (act, prop::sample::select(&ALL[..]), any::<usize>(), count, 0..3usize);
    step.prop_map(|(act, what, root, count, place)| Step { act, what, root, count, place })
}

pub(crate) fn program() -> impl Strategy<Value = Program> {
    let making = prop_oneof![4 => Just(Making::Phases), 1 => Just(Making::BlockingAtBegin)];
    let steps = prop::collection::vec(step(), 1..40);
    let all = (1..=16usize, making, any::<bool>(), any::<bool>(), steps);
    all.prop_map(|(ranks, making, check, channels, steps)| Program {
        ranks,
        making,
        check,
        channels,
        steps,
    })
}

/// What a rank contributes to a step at a place.
fn element(step: usize, rank: usize, at: usize) -> i64 {
    (Random((step * 1000 + rank) as u64 ^ (at as u64) << 32).next() % 1_000_000) as i64
}

fn elements(step: usize, rank: usize, from: usize, count: usize) -> Vec<i64> {
    (from..from + count).map(|at| element(step, rank, at)).collect()
}

/// The sum of what some ranks contribute.
fn sum(step: usize, ranks: std::ops::Range<usize>, from: usize, count: usize) -> Vec<i64> {
    let at = |at| ranks.clone().map(|rank| element(step, rank, at)).sum();
    (from..from + count).map(at).collect()
}

/// A call on one rank, and what its output must be.
struct Turn {
    kind: CollectiveKind,
    root: usize,
    count: usize,
    send: Vec<i64>,
    receive: Vec<i64>,
    wanted: Vec<i64>,
}

impl Turn {
    fn new(number: usize, step: Step, comm: &Communicator) -> Turn {
        let (me, ranks, count) = (comm.rank(), comm.size(), step.count);
        let root = step.root % ranks;
        let input = |blocks: usize| elements(number, me, 0, blocks * count);
        let from_each = |at: fn(usize, usize) -> usize| -> Vec<i64> {
            (0..ranks).flat_map(|rank| elements(number, rank, at(me, count), count)).collect()
        };
        let none = vec![-1; count];
        let at_root = |wanted: Vec<i64>| if me == root { wanted } else { Vec::new() };
        let (first, own): (fn(_, _) -> _, fn(_, _) -> _) = (|_, _| 0, |me, count| me * count);
        let reduced = |ranks| sum(number, ranks, 0, count);
        let (kind, send, receive, wanted) = match step.what {
            What::Barrier => (CollectiveKind::Barrier, vec![], vec![], vec![]),
            What::Bcast => {
                let data = if me == root { input(1) } else { none };
                (CollectiveKind::Bcast, vec![], data, elements(number, root, 0, count))
            }
            What::Gather => {
                let wanted = at_root(from_each(first));
                (CollectiveKind::Gather, input(1), vec![-1; wanted.len()], wanted)
            }
            What::Scatter => {
                let wanted = elements(number, root, me * count, count);
                (CollectiveKind::Scatter, at_root(input(ranks)), none, wanted)
            }
            What::Allgather => {
                let wanted = from_each(first);
                (CollectiveKind::Allgather, input(1), vec![-1; wanted.len()], wanted)
            }
            What::Alltoall => {
                let wanted = from_each(own);
                (CollectiveKind::Alltoall, input(ranks), vec![-1; wanted.len()], wanted)
            }
            What::Reduce => {
                let wanted = if me == root { reduced(0..ranks) } else { none.clone() };
                (CollectiveKind::Reduce, input(1), none, wanted)
            }
            What::Allreduce => (CollectiveKind::Allreduce, input(1), none, reduced(0..ranks)),
            What::ReduceScatterBlock => {
                let wanted = sum(number, 0..ranks, me * count, count);
                (CollectiveKind::ReduceScatterBlock, input(ranks), none, wanted)
            }
            What::Scan => (CollectiveKind::Scan, input(1), none, reduced(0..me + 1)),
            What::Exscan => {
                let wanted = if me == 0 { none.clone() } else { reduced(0..me) };
                (CollectiveKind::Exscan, input(1), none, wanted)
            }
        };
        Turn { kind, root, count, send, receive, wanted }
    }

    fn call<'a>(&mut self, op: &'a Op) -> Collective<'a> {
        let (input, output) = (self.send.as_mut_ptr().cast(), self.receive.as_mut_ptr().cast());
        let data = |address| TypedBuffer { address, count: self.count, datatype: &INT };
        let (send, receive, root) = (Some(data(input)), data(output), Root::Rank(self.root));
        let (input, count) = (Some(input), self.count);
        let reduction = Reduction { input, output, count, datatype: &INT, op };
        match self.kind {
            CollectiveKind::Barrier => Collective::Barrier,
            CollectiveKind::Bcast => Collective::Bcast { data: receive, root },
            CollectiveKind::Gather => Collective::Gather { send, receive: Some(receive), root },
            CollectiveKind::Scatter => Collective::Scatter { send, receive: Some(receive), root },
            CollectiveKind::Allgather => Collective::Allgather { send, receive },
            CollectiveKind::Alltoall => Collective::Alltoall { send, receive },
            CollectiveKind::Reduce => Collective::Reduce { reduction, root },
            CollectiveKind::Allreduce => Collective::Allreduce { reduction },
            CollectiveKind::ReduceScatterBlock => Collective::ReduceScatterBlock { reduction },
            CollectiveKind::Scan => Collective::Scan { reduction },
            CollectiveKind::Exscan => Collective::Exscan { reduction },
            other => unreachable!("no program calls {other:?}"),
        }
    }

    fn check(&self, comm: &Communicator) {
        let (kind, me, ranks) = (self.kind, comm.rank(), comm.size());
        assert_eq!(self.receive, self.wanted, "{kind:?} on rank {me} of {ranks}");
    }
}

/// The run of a program on one rank.
struct Play<'a> {
    program: &'a Program,
    communicators: [&'a Communicator; 3],
    /// What is open on each of them.
    open: [Vec<Turn>; 3],
    op: Op,
}

impl Play<'_> {
    fn take(&mut self, number: usize, step: Step) -> Result<()> {
        let comm = self.communicators[step.place];
        match step.act {
            Act::End => return self.end(step.place),
            Act::Begin if self.program.making == Making::Phases => {
                let mut turn = Turn::new(number, step, comm);
                // SAFETY: the turn keeps its memory until the phase has ended.
                unsafe { turn.call(&self.op).begin(comm) }?;
                self.open[step.place].push(turn);
            }
            Act::Begin | Act::Whole => {
                let mut turn = Turn::new(number, step, comm);
                // SAFETY: the memory is the turn's own.
                unsafe { turn.call(&self.op).run(comm) }?;
                match step.act {
                    Act::Begin => self.open[step.place].push(turn),
                    _ => turn.check(comm),
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, place: usize) -> Result<()> {
        let Some(turn) = self.open[place].pop() else { return Ok(()) };
        let comm = self.communicators[place];
        if self.program.making == Making::Phases {
            raw::end(comm, turn.kind)?;
        }
        turn.check(comm);
        Ok(())
    }
}

/// Runs a program on one rank.
pub(crate) fn run(program: &Program, world: &World) -> Result<()> {
    let (copy, me) = (world.dup()?, world.rank());
    let reversed = world.split(Some(0), (world.size() - me) as i64)?.expect("all are members");
    let communicators: [&Communicator; 3] = [world, &copy, &reversed];
    let open = [const { Vec::new() }; 3];
    let mut play = Play { program, communicators, open, op: Op::SUM };
    let steps = program.steps.iter().enumerate();
    let played = steps.clone().try_for_each(|(number, &step)| play.take(number, step));
    if played.is_err() {
        // What is open may still be under way: its memory stays.
        std::mem::forget(play);
        return played;
    }
    while play.open.iter().any(|open| !open.is_empty()) {
        (0..3).try_for_each(|place| play.end(place))?;
    }
    Ok(())
}
