//! What outlives its world, its scope or its request, and what is forgotten.

use std::mem::forget;

use motet::{BufferRoom, Info, Request, Sum, Tag};

use super::support::{all_well, outcomes, panic_of};
use crate::worlds::Watchdog;

#[test]
fn requests_outlive_their_world() {
    let _watchdog = Watchdog::start();
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        let send = world.isend(vec![3u64; 1 << 18], other, Tag(1))?;
        let receive = world.irecv(vec![0u64; 1 << 18], other, Tag(1))?;
        Ok((send, receive))
    });
    let own = vec![77u64; 1 << 18];
    for requests in ended.expect("a world") {
        let (mut send, mut receive): (Request<Vec<u64>>, _) = requests.expect("they have begun");
        drop((send.test(), receive.test()));
        drop((send, receive));
    }
    assert!(own.iter().all(|at| *at == 77));
}

#[test]
fn requests_are_dropped_after_their_world() {
    let _watchdog = Watchdog::start();
    let ended = outcomes(3, |world| world.iallreduce(vec![1u64; 1 << 16], Sum));
    drop(ended);
}

#[test]
fn persistent_operations_outlive_their_world() {
    let ended = outcomes(2, |world| world.allreduce_init(vec![1u64; 100], Sum, &Info::new()));
    let operations: Vec<_> = ended.expect("a world").into_iter().map(Result::unwrap).collect();
    for mut operation in operations {
        assert_eq!(operation.output(), [1; 100]);
        operation.output_mut().fill(4);
        // Nobody is there for it any more. It may be started, and then ends with an error; it must
        // not wait for ever, which the watchdog of the next world would not see.
        assert_eq!(operation.into_buffers(), [4; 100]);
    }
}

#[test]
fn memory_of_a_world_outlives_it() {
    let ended = outcomes(2, |world| {
        let mut memory = world.allocate(1 << 16, world.rank() as u64);
        memory[0] = 17;
        Ok(memory)
    });
    let mut all: Vec<_> = ended.expect("a world").into_iter().map(Result::unwrap).collect();
    for (rank, memory) in all.iter_mut().enumerate() {
        assert!(memory[0] == 17 && memory[1..].iter().all(|at| *at == rank as u64));
        memory.fill(5);
    }
    // Another world may get the same memory only when this has been given back.
    let next = outcomes(2, |world| {
        let other = world.allocate(1 << 16, 0u64);
        world.barrier()?;
        Ok(other)
    });
    assert!(next.expect("a world").into_iter().all(|other| other.is_ok_and(|at| at[7] == 0)));
    assert!(all.iter().all(|memory| memory.iter().all(|at| *at == 5)));
}

#[test]
fn communicators_completers_and_messages_outlive_their_world() {
    let ended = outcomes(2, |world| {
        world.send(&[1u8; 3000], 1 - world.rank(), Tag(1))?;
        let message = world.mprobe(1 - world.rank(), Tag(1))?;
        let (request, completer) = world.generalized();
        world.barrier()?;
        Ok((world.dup()?, message, request, completer))
    });
    for kept in ended.expect("a world") {
        let (copy, message, request, completer) = kept.expect("all calls are right");
        assert_eq!(copy.size(), 2);
        let mut buffer = [0u8; 3000];
        let received = message.mrecv(&mut buffer);
        assert!(received.is_err() || buffer == [1; 3000]);
        drop(completer.complete());
        drop(request.wait());
        drop(copy);
    }
}

#[test]
fn a_buffer_of_buffered_sends_ends_with_its_world() {
    let ended = outcomes(2, |world| {
        world.attach_buffer(BufferRoom::Bytes(1 << 16))?;
        for _ in 0..10 {
            world.bsend(&[world.rank() as u64; 100], 1 - world.rank(), Tag(1))?;
        }
        let mut buffer = [9u64; 100];
        for _ in 0..10 {
            world.recv(&mut buffer, 1 - world.rank(), Tag(1))?;
            assert_eq!(buffer, [1 - world.rank() as u64; 100]);
        }
        Ok(())
    });
    all_well(ended);
}

