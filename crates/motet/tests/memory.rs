//! Memory that must not grow, and memory that operations take. What is measured is the whole
//! process, so these run one by one.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use motet::{Communicator, Info, Request, Result, Settings, Sum, World};
use worlds::{Random, Watchdog, on_ranks, on_ranks_with};

/// Counts the bytes that are allocated and not freed, by all threads and by each for itself.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What this thread has allocated, less what it has freed.
    static KEPT: Cell<usize> = const { Cell::new(0) };
}

fn count(allocated: usize, freed: usize) {
    LIVE.fetch_add(allocated, Ordering::Relaxed);
    LIVE.fetch_sub(freed, Ordering::Relaxed);
    KEPT.set(KEPT.get().wrapping_add(allocated).wrapping_sub(freed));
}

// SAFETY: passes everything on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Keeps the other tests from running meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of this process, in bytes.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux tells the size of a process");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.expect("the second number counts resident pages") * 4096
}

/// spec: 24, 41
#[test]
fn dropped_requests_go_on_and_their_buffers_are_freed_when_complete() {
    let _alone = alone();
    let rounds = 300;
    let before = resident();
    on_ranks(2, |world| {
        for round in 0..rounds {
            // A megabyte each: they would be missed.
            drop(world.iallreduce(vec![round; 1 << 17], Sum)?);
            drop(world.allreduce_init(vec![1u64; 1 << 17], Sum, &Info::new())?.start()?);
            if round % 10 == 0 {
                assert_eq!(world.allreduce_one(1, Sum)?, 2);
            }
        }
        world.barrier()
    });
    let grown = resident().saturating_sub(before);
    assert!(grown < 200 << 20, "{} MiB were not freed", grown >> 20);
}

/// spec: 53
#[test]
fn restarts_take_no_memory() {
    let _alone = alone();
    const WARM: u64 = 1_000;
    const ROUNDS: u64 = 1_000_000;
    on_ranks(1, |world| {
        let mut sum = world.allreduce_init(vec![0u64], Sum, &Info::new())?;
        (0..WARM).try_for_each(|_| sum.run())?;
        let before = resident();
        for _ in 0..ROUNDS {
            sum.run()?;
        }
        assert!(resident().saturating_sub(before) < 8 << 20, "memory grew");
        Ok(())
    });
    on_ranks(2, |world| {
        let mut sum = world.allreduce_init((vec![0u64], vec![0u64]), Sum, &Info::new())?;
        let mut before = 0;
        for round in 0..ROUNDS {
            if round == WARM {
                before = resident();
            }
            sum.input_mut()[0] = round;
            sum.run()?;
            assert_eq!(sum.output()[0], 2 * round);
        }
        assert!(resident().saturating_sub(before) < 32 << 20, "memory grew");
        Ok(())
    });
}

/// spec: 138
#[test]
fn communicators_come_and_go_without_a_trace() {
    let _alone = alone();
    // Not watched: a watch keeps records of as many communicators as the ranks are apart.
    on_ranks_with(2, &Settings::new(), |world| {
        (0..1000).try_for_each(|_| world.dup().map(drop))?;
        let before = resident();
        for _ in 0..100_000 {
            // The first rank waits for nobody, but cannot be any number of rounds ahead.
            drop(world.dup()?);
        }
        assert!(resident().saturating_sub(before) < 8 << 20, "memory grew");
        Ok(())
    });
}

/// Bytes that are allocated by a work, and not freed. Only those of this thread: the one that runs
/// the tests allocates too, whenever one of them has ended.
fn kept_by<T>(work: impl FnOnce() -> Result<T>) -> Result<(usize, T)> {
    let before = KEPT.get();
    let made = work()?;
    Ok((KEPT.get().wrapping_sub(before), made))
}

/// What phases need is got when the first one begins: a copy of a communicator that has had phases
/// takes no byte more than one of a communicator that never had any, and a first phase takes some.
///
/// spec: 138
#[test]
fn communicators_have_nothing_for_phases_before_the_first() {
    const COPIES: usize = 100;
    let _alone = alone();
    let ended = motet::threads_with(1, &Settings::new(), |world| {
        let copies = |of: &Communicator| -> Result<(usize, Vec<Communicator>)> {
            let mut all = Vec::with_capacity(COPIES);
            let mut copy = || of.dup().map(|copy| all.push(copy));
            let (bytes, ()) = kept_by(|| (0..COPIES).try_for_each(|_| copy()))?;
            Ok((bytes, all))
        };
        world.phases()?.barrier_begin()?.end()?;
        drop(copies(&world)?); // whatever grows once has grown
        let plain = world.dup()?;
        let (of_plain, fresh) = copies(&plain)?;
        let used = world.dup()?;
        let (first, ()) = kept_by(|| used.phases()?.barrier_begin()?.end())?;
        let (second, ()) = kept_by(|| used.phases()?.barrier_begin()?.end())?;
        let (of_used, _copies) = copies(&used)?;
        assert!(first > 0, "nothing is left for the first phase to get");
        assert_eq!(second, 0, "the second phase gets something too");
        assert_eq!(of_plain, of_used, "copies of a communicator with phases are larger");
        // Those copies had nothing yet either: each of them gets as much as the first did.
        let (all, ()) =
            kept_by(|| fresh.iter().try_for_each(|copy| copy.phases()?.barrier_begin()?.end()))?;
        assert_eq!(all, COPIES * first, "copies have something before their first phase");
        println!("a first phase: {first} bytes; a communicator: {} bytes", of_plain / COPIES);
        assert!(size_of::<Communicator>() <= 512, "{}", size_of::<Communicator>());
        Ok::<(), motet::Error>(())
    });
    let ended = ended.unwrap_or_else(|error| panic!("{error}"));
    ended.into_iter().for_each(|rank| rank.unwrap_or_else(|error| panic!("{error}")));
}

