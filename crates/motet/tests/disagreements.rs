//! Collectives whose ranks disagree on how long their data is, or on its type, outside of check
//! mode: each rank's call ends, and unless that is harmless some rank is told. What lies beside the
//! buffers stays as it is, and the world goes on.
//!
//! By default a part of the cases is tried, the same each time; `MOTET_TEST_DISAGREEMENTS=all`
//! tries all of them. `ci/sanitize` looks for reads outside of the buffers.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use std::sync::mpsc;
use std::time::Duration;
use std::{env, thread};

use motet::datatype::Datatype;
use motet::op::Op;
use motet::raw::{
    Collective, CollectiveKind, CommRef, Reduction, Root, TypedBuffer, VectorBuffer, WBuffer,
};
use motet::{Communicator, Error, ErrorClass, Group, Info, Result, Settings, World, op};
use worlds::Random;

const ALL: &str = "MOTET_TEST_DISAGREEMENTS";
/// More than any case takes on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(30);
static INT: Datatype = Datatype::INT32_T;
static LONG: Datatype = Datatype::INT64_T;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Blocking,
    Nonblocking,
    /// Started so often.
    Persistent(usize),
}

/// What a rank says: elements of each block, and bytes of an element.
type Counts = (usize, usize);

/// One collective in which one rank says something else than the others.
#[derive(Clone, Debug)]
struct Case {
    kind: CollectiveKind,
    form: Form,
    ranks: usize,
    odd: usize,
    /// What that rank says, and what the others say.
    counts: [Counts; 2],
}

/// So much more than a step that the ranks choose other ways for their messages, and often other
/// algorithms.
const COUNTS: [[Counts; 2]; 12] = [
    [(4, 4), (4, 8)],
    [(4, 8), (4, 4)],
    [(3, 4), (5, 4)],
    [(5, 4), (3, 4)],
    [(6, 4), (3, 8)],
    [(1, 4), (1000, 4)],
    [(1000, 4), (1, 4)],
    [(3, 4), (30_000, 4)],
    [(30_000, 4), (3, 4)],
    [(30_000, 4), (31_000, 4)],
    [(31_000, 8), (30_000, 4)],
    [(300_000, 4), (1000, 8)],
];

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for &kind in CollectiveKind::ALL.iter().filter(|&&kind| kind != CollectiveKind::Barrier) {
        let forms = [Form::Blocking, Form::Nonblocking, Form::Persistent(1), Form::Persistent(3)];
        for form in forms {
            for ranks in [2, 3, 4] {
                for odd in [0, ranks - 1] {
                    all.extend(COUNTS.map(|counts| Case { kind, form, ranks, odd, counts }));
                }
            }
        }
    }
    if env::var(ALL).is_ok_and(|value| value == "all") {
        return all;
    }
    let mut random = Random(43);
    all.retain(|_| random.below(8) == 0);
    all
}

/// Those whose blocks are each a message of its own, that may be shorter than its place: the rest
/// of that stays as it is, as with other libraries.
fn may_be_harmless(kind: CollectiveKind) -> bool {
    use CollectiveKind::*;
    matches!(
        kind,
        Gatherv
            | Scatterv
            | Alltoallv
            | Alltoallw
            | NeighborAllgatherv
            | NeighborAlltoallv
            | NeighborAlltoallw
            | Exchangev
            | Exchangew
            | NeighborBcastv
    )
}

/// The memory of a call on one rank, of just the length that is needed.
struct Memory {
    count: usize,
    size: usize,
    send: Vec<u8>,
    receive: Vec<u8>,
    counts: Vec<usize>,
    places: Vec<isize>,
    offsets: Vec<isize>,
    types: Vec<Datatype>,
    op: Op,
}

impl Memory {
    fn new(ranks: usize, (count, size): Counts) -> Memory {
        let bytes = ranks * count * size;
        let blocks = 0..ranks as isize;
        Memory {
            count,
            size,
            send: vec![1; bytes],
            receive: vec![2; bytes],
            counts: vec![count; ranks],
            places: blocks.clone().map(|at| at * count as isize).collect(),
            offsets: blocks.map(|at| at * (count * size) as isize).collect(),
            types: vec![if size == 4 { Datatype::INT32_T } else { Datatype::INT64_T }; ranks],
            op: Op::SUM,
        }
    }

