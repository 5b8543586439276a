//! Requests and persistent operations: order, completion, misuse, and many at once.

mod worlds;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{mem, thread};

use motet::{
    ANY_SOURCE, ANY_TAG, Error, ErrorClass, Info, Max, Pending, Persistent, Request, Result,
    Settings, Sum, Tag, World, start_all, test_all, test_any, test_some, wait_all, wait_any,
    wait_some,
};
use worlds::{Random, on_ranks, on_ranks_with};

const TAG: Tag = Tag(3);

/// Far less than the pause of [`while_others_sleep`], and more than a start takes anywhere.
const AT_ONCE: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(600);

/// Runs `starts` on rank 0 while the others sleep; it must not wait for them.
fn while_others_sleep<T>(world: &World, starts: impl FnOnce() -> Result<T>) -> Result<T> {
    if world.rank() != 0 {
        thread::sleep(PAUSE);
        return starts();
    }
    let begun = Instant::now();
    let started = starts()?;
    assert!(begun.elapsed() < AT_ONCE, "the starts took {:?}", begun.elapsed());
    Ok(started)
}

/// What a dropped operation took is used by the next one, which must not take itself for it.
///
/// spec: 24, 41
#[test]
fn a_dropped_persistent_operation_leaves_nothing_to_the_next() {
    on_ranks(2, |world| {
        for round in 0..20 {
            drop(world.allreduce_init(vec![round; 3], Sum, &Info::new())?.start()?);
            world.barrier()?;
            let mut next = world.allreduce_init(vec![round; 3], Sum, &Info::new())?;
            next.run()?;
            assert_eq!(next.output(), [2 * round; 3]);
        }
        Ok(())
    });
}

/// spec: 1, 2, 18
#[test]
fn starts_wait_for_nobody() {
    on_ranks(3, |world| {
        let big = vec![world.rank() as u64; 1 << 20];
        let (me, ranks) = (world.rank(), world.size());
        let (next, last) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        let (big, all, swap, barrier) = while_others_sleep(world, || {
            let big = world.iallreduce(big, Sum)?;
            let all = world.iallgather((vec![me], vec![0; ranks]))?;
            let swap = world.iexchange((vec![me; 5000], vec![0; 5000]), &[next], &[last])?;
            Ok((big, all, swap, world.ibarrier()?))
        })?;
        barrier.wait()?;
        assert_eq!(swap.wait()?.1, vec![last; 5000]);
        assert_eq!(all.wait()?.1, [0, 1, 2]);
        assert!(big.wait()?.iter().all(|&sum| sum == 3));
        Ok(())
    });
}

/// spec: 1, 39
#[test]
fn inits_and_persistent_starts_wait_for_nobody() {
    on_ranks(2, |world| {
        let (sum, barrier) = while_others_sleep(world, || {
            let sum = world.allreduce_init(vec![1u32; 3000], Sum, &Info::new())?;
            let barrier = world.barrier_init(&Info::new())?;
            start_all((sum, barrier))
        })?;
        barrier.wait()?;
        assert_eq!(sum.wait()?.output(), [2; 3000]);
        Ok(())
    });
}

/// spec: 25, 103
#[test]
fn a_barrier_waits_for_the_last() {
    for ranks in [2, 3, 5, 8] {
        let entered = AtomicUsize::new(0);
        on_ranks(ranks, |world| {
            let mut persistent = world.barrier_init(&Info::new())?;
            for round in 0..30 {
                if round % ranks == world.rank() {
                    thread::sleep(Duration::from_millis(1));
                }
                entered.fetch_add(1, Ordering::SeqCst);
                match round % 3 {
                    0 => world.barrier()?,
                    1 => drop(world.ibarrier()?.wait()?),
                    _ => persistent = persistent.start()?.wait()?,
                }
                let seen = entered.load(Ordering::SeqCst);
                assert!(seen >= ranks * (round + 1), "left when {seen} had entered");
            }
            Ok(())
        });
    }
}

