//! Ranks and launchers to which the system refuses calls: what the library can do without is done
//! without, and what it cannot is an error with words. Nobody is declared dead for it, nothing
//! hangs, nothing panics.
//!
//! The program is its own test case, launcher and rank. Under "another launcher" it is started by a
//! server of PMI-1 that does not care what becomes of its processes.

mod cases;
mod refused {
    pub(crate) mod filter;
}
#[path = "launched/server.rs"]
#[allow(dead_code)] // what it was asked for is asked elsewhere
mod server;

use std::error::Error;
use std::fs::{self, File};
use std::future::Future;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::pin::pin;
use std::process::{Command, ExitCode, Stdio};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use std::{env, iter, thread};

use cases::{CASE, Case, Check, end_of, main_of};
use libc::{c_int, c_long};
use motet::{Result, Sum, Tag, World};
use motet_fabric::net::Library;
use refused::filter::refuse;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::Server;
use tempfile::TempDir;

/// Tells it which call is refused, and how: two numbers.
const REFUSED: &str = "MOTET_TEST_REFUSED";
/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);
const RANKS: usize = 3;
const TAG: Tag = Tag(1);

/// How the system refuses a call: as sandboxes do, and as kernels that do not know it.
const ERRORS: [(c_int, &str); 2] = [(libc::EPERM, "EPERM"), (libc::ENOSYS, "ENOSYS")];

/// Calls that make something faster, tidier or safer: the job runs without them.
const OPTIONAL: [(c_long, &str); 18] = [
    (libc::SYS_close_range, "close_range"),
    (libc::SYS_eventfd2, "eventfd2"),
    (libc::SYS_getcpu, "getcpu"),
    (libc::SYS_getpgid, "getpgid"),
    (libc::SYS_kill, "kill"),
    (libc::SYS_madvise, "madvise"),
    (libc::SYS_mbind, "mbind"),
    (libc::SYS_membarrier, "membarrier"),
    (libc::SYS_pidfd_getfd, "pidfd_getfd"),
    (libc::SYS_pidfd_open, "pidfd_open"),
    (libc::SYS_prctl, "prctl"),
    (libc::SYS_prlimit64, "prlimit64"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_sched_getaffinity, "sched_getaffinity"),
    (libc::SYS_sched_setaffinity, "sched_setaffinity"),
    (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_waitid, "waitid"),
];

/// Calls without which there is no job, and what the error says that they are for.
const NEEDED: [(c_long, &str, &str); 4] = [
    (libc::SYS_memfd_create, "memfd_create", "create the shared segment"),
    (libc::SYS_signalfd4, "signalfd4", "take over the signals"),
    (libc::SYS_setpgid, "setpgid", "start the guard of the ranks"),
    (libc::SYS_epoll_create1, "epoll_create1", "watch the output of the ranks"),
];

const CASES: [Case<Check>; 8] = [
    Case {
        name: "under_our_launcher_calls_may_be_refused",
        body: || work(&motet::launch(RANKS)?),
        expected: |case| each_optional(|call, errno| relaunched(case, call, errno)),
    },
    Case {
        name: "under_another_launcher_calls_may_be_refused",
        body: || work(&motet::init()?),
        expected: |case| each_optional(|call, errno| launched(case, Some((call, errno)))),
    },
    Case {
        name: "calls_that_are_needed_are_named",
        body: || work(&motet::launch(RANKS)?),
        expected: needed,
    },
    Case {
        name: "a_rank_without_descriptors_takes_nobody_for_dead",
        body: without_descriptors,
        expected: |case| all_well(&launched(case, None)?).map_err(Into::into),
    },
    Case {
        name: "a_rank_without_descriptors_for_the_network_says_that_it_is_the_one",
        body: without_descriptors_for_the_network,
        expected: |case| {
            if Library::open().is_err() {
                println!("(not tested: there is no libfabric)");
                return Ok(());
            }
            let ended = launched_with(case, None, "1")?;
            let all: String = ended.iter().map(|(_, words)| words.as_str()).collect();
            let is_right = all.contains("rank 1 cannot use the network any more: Too many open")
                && !all.contains("is lost");
            if is_right { Ok(()) } else { Err(format!("{ended:?}").into()) }
        },
    },
    Case {
        name: "a_progress_thread_that_is_refused_is_an_error_of_init",
        body: || work(&motet::launch(RANKS)?),
        expected: |case| {
            let ended = relaunched_with(case, NO_THREAD, libc::EAGAIN, "thread")?;
            says(&ended, "thread that makes progress")
        },
    },
    Case {
        name: "a_future_for_which_no_thread_can_be_started_is_an_error",
        body: with_future,
        expected: |case| {
            says(&relaunched(case, NO_THREAD, libc::EAGAIN)?, "thread that makes progress")
        },
    },
    Case {
        name: "a_watch_for_which_no_thread_can_be_started_is_an_error",
        body: || work(&motet::init()?),
        expected: |case| {
            says(&launched(case, Some((NO_THREAD, libc::EAGAIN)))?, "thread that watches")
        },
    },
];

