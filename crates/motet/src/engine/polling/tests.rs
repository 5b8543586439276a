//! The number of polls while many operations are pending.

use std::sync::Barrier;

use super::{MISSES_BESIDE_WORK, MISSES_OF_WAIT};
use crate::op::Sum;
use crate::worlds::{Random, on_ranks_with};
use crate::{Info, Persistent, Result, Running, Settings, Waiting, World};

/// More than a call polls, several times over.
const MANY: usize = 16 * MISSES_OF_WAIT;

type Dot = Persistent<(Vec<u64>, Vec<u64>)>;
type Dots = Vec<Running<(Vec<u64>, Vec<u64>)>>;

/// Persistent operations that have run once, so that their channels are known.
fn dots(world: &World, many: usize) -> Result<Vec<Dot>> {
    let dot = |at| world.allreduce_init((vec![at as u64], vec![0_u64]), Sum, &Info::new());
    let dots: Vec<Dot> = (0..many).map(dot).collect::<Result<_>>()?;
    start_all(dots)?.into_iter().map(Running::wait).collect()
}

fn start_all(dots: Vec<Dot>) -> Result<Dots> {
    dots.into_iter().map(Persistent::start).collect()
}

fn wait(dot: Running<(Vec<u64>, Vec<u64>)>) -> Result<()> {
    dot.wait().map(drop)
}

fn polls(world: &World) -> u64 {
    world.core().engine().polls
}

/// Rank 1 starts operations whose messages have come, so that they end during the start, and waits
/// for others whose messages have come, while operations are pending that rank 0 has not started.
#[test]
fn a_call_polls_few_of_the_pending_operations() {
    let turn = Barrier::new(2);
    let counts = on_ranks_with(2, &Settings::new(), |world| {
        let mut dots = dots(world, 3 * MANY)?;
        let (late, early) = (dots.split_off(2 * MANY), dots.split_off(MANY));
        let wait_all = |all: Vec<Dots>| all.into_iter().flatten().try_for_each(wait);
        if world.rank() == 0 {
            turn.wait();
            let (dots, early) = (start_all(dots)?, start_all(early)?);
            turn.wait();
            turn.wait();
            let late = start_all(late)?;
            wait_all(vec![dots, early, late])?;
            return Ok([0; 2]);
        }
        let (late, early) = (start_all(late)?, start_all(early)?);
        turn.wait();
        turn.wait();
        let before = polls(world);
        let dots = start_all(dots)?;
        let by_starts = polls(world) - before;
        wait_all(vec![early])?;
        let by_waits = polls(world) - before - by_starts;
        turn.wait();
        wait_all(vec![dots, late])?;
        Ok([by_starts, by_waits])
    });
    for count in counts[1] {
        // Each operation may move once in the poll of another call.
        let most = MANY * (MISSES_BESIDE_WORK + 1) + 2 * MANY;
        assert!(count <= most as u64, "{count} polls by {MANY} calls");
    }
}

/// Each call polls only some operations, but a rank parks only after it has polled all: it finds
/// each message, wherever its operation is in the list.
#[test]
fn many_in_orders_that_differ_all_end() {
    for waiting in [Waiting::Auto, Waiting::Sleep, Waiting::Yield] {
        let settings = Settings::new().waiting(waiting);
        on_ranks_with(3, &settings, |world| {
            let mut dots = dots(world, MANY)?;
            let mut random = Random(world.rank() as u64);
            for _ in 0..3 {
                let mut running: Vec<_> = dots.into_iter().enumerate().collect();
                random.shuffle(&mut running);
                let start = |(at, dot): (usize, Dot)| Ok((at, dot.start()?));
                let mut running: Vec<_> = running.into_iter().map(start).collect::<Result<_>>()?;
                random.shuffle(&mut running);
                let wait = |(at, running): (usize, Running<_>)| Ok((at, running.wait()?));
                let mut over: Vec<_> = running.into_iter().map(wait).collect::<Result<_>>()?;
                over.sort_by_key(|(at, _)| *at);
                dots = over.into_iter().map(|(_, dot)| dot).collect();
            }
            Ok(())
        });
    }
}

/// The pass before a thread parks polls every operation, wherever the last pass stopped and
/// whichever entries of the list are of operations that have ended.
#[test]
fn the_pass_before_parking_polls_all() {
    let turn = Barrier::new(2);
    on_ranks_with(2, &Settings::new(), |world| {
        let dots = dots(world, 4)?;
        if world.rank() == 0 {
            let mut running = Vec::new();
            turn.wait();
            for (at, dot) in dots.into_iter().enumerate() {
                running.push(dot.start()?);
                if at < 2 {
                    turn.wait(); // rank 1 looks at what has come
                    turn.wait();
                }
            }
            return running.into_iter().try_for_each(wait);
        }
        let running = start_all(dots)?;
        turn.wait();
        turn.wait();
        {
            let mut engine = world.core().engine();
            assert_eq!(engine.polled.len(), 4);
            let (first, mut done) = (engine.polled[0], Vec::new());
            assert!(engine.poll_one(first, &mut done), "its message has come");
            engine.settle(done);
            assert_eq!(engine.polled.len(), 4, "an operation that has ended is still listed");
        }
        turn.wait();
        turn.wait();
        {
            let mut engine = world.core().engine();
            engine.next_polled = 2;
            assert!(engine.progress_thoroughly(), "the message of the second has come");
        }
        turn.wait();
        running.into_iter().try_for_each(wait)
    });
}
