//! Every collective, by every algorithm, in every form, on separate buffers and in place, against
//! an oracle that knows nothing of messages.

mod collectives {
    pub(crate) mod elements;
    pub(crate) mod forms;
    pub(crate) mod moving;
    pub(crate) mod scans;
}
mod worlds;

use collectives::elements::Sample;
use collectives::forms::{Data, Form, Trial, in_one, in_pair};
use collectives::moving::*;
use collectives::scans::*;
use motet::op::{commutative, ordered};
use motet::{Block, Neighbour, Result, World};
use motet_plan::algo;
use motet_plan::call::Collective;
use num_complex::Complex;
use worlds::{by_algorithm, on_ranks_with};

const RANKS: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];

/// What rank `rank` contributes to a call.
fn block<T: Sample>(rank: usize, round: usize, count: usize) -> Vec<T> {
    (0..count).map(|at| T::sample(rank, round, at)).collect()
}

fn canaries<T: Sample>(count: usize) -> Vec<T> {
    vec![T::CANARY; count]
}

/// The reduction of all contributions in rank order.
fn reduced<T: Sample>(trial: &Trial<'_>, round: usize, combine: impl Fn(T, T) -> T) -> Vec<T> {
    let of_place = |at| {
        let operands = (0..trial.ranks()).map(|rank| T::sample(rank, round, at));
        operands.reduce(&combine).expect("there is a rank")
    };
    (0..trial.count).map(of_place).collect()
}

fn bcast<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, count) = (trial.world.rank(), trial.count);
    for root in trial.some_ranks() {
        let before = |round| if me == root { block(me, round, count) } else { canaries(count) };
        let after = |round| block::<T>(root, round, count);
        let data = Data::new(|_| Vec::new(), before, after);
        in_one!(trial, data, bcast, ibcast, bcast_begin, bcast_init(root));
    }
    Ok(())
}

fn reduce<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, count) = (trial.world.rank(), trial.count);
    let input = |round| block::<T>(me, round, count);
    for root in trial.some_ranks() {
        let other = |place: Vec<T>, result| if me == root { result } else { place };
        let before = |_| canaries(count);
        let after = |round| other(canaries(count), reduced(trial, round, T::add));
        let data = Data::new(input, before, after);
        in_pair!(
            trial,
            data,
            reduce,
            ireduce,
            reduce_begin,
            reduce_init(commutative(T::add), root)
        );
        let after = |round| other(canaries(count), reduced(trial, round, T::compose));
        let data = Data::new(input, before, after);
        in_pair!(
            trial,
            data,
            reduce,
            ireduce,
            reduce_begin,
            reduce_init(ordered(T::compose), root)
        );
        let after = |round| other(input(round), reduced(trial, round, T::compose));
        let data = Data::new(|_| Vec::new(), input, after);
        in_one!(
            trial,
            data,
            reduce_in_place,
            ireduce,
            reduce_begin,
            reduce_init(ordered(T::compose), root)
        );
    }
    Ok(())
}

fn allreduce<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, count) = (trial.world.rank(), trial.count);
    let (input, before) = (|round| block::<T>(me, round, count), |_| canaries(count));
    let sum = |round| reduced(trial, round, T::add);
    let data = Data::new(input, before, sum);
    in_pair!(
        trial,
        data,
        allreduce,
        iallreduce,
        allreduce_begin,
        allreduce_init(commutative(T::add))
    );
    let data = Data::new(|_| Vec::new(), input, sum);
    in_one!(
        trial,
        data,
        allreduce_in_place,
        iallreduce,
        allreduce_begin,
        allreduce_init(commutative(T::add))
    );
    let composed = |round| reduced(trial, round, T::compose);
    let data = Data::new(input, before, composed);
    in_pair!(
        trial,
        data,
        allreduce,
        iallreduce,
        allreduce_begin,
        allreduce_init(ordered(T::compose))
    );
    let data = Data::new(|_| Vec::new(), input, composed);
    in_one!(
        trial,
        data,
        allreduce_in_place,
        iallreduce,
        allreduce_begin,
        allreduce_init(ordered(T::compose))
    );
    Ok(())
}

fn allgather<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks, count) = (trial.world.rank(), trial.ranks(), trial.count);
    let input = |round| block::<T>(me, round, count);
    let after = |round| (0..ranks).flat_map(|rank| block::<T>(rank, round, count)).collect();
    let data = Data::new(input, |_| canaries(count * ranks), after);
    in_pair!(trial, data, allgather, iallgather, allgather_begin, allgather_init());
    let before = |round| {
        let mut output = canaries(count * ranks);
        output[me * count..][..count].copy_from_slice(&input(round));
        output
    };
    // A single buffer of no elements says nothing of its blocks: that is the same call.
    let data = Data::new(|_| Vec::new(), before, after);
    in_one!(trial, data, allgather_in_place, iallgather, allgather_begin, allgather_init());
    Ok(())
}

/// Blocks of different lengths, last rank first, with gaps between them.
fn ragged(ranks: usize, count: usize) -> Vec<Block> {
    let mut start = 1;
    let mut blocks: Vec<Block> = (0..ranks)
        .map(|rank| {
            let block = Block { start, count: (count + 2 * rank) % (count + 3) };
            start += block.count + rank % 3;
            block
        })
        .collect();
    blocks.reverse();
    blocks
}