/// Bytes that a pending operation takes on each rank, beside the user's own vector.
const EACH: usize = 512;

/// Operations that are under way, by the number in which they began.
type Pending = Vec<Option<Request<Vec<u64>>>>;

/// Does two halves of a work. Says how long each took.
fn halves(all: usize, mut work: impl FnMut(usize) -> Result<()>) -> Result<[Duration; 2]> {
    let mut half = |from: usize, to: usize| {
        let begun = Instant::now();
        (from..to).try_for_each(&mut work).map(|()| begun.elapsed())
    };
    Ok([half(0, all / 2)?, half(all / 2, all)?])
}

/// Begins so many sums, and completes them in this order.
fn keep_pending(world: &World, together: &Barrier, order: &[usize]) -> Result<()> {
    let (many, me) = (order.len(), world.rank() as u64);
    let mut buffers: Vec<_> = (0..many as u64).map(|at| vec![at + me]).rev().collect();
    world.barrier()?;
    together.wait();
    let before = LIVE.load(Ordering::Relaxed);
    together.wait();
    let mut pending: Pending = Vec::with_capacity(many);
    let begun = halves(many, |_| {
        let buffer = buffers.pop().expect("one for each");
        pending.push(Some(world.iallreduce(buffer, Sum)?));
        Ok(())
    })?;
    together.wait();
    let each = (LIVE.load(Ordering::Relaxed) - before) / (2 * many);
    together.wait();
    let completed = halves(many, |next| {
        let at = order[next];
        let sum = pending[at].take().expect("completed once").wait()?;
        assert_eq!(sum, [2 * at as u64 + 1]);
        Ok(())
    })?;
    println!("{many} pending: {each} bytes each, begun in {begun:?}, completed in {completed:?}");
    assert!(each <= EACH, "{many} pending operations take {each} bytes each on each rank");
    Ok(())
}

/// Has so many operations pending at once, and completes them in reverse and in random order.
fn pend(many: usize, patience: Duration) {
    let _alone = alone();
    let _watchdog = Watchdog::with(patience);
    let reverse: Vec<usize> = (0..many).rev().collect();
    let mut shuffled = reverse.clone();
    Random(many as u64).shuffle(&mut shuffled);
    for order in [reverse, shuffled] {
        let together = Barrier::new(2);
        // Not those of the environment: what is kept for reports would be counted too.
        let settings = Settings::new();
        let ended =
            motet::threads_with(2, &settings, |world| keep_pending(&world, &together, &order));
        let ended = ended.unwrap_or_else(|error| panic!("{error}"));
        ended.into_iter().for_each(|rank| rank.unwrap_or_else(|error| panic!("{error}")));
    }
}

/// spec: 8
#[test]
fn a_hundred_thousand_pending_operations_are_small() {
    pend(10_000, Duration::from_secs(60));
    pend(100_000, Duration::from_secs(120));
}

/// spec: 8
#[test]
#[ignore = "takes a minute and 1 GB"]
fn a_million_pending_operations_are_small() {
    pend(1_000_000, Duration::from_secs(600));
}

/// An init among two ranks takes as much memory in a large communicator as in a small one.
///
/// spec: 103
#[test]
fn an_init_among_a_group_takes_memory_for_the_group() {
    let _alone = alone();
    let bytes_among = |ranks: usize| {
        let together = Barrier::new(ranks);
        let bytes = on_ranks(ranks, |world| {
            let init = || -> Result<_> {
                let group = world.group().include(&[3, 1]).expect("ranks of the world");
                let members = world.members(&group)?;
                members.allreduce_init((vec![world.rank()], vec![0]), Sum, &Info::new())
            };
            // What is made only once is there after the first one, and all are up to date.
            let first = init()?.start()?.wait()?;
            world.barrier()?;
            let mut bytes = 0;
            for rank in [0, 1] {
                together.wait();
                if world.rank() == rank {
                    let (kept, operation) = kept_by(init)?;
                    bytes = kept;
                    together.wait();
                    drop(operation);
                } else {
                    together.wait();
                }
            }
            drop(first);
            Ok(bytes)
        });
        (bytes[0], bytes[1])
    };
    let (small, large) = (bytes_among(4), bytes_among(48));
    println!("an init among two takes {small:?} bytes among 4 ranks, {large:?} among 48");
    assert_eq!(small, large);
    // An outsider's is less than a member's.
    assert!(small.0 < small.1);
}
