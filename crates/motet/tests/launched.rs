//! Ranks that another library's launcher has started: here one that speaks PMI-1 and does not care
//! what becomes of its processes.
//!
//! The program is launcher and ranks: as the launcher it starts itself as many times as a case has
//! ranks, each with a socket at whose other end a thread serves it.

mod cases;
#[path = "launched/server.rs"]
mod server;

use std::error::Error;
use std::fs::File;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use cases::{CASE, TestCase, end_of, main_of};
use motet::{ErrorKind, How, Result, Sum, Tag, World};
use rustix::io::{FdFlags, fcntl_setfd};
use server::Server;
use tempfile::TempDir;

/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);

/// What came of a rank.
#[derive(Debug)]
struct Ended {
    /// Its exit code; nothing if it was killed.
    code: Option<i32>,
    /// What it wrote on its standard error.
    words: String,
}

/// What came of a job.
#[derive(Debug)]
struct Outcome {
    ranks: Vec<Ended>,
    /// What the server was asked for, all ranks together.
    asked: Vec<String>,
}

struct Case {
    name: &'static str,
    /// What each rank does.
    body: fn() -> Result<()>,
    ranks: usize,
    /// How many of them never start.
    missing: usize,
    /// Requests after which the server hangs up.
    requests: usize,
    /// Variables that the ranks have.
    variables: &'static [(&'static str, &'static str)],
    check: fn(&Outcome) -> bool,
}

const CASE_OF_THREE: Case = Case {
    name: "ranks_find_each_other_and_take_leave",
    body: collective,
    ranks: 3,
    missing: 0,
    requests: usize::MAX,
    variables: &[],
    check: |job| job.all_succeeded() && job.count("finalize") == 3,
};

const CASES: [Case; 10] = [
    CASE_OF_THREE,
    Case { name: "one_rank_is_a_world", ranks: 1, check: Outcome::all_succeeded, ..CASE_OF_THREE },
    Case {
        name: "a_killed_rank_is_named_to_the_others_within_a_second",
        body: killed,
        check: |job| job.all_but_the_last(|rank| rank.words.contains("has been told")),
        ..CASE_OF_THREE
    },
    Case {
        name: "a_panic_is_a_death",
        body: panicked,
        check: |job| {
            job.all_but_the_last(|rank| rank.words.contains("has been told"))
                && job.count("finalize") == 2
        },
        ..CASE_OF_THREE
    },
    Case {
        name: "abort_is_passed_on_with_its_code",
        body: aborted,
        check: |job| {
            // This launcher kills nobody.
            let is_silent_end = |rank: &Ended| rank.code.is_none() && rank.words.is_empty();
            job.count("abort exitcode=5") == 1
                && job.ranks[2].code == Some(5)
                && job.all_but_the_last(is_silent_end)
        },
        ..CASE_OF_THREE
    },
    Case {
        name: "a_server_that_goes_is_an_error",
        requests: 4,
        check: |job| job.all_say("its PMI server"),
        ..CASE_OF_THREE
    },
    Case {
        name: "a_rank_that_never_comes_is_an_error_in_time",
        missing: 1,
        variables: &[("MOTET_LAUNCH_SECONDS", "1")],
        check: |job| job.all_say("a rank does not come"),
        ..CASE_OF_THREE
    },
    Case {
        name: "a_program_that_a_rank_starts_is_no_rank",
        body: starts_another,
        check: |job| job.all_succeeded() && job.count("finalize") == 3,
        ..CASE_OF_THREE
    },
    Case {
        name: "who_wants_to_be_alone_is_alone",
        body: alone,
        variables: &[("MOTET_BOOTSTRAP", "alone")],
        check: |job| job.all_succeeded() && job.asked.is_empty(),
        ..CASE_OF_THREE
    },
    Case {
        name: "a_protocol_that_is_not_offered_is_an_error",
        variables: &[("MOTET_BOOTSTRAP", "pmix")],
        check: |job| job.all_say("MOTET_BOOTSTRAP=pmix, which it does not offer"),
        ..CASE_OF_THREE
    },
];

impl Outcome {
    fn all_succeeded(&self) -> bool {
        self.ranks.iter().all(|rank| rank.code == Some(0))
    }

    fn all_say(&self, text: &str) -> bool {
        self.ranks.iter().all(|rank| rank.code == Some(1) && rank.words.contains(text))
    }