/// spec: 16
#[test]
fn wildcard_receives_take_nothing_of_a_collective() {
    on_ranks(3, |world| {
        let wild = world.irecv(vec![0u32; 4], ANY_SOURCE, ANY_TAG)?;
        for round in 0..50 {
            assert_eq!(world.allreduce_one(round, Sum)?, 3 * round);
            world.barrier()?;
        }
        assert_eq!(world.iprobe(ANY_SOURCE, ANY_TAG)?, None);
        let next = (world.rank() + 1) % 3;
        world.send(&[7u32], next, TAG)?;
        let (data, status) = wild.wait_with_status()?;
        assert_eq!((data[0], status.source, status.tag), (7, (world.rank() + 2) % 3, TAG));
        assert_eq!(status.count::<u32>(), Some(1));
        Ok(())
    });
}

/// spec: 10, 12, 19
#[test]
fn overlapping_communicators_in_opposite_orders() {
    on_ranks(3, |world| {
        let first = world.split((world.rank() != 2).then_some(0), 0)?;
        let second = world.split((world.rank() != 0).then_some(0), 0)?;
        let third = world.split((world.rank() != 1).then_some(0), 0)?;
        for _ in 0..100 {
            // A ring of pairs; with blocking calls everybody would wait for the next.
            let pair = match world.rank() {
                0 => [&first, &third],
                1 => [&second, &first],
                _ => [&third, &second],
            };
            let begun: Vec<Request<Vec<i64>>> = pair
                .iter()
                .map(|comm| comm.as_ref().expect("a member").iallreduce(vec![1i64; 700], Sum))
                .collect::<Result<_>>()?;
            for request in begun {
                assert_eq!(request.wait()?, [2; 700]);
            }
        }
        Ok(())
    });
}

/// spec: 20, 25
#[test]
fn nonblocking_calls_on_a_communicator_without_the_first_rank() {
    on_ranks(3, |world| {
        let Some(rest) = world.split((world.rank() > 0).then_some(1), 0)? else { return Ok(()) };
        assert_eq!(rest.iallreduce(vec![rest.rank()], Sum)?.wait()?, [1]);
        rest.ibarrier()?.wait()?;
        let sum = rest.allreduce_init(vec![1u8], Sum, &Info::new())?;
        assert_eq!(sum.start()?.wait()?.output(), [2]);
        let other = 1 - rest.rank();
        let incoming = rest.irecv(vec![0u8; 2], ANY_SOURCE, ANY_TAG)?;
        rest.isend(vec![4u8], other, TAG)?.wait()?;
        assert_eq!(incoming.wait_with_status()?.1.source, other);
        Ok(())
    });
}

/// One request of each kind: what they bring is checked by [`check_mixed`].
type Mixed = (Request<Vec<u32>>, motet::Running<Vec<u32>>, Request<Vec<u32>>, Request<Vec<u32>>);

/// Starts one operation of each kind; the send leaves rank 1 only after a pause.
fn start_mixed(world: &World) -> Result<Mixed> {
    let (other, me) = (1 - world.rank(), world.rank() as u32);
    let persistent = world.allreduce_init(vec![me], Max, &Info::new())?;
    let sum = world.iallreduce(vec![1u32, 2], Sum)?;
    let incoming = world.irecv(vec![0u32; 3], other, TAG)?;
    if me == 1 {
        thread::sleep(Duration::from_millis(20));
    }
    let outgoing = world.isend(vec![me; 3], other, TAG)?;
    Ok((sum, persistent.start()?, incoming, outgoing))
}

fn check_mixed(world: &World, (sum, running, incoming, outgoing): Mixed) -> Result<()> {
    let other = 1 - world.rank() as u32;
    assert_eq!(sum.wait()?, [2, 4]);
    assert_eq!(running.wait()?.output(), [1]);
    assert_eq!(incoming.wait()?, [other; 3]);
    assert_eq!(outgoing.wait()?, [1 - other; 3]);
    Ok(())
}

