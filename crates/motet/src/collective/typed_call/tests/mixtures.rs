//! Random mixtures of repeated calls, typed and untyped. Each must give what the nonblocking form,
//! which is not replayed, gives for the same arguments.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::fmt::Debug;

use motet_plan::Block;

use super::settings;
use crate::comm::communicator::Communicator;
use crate::raw::{Collective, Reduction, Root, TypedBuffer};
use crate::types::datatype::Typed;
use crate::worlds::{Random, on_ranks_with};
use crate::{Element, Max, Op, Operator, Prod, Result, Sum};

const RANKS: usize = 3;
/// The different calls of a mixture: some more than the replay cache holds.
const CALLS: usize = 20;
const ROUNDS: usize = 400;
const SEEDS: u64 = 30;

/// What is the same each time that a call is repeated.
#[derive(Clone, Copy, Debug)]
struct Case {
    collective: usize,
    count: usize,
    root: usize,
    is_in_place: bool,
    is_typed: bool,
    is_on_copy: bool,
    element: usize,
    operator: usize,
    /// The length of the gap between two blocks, and which rank has the longest one.
    gap: usize,
    /// The elements in front of the buffers, on which their alignment depends.
    skipped: usize,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        Case {
            collective: random.below(14),
            count: [1, 2, 3, 16][random.below(4)],
            root: random.below(RANKS),
            is_in_place: random.below(3) == 0,
            is_typed: random.below(3) > 0,
            is_on_copy: random.below(4) == 0,
            element: random.below(4),
            operator: random.below(3),
            gap: random.below(3),
            skipped: random.below(2),
        }
    }

    /// The same call but for one property.
    fn varied(self, random: &mut Random) -> Case {
        let other = Case::random(random);
        match random.below(10) {
            0 => Case { collective: other.collective, ..self },
            1 => Case { count: other.count, ..self },
            2 => Case { root: other.root, ..self },
            3 => Case { is_in_place: !self.is_in_place, ..self },
            4 => Case { is_typed: !self.is_typed, ..self },
            5 => Case { is_on_copy: !self.is_on_copy, ..self },
            6 => Case { operator: other.operator, ..self },
            7 => Case { gap: other.gap, ..self },
            8 => Case { skipped: 1 - self.skipped, ..self },
            _ => Case { element: other.element, ..self },
        }
    }

    /// A block for each rank. Two ranks have blocks of one length for each other.
    fn blocks(&self, of: usize) -> Vec<Block> {
        let mut start = 0;
        let block = |rank: usize| {
            let count = self.count + (of + rank + self.gap) % RANKS;
            start += self.gap + count;
            Block { start: start - count, count }
        };
        (0..RANKS).map(block).collect()
    }
}

/// An element that is a small number.
trait Small: Element + Typed + PartialEq + Debug + From<u8> {}
impl<T: Element + Typed + PartialEq + Debug + From<u8>> Small for T {}

/// One call on one rank, with its data.
struct Trial<'a, T> {
    case: Case,
    comm: &'a Communicator,
    send: Vec<T>,
    receive: Vec<T>,
}