fn allgatherv<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks) = (trial.world.rank(), trial.ranks());
    let blocks = &ragged(ranks, trial.count);
    let length = blocks.iter().map(|block| block.start + block.count).max().unwrap_or(0) + 2;
    let place = |output: &mut Vec<T>, round, rank: usize| {
        let Block { start, count } = blocks[rank];
        output[start..][..count].copy_from_slice(&block(rank, round, count));
    };
    let input = |round| block::<T>(me, round, blocks[me].count);
    let after = |round| {
        let mut output = canaries(length);
        (0..ranks).for_each(|rank| place(&mut output, round, rank));
        output
    };
    let data = Data::new(input, |_| canaries(length), after);
    in_pair!(trial, data, allgatherv, iallgatherv, allgatherv_begin, allgatherv_init(blocks));
    let before = |round| {
        let mut output = canaries(length);
        place(&mut output, round, me);
        output
    };
    let data = Data::new(|_| Vec::new(), before, after);
    in_one!(
        trial,
        data,
        allgatherv_in_place,
        iallgatherv,
        allgatherv_begin,
        allgatherv_init(blocks)
    );
    Ok(())
}

/// To whom a rank sends: the ranks behind it, the nearest twice, and itself; in this order those
/// who send to a rank are the ranks before it.
fn distances(ranks: usize) -> Vec<usize> {
    [0, 1, 1, 2, 5].into_iter().filter(|&distance| distance < ranks).collect()
}

/// What rank `from` sends to its neighbour number `number`.
fn part<T: Sample>(from: usize, number: usize, round: usize, count: usize) -> Vec<T> {
    block(from + 100 * number, round, count)
}

fn exchange<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks, count) = (trial.world.rank(), trial.ranks(), trial.count);
    let distances = &distances(ranks);
    let to: &Vec<usize> = &distances.iter().map(|by| (me + by) % ranks).collect();
    let from: &Vec<usize> = &distances.iter().map(|by| (me + ranks - by) % ranks).collect();
    let parts = distances.len();
    let input = |round| (0..parts).flat_map(|number| part::<T>(me, number, round, count)).collect();
    let after = |round| {
        let sources = from.iter().enumerate();
        sources.flat_map(|(number, &source)| part::<T>(source, number, round, count)).collect()
    };
    let data = Data::new(input, |_| canaries(count * parts), after);
    in_pair!(trial, data, exchange, iexchange, exchange_begin, exchange_init(to, from));
    Ok(())
}

fn exchangev<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks) = (trial.world.rank(), trial.ranks());
    let distances = &distances(ranks);
    let lengths = ragged(distances.len(), trial.count);
    let length = lengths.iter().map(|block| block.start + block.count).max().unwrap_or(0) + 1;
    let neighbours = |step: fn(usize, usize, usize) -> usize| -> Vec<Neighbour> {
        let of = |(&by, block): (&usize, &Block)| Neighbour {
            rank: step(me, by, ranks),
            start: block.start,
            count: block.count,
        };
        distances.iter().zip(&lengths).map(of).collect()
    };
    let to = &neighbours(|me, by, ranks| (me + by) % ranks);
    let from = &neighbours(|me, by, ranks| (me + ranks - by) % ranks);
    let filled = |round, sources: &[usize]| {
        let mut buffer = canaries(length);
        for ((number, &source), block) in sources.iter().enumerate().zip(&lengths) {
            let part = part::<T>(source, number, round, block.count);
            buffer[block.start..][..block.count].copy_from_slice(&part);
        }
        buffer
    };
    let input = |round| filled(round, &vec![me; distances.len()]);
    let sources: Vec<usize> = from.iter().map(|source| source.rank).collect();
    let data = Data::new(input, |_| canaries(length), |round| filled(round, &sources));
    in_pair!(trial, data, exchangev, iexchangev, exchangev_begin, exchangev_init(to, from));
    Ok(())
}

