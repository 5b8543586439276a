//! Reductions of messages of every length: in cells, in blocks, and copied; where they lie, or in
//! their place, since the other operand was not ready.

mod worlds;

use motet::op::ordered;
use motet::{Communicator, Info, Result, Sum};
use worlds::on_ranks;

/// Elements of 8 bytes: within a line and beyond, in cells and channels, in blocks, by single copy.
const COUNTS: [usize; 8] = [1, 3, 40, 520, 1536, 2048, 8192, 9000];
const ROUNDS: u64 = 6;

/// Two maps `x -> a x + b` modulo 2³², the left one first: their order counts.
fn then(left: u64, right: u64) -> u64 {
    let parts = |map: u64| ((map >> 32) as u32, map as u32);
    let ((a, b), (c, d)) = (parts(left), parts(right));
    let (slope, rest) = (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d));
    u64::from(slope) << 32 | u64::from(rest)
}

/// What a rank brings to a round.
fn data(rank: usize, round: u64, count: usize) -> Vec<u64> {
    let of = |at: usize| (rank as u64 + 3) * 0x1_0000_0007 + round * 0x10_0001 + at as u64;
    (0..count).map(of).collect()
}

/// What these ranks bring, one after the other.
fn together(ranks: std::ops::Range<usize>, round: u64, count: usize) -> Vec<u64> {
    let all = ranks.map(|rank| data(rank, round, count));
    let both = |left: Vec<u64>, right: Vec<u64>| {
        left.iter().zip(&right).map(|(&left, &right)| then(left, right)).collect()
    };
    all.reduce(both).expect("there are ranks")
}

/// All that reduces, blocking, one after the other so that ranks run ahead of each other.
fn blocking(world: &Communicator, round: u64, count: usize) -> Result<()> {
    let (size, rank, maps) = (world.size(), world.rank(), ordered(then));
    let (own, all) = (data(rank, round, count), together(0..size, round, count));
    let mut result = vec![0; count];
    for root in 0..size {
        world.reduce(&own, &mut result, maps, root)?;
        assert!(rank != root || result == all, "reduce of {count} to {root}");
    }
    result.fill(0);
    world.allreduce(&own, &mut result, maps)?;
    assert!(result == all, "allreduce of {count}");
    world.scan(&own, &mut result, maps)?;
    assert!(result == together(0..rank + 1, round, count), "scan of {count}");
    let mut part = vec![0; count];
    let long = data(rank, round, count * size);
    world.reduce_scatter_block(&long, &mut part, maps)?;
    let all = together(0..size, round, count * size);
    assert!(part == all[count * rank..][..count], "reduce_scatter_block of {count}");
    Ok(())
}

#[test]
fn blocking_reductions_of_all_lengths() {
    for ranks in 2..=5 {
        on_ranks(ranks, |world| {
            for count in COUNTS {
                (0..ROUNDS).try_for_each(|round| blocking(world, round, count))?;
            }
            Ok(())
        });
    }
}

/// Several at a time, whose messages come before, between and after each other.
#[test]
fn nonblocking_reductions_of_all_lengths() {
    for ranks in 2..=5 {
        on_ranks(ranks, |world| {
            let (rank, maps) = (world.rank(), ordered(then));
            for count in COUNTS {
                let own = |round| data(rank, round, count);
                let begun: Result<Vec<_>> = (0..ROUNDS)
                    .map(|round| Ok((world.iallreduce(own(round), maps)?, round)))
                    .collect();
                for (request, round) in begun?.into_iter().rev() {
                    let result = request.wait()?;
                    assert!(result[..] == together(0..ranks, round, count)[..], "of {count}");
                }
            }
            Ok(())
        });
    }
}

#[test]
fn persistent_reductions_of_all_lengths() {
    for ranks in 2..=5 {
        on_ranks(ranks, |world| {
            let (rank, maps) = (world.rank(), ordered(then));
            for count in COUNTS {
                let buffers = (vec![0; count], vec![0; count]);
                let mut all = world.allreduce_init(buffers.clone(), maps, &Info::new())?;
                let mut some = world.scan_init(buffers, maps, &Info::new())?;
                for round in 0..ROUNDS {
                    let own = data(rank, round, count);
                    all.input_mut().copy_from_slice(&own);
                    some.input_mut().copy_from_slice(&own);
                    let (one, two) = (all.start()?, some.start()?);
                    (some, all) = (two.wait()?, one.wait()?);
                    assert!(all.output()[..] == together(0..ranks, round, count)[..]);
                    assert!(some.output()[..] == together(0..rank + 1, round, count)[..]);
                }
            }
            Ok(())
        });
    }
}

/// The plan says how many messages may be reduced where they lie.
#[test]
fn it_is_told() {
    on_ranks(2, |world| {
        let explained = world.allreduce_init((vec![1u64], vec![0]), Sum, &Info::new())?.explain();
        let line = explained.lines().find(|line| line.trim_start().starts_with("receives"));
        let line = line.expect("it tells what is received");
        assert!(line.contains(", 1 of them reduced where they lie"), "{explained}");
        Ok(())
    });
}
