//! Handles used again, too late, or elsewhere.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use motet::{ANY_SOURCE, ANY_TAG, Info, Sum, Tag, raw, wait_any};

use super::support::{all_well, outcomes, panic_of};

/// Polls until it is ready.
fn awaited<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_run_that_was_awaited_gives_its_operation_back_once() {
    let ended = outcomes(2, |world| {
        let sum = world.allreduce_init(vec![1u64], Sum, &Info::new())?;
        let mut running = sum.start()?;
        let mut again = awaited(Pin::new(&mut running))?;
        // A second handle of the operation could start it while the first one lends its buffers.
        let refused = panic_of(|| running.wait().map(|second| second.start().is_ok()));
        assert!(refused.is_some_and(|text| text.contains("awaited")));
        again.output_mut()[0] = 5;
        again.run()?;
        assert_eq!(again.output(), [10]);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_run_that_was_awaited_is_no_raw_request() {
    let ended = outcomes(2, |world| {
        let mut running = world.allreduce_init(vec![1u64], Sum, &Info::new())?.start()?;
        let again = awaited(Pin::new(&mut running))?;
        assert!(panic_of(|| raw::Request::from(running)).is_some());
        drop(again);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_request_that_was_awaited_gives_its_buffer_once() {
    let ended = outcomes(2, |world| {
        let mut request = world.iallreduce(vec![1u64], Sum)?;
        assert_eq!(awaited(Pin::new(&mut request))?, [2]);
        assert!(panic_of(|| request.wait()).is_some());
        let mut request = world.iallreduce(vec![1u64], Sum)?;
        assert_eq!(awaited(Pin::new(&mut request))?, [2]);
        assert!(panic_of(|| awaited(Pin::new(&mut request))).is_some());
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn an_exchange_that_was_awaited_gives_its_messages_once() {
    let ended = outcomes(2, |world| {
        let mut request = world.isparse_exchange(vec![(0, vec![world.rank() as u32; 3])])?;
        let first = awaited(Pin::new(&mut request))?;
        assert_eq!(first.len(), if world.rank() == 0 { 2 } else { 0 });
        let again = panic_of(|| request.wait().map(|messages| assert!(messages.is_empty())));
        assert!(again.is_none_or(|text| text.contains("once")));
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_request_may_leave_its_scope_and_be_asked_afterwards() {
    let ended = outcomes(2, |world| {
        let mut sum = [1u64; 3];
        let mut request = world.scope(|scope| scope.iallreduce(&mut sum[..], Sum))?;
        // Other operations use the same slots of the engine meanwhile.
        for round in 0..20u64 {
            assert_eq!(world.iallreduce(vec![round], Sum)?.wait()?, [2 * round]);
        }
        assert!(request.test()?);
        assert_eq!(request.wait()?, [2, 2, 2]);
        let mut other = [0u64; 3];
        let request = world.scope(|scope| scope.ibcast(&mut other[..], 0))?;
        let pending = world.iallreduce(vec![1u64], Sum)?;
        drop(request);
        assert_eq!(pending.wait()?, [2]);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_message_request_may_leave_its_scope_and_be_asked_afterwards() {
    let ended = outcomes(2, |world| {
        let other = 1 - world.rank();
        let mut buffer = [0u64; 3];
        let request = world.scope(|scope| {
            scope.isend(&[7u64; 3][..], other, Tag(1))?.wait()?;
            scope.irecv(&mut buffer[..], other, Tag(1))
        })?;
        for round in 0..20u64 {
            assert_eq!(world.iallreduce(vec![round], Sum)?.wait()?, [2 * round]);
        }
        let (buffer, status) = request.wait_with_status()?;
        assert!(buffer == [7; 3] && status.source <= 1);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn requests_of_two_ranks_are_no_set() {
    let given = Mutex::new(None);
    let ended = outcomes(2, |world| {
        if world.rank() == 1 {
            *given.lock().expect("nobody panics") = Some(world.irecv(vec![0u8], 0, Tag(1))?);
            world.barrier()?;
            drop(world.barrier());
            return Ok(());
        }
        world.barrier()?;
        let mut theirs = given.lock().expect("nobody panics").take().expect("rank 1 has begun");
        let mut own = world.irecv(vec![0u8], 1, Tag(1))?;
        let named = panic_of(|| wait_any(&mut [&mut own, &mut theirs]));
        assert!(named.is_some_and(|text| text.contains("one rank")));
        // A panic inside of the library may have ended the rank.
        drop(world.barrier());
        Ok(())
    });
    all_well(ended);
}

#[test]
fn raw_requests_that_are_used_in_the_wrong_state_are_refused() {
    let ended = outcomes(2, |world| {
        let mut request = raw::Request::from(world.iallreduce(vec![1u64], Sum)?);
        assert!(request.start().is_err(), "it is not persistent");
        request.wait()?;
        assert!(request.is_null() && request.start().is_err());
        request.wait()?;
        let persistent = world.allreduce_init(vec![1u64], Sum, &Info::new())?;
        let mut request = raw::Request::from(persistent);
        request.start()?;
        assert!(request.start().is_err(), "it is running");
        request.wait()?;
        request.free()?;
        assert!(request.start().is_err(), "it is freed");
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_message_that_was_taken_can_be_received_by_another_thread() {
    let ended = outcomes(2, |world| {
        world.send(&[world.rank() as u64; 1000], 1 - world.rank(), Tag(4))?;
        let message = world.mprobe(ANY_SOURCE, ANY_TAG)?;
        let from = message.status().source;
        let received = std::thread::spawn(move || {
            let mut buffer = [9u64; 1000];
            message.mrecv(&mut buffer).map(|_| buffer)
        });
        let received = received.join().expect("it does not panic")?;
        assert_eq!(received, [from as u64; 1000]);
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_scope_of_another_rank_takes_no_message() {
    let taken = Mutex::new(Vec::new());
    let ended = outcomes(2, |world| {
        world.send(&[world.rank() as u64; 3], world.rank(), Tag(4))?;
        let message = world.mprobe(ANY_SOURCE, ANY_TAG)?;
        world.barrier()?;
        taken.lock().expect("nobody panics").push((world.rank(), message));
        world.barrier()?;
        let list = std::mem::take(&mut *taken.lock().expect("nobody panics"));
        for (rank, message) in list {
            let buffer = vec![9u64; 3];
            if rank == world.rank() {
                let received = world.scope(|scope| scope.imrecv(message, buffer)?.wait());
                assert_eq!(received?, [rank as u64; 3]);
            } else {
                let named = panic_of(|| world.scope(|scope| scope.imrecv(message, buffer)?.wait()));
                assert!(named.is_some_and(|text| text.contains("the rank that it came to")));
            }
        }
        world.barrier()
    });
    all_well(ended);
}

#[test]
fn a_completer_may_complete_as_often_as_it_likes() {
    let ended = outcomes(1, |world| {
        let (request, done) = world.generalized();
        let other = done.clone();
        done.complete()?;
        other.complete()?;
        request.wait()?;
        let (next, _completer) = world.generalized();
        other.complete()?; // must not end the next one, which has the same slot
        let mut next = next;
        assert!(!next.test()?);
        _completer.complete()?;
        next.wait()
    });
    all_well(ended);
}
