//! Persistent operations whose messages all go through channels: what a start does is compiled
//! once, and each start runs that program.

mod worlds;

use std::thread::available_parallelism;

use motet::{ErrorClass, Info, Result, Sum, World};
use worlds::on_ranks;

const COMPILED: &str = ", compiled";

/// Results change with what is put in, in any order of starts and waits, and operations take turns.
#[test]
fn each_start_works_on_what_lies_there_then() {
    for ranks in 1..=5 {
        on_ranks(ranks, |world| {
            let (size, rank) = (world.size() as u64, world.rank() as u64);
            let mut sum = world.allreduce_init((vec![0u64], vec![0u64]), Sum, &Info::new())?;
            let mut all = world.alltoall_init((vec![0u64; ranks], vec![0; ranks]), &Info::new())?;
            let mut sent = world.bcast_init(vec![0u64; 3], ranks - 1, &Info::new())?;
            for round in 0..50 {
                sum.input_mut()[0] = rank + round;
                all.input_mut().fill(rank * round);
                if rank == size - 1 {
                    sent.output_mut().fill(round);
                }
                let (one, two, three) = (sum.start()?, all.start()?, sent.start()?);
                if round % 2 == 0 {
                    (sum, all, sent) = (one.wait()?, two.wait()?, three.wait()?);
                } else {
                    (sent, all, sum) = (three.wait()?, two.wait()?, one.wait()?);
                }
                assert_eq!(sum.output(), [size * (size - 1) / 2 + size * round]);
                let expected: Vec<u64> = (0..size).map(|other| other * round).collect();
                assert_eq!(all.output(), &expected[..]);
                assert_eq!(sent.output(), [round; 3]);
            }
            assert!(sum.explain().contains(COMPILED), "{}", sum.explain());
            assert!(all.explain().contains(COMPILED), "{}", all.explain());
            assert!(sent.explain().contains(COMPILED), "{}", sent.explain());
            Ok(())
        });
    }
}

/// What is too long for a channel goes as before, and what has no script says so.
#[test]
fn long_messages_go_by_no_script() {
    on_ranks(2, |world| {
        let long = vec![world.rank(); 1 << 14];
        let mut sum = world.allreduce_init((long.clone(), long), Sum, &Info::new())?;
        for _ in 0..5 {
            sum.run()?;
            assert!(sum.output().iter().all(|&value| value == 1));
        }
        assert!(!sum.explain().contains(COMPILED), "{}", sum.explain());
        Ok(())
    });
}

/// What flows one way has a channel up to 1 KiB, and so has an exchange. Of two ranks that send
/// each other one message, longer ones than 512 bytes do better in blocks that the answer takes
/// back. Where ranks share cores all that is answered has a channel up to 8 KiB.
#[test]
fn a_message_has_a_channel_where_that_is_faster() {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    let answered = |with_cores| if cores < 2 { 8192 } else { with_cores };
    let calls: [(Explained, usize); 3] =
        [(one_way, 1024), (swap, answered(512)), (exchange_of_two, answered(1024))];
    on_ranks(2, |world| {
        for (explain, longest) in calls {
            for (bytes, has_channel) in [(longest, true), (longest + 8, false)] {
                let told = explain(world, bytes / 8)?;
                let line = told.lines().find(|line| line.trim_start().starts_with("tagged"));
                let line = line.expect("it tells how messages travel");
                assert_eq!(line.contains(" 0 messages"), has_channel, "{bytes} bytes: {told}");
            }
        }
        Ok(())
    });
}

/// Ranks whose counts differ, so that one of them has a channel for a message and the other has
/// none, are told so by each start.
#[test]
fn counts_on_both_sides_of_a_limit_are_an_error() {
    for (few, many) in [(64, 65), (128, 129), (64, 129), (1024, 1025)] {
        for long in [0, 1] {
            on_ranks(2, |world| {
                let is_long = world.rank() == long;
                let data = vec![0u64; 2 * if is_long { many } else { few }];
                let mut all = world.alltoall_init((data.clone(), data), &Info::new())?;
                for start in 0..3 {
                    let class = all.run().err().map(|error| error.class());
                    let own = if is_long { ErrorClass::Count } else { ErrorClass::Truncate };
                    // Or the other rank was first, and has told this one.
                    let is_known = class == Some(own) || class == Some(ErrorClass::Other);
                    assert!(is_known, "{few} and {many} elements, start {start}: {class:?}");
                }
                Ok(())
            });
        }
    }
}

/// Runs a persistent operation with messages of so many elements, and says what it tells of itself.
type Explained = fn(&World, usize) -> Result<String>;

fn one_way(world: &World, elements: usize) -> Result<String> {
    let mut bcast = world.bcast_init(vec![world.rank() as u64; elements], 1, &Info::new())?;
    bcast.run()?;
    assert!(bcast.output().iter().all(|&value| value == 1));
    Ok(bcast.explain())
}

fn swap(world: &World, elements: usize) -> Result<String> {
    let data = vec![world.rank() as u64; 2 * elements];
    let mut all = world.alltoall_init((data.clone(), data), &Info::new())?;
    all.run()?;
    for (block, rank) in all.output().chunks(elements).zip(0..) {
        assert!(block.iter().all(|&value| value == rank));
    }
    Ok(all.explain())
}

fn exchange_of_two(world: &World, elements: usize) -> Result<String> {
    let (data, other) = (vec![world.rank() as u64; 2 * elements], 1 - world.rank());
    let both = [other; 2];
    let mut exchange = world.exchange_init((data.clone(), data), &both, &both, &Info::new())?;
    exchange.run()?;
    assert!(exchange.output().iter().all(|&value| value == other as u64));
    Ok(exchange.explain())
}