/// Completes a mixed set by calls that name some of it, until they name nothing more.
fn name_all(
    set: &mut [&mut dyn Pending],
    mut name: impl FnMut(&mut [&mut dyn Pending]) -> Result<Vec<usize>>,
) -> Result<()> {
    let mut named = Vec::new();
    while named.len() < set.len() {
        named.extend(name(set)?);
    }
    named.sort_unstable();
    assert_eq!(named, (0..set.len()).collect::<Vec<_>>(), "each is named once");
    assert_eq!(wait_any(set)?, None);
    assert_eq!(test_any(set)?, None);
    assert!(wait_some(set)?.is_empty() && test_some(set)?.is_empty());
    assert!(test_all(set)?);
    wait_all(set)
}

/// A call that names some of a set.
type Name = fn(&mut [&mut dyn Pending]) -> Result<Vec<usize>>;

/// spec: 31, 33, 34, 48
#[test]
fn sets_of_all_kinds_are_named_once() {
    let calls: [Name; 4] = [
        |set| Ok(wait_any(set)?.into_iter().collect()),
        |set| wait_some(set),
        |set| Ok(test_any(set)?.into_iter().collect()),
        |set| test_some(set),
    ];
    on_ranks(2, |world| {
        for call in calls {
            let mut mixed = start_mixed(world)?;
            let (sum, running, incoming, outgoing) = &mut mixed;
            name_all(&mut [sum, running, incoming, outgoing], call)?;
            check_mixed(world, mixed)?;
        }
        Ok(())
    });
}

/// spec: 31
#[test]
fn sets_of_all_kinds_complete_together() {
    on_ranks(2, |world| {
        let mut mixed = start_mixed(world)?;
        let (sum, running, incoming, outgoing) = &mut mixed;
        wait_all(&mut [sum, running, incoming, outgoing])?;
        check_mixed(world, mixed)?;
        let mut mixed = start_mixed(world)?;
        let (sum, running, incoming, outgoing) = &mut mixed;
        while !test_all(&mut [sum, running, incoming, outgoing])? {
            thread::yield_now();
        }
        check_mixed(world, mixed)
    });
}

/// spec: 33
#[test]
fn an_empty_set_is_complete() -> Result<()> {
    assert_eq!(wait_any(&mut [])?, None);
    assert!(wait_some(&mut [])?.is_empty() && test_all(&mut [])?);
    wait_all(&mut [])
}

/// spec: 18
#[test]
fn waiting_for_the_second_first() {
    on_ranks(4, |world| {
        for _ in 0..50 {
            let first = world.iallreduce(vec![1u64; 2000], Sum)?;
            let second = world.ibcast(vec![world.rank(); 10], 2)?;
            if world.rank() % 2 == 0 {
                assert_eq!(second.wait()?, [2; 10]);
                first.wait()?;
            } else {
                assert_eq!(first.wait()?, [4; 2000]);
                second.wait()?;
            }
        }
        Ok(())
    });
}

/// spec: 1, 7, 8
#[test]
fn a_hundred_thousand_pending_requests_complete_in_any_order() {
    const EACH: usize = 50_000;
    on_ranks(2, |world| {
        let mut barriers = Vec::with_capacity(EACH);
        let mut sums = Vec::with_capacity(EACH);
        for at in 0..EACH {
            barriers.push(world.ibarrier()?);
            sums.push((at, world.iallreduce(vec![at], Sum)?));
        }
        while let Some(barrier) = barriers.pop() {
            barrier.wait()?;
        }
        Random(7).shuffle(&mut sums);
        for (at, sum) in sums {
            assert_eq!(sum.wait()?, [2 * at]);
        }
        Ok(())
    });
}

