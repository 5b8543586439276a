//! The launcher: starts the ranks of a world as processes, and waits until they end.
//!
//! [`run`] creates the shared segment, starts the ranks with its descriptor, and then only waits:
//! one thread sleeps in `poll` until a rank writes, a rank ends, a signal arrives, or a deadline
//! passes. Its guarantees:
//!
//! * **Lines stay whole.** The output of all ranks appears line by line. A line longer than
//!   [`LONGEST_LINE`] appears in pieces; everything else passes unchanged, whatever its bytes.
//! * **A death is reported.** The launcher records in the segment the first rank that is killed,
//!   exits with a code, or exits without having left the world. The record wakes the other ranks.
//!   They have a moment to report what it meant for them; then the launcher asks them to end
//!   (SIGTERM), and then kills them. The job ends within a second, and the exit code is that of the
//!   first death.
//! * **An abort ends the job.** When a rank has recorded in the segment that it ends the job, and
//!   the first rank ends, the launcher does not notify the others: it asks all ranks to end at once
//!   (SIGTERM, and SIGCONT for stopped ranks), and kills them a quarter of a second later. The exit
//!   code is that of the abort. The launcher prints nothing: the rank that aborted has printed the
//!   reason.
//! * **No process stays.** All ranks form one process group. At the end of the job the launcher
//!   kills the group, with all processes that the ranks have started; it finds processes that have
//!   left the group through their parents. If the launcher itself is killed, the kernel kills the
//!   ranks, and a guard that only waits for this kills the group.
//!
//! * **Ranks start with the signals of the launcher.** If a signal is ignored when the launcher
//!   starts (HUP by `nohup`, INT and QUIT by the `&` of a script), the launcher and the ranks
//!   ignore it, and it does nothing to the job. No signal is blocked in a rank, and SIGCHLD and
//!   SIGPIPE have their default actions there, whatever they were when the launcher started.
//!
//! Reading order: `start` (one rank), `group` (all ranks and their guard), `watch` (the event
//! loop), `ending` (which processes end when), `worlds` (programs of a rank one after the other),
//! `output`, `lines` and `sink` (the path of a line), `keyboard` (input from a terminal),
//! `signals`, `orphans`, `outcome`, `session` (a job in a session of its own).

mod ending;
mod group;
mod job;
mod keyboard;
mod lines;
mod orphans;
mod outcome;
mod output;
mod session;
mod signals;
mod sink;
mod start;
mod watch;
mod worlds;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};

pub use job::{Job, SESSION, Session};
pub use lines::LONGEST_LINE;
pub use outcome::{Cause, Death, Outcome};
pub use start::files_for;

use crate::copy_bandwidth::CopyBandwidth;
use crate::{Error, Result, SharedSegment};
use group::Group;
use orphans::Orphans;
use output::Output;
use session::Tether;
use signals::Signals;
use start::{Files, Starter};
use watch::Watch;
use worlds::Worlds;

/// A launcher owns the signals and the children of its process, so there is one at a time.
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Runs a job to its end: blocks until no process of it is left.
///
/// Forwards SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH to the ranks, unless
/// this process ignores them. A second SIGINT kills the ranks; if they still run a second after the
/// first, the launcher prints a hint. It stops and continues the ranks with itself. Rank 0 gets the
/// standard input, the others none. The cause of a failure is printed on standard error, after the
/// last output of the ranks. Earlier children of the calling process are left alone, but their exit
/// status is not kept.
///
/// A job in a session of its own is run by a child of this process, which prints all messages
/// itself: the outcome has the exit code, and no cause except the death of that child.
///
/// # Errors
/// If the job cannot be started; then no process of it is left. [`Error::Busy`] if this process
/// already runs one. For a session of its own this process may have only one thread.
pub fn run(job: &Job) -> Result<Outcome> {
    if RUNNING.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    let outcome = match job.session {
        Session::Shared => run_alone(job, None),
        Session::Own => session::run(job),
    };
    RUNNING.store(false, Ordering::Release);
    outcome
}

/// Runs a job in the session of this process; `front` is set where that session is a new one.
fn run_alone(job: &Job, front: Option<&Tether>) -> Result<Outcome> {
    let (segment, file) = SharedSegment::shared(job.ranks)?;
    segment.set_prefers_memcpy(CopyBandwidth::measure().prefers_memcpy());
    let files = Files::allow(job.ranks)?;
    let signals = Signals::take()?;
    let orphans = Orphans::adopt();
    let group = Group::new()?;
    let output = Output::new(job)?;
    let starter = Starter::new(job, file, files.former(), group.leader());
    let worlds = Worlds::new(segment)?;
    let mut watch = Watch::new(worlds, &signals, orphans, group, output, front)?;
    for rank in 0..job.ranks {
        // An error drops the watch, which ends the ranks that run already.
        watch.add(starter.start(rank)?)?;
    }
    if let Some(front) = front {
        front.give_input();
    }
    watch.run()
}

/// Runs the current program again, with the same arguments, as this many ranks; `environment` adds
/// variables to those of this process.
///
/// For a program that was started without a launcher and needs several ranks: in the ranks,
/// [`bootstrap::from_environment`](crate::bootstrap::from_environment) finds a rank, so they do not
/// call this. The caller then exits with the code of the outcome.
///
/// # Errors
/// As [`run`].
pub fn relaunch(ranks: usize, environment: Vec<(OsString, OsString)>) -> Result<Outcome> {
    let program = std::env::current_exe()
        .map_err(|source| Error::System { what: "find the file of this program", source })?;
    let mut words = std::env::args_os();
    let name = words.next();
    run(&Job { name, environment, ..Job::new(program, words.collect(), ranks) })
}

/// The exit code for a job that could not be started, by the conventions of shells.
pub fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Ranks { .. } | Error::Setting { .. } => 2,
        Error::Program { source, .. } if source.kind() == ErrorKind::NotFound => 127,
        Error::Program { .. } => 126,
        _ => 1,
    }
}
