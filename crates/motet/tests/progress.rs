//! The thread that moves operations while their rank computes.
//!
//! The ranks that compute here look at nothing but a flag that another rank sets when it has what
//! it wanted of them. Without the thread no test of these would ever end.

mod worlds;

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};

use motet::{Info, Settings, Sum, Tag};
use worlds::{Watchdog, on_ranks_with};

const TAG: Tag = Tag(3);
const LENGTH: usize = 1 << 17;

/// Large messages go in pieces, which their sender must hand out.
fn settings() -> Settings {
    Settings::new().without_single_copy().progress_thread()
}

/// Computes, without calling the library, until another rank says that it has what it wanted.
fn compute_until(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        hint::spin_loop();
        std::thread::yield_now();
    }
}

/// spec: 99
#[test]
fn a_large_message_leaves_a_rank_that_computes() {
    let _watchdog = Watchdog::start();
    let has_come = AtomicBool::new(false);
    on_ranks_with(2, &settings(), |world| {
        if world.rank() == 0 {
            let sent = world.isend(vec![7u64; LENGTH], 1, TAG)?;
            compute_until(&has_come);
            return sent.wait().map(drop);
        }
        let mut data = vec![0u64; LENGTH];
        world.recv(&mut data, 0, TAG)?;
        has_come.store(true, Ordering::Release);
        assert!(data.iter().all(|&word| word == 7));
        Ok(())
    });
}

/// spec: 99
#[test]
fn a_large_message_reaches_a_rank_that_computes() {
    let _watchdog = Watchdog::start();
    let has_gone = AtomicBool::new(false);
    on_ranks_with(2, &settings(), |world| {
        if world.rank() == 0 {
            let received = world.irecv(vec![0u64; LENGTH], 1, TAG)?;
            compute_until(&has_gone);
            assert!(received.wait()?.iter().all(|&word| word == 7));
            return Ok(());
        }
        world.ssend(&vec![7u64; LENGTH], 0, TAG)?;
        has_gone.store(true, Ordering::Release);
        Ok(())
    });
}

/// In a ring each rank must hand on what comes to it.
///
/// spec: 99
#[test]
fn a_reduction_goes_on_behind_a_computation() {
    let _watchdog = Watchdog::start();
    let settings = settings().algorithms("allreduce=ring").expect("there is such a one");
    let is_through = AtomicBool::new(false);
    on_ranks_with(3, &settings, |world| {
        for round in 0..20u64 {
            let sum = world.iallreduce(vec![round; LENGTH / 4], Sum)?;
            if world.rank() == 0 {
                compute_until(&is_through);
                is_through.store(false, Ordering::Release);
            }
            assert!(sum.wait()?.iter().all(|&word| word == 3 * round));
            // The others must not run on and set the flag of the next round.
            if world.rank() == 1 {
                is_through.store(true, Ordering::Release);
            }
            world.barrier()?;
        }
        Ok(())
    });
}

/// The thread lies down and is called at each of these waits, in whatever order it and the rank
/// come to that.
#[test]
fn a_thread_that_lies_down_while_its_rank_stops_to_wait_does_not_call_itself() {
    let settings = Settings::new().progress_thread();
    on_ranks_with(2, &settings, |world| {
        for round in 0..20_000u64 {
            let other = 1 - world.rank();
            let pending = world.irecv(vec![0u64], other, Tag(1))?;
            world.send(&[round], other, Tag(1))?;
            assert_eq!(pending.wait()?, [round]);
        }
        Ok(())
    });
}

/// With a core for the thread it is what begins long collectives: whatever becomes of their
/// requests, and whoever comes first.
#[test]
fn what_is_left_to_the_thread_is_begun_whoever_asks_for_it() {
    for ranks in [1, 2] {
        on_ranks_with(ranks, &Settings::new().progress_thread(), |world| {
            let sum = |value: u64| value * world.size() as u64;
            let buffers = (vec![3u64; LENGTH], vec![0u64; LENGTH]);
            let mut dot = world.allreduce_init(buffers, Sum, &Info::new())?;
            for round in 0..50u64 {
                // Waited for at once, in another order than begun, and dropped.
                assert_eq!(world.iallreduce(vec![round; LENGTH], Sum)?.wait()?[7], sum(round));
                let first = world.iallreduce(vec![round; LENGTH], Sum)?;
                let short = world.iallreduce(vec![round], Sum)?;
                let second = world.iallreduce(vec![round + 1; LENGTH], Sum)?;
                assert_eq!(second.wait()?[LENGTH - 1], sum(round + 1));
                drop(world.iallreduce(vec![1u64; LENGTH], Sum)?);
                assert_eq!(short.wait()?, [sum(round)]);
                assert_eq!(first.wait()?[0], sum(round));
                let running = dot.start()?;
                let (data, mut result) = (vec![round; LENGTH], vec![0; LENGTH]);
                world.allreduce(&data, &mut result, Sum)?;
                assert_eq!(result[1], sum(round));
                dot = running.wait()?;
                assert_eq!(dot.output()[LENGTH / 2], sum(3));
            }
            Ok(())
        });
    }
}