/// One collective for one type of elements.
type Check = fn(&Trial<'_>) -> Result<()>;

/// The types on which a collective is tried.
macro_rules! checks {
    ($check:ident) => {
        [
            $check::<u8>,
            $check::<i32>,
            $check::<f64>,
            $check::<bool>,
            $check::<i128>,
            $check::<Complex<f64>>,
        ]
    };
}

/// Tries one algorithm on one world.
fn try_all(world: &World, algorithm: &'static str, counts: &[usize], checks: &[Check]) {
    for form in Form::ALL {
        for &count in counts {
            for check in checks {
                let trial = Trial { world, form, count, algorithm };
                let result = check(&trial);
                result.unwrap_or_else(|error| panic!("{trial:?}: {error}"));
            }
        }
    }
}

/// Small counts on all worlds, large ones on some, with everything on and with everything off.
fn every_algorithm(collective: Collective, checks: [Check; 6]) {
    for row in algo::of(collective) {
        let name = row.name();
        let settings = by_algorithm(collective.name(), name);
        let plain = settings.clone().without_channels().without_single_copy();
        // Where there is one node, nothing goes by node, even if that is asked for.
        let fewest = if name == "hierarchical" { 3 } else { 1 };
        for ranks in RANKS.into_iter().filter(|&ranks| ranks >= fewest) {
            let small = [0, 1, 3, ranks - 1, ranks, ranks + 1];
            on_ranks_with(ranks, &settings, |world| {
                try_all(world, name, &small, &checks);
                if [2, 5].contains(&ranks) {
                    try_all(world, name, &[1000, 70_000], &checks[..1]);
                    try_all(world, name, &[1000], &checks[4..]);
                    try_all(world, name, &[70_000], &checks[2..3]);
                }
                Ok(())
            });
            on_ranks_with(ranks, &plain, |world| {
                try_all(world, name, &[1, ranks + 1], &checks[..3]);
                if [3, 4].contains(&ranks) {
                    try_all(world, name, &[1000, 70_000], &checks[2..3]);
                }
                Ok(())
            });
        }
    }
}

/// spec: 3, 5, 15, 23, 56, 139
#[test]
fn bcast_gives_the_data_of_the_root_to_all() {
    every_algorithm(Collective::Bcast, checks!(bcast));
}

/// spec: 3, 5, 15, 23, 56, 73, 80, 84, 139
#[test]
fn reduce_gives_the_result_to_the_root_alone() {
    every_algorithm(Collective::Reduce, checks!(reduce));
}

/// spec: 3, 5, 15, 23, 56, 74, 80, 84, 139
#[test]
fn allreduce_gives_the_result_to_all() {
    every_algorithm(Collective::Allreduce, checks!(allreduce));
}

/// spec: 3, 5, 15, 23, 56, 71, 139
#[test]
fn allgather_gives_all_blocks_to_all() {
    every_algorithm(Collective::Allgather, checks!(allgather));
}

/// spec: 3, 5, 15, 21, 23, 56, 71, 139
#[test]
fn allgatherv_puts_each_block_in_its_place_and_leaves_the_gaps() {
    every_algorithm(Collective::Allgatherv, checks!(allgatherv));
}

/// spec: 3, 5, 15, 23, 56, 139
#[test]
fn exchange_takes_blocks_around_a_ring() {
    every_algorithm(Collective::Exchange, checks!(exchange));
}

/// spec: 3, 5, 15, 21, 23, 56, 139
#[test]
fn exchangev_takes_blocks_of_all_lengths_and_leaves_the_gaps() {
    every_algorithm(Collective::Exchangev, checks!(exchangev));
}

/// spec: 3, 5, 15, 23, 56, 69, 139
#[test]
fn gather_gives_all_blocks_to_the_root_alone() {
    every_algorithm(Collective::Gather, checks!(gather));
}

/// spec: 3, 5, 15, 21, 22, 23, 56, 69, 139
#[test]
fn gatherv_puts_each_block_in_its_place_at_the_root() {
    every_algorithm(Collective::Gatherv, checks!(gatherv));
}

/// spec: 3, 5, 15, 23, 56, 70, 139
#[test]
fn scatter_deals_out_the_blocks_of_the_root() {
    every_algorithm(Collective::Scatter, checks!(scatter));
}

/// spec: 3, 5, 15, 21, 22, 23, 56, 70, 139
#[test]
fn scatterv_deals_out_blocks_of_all_lengths() {
    every_algorithm(Collective::Scatterv, checks!(scatterv));
}

/// spec: 3, 5, 15, 23, 56, 72, 139
#[test]
fn alltoall_turns_blocks_over() {
    every_algorithm(Collective::Alltoall, checks!(alltoall));
}

/// spec: 3, 5, 15, 21, 22, 23, 56, 139
#[test]
fn alltoallv_turns_blocks_of_all_lengths_over() {
    every_algorithm(Collective::Alltoallv, checks!(alltoallv));
}

/// spec: 72
#[test]
fn alltoallv_in_place_is_as_if_from_a_copy() {
    every_algorithm(Collective::Alltoallv, checks!(alltoallv_in_place));
}

/// spec: 3, 5, 15, 23, 56, 74, 80, 139
#[test]
fn scan_combines_all_up_to_each_rank() {
    every_algorithm(Collective::Scan, checks!(scan));
}

/// spec: 3, 5, 15, 23, 56, 74, 80, 139
#[test]
fn exscan_combines_all_before_each_rank() {
    every_algorithm(Collective::Exscan, checks!(exscan));
}

/// spec: 3, 5, 15, 23, 56, 75, 80, 139
#[test]
fn reduce_scatter_block_gives_each_rank_its_block() {
    every_algorithm(Collective::ReduceScatterBlock, checks!(reduce_scatter_block));
}

/// spec: 3, 5, 15, 22, 23, 56, 75, 80, 139
#[test]
fn reduce_scatter_gives_each_rank_a_block_of_its_length() {
    every_algorithm(Collective::ReduceScatter, checks!(reduce_scatter));
}

#[test]
fn canaries_are_no_samples() {
    assert!((0..5000).all(|at| i32::sample(at % 7, at % 3, at) != i32::CANARY));
}
