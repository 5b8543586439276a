//! Collectives after a death: once a rank has been told that a member of a communicator has died,
//! each collective over it ends with that error, and one over a communicator of ranks that live
//! ends well.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use std::panic;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use motet::datatype::Datatype;
use motet::op::Op;
use motet::raw::{self, CallKey, Collective, CollectiveKind, Reduction, TypedBuffer};
use motet::{
    Communicator, ErrorKind, Info, Intercommunicator, Persistent, Result, Sum, Tag, World,
};
use worlds::Watchdog;

const TAG: Tag = Tag(5);
/// The rank that dies, between two that live.
const DEAD: usize = 1;
const RANKS: usize = 4;
static INT: Datatype = Datatype::INT32_T;

/// Runs `before` on all ranks of a world. Then one rank dies in the middle of a collective whose
/// messages it has sent, of other values than those of any other collective. When the others have
/// been told they go on with `after`.
fn with_a_death<T>(before: impl Fn(&World) -> Result<T> + Sync, after: impl Fn(&World, T) + Sync) {
    let _watchdog = Watchdog::start();
    let over = Mutex::new(0);
    let ended = motet::threads(RANKS, |world| {
        let made = before(&world).expect("nobody has died");
        meet(&world);
        if world.rank() == DEAD {
            let (block, last) = (vec![1_000_000; RANKS], vec![0; RANKS]);
            let _lost = world.ialltoall((block, last)).expect("it begins");
            panic::resume_unwind(Box::new("it dies"));
        }
        let told = world.recv(&mut [0], DEAD, TAG).map(drop);
        is_of_the_dead("receive", told);
        after(&world, made);
        *over.lock().expect("no panic under the lock") += 1;
    });
    let error = ended.expect_err("a rank has died");
    assert!(matches!(error.kind(), ErrorKind::PeerFailed(_)), "{error}");
    let over = over.into_inner().expect("no panic under the lock");
    assert_eq!(over, RANKS - 1, "ranks that have come to the end");
}

/// All ranks have come this far. The one that dies may do so before others know that.
fn meet(world: &World) {
    if let Err(error) = world.barrier() {
        assert_ne!(world.rank(), DEAD, "{error}");
        is_of_the_dead("the last barrier", Err::<(), _>(error));
    }
}

#[track_caller]
fn is_of_the_dead<T>(what: &str, outcome: Result<T>) {
    let error = outcome.err().unwrap_or_else(|| panic!("{what} has ended well"));
    let ErrorKind::PeerFailed(failure) = error.kind() else { panic!("{what}: {error}") };
    assert_eq!(failure.rank.index(), DEAD, "{what}: {error}");
}

/// A collective in some form. Each begins new operations and waits for them.
type Call = fn(&Communicator) -> Result<()>;

const CALLS: [(&str, Call); 21] = [
    ("barrier", |comm| comm.barrier()),
    ("bcast", |comm| comm.bcast(&mut [1], comm.size() - 1)),
    ("gather", |comm| comm.gather(&[1], &mut room(comm, comm.rank() == 0), 0)),
    ("scatter", |comm| {
        let all = room(comm, comm.rank() == 0);
        comm.scatter(&all, &mut [0], 0)
    }),
    ("allgather", |comm| comm.allgather(&[1], &mut room(comm, true))),
    ("alltoall", |comm| comm.alltoall(&room(comm, true), &mut room(comm, true))),
    ("reduce", |comm| comm.reduce(&[1], &mut [0][usize::from(comm.rank() != 0)..], Sum, 0)),
    ("allreduce", |comm| comm.allreduce(&[1], &mut [0], Sum)),
    ("allreduce of much", |comm| comm.allreduce(&vec![1; 1 << 17], &mut vec![0; 1 << 17], Sum)),
    ("scan", |comm| comm.scan(&[1], &mut [0], Sum)),
    ("exscan", |comm| comm.exscan(&[1], &mut [0], Sum)),
    ("ibarrier", |comm| comm.ibarrier()?.wait()),
    ("ibcast", |comm| comm.ibcast(vec![1], 0)?.wait().map(drop)),
    ("iallreduce", |comm| comm.iallreduce(vec![1], Sum)?.wait().map(drop)),
    ("iallreduce by test", |comm| {
        let mut sum = comm.iallreduce(vec![1], Sum)?;
        while !sum.test()? {}
        Ok(())
    }),
    ("barrier_init", |comm| comm.barrier_init(&Info::new())?.run()),
    ("allreduce_init", |comm| comm.allreduce_init(vec![1], Sum, &Info::new())?.run()),
    ("sparse_exchange", |comm| {
        let to = (comm.rank() + 1) % comm.size();
        comm.sparse_exchange([(to, &[1][..])]).map(drop)
    }),
    ("dup", |comm| comm.dup().map(drop)),
    ("split", |comm| comm.split(Some(1), 0).map(drop)),
    ("create", |comm| comm.create(comm.group()).map(drop)),
];