/// spec: 24
#[test]
fn what_a_dropped_request_sends_still_arrives() {
    on_ranks(2, |world| {
        let big = 300_000;
        if world.rank() == 0 {
            drop(world.isend(vec![5u8; big], 1, TAG)?);
            drop(world.ibcast(vec![6u8; big], 0)?);
            return Ok(()); // leaves only when all has been sent
        }
        thread::sleep(Duration::from_millis(20));
        let mut received = vec![0u8; big];
        world.recv(&mut received, 0, TAG)?;
        assert!(received.iter().all(|&byte| byte == 5));
        assert!(world.ibcast(vec![0u8; big], 0)?.wait()?.iter().all(|&byte| byte == 6));
        Ok(())
    });
}

/// Receives that nobody waits for and nobody answers must not keep a rank from leaving.
///
/// spec: 65
#[test]
fn a_world_can_be_left_with_receives_that_nobody_wants() {
    for ranks in [1, 2] {
        on_ranks(ranks, |world| {
            for from in 0..ranks {
                drop(world.irecv(vec![0u8; 10], from, TAG)?);
            }
            drop(world.irecv(vec![0u8; 10], ANY_SOURCE, ANY_TAG)?);
            Ok(())
        });
    }
}

/// spec: 3, 24
#[test]
fn forgotten_requests_leak_and_harm_nobody() {
    on_ranks(2, |world| {
        let mut shared = vec![1u32; 5000];
        world.scope(|scope| {
            mem::forget(scope.iallreduce(&mut shared[..], Sum)?);
            Ok(())
        })?;
        assert_eq!(shared, [2; 5000], "a scope waits for what was forgotten, too");
        mem::forget(world.iallreduce(vec![1u32; 5000], Sum)?);
        assert_eq!(world.allreduce_one(1, Sum)?, 2);
        world.barrier()
    });
}

/// spec: 24
#[test]
fn a_scope_waits_for_dropped_and_for_waited_requests() {
    on_ranks(3, |world| {
        let (own, mut sum, mut all) = ([world.rank(); 4], [0; 4], [0; 3]);
        let answer = world.scope(|scope| {
            let pending = scope.iallreduce((&own[..], &mut sum[..]), Sum)?;
            drop(scope.iallgather((&own[..1], &mut all[..]))?);
            assert_eq!(*pending.wait()?.1, [3; 4]);
            Ok(42)
        })?;
        assert_eq!((answer, sum, all), (42, [3; 4], [0, 1, 2]));
        Ok(())
    });
}

/// A request that leaves its scope is complete.
///
/// spec: 24
#[test]
fn a_request_can_be_waited_for_after_its_scope() {
    on_ranks(2, |world| {
        let (mut sum, mut byte) = ([1u8; 3], [0u8; 1]);
        let (pending, mut incoming) = world.scope(|scope| {
            let pending = scope.iallreduce(&mut sum[..], Sum)?;
            drop(scope.isend(vec![9u8], 1 - world.rank(), TAG)?);
            Ok((pending, scope.irecv(&mut byte[..], 1 - world.rank(), TAG)?))
        })?;
        assert!(incoming.test()?);
        assert_eq!(*pending.wait()?, [2; 3]);
        let (byte, status) = incoming.wait_with_status()?;
        assert_eq!((byte[0], status.source), (9, 1 - world.rank()));
        Ok(())
    });
}

fn class<T>(result: Result<T>) -> Option<ErrorClass> {
    result.err().map(|error: Error| error.class())
}

/// Calls with wrong arguments; each must be refused without a trace.
fn misuse(world: &World) -> [Option<ErrorClass>; 10] {
    let (ranks, info) = (world.size(), Info::new());
    [
        class(world.bcast(&mut [0], ranks)),
        class(world.reduce(&[0], &mut [0], Sum, ranks + 7)),
        class(world.ibcast(vec![0], ranks)),
        class(world.send(&[0], ranks, TAG)),
        class(world.irecv(vec![0], ranks, TAG)),
        class(world.allreduce(&[0, 1], &mut [0], Sum)),
        class(world.iallgather((vec![0], vec![0; ranks + 1]))),
        class(world.allgatherv_init(vec![0; 2], &[], &info)),
        class(world.exchange(&[0; 3], &mut [0; 3], &[0], &[ranks])),
        class(world.allreduce_init((vec![0], vec![0, 1]), Sum, &info)),
    ]
}

