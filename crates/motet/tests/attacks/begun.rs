//! Persistent operations that have begun where they lie: whoever reaches for what is in use gets a
//! panic that says so, and whatever is done with the operation its memory stays.

use std::mem::{forget, replace, swap};
use std::thread;

use motet::{
    ErrorClass, Info, Pending, Persistent, Result, Sum, Tag, World, raw, wait_all, wait_any,
};

use super::support::{all_well, outcomes, panic_of};

const TAG: Tag = Tag(8);
const LEN: usize = 1 << 17;

/// Receives from the other of two ranks, which has not sent yet.
fn awaiting(world: &World, len: usize) -> Result<Persistent<Vec<u8>>> {
    let mut receive = world.recv_init(vec![9; len], 1 - world.rank(), TAG)?;
    receive.begin()?;
    Ok(receive)
}

#[test]
fn buffers_in_use_cannot_be_had() {
    all_well(outcomes(2, |world| {
        let mut receive = awaiting(world, 4)?;
        let in_use = |text: Option<String>| {
            let text = text.expect("it is in use");
            assert!(text.contains("of recv_init is in use: call `finish` before"), "{text}");
        };
        assert!(receive.is_active());
        in_use(panic_of(|| receive.output().len()));
        in_use(panic_of(|| receive.output_mut().fill(1)));
        in_use(panic_of(|| receive.input().len()));
        in_use(panic_of(|| receive.input_mut().fill(1)));
        world.barrier()?;
        world.send(&[5u8; 4], 1 - world.rank(), TAG)?;
        assert_eq!(receive.finish_with_status()?.bytes, 4);
        assert_eq!((receive.is_active(), receive.output()), (false, &[5u8; 4][..]));
        Ok(())
    }));
}

#[test]
fn buffers_in_use_are_not_given_back() {
    all_well(outcomes(2, |world| {
        let receive = awaiting(world, LEN)?;
        let text = panic_of(|| receive.into_buffers()).expect("they are in use");
        assert!(text.contains("is in use"), "{text}");
        // The operation has been dropped with that, and takes no message.
        let others: Vec<_> = (0..16).map(|_| vec![3u8; LEN]).collect();
        world.barrier()?;
        let sent = world.isend(vec![5u8; LEN], 1 - world.rank(), TAG)?;
        let mut room = vec![0u8; LEN];
        world.recv(&mut room, 1 - world.rank(), TAG)?;
        sent.wait()?;
        assert!(room.iter().all(|&byte| byte == 5));
        assert!(others.iter().flatten().all(|&byte| byte == 3));
        Ok(())
    }));
}

#[test]
fn an_input_apart_is_read_while_it_is_sent() {
    all_well(outcomes(2, |world| {
        let buffers = (vec![2u64; 100], vec![0u64; 100]);
        let mut sum = world.allreduce_init(buffers, Sum, &Info::new())?;
        sum.begin()?;
        assert!(sum.input().iter().all(|&value| value == 2));
        if sum.is_active() {
            assert!(panic_of(|| sum.input_mut().fill(7)).is_some());
            assert!(panic_of(|| sum.output().len()).is_some());
        }
        sum.finish()?;
        assert!(sum.output().iter().all(|&value| value == 4));
        Ok(())
    }));
}

#[test]
fn an_active_operation_is_not_started_again() {
    all_well(outcomes(2, |world| {
        let mut receive = awaiting(world, 4)?;
        for _ in 0..3 {
            let error = receive.begin().expect_err("it is under way");
            assert_eq!(error.class(), ErrorClass::Request, "{error}");
            assert!(error.to_string().contains("call `finish` before"), "{error}");
            assert!(receive.run().is_err());
        }
        let started = awaiting(world, 4)?;
        assert!(started.start().is_err());
        world.barrier()?;
        // For the first receive, and for the next one, since `start` has dropped the other.
        (0..2u8).try_for_each(|at| world.send(&[at; 4], 1 - world.rank(), TAG))?;
        receive.finish()?;
        assert_eq!(receive.output(), [0; 4]);
        receive.run()?;
        assert_eq!(receive.output(), [1; 4]);
        world.barrier()
    }));
}

