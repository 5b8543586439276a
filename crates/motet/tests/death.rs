//! Ranks that die or leave: whoever waits for them is told, in every way of waiting.

mod worlds;

use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use std::{mem, sync};

use motet::op::ordered;
use motet::{
    ANY_SOURCE, ANY_TAG, Error, ErrorKind, How, Info, Result, Sum, Tag, World, test_all, test_any,
    test_some, wait_all, wait_any,
};
use worlds::{Watchdog, on_ranks};

const TAG: Tag = Tag(1);

/// How long it may take until a death is known.
const SOON: Duration = Duration::from_secs(1);

/// Runs the last rank as `last`, the others as `others`, which must come to an end soon after it
/// has panicked; says what they found.
fn when_the_last_panics(
    ranks: usize,
    last: impl Fn(&World) + Sync,
    others: impl Fn(&World) -> Result<()> + Sync,
) {
    let _watchdog = Watchdog::with(Duration::from_secs(20));
    let found = sync::Mutex::new(Vec::new());
    let died = sync::OnceLock::new();
    let ended = motet::threads(ranks, |world| {
        if world.rank() + 1 == ranks {
            last(&world);
            died.get_or_init(Instant::now);
            panic!("on purpose");
        }
        let error = others(&world).expect_err("nobody can complete");
        let late = died.get().map_or(Duration::ZERO, Instant::elapsed);
        assert!(late < SOON, "known only after {late:?}");
        found.lock().expect("no panic under the lock").push(error);
    });
    for error in found.into_inner().expect("no panic under the lock") {
        is_panic_of(ranks - 1, &error);
    }
    is_panic_of(ranks - 1, &ended.expect_err("a rank has died"));
}

#[track_caller]
fn is_panic_of(rank: usize, error: &Error) {
    match error.kind() {
        ErrorKind::PeerFailed(failure) => {
            assert_eq!((failure.rank.index(), failure.how), (rank, How::Panic), "{error}");
        }
        _ => panic!("not the death of a rank: {error}"),
    }
}

/// Waits for a future by parking this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    block_on_telling(future, || {})
}

/// The same; calls `tell` once it has looked in vain, before it parks for the first time.
fn block_on_telling<F: Future>(future: F, tell: impl FnOnce()) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut tell) = (pin!(future), Some(tell));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => {
                tell.take().into_iter().for_each(|tell| tell());
                thread::park();
            }
        }
    }
}

/// A way to wait for something that the last rank never does.
type Wait = fn(&World) -> Result<()>;

/// All ways to wait. The last rank of the world is the one that fails to do its part.
const WAITS: [(&str, Wait); 14] = [
    ("recv", |world| world.recv(&mut [0u8], world.size() - 1, TAG).map(drop)),
    ("recv from anybody", |world| world.recv(&mut [0u8], ANY_SOURCE, ANY_TAG).map(drop)),
    ("large send", |world| world.send(&vec![0u8; 1 << 20], world.size() - 1, TAG)),
    ("barrier", |world| world.barrier()),
    ("allreduce", |world| world.allreduce_one(1, Sum).map(drop)),
    ("request", |world| world.iallreduce(vec![1], Sum)?.wait().map(drop)),
    ("persistent", |world| {
        world.allreduce_init(vec![1], Sum, &Info::new())?.start()?.wait().map(drop)
    }),
    ("run", |world| world.barrier_init(&Info::new())?.run()),
    ("wait_all", |world| wait_all(&mut [&mut world.ibarrier()?, &mut world.ibarrier()?])),
    ("wait_any", |world| {
        let mut pending = world.ibarrier()?;
        assert_eq!(wait_any(&mut [&mut pending])?, Some(0));
        pending.wait()
    }),
    ("future", |world| block_on(world.ibarrier()?)),
    ("scope", |world| {
        let mut buffer = [1u8];
        world.scope(|scope| scope.iallreduce(&mut buffer[..], Sum).map(drop))
    }),
    ("probe", |world| world.probe(world.size() - 1, TAG).map(drop)),
    ("iprobe", |world| {
        loop {
            world.iprobe(world.size() - 1, TAG)?;
            thread::yield_now();
        }
    }),
];

/// Ways to look again and again.
const POLLED_WAITS: [(&str, Wait); 4] = [
    ("test", |world| {
        let mut pending = world.ibarrier()?;
        while !pending.test()? {}
        Ok(())
    }),
    ("test_any", |world| {
        let mut pending = world.ibarrier()?;
        while test_any(&mut [&mut pending])?.is_none() {}
        pending.wait()
    }),
    ("test_some", |world| {
        let mut pending = world.ibarrier()?;
        while test_some(&mut [&mut pending])?.is_empty() {}
        pending.wait()
    }),
    ("test_all", |world| {
        let mut pending = world.ibarrier()?;
        while !test_all(&mut [&mut pending])? {}
        pending.wait()
    }),
];

