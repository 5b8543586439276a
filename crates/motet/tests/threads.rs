//! Several threads of one rank use the library at the same time. (`MPI_THREAD_MULTIPLE`)

mod worlds;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use motet::{
    Block, CartesianCommunicator, Communicator, CommunicatorRequest, Datatype, Error,
    GraphCommunicator, Group, Info, Persistent, Request, Result, Running, Settings, Sum, Tag,
    World,
};
use worlds::{on_ranks, on_ranks_with};

/// What threads may share, and what they may hand to each other.
#[test]
fn types_may_be_shared_and_sent() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<World>();
    shared::<Communicator>();
    shared::<CartesianCommunicator>();
    shared::<GraphCommunicator>();
    shared::<Group>();
    shared::<Info>();
    shared::<Datatype>();
    shared::<Settings>();
    shared::<Error>();
    sent::<Request<Vec<u8>>>();
    sent::<Request<(Vec<f64>, Vec<f64>)>>();
    sent::<CommunicatorRequest>();
    sent::<Persistent<Vec<u8>>>();
    sent::<Running<Vec<u8>>>();
}

/// All collectives and messages on one communicator, `rounds` times.
fn everything(comm: &Communicator, rounds: usize, seed: usize) -> Result<()> {
    let (me, ranks) = (comm.rank(), comm.size());
    let (next, last) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    let sum: usize = (0..ranks).sum();
    let blocks: Vec<Block> = (0..ranks).map(|start| Block { start, count: 1 }).collect();
    let mut kept = comm.allreduce_init(vec![0; 4], Sum, &Info::new())?;
    for round in 0..rounds {
        let salt = seed * 1000 + round;
        let mut word = [if me == 1 { salt } else { 0 }];
        comm.bcast(&mut word, 1)?;
        assert_eq!(word, [salt]);
        assert_eq!(comm.iallreduce(vec![me + salt; 3], Sum)?.wait()?, [sum + ranks * salt; 3]);
        kept.input_mut().fill(me + salt);
        kept.run()?;
        assert_eq!(kept.output(), [sum + ranks * salt; 4]);
        let mut all = vec![0; ranks];
        comm.allgather(&[me + salt], &mut all)?;
        assert!(all.iter().enumerate().all(|(rank, &value)| value == rank + salt));
        comm.gatherv(&[me + salt], &mut all, &blocks, 0)?;
        let mut turned = vec![0; ranks];
        comm.alltoall(&vec![me + salt; ranks], &mut turned)?;
        assert_eq!(turned, (0..ranks).map(|rank| rank + salt).collect::<Vec<_>>());
        let mut own = [0];
        comm.scatter(&turned, &mut own, 0)?;
        assert_eq!(own, [me + salt]);
        comm.reduce_scatter_block(&vec![salt; ranks], &mut own, Sum)?;
        assert_eq!(own, [salt * ranks]);
        comm.scan(&[1], &mut own, Sum)?;
        assert_eq!(own, [me + 1]);
        comm.exchange(&[salt], &mut own, &[next], &[last])?;
        assert_eq!(own, [salt]);
        let pending = comm.irecv(vec![0; 20_000], last, Tag(1))?;
        comm.send(&vec![salt; 20_000], next, Tag(1))?;
        assert_eq!(pending.wait()?, vec![salt; 20_000]);
        comm.barrier()?;
    }
    Ok(())
}

fn threads_with_a_communicator_each(settings: &Settings) {
    on_ranks_with(3, settings, |world| {
        let own: Vec<Communicator> = (0..4).map(|_| world.dup()).collect::<Result<_>>()?;
        thread::scope(|scope| {
            let each = own.iter().enumerate();
            let started: Vec<_> =
                each.map(|(seed, comm)| scope.spawn(move || everything(comm, 15, seed))).collect();
            everything(world, 15, 9)?;
            started.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
        })
    });
}

/// spec: 12, 17, 99
#[test]
fn threads_with_a_communicator_each_run_all_collectives_at_once() {
    threads_with_a_communicator_each(&Settings::new());
}

