//! Check mode: ranks that disagree on their calls are told so, by name, and nobody hangs.

mod worlds;

use std::time::{Duration, Instant};

use motet::{
    Block, ErrorClass, ErrorKind, Info, Neighbour, Result, Settings, Sum, Tag, World, threads_with,
};
use worlds::{Watchdog, on_ranks_with};

/// Runs `body`, which must end with an error on each rank, soon; gives the errors.
fn errors(ranks: usize, body: impl Fn(&World) -> Result<()> + Sync) -> Vec<motet::Error> {
    let _watchdog = Watchdog::with(Duration::from_secs(30));
    let begun = Instant::now();
    let ended = threads_with(ranks, &Settings::new().check(), |world| {
        let ended = body(&world);
        // Nobody is told that another has freed the communicator instead of what is wrong.
        std::mem::forget(world);
        ended
    });
    let taken = begun.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}");
    let ended = ended.expect("nobody panics");
    ended.into_iter().map(|ended| ended.expect_err("the ranks disagree")).collect()
}

/// As [`errors`]; each of them must be a mismatch that names all of this.
fn mismatches(ranks: usize, words: &[&str], body: impl Fn(&World) -> Result<()> + Sync) {
    for error in errors(ranks, body) {
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{text}");
        for word in words {
            assert!(text.contains(word), "{word:?} is not in: {text}");
        }
    }
}

/// spec: 11, 13
#[test]
fn another_operation_is_named_with_its_place() {
    let line = line!() + 7;
    let zero = format!("rank 0 called bcast(3 × u8, root 0) at {}:{}", file!(), line);
    let one = format!("rank 1 called ibarrier() at {}:{}", file!(), line + 1);
    let number = "as collective number 3 of communicator world";
    mismatches(2, &[&zero, &one, number], |world| {
        (0..2).try_for_each(|_| world.barrier())?;
        let call = || match world.rank() {
            0 => world.bcast(&mut [1u8; 3], 0),
            _ => world.ibarrier()?.wait(),
        };
        call()?;
        // A root need not wait for anybody: then it is told by its next call.
        world.barrier()
    });
}

/// spec: 13, 14
#[test]
fn the_three_forms_never_meet() {
    let info = Info::new();
    mismatches(2, &["rank 0 called barrier()", "rank 1 called ibarrier()"], |world| {
        match world.rank() {
            0 => world.barrier(),
            _ => world.ibarrier()?.wait(),
        }
    });
    mismatches(
        2,
        &["rank 0 called barrier()", "rank 1 called barrier_init()"],
        |world| match world.rank() {
            0 => world.barrier(),
            _ => world.barrier_init(&info)?.run(),
        },
    );
    mismatches(
        2,
        &["rank 0 called ibarrier()", "rank 1 called barrier_init()"],
        |world| match world.rank() {
            0 => world.ibarrier()?.wait(),
            _ => world.barrier_init(&info)?.start()?.wait().map(drop),
        },
    );
}

/// spec: 11, 38
#[test]
fn all_three_forms_share_one_order() {
    // Each kind alone comes in the same order on both ranks.
    let words = ["number 2", "rank 0 called ibarrier()", "rank 1 called allreduce_init(1 × i32"];
    mismatches(2, &words, |world| {
        world.barrier()?;
        let pending = |world: &World| world.ibarrier();
        let sum = |world: &World| world.allreduce_init(vec![1], Sum, &Info::new());
        let (pending, mut sum) = match world.rank() {
            0 => (pending(world)?, sum(world)?),
            _ => {
                let sum = sum(world)?;
                (pending(world)?, sum)
            }
        };
        pending.wait()?;
        sum.run()
    });
}

