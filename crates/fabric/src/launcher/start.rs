//! Starts the process of one rank.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, getppid, pidfd_open,
    set_parent_process_death_signal, setrlimit,
};
use rustix::termios::isatty;

use super::Job;
use super::signals;
use crate::bootstrap::{LAUNCHER, RANK, RANKS, SEGMENT};
use crate::limits::limit_of;
use crate::{Error, Peer, Result};

/// Descriptors that the launcher holds for one rank: two pipes, and one that reports its end.
const FILES_PER_RANK: u64 = 3;
/// Descriptors for everything else, with those of the program that contains the launcher.
const FILES_BESIDE: u64 = 64;

/// What all ranks of a job have in common at their start.
pub(super) struct Starter<'a> {
    job: &'a Job,
    segment: Arc<OwnedFd>,
    /// The limit of open files before the launcher raised it.
    files: Rlimit,
    group: Pid,
}

/// A rank that has been started.
pub(super) struct Started {
    /// Its process.
    pub(super) process: Pid,
    /// Readable when the process has ended; `None` where the system has no such descriptors (it is
    /// older than Linux 5.3, or a sandbox refuses them) or none is left.
    pub(super) end: Option<OwnedFd>,
    /// The pipe of its standard output.
    pub(super) output: OwnedFd,
    /// The pipe of its standard error.
    pub(super) errors: OwnedFd,
    /// The pipe of its standard input, if the launcher forwards the input.
    pub(super) input: Option<OwnedFd>,
}

impl<'a> Starter<'a> {
    pub(super) fn new(job: &'a Job, segment: OwnedFd, files: Rlimit, group: Pid) -> Starter<'a> {
        Starter { job, segment: Arc::new(segment), files, group }
    }

    /// Starts a rank. When this returns, its program has begun.
    pub(super) fn start(&self, rank: usize) -> Result<Started> {
        let mut command = self.command(rank);
        self.prepare(&mut command);
        let mut child = command.spawn().map_err(|source| self.refused(rank, source))?;
        let process = Pid::from_child(&child);
        let end = pidfd_open(process, PidfdFlags::empty()).ok();
        let missing = "a pipe was asked for";
        Ok(Started {
            process,
            end,
            output: child.stdout.take().expect(missing).into(),
            errors: child.stderr.take().expect(missing).into(),
            input: child.stdin.take().map(OwnedFd::from),
        })
    }

    fn command(&self, rank: usize) -> Command {
        let job = self.job;
        let mut command = Command::new(&job.program);
        command.args(&job.arguments);
        if let Some(name) = &job.name {
            command.arg0(name);
        }
        command
            .envs(job.environment.iter().map(|(name, value)| (name, value)))
            .env(RANK, rank.to_string())
            .env(RANKS, job.ranks.to_string())
            .env(SEGMENT, self.segment.as_raw_fd().to_string())
            .env(LAUNCHER, getpid().to_string())
            .stdin(input_of(rank))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(self.group.as_raw_nonzero().get());
        command
    }

    /// Prepares the new process before it executes the program.
    fn prepare(&self, command: &mut Command) {
        let (segment, files) = (Arc::clone(&self.segment), self.files);
        let launcher = getpid();
        let prepare = move || {
            // If the system refuses this, the guard still ends this process.
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            // If the launcher had died before that call, this process would get no signal.
            if getppid() != Some(launcher) {
                return Err(io::Error::from(Errno::SRCH));
            }
            fcntl_setfd(&*segment, FdFlags::empty())?;
            // If this fails, the process has the limit of the launcher, which is not lower.
            let _ = setrlimit(Resource::Nofile, files);
            signals::unblock_all()
        };
        // SAFETY: between fork and exec there are system calls only: nothing is allocated, no lock
        // is taken, and no memory of other threads is touched.
        unsafe { command.pre_exec(prepare) };
    }

    /// Distinguishes a program that cannot be executed from a system without room for another
    /// process.
    fn refused(&self, rank: usize, source: io::Error) -> Error {
        let full = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
        if full.iter().any(|errno| source.raw_os_error() == Some(errno.raw_os_error())) {
            return Error::Start { rank: Peer(rank as u32), source };
        }
        let program = self.job.program.to_string_lossy().into_owned();
        Error::Program { program, source }
    }
}

/// Rank 0 inherits the input of the launcher, unless that is a terminal: a process of another
/// process group may not read from a terminal, so the launcher forwards what is typed.
fn input_of(rank: usize) -> Stdio {
    if rank > 0 {
        Stdio::null()
    } else if isatty(rustix::stdio::stdin()) {
        Stdio::piped()
    } else {
        Stdio::inherit()
    }
}

/// How many files a launcher of this many ranks must be allowed to open.
pub fn files_for(ranks: usize) -> u64 {
    ranks as u64 * FILES_PER_RANK + FILES_BESIDE
}

/// The limit of open files, raised for all ranks; dropping it restores the former limit.
pub(super) struct Files {
    former: Rlimit,
}

impl Files {
    /// Ensures that the launcher may open enough files for this many ranks.
    pub(super) fn allow(ranks: usize) -> Result<Files> {
        let former = limit_of(Resource::Nofile);
        let needed = files_for(ranks);
        if let Some(limit) = former.maximum.filter(|&limit| limit < needed) {
            return Err(Error::Files { ranks, needed, limit });
        }
        if former.current.is_some_and(|limit| limit < needed) {
            let raised = Rlimit { current: Some(needed), maximum: former.maximum };
            setrlimit(Resource::Nofile, raised)
                .map_err(|errno| Error::system("raise the limit of open files", errno))?;
        }
        Ok(Files { former })
    }

    /// The former limit, which the ranks get.
    pub(super) fn former(&self) -> Rlimit {
        self.former
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Lowering a limit is always allowed.
        let _ = setrlimit(Resource::Nofile, self.former);
    }
}
