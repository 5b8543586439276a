//! Mistakes of a program that end its job: each job ends soon, with the right exit code, and what
//! it says names the rank, what is wrong and what to do.
//!
//! The program runs each of its cases by running itself, under a time limit; a case becomes three
//! processes by `motet::launch`.

mod cases;

use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use cases::{CASE, TestCase, end_of, main_of};
use motet::{Result, Sum, Tag, World};
use rustix::process::{Signal, getpid, kill_process};

/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);
const TAG: Tag = Tag(4);
/// Why a process ends with another code than the program has returned.
const OTHER_CODE: &str = "ends with exit code 1 instead of 0: MOTET_CHECK has found";

/// What a job has come to.
struct Ended {
    code: Option<i32>,
    words: String,
}

struct Case {
    name: &'static str,
    /// What each rank does.
    body: fn(World) -> Result<()>,
    /// Whether it runs in check mode.
    checks: bool,
    /// The exit code of the job.
    code: i32,
    /// What is said.
    says: &'static [&'static str],
    /// What is not said.
    never: &'static [&'static str],
}

/// A job that ends well without a word.
const WELL: Case =
    Case { name: "", body: |_| Ok(()), checks: false, code: 0, says: &[], never: &["motet"] };
/// A job that fails.
const ILL: Case = Case { code: 1, never: &["internal error"], ..WELL };
/// A job in check mode that fails.
const CHECKED: Case = Case { checks: true, ..ILL };