impl<T: Small> Trial<'_, T> {
    fn new<'a>(case: Case, comm: &'a Communicator, round: usize) -> Trial<'a, T> {
        let value = |at| T::from(((7 * comm.rank() + 3 * at + round) % 4 + 1) as u8);
        let (me, count, all) = (comm.rank(), case.count, RANKS * case.count);
        let total = |blocks: Vec<Block>| blocks.last().map_or(0, |last| last.start + last.count);
        let (blocks, own) = (case.blocks(0), case.blocks(me));
        let [sent, received] = match case.collective {
            5 => [all, count],                               // reduce_scatter_block
            6 | 8 => [count, all],                           // allgather, gather
            7 | 9 => [blocks[me].count, total(blocks)],      // allgatherv, gatherv
            10 => [all, count],                              // scatter
            11 => [total(blocks.clone()), blocks[me].count], // scatterv
            12 => [all, all],                                // alltoall
            13 => [total(own.clone()), total(own)],          // alltoallv
            _ => [count, count],
        };
        // With one buffer it is input and output, and the larger one of the two at the root.
        let one = match case.collective {
            9 | 11 if me != case.root => blocks_len(&case, me),
            8 | 10 if me != case.root => count,
            _ => sent.max(received),
        };
        let received = if case.is_in_place { one } else { received };
        let send = (0..sent).map(value).collect();
        Trial { case, comm, send, receive: (0..received).map(|at| value(at + 1)).collect() }
    }

    /// What the output is to be.
    fn expected(&self, op: impl Operator<T>) -> Result<Vec<T>> {
        let Trial { case, comm, .. } = self;
        let (root, blocks, own) = (case.root, case.blocks(0), case.blocks(comm.rank()));
        let one = self.receive.clone();
        let two = (self.send.clone(), one.clone());
        let second = |(_, receive): (Vec<T>, Vec<T>)| receive;
        match (case.collective, case.is_in_place) {
            (0, _) => comm.ibcast(one, root)?.wait(),
            (1, true) => comm.ireduce(one, op, root)?.wait(),
            (1, false) => comm.ireduce(two, op, root)?.wait().map(second),
            (2, true) => comm.iallreduce(one, op)?.wait(),
            (2, false) => comm.iallreduce(two, op)?.wait().map(second),
            (3, true) => comm.iscan(one, op)?.wait(),
            (3, false) => comm.iscan(two, op)?.wait().map(second),
            (4, true) => comm.iexscan(one, op)?.wait(),
            (4, false) => comm.iexscan(two, op)?.wait().map(second),
            (5, true) => comm.ireduce_scatter_block(one, op)?.wait(),
            (5, false) => comm.ireduce_scatter_block(two, op)?.wait().map(second),
            (6, true) => comm.iallgather(one)?.wait(),
            (6, false) => comm.iallgather(two)?.wait().map(second),
            (7, true) => comm.iallgatherv(one, &blocks)?.wait(),
            (7, false) => comm.iallgatherv(two, &blocks)?.wait().map(second),
            (8, true) => comm.igather(one, root)?.wait(),
            (8, false) => comm.igather(two, root)?.wait().map(second),
            (9, true) => comm.igatherv(one, &blocks, root)?.wait(),
            (9, false) => comm.igatherv(two, &blocks, root)?.wait().map(second),
            (10, true) => comm.iscatter(one, root)?.wait(),
            (10, false) => comm.iscatter(two, root)?.wait().map(second),
            (11, true) => comm.iscatterv(one, &blocks, root)?.wait(),
            (11, false) => comm.iscatterv(two, &blocks, root)?.wait().map(second),
            (12, true) => comm.ialltoall(one)?.wait(),
            (12, false) => comm.ialltoall(two)?.wait().map(second),
            (_, true) => comm.ialltoallv(one, &own, &own)?.wait(),
            (_, false) => comm.ialltoallv(two, &own, &own)?.wait().map(second),
        }
    }

    /// Makes the typed call.
    fn typed(&self, send: &[T], receive: &mut [T], op: impl Operator<T>) -> Result<()> {
        let Trial { case, comm, .. } = self;
        let (root, blocks, own) = (case.root, case.blocks(0), case.blocks(comm.rank()));
        match (case.collective, case.is_in_place) {
            (0, _) => comm.bcast(receive, root),
            (1, true) => comm.reduce_in_place(receive, op, root),
            (1, false) => comm.reduce(send, receive, op, root),
            (2, true) => comm.allreduce_in_place(receive, op),
            (2, false) => comm.allreduce(send, receive, op),
            (3, true) => comm.scan_in_place(receive, op),
            (3, false) => comm.scan(send, receive, op),
            (4, true) => comm.exscan_in_place(receive, op),
            (4, false) => comm.exscan(send, receive, op),
            (5, true) => comm.reduce_scatter_block_in_place(receive, op),
            (5, false) => comm.reduce_scatter_block(send, receive, op),
            (6, true) => comm.allgather_in_place(receive),
            (6, false) => comm.allgather(send, receive),
            (7, true) => comm.allgatherv_in_place(receive, &blocks),
            (7, false) => comm.allgatherv(send, receive, &blocks),
            (8, true) => comm.gather_in_place(receive, root),
            (8, false) => comm.gather(send, receive, root),
            (9, true) => comm.gatherv_in_place(receive, &blocks, root),
            (9, false) => comm.gatherv(send, receive, &blocks, root),
            (10, true) => comm.scatter_in_place(receive, root),
            (10, false) => comm.scatter(send, receive, root),
            (11, true) => comm.scatterv_in_place(receive, &blocks, root),
            (11, false) => comm.scatterv(send, receive, &blocks, root),
            (12, true) => comm.alltoall_in_place(receive),
            (12, false) => comm.alltoall(send, receive),
            (_, true) => comm.alltoallv_in_place(receive, &own),
            (_, false) => comm.alltoallv(send, receive, &own, &own),
        }
    }

    /// Makes the untyped call, for some collectives.
    fn untyped(&self, send: &[T], receive: &mut [T], op: &Op) -> Option<Result<()>> {
        let Case { collective, count, root, is_in_place, .. } = self.case;
        let (datatype, root) = (&T::datatype(), Root::Rank(root));
        let input = send.as_ptr().cast_mut().cast();
        let output = receive.as_mut_ptr().cast();
        let data = |address, count| TypedBuffer { address, count, datatype };
        let send = (!is_in_place).then(|| data(input, count));
        let input = (!is_in_place).then_some(input);
        let reduction = Reduction { input, output, count, datatype, op };
        let call = match collective {
            0 => Collective::Bcast { data: data(output, count), root },
            2 => Collective::Allreduce { reduction },
            3 => Collective::Scan { reduction },
            6 => Collective::Allgather { send, receive: data(output, count) },
            12 => Collective::Alltoall { send, receive: data(output, count) },
            _ => return None,
        };
        // SAFETY: the slices are borrowed for longer than the call.
        Some(unsafe { call.run(self.comm) })
    }

    fn run<O: Operator<T> + Copy>(self, operator: O, op: &Op) -> Result<()> {
        let expected = self.expected(operator)?;
        let shifted =
            |data: &[T]| [&[T::from(9)][..], data].concat()[1 - self.case.skipped..].to_vec();
        let (send, mut receive) = (shifted(&self.send), shifted(&self.receive));
        let (input, output) = (&send[self.case.skipped..], &mut receive[self.case.skipped..]);
        let untyped = (!self.case.is_typed).then(|| self.untyped(input, output, op)).flatten();
        match untyped {
            Some(ended) => ended?,
            None => self.typed(input, output, operator)?,
        }
        let is_shared_out = self.case.collective == 5;
        let defined = if is_shared_out { self.case.count } else { expected.len() };
        assert_eq!(output[..defined], expected[..defined], "{:?}", self.case);
        Ok(())
    }
}