fn room(comm: &Communicator, wanted: bool) -> Vec<i32> {
    vec![1; if wanted { comm.size() } else { 0 }]
}

/// The world's ranks in another order: another communicator with the dead one.
fn turned(world: &World) -> Result<Communicator> {
    Ok(world.split(Some(0), -(world.rank() as i64))?.expect("all have a colour"))
}

/// Those that live on, and the one that dies for itself.
fn living(world: &World) -> Result<Communicator> {
    let colour = u32::from(world.rank() == DEAD);
    Ok(world.split(Some(colour), 0)?.expect("all have a colour"))
}

/// All calls have been made before, so their plans and runs are kept.
#[test]
fn no_collective_over_a_communicator_of_the_dead_ends_well() {
    let before = |world: &World| {
        let all = [world.dup()?, turned(world)?];
        for comm in &all {
            for (_, call) in [CALLS, CALLS].concat() {
                call(comm)?;
            }
        }
        Ok(all)
    };
    with_a_death(before, |world, all| {
        for (name, call) in [CALLS, CALLS].concat() {
            is_of_the_dead(name, call(world));
            all.iter().for_each(|comm| is_of_the_dead(name, call(comm)));
        }
    });
}

/// What was begun or made before the death, and is started or waited for after it.
#[test]
fn what_was_made_before_the_death_does_not_end_well() {
    type Made = (Persistent<Vec<i32>>, Persistent<()>, Vec<Persistent<Vec<i32>>>);
    let before = |world: &World| -> Result<Made> {
        let mut sum = world.allreduce_init(vec![1], Sum, &Info::new())?;
        let mut barrier = world.barrier_init(&Info::new())?;
        for _ in 0..3 {
            sum.run()?;
            barrier.run()?;
        }
        let fresh = (0..3).map(|_| world.allreduce_init(vec![1; 2], Sum, &Info::new()));
        Ok((sum, barrier, fresh.collect::<Result<_>>()?))
    };
    with_a_death(before, |_, (mut sum, mut barrier, fresh)| {
        for _ in 0..2 {
            is_of_the_dead("a persistent sum", sum.run());
            is_of_the_dead("a persistent barrier", barrier.run());
        }
        for mut fresh in fresh {
            is_of_the_dead("one that was never started", fresh.run());
            is_of_the_dead("the same, started", fresh.start().and_then(|run| run.wait()));
        }
    });
}

#[test]
fn between_two_groups_the_dead_counts_on_both_sides() {
    let before = |world: &World| -> Result<Intercommunicator> {
        let side = u32::from(world.rank() >= 2);
        let local = world.split(Some(side), 0)?.expect("all have a colour");
        let other = if side == 0 { 2 } else { 0 };
        let both = local.intercomm_create(0, Some(world), other, TAG)?;
        both.barrier()?;
        Ok(both)
    };
    with_a_death(before, |_, both| {
        is_of_the_dead("barrier", both.barrier());
        is_of_the_dead("dup", both.dup().map(drop));
        is_of_the_dead("merge", both.merge(motet::MergeOrder::First).map(drop));
    });
}

/// One item for each rank.
fn data(memory: &mut [i32; RANKS]) -> TypedBuffer<'static> {
    TypedBuffer { address: memory.as_mut_ptr().cast(), count: 1, datatype: &INT }
}

