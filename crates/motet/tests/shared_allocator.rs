//! Rust programs whose large blocks lie in the shared heap: ranks that are processes map the heaps
//! of the others, and get right results.
//!
//! The program runs each of its cases by running itself, under a time limit.

mod cases;

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs};

use cases::{CASE, Case, Check, end_of, main_of};
use motet::{Info, Result, SharedAllocator, Sum, World};

#[global_allocator]
static ALLOCATOR: SharedAllocator = SharedAllocator;

const LEN: usize = 1 << 17;
/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

const CASES: [Case<Check>; 3] = [
    Case {
        name: "three_processes_map_the_heaps_of_each_other",
        body: || collectives(3),
        expected: succeeds,
    },
    Case {
        name: "five_processes_map_the_heaps_of_each_other",
        body: || collectives(5),
        expected: succeeds,
    },
    Case { name: "ranks_that_are_threads_map_nothing", body: threads, expected: succeeds },
];

fn main() -> ExitCode {
    main_of(&CASES)
}

/// Runs a case as a program of its own, which must succeed.
fn succeeds(case: &str) -> Result<(), Box<dyn Error>> {
    let mut job = Command::new(env::current_exe()?).env(CASE, case).spawn()?;
    match end_of(&mut job, Instant::now() + LIMIT)? {
        Some(status) if status.success() => Ok(()),
        end => Err(format!("{case}: {end:?} within {LIMIT:?}").into()),
    }
}

/// Mappings of process heaps, that of this process included: those of the first page, as a mapping
/// may have several parts.
fn heaps() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux has this file");
    let is_heap = |line: &&str| line.contains("motet-heap") && line.contains(" 00000000 ");
    maps.lines().filter(is_heap).count()
}

/// Rounds of collectives of 1 MiB in each form, with vectors that come and go between them.
fn rounds(world: &World) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut dot = world.allreduce_init((vec![0.0; LEN], vec![0.0; LEN]), Sum, &Info::new())?;
    for round in 0..5 {
        let value = |of: usize, at: usize| (of * 7 + at + round) as f64;
        let own: Vec<f64> = (0..LEN).map(|at| value(rank, at)).collect();
        let mut all = vec![0.0; LEN * size];
        world.allgather(&own, &mut all)?;
        assert!((0..size).all(|of| (0..LEN).all(|at| all[of * LEN + at] == value(of, at))));
        let sum = world.iallreduce(own.clone(), Sum)?.wait()?;
        let expected = |at| (0..size).map(|of| value(of, at)).sum::<f64>();
        assert!((0..LEN).all(|at| sum[at] == expected(at)));
        dot.input_mut().copy_from_slice(&own);
        dot = dot.start()?.wait()?;
        assert!((0..LEN).all(|at| dot.output()[at] == expected(at)));
        let mut grown = own;
        grown.extend_from_slice(&sum);
        assert!(grown[LEN..] == sum[..] && grown[0] == value(rank, 0));
    }
    Ok(())
}

fn collectives(ranks: usize) -> Result<()> {
    let world = motet::launch(ranks)?;
    rounds(&world)?;
    assert_eq!(heaps(), ranks);
    Ok(())
}

fn threads() -> Result<()> {
    for outcome in motet::threads(3, |world| rounds(&world))? {
        outcome?;
    }
    assert_eq!(heaps(), 1, "the heap of the process itself");
    Ok(())
}