/// spec: 3
#[test]
fn active_operations_are_moved_swapped_dropped_and_forgotten() {
    all_well(outcomes(2, |world| {
        let operation = |value: u64| {
            world.allreduce_init((vec![value; LEN / 8], vec![0; LEN / 8]), Sum, &Info::new())
        };
        let (mut one, mut other) = (operation(1)?, operation(2)?);
        one.begin()?;
        swap(&mut one, &mut other);
        one.begin()?;
        let mut in_box = Box::new(replace(&mut one, operation(3)?));
        thread::scope(|threads| {
            let here = threads.spawn(|| other.finish().map(|()| other.output()[7]));
            let there = in_box.finish().map(|()| in_box.output()[7]);
            assert_eq!((here.join().expect("no panic")?, there?), (2, 4));
            Ok::<(), motet::Error>(())
        })?;
        one.begin()?;
        drop(one);
        let mut last = operation(4)?;
        last.begin()?;
        forget(last);
        let others: Vec<_> = (0..16).map(|_| vec![3u64; LEN / 8]).collect();
        (0..10).try_for_each(|_| world.barrier())?;
        assert!(others.iter().flatten().all(|&value| value == 3));
        Ok(())
    }));
}

#[test]
fn an_operation_that_has_failed_is_still_there() {
    all_well(outcomes(2, |world| {
        let other = 1 - world.rank();
        let mut receive = awaiting(world, 2)?;
        world.barrier()?;
        world.send(&[5u8; 3], other, TAG)?;
        for _ in 0..2 {
            let error = receive.finish().expect_err("three bytes do not fit into two");
            assert_eq!(error.class(), ErrorClass::Truncate, "{error}");
        }
        assert_eq!(receive.output(), [9; 2]);
        world.barrier()?;
        receive.begin()?;
        world.send(&[6u8; 2], other, TAG)?;
        receive.finish()?;
        assert_eq!(receive.output(), [6; 2]);
        // The same of a run that was started the other way.
        let running = receive.start()?;
        world.send(&[5u8; 3], other, TAG)?;
        let mut receive = running.into_operation();
        receive.finish().expect_err("three bytes do not fit into two");
        assert_eq!(receive.into_buffers(), [6; 2]);
        Ok(())
    }));
}

#[test]
fn a_run_ends_with_the_world_and_its_memory_is_free_then() {
    all_well(outcomes(2, |world| {
        let mut receive = awaiting(world, 4)?;
        let mut cancelled = awaiting(world, 4)?;
        cancelled.cancel()?;
        assert!(cancelled.finish_with_status()?.cancelled);
        world.barrier()?;
        world.leave()?;
        let error = receive.finish().expect_err("the rank has left");
        assert_eq!(error.class(), ErrorClass::ProcAborted, "{error}");
        receive.output_mut().fill(1);
        assert!(receive.begin().is_err() && !receive.is_active());
        assert_eq!((receive.into_buffers(), cancelled.into_buffers()), (vec![1; 4], vec![9; 4]));
        Ok(())
    }));
}

/// Sets of operations in fields: one that has not begun is complete, and is named by nobody.
#[test]
fn operations_in_fields_are_waited_for_in_sets() {
    all_well(outcomes(2, |world| {
        let mut idle = world.barrier_init(&Info::new())?;
        let mut sum = world.allreduce_init(vec![1u8], Sum, &Info::new())?;
        let mut barrier = world.barrier_init(&Info::new())?;
        assert!(idle.test()? && idle.finish().is_ok());
        assert_eq!(wait_any(&mut [&mut idle, &mut sum])?, None);
        for round in 1..4 {
            sum.begin()?;
            barrier.begin()?;
            let set: &mut [&mut dyn Pending] = &mut [&mut idle, &mut sum, &mut barrier];
            let first = wait_any(set)?.expect("two are under way");
            let second = wait_any(set)?.expect("one is left");
            assert_eq!((first.min(second), first.max(second), wait_any(set)?), (1, 2, None));
            wait_all(set)?;
            assert_eq!(sum.output(), [1 << round]);
        }
        let mut raw: raw::Request = {
            sum.begin()?;
            sum.into()
        };
        raw.wait()?;
        Ok(())
    }));
}