/// spec: 11
#[test]
fn roots_counts_types_and_operators_are_compared() {
    let alike = |zero: &str, one: &str, body: fn(&World, bool) -> Result<()>| {
        let (zero, one) = (format!("rank 0 called {zero}"), format!("rank 1 called {one}"));
        mismatches(2, &[&zero, &one], |world| {
            body(world, world.rank() == 0)?;
            world.barrier()
        });
    };
    alike("bcast(1 × i32, root 0)", "bcast(1 × i32, root 1)", |world, zero| {
        world.bcast(&mut [1], usize::from(!zero))
    });
    alike("bcast(1 × i32", "bcast(2 × i32", |world, zero| {
        world.bcast(&mut [1, 2][..if zero { 1 } else { 2 }], 0)
    });
    alike("bcast(1 × i32", "bcast(1 × u32", |world, zero| match zero {
        true => world.bcast(&mut [1i32], 0),
        false => world.bcast(&mut [1u32], 0),
    });
    alike("allreduce(1 × i32, Sum)", "allreduce(1 × i32, Max)", |world, zero| match zero {
        true => world.allreduce_one(1, Sum).map(drop),
        false => world.allreduce_one(1, motet::Max).map(drop),
    });
    alike("gather(2 × u8, root 1)", "gather(1 × u8, root 1)", |world, zero| {
        world.gather(&[1u8, 2][..if zero { 2 } else { 1 }], &mut [0; 2], 1)
    });
    alike("reduce_scatter([1, 2]", "reduce_scatter([2, 1]", |world, zero| {
        let counts = if zero { [1, 2] } else { [2, 1] };
        world.reduce_scatter_in_place(&mut [1; 3], &counts, Sum)
    });
}

/// spec: 11, 113
#[test]
fn lists_that_differ_must_fit_together() {
    let fit = "; what they send to each other does not fit";
    // Rank 0 sends to rank 1, who expects nothing; rank 2 has no part in it, and is told.
    mismatches(3, &["rank 0 called exchange(", "rank 1 called exchange(", fit], |world| {
        match world.rank() {
            0 => world.exchange(&[1u8], &mut [], &[1], &[])?,
            _ => world.exchange(&[0u8; 0], &mut [], &[], &[])?,
        }
        world.barrier()
    });
    mismatches(2, &["rank 0 called alltoallv(3 out and 2 in × u8)", fit], |world| {
        let block = |start, count| Block { start, count };
        let to = if world.rank() == 0 { block(1, 2) } else { block(1, 1) };
        let one_each = [block(0, 1), block(1, 1)];
        world.alltoallv(&[1u8; 3], &mut [0; 2], &[block(0, 1), to], &one_each)?;
        world.barrier()
    });
    let neighbour = |rank, count| Neighbour { rank, start: 0, count };
    mismatches(2, &["exchangev(2 out and 0 in", "exchangev(0 out and 1 in", fit], |world| {
        match world.rank() {
            0 => world.exchangev(&[1u8; 2], &mut [], &[neighbour(1, 2)], &[])?,
            _ => world.exchangev(&[], &mut [0u8], &[], &[neighbour(0, 1)])?,
        }
        world.barrier()
    });
}

/// spec: 61, 62
#[test]
fn a_call_that_is_refused_on_one_rank_ends_it_on_the_others() {
    let _watchdog = Watchdog::start();
    let settings = Settings::new().check();
    let ended = threads_with(3, &settings, |world| {
        let root = if world.rank() == 1 { 7 } else { 1 };
        let sent = world.ibcast(vec![1; 4], root).and_then(|pending| pending.wait()).map(drop);
        std::mem::forget(world);
        sent.unwrap_err()
    });
    let errors = ended.unwrap();
    assert_eq!(errors[1].class(), ErrorClass::Root, "{}", errors[1]);
    for other in [&errors[0], &errors[2]] {
        let text = other.to_string();
        let refused = "rank 1 made a call that was refused: ibcast on rank 1: root 7 is not in";
        assert!(matches!(other.kind(), ErrorKind::Mismatch(_)), "{text}");
        assert!(text.contains(refused) && text.contains("check.rs"), "{text}");
    }
}

/// spec: 61
#[test]
fn a_call_that_is_refused_on_all_ranks_breaks_nothing() {
    on_ranks_with(3, &Settings::new().check(), |world| {
        for _ in 0..10 {
            world.bcast(&mut [1], 7 + world.rank()).expect_err("no such root");
            world.allreduce(&[1], &mut [0; 2], Sum).expect_err("lengths differ");
            assert_eq!(world.allreduce_one(1, Sum)?, 3);
        }
        Ok(())
    });
}

