//! The collectives that move blocks: gather, scatter and alltoall, regular and irregular.

use motet::{Block, Result};

use super::elements::Sample;
use super::forms::{Data, Trial, in_one, in_pair};
use crate::{block, canaries, ragged};

/// The blocks of all ranks side by side.
fn all_blocks<T: Sample>(ranks: usize, round: usize, count: usize) -> Vec<T> {
    (0..ranks).flat_map(|rank| block::<T>(rank, round, count)).collect()
}

/// A buffer of canaries with these blocks filled, each with the block of its rank.
fn filled<T: Sample>(blocks: &[Block], ranks: &[usize], round: usize) -> Vec<T> {
    let mut buffer = canaries(length(blocks));
    for &rank in ranks {
        let Block { start, count } = blocks[rank];
        buffer[start..][..count].copy_from_slice(&block::<T>(rank, round, count));
    }
    buffer
}

/// Room for these blocks and a little more.
fn length(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.start + block.count).max().unwrap_or(0) + 2
}

pub(crate) fn gather<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks, count) = (trial.world.rank(), trial.ranks(), trial.count);
    let input = |round| block::<T>(me, round, count);
    for root in trial.some_ranks() {
        let at_root = |round| all_blocks::<T>(ranks, round, count);
        let before = |_| if me == root { canaries(count * ranks) } else { canaries(2) };
        let after = |round| if me == root { at_root(round) } else { canaries(2) };
        let data = Data::new(input, before, after);
        in_pair!(trial, data, gather, igather, gather_begin, gather_init(root));
        let before = |round| {
            let mut buffer = input(round);
            if me == root {
                buffer = canaries(count * ranks);
                buffer[me * count..][..count].copy_from_slice(&input(round));
            }
            buffer
        };
        let after = |round| if me == root { at_root(round) } else { input(round) };
        let data = Data::new(|_| Vec::new(), before, after);
        in_one!(trial, data, gather_in_place, igather, gather_begin, gather_init(root));
    }
    Ok(())
}

pub(crate) fn gatherv<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks) = (trial.world.rank(), trial.ranks());
    let all: Vec<usize> = (0..ranks).collect();
    let blocks = &ragged(ranks, trial.count);
    let input = |round| block::<T>(me, round, blocks[me].count);
    for root in trial.some_ranks() {
        // Only the root's blocks count.
        let known: &[Block] = if me == root { blocks } else { &[] };
        let at_root = |round| filled::<T>(blocks, &all, round);
        let before = |_| if me == root { canaries(length(blocks)) } else { Vec::new() };
        let after = |round| if me == root { at_root(round) } else { Vec::new() };
        let data = Data::new(input, before, after);
        in_pair!(trial, data, gatherv, igatherv, gatherv_begin, gatherv_init(known, root));
        let own = |round| if me == root { filled(blocks, &[me], round) } else { input(round) };
        let after = |round| if me == root { at_root(round) } else { input(round) };
        let data = Data::new(|_| Vec::new(), own, after);
        in_one!(trial, data, gatherv_in_place, igatherv, gatherv_begin, gatherv_init(known, root));
    }
    Ok(())
}

pub(crate) fn scatter<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks, count) = (trial.world.rank(), trial.ranks(), trial.count);
    let own = |round| block::<T>(me, round, count);
    for root in trial.some_ranks() {
        let at_root = |round| all_blocks::<T>(ranks, round, count);
        let input = |round| if me == root { at_root(round) } else { canaries(1) };
        let data = Data::new(input, |_| canaries(count), own);
        in_pair!(trial, data, scatter, iscatter, scatter_begin, scatter_init(root));
        let before = |round| if me == root { at_root(round) } else { canaries(count) };
        let after = |round| if me == root { at_root(round) } else { own(round) };
        let data = Data::new(|_| Vec::new(), before, after);
        in_one!(trial, data, scatter_in_place, iscatter, scatter_begin, scatter_init(root));
    }
    Ok(())
}