/// The call by which the C library starts threads. It starts processes by another one.
const NO_THREAD: c_long = libc::SYS_clone3;

/// What came of a process: its exit code, if it was not killed, and its standard error.
type Ended = (Option<i32>, String);

fn main() -> ExitCode {
    if let Ok(text) = env::var(REFUSED)
        // Ranks of our launcher have the filter from it.
        && env::var_os(motet_fabric::bootstrap::RANK).is_none()
    {
        let (call, errno) = text.split_once(' ').expect("two numbers");
        let (call, errno) = (call.parse().expect("a number"), errno.parse().expect("a number"));
        refuse(call, errno).expect("filters are allowed");
    }
    main_of(&CASES)
}

/// Runs a job for each call that may be refused and each way to refuse it.
fn each_optional(
    run: impl Fn(c_long, c_int) -> Result<Vec<Ended>, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut problems = Vec::new();
    for (call, name) in OPTIONAL {
        for (errno, error) in ERRORS {
            if let Err(problem) = all_well(&run(call, errno)?) {
                problems.push(format!("{name} refused with {error}: {problem}"));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn all_well(ended: &[Ended]) -> std::result::Result<(), String> {
    match ended.iter().all(|(code, words)| *code == Some(0) && words.is_empty()) {
        true => Ok(()),
        false => Err(format!("{ended:?}")),
    }
}

/// One line that says what the call is for and what the system said, and a code of an error.
fn needed(case: &str) -> Result<(), Box<dyn Error>> {
    for (call, name, purpose) in NEEDED {
        for (errno, error) in ERRORS {
            let ended = relaunched(case, call, errno)?;
            let (code, words) = &ended[0];
            let is_named = words.contains(purpose) && words.contains("os error");
            if *code != Some(1) || !is_named || words.lines().count() != 1 {
                return Err(format!("{name} refused with {error}: {ended:?}").into());
            }
        }
    }
    Ok(())
}

/// Each process ends with an error in these words, and without a panic.
fn says(ended: &[Ended], text: &str) -> Result<(), Box<dyn Error>> {
    let is_right = |(code, words): &Ended| {
        *code == Some(1) && words.contains(text) && !words.contains("panicked")
    };
    if ended.iter().all(is_right) { Ok(()) } else { Err(format!("{ended:?}").into()) }
}

/// Runs a case that starts its ranks itself.
fn relaunched(case: &str, call: c_long, errno: c_int) -> Result<Vec<Ended>, Box<dyn Error>> {
    relaunched_with(case, call, errno, "")
}

/// The same with this for `MOTET_PROGRESS`.
fn relaunched_with(
    case: &str,
    call: c_long,
    errno: c_int,
    progress: &str,
) -> Result<Vec<Ended>, Box<dyn Error>> {
    let folder = TempDir::new()?;
    let errors = folder.path().join("errors");
    let mut job = Command::new(env::current_exe()?)
        .env(CASE, case)
        .env(REFUSED, format!("{call} {errno}"))
        .env(motet::env::PROGRESS, progress)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&errors)?)
        // What a launcher may kill by mistake is its own group alone.
        .process_group(0)
        .spawn()?;
    let code = end_of(&mut job, Instant::now() + LIMIT)?.and_then(|status| status.code());
    Ok(vec![(code, fs::read_to_string(errors)?)])
}

/// Runs a case whose ranks are started here.
fn launched(case: &str, refused: Option<(c_long, c_int)>) -> Result<Vec<Ended>, Box<dyn Error>> {
    launched_with(case, refused, "")
}

/// The same with this for `MOTET_RANKS_PER_SEGMENT`.
fn launched_with(
    case: &str,
    refused: Option<(c_long, c_int)>,
    share: &str,
) -> Result<Vec<Ended>, Box<dyn Error>> {
    let (folder, server) = (TempDir::new()?, Server::new(RANKS, usize::MAX));
    let file = |rank: usize| folder.path().join(rank.to_string());
    let mut ranks = Vec::new();
    for rank in 0..RANKS {
        let socket = server.serve(rank)?;
        // The next process shall have it. It is closed here before another one is started.
        fcntl_setfd(&socket, FdFlags::empty())?;
        let mut command = Command::new(env::current_exe()?);
        command.env(CASE, case).env("PMI_FD", socket.as_raw_fd().to_string());
        command.env("PMI_RANK", rank.to_string()).env("PMI_SIZE", RANKS.to_string());
        command.env(motet::env::RANKS_PER_SEGMENT, share);
        if let Some((call, errno)) = refused {
            command.env(REFUSED, format!("{call} {errno}"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(file(rank))?);
        ranks.push(command.spawn()?);
    }
    let deadline = Instant::now() + LIMIT;
    let mut ended = Vec::new();
    for (rank, process) in ranks.iter_mut().enumerate() {
        let code = end_of(process, deadline)?.and_then(|status| status.code());
        ended.push((code, fs::read_to_string(file(rank))?));
    }
    Ok(ended)
}

/// Something of everything that asks the system for more than memory.
fn work(world: &World) -> Result<()> {
    let (me, ranks) = (world.rank(), world.size());
    for count in [1, 1000, 300_000] {
        let sum = world.iallreduce(vec![me as u64; count], Sum)?;
        assert_eq!(sum.wait()?, vec![3; count]);
        let (next, last) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
        let sent = vec![me as u32; count];
        let mut got = vec![0u32; count];
        world.sendrecv((&sent[..], next, TAG), (&mut got[..], last, TAG))?;
        assert_eq!(got, vec![last as u32; count]);
    }
    // Who waits for one that comes late sleeps.
    if me == 0 {
        thread::sleep(Duration::from_millis(30));
    }
    world.barrier()
}

/// Rank 0 asks for what the others have not begun yet.
fn with_future() -> Result<()> {
    let world = motet::launch(RANKS)?;
    if world.rank() > 0 {
        thread::sleep(Duration::from_millis(100));
        return world.barrier();
    }
    let mut pending = pin!(world.ibarrier()?);
    let mut context = Context::from_waker(Waker::noop());
    match pending.as_mut().poll(&mut context) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Ok(()),
    }
}

/// All descriptors that this process may still have.
fn all_descriptors() -> Vec<File> {
    let limit = Rlimit { current: Some(100), maximum: getrlimit(Resource::Nofile).maximum };
    setrlimit(Resource::Nofile, limit).expect("a limit can be lowered");
    iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

/// Rank 1 wants to send its first message when no connection can be opened any more.
fn without_descriptors_for_the_network() -> Result<()> {
    let world = motet::init()?;
    if world.rank() == 1 {
        let _held = all_descriptors();
        return world.send(&[1u8], 0, TAG).and_then(|()| world.barrier());
    }
    world.recv(&mut [0u8], 1, TAG).and_then(|_| world.barrier())
}

/// Rank 1 leaves early, and rank 0 has no descriptor left by then. The others go on.
fn without_descriptors() -> Result<()> {
    let world = motet::init()?;
    let me = world.rank();
    let others = world.split(Some(usize::from(me == 1) as u32), 0)?.expect("each has a part");
    let held = if me == 0 { all_descriptors() } else { Vec::new() };
    world.barrier()?;
    if me == 1 {
        return Ok(());
    }
    let begun = Instant::now();
    loop {
        let is_over = u8::from(begun.elapsed() > Duration::from_millis(1500));
        if others.allreduce_one(is_over, motet::Max)? == 1 {
            break;
        }
    }
    drop(held);
    Ok(())
}