/// spec: 12, 17, 99
#[test]
fn so_they_do_in_check_mode_and_without_channels() {
    threads_with_a_communicator_each(&Settings::new().check());
    threads_with_a_communicator_each(&Settings::new().without_channels());
}

/// spec: 17, 99
#[test]
fn threads_share_a_communicator_by_tags() {
    on_ranks(2, |world| {
        let other = 1 - world.rank();
        let talk = |thread: u32| -> Result<()> {
            for round in 0..200u64 {
                let value = u64::from(thread) << 32 | round;
                let long = if round % 20 == 0 { 5000 } else { 1 };
                let outgoing = world.isend(vec![value; long], other, Tag(thread))?;
                let mut heard = vec![0; long];
                world.recv(&mut heard, other, Tag(thread))?;
                assert_eq!(heard, vec![value; long]);
                outgoing.wait()?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let started: Vec<_> = (1..6).map(|tag| scope.spawn(move || talk(tag))).collect();
            talk(0)?;
            started.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
        })
    });
}

/// Requests that one thread has begun are waited for by another, while a third begins more.
///
/// spec: 17, 18
#[test]
fn a_request_may_be_waited_for_by_another_thread() {
    on_ranks(3, |world| {
        let (send, receive) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || {
                let mut sums = Vec::new();
                for pending in receive {
                    let pending: Request<Vec<usize>> = pending;
                    sums.push(pending.wait()?[0]);
                }
                Ok::<_, Error>(sums)
            });
            for round in 0..300 {
                let pending = world.iallreduce(vec![round], Sum)?;
                send.send(pending).expect("the other thread receives");
            }
            drop(send);
            let sums = waiting.join().expect("it does not panic")?;
            assert_eq!(sums, (0..300).map(|round| 3 * round).collect::<Vec<_>>());
            Ok(())
        })
    });
}

/// A thread that waits for one thing moves all operations of its rank: here a ring, in which each
/// rank must hand on what it gets, although the thread that has begun it never calls.
///
/// spec: 99
#[test]
fn a_thread_that_waits_moves_what_another_has_begun() {
    let settings = Settings::new().algorithms("allreduce=ring").expect("there is such a one");
    on_ranks_with(4, &settings, |world| {
        const LATE: Tag = Tag(7);
        if world.rank() > 0 {
            let sums = world.iallreduce(vec![1; 1000], Sum)?.wait()?;
            assert_eq!(sums, [4; 1000]);
            // What the waiting thread of rank 0 waits for comes only when the ring is through.
            return world.send(&[1u8], 0, LATE);
        }
        thread::scope(|scope| {
            let waiting = scope
                .spawn(|| (1..4).try_for_each(|from| world.recv(&mut [0u8], from, LATE).map(drop)));
            let pending = world.iallreduce(vec![1; 1000], Sum)?;
            waiting.join().expect("it does not panic")?;
            assert_eq!(pending.wait()?, [4; 1000]);
            Ok(())
        })
    });
}

/// A rank that computes without calling delays those that need it to hand something on, but they
/// sleep meanwhile, and all ends well once it calls again.
///
/// spec: 100
#[test]
fn a_rank_that_computes_delays_the_others_and_no_more() {
    const WORK: Duration = Duration::from_millis(150);
    let settings = Settings::new().algorithms("allreduce=ring").expect("there is such a one");
    let has_begun = Barrier::new(4);
    let moments = on_ranks_with(4, &settings, |world| {
        // The one that computes begins first: nothing has come to it that it could hand on.
        if world.rank() != 2 {
            has_begun.wait();
        }
        let pending = world.iallreduce(vec![world.rank(); 1000], Sum)?;
        if world.rank() == 2 {
            has_begun.wait();
        }
        let begun = Instant::now();
        while world.rank() == 2 && begun.elapsed() < WORK {
            std::hint::spin_loop();
        }
        let computed = Instant::now();
        assert_eq!(pending.wait()?, [6; 1000]);
        Ok((computed, Instant::now()))
    });
    let (computed, _) = moments[2];
    // The ring cannot be through before the one that computes has handed on what came to it.
    assert!(moments.iter().all(|&(_, ended)| ended >= computed), "{moments:?}");
}
