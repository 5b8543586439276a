//! How ranks wait beside foreign threads: they park, since a yielded core would go to a foreign
//! thread for a whole time slice. Counted in context switches, not in time.

mod worlds;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use motet::{Settings, Sum, Waiting};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use worlds::{Watchdog, on_ranks_with};

const CORES: usize = 2;
const ROUNDS: u64 = 300;
/// Rounds until the ranks have noticed the foreign threads.
const ROUNDS_TO_NOTICE: u64 = 100;

/// The cores that this test uses, two of those that the process may use.
fn cores() -> Vec<usize> {
    let all = sched_getaffinity(None).expect("the affinity of this thread");
    (0..CpuSet::MAX_CPU).filter(|&core| all.is_set(core)).take(CORES).collect()
}

/// Restricts this thread, and those that it starts, to these cores.
fn stay_on(cores: &[usize]) {
    let mut set = CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    sched_setaffinity(None, &set).expect("the affinity of this thread may be reduced");
}

/// How often this thread has given up its core because it slept. A yield does not count.
fn sleeps() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").expect("the status of this thread");
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).expect("a count of switches")
}

/// How long rank 0 computes before each reduction: the other ranks wait for it, wherever they run.
const WORK: Duration = Duration::from_micros(50);

/// Computes until the time is over.
fn compute(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// How often so many ranks sleep in short reductions, one after the other.
fn sleeps_of_ranks(ranks: usize, waiting: Waiting) -> u64 {
    let settings = Settings::new().waiting(waiting);
    let slept = on_ranks_with(ranks, &settings, |world| {
        let mut before = 0;
        for round in 0..ROUNDS_TO_NOTICE + ROUNDS {
            if round == ROUNDS_TO_NOTICE {
                before = sleeps();
            }
            if world.rank() == 0 {
                compute(WORK);
            }
            let mut sum = [0];
            world.allreduce(&[round + world.rank() as u64], &mut sum, Sum)?;
            assert_eq!(sum, [(0..ranks as u64).map(|rank| round + rank).sum()]);
        }
        Ok(sleeps() - before)
    });
    slept.iter().sum()
}

/// Ends the busy threads, also when a test fails.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `body` while a foreign thread keeps each of these cores busy.
fn beside_busy_threads<T>(cores: &[usize], body: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for core in cores {
            let is_over = &is_over;
            scope.spawn(move || {
                stay_on(&[*core]);
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let _end = EndOf(&is_over);
        body()
    })
}

/// How often so many ranks on these cores sleep, each core with a foreign thread: by default, and
/// if they are told to yield.
fn sleeps_beside_busy_threads(ranks: usize) -> [u64; 2] {
    let _watchdog = Watchdog::start();
    let cores = cores();
    stay_on(&cores);
    beside_busy_threads(&cores, || {
        [Waiting::Auto, Waiting::Yield].map(|waiting| sleeps_of_ranks(ranks, waiting))
    })
}

#[test]
fn ranks_that_share_cores_park_beside_foreign_threads() {
    let [by_default, yielding] = sleeps_beside_busy_threads(2 * CORES);
    // What is counted is not what any wait does.
    assert!(by_default >= ROUNDS / 2, "{by_default} sleeps in {ROUNDS} rounds");
    assert!(yielding < ROUNDS / 10, "{yielding} sleeps of ranks that never park");
}

#[test]
fn ranks_with_a_core_each_park_beside_foreign_threads() {
    let [by_default, yielding] = sleeps_beside_busy_threads(CORES);
    // Rank 1 is late where a foreign thread had its core meanwhile.
    assert!(by_default >= ROUNDS / 2, "{by_default} sleeps in {ROUNDS} rounds");
    assert!(yielding < ROUNDS / 20, "{yielding} sleeps of ranks that never park");
}
