//! Limits of the system that are too low: the job runs in less memory, or an error says what is
//! needed, what is allowed, and how to raise it. Nothing ends by a signal without a word.
//!
//! The program is its own test case: launcher and ranks. A shell sets the limits.

mod cases;

use std::error::Error;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, hint, process};

use cases::{CASE, Case, Check, end_of, main_of};
use motet::{Result, Sum, Tag, World};
use tempfile::TempDir;

/// More than a case takes on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);
const RANKS: usize = 3;

/// Limits under which three ranks run, by the options of `ulimit`.
const SUFFICIENT_LIMITS: [&str; 12] = [
    "-S -f 1000", // the limit in force can be raised to what is allowed
    "-f 300000",  // no heaps
    "-f 60000",   // small arenas
    "-v 500000",  // no heaps
    "-v 250000",  // small arenas
    "-n 80",      // files
    "-l 0",       // memory that is locked
    "-s 128",     // stack
    "-c 0",       // dumps
    "-i 0",       // signals that wait
    "-q 0",       // message queues
    "-d 100000",  // data
];

/// Limits under which they do not, and what is said of that.
const TOO_LOW: [(&str, &str); 4] = [
    ("-f 1000", "1000 KiB allowed for the file that holds it); raise `ulimit -f`"),
    ("-v 50000", "48 MiB of address space allowed, half of it for the program); raise `ulimit -v`"),
    ("-n 20", "cannot start 3 ranks (73 open files needed, 20 allowed)"),
    ("-S -n 20 && ulimit -H -n 30", "cannot start 3 ranks (73 open files needed, 30 allowed)"),
];

const CASES: [Case<Check>; 4] = [
    Case { name: "ranks_run_in_what_is_allowed", body: work, expected: in_what_is_allowed },
    Case { name: "limits_that_are_too_low_are_named", body: work, expected: too_low },
    Case { name: "a_user_who_may_have_no_more_processes", body: work, expected: no_processes },
    Case { name: "a_group_without_memory_is_named", body: devour, expected: no_memory },
];

/// The exit code and what was said.
type Ended = (Option<i32>, String);

fn main() -> ExitCode {
    main_of(&CASES)
}

fn in_what_is_allowed(case: &str) -> Result<(), Box<dyn Error>> {
    for limit in SUFFICIENT_LIMITS {
        let ended = under(case, &format!("ulimit {limit}"))?;
        if ended != (Some(0), String::new()) {
            return Err(format!("ulimit {limit}: {ended:?}").into());
        }
    }
    Ok(())
}

fn too_low(case: &str) -> Result<(), Box<dyn Error>> {
    for (limit, text) in TOO_LOW {
        let (code, words) = under(case, &format!("ulimit {limit}"))?;
        if code != Some(1) || !words.contains(text) || words.lines().count() != 1 {
            return Err(format!("ulimit {limit}: {code:?}, {words:?}").into());
        }
    }
    Ok(())
}

/// Root may have any number, so it must be another user.
fn no_processes(case: &str) -> Result<(), Box<dyn Error>> {
    if !is_root() {
        println!("(not tested: only root can become a user who has no processes)");
        return Ok(());
    }
    let folder = TempDir::new()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    let program = folder.path().join("program");
    fs::copy(env::current_exe()?, &program)?;
    let user = "setpriv --reuid=65533 --regid=65533 --clear-groups";
    for most in 1..=5 {
        let line = format!("ulimit -u {most} && cd / && exec {user} {}", program.display());
        let (code, words) = under(case, &line)?;
        let is_named = words.contains("guard") || words.contains("cannot start");
        let is_error = code == Some(1) && is_named && words.contains("(`ulimit -u`");
        if !is_error && (code, words.as_str()) != (Some(0), "") {
            return Err(format!("{most} processes: {code:?}, {words:?}").into());
        }
    }
    Ok(())
}

/// A control group of its own, which is removed when this is dropped.
struct Group(PathBuf);

impl Group {
    /// One that has so little memory; nothing where groups cannot be made.
    fn of(bytes: u64) -> Option<Group> {
        let root = Path::new("/sys/fs/cgroup");
        let name = format!("motet-test-{}", process::id());
        let kinds = [(root.join("memory"), "memory.limit_in_bytes"), (root.into(), "memory.max")];
        kinds.into_iter().find_map(|(parent, limit)| {
            let group = Group(parent.join(&name));
            fs::create_dir(&group.0).ok()?;
            // It may be a place where there are groups, but not for memory.
            fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            Some(group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn no_memory(case: &str) -> Result<(), Box<dyn Error>> {
    let Some(group) = Group::of(64 << 20) else {
        println!("(not tested: no control group can be made)");
        return Ok(());
    };
    let line = format!("echo $$ >{}/cgroup.procs", group.0.display());
    let (code, words) = under(case, &line)?;
    let text = "SIGKILL), as the memory of its control group is used up (limit 64 MiB)";
    if code == Some(137) && words.contains(text) {
        return Ok(());
    }
    Err(format!("{code:?}, {words:?}").into())
}

/// Runs a job in a shell that does this before.
fn under(case: &str, line: &str) -> Result<Ended, Box<dyn Error>> {
    let folder = TempDir::new()?;
    let errors = folder.path().join("errors");
    let mut job = Command::new("bash")
        .args(["-c", &format!("{line} && exec \"$0\"")])
        .arg(env::current_exe()?)
        .env(CASE, case)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&errors)?)
        .spawn()?;
    let code = end_of(&mut job, Instant::now() + LIMIT)?.and_then(|status| status.code());
    Ok((code, fs::read_to_string(errors)?))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

/// Messages of every length, and memory from the library.
fn work() -> Result<()> {
    let world = motet::launch(RANKS)?;
    let (me, ranks) = (world.rank(), world.size());
    let own = world.allocate(100_000, me as u64);
    for count in [1, 1000, 100_000] {
        let mut sum = vec![0; count];
        world.allreduce(&own[..count], &mut sum, Sum)?;
        assert_eq!(sum, vec![3; count]);
        exchange(&world, &own[..count], [(me + 1) % ranks, (me + ranks - 1) % ranks])?;
    }
    Ok(())
}

fn exchange(world: &World, own: &[u64], [next, last]: [usize; 2]) -> Result<()> {
    let mut got = vec![0; own.len()];
    world.sendrecv((own, next, Tag(1)), (&mut got[..], last, Tag(1)))?;
    assert!(got.iter().all(|&rank| rank == last as u64));
    Ok(())
}

/// One rank takes more memory than there is.
fn devour() -> Result<()> {
    let world = motet::launch(RANKS)?;
    world.barrier()?;
    if world.rank() == 1 {
        let mut all = Vec::new();
        loop {
            all.push(hint::black_box(vec![1u8; 1 << 20]));
        }
    }
    world.barrier()
}
