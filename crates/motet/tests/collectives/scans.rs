//! The reductions whose results differ between ranks: reduce_scatter and the scans.

use motet::Result;
use motet::op::{commutative, ordered};

use super::elements::Sample;
use super::forms::{Data, Trial, in_one, in_pair, is_refused};
use crate::{block, canaries};

/// The reduction of the contributions of the first so many ranks, in rank order.
fn prefix<T: Sample>(
    ranks: usize,
    round: usize,
    count: usize,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let of_place = |at| {
        let operands = (0..ranks).map(|rank| T::sample(rank, round, at));
        operands.reduce(&combine).expect("there is a rank")
    };
    (0..count).map(of_place).collect()
}

pub(crate) fn scan<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, count) = (trial.world.rank(), trial.count);
    let (input, before) = (|round| block::<T>(me, round, count), |_| canaries(count));
    let sum = |round| prefix(me + 1, round, count, T::add);
    let composed = |round| prefix(me + 1, round, count, T::compose);
    let data = Data::new(input, before, sum);
    in_pair!(trial, data, scan, iscan, scan_begin, scan_init(commutative(T::add)));
    let data = Data::new(input, before, composed);
    in_pair!(trial, data, scan, iscan, scan_begin, scan_init(ordered(T::compose)));
    let data = Data::new(|_| Vec::new(), input, composed);
    in_one!(trial, data, scan_in_place, iscan, scan_begin, scan_init(ordered(T::compose)));
    Ok(())
}

pub(crate) fn exscan<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, count) = (trial.world.rank(), trial.count);
    let (input, before) = (|round| block::<T>(me, round, count), |_| canaries(count));
    let composed = |round, untouched: Vec<T>| match me {
        0 => untouched,
        _ => prefix(me, round, count, T::compose),
    };
    let data = Data::new(input, before, |round| composed(round, canaries(count)));
    in_pair!(trial, data, exscan, iexscan, exscan_begin, exscan_init(ordered(T::compose)));
    let data = Data::new(|_| Vec::new(), input, |round| composed(round, input(round)));
    in_one!(trial, data, exscan_in_place, iexscan, exscan_begin, exscan_init(ordered(T::compose)));
    Ok(())
}

pub(crate) fn reduce_scatter_block<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let (me, count) = (trial.world.rank(), trial.count);
    let all = count * trial.ranks();
    let input = |round| block::<T>(me, round, all);
    let own = |whole: Vec<T>| whole[me * count..][..count].to_vec();
    let sum = |round| own(prefix(trial.ranks(), round, all, T::add));
    let composed = |round| own(prefix(trial.ranks(), round, all, T::compose));
    let before = |_| canaries(count);
    let (add, compose) = (|| commutative(T::add), || ordered(T::compose));
    let data = Data::new(input, before, sum);
    in_pair!(
        trial,
        data,
        reduce_scatter_block,
        ireduce_scatter_block,
        reduce_scatter_block_begin,
        reduce_scatter_block_init(add())
    );
    let data = Data::new(input, before, composed);
    in_pair!(
        trial,
        data,
        reduce_scatter_block,
        ireduce_scatter_block,
        reduce_scatter_block_begin,
        reduce_scatter_block_init(compose())
    );
    starts_with(trial, &composed(0), |world| {
        let mut buffer = input(0);
        world.reduce_scatter_block_in_place(&mut buffer, compose())?;
        Ok(buffer)
    })?;
    starts_with(trial, &sum(1), |world| world.ireduce_scatter_block(input(1), add())?.wait())
}

pub(crate) fn reduce_scatter<T: Sample>(trial: &Trial<'_>) -> Result<()> {
    let me = trial.world.rank();
    let counts: &Vec<usize> =
        &(0..trial.ranks()).map(|rank| (trial.count + 2 * rank) % (trial.count + 2)).collect();
    let (first, all) = (counts[..me].iter().sum::<usize>(), counts.iter().sum());
    let input = |round| block::<T>(me, round, all);
    let own = |whole: Vec<T>| whole[first..][..counts[me]].to_vec();
    let sum = |round| own(prefix(trial.ranks(), round, all, T::add));
    let composed = |round| own(prefix(trial.ranks(), round, all, T::compose));
    let before = |_| canaries(counts[me]);
    let (add, compose) = (|| commutative(T::add), || ordered(T::compose));
    let data = Data::new(input, before, sum);
    in_pair!(
        trial,
        data,
        reduce_scatter,
        ireduce_scatter,
        reduce_scatter_begin,
        reduce_scatter_init(counts, add())
    );
    let data = Data::new(input, before, composed);
    in_pair!(
        trial,
        data,
        reduce_scatter,
        ireduce_scatter,
        reduce_scatter_begin,
        reduce_scatter_init(counts, compose())
    );
    starts_with(trial, &composed(0), |world| {
        let mut buffer = input(0);
        world.reduce_scatter_in_place(&mut buffer, counts, compose())?;
        Ok(buffer)
    })?;
    starts_with(trial, &sum(1), |world| world.ireduce_scatter(input(1), counts, add())?.wait())
}

/// In place only the start of the buffer is defined afterwards.
fn starts_with<T: Sample>(
    trial: &Trial<'_>,
    expected: &[T],
    call: impl Fn(&motet::World) -> Result<Vec<T>>,
) -> Result<()> {
    match call(trial.world) {
        Err(error) if is_refused(&error) => Ok(()),
        Err(error) => Err(error),
        Ok(buffer) => {
            assert_eq!(&buffer[..expected.len()], expected, "{trial:?}, in place");
            Ok(())
        }
    }
}