#[test]
fn what_is_forgotten_keeps_its_buffers() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        forget(world.irecv(vec![0u64; 5000], other, Tag(1))?);
        forget(world.iallreduce(vec![1u64; 5000], Sum)?);
        forget(world.allreduce_init(vec![1u64; 5000], Sum, &Info::new())?.start()?);
        forget(world.isparse_exchange(vec![(other, vec![1u64; 5000])])?);
        // New memory of the same size: it must not be what the forgotten operations write to.
        let own: Vec<Vec<u64>> = (0..8).map(|_| vec![77; 5000]).collect();
        world.send(&[6u64; 5000], other, Tag(1))?;
        world.barrier()?;
        world.barrier()?;
        assert!(own.iter().all(|buffer| buffer.iter().all(|at| *at == 77)));
        Ok(())
    });
    all_well(ended);
}

#[test]
fn a_forgotten_request_of_a_scope_is_waited_for() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        let mut buffer = [0u64; 5000];
        world.scope(|scope| {
            forget(scope.irecv(&mut buffer[..], other, Tag(1))?);
            world.send(&[6u64; 5000], other, Tag(1))
        })?;
        assert_eq!(buffer, [6; 5000]);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn forgotten_phases_keep_their_buffers() {
    let ended = outcomes(2, |world| {
        let mut phases = world.phases()?;
        let mut outer = phases.allreduce_begin(vec![1u64; 3000], Sum)?;
        forget(outer.bcast_begin(vec![7u64; 3000], 0)?);
        let own = vec![77u64; 3000];
        let sum = outer.end()?;
        assert!(sum.iter().all(|at| *at == 2) && own.iter().all(|at| *at == 77));
        forget(phases);
        assert!(world.phases().is_err(), "the root was never given back");
        world.barrier()
    });
    all_well(ended);
}

/// Fills the stack where a frame has just been; returns what it finds there later.
#[inline(never)]
fn over_the_stack(between: impl FnOnce()) -> Vec<u64> {
    let frame = std::hint::black_box([77u64; 6000]);
    between();
    std::hint::black_box(&frame).to_vec()
}

#[test]
fn a_scope_that_panics_gives_its_buffers_up() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        if world.rank() == 0 {
            let unwound = panic_of(|| {
                let mut buffer = [0u64; 5000];
                world.scope(|scope| {
                    let _pending = scope.irecv(&mut buffer[..], other, Tag(1))?;
                    if world.size() == 2 {
                        panic!("on purpose");
                    }
                    Ok(())
                })
            });
            assert_eq!(unwound.as_deref(), Some("on purpose"));
            let frame = over_the_stack(|| {
                world.send(&[1u8], other, Tag(2)).expect("rank 1 lives");
                world.recv(&mut [0u8], other, Tag(3)).expect("rank 1 lives");
                world.iprobe(other, Tag(9)).expect("it moves the engine");
            });
            assert!(frame.iter().all(|at| *at == 77), "written after it was given up");
            let mut late = [0u64; 5000];
            world.recv(&mut late, other, Tag(1))?;
            assert_eq!(late, [6; 5000]);
        } else {
            world.recv(&mut [0u8], other, Tag(2))?;
            let pending = world.isend(vec![6u64; 5000], other, Tag(1))?;
            world.send(&[1u8], other, Tag(3))?;
            pending.wait()?;
        }
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_dropped_receive_writes_into_memory_of_its_own() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        for len in [1, 100, 5000, 1 << 17] {
            drop(world.irecv(vec![0u64; len], other, Tag(1))?);
            let own = vec![77u64; len];
            world.barrier()?;
            let sent = world.isend(vec![6u64; len], other, Tag(1))?;
            world.barrier()?;
            assert!(own.iter().all(|at| *at == 77));
            // A dropped receive may have taken the message, or have left it.
            drop(sent);
            if world.iprobe(other, Tag(1))?.is_some() {
                world.recv(&mut vec![0u64; len], other, Tag(1))?;
            }
            world.barrier()?;
        }
        Ok(())
    });
    all_well(ended);
}
