//! Ranks that do not agree on lengths: an error, or less data than somebody hoped for; never a byte
//! outside of a buffer, and never what somebody else's message has left in memory of the library.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use motet::{Block, Communicator, Info, Lor, Result, Settings, Sum, Tag};

use super::support::{Outcomes, Walled, all_well, bytes_of, outcomes, outcomes_with};

/// How long two ranks may take that do not agree.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Lengths of two ranks that do not agree, in elements of eight bytes: in one cell, in several, in
/// blocks, and in messages that are copied out of their sender's memory.
const UNEQUAL: [(usize, usize); 10] = [
    (1, 2),
    (2, 1),
    (1, 60),
    (60, 1),
    (10, 900),
    (900, 10),
    (100, 40_000),
    (40_000, 100),
    (30_000, 200_000),
    (200_000, 30_000),
];

/// What the outside of each buffer holds; no rank ever sends it.
const WALL: u64 = 0xdead_beef;

/// Leaves sevens in all memory that messages travel through, so that what was not sent is known.
fn poison(world: &Communicator) -> Result<()> {
    for len in [1, 8, 64, 500, 5000, 300_000] {
        let mut all = vec![0u8; len * world.size()];
        world.allgather(&vec![7u8; len], &mut all)?;
        let mut run = world.allreduce_init(vec![7u8; len], motet::Max, &Info::new())?;
        run.run()?;
    }
    Ok(())
}

/// As [`bounded_with`], with the usual settings.
fn bounded<T: Send>(body: impl Fn(&Communicator) -> Result<T> + Sync) -> Outcomes<Option<T>> {
    bounded_with(&Settings::new(), body)
}