/// spec: 61, 62
#[test]
fn wrong_arguments_are_refused_before_anything_is_sent() {
    on_ranks_with(2, &Settings::new(), |world| {
        use ErrorClass::{Count, Rank, Root};
        // Only one rank is wrong, and goes on as if nothing had been.
        for wrong in 0..2 {
            if world.rank() == wrong {
                let found = misuse(world).map(|class| class.expect("refused"));
                let roots = [Root, Root, Root, Rank, Rank];
                assert_eq!(found[..5], roots);
                assert_eq!(found[5..], [Count, Count, Count, Rank, Count]);
            }
            assert_eq!(world.allreduce_one(world.rank(), Sum)?, 1);
            let sum = world.allreduce_init(vec![2], Sum, &Info::new())?;
            assert_eq!(sum.start()?.wait()?.output(), [4]);
        }
        Ok(())
    });
}

/// spec: 61
#[test]
fn overlapping_blocks_are_refused() {
    on_ranks(1, |world| {
        let blocks = [motet::Block { start: 0, count: 2 }];
        assert_eq!(class(world.allgatherv(&[0; 3], &mut [0; 2], &blocks)), Some(ErrorClass::Count));
        let twice = [0, 1].map(|start| motet::Neighbour { rank: 0, start, count: 2 });
        let overlap = world.exchangev(&[0; 3], &mut [0; 3], &twice, &twice);
        assert_eq!(class(overlap), Some(ErrorClass::Buffer));
        Ok(())
    });
}

/// spec: 63
#[test]
fn truncation_is_an_error_of_the_receiver_alone() {
    on_ranks_with(2, &Settings::new(), |world| {
        for length in [4, 100_000] {
            if world.rank() == 0 {
                world.send(&vec![1u16; length + 1], 1, TAG)?;
                world.bcast(&mut vec![1u16; length + 1], 0)?;
            } else {
                let mut short = vec![9u16; length];
                let refused = world.recv(&mut short, ANY_SOURCE, ANY_TAG).expect_err("too long");
                assert_eq!(refused.class(), ErrorClass::Truncate);
                let from = refused.refused().expect("there was a message");
                assert_eq!((from.source, from.tag, from.bytes), (0, TAG, 0));
                assert_eq!(class(world.bcast(&mut short, 0)), Some(ErrorClass::Truncate));
                assert_eq!(short, vec![9; length], "a refused message leaves the buffer alone");
            }
            world.barrier()?;
        }
        Ok(())
    });
}

/// spec: 20, 63
#[test]
fn elements_of_another_type_are_an_error() {
    on_ranks(2, |world| {
        if world.rank() == 0 {
            world.send(&[1.0f64], 1, TAG)?;
        } else {
            assert_eq!(class(world.recv(&mut [0u64], 0, TAG)), Some(ErrorClass::Type));
        }
        world.barrier()
    });
}

/// Ranks that disagree on a persistent operation must not wait for ever.
///
/// spec: 62, 63
#[test]
fn persistent_operations_of_different_lengths_end_with_an_error() {
    for settings in [Settings::new(), Settings::new().without_channels()] {
        let failed = on_ranks_with(2, &settings, |world| {
            let length = [4, 2][world.rank()];
            let mut copy = world.bcast_init(vec![1u8; length], 0, &Info::new())?;
            let outcome = copy.run();
            world.barrier()?;
            Ok(class(outcome))
        });
        assert_eq!(failed[1], Some(ErrorClass::Truncate), "{settings:?}");
    }
}