/// spec: 11, 38
#[test]
fn a_persistent_operation_that_does_not_match_fails_when_started_and_so_do_the_others() {
    let words = ["rank 0 called bcast_init(1 × i32, root 0)", "rank 1 called barrier_init()"];
    mismatches(2, &words, |world| {
        let mut before = world.allreduce_init(vec![1], Sum, &Info::new())?;
        before.run()?;
        if world.rank() == 0 {
            let odd = world.bcast_init(vec![1], 0, &Info::new())?;
            // Nobody has waited for anybody; the other may have been told of it or not.
            let first = odd.start().and_then(|running| running.wait());
            first.map(drop).and_then(|()| before.run()).and_then(|()| world.barrier())
        } else {
            let mut odd = world.barrier_init(&Info::new())?;
            let error = odd.run().expect_err("the other has begun something else");
            assert!(odd.run().is_err(), "and it stays so");
            assert!(before.start().is_err(), "for those from before as well");
            Err(error)
        }
    });
}

/// spec: 11, 12
#[test]
fn only_one_communicator_is_broken_and_what_began_before_goes_on() {
    let _watchdog = Watchdog::start();
    let settings = Settings::new().check();
    let ended = threads_with(3, &settings, |world| {
        let other = world.dup()?;
        let sound = other.iallreduce(vec![1], Sum)?;
        let pending = world.iallreduce(vec![world.rank()], Sum)?;
        let wrong = match world.rank() {
            2 => world.ibarrier().and_then(|pending| pending.wait()),
            _ => {
                let pending = world.ibcast(vec![1; 100_000], 2);
                pending.and_then(|pending| pending.wait()).map(drop)
            }
        };
        let wrong = wrong.unwrap_err();
        // The message of what does not match may be there before all have been told that.
        assert!(
            matches!(wrong.kind(), ErrorKind::Mismatch(_) | ErrorKind::TypeMismatch { .. }),
            "{wrong}"
        );
        assert!(world.barrier().is_err() && world.ibarrier().is_err() && world.dup().is_err());
        assert_eq!((pending.wait()?, sound.wait()?), (vec![3], vec![3]));
        let mut sums = other.allreduce_init(vec![2], Sum, &Info::new())?;
        sums.run()?;
        assert_eq!(sums.output(), [6]);
        other.barrier()
    });
    let errors: Vec<_> = ended.unwrap().into_iter().filter_map(Result::err).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// spec: 3, 11
#[test]
fn the_buffers_of_operations_that_are_ended_are_free() {
    mismatches(2, &["iallgather", "ialltoall"], |world| {
        let mut own = vec![world.rank() as u64; 1 << 16];
        let mut all = vec![0u64; 2 << 16];
        world.scope(|scope| {
            // Large enough to be exposed, so that the other may be reading from them.
            let pending = scope.iallgather((&own[..], &mut all[..]));
            pending?.wait()?;
            Ok(())
        })?;
        own.fill(9);
        let ended = world.scope(|scope| {
            match world.rank() {
                0 => drop(scope.iallgather((&own[..], &mut all[..]))?),
                _ => drop(scope.ialltoall(&mut all[..])?),
            }
            Ok(())
        });
        own.fill(10);
        all.fill(11);
        ended
    });
}

/// spec: 11
#[test]
fn a_call_after_another_rank_has_freed_the_communicator_is_a_mismatch() {
    let _watchdog = Watchdog::start();
    let ended = threads_with(2, &Settings::new().check(), |world| {
        let copy = world.dup()?;
        copy.set_name("the copy");
        copy.barrier()?;
        if world.rank() == 1 {
            drop(copy);
            return world.barrier();
        }
        let error = copy.barrier().expect_err("the other rank makes no such call");
        let text = error.to_string();
        assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{text}");
        assert!(text.contains("number 2 of communicator the copy, rank 1 had freed it"), "{text}");
        world.barrier()
    });
    ended.unwrap().into_iter().for_each(|rank| rank.unwrap());
}

/// Neither rank waits for the other, so a call says what is wrong only if it has heard of the other
/// one before.
///
/// spec: 11
#[test]
fn a_mismatch_of_the_last_calls_is_told_before_the_world_is_left() {
    let _watchdog = Watchdog::start();
    for legal in [false, true] {
        let ended = threads_with(2, &Settings::new().check(), |world| {
            let copy = world.dup()?;
            match copy.rank() {
                0 => copy.bcast(&mut [1u8], 0)?,
                _ if legal => copy.bcast(&mut [1u8], 0)?,
                _ => copy.reduce(&[1u8], &mut [], Sum, 0)?,
            }
            drop(copy);
            motet::raw::end_calls(&world)
        });
        for ended in ended.expect("nobody panics") {
            let Err(error) = ended else {
                assert!(legal, "the ranks disagree");
                continue;
            };
            let text = error.to_string();
            assert!(!legal, "{text}");
            assert!(matches!(error.kind(), ErrorKind::Mismatch(_)), "{text}");
            assert!(text.contains("rank 1 called reduce(1 × u8, Sum, root 0) at"), "{text}");
        }
    }
}

/// A rank that ends without leaving, or long after the others, keeps nobody.
#[test]
fn who_leaves_does_not_wait_for_long_to_hear_of_the_others() {
    let _watchdog = Watchdog::start();
    let ended = threads_with(2, &Settings::new().check(), |world| {
        world.barrier()?;
        if world.rank() == 1 {
            std::mem::forget(world);
            return Ok(());
        }
        motet::raw::end_calls(&world)
    });
    ended.unwrap().into_iter().for_each(|rank| rank.unwrap());
}

/// What is legal is no mismatch: orders that differ between communicators, lists that differ, calls
/// of a part of the ranks, and ranks that are far apart.
///
/// spec: 12, 17, 21
#[test]
fn legal_programs_pass() {
    on_ranks_with(4, &Settings::new().check(), |world| {
        let me = world.rank();
        let (one, other) = (world.dup()?, world.dup()?);
        let half = world.split(Some(me as u32 % 2), -(me as i64))?.expect("all have a colour");
        let pending = match me {
            0 | 3 => (one.iallreduce(vec![1], Sum)?, other.iallreduce(vec![1], Sum)?),
            _ => {
                let late = other.iallreduce(vec![1], Sum)?;
                (one.iallreduce(vec![1], Sum)?, late)
            }
        };
        assert_eq!((pending.1.wait()?, pending.0.wait()?), (vec![4], vec![4]));
        assert_eq!(half.allreduce_one(me, Sum)?, if me % 2 == 0 { 2 } else { 4 });
        // A gatherv of blocks that only the root knows, and a rank that gives nothing.
        let blocks: Vec<Block> =
            (0..4).map(|rank| Block { start: rank * 4, count: rank }).collect();
        world.gatherv(&vec![me as u8; me], &mut [0; 16], &blocks, 2)?;
        let (next, last) = ((me + 1) % 4, (me + 3) % 4);
        let send = |rank, count| [Neighbour { rank, start: 0, count }];
        let to = send(next, me);
        world.exchangev(&[7u8; 3], &mut [0; 3], &to, &send(last, last))?;
        if me == 0 {
            let pending = (0..2000).map(|_| world.ibarrier()).collect::<Result<Vec<_>>>()?;
            pending.into_iter().try_for_each(|each| each.wait())?;
        } else {
            (0..2000).try_for_each(|_| world.ibarrier()?.wait())?;
        }
        let members = world.group().include(&[1, 3])?;
        if me % 2 == 1 {
            world.create_group(&members, Tag(5))?.barrier()?;
        }
        world.barrier()
    });
}

/// spec: 44, 83
#[test]
fn the_hint_that_reductions_are_deterministic_is_compared() {
    let zero = "rank 0 called allreduce_init(1 × i32, Sum, deterministic)";
    mismatches(2, &[zero, "rank 1 called allreduce_init(1 × i32, Sum) at"], |world| {
        let value = if world.rank() == 0 { "true" } else { "false" };
        let info = Info::new().with(motet::hint::DETERMINISTIC, value);
        world.allreduce_init(vec![1], Sum, &info)?.run()?;
        world.barrier()
    });
    mismatches(2, &["rank 1 called iallreduce(1 × i32, Sum, deterministic)"], |world| {
        if world.rank() == 1 {
            world.set_info(&Info::new().with(motet::hint::DETERMINISTIC, "true"));
        }
        world.iallreduce(vec![1], Sum)?.wait()?;
        world.barrier()
    });
}