    fn datatype(&self) -> &'static Datatype {
        if self.size == 4 { &INT } else { &LONG }
    }

    /// The address of so many blocks at the end of a buffer, so that what is read beyond them is
    /// not there.
    fn last(memory: &mut [u8], bytes: usize) -> *mut u8 {
        let at = memory.len() - bytes;
        memory[at..].as_mut_ptr()
    }

    /// Calls the collective of this kind, whose lists have so many blocks.
    fn with_call<T>(
        &mut self,
        kind: CollectiveKind,
        blocks: usize,
        [to, from]: [&Group; 2],
        call: impl FnOnce(&Collective<'_>) -> T,
    ) -> T {
        use Collective::*;
        let (count, datatype, block) = (self.count, self.datatype(), self.count * self.size);
        let [send, receive] = [&mut self.send, &mut self.receive];
        let one = |memory: &mut [u8]| TypedBuffer {
            address: Memory::last(memory, block),
            count,
            datatype,
        };
        let many = |memory: &mut [u8]| TypedBuffer {
            address: Memory::last(memory, block * blocks),
            count,
            datatype,
        };
        let (counts, places) = (&self.counts[..blocks], &self.places[..blocks]);
        let (offsets, types) = (&self.offsets[..blocks], &self.types[..blocks]);
        let lists = |memory: &mut [u8]| {
            let address = Memory::last(memory, block * blocks);
            VectorBuffer { address, counts, displacements: places, datatype }
        };
        let mixed = |memory: &mut [u8]| {
            let address = Memory::last(memory, block * blocks);
            WBuffer { address, counts, displacements: offsets, datatypes: types }
        };
        let op = &self.op;
        let mut reduction = |sent: usize, received: usize| Reduction {
            input: Some(Memory::last(send, sent * block)),
            output: Memory::last(receive, received * block),
            count,
            datatype,
            op,
        };
        let root = Root::Rank(0);
        let call_of = match kind {
            CollectiveKind::Reduce => Reduce { reduction: reduction(1, 1), root },
            CollectiveKind::Allreduce => Allreduce { reduction: reduction(1, 1) },
            CollectiveKind::Scan => Scan { reduction: reduction(1, 1) },
            CollectiveKind::Exscan => Exscan { reduction: reduction(1, 1) },
            CollectiveKind::ReduceScatterBlock => {
                ReduceScatterBlock { reduction: reduction(blocks, 1) }
            }
            CollectiveKind::ReduceScatter => {
                ReduceScatter { reduction: reduction(blocks, 1), counts }
            }
            CollectiveKind::NeighborReduce => {
                NeighborReduce { reduction: reduction(blocks, 1), to, from }
            }
            CollectiveKind::NeighborAllreduce => {
                NeighborAllreduce { reduction: reduction(1, 1), to, from }
            }
            CollectiveKind::Bcast => Bcast { data: one(receive), root },
            CollectiveKind::Gather => {
                Gather { send: Some(one(send)), receive: Some(many(receive)), root }
            }
            CollectiveKind::Gatherv => {
                Gatherv { send: Some(one(send)), receive: Some(lists(receive)), root }
            }
            CollectiveKind::Scatter => {
                Scatter { send: Some(many(send)), receive: Some(one(receive)), root }
            }
            CollectiveKind::Scatterv => {
                Scatterv { send: Some(lists(send)), receive: Some(one(receive)), root }
            }
            CollectiveKind::Allgather => {
                Allgather { send: Some(one(send)), receive: many(receive) }
            }
            CollectiveKind::Allgatherv => {
                Allgatherv { send: Some(one(send)), receive: lists(receive) }
            }
            CollectiveKind::Alltoall => Alltoall { send: Some(many(send)), receive: many(receive) },
            CollectiveKind::Alltoallv => {
                Alltoallv { send: Some(lists(send)), receive: lists(receive) }
            }
            CollectiveKind::Alltoallw => {
                Alltoallw { send: Some(mixed(send)), receive: mixed(receive) }
            }
            CollectiveKind::NeighborAllgather => {
                NeighborAllgather { send: Some(one(send)), receive: many(receive) }
            }
            CollectiveKind::NeighborAllgatherv => {
                NeighborAllgatherv { send: Some(one(send)), receive: lists(receive) }
            }
            CollectiveKind::NeighborAlltoall => {
                NeighborAlltoall { send: Some(many(send)), receive: many(receive) }
            }
            CollectiveKind::NeighborAlltoallv => {
                NeighborAlltoallv { send: Some(lists(send)), receive: lists(receive) }
            }
            CollectiveKind::NeighborAlltoallw => {
                NeighborAlltoallw { send: Some(mixed(send)), receive: mixed(receive) }
            }
            CollectiveKind::Exchange => {
                Exchange { send: Some(many(send)), receive: many(receive), to, from }
            }
            CollectiveKind::Exchangev => {
                Exchangev { send: Some(lists(send)), receive: lists(receive), to, from }
            }
            CollectiveKind::Exchangew => {
                Exchangew { send: Some(mixed(send)), receive: mixed(receive), to, from }
            }
            CollectiveKind::NeighborBcast => {
                NeighborBcast { send: Some(one(send)), receive: many(receive), to, from }
            }
            CollectiveKind::NeighborBcastv => {
                NeighborBcastv { send: Some(one(send)), receive: lists(receive), to, from }
            }
            CollectiveKind::NeighborReducev => {
                NeighborReducev { send: Some(lists(send)), receive: one(receive), op, to, from }
            }
            CollectiveKind::Barrier => Barrier,
        };
        call(&call_of)
    }
}