/// spec: 47, 48
#[test]
fn persistent_operations_start_in_different_orders() {
    on_ranks(3, |world| {
        let mut random = Random(world.rank() as u64);
        let mut ready: Vec<(usize, Persistent<Vec<usize>>)> = Vec::new();
        for at in 0..20 {
            let length = 1 + at * 40;
            let sum = world.allreduce_init(vec![0; length], Sum, &Info::new())?;
            ready.push((at, sum));
        }
        for round in 0..20 {
            random.shuffle(&mut ready);
            for (at, sum) in &mut ready {
                sum.input_mut().fill(round * *at);
            }
            let (places, sums): (Vec<_>, Vec<_>) = ready.into_iter().unzip();
            let mut running: Vec<_> = places.into_iter().zip(start_all(sums)?).collect();
            random.shuffle(&mut running);
            let wait = |(at, running): (usize, motet::Running<_>)| Ok((at, running.wait()?));
            ready = running.into_iter().map(wait).collect::<Result<_>>()?;
            for (at, sum) in &ready {
                assert!(sum.output().iter().all(|&found| found == 3 * round * at));
            }
        }
        Ok(())
    });
}

/// spec: 26, 50
#[test]
fn a_root_runs_rounds_ahead_of_a_sleeping_leaf() {
    for settings in [Settings::new(), Settings::new().without_channels()] {
        on_ranks_with(2, &settings, |world| {
            let mut bcast = world.bcast_init(vec![0u64; 4], 0, &Info::new())?;
            if world.rank() == 1 {
                thread::sleep(Duration::from_millis(50));
            }
            for round in 0..200 {
                let sent = if world.rank() == 0 { round } else { 0 };
                bcast.input_mut().fill(sent);
                bcast.run()?;
                assert_eq!(bcast.output(), [round; 4]);
                if world.rank() == 1 && round % 50 == 0 {
                    thread::sleep(Duration::from_millis(5));
                }
            }
            Ok(())
        });
    }
}

/// spec: 51
#[test]
fn identical_persistent_operations_are_kept_apart() {
    on_ranks(2, |world| {
        let init = |value| world.bcast_init(vec![value], 0, &Info::new());
        let (first, second) = (init(1)?, init(2)?);
        // The root starts one before the other, the leaf the other way round.
        let (first, second) = if world.rank() == 0 {
            start_all((first, second))?
        } else {
            let (second, first) = start_all((second, first))?;
            (first, second)
        };
        assert_eq!((first.wait()?.output()[0], second.wait()?.output()[0]), (1, 2));
        Ok(())
    });
}

/// spec: 14, 52
#[test]
fn persistent_operations_run_among_others() {
    on_ranks(3, |world| {
        let mut sum = world.allreduce_init(vec![0u32; 9], Sum, &Info::new())?;
        for round in 0..100 {
            sum.input_mut().fill(round);
            let early = world.iallreduce(vec![round], Max)?;
            let running = sum.start()?;
            let late = world.iallreduce(vec![round + 1], Max)?;
            assert_eq!(world.allreduce_one(round, Sum)?, 3 * round);
            world.barrier()?;
            assert_eq!((late.wait()?[0], early.wait()?[0]), (round + 1, round));
            sum = running.wait()?;
            assert_eq!(sum.output(), [3 * round; 9]);
        }
        Ok(())
    });
}

/// More than the memory for channels holds: the rest goes as messages.
///
/// spec: 54
#[test]
fn ten_thousand_persistent_operations_at_once() {
    on_ranks(2, |world| {
        let init = |at| world.allreduce_init(vec![at; 100], Sum, &Info::new());
        let mut all: Vec<Persistent<Vec<u64>>> = (0..10_500).map(init).collect::<Result<_>>()?;
        for round in 1..3 {
            all = start_all(all)?.into_iter().map(|each| each.wait()).collect::<Result<_>>()?;
            let scale = 1 << round;
            let right = |(at, sum): (u64, &Persistent<Vec<u64>>)| sum.output()[99] == scale * at;
            assert!((0..).zip(&all).all(right), "in round {round}");
        }
        drop(all);
        // What was freed can be used again.
        assert_eq!(init(4)?.start()?.wait()?.output(), [8; 100]);
        Ok(())
    });
}

