//! A rank can always leave, and what others wait for is finished first.

mod worlds;

use motet::{ErrorKind, Info, Settings, Sum, Tag, threads, threads_with};
use motet_plan::{Collective, algo};
use worlds::Watchdog;

/// Requests that were dropped and can never complete do not keep anybody, even if all ranks have
/// some that wait for each other.
#[test]
fn dropped_requests_without_a_partner_end_with_the_world() {
    let _watchdog = Watchdog::start();
    let ranks = threads_with(2, &Settings::new(), |world| {
        let (one, other) = (world.dup()?, world.dup()?);
        let own = if world.rank() == 0 { one } else { other };
        drop(own.iallreduce(vec![1], Sum)?);
        drop(world.irecv(vec![0u8; 4], 1 - world.rank(), Tag(1))?);
        drop(world.isend(vec![0u8; 1 << 20], 1 - world.rank(), Tag(2))?);
        Ok::<(), motet::Error>(())
    });
    assert!(ranks.unwrap().into_iter().all(|rank| rank.is_ok()));
}

/// What a rank has sent and begun before it leaves still reaches the others.
#[test]
fn a_rank_that_leaves_finishes_what_others_wait_for() {
    let _watchdog = Watchdog::start();
    let ranks = threads(3, |world| {
        if world.rank() == 0 {
            for tag in 0..200 {
                drop(world.isend(vec![tag; 10_000], 1, Tag(tag))?);
            }
            drop(world.ibcast(vec![7u64; 100_000], 0)?);
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        if world.rank() == 1 {
            for tag in (0..200).rev() {
                let mut data = vec![0; 10_000];
                world.recv(&mut data, 0, Tag(tag))?;
                assert!(data.iter().all(|&value| value == tag));
            }
        }
        assert!(world.ibcast(vec![0u64; 100_000], 0)?.wait()?.iter().all(|&value| value == 7));
        Ok::<(), motet::Error>(())
    });
    ranks.unwrap().into_iter().for_each(|rank| rank.unwrap());
}

/// spec: 64: persistent operations that are not running do not keep anybody.
#[test]
fn idle_persistent_operations_are_freed() {
    let _watchdog = Watchdog::start();
    let ranks = threads(2, |world| {
        let kept = world.allreduce_init(vec![1], Sum, &Info::new())?;
        if world.rank() == 0 {
            drop(kept);
        } else {
            std::mem::forget(kept);
        }
        Ok::<(), motet::Error>(())
    });
    assert!(ranks.unwrap().into_iter().all(|rank| rank.is_ok()));
}

/// A rank that leaves instead of taking part spoils the operation for all who need its part,
/// however many ranks lie between: none of them may take what it has for the result.
#[test]
fn nobody_gets_a_result_that_lacks_a_part() {
    let _watchdog = Watchdog::start();
    let all = algo::of(Collective::Allreduce).map(|row| row.name());
    for (algorithm, ranks) in all.flat_map(|name| [3, 4, 5, 7].map(|p| (name, p))) {
        let settings = Settings::new().algorithms(&format!("allreduce={algorithm}")).unwrap();
        let failed = threads_with(ranks, &settings, |world| {
            if world.rank() == ranks - 1 {
                return true;
            }
            world.allreduce_in_place(&mut [1u64; 16], Sum).is_err()
        });
        assert!(failed.unwrap().into_iter().all(|failed| failed), "{algorithm}, {ranks} ranks");
    }
}

/// The same for persistent operations, through channels, after rounds that were well.
#[test]
fn a_round_that_lacks_a_part_is_an_error_everywhere() {
    let _watchdog = Watchdog::start();
    let settings = Settings::new().algorithms("allreduce=recursive_doubling").unwrap();
    let rounds = threads_with(4, &settings, |world| {
        let mut sum = world.allreduce_init((vec![1u64], vec![0]), Sum, &Info::new())?;
        for _ in 0..10 {
            sum.run()?;
            assert_eq!(sum.output(), [4]);
        }
        if world.rank() == 3 {
            return Ok(true);
        }
        Ok::<bool, motet::Error>(sum.run().is_err())
    });
    for failed in rounds.unwrap() {
        assert!(failed.unwrap());
    }
}

/// A rank that has left is told so by whatever it still calls, in every form, and what it had
/// under way has ended: its buffers come back or are gone, and no call waits.
#[test]
fn handles_of_a_world_that_has_been_left_tell_that() {
    let _watchdog = Watchdog::start();
    let ranks = threads_with(2, &Settings::new(), |world| {
        let (me, other) = (world.rank(), 1 - world.rank());
        let copy = world.dup()?;
        let mut sum = world.allreduce_init(vec![1u64; 4], Sum, &Info::new())?;
        let complete = world.allreduce_init(vec![1u64; 4], Sum, &Info::new())?;
        let mut word = world.send_init(vec![7u8], other, Tag(1))?;
        sum.run()?;
        let mut complete = complete.start()?;
        while !complete.test()? {}
        let result = world.iallreduce(vec![me], Sum)?.wait()?;
        let pending = world.irecv(vec![0u8; 4], other, Tag(2))?;
        let running = world.recv_init(vec![0u8; 4], other, Tag(3))?.start()?;
        world.barrier()?;
        world.leave()?;
        world.leave()?;
        assert_eq!(result, [1]);
        let errors = [
            pending.wait().map(drop),
            running.wait().map(drop),
            sum.run(),
            complete.wait().and_then(|operation| operation.start()).map(drop),
            word.run(),
            world.barrier(),
            copy.ibarrier().map(drop),
            world.send(&[1u8], other, Tag(1)),
            world.send(&[1u8], me, Tag(1)),
            world.isend(vec![1u8], other, Tag(1)).map(drop),
            world.recv(&mut [1u8], other, Tag(1)).map(drop),
            world.recv(&mut [1u8], motet::ANY_SOURCE, Tag(1)).map(drop),
            world.irecv(vec![1u8], other, Tag(1)).map(drop),
            world.probe(me, Tag(1)).map(drop),
            world.iprobe(me, Tag(1)).map(drop),
            world.dup().map(drop),
            copy.split(Some(0), 0).map(drop),
            world.barrier_init(&Info::new()).map(drop),
            world.recv_init(vec![1u8], other, Tag(1)).map(drop),
            world.sparse_exchange::<u8>([]).map(drop),
        ];
        for (at, error) in errors.into_iter().enumerate() {
            let error = error.expect_err(&format!("call {at} of rank {me}"));
            // The other rank may have left first: the two receives under way end by that.
            let expected = if at < 2 { vec![me, other] } else { vec![me] };
            let of_leaving =
                matches!(error.kind(), ErrorKind::PeerLeft { rank } if expected.contains(rank));
            assert!(of_leaving, "call {at}: {error}");
        }
        Ok::<(), motet::Error>(())
    });
    ranks.unwrap().into_iter().for_each(|rank| rank.unwrap());
}

/// What a rank has begun is finished before it leaves, as when all is dropped.
#[test]
fn a_rank_that_calls_leave_finishes_what_others_wait_for() {
    let _watchdog = Watchdog::start();
    let ranks = threads(3, |world| {
        if world.rank() == 0 {
            let _sent = world.isend(vec![5u8; 1 << 20], 1, Tag(1))?;
            let _bcast = world.ibcast(vec![7u64; 100_000], 0)?;
            return world.leave();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        if world.rank() == 1 {
            let mut data = vec![0u8; 1 << 20];
            world.recv(&mut data, 0, Tag(1))?;
            assert!(data.iter().all(|&value| value == 5));
        }
        assert!(world.ibcast(vec![0u64; 100_000], 0)?.wait()?.iter().all(|&value| value == 7));
        Ok::<(), motet::Error>(())
    });
    ranks.unwrap().into_iter().for_each(|rank| rank.unwrap());
}

/// In check mode a leave returns what no call could say.
#[test]
fn a_leave_tells_of_a_mismatch_of_the_last_calls() {
    let _watchdog = Watchdog::start();
    let ranks = threads_with(2, &Settings::new().check(), |world| {
        world.bcast(&mut [1u8], world.rank())?;
        world.leave()
    });
    for rank in ranks.unwrap() {
        let error = rank.expect_err("the roots differ");
        assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{error}");
    }
}

/// What a world of threads has returned may hold what was made of it. All that its ranks have
/// begun together is complete; what lacks a part is an error, and so are a receive without its
/// message and whatever begins later or might begin again. One thread can wait for it all, rank by
/// rank.
#[test]
fn what_outlives_a_world_of_threads_has_ended() {
    let _watchdog = Watchdog::start();
    let ranks = threads_with(2, &Settings::new(), |world| {
        let (me, other) = (world.rank(), 1 - world.rank());
        let sum = world.iallreduce(vec![me as u64 + 1; 1000], Sum)?;
        let sent = world.isend(vec![me as u8; 1 << 20], other, Tag(1))?;
        let mut got = world.irecv(vec![9u8; 1 << 20], other, Tag(1))?;
        while !got.test()? {}
        let running = world.allreduce_init(vec![me], Sum, &Info::new())?.start()?;
        let lost = world.irecv(vec![0u8; 4], other, Tag(2))?;
        let also_lost = world.recv_init(vec![0u8; 4], other, Tag(3))?.start()?;
        let copy = world.dup()?;
        let alone = if me == 0 { Some(world.ibarrier()?) } else { None };
        Ok::<_, motet::Error>((sum, sent, got, running, lost, also_lost, alone, copy))
    });
    let is_left = |error: motet::Error| assert!(matches!(error.kind(), ErrorKind::PeerLeft { .. }));
    for (me, rank) in ranks.unwrap().into_iter().enumerate() {
        let (sum, sent, got, running, lost, mut also_lost, alone, copy) = rank.unwrap();
        assert_eq!(sum.wait().unwrap(), [3; 1000]);
        sent.wait().unwrap();
        assert_eq!(got.wait().unwrap(), vec![1 - me as u8; 1 << 20]);
        is_left(running.wait().map(drop).unwrap_err());
        is_left(lost.wait().map(drop).unwrap_err());
        is_left(also_lost.test().unwrap_err());
        is_left(also_lost.wait().map(drop).unwrap_err());
        alone.into_iter().for_each(|alone| is_left(alone.wait().unwrap_err()));
        is_left(copy.barrier().unwrap_err());
        is_left(copy.recv(&mut [0u8], 1 - me, Tag(2)).map(drop).unwrap_err());
    }
}
