//! One rank in the hands of several threads, and one buffer in several operations.

use std::sync::Arc;
use std::thread;

use motet::{Info, Sum, Tag, wait_all};

use super::support::{all_well, outcomes};

#[test]
fn threads_of_a_rank_send_and_receive_at_once() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        thread::scope(|threads| {
            for number in 0..4u32 {
                threads.spawn(move || {
                    for round in 0..50u64 {
                        let len = 1 << (round % 16);
                        let mut receive = vec![0u64; len];
                        let send = vec![round * 10 + u64::from(number); len];
                        let out = (&send[..], other, Tag(number));
                        world.sendrecv(out, (&mut receive, other, Tag(number))).expect("it works");
                        assert_eq!(send, receive);
                    }
                });
            }
        });
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn threads_of_a_rank_have_a_communicator_each() {
    let ended = outcomes(2, |world| {
        let copies: Vec<_> = (0..4).map(|_| world.dup()).collect::<Result<_, _>>()?;
        thread::scope(|threads| {
            for (number, copy) in copies.iter().enumerate() {
                threads.spawn(move || {
                    let mut run = copy
                        .allreduce_init(vec![number as u64; 100], Sum, &Info::new())
                        .expect("a right call");
                    for _ in 0..30 {
                        run.output_mut().fill(number as u64);
                        run.run().expect("it works");
                        assert_eq!(run.output(), [2 * number as u64; 100]);
                        let sum = copy.iallreduce(vec![1u64; 3000], Sum).expect("a right call");
                        assert!(sum.wait().expect("it works").iter().all(|at| *at == 2));
                    }
                });
            }
        });
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn requests_are_waited_for_by_other_threads() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        for len in [1, 1000, 100_000] {
            let receive = world.irecv(vec![0u64; len], other, Tag(1))?;
            let send = world.isend(vec![5u64; len], other, Tag(1))?;
            let [receive, send] =
                [receive, send].map(|request| thread::spawn(move || request.wait()));
            let received = receive.join().expect("it does not panic")?;
            assert!(received == vec![5; len] && send.join().is_ok_and(|sent| sent.is_ok()));
        }
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_persistent_operation_wanders_between_threads() {
    let ended = outcomes(2, |world| {
        let mut run = world.allreduce_init((vec![1u64; 10], vec![0u64; 10]), Sum, &Info::new())?;
        for round in 1..20u64 {
            run.input_mut().fill(round);
            let running = run.start()?;
            run = thread::spawn(move || running.wait()).join().expect("it does not panic")?;
            assert_eq!(run.output(), [2 * round; 10]);
        }
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_shared_input_is_read_by_many_operations() {
    let shared: Arc<[u64]> = Arc::from(vec![3u64; 20_000]);
    let ended = outcomes(3, |world| {
        let room = || vec![0u64; 20_000];
        let mut one = world.iallreduce((shared.clone(), room()), Sum)?;
        let mut two = world.iallreduce((shared.clone(), room()), Sum)?;
        let mut three = world.iscan((shared.clone(), room()), Sum)?;
        wait_all(&mut [&mut one, &mut two, &mut three])?;
        assert_eq!(one.wait()?.1[..], [9; 20_000]);
        assert_eq!(two.wait()?.1[..], [9; 20_000]);
        assert_eq!(three.wait()?.1[..], vec![3 * (world.rank() as u64 + 1); 20_000]);
        Ok(())
    });
    all_well(ended);
    assert!(shared.iter().all(|at| *at == 3), "an input is not written");
}

#[test]
fn an_input_is_read_while_it_is_sent() {
    let ended = outcomes(2, |world| {
        for len in [3, 1000, 100_000] {
            let buffers = (vec![2u64; len], vec![0u64; len]);
            let mut run = world.allreduce_init(buffers, Sum, &Info::new())?;
            for _ in 0..5 {
                let running = run.start()?;
                assert!(running.input().iter().all(|at| *at == 2));
                run = running.wait()?;
                assert!(run.output().iter().all(|at| *at == 4));
            }
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn a_world_is_dropped_by_another_thread() {
    let _watchdog = crate::worlds::Watchdog::start();
    let ended = motet::threads(2, |world| {
        world.barrier()?;
        thread::spawn(move || world.barrier()).join().expect("it does not panic")
    });
    all_well(ended);
}

#[test]
fn worlds_within_worlds_do_not_meet() {
    let ended = outcomes(2, |world| {
        let inner = motet::threads(2, |inner| {
            let mut sum = [0];
            inner.allreduce(&[inner.rank() + 10], &mut sum, Sum)?;
            Ok::<_, motet::Error>(sum[0])
        })?;
        let mut sum = [0];
        world.allreduce(&[world.rank()], &mut sum, Sum)?;
        assert_eq!(sum, [1]);
        inner.into_iter().collect::<motet::Result<Vec<_>>>()
    });
    for inner in ended.expect("a world") {
        assert_eq!(inner.expect("it works"), [21, 21]);
    }
}