const CASES: [Case; 26] = [
    Case {
        name: "an_error_that_main_returns_ends_the_job",
        body: |world| match world.rank() {
            1 => world.gather(&[1, 2], &mut [0], 1),
            _ => world.barrier(),
        },
        says: &["gather on rank 1: the output has 1 elements, but one block of 2"],
        never: &["before leaving the world"],
        ..ILL
    },
    Case {
        name: "a_panic_ends_the_job",
        body: |world| match world.rank() {
            1 => panic!("on purpose"),
            _ => world.barrier(),
        },
        code: 101,
        says: &["on purpose", "motet: rank 1 (process ", "panicked; the other 2 ranks were ended"],
        ..ILL
    },
    Case {
        name: "an_exit_with_a_code_is_a_death_with_that_code",
        body: |world| match world.rank() {
            1 => process::exit(7),
            _ => world.barrier(),
        },
        code: 7,
        says: &["rank 1 exited with code 7 before leaving the world", "the other 2 ranks"],
        never: &["World::leave"],
        ..ILL
    },
    Case {
        name: "an_exit_without_an_error_is_told_how_to_leave",
        body: |world| {
            world.barrier()?;
            if world.rank() == 1 {
                process::exit(0);
            }
            world.barrier()
        },
        says: &[
            "barrier on rank 0: rank 1 exited with code 0 before leaving the world",
            "; call MPI_Finalize before the process ends (in Rust, drop the World or call ",
        ],
        ..ILL
    },
    Case {
        name: "a_world_in_a_static_is_told_how_to_leave",
        body: |world| {
            static KEPT: OnceLock<World> = OnceLock::new();
            KEPT.get_or_init(|| world).barrier()
        },
        says: &["exited with code 0 before leaving the world", "or call World::leave)"],
        ..ILL
    },
    Case {
        name: "a_world_in_a_static_can_be_left",
        body: |world| {
            static KEPT: OnceLock<World> = OnceLock::new();
            let world = KEPT.get_or_init(|| world);
            world.barrier()?;
            world.leave()?;
            world.leave()
        },
        ..WELL
    },
    Case {
        name: "a_process_may_exit_when_it_has_left",
        body: |world| {
            world.barrier()?;
            world.leave()?;
            process::exit(0)
        },
        ..WELL
    },
    Case {
        name: "a_process_that_has_left_may_exit_with_a_code",
        body: |world| {
            // All have left, so none waits for another, and the code says all.
            let sent = world.isend(vec![1u8; 1 << 20], (world.rank() + 1) % 3, TAG)?;
            world.recv(&mut [0u8; 1 << 20], (world.rank() + 2) % 3, TAG)?;
            world.leave()?;
            drop(sent);
            process::exit(3)
        },
        code: 3,
        never: &["internal error", "before leaving the world"],
        ..ILL
    },
    Case {
        name: "a_rank_that_returns_early_is_named_with_what_to_do",
        body: |world| match world.rank() {
            1 => Ok(()),
            _ => world.barrier(),
        },
        says: &[
            "rank 1 of the world has finalized",
            "make all calls that others wait for before it",
        ],
        never: &["before leaving the world"],
        ..ILL
    },
    Case {
        name: "a_rank_that_leaves_early_is_named",
        body: |world| match world.rank() {
            1 => world.leave(),
            _ => world.barrier(),
        },
        says: &["rank 1 of the world has finalized"],
        ..ILL
    },
    Case {
        name: "an_abort_ends_the_job_with_its_code",
        body: |world| match world.rank() {
            1 => world.abort(9),
            _ => world.barrier(),
        },
        code: 9,
        says: &["motet: rank 1 of communicator \"world\" ends the job with code 9"],
        ..ILL
    },
    Case {
        name: "a_signal_is_named",
        body: |world| {
            // A Rust program lets the first one pass: it may have been a guard page.
            for _ in 0..if world.rank() == 1 { 2 } else { 0 } {
                kill_process(getpid(), Signal::SEGV).expect("a signal for this process");
            }
            world.barrier()
        },
        code: 139,
        says: &["rank 1 was killed by signal 11 (SIGSEGV)", "the other 2 ranks were ended"],
        ..ILL
    },
    Case {
        name: "an_abort_of_the_process_is_named",
        body: |world| match world.rank() {
            1 => process::abort(),
            _ => world.barrier(),
        },
        code: 134,
        says: &["rank 1 was killed by signal 6 (SIGABRT)", "the other 2 ranks were ended"],
        ..ILL
    },
    Case {
        name: "a_destination_that_there_is_not_is_an_error",
        body: |world| match world.rank() {
            2 => world.send(&[1u8], 17, TAG),
            _ => world.barrier(),
        },
        says: &["send on rank 2: destination 17 is not in a communicator of 3 ranks"],
        ..ILL
    },
    Case {
        name: "a_root_that_there_is_not_is_an_error",
        body: |world| world.bcast(&mut [1], 99),
        says: &[
            "bcast on rank 0: root 99 is not in",
            "bcast on rank 1: root 99 is not in",
            "bcast on rank 2: root 99 is not in",
        ],
        ..ILL
    },
    Case {
        name: "a_message_that_is_too_long_is_an_error",
        body: |world| match world.rank() {
            0 => world.send(&[1u8; 10], 1, TAG),
            1 => world.recv(&mut [0u8; 4], 0, TAG).map(drop),
            _ => Ok(()),
        },
        says: &["recv on rank 1: message truncated (10 bytes sent, room for 4)"],
        ..ILL
    },
    Case {
        name: "another_type_of_elements_is_an_error",
        body: |world| match world.rank() {
            1 => world.bcast(&mut [0u8; 4], 0),
            _ => world.bcast(&mut [0i8; 4], 0),
        },
        says: &["bcast on rank 1: type mismatch (rank 0 of the world sent i8"],
        ..ILL
    },
    Case {
        name: "a_message_that_nobody_sends_is_an_error_when_its_sender_has_left",
        body: |world| match world.rank() {
            0 => world.recv(&mut [0u8; 4], 1, TAG).map(drop),
            _ => Ok(()),
        },
        says: &["recv on rank 0: rank 1 of the world has finalized"],
        ..ILL
    },
    Case { name: "a_check_of_a_right_program_says_nothing", body: right, checks: true, ..WELL },
    Case {
        name: "a_check_names_lengths_that_differ",
        body: |world| world.bcast(&mut vec![0; if world.rank() == 1 { 5 } else { 3 }], 0),
        says: &["rank 0 called bcast(3 × i32, root 0) at", "rank 1 called bcast(5 × i32, root 0)"],
        ..CHECKED
    },
    Case {
        name: "a_check_names_roots_that_differ_although_no_call_fails",
        body: |world| world.bcast(&mut [0; 3], usize::from(world.rank() == 1)),
        says: &["called bcast(3 × i32, root 0) at", "called bcast(3 × i32, root 1) at", OTHER_CODE],
        ..CHECKED
    },
    Case {
        name: "a_check_names_another_order",
        body: |world| match world.rank() {
            1 => world.barrier(),
            _ => world.bcast(&mut [0i8; 4], 0),
        },
        says: &["rank 0 called bcast(4 × i8, root 0) at", "rank 1 called barrier() at"],
        ..CHECKED
    },
    Case {
        name: "a_check_fails_although_the_program_ignores_the_error",
        body: |world| {
            let _ = match world.rank() {
                1 => world.allreduce_in_place(&mut [1; 5], Sum),
                _ => world.allreduce_in_place(&mut [1; 3], Sum),
            };
            let _ = world.barrier();
            Ok(())
        },
        says: &[OTHER_CODE],
        ..CHECKED
    },
    Case {
        name: "a_check_fails_although_the_process_exits_well",
        body: |world| {
            let _ = world.bcast(&mut [0; 3], usize::from(world.rank() == 1));
            let _ = world.leave();
            process::exit(0)
        },
        says: &[OTHER_CODE],
        ..CHECKED
    },
    Case {
        name: "a_check_of_ranks_that_are_threads_fails",
        body: |world| {
            let _ = motet::threads(2, |ranks| ranks.bcast(&mut [0; 3], ranks.rank()).is_ok());
            world.leave()
        },
        says: &[OTHER_CODE],
        ..CHECKED
    },
    Case {
        name: "a_check_leaves_other_exit_codes_alone",
        body: |world| {
            let _ = world.bcast(&mut [0; 3], usize::from(world.rank() == 1));
            let _ = world.leave();
            process::exit(5)
        },
        code: 5,
        never: &[OTHER_CODE],
        ..CHECKED
    },
];

