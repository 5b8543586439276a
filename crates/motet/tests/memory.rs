//! Memory that must not grow. What is measured is the whole process, so these run one by one.

mod worlds;

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use motet::{Info, Sum};
use worlds::on_ranks;

/// Keeps the other tests from running meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of this process, in bytes.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux tells the size of a process");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("the second number counts resident pages") * 4096
}

/// spec: 24, 41
#[test]
fn dropped_requests_go_on_and_their_buffers_are_freed_when_complete() {
    let _alone = alone();
    let rounds = 300;
    let before = resident();
    on_ranks(2, |world| {
        for round in 0..rounds {
            // A megabyte each: they would be missed.
            drop(world.iallreduce(vec![round; 1 << 17], Sum)?);
            drop(world.allreduce_init(vec![1u64; 1 << 17], Sum, &Info::new())?.start()?);
            if round % 10 == 0 {
                assert_eq!(world.allreduce_one(1, Sum)?, 2);
            }
        }
        world.barrier()
    });
    let grown = resident().saturating_sub(before);
    assert!(grown < 200 << 20, "{} MiB were not freed", grown >> 20);
}

/// spec: 53
#[test]
fn restarts_take_no_memory() {
    let _alone = alone();
    const WARM: u64 = 1_000;
    const ROUNDS: u64 = 1_000_000;
    on_ranks(1, |world| {
        let mut sum = world.allreduce_init(vec![0u64], Sum, &Info::new())?;
        (0..WARM).try_for_each(|_| sum.run())?;
        let before = resident();
        for _ in 0..ROUNDS {
            sum.run()?;
        }
        assert!(resident().saturating_sub(before) < 8 << 20, "memory grew");
        Ok(())
    });
    on_ranks(2, |world| {
        let mut sum = world.allreduce_init((vec![0u64], vec![0u64]), Sum, &Info::new())?;
        let mut before = 0;
        for round in 0..ROUNDS {
            if round == WARM {
                before = resident();
            }
            sum.input_mut()[0] = round;
            sum.run()?;
            assert_eq!(sum.output()[0], 2 * round);
        }
        assert!(resident().saturating_sub(before) < 32 << 20, "memory grew");
        Ok(())
    });
}

/// spec: 138
#[test]
fn communicators_come_and_go_without_a_trace() {
    let _alone = alone();
    on_ranks(2, |world| {
        (0..1000).try_for_each(|_| world.dup().map(drop))?;
        let before = resident();
        for _ in 0..100_000 {
            // The first rank waits for nobody, but cannot be any number of rounds ahead.
            drop(world.dup()?);
        }
        assert!(resident().saturating_sub(before) < 8 << 20, "memory grew");
        Ok(())
    });
}