/// The calls that a C library makes again, in all forms.
#[test]
fn a_call_that_is_made_again_does_not_end_well() {
    let of = |input: &mut [i32; 1], output: &mut [i32; 1], op| Collective::Allreduce {
        reduction: Reduction {
            input: Some(input.as_mut_ptr().cast()),
            output: output.as_mut_ptr().cast(),
            count: 1,
            datatype: &INT,
            op,
        },
    };
    let sum = Op::SUM;
    let all = |comm: &Communicator| -> [Result<()>; 4] {
        let (mut input, mut output, mut block) = ([1], [0], [1; RANKS]);
        let mut blocks = [0; RANKS];
        let words = CallKey {
            kind: CollectiveKind::Allreduce,
            what: 1,
            root: 0,
            counts: [1, 1],
            addresses: [input.as_mut_ptr().cast(), output.as_mut_ptr().cast()],
        };
        let (send, receive) = (Some(data(&mut block)), data(&mut blocks));
        let exchange = Collective::Alltoall { send, receive };
        let call = of(&mut input, &mut output, &sum);
        // SAFETY: the memory outlives each call, and each request is waited for here.
        let run = unsafe { call.run(comm) };
        // SAFETY: as above.
        let exchanged = unsafe { exchange.run(comm) };
        // SAFETY: as above; the words stand for nothing else.
        let again = unsafe { words.run(comm) };
        // SAFETY: as above.
        let again = again.unwrap_or_else(|| unsafe { call.run_keyed(comm, &words) });
        // SAFETY: as above.
        let started = unsafe { words.start(comm) }.map_or_else(
            // SAFETY: as above.
            || unsafe { call.start_keyed(comm, &words) },
            Ok,
        );
        let started = started.and_then(|mut request: raw::Request| request.wait().map(drop));
        [run, exchanged, again, started]
    };
    let before = |world: &World| {
        (0..3).flat_map(|_| all(world)).collect::<Result<Vec<()>>>()?;
        Ok(())
    };
    with_a_death(before, |world, ()| {
        for outcome in [all(world), all(world)].concat_all() {
            is_of_the_dead("a call that is known", outcome);
        }
    });
}

trait ConcatAll<T> {
    fn concat_all(self) -> Vec<T>;
}

impl<T, const N: usize, const M: usize> ConcatAll<T> for [[T; N]; M] {
    fn concat_all(self) -> Vec<T> {
        self.into_iter().flatten().collect()
    }
}

/// Waits of all lengths: ranks come late by so much that others look, yield or sleep.
#[test]
fn collectives_of_those_that_live_end_well() {
    let before = |world: &World| {
        let living = living(world)?;
        let mut sum = living.allreduce_init(vec![0], Sum, &Info::new())?;
        sum.run()?;
        let early = (world.rank() != 0).then(|| living.iallreduce(vec![1], Sum)).transpose()?;
        Ok((living, sum, early))
    };
    with_a_death(before, |world, (living, mut sum, early)| {
        let check = || -> Result<()> {
            let early = early.map_or_else(|| living.iallreduce(vec![1], Sum), Ok)?;
            assert_eq!(early.wait()?, [3], "begun before the death");
            for (name, call) in [CALLS, CALLS].concat() {
                if world.rank() == 2 {
                    thread::sleep(Duration::from_millis(15));
                }
                call(&living).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
            for round in 0..2000 {
                let rank = living.rank() as i32;
                assert_eq!(living.allreduce_one(round + rank, Sum)?, 3 * round + 3);
                sum.input_mut()[0] = round;
                sum.run()?;
                assert_eq!(sum.output(), [3 * round]);
            }
            let again = living.split(Some(0), 0)?.expect("all have a colour");
            assert_eq!(again.dup()?.allreduce_one(1, Sum)?, 3);
            is_of_the_dead("barrier of all", world.barrier());
            living.barrier()
        };
        check().unwrap_or_else(|error| panic!("rank {}: {error}", world.rank()));
    });
}

/// Who lives on may leave or die in turn: nobody waits for it for ever.
#[test]
fn a_second_end_is_told() {
    for (dies, is_persistent) in [(false, false), (false, true), (true, false), (true, true)] {
        let before = |world: &World| -> Result<(Communicator, Persistent<Vec<i32>>)> {
            let living = living(world)?;
            let sum = living.allreduce_init(vec![0], Sum, &Info::new())?;
            Ok((living, sum))
        };
        let over = Mutex::new(0);
        let _watchdog = Watchdog::start();
        let ended = motet::threads(RANKS, |world| {
            let (living, mut sum) = before(&world).expect("nobody has died");
            meet(&world);
            if world.rank() == DEAD {
                panic::resume_unwind(Box::new("it dies"));
            }
            is_of_the_dead("receive", world.recv(&mut [0], DEAD, TAG).map(drop));
            if world.rank() == 3 {
                thread::sleep(Duration::from_millis(20));
                if dies {
                    panic::resume_unwind(Box::new("it dies, too"));
                }
                return;
            }
            let outcome = if is_persistent { sum.run() } else { living.barrier() };
            let error = outcome.expect_err("one of them is gone");
            assert_eq!(error.class(), motet::ErrorClass::ProcAborted, "{error}");
            living.barrier().expect_err("one of them is gone");
            *over.lock().expect("no panic under the lock") += 1;
        });
        ended.map(drop).expect_err("a rank has died");
        assert_eq!(over.into_inner().expect("no panic under the lock"), 2);
    }
}