/// spec: 41, 64
#[test]
fn persistent_operations_may_end_unstarted() {
    on_ranks(2, |world| {
        let info = Info::new();
        for round in 0..200 {
            let first = world.allreduce_init(vec![round], Sum, &info)?;
            if world.rank() == 0 {
                assert_eq!(first.into_buffers(), [round]);
            }
            let second = world.bcast_init(vec![world.rank()], round % 2, &info)?;
            assert_eq!(second.start()?.wait()?.output(), [round % 2]);
        }
        let _left_inactive = world.barrier_init(&info)?;
        Ok(())
    });
}

/// spec: 7, 55
#[test]
fn operations_outlive_their_communicator() {
    on_ranks(2, |world| {
        let copy = world.dup()?;
        let pending = copy.iallreduce(vec![1u8; 70_000], Sum)?;
        let sum = copy.allreduce_init(vec![1u8], Sum, &Info::new())?;
        drop(copy);
        assert_eq!(sum.start()?.wait()?.output(), [2]);
        assert!(pending.wait()?.iter().all(|&sum| sum == 2));
        Ok(())
    });
}

/// spec: 6, 12
#[test]
fn split_parts_by_colour_and_orders_by_key() {
    for ranks in [1, 2, 3, 5, 8] {
        on_ranks(ranks, |world| {
            let me = world.rank();
            let colour = (me % 3 != 2).then_some((me % 3) as u32);
            let part = world.split(colour, -(me as i64))?;
            assert_eq!(part.is_some(), colour.is_some());
            let Some(part) = part else { return Ok(()) };
            let members: Vec<usize> = (0..ranks).rev().filter(|rank| rank % 3 == me % 3).collect();
            assert_eq!(part.group().world_ranks().collect::<Vec<_>>(), members);
            let mut found = vec![0; part.size()];
            part.allgather(&[me], &mut found)?;
            assert_eq!(found, members);
            let again = part.dup()?.split(Some(0), 0)?.expect("a member");
            assert_eq!((again.rank(), again.size()), (part.rank(), part.size()));
            Ok(())
        });
    }
}

/// spec: 17
#[test]
fn threads_of_one_rank_use_communicators_of_their_own() {
    on_ranks(2, |world| {
        let communicators: Vec<_> = (0..3).map(|_| world.dup()).collect::<Result<_>>()?;
        thread::scope(|scope| {
            let work = |comm: &motet::Communicator| -> Result<()> {
                for round in 0..500 {
                    assert_eq!(comm.allreduce_one(round, Sum)?, 2 * round);
                    assert_eq!(comm.iallreduce(vec![1; 600], Sum)?.wait()?, [2; 600]);
                }
                Ok(())
            };
            let started: Vec<_> =
                communicators.iter().map(|comm| scope.spawn(move || work(comm))).collect();
            started.into_iter().try_for_each(|each| each.join().expect("no panic"))
        })
    });
}

/// spec: 6
#[test]
fn operators_and_lists_may_be_gone_after_the_start() {
    let kept = Mutex::new(Vec::new());
    on_ranks(2, |world| {
        let (pending, sum) = {
            let (to, limit) = (vec![1 - world.rank()], Box::new(5u32));
            let least =
                motet::op::commutative(move |left: u32, right: u32| left.min(right).min(*limit));
            let pending = world.iexchange((vec![7u8], vec![0u8]), &to, &to)?;
            (pending, world.iallreduce(vec![9u32], least)?)
        };
        let ended = (pending.wait()?.1, sum.wait()?);
        kept.lock().expect("no panic").push(ended);
        Ok(())
    });
    assert_eq!(kept.into_inner().expect("no panic"), vec![(vec![7], vec![5]); 2]);
}
