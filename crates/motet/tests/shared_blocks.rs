//! Data that a rank sends to several others at once, where ranks share cores: it is copied once for
//! all of them, as long as there is room for that.

mod worlds;

use std::thread::available_parallelism;

use motet::{Info, Sum};
use worlds::{by_algorithm, on_ranks, on_ranks_with};

/// More ranks than cores, if that is not too many.
fn ranks() -> usize {
    (available_parallelism().map_or(1, usize::from) + 2).min(9)
}

/// Elements of 8 bytes on both sides of what fits a cell and of the longest.
const LENGTHS: [usize; 5] = [1000, 1030, 5000, 8192, 8193];

/// What a rank has in this place, of this operation.
fn value(rank: usize, operation: usize, at: usize) -> u64 {
    (rank * 1_000_003 + operation * 7919 + at) as u64
}

fn data(rank: usize, operation: usize, len: usize) -> Vec<u64> {
    (0..len).map(|at| value(rank, operation, at)).collect()
}

/// More under way than there is room for, taken in the other order by every second rank.
#[test]
fn more_than_there_is_room_for() {
    let ranks = ranks();
    on_ranks(ranks, |world| {
        for len in LENGTHS {
            let begin = |operation: usize| {
                let mut buffer = vec![0; len];
                if world.rank() == operation % ranks {
                    buffer = data(world.rank(), operation, len);
                }
                world.ibcast(buffer, operation % ranks)
            };
            let mut begun = (0..40).map(begin).collect::<motet::Result<Vec<_>>>()?;
            let mut operations: Vec<usize> = (0..begun.len()).collect();
            if world.rank() % 2 == 1 {
                begun.reverse();
                operations.reverse();
            }
            for (request, operation) in begun.into_iter().zip(operations) {
                assert_eq!(request.wait()?, data(operation % ranks, operation, len));
            }
        }
        Ok(())
    });
}

/// Persistent operations: what is read in a round is what lay there when it was started.
#[test]
fn each_round_has_its_own_data() {
    let ranks = ranks();
    on_ranks(ranks, |world| {
        for len in LENGTHS {
            let own = vec![0u64; len];
            let all = vec![0u64; len * ranks];
            let mut gathered = world.allgather_init((own.clone(), all), &Info::new())?;
            let mut sum = world.allreduce_init((own.clone(), own.clone()), Sum, &Info::new())?;
            let mut sent = world.bcast_init(own, ranks - 1, &Info::new())?;
            for round in 0..6 {
                let values = data(world.rank(), round, len);
                gathered.input_mut().copy_from_slice(&values);
                sum.input_mut().copy_from_slice(&values);
                let source = if world.rank() == ranks - 1 { &values[..] } else { &[][..] };
                sent.output_mut()[..source.len()].copy_from_slice(source);
                let (one, two, three) = (gathered.start()?, sum.start()?, sent.start()?);
                (sent, sum, gathered) = (three.wait()?, two.wait()?, one.wait()?);
                let expected: Vec<u64> =
                    (0..ranks).flat_map(|rank| data(rank, round, len)).collect();
                assert!(gathered.output() == expected, "round {round} of {len}");
                let total = |at| (0..ranks).map(|rank| value(rank, round, at)).sum::<u64>();
                assert!((0..len).all(|at| sum.output()[at] == total(at)), "round {round}");
                assert!(sent.output() == data(ranks - 1, round, len), "round {round} of {len}");
            }
        }
        Ok(())
    });
}

/// Where cells are short, a rank may send the same message to some by channels, for which there is
/// not always room, and to others not: all of them get what was started.
#[test]
fn those_without_a_channel_get_this_round_too() {
    const RANKS: usize = 20;
    const LEN: usize = 700;
    let settings = by_algorithm("allgather", "linear");
    on_ranks_with(RANKS, &settings, |world| {
        let memory = (vec![0u64; LEN], vec![0u64; LEN * RANKS]);
        let mut gathered = world.allgather_init(memory, &Info::new())?;
        for round in 0..20 {
            gathered.input_mut().copy_from_slice(&data(world.rank(), round, LEN));
            gathered = gathered.start()?.wait()?;
            let expected: Vec<u64> = (0..RANKS).flat_map(|rank| data(rank, round, LEN)).collect();
            assert!(gathered.output() == expected, "round {round}");
        }
        // A word that it is so: "14 in, ..." and "5 messages".
        let told = gathered.explain();
        let count = |name: &str| {
            let line = told.lines().map(str::trim).find(|line| line.starts_with(name));
            let word = line.and_then(|line| line.split_whitespace().nth(1));
            word.and_then(|word| word.parse::<usize>().ok()).unwrap_or_else(|| panic!("{told}"))
        };
        if available_parallelism().map_or(1, usize::from) < RANKS {
            assert!(count("channels") > 0 && count("tagged") > 0, "{told}");
        }
        Ok(())
    });
}