/// Collectives in all three forms, messages, and a communicator that is dropped.
fn right(world: World) -> Result<()> {
    let me = world.rank();
    let next = world.dup()?;
    assert_eq!(next.allreduce_one(me, Sum)?, 3);
    next.ibarrier()?.wait()?;
    let sent = world.isend(vec![me], (me + 1) % 3, TAG)?;
    world.recv(&mut [0usize], (me + 2) % 3, TAG)?;
    sent.wait()?;
    drop(next);
    world.barrier()?;
    world.leave()
}

fn main() -> ExitCode {
    main_of(&CASES)
}

impl TestCase for Case {
    fn name(&self) -> &'static str {
        self.name
    }

    fn run_body(&self) -> Result<()> {
        (self.body)(motet::launch(3)?)
    }

    fn run(&self) -> std::result::Result<(), String> {
        let Ended { code, words } = job(self).map_err(|error| error.to_string())?;
        let is_right = code == Some(self.code)
            && self.says.iter().all(|text| words.contains(text))
            && !self.never.iter().any(|text| words.contains(text));
        if is_right { Ok(()) } else { Err(format!("exit code {code:?}\n{words}")) }
    }
}

/// Runs a case as a job of its own.
fn job(case: &Case) -> std::io::Result<Ended> {
    let written = tempfile::NamedTempFile::new()?;
    let mut program = Command::new(env::current_exe()?);
    let mut job = program
        .env(CASE, case.name)
        .env(motet::env::CHECK, if case.checks { "1" } else { "0" })
        .env_remove(motet::env::HANG_SECONDS)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(written.reopen()?)
        .spawn()?;
    let code = end_of(&mut job, Instant::now() + LIMIT)?.and_then(|status| status.code());
    Ok(Ended { code, words: fs::read_to_string(written.path())? })
}
