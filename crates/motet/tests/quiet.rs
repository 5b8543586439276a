//! Persistent operations allocate nothing between init and end, on any thread of the process, and
//! blocking calls that are repeated hardly ever: only where a rank has lost its core.
//!
//! There is one test only: the test harness allocates when tests begin and end.

#![allow(unsafe_code)] // listed in docs/unsafe.md

mod worlds;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use motet::{Block, Info, Persistent, Result, Settings, Sum, Tag, World};
use worlds::on_ranks_with;

/// Counts what is asked of the system's allocator.
struct Counting;

static ASKED: AtomicU64 = AtomicU64::new(0);

// SAFETY: passes everything on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const WARM: usize = 1_000;
const ROUNDS: usize = 10_000;

/// Allocations of the whole process while two ranks make `round` over and over.
fn allocations(rounds: impl Fn(&World, &mut dyn FnMut() -> bool) -> Result<()> + Sync) -> u64 {
    let settings = Settings::from_environment().expect("settings");
    allocations_with(&settings, rounds)
}

/// As [`allocations`], with settings.
fn allocations_with(
    settings: &Settings,
    rounds: impl Fn(&World, &mut dyn FnMut() -> bool) -> Result<()> + Sync,
) -> u64 {
    let together = Barrier::new(2);
    let asked = on_ranks_with(2, settings, |world| {
        let (mut round, mut before, mut asked) = (0, 0, 0);
        let mut next = || {
            if round == WARM {
                together.wait();
                before = ASKED.load(Ordering::Relaxed);
                together.wait();
            } else if round == WARM + ROUNDS {
                together.wait();
                asked = ASKED.load(Ordering::Relaxed) - before;
                together.wait();
                return false;
            }
            round += 1;
            true
        };
        rounds(world, &mut next)?;
        Ok(asked)
    });
    asked.into_iter().max().expect("there are ranks")
}

/// Starts an operation again and again, by turns in two ways.
fn run_on<B: motet::buffer::StableBuffer>(
    mut operation: Persistent<B>,
    next: &mut dyn FnMut() -> bool,
) -> Result<()> {
    while next() {
        operation = operation.start()?.wait()?;
        operation.run()?;
    }
    Ok(())
}

/// Two ranks send a message to and fro; each receive has been started when its message comes.
fn ping_pong(world: &World, next: &mut dyn FnMut() -> bool) -> Result<()> {
    let other = 1 - world.rank();
    let mut send = world.send_init(vec![1u64], other, Tag(1))?;
    let receive = world.recv_init(vec![0u64], other, Tag(1))?;
    let mut receiving = receive.start()?;
    world.barrier()?;
    while next() {
        if world.rank() == 0 {
            send = send.start()?.wait()?;
        }
        receiving = receiving.wait()?.start()?;
        if world.rank() == 1 {
            send = send.start()?.wait()?;
        }
    }
    receiving.cancel()?;
    receiving.wait().map(drop)
}

/// Repeats a blocking call, with other buffers each time. No rank begins a call before the other
/// one has ended the last: a message that came before its call would be copied.
fn repeat(
    next: &mut dyn FnMut() -> bool,
    turn: &Barrier,
    mut call: impl FnMut(&[u64; 2], &mut [u64; 2]) -> Result<()>,
) -> Result<()> {
    let (send, mut receive) = ([[1; 2]; 3], [[0; 2]; 4]);
    for round in 0.. {
        if !next() {
            return Ok(());
        }
        turn.wait();
        call(&send[round % 3], &mut receive[round % 4])?;
    }
    unreachable!("rounds end")
}

/// The allocations of each of several blocking calls. The call itself makes none, but a rank that
/// has lost its core within the call may still copy a message that it does not expect yet. Hang
/// reports and check mode, in which calls are made anew, are off.
fn blocking_calls() -> [u64; 5] {
    let turn = Barrier::new(2);
    let plain = Settings::new();
    let ends = [Block { start: 1, count: 1 }, Block { start: 0, count: 1 }];
    [
        allocations_with(&plain, |world, next| repeat(next, &turn, |_, _| world.barrier())),
        allocations_with(&plain, |world, next| {
            repeat(next, &turn, |_, receive| world.bcast(receive, 1))
        }),
        allocations_with(&plain, |world, next| {
            repeat(next, &turn, |send, receive| world.allreduce(send, receive, Sum))
        }),
        allocations_with(&plain, |world, next| {
            repeat(next, &turn, |send, receive| world.allgatherv(&send[1..], receive, &ends))
        }),
        allocations_with(&plain, |world, next| {
            repeat(next, &turn, |send, receive| world.alltoallv(send, receive, &ends, &ends))
        }),
    ]
}

/// Whoever has found everything there at each start has to wait for the first time.
fn first_wait(world: &World, next: &mut dyn FnMut() -> bool, turn: &Barrier) -> Result<()> {
    let mut operation = world.bcast_init(vec![1u64], 0, &Info::new())?;
    for round in 0.. {
        if !next() {
            return Ok(());
        }
        let late = usize::from(round < WARM);
        if world.rank() == late {
            turn.wait();
        }
        let started = operation.start()?;
        if world.rank() != late {
            turn.wait();
        }
        operation = started.wait()?;
    }
    unreachable!("rounds end")
}

/// spec: 53
#[test]
fn persistent_operations_and_repeated_calls_allocate_nothing() {
    let info = Info::new();
    let allreduce = allocations(|world, next| {
        run_on(world.allreduce_init((vec![1u64], vec![0u64]), Sum, &info)?, next)
    });
    let barrier = allocations(|world, next| run_on(world.barrier_init(&info)?, next));
    let bcast = allocations(|world, next| run_on(world.bcast_init(vec![1u64], 0, &info)?, next));
    let exchange = allocations(|world, next| {
        let other = [1 - world.rank()];
        run_on(world.exchange_init((vec![1u64], vec![0]), &other, &other, &info)?, next)
    });
    let messages = allocations(ping_pong);
    let turn = Barrier::new(2);
    let first_wait = allocations(|world, next| first_wait(world, next, &turn));
    assert_eq!([allreduce, barrier, bcast, exchange, messages, first_wait], [0; 6]);
    let repeated = blocking_calls();
    assert!(repeated.iter().all(|&count| count < ROUNDS as u64 / 10), "{repeated:?}");
}