/// spec: 9
#[test]
fn a_panic_ends_every_wait_of_the_others() {
    for (name, wait) in WAITS.into_iter().chain(POLLED_WAITS) {
        for pause in [Duration::ZERO, Duration::from_millis(15)] {
            eprintln!("{name} after {pause:?}");
            when_the_last_panics(2, |_| thread::sleep(pause), wait);
        }
        when_the_last_panics(4, |_| thread::sleep(Duration::from_millis(5)), wait);
    }
}

/// spec: 49
#[test]
fn a_rank_that_leaves_ends_every_wait_for_it() {
    for (name, wait) in WAITS.into_iter().chain(POLLED_WAITS) {
        for pause in [0, 15] {
            eprintln!("{name} after {pause} ms");
            let ended = on_ranks(2, |world| {
                if world.rank() == 1 {
                    thread::sleep(Duration::from_millis(pause));
                    return Ok(None);
                }
                Ok(wait(world).err())
            });
            let error = ended.into_iter().next().flatten().expect(name);
            assert!(matches!(error.kind(), ErrorKind::PeerLeft { rank: 1 }), "{name}: {error}");
        }
    }
}

/// What a rank sent before it left is not lost.
#[test]
fn what_was_sent_before_leaving_arrives() {
    for round in 0..300 {
        on_ranks(2, |world| {
            let mut bcast = world.bcast_init(vec![1 - world.rank(); 5], 0, &Info::new())?;
            if world.rank() == 1 && round % 3 == 0 {
                thread::sleep(Duration::from_micros(100));
            }
            bcast.run()?;
            assert_eq!(bcast.output(), [1; 5]);
            Ok(())
        });
    }
}

/// spec: 9
#[test]
fn a_panic_inside_a_scope_is_known_to_the_others() {
    let last = |world: &World| {
        let mut buffer = [0u8; 100];
        let ended = world.scope(|scope| -> Result<()> {
            drop(scope.irecv(&mut buffer[..], 0, TAG)?);
            panic!("in a scope, on purpose")
        });
        ended.unwrap();
    };
    when_the_last_panics(2, last, |world| world.barrier());
}

/// A request that was forgotten keeps its rank alive; the death must be known nevertheless.
#[test]
fn a_panic_is_known_although_something_was_forgotten() {
    let last = |world: &World| mem::forget(world.irecv(vec![0u8], 0, TAG).unwrap());
    when_the_last_panics(2, last, |world| world.barrier());
}

/// spec: 9
#[test]
fn a_hundred_thousand_requests_end_soon_after_a_death() {
    let others = |world: &World| {
        let begun: Vec<_> =
            (0..100_000).map(|_| world.irecv(vec![0u8], 1, TAG)).collect::<Result<_>>()?;
        let mut first = Ok(());
        for request in begun {
            first = first.and(request.wait().map(drop));
        }
        first
    };
    when_the_last_panics(2, |_| thread::sleep(Duration::from_millis(300)), others);
}

/// spec: 67
#[test]
fn after_a_death_everything_is_an_error_and_nothing_panics() {
    let others = |world: &World| {
        let mut sum = world.allreduce_init(vec![1], Sum, &Info::new())?;
        let idle = world.barrier_init(&Info::new())?;
        is_panic_of(1, &sum.run().unwrap_err());
        is_panic_of(1, &sum.run().unwrap_err());
        is_panic_of(1, &sum.start().and_then(|running| running.wait()).unwrap_err());
        is_panic_of(1, &idle.start().and_then(|running| running.wait()).unwrap_err());
        is_panic_of(1, &world.dup().unwrap_err());
        is_panic_of(1, &world.split(Some(1), 0).unwrap_err());
        is_panic_of(1, &world.iallreduce(vec![1], Sum).and_then(|each| each.wait()).unwrap_err());
        world.barrier()
    };
    when_the_last_panics(2, |_| {}, others);
}

/// An operator of the user that panics.
fn panics(left: u32, _right: u32) -> u32 {
    assert_eq!(left, u32::MAX, "an operator panics on purpose");
    left
}

/// A panic in an operator is a panic of the rank, wherever it came up: here in a blocking receive
/// that has nothing to do with it, whose panic is caught.
///
/// spec: 80
#[test]
fn a_panicking_operator_ends_its_rank_even_if_the_panic_is_caught() {
    let _watchdog = Watchdog::start();
    let begun = sync::Barrier::new(2);
    let ended = motet::threads(2, |world| {
        if world.rank() == 0 {
            // The other's call is over before there is anything for its operator.
            begun.wait();
            return world.allreduce(&[0u32], &mut [0], ordered(|left, _| left)).and_then(|()| {
                world.send(&[1u8; 100], 1, TAG)?;
                world.recv(&mut [0u8], 1, TAG).map(drop)
            });
        }
        let _pending = world.iallreduce(vec![0u32], ordered(panics));
        begun.wait();
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            let mut short_lived = vec![0u8; 100];
            world.recv(&mut short_lived, 0, TAG).map(drop)
        }));
        assert!(caught.is_err(), "the operator has panicked in the receive");
        world.barrier()
    });
    for result in ended.unwrap() {
        is_panic_of(1, &result.unwrap_err());
    }
}