pub(crate) fn scatterv<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks) = (trial.world.rank(), trial.ranks());
    let all: Vec<usize> = (0..ranks).collect();
    let blocks = &ragged(ranks, trial.count);
    let own = |round| block::<T>(me, round, blocks[me].count);
    for root in trial.some_ranks() {
        let known: &[Block] = if me == root { blocks } else { &[] };
        let at_root = |round| filled::<T>(blocks, &all, round);
        let input = |round| if me == root { at_root(round) } else { Vec::new() };
        let data = Data::new(input, |_| canaries(blocks[me].count), own);
        in_pair!(trial, data, scatterv, iscatterv, scatterv_begin, scatterv_init(known, root));
        let place = |round| if me == root { at_root(round) } else { canaries(blocks[me].count) };
        let after = |round| if me == root { at_root(round) } else { own(round) };
        let data = Data::new(|_| Vec::new(), place, after);
        in_one!(
            trial,
            data,
            scatterv_in_place,
            iscatterv,
            scatterv_begin,
            scatterv_init(known, root)
        );
    }
    Ok(())
}

/// What rank `from` sends to rank `to`.
fn parcel<T: Sample>(from: usize, to: usize, round: usize, count: usize) -> Vec<T> {
    block(from + 100 * to, round, count)
}

pub(crate) fn alltoall<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks, count) = (trial.world.rank(), trial.ranks(), trial.count);
    let sent = |round| (0..ranks).flat_map(|to| parcel::<T>(me, to, round, count)).collect();
    let got = |round| (0..ranks).flat_map(|from| parcel::<T>(from, me, round, count)).collect();
    let data = Data::new(sent, |_| canaries(count * ranks), got);
    in_pair!(trial, data, alltoall, ialltoall, alltoall_begin, alltoall_init());
    let data = Data::new(|_| Vec::new(), sent, got);
    in_one!(trial, data, alltoall_in_place, ialltoall, alltoall_begin, alltoall_init());
    Ok(())
}

pub(crate) fn alltoallv<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks) = (trial.world.rank(), trial.ranks());
    // Lengths that differ by pair, the other way round too; gaps, and the last rank first.
    let between = |from: usize, to: usize| (trial.count + 3 * from + 5 * to) % (trial.count + 4);
    let layout = |of: &dyn Fn(usize) -> usize| -> Vec<Block> {
        let mut start = 1;
        let mut blocks: Vec<Block> = (0..ranks)
            .rev()
            .map(|rank| {
                let block = Block { start, count: of(rank) };
                start += block.count + rank % 2;
                block
            })
            .collect();
        blocks.reverse();
        blocks
    };
    let (to, from) = (&layout(&|rank| between(me, rank)), &layout(&|rank| between(rank, me)));
    let with = |blocks: &[Block], part: &dyn Fn(usize, usize) -> Vec<T>| {
        let mut buffer = canaries(length(blocks));
        for (rank, &Block { start, count }) in blocks.iter().enumerate() {
            buffer[start..][..count].copy_from_slice(&part(rank, count));
        }
        buffer
    };
    let sent = |round| with(to, &|rank, count| parcel::<T>(me, rank, round, count));
    let got = |round| with(from, &|rank, count| parcel::<T>(rank, me, round, count));
    let data = Data::new(sent, |_| canaries(length(from)), got);
    in_pair!(trial, data, alltoallv, ialltoallv, alltoallv_begin, alltoallv_init(to, from));
    Ok(())
}

/// In place two ranks have blocks of one length for each other.
pub(crate) fn alltoallv_in_place<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, ranks) = (trial.world.rank(), trial.ranks());
    let mut start = 1;
    let of = |rank: usize| {
        let block = Block { start, count: (trial.count + me * rank) % (trial.count + 3) };
        start += block.count + 1;
        block
    };
    let blocks: &Vec<Block> = &(0..ranks).map(of).collect();
    let with = |part: &dyn Fn(usize, usize) -> Vec<T>| {
        let mut buffer = canaries(length(blocks));
        for (rank, &Block { start, count }) in blocks.iter().enumerate() {
            buffer[start..][..count].copy_from_slice(&part(rank, count));
        }
        buffer
    };
    let sent = |round| with(&|rank, count| parcel::<T>(me, rank, round, count));
    let got = |round| with(&|rank, count| parcel::<T>(rank, me, round, count));
    for round in 0..2 {
        let mut buffer = sent(round);
        trial.world.alltoallv_in_place(&mut buffer, blocks)?;
        assert_eq!(buffer, got(round), "{trial:?}");
        let request = trial.world.ialltoallv(sent(round), blocks, blocks)?;
        assert_eq!(request.wait()?, got(round), "{trial:?}");
    }
    Ok(())
}
