//! Persistent operations whose messages all go through channels: what a start does is looked up
//! once, and done as before.

mod worlds;

use std::thread::available_parallelism;

use motet::{Info, Sum};
use worlds::on_ranks;

const LOOKED_UP: &str = ", all looked up";

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
            assert!(sum.explain().contains(LOOKED_UP), "{}", sum.explain());
            assert!(all.explain().contains(LOOKED_UP), "{}", all.explain());
            assert!(sent.explain().contains(LOOKED_UP), "{}", sent.explain());
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
        assert!(!sum.explain().contains(LOOKED_UP), "{}", sum.explain());
        Ok(())
    });
}

/// What flows one way has a channel up to 1 KiB. So has an exchange, whose longer messages do
/// better in blocks that the answer takes back; where ranks share cores it has one up to 8 KiB.
#[test]
fn a_message_has_a_channel_where_that_is_faster() {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    let of_exchange = if cores < 2 { 8192 } else { 1024 };
    on_ranks(2, |world| {
        for (longest, is_exchange) in [(1024, false), (of_exchange, true)] {
            for (bytes, has_channel) in [(longest, true), (longest + 8, false)] {
                let data = || vec![world.rank() as u64; bytes / 8];
                let told = if is_exchange {
                    let mut all = world.alltoall_init(data().repeat(2), &Info::new())?;
                    all.run()?;
                    assert!(
                        all.output()
                            .chunks(bytes / 8)
                            .zip(0..)
                            .all(|(block, rank)| { block.iter().all(|&value| value == rank) })
                    );
                    all.explain()
                } else {
                    let mut bcast = world.bcast_init(data(), 1, &Info::new())?;
                    bcast.run()?;
                    assert!(bcast.output().iter().all(|&value| value == 1));
                    bcast.explain()
                };
                let line = told.lines().find(|line| line.trim_start().starts_with("tagged"));
                let line = line.expect("it tells how messages travel");
                assert_eq!(line.contains(" 0 messages"), has_channel, "{bytes} bytes: {told}");
            }
        }
        Ok(())
    });
}