fn is_among_neighbours(kind: CollectiveKind) -> bool {
    use CollectiveKind::*;
    matches!(
        kind,
        NeighborAllgather
            | NeighborAllgatherv
            | NeighborAlltoall
            | NeighborAlltoallv
            | NeighborAlltoallw
    )
}

/// Plays a case on one rank. What its calls came to.
fn play(world: &World, case: &Case) -> Result<Vec<Result<()>>> {
    let (me, ranks) = (world.rank(), case.ranks);
    let counts = case.counts[usize::from(me != case.odd)];
    let mut memory = Memory::new(ranks, counts);
    let (next, former) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    let ring = world.graph_adjacent([former], [next])?;
    let group = |rank| world.group().include(&[rank]).expect("it is in the world");
    let (to, from) = (group(next), group(former));
    let on: CommRef<'_> =
        if is_among_neighbours(case.kind) { (&ring).into() } else { world.into() };
    let blocks = if is_sparse(case.kind) { 1 } else { ranks };
    let ended =
        memory.with_call(case.kind, blocks, [&to, &from], |call| call_in(case.form, call, on));
    goes_on(world)?;
    Ok(ended)
}

fn is_sparse(kind: CollectiveKind) -> bool {
    use CollectiveKind::*;
    is_among_neighbours(kind)
        || matches!(
            kind,
            Exchange
                | Exchangev
                | Exchangew
                | NeighborBcast
                | NeighborBcastv
                | NeighborReduce
                | NeighborReducev
                | NeighborAllreduce
        )
}

fn call_in(form: Form, call: &Collective<'_>, on: CommRef<'_>) -> Vec<Result<()>> {
    match form {
        // SAFETY: the memory lives until the call has ended, and has room for all that it names.
        Form::Blocking => (0..2).map(|_| unsafe { call.run(on) }).collect(),
        Form::Nonblocking => {
            // SAFETY: as above.
            let request = unsafe { call.start(on) };
            vec![request.and_then(|request| request.wait())]
        }
        // SAFETY: as above.
        Form::Persistent(starts) => match unsafe { call.init(on, &Info::new()) } {
            Ok(mut all) => (0..starts).map(|_| all.run()).collect(),
            Err(error) => vec![Err(error)],
        },
    }
}

/// The world is as good as before.
fn goes_on(world: &Communicator) -> Result<()> {
    let mut sum = [0];
    world.allreduce(&[1], &mut sum, op::Sum)?;
    assert_eq!(sum, [world.size()]);
    world.barrier()
}

/// What each rank's calls came to; none if that hangs.
fn played(case: &Case) -> Option<Vec<Vec<Result<()>>>> {
    let (told, ended) = mpsc::channel();
    let case = case.clone();
    thread::spawn(move || {
        let all = motet::threads_with(case.ranks, &Settings::new(), |world| play(&world, &case));
        let all = all.unwrap_or_else(|error| panic!("{case:?}: {error}"));
        let of_rank =
            |of_rank: Result<_>| of_rank.unwrap_or_else(|error| panic!("{case:?}: {error}"));
        let _ = told.send(all.into_iter().map(of_rank).collect());
    });
    ended.recv_timeout(TIME_LIMIT).ok()
}