/// A rank that has not been told of a death yet starts an operation that another one has given up.
/// What it sends then meets no operation that the other rank has made since.
///
/// spec: 9
#[test]
fn a_start_by_a_rank_that_knows_of_no_death_meets_no_other_operation() {
    let _watchdog = Watchdog::start();
    let (is_run, turn) = (sync::Barrier::new(3), sync::Barrier::new(2));
    let right = AtomicU32::new(0);
    let ended = motet::threads(3, |world| {
        let pair = world.split((world.rank() < 2).then_some(0), 0).unwrap();
        let gathered = vec![0; if world.rank() == 0 { 3 } else { 0 }];
        let mut among_all = world.gather_init((vec![7u64], gathered), 0, &Info::new()).unwrap();
        (0..2).for_each(|_| among_all.run().unwrap());
        is_run.wait();
        let Some(pair) = pair else { panic!("on purpose") };
        let is_told = world.rank() == 0;
        if is_told {
            is_panic_of(2, &world.barrier().unwrap_err());
            drop(among_all);
        } else {
            turn.wait();
            among_all.run().expect("this rank has not been told");
            turn.wait();
        }
        // As many channels as those of the two others that `among_all` had.
        let init = || pair.allgather_init((vec![0u64], vec![0; 2]), &Info::new()).unwrap();
        let mut among_two = [init(), init()];
        if is_told {
            turn.wait();
            turn.wait();
        }
        for (round, nth) in (0..8).flat_map(|round| [(round, 0), (round, 1)]) {
            if !is_told {
                // The other looks for this rank's message before it is there.
                thread::sleep(Duration::from_millis(1));
            }
            among_two[nth].input_mut()[0] = round;
            among_two[nth].run().unwrap();
            assert_eq!(*among_two[nth].output(), [round; 2]);
        }
        right.fetch_add(1, Ordering::Relaxed);
    });
    is_panic_of(2, &ended.expect_err("a rank has died"));
    assert_eq!(right.load(Ordering::Relaxed), 2, "both have received what was sent");
}

/// Calls of an operator that panics on purpose.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Panics where the data say so.
fn panics_at_one(left: u32, _right: u32) -> u32 {
    if left == 1 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        panic!("an operator panics on purpose");
    }
    left
}

/// The operator is called by the start, whose panic is caught, and not again by the next ones.
///
/// spec: 80
#[test]
fn an_operation_whose_operator_has_panicked_does_not_start_again() {
    let _watchdog = Watchdog::start();
    let begun = sync::Barrier::new(2);
    let ended = motet::threads(2, |world| {
        let first: fn(u32, u32) -> u32 = |left, _| left;
        let op = if world.rank() == 0 { first } else { panics_at_one };
        let mut sum = world.allreduce_init((vec![0], vec![0]), ordered(op), &Info::new())?;
        sum.run()?;
        sum.input_mut()[0] = 1;
        if world.rank() == 0 {
            let running = sum.start()?;
            begun.wait();
            // All that it needs may have come before the panic.
            drop(running.wait());
            return world.barrier();
        }
        begun.wait();
        let caught = panic::catch_unwind(AssertUnwindSafe(|| sum.run()));
        assert!(caught.is_err(), "the operator has panicked in the start");
        is_panic_of(1, &sum.run().unwrap_err());
        is_panic_of(1, &sum.start().and_then(|running| running.wait()).unwrap_err());
        world.barrier()
    });
    for result in ended.unwrap() {
        is_panic_of(1, &result.unwrap_err());
    }
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
}

/// spec: 80
#[test]
fn an_operator_that_panics_while_nobody_waits_ends_its_rank() {
    let _watchdog = Watchdog::start();
    let parks = sync::Barrier::new(2);
    let ended = motet::threads(2, |world| {
        if world.rank() == 0 {
            // The other has looked in vain: it looks again only when it is woken.
            parks.wait();
            return block_on(world.iallreduce(vec![0u32], ordered(|left, _| left)).unwrap());
        }
        let pending = world.iallreduce(vec![0u32], ordered(panics)).unwrap();
        block_on_telling(pending, || {
            parks.wait();
        })
    });
    match ended {
        Ok(results) => is_panic_of(1, results[1].as_ref().unwrap_err()),
        Err(error) => is_panic_of(1, &error),
    }
}
