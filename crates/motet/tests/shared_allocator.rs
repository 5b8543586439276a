//! Rust programs whose large blocks lie in the shared heap: ranks that are processes map the heaps
//! of the others, and get right results.
//!
//! The program runs each of its cases by running itself, under a time limit.

mod cases;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs};

use cases::{TestCase, end_of, main_of};
use motet::{Info, Result, SharedAllocator, Sum, World};

#[global_allocator]
static ALLOCATOR: SharedAllocator = SharedAllocator;

const LEN: usize = 1 << 17;
/// Tells the program which case it is to be.
const CASE: &str = "MOTET_TEST_CASE";
/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

struct Case {
    name: &'static str,
    body: fn() -> Result<()>,
}

const CASES: [Case; 3] = [
    Case { name: "three_processes_map_the_heaps_of_each_other", body: || collectives(3) },
    Case { name: "five_processes_map_the_heaps_of_each_other", body: || collectives(5) },
    Case { name: "ranks_that_are_threads_map_nothing", body: threads },
];

fn main() -> ExitCode {
    main_of(CASE, &CASES)
}

impl TestCase for Case {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run_body(&self) -> Result<()> {
        (self.body)()
    }

    fn run(&self) -> std::result::Result<(), String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        let mut job = command.env(CASE, self.name).spawn().map_err(|error| error.to_string())?;
        match end_of(&mut job, Instant::now() + LIMIT).map_err(|error| error.to_string())? {
            Some(status) if status.success() => Ok(()),
            end => Err(format!("{}: {end:?} within {LIMIT:?}", self.name)),
        }
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