/// What is wrong with how a case has ended.
fn judged(case: &Case, all: &[Vec<Result<()>>]) -> Option<String> {
    let classes = [ErrorClass::Truncate, ErrorClass::Type, ErrorClass::Count, ErrorClass::Other];
    let errors: Vec<&Error> =
        all.iter().flatten().filter_map(|ended| ended.as_ref().err()).collect();
    if let Some(wrong) = errors.iter().find(|error| !classes.contains(&error.class())) {
        return Some(format!("{case:?}: {wrong}"));
    }
    let is_told = !errors.is_empty() || may_be_harmless(case.kind);
    (!is_told).then(|| format!("{case:?}: nobody is told"))
}

#[test]
fn calls_of_ranks_that_disagree_end() {
    let all = env::var_os(ALL).is_some();
    let mut wrong = Vec::new();
    for case in cases() {
        let problem = match played(&case) {
            None => Some(format!("{case:?}: hangs, or a rank has panicked")),
            Some(ended) => judged(&case, &ended),
        };
        if let Some(problem) = problem {
            eprintln!("{problem}");
            wrong.push(problem);
            assert!(all || wrong.len() < 3, "{wrong:#?}");
        }
    }
    assert!(wrong.is_empty(), "{} are wrong", wrong.len());
}

/// A rank that is told of a start while it is at a later one must not end that: nobody would know.
#[test]
fn ranks_that_are_some_starts_apart_are_told_of_the_right_one() {
    let (kind, form) = (CollectiveKind::Scan, Form::Persistent(300));
    for counts in [[(3, 4), (30_000, 4)], [(3, 4), (5, 4)], [(30_000, 4), (3, 4)]] {
        for odd in [0, 2] {
            let case = Case { kind, form, ranks: 3, odd, counts };
            for _ in 0..3 {
                let ended = played(&case).unwrap_or_else(|| panic!("{case:?}: hangs"));
                assert_eq!(judged(&case, &ended), None);
            }
        }
    }
}

/// A root that sends nothing may have ended its start when it learns of the channels that others
/// have opened for what they await from it.
#[test]
fn channels_to_a_rank_whose_start_is_over_are_answered() {
    for (ranks, starts) in [(2, 1), (2, 3), (3, 1), (4, 2)] {
        let form = Form::Persistent(starts);
        let counts = [(0, 4), (3, 4)];
        let case = Case { kind: CollectiveKind::Bcast, form, ranks, odd: 0, counts };
        let ended = played(&case).unwrap_or_else(|| panic!("{case:?}: hangs"));
        assert_eq!(judged(&case, &ended), None);
    }
}

/// Others may not know yet that a collective has come to nothing, and go on with its starts, when
/// its memory serves the next one here.
#[test]
fn what_is_sent_for_a_freed_collective_does_not_reach_the_next_one() {
    const STARTS: usize = 20;
    let body = |world: World| {
        let root = world.rank() == 0;
        let count = if world.rank() == 1 { 5 } else { 3 };
        let mut first =
            world.reduce_init((vec![7; count], vec![0; count]), op::Sum, 0, &Info::new())?;
        let ended = (0..STARTS).map(|_| first.run()).take_while(|ended| ended.is_ok() || !root);
        let told = ended.filter(|ended| ended.is_err()).count();
        drop(first);
        let mut next = world.reduce_init((vec![1; 3], vec![0; 3]), op::Sum, 0, &Info::new())?;
        for _ in 0..STARTS {
            next.run()?;
            assert!(!root || next.output() == [world.size(); 3], "{:?}", next.output());
        }
        Ok(told)
    };
    for ranks in [3, 4] {
        let (told, ended) = mpsc::channel();
        thread::spawn(move || told.send(motet::threads(ranks, body)));
        let all = ended.recv_timeout(TIME_LIMIT).expect("it does not hang").expect("it begins");
        let _: Vec<usize> = all.into_iter().map(|of_rank: Result<_>| of_rank.unwrap()).collect();
    }
}
