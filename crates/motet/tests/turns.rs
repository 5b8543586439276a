//! How often ranks that share one core give it away. Each time is a change of context, which takes
//! longer than a short collective has to do.

mod worlds;

use std::fs;

use motet::{Communicator, Info, Result};
use motet_fabric::host::stay_on_one_core;
use worlds::on_ranks;

const RUNS: usize = 1000;
/// Runs before anything is counted.
const FIRST: usize = 100;
/// Of one machine with others on it, not every attempt need be undisturbed: the least of all counts
/// for each rank and each form, since what disturbs only adds turns.
const ATTEMPTS: usize = 8;
/// Two turns would be two. Some ranks lose the core now and then while they still have work.
const TURNS_MAX: f64 = 1.5;

/// How often this thread has given its core away, or lost it, while it could have gone on.
fn turns() -> usize {
    let status = fs::read_to_string("/proc/thread-self/status").expect("Linux has it");
    let count = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).expect("Linux counts them")
}

/// How many turns this rank has had for each of many runs.
fn turns_of_each(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    for _ in 0..FIRST {
        run()?;
    }
    let before = turns();
    for _ in 0..RUNS {
        run()?;
    }
    Ok((turns() - before) as f64 / RUNS as f64)
}

/// The turns of each run of an exchange of blocks of so many bytes, in its three forms.
fn forms(comm: &Communicator, bytes: usize) -> Result<[f64; 3]> {
    let ranks = comm.size();
    let (input, mut output) = (vec![1u8; ranks * bytes], vec![0; ranks * bytes]);
    let blocking = turns_of_each(|| comm.alltoall(&input, &mut output))?;
    let nonblocking = turns_of_each(|| comm.ialltoall(input.clone())?.wait().map(drop))?;
    let mut kept = comm.alltoall_init((input, output), &Info::new())?;
    let persistent = turns_of_each(|| kept.run())?;
    Ok([blocking, nonblocking, persistent])
}

/// Who has written what the others wait for must wait for those who have not had the core yet.
/// When it has it again all is there: with one turn for each run all get to the end. (Threads copy
/// longer messages straight from one to the other, and wait for that.)
#[test]
fn ranks_on_one_core_need_one_turn_each_for_an_exchange() {
    stay_on_one_core().expect("a thread may choose one of its cores");
    for ranks in [2, 3, 4] {
        for bytes in [8, 1 << 10, 16 << 10] {
            let mut least = vec![[f64::INFINITY; 3]; ranks];
            let is_so = (0..ATTEMPTS).any(|_| {
                let seen = on_ranks(ranks, |world| forms(world, bytes));
                for (least, seen) in least.iter_mut().flatten().zip(seen.iter().flatten()) {
                    *least = least.min(*seen);
                }
                least.iter().flatten().all(|&turns| turns < TURNS_MAX)
            });
            assert!(is_so, "{ranks} ranks, {bytes} bytes: {least:?} turns of each form");
        }
    }
}