/// Runs `body` on two ranks of three. The third ends the world if they take too long: ranks that do
/// not agree may wait for what nobody sends, which is no matter of memory.
fn bounded_with<T: Send>(
    settings: &Settings,
    body: impl Fn(&Communicator) -> Result<T> + Sync,
) -> Outcomes<Option<T>> {
    let over = AtomicUsize::new(0);
    outcomes_with(3, settings, |world| {
        let apart = world.rank() == 2;
        let two = world.split(Some(u32::from(apart)), 0)?.expect("each has a colour");
        if !apart {
            let ended = body(&two);
            over.fetch_add(1, Ordering::Relaxed);
            return ended.map(Some);
        }
        let begun = Instant::now();
        while over.load(Ordering::Relaxed) < 2 {
            assert!(begun.elapsed() < TIME_LIMIT, "the others wait for each other");
            thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    })
}

/// A collective of one value each, with a length that is wrong at one of two ranks.
type Attack = fn(&Communicator, &[u64], &mut [u64]) -> Result<()>;

/// Calls it with lengths that do not agree; every value must come from some rank, or be a sum.
fn unequal(name: &str, attack: Attack) {
    for (first, second) in UNEQUAL {
        let ended = bounded(|world| {
            poison(world)?;
            let (len, own) = if world.rank() == 0 { (first, 1000) } else { (second, 2000) };
            let send = vec![own; len];
            let mut receive = Walled::new(len, 0u64, WALL);
            let called = attack(world, &send, receive.inside());
            let values = receive.intact();
            let known = |value: &u64| [0, 1000, 2000, 3000].contains(value);
            let strange = values.iter().find(|value| !known(value));
            assert_eq!(strange, None, "{name} of {first} and {second}: {called:?}");
            assert!(send.iter().all(|value| *value == own));
            Ok(())
        });
        drop(ended); // a mismatch may be an error of any call, or none
    }
}

#[test]
fn broadcasts_of_unequal_lengths() {
    unequal("bcast", |world, send, receive| {
        receive.copy_from_slice(send);
        world.bcast(receive, 0)
    });
    unequal("ibcast", |world, send, receive| {
        let data = world.ibcast(send.to_vec(), 1)?.wait()?;
        receive.copy_from_slice(&data);
        Ok(())
    });
    unequal("bcast_init", |world, send, receive| {
        let mut run = world.bcast_init(send.to_vec(), 0, &Info::new())?;
        run.run()?;
        receive.copy_from_slice(run.output());
        run.run()
    });
}

#[test]
fn reductions_of_unequal_lengths() {
    unequal("allreduce", |world, send, receive| world.allreduce(send, receive, Sum));
    unequal("reduce", |world, send, receive| world.reduce(send, receive, Sum, 0));
    unequal("scan", |world, send, receive| world.scan(send, receive, Sum));
    unequal("iallreduce", |world, send, receive| {
        let data = world.iallreduce(send.to_vec(), Sum)?.wait()?;
        receive.copy_from_slice(&data);
        Ok(())
    });
}

#[test]
fn persistent_reductions_of_unequal_lengths() {
    unequal("allreduce_init", |world, send, receive| {
        let mut run = world.allreduce_init((send.to_vec(), receive.to_vec()), Sum, &Info::new())?;
        for _ in 0..3 {
            let called = run.run();
            receive.copy_from_slice(run.output());
            called?;
        }
        Ok(())
    });
    unequal("reduce_init", |world, send, receive| {
        let buffers = (send.to_vec(), receive.to_vec());
        let mut run = world.reduce_init(buffers, Sum, 1, &Info::new())?;
        for _ in 0..3 {
            let called = run.run();
            receive.copy_from_slice(run.output());
            called?;
        }
        Ok(())
    });
}

#[test]
fn gatherings_of_unequal_lengths() {
    unequal("allgather", |world, send, receive| {
        let half = receive.len() / 2 * 2;
        world.allgather(&send[..half / 2], &mut receive[..half])
    });
    unequal("alltoall", |world, send, receive| {
        let half = receive.len() / 2 * 2;
        world.alltoall(&send[..half], &mut receive[..half])
    });
    unequal("gather", |world, send, receive| {
        let half = receive.len() / 2 * 2;
        world.gather(&send[..half / 2], &mut receive[..half], 0)
    });
    unequal("scatter", |world, send, receive| {
        let half = receive.len() / 2 * 2;
        world.scatter(&send[..half], &mut receive[..half / 2], 1)
    });
}

#[test]
fn exchanges_of_unequal_lengths() {
    unequal("exchange", |world, send, receive| {
        let other = [1 - world.rank()];
        world.exchange(send, receive, &other, &other)
    });
    unequal("exchange_init", |world, send, receive| {
        let other = [1 - world.rank()];
        let buffers = (send.to_vec(), receive.to_vec());
        let mut run = world.exchange_init(buffers, &other, &other, &Info::new())?;
        for _ in 0..3 {
            let called = run.run();
            receive.copy_from_slice(run.output());
            called?;
        }
        Ok(())
    });
    unequal("alltoallv", |world, send, receive| {
        let all = Block { start: 0, count: send.len() };
        let none = Block { start: 0, count: 0 };
        let blocks = if world.rank() == 0 { [none, all] } else { [all, none] };
        world.alltoallv(send, receive, &blocks, &blocks)
    });
}

#[test]
fn messages_that_are_longer_than_their_buffer() {
    for (sent, room) in [(2, 1), (60, 1), (900, 10), (40_000, 100), (200_000, 30_000), (1, 0)] {
        let ended = outcomes(2, |world| {
            poison(world)?;
            let mut receive = Walled::new(room, 0u64, WALL);
            if world.rank() == 0 {
                world.send(&vec![1000u64; sent], 1, Tag(1))?;
            } else {
                let refused = world.recv(receive.inside(), 0, Tag(1));
                assert!(refused.is_err(), "{sent} into {room}");
            }
            assert!(receive.intact().iter().all(|value| [0, 1000].contains(value)));
            world.barrier()
        });
        all_well(ended);
    }
}

#[test]
fn persistent_messages_that_are_longer_than_their_buffer() {
    for (sent, room) in [(2, 1), (60, 1), (900, 10), (40_000, 100)] {
        let ended = outcomes(2, |world| {
            poison(world)?;
            if world.rank() == 0 {
                let mut run = world.send_init(vec![1000u64; sent], 1, Tag(1))?;
                run.run()?;
                run.run()?;
            } else {
                let mut run = world.recv_init(vec![0u64; room], 0, Tag(1))?;
                assert!(run.run().is_err(), "{sent} into {room}");
                assert!(run.output().iter().all(|value| [0, 1000].contains(value)));
                assert!(run.run().is_err(), "{sent} into {room}");
            }
            world.barrier()
        });
        all_well(ended);
    }
}

/// A reduction in which one rank has fewer logical values than the others reduce: what lies behind
/// them in the cell of the message is no logical value.
fn logical(
    settings: &Settings,
    name: &str,
    attack: fn(&Communicator, &mut Vec<bool>) -> Result<()>,
) {
    for (first, second) in [(1, 8), (8, 1), (3, 50), (50, 3), (20, 3000), (0, 8), (8, 0)] {
        let ended = bounded_with(settings, |world| {
            poison(world)?;
            let len = if world.rank() == 0 { first } else { second };
            let mut values = vec![false; len];
            let called = attack(world, &mut values);
            let bytes = bytes_of(&values);
            let strange = bytes.iter().find(|byte| **byte > 1);
            assert_eq!(strange, None, "{name} of {first} and {second}: {called:?}");
            assert!(bytes.iter().all(|byte| *byte == 0), "{name}: nobody has sent a true");
            Ok(())
        });
        drop(ended);
    }
}

#[test]
fn logical_values_behind_a_short_message() {
    let usual = Settings::new();
    logical(&usual, "allreduce", |world, values| {
        let own = values.clone();
        world.allreduce(&own, values, Lor)
    });
    logical(&usual, "bcast", |world, values| world.bcast(values, 0));
    logical(&usual, "exchange", |world, values| {
        let (own, other) = (values.clone(), [1 - world.rank()]);
        world.exchange(&own, values, &other, &other)
    });
}

#[test]
fn logical_values_behind_a_short_persistent_message() {
    for settings in [Settings::new(), Settings::new().without_channels()] {
        logical(&settings, "allreduce_init", |world, values| {
            let mut run = world.allreduce_init(values.clone(), Lor, &Info::new())?;
            for _ in 0..3 {
                let called = run.run();
                values.copy_from_slice(run.output());
                called?;
            }
            Ok(())
        });
        logical(&settings, "allgather_init", |world, values| {
            let buffers = (values.clone(), vec![false; 2 * values.len()]);
            let mut run = world.allgather_init(buffers, &Info::new())?;
            for _ in 0..3 {
                let called = run.run();
                *values = run.output().to_vec();
                called?;
            }
            Ok(())
        });
    }
}

#[test]
fn different_collectives_meet() {
    let ended = bounded(|world| {
        poison(world)?;
        let mut receive = Walled::new(100, 0u64, WALL);
        let own = vec![1000u64 * (world.rank() as u64 + 1); 100];
        let called = match world.rank() {
            0 => world.allreduce(&own, receive.inside(), Sum),
            _ => world.alltoall(&own, receive.inside()),
        };
        let known = |value: &u64| [0, 1000, 2000, 3000].contains(value);
        assert!(receive.intact().iter().all(known), "{called:?}");
        Ok(())
    });
    drop(ended);
}
