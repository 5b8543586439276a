//! Every collective, in every form, on one group (in place and not) and between two, on three
//! layouts, for seven numbers of ranks and five lengths, on threads and on processes, against an
//! oracle of plain loops; and every algorithm in turn.
//!
//! By default it tries a part of the cases, the same each time. `MOTET_MATRIX=all` tries all of
//! them, which takes a long time; the number of cases is told either way.

mod matrix {
    pub(crate) mod case;
    pub(crate) mod layout;
    pub(crate) mod oracle;
    pub(crate) mod perform;
}

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use matrix::{case, layout, oracle, perform};
use motet::{Settings, World};

use case::{Case, RANKS};
use perform::{Ended, Places};

/// Tells a program that it is to try the cases for so many ranks as processes.
const RANKS_OF_THIS: &str = "MOTET_TEST_RANKS";
/// Asks for all cases.
const MATRIX: &str = "MOTET_MATRIX";

/// Sparse collectives, in which each rank has neighbours of its own: `sparse.rs` and
/// `node_exchange.rs` force their algorithms.
const TRIED_ELSEWHERE: [&str; 3] = ["exchange", "neighbor_reduce", "node_exchange"];

/// Tries all cases, or some.
type Try = fn(bool) -> Result<Tally, String>;

/// What became of many cases.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    passed: usize,
    refused: usize,
}

fn main() -> ExitCode {
    let all = env::var(MATRIX).is_ok_and(|value| value == "all");
    if let Some(ranks) = env::var(RANKS_OF_THIS).ok().and_then(|text| text.parse().ok()) {
        return as_processes(ranks, all);
    }
    if env::args().any(|argument| argument == "--list") {
        println!("matrix_on_threads: test\nmatrix_on_processes: test\nevery_algorithm: test");
        return ExitCode::SUCCESS;
    }
    limit(Duration::from_secs(if all { 4 * 3600 } else { 600 }));
    let mut failures = 0;
    let parts: [(&str, Try); 3] = [
        ("matrix_on_threads", on_threads),
        ("matrix_on_processes", on_processes),
        ("every_algorithm", every_algorithm),
    ];
    let wanted = env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, part) in parts {
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let begun = Instant::now();
        match part(all) {
            Ok(Tally { passed, refused }) => {
                let seconds = begun.elapsed().as_secs_f64();
                println!("test {name} ... ok: {passed} cases, {refused} refused, {seconds:.1} s");
            }
            Err(problem) => {
                failures += 1;
                println!("test {name} ... FAILED: {problem}");
            }
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ends the program if it hangs.
fn limit(patience: Duration) {
    thread::spawn(move || {
        thread::sleep(patience);
        eprintln!("watchdog: the matrix is not over after {patience:?}");
        std::process::abort();
    });
}

fn chosen(ranks: usize, all: bool, number: usize) -> Vec<Case> {
    let cases = case::all(ranks);
    if all { cases } else { case::some(cases, number) }
}

/// spec: 3, 20, 21, 22, 23, 42, 69, 70, 71, 72, 73, 74, 75, 80, 82, 84, 86, 88, 89, 91, 95, 139
fn on_threads(all: bool) -> Result<Tally, String> {
    let mut sum = Tally::default();
    for ranks in RANKS {
        let begun = Instant::now();
        sum = sum.and(try_on_threads(&Settings::new(), &chosen(ranks, all, 650), ranks)?);
        progress(all, &format!("{ranks} threads"), sum, begun);
    }
    Ok(sum)
}

/// All cases take long: somebody wants to know how far they are.
fn progress(all: bool, what: &str, Tally { passed, .. }: Tally, begun: Instant) {
    if all {
        println!("  {what}: {:.0} s, {passed} cases so far", begun.elapsed().as_secs_f64());
    }
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        Tally { passed: self.passed + other.passed, refused: self.refused + other.refused }
    }
}

fn try_on_threads(settings: &Settings, cases: &[Case], ranks: usize) -> Result<Tally, String> {
    let told = motet::threads_with(ranks, settings, |world| try_all(&world, cases));
    let told = told.map_err(|error| error.to_string())?;
    told.into_iter().next_back().unwrap_or_else(|| Ok(Tally::default()))
}

/// Tries cases on one rank.
fn try_all(world: &World, cases: &[Case]) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let places = match Places::new(world) {
        Ok(places) => places,
        // Making communicators takes collectives too.
        Err(error) if matches!(error.kind(), motet::ErrorKind::Select(_)) => {
            tally.refused = cases.len();
            return Ok(tally);
        }
        Err(error) => return Err(error.to_string()),
    };
    for case in cases {
        match places.play(case) {
            Ok(Ended::Passed) => tally.passed += 1,
            Ok(Ended::Refused) => tally.refused += 1,
            Err(problem) => {
                let problem = format!("rank {}: {problem}\n  in {case:?}", world.rank());
                eprintln!("{problem}");
                // The others wait for this rank, and would never end.
                std::process::exit(1);
            }
        }
    }
    Ok(tally)
}

/// Each number of ranks as a job of its own.
///
/// spec: 3, 42, 86, 88, 89, 91, 139
fn on_processes(all: bool) -> Result<Tally, String> {
    let mut sum = Tally::default();
    let program = env::current_exe().map_err(|error| error.to_string())?;
    for ranks in RANKS {
        let begun = Instant::now();
        let ended = Command::new(&program)
            .env(RANKS_OF_THIS, ranks.to_string())
            .stdin(Stdio::null())
            .status()
            .map_err(|error| error.to_string())?;
        if !ended.success() {
            return Err(format!("{ranks} processes: {ended}"));
        }
        sum.passed += chosen(ranks, all, 260).len();
        progress(all, &format!("{ranks} processes"), sum, begun);
    }
    Ok(sum)
}

/// This program, as the processes of a world.
fn as_processes(ranks: usize, all: bool) -> ExitCode {
    limit(Duration::from_secs(if all { 2 * 3600 } else { 300 }));
    let world = match motet::launch(ranks) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match try_all(&world, &chosen(ranks, all, 260)) {
        Ok(Tally { refused: 0, .. }) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Each algorithm takes all calls of its collective in turn, as if by `MOTET_ALGORITHM`.
fn every_algorithm(all: bool) -> Result<Tally, String> {
    let mut sum = Tally::default();
    for row in motet_plan::algo::table() {
        let begun = Instant::now();
        let (collective, name) = (row.collective().name(), row.name());
        let settings = Settings::new().algorithms(&format!("{collective}:{name}"));
        // Some algorithms need nodes.
        let settings = settings.map_err(|error| error.to_string())?.ranks_per_node(2);
        let mut passed = 0;
        for ranks in [3, 4, 8] {
            let mut cases = case::all(ranks);
            cases.retain(|case| case.kind.planned(case.between()) == collective);
            let cases = if all { cases } else { case::some(cases, 20) };
            let tally = try_on_threads(&settings, &cases, ranks)
                .map_err(|problem| format!("{collective}:{name}: {problem}"))?;
            passed += tally.passed;
            sum = sum.and(tally);
        }
        progress(all, &format!("{collective}:{name}"), sum, begun);
        if passed == 0 && !TRIED_ELSEWHERE.contains(&collective) {
            return Err(format!("{collective}:{name} took no call at all"));
        }
    }
    Ok(sum)
}