fn blocks_len(case: &Case, me: usize) -> usize {
    case.blocks(0)[me].count
}

fn run<T: Small>(case: Case, comm: &Communicator, round: usize) -> Result<()>
where
    Sum: Operator<T>,
    Prod: Operator<T>,
    Max: Operator<T>,
{
    let trial = Trial::<T>::new(case, comm, round);
    match case.operator {
        0 => trial.run(Sum, &Op::SUM),
        1 => trial.run(Prod, &Op::PROD),
        _ => trial.run(Max, &Op::MAX),
    }
}

#[test]
fn mixtures_of_repeated_calls_give_what_single_calls_give() {
    for seed in 0..SEEDS {
        eprintln!("seed {seed}");
        let replayed = on_ranks_with(RANKS, &settings(), |world| {
            let copy = world.dup()?;
            let mut random = Random(seed);
            let mut cases: Vec<Case> = (0..CALLS).map(|_| Case::random(&mut random)).collect();
            for at in 1..CALLS {
                if random.below(3) > 0 {
                    cases[at] = cases[random.below(at)].varied(&mut random);
                }
            }
            for round in 0..ROUNDS {
                // Often the same call several times.
                let case = cases[random.below(CALLS) % (1 + round % CALLS)];
                let comm = if case.is_on_copy { &copy } else { &**world };
                match case.element {
                    0 => run::<i32>(case, comm, round)?,
                    1 => run::<u64>(case, comm, round)?,
                    2 => run::<u32>(case, comm, round)?,
                    _ => run::<f64>(case, comm, round)?,
                }
            }
            Ok(world.core().engine().replayed())
        });
        assert!(replayed.iter().all(|&count| count > ROUNDS / 4), "replayed: {replayed:?}");
    }
}
