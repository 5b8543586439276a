//! A persistent start and its wait ask the system for nothing while both ranks are running.
//!
//! The program runs itself under `strace`, as two processes that run a persistent allreduce in
//! batches, with a marker (a write to `/dev/null`) between two batches. A rank whose core is taken
//! away makes the other one sleep, which is a system call; so what is asked for is that there are
//! batches in which neither rank made any. If starts made calls of their own, no batch could be
//! without.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::{env, error};

use motet::{Info, Sum};

type Result<T> = std::result::Result<T, Box<dyn error::Error>>;

/// Tells the traced program what it is.
const ROLE: &str = "MOTET_TEST_SYSTEM_CALLS";
const BATCHES: usize = 200;
const RUNS_PER_BATCH: usize = 500;
const MARKER: &str = "write(";
/// If starts made calls of their own, no run could have a batch without.
const ATTEMPTS: usize = 10;
/// More than the traced program ever needs.
const LIMIT: &str = "60";

fn main() -> ExitCode {
    if env::args().any(|argument| argument == "--list") {
        println!("no_system_call_while_both_ranks_run: test");
        return ExitCode::SUCCESS;
    }
    let result = if env::var_os(ROLE).is_some() { run_batches() } else { trace() };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("no_system_call_while_both_ranks_run: {error}");
            println!("0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

/// The traced program: two ranks, batch after batch.
fn run_batches() -> Result<()> {
    let world = motet::launch(2)?;
    let mut marker = OpenOptions::new().write(true).open("/dev/null")?;
    let mut sum = world.allreduce_init((vec![1u64], vec![0]), Sum, &Info::new())?;
    for _ in 0..BATCHES {
        marker.write_all(b"batch")?;
        for _ in 0..RUNS_PER_BATCH {
            sum.run()?;
        }
    }
    marker.write_all(b"batch")?;
    assert_eq!(sum.output(), [2]);
    Ok(())
}

/// Traces until there is a batch without calls. `strace` needs a core for each call that it sees,
/// which makes ranks wait, who give way, which is a call: it may go on like that for a whole run.
fn trace() -> Result<()> {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("no_system_call_while_both_ranks_run: skipped, there is no strace");
        println!("0 passed, 0 failed, 1 skipped");
        return Ok(());
    }
    for _ in 0..ATTEMPTS {
        if silent_batches()? > 0 {
            println!("1 passed, 0 failed");
            return Ok(());
        }
    }
    Err(format!("in {ATTEMPTS} runs there was no batch without a system call").into())
}

/// Runs the program under `strace`, and counts the batches in which neither rank made a call.
fn silent_batches() -> Result<usize> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("calls");
    let status = Command::new("timeout")
        .args([LIMIT, "strace", "-ff", "-qq", "-o"])
        .arg(&log)
        .arg(env::current_exe()?)
        .env(ROLE, "1")
        .status()?;
    if !status.success() {
        return Err(format!("the traced program ended with {status}").into());
    }
    let ranks = traced_ranks(folder.path())?;
    let [one, other] = &ranks[..] else {
        return Err(format!("{} of 2 ranks were traced", ranks.len()).into());
    };
    let both = one.iter().zip(other);
    let silent = both.filter(|&(one, other)| one + other == 0).count();
    println!("no_system_call_while_both_ranks_run: {silent} of {BATCHES} batches without any");
    Ok(silent)
}

/// For each rank, the number of calls in each batch.
fn traced_ranks(folder: &std::path::Path) -> Result<Vec<Vec<usize>>> {
    let mut ranks = HashMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let batches = calls_per_batch(&fs::read_to_string(&path)?);
        if batches.len() == BATCHES {
            ranks.insert(path, batches);
        }
    }
    Ok(ranks.into_values().collect())
}

/// The number of calls between two markers.
fn calls_per_batch(log: &str) -> Vec<usize> {
    let mut batches = Vec::new();
    let mut calls = None;
    for line in log.lines() {
        if line.starts_with(MARKER) && line.contains("\"batch\"") {
            batches.extend(calls.replace(0));
        } else if let Some(calls) = &mut calls {
            *calls += 1;
        }
    }
    batches
}