    fn all_but_the_last(&self, is_right: impl Fn(&Ended) -> bool) -> bool {
        let (last, others) = self.ranks.split_last().expect("there are ranks");
        last.code != Some(0) && others.iter().all(is_right)
    }

    fn count(&self, request: &str) -> usize {
        let line = format!("cmd={request}");
        self.asked.iter().filter(|asked| **asked == line).count()
    }
}

fn main() -> ExitCode {
    main_of(&CASES)
}

impl TestCase for Case {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run_body(&self) -> Result<()> {
        (self.body)()
    }

    fn run(&self) -> std::result::Result<(), String> {
        match run(self) {
            Ok(outcome) if (self.check)(&outcome) => Ok(()),
            outcome => Err(format!("{outcome:#?}")),
        }
    }
}

/// Launches a case and waits for its end.
fn run(case: &Case) -> Result<Outcome, Box<dyn Error>> {
    let (folder, server) = (TempDir::new()?, Server::new(case.ranks, case.requests));
    let mut ranks = Vec::new();
    for rank in 0..case.ranks - case.missing {
        ranks.push(start(case, rank, &server, &folder)?);
    }
    let deadline = Instant::now() + LIMIT;
    let mut ended = Vec::new();
    for (rank, process) in ranks.iter_mut().enumerate() {
        let code = end_of(process, deadline)?.and_then(|status| status.code());
        ended.push(Ended { code, words: fs::read_to_string(file(&folder, rank))? });
    }
    Ok(Outcome { ranks: ended, asked: server.asked() })
}

fn file(folder: &TempDir, rank: usize) -> std::path::PathBuf {
    folder.path().join(rank.to_string())
}

fn start(case: &Case, rank: usize, server: &Server, folder: &TempDir) -> std::io::Result<Child> {
    let socket = server.serve(rank)?;
    // The next process shall have it. It is closed here before another one is started.
    fcntl_setfd(&socket, FdFlags::empty())?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&socket);
    Command::new(env::current_exe()?)
        .env(CASE, case.name)
        .env("PMI_FD", descriptor.to_string())
        .env("PMI_RANK", rank.to_string())
        .env("PMI_SIZE", case.ranks.to_string())
        .envs(case.variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(file(folder, rank))?)
        .spawn()
}

fn collective() -> Result<()> {
    let world = motet::init()?;
    let mut sum = [0];
    world.allreduce(&[world.rank() as u64 + 1], &mut sum, Sum)?;
    let ranks = world.size() as u64;
    assert_eq!(sum, [ranks * (ranks + 1) / 2]);
    Ok(())
}

/// The last rank ends in some way, and the others have to learn of it.
fn without_the_last(end: impl Fn(&World), how: How) -> Result<()> {
    let world = motet::init()?;
    world.set_error_handler(motet::ErrorHandler::Return);
    world.barrier()?;
    let last = world.size() - 1;
    let begun = Instant::now();
    if world.rank() == last {
        end(&world);
    }
    let error = world.recv(&mut [0u8], last, Tag(1)).expect_err("nobody sends");
    let ErrorKind::PeerFailed(failure) = error.kind() else { return Err(error) };
    assert_eq!((failure.rank.index(), failure.how), (last, how));
    let late = begun.elapsed();
    assert!(late < Duration::from_millis(1100), "told after {late:?}");
    eprintln!("rank {} has been told", world.rank());
    Err(error)
}

fn killed() -> Result<()> {
    let kill = |_: &World| {
        let me = process::id().to_string();
        let _ = Command::new("kill").args(["-KILL", &me]).status();
        thread::sleep(LIMIT);
    };
    without_the_last(kill, How::Vanished)
}

fn panicked() -> Result<()> {
    without_the_last(|_| panic!("as it is to be"), How::Panic)
}

fn aborted() -> Result<()> {
    without_the_last(|world| world.abort(5), How::Vanished)
}

fn starts_another() -> Result<()> {
    let world = motet::init()?;
    let again = Command::new(env::current_exe().expect("this program has a file"))
        .env(CASE, CASE_OF_THREE.name)
        .output()
        .expect("it can be started");
    let words = String::from_utf8_lossy(&again.stderr);
    assert!(!again.status.success() && words.contains("is not the socket that PMI_FD"), "{words}");
    world.barrier()
}

fn alone() -> Result<()> {
    let world = motet::init()?;
    assert_eq!((world.rank(), world.size()), (0, 1));
    Ok(())
}
