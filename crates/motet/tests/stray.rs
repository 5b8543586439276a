//! Stray stores: a rank writes random bytes over the words that all ranks and the launcher read.
//! Whatever becomes of the ranks, the launcher sees the job to its end and says what it has seen.
//!
//! The program is its own test case: launcher and ranks.

mod cases;

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, process};

use cases::{CASE, Case, Check, end_of, main_of};
use motet::{ErrorHandler, Result, Sum};
use motet_fabric::layout::{LINE, Layout};
use tempfile::TempDir;

/// Tells it which bytes are written.
const SEED: &str = "MOTET_TEST_SEED";
/// More than a case takes on a loaded machine: waits for a rank that seems to live may be long,
/// but the launcher ends the job soon after the first rank has ended.
const LIMIT: Duration = Duration::from_secs(30);
const RANKS: usize = 3;
const SEEDS: u64 = 60;

const CASES: [Case<Check>; 2] = [
    Case {
        name: "a_launcher_survives_what_a_rank_leaves_as_it_dies",
        body: writes_and_dies,
        expected: for_all_seeds,
    },
    Case {
        name: "a_launcher_survives_what_a_rank_writes_as_it_works",
        body: writes_and_works,
        expected: for_all_seeds,
    },
];

fn main() -> ExitCode {
    main_of(&CASES)
}

/// The launcher sees each job to its end, and no line of its own fails.
fn for_all_seeds(case: &str) -> std::result::Result<(), Box<dyn Error>> {
    (0..SEEDS).try_for_each(|seed| match run(case, seed) {
        Ok((Some(_), words)) if !words.contains("/launcher/") => Ok(()),
        outcome => Err(format!("seed {seed}: {outcome:?}").into()),
    })
}

/// Runs a job: gives the exit code of its launcher, if it ended by itself, and what was said.
fn run(case: &str, seed: u64) -> std::result::Result<(Option<i32>, String), Box<dyn Error>> {
    let folder = TempDir::new()?;
    let errors = folder.path().join("errors");
    let mut job = Command::new(env::current_exe()?)
        .env(CASE, case)
        .env(SEED, seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&errors)?)
        .process_group(0)
        .spawn()?;
    let code = end_of(&mut job, Instant::now() + LIMIT)?.and_then(|status| status.code());
    Ok((code, fs::read_to_string(errors)?))
}

/// Small numbers as often as large ones: a program mostly writes those.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // The generator of Steele, Lea and Flood (SplitMix64).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn word(&mut self) -> u64 {
        let word = self.next();
        if self.next().is_multiple_of(2) { word >> (word % 64) } else { word }
    }
}

/// Overwrites what tells of deaths and aborts, and the state of each rank.
fn stray() -> std::result::Result<(), Box<dyn Error>> {
    let mut random = Random(env::var(SEED)?.parse()?);
    let maps = fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(|line| line.contains("memfd:motet")).ok_or("no segment")?;
    let start = u64::from_str_radix(line.split('-').next().unwrap_or_default(), 16)?;
    let layout = Layout::new(RANKS)?;
    let states = (0..RANKS).map(|rank| layout.rank_block(rank) + LINE);
    let mut memory = OpenOptions::new().write(true).open("/proc/self/mem")?;
    for at in [LINE].into_iter().chain(states) {
        for at in (at..at + LINE).step_by(8) {
            if !random.next().is_multiple_of(3) {
                memory.seek(SeekFrom::Start(start + at as u64))?;
                memory.write_all(&random.word().to_ne_bytes())?;
            }
        }
    }
    Ok(())
}

/// All but rank 1 wait for it, which writes.
fn writing(then: fn()) -> Result<()> {
    let world = motet::launch(RANKS)?;
    world.set_error_handler(ErrorHandler::Return);
    world.barrier()?;
    if world.rank() == 1 {
        stray().expect("memory can be written");
        then();
    }
    // What comes of it is theirs alone.
    for _ in 0..100 {
        world.allreduce_one(1, Sum)?;
    }
    Ok(())
}

fn writes_and_dies() -> Result<()> {
    writing(|| process::exit(3))
}

fn writes_and_works() -> Result<()> {
    writing(|| {})
}
