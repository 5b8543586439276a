//! Runs a job in its own session (`motet run --session=own`).
//!
//! A process cannot join a session, and the leader of another session has no terminal. So there are
//! two processes:
//!
//! * The *front* is the process that the user started. It stays in the session of its terminal,
//!   forwards signals and terminal input, stops and continues with the job, and exits with the exit
//!   code of the job.
//! * The *launcher* is its child, leads the new session, and starts the guard and the ranks like
//!   any launcher, so it is their parent.
//!
//! **Signals.** The front reads the signals that a launcher reads, and sends each to the launcher.
//! Until the launcher leads its session it receives those of the terminal itself; it drops them,
//! and the front forwards its own copy when the launcher reports that it is ready.
//!
//! **Stopping.** No process outside the session of the launcher is its parent and could continue
//! it, so for the kernel its process group is orphaned and ignores SIGTSTP. The group of the ranks
//! is not orphaned: its parent, the launcher, is in the same session. So the launcher sends SIGTSTP
//! to the ranks and asks the front, which sends SIGSTOP to the launcher and stops as with SIGTSTP.
//! When the front continues, it continues the launcher, and the launcher continues the ranks. Only
//! the front stops the launcher: then the SIGCONT that the kernel sends at the death of the front
//! comes after the SIGSTOP, and SIGCONT cancels a SIGSTOP that has not acted yet. A launcher that
//! stopped itself could do so after that SIGCONT, and stay for ever.
//!
//! **Input.** The front reads the terminal and writes what it reads into a pipe, from which rank 0
//! reads. The launcher could read the terminal itself, but not well: the kernel keeps only
//! processes of the terminal's session from reading in the background, so the launcher would take
//! input that is typed for the shell. Input from anything but a terminal goes to rank 0 unchanged.
//!
//! **Deaths.** Launcher and front hold the ends of two pipes, the *tether*. When the front has
//! ended, for whatever reason, they close, and the launcher ends the job; the kernel sends it
//! SIGCONT, in case it is stopped. If the launcher is killed, the kernel and the
//! guard end the ranks, and the front ends all remaining processes, reports it, and exits with the
//! code of that signal.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getppid, kill_process, set_parent_process_death_signal,
    setsid, waitpid,
};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::termios::isatty;

use super::keyboard::{FOREGROUND_POLL_INTERVAL, Keyboard, Typing};
use super::orphans::Orphans;
use super::outcome::{Cause, Outcome};
use super::signals::Signals;
use super::{Job, exit_code, run_alone};
use crate::host::autogroup;
use crate::{Error, Result, log_line};

/// The exit code of a Rust program after a panic.
const PANIC_CODE: u8 = 101;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// What the launcher sends when the ranks have their SIGTSTP.
const STOP_ME: u8 = b's';
/// What the front sends before it continues the launcher.
const GO_ON: u8 = b'c';

fn failed(source: impl Into<io::Error>) -> Error {
    Error::system("start a session of its own", source)
}

/// Runs a job in a new session, as its front.
pub(super) fn run(job: &Job) -> Result<Outcome> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(failed(io::Error::other(format!("this process has {threads} threads"))));
    }
    // Buffered output of this process must not be written by both processes.
    let _ = io::stdout().flush();
    let signals = Signals::take()?;
    let orphans = Orphans::adopt();
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(failed);
    let (from_launcher, to_front) = pipe()?;
    let (from_front, to_launcher) = pipe()?;
    let typed = isatty(stdin()).then(pipe).transpose()?;
    let front = getpid();
    // SAFETY: there is no other thread that could hold a lock, so the child may do whatever this
    // process may; it never returns from `lead`.
    match unsafe { libc::fork() } {
        -1 => Err(failed(io::Error::last_os_error())),
        0 => {
            drop((from_launcher, to_launcher));
            let typed = typed.map(|(input, _)| input);
            let tether = Tether { from_front, to_front, front, is_typed: typed.is_some() };
            lead(job, &signals, tether, typed)
        }
        launcher => {
            drop((to_front, from_front));
            let launcher = Pid::from_raw(launcher).expect("a process has a number");
            let keyboard = typed.map(|(_, rank)| Keyboard::new(rank)).transpose()?;
            let front = Front {
                signals: &signals,
                orphans,
                launcher,
                keyboard,
                from_launcher: is_ready(&from_launcher)?.then_some(from_launcher),
                to_launcher,
            };
            front.run()
        }
    }
}

/// Waits until the launcher leads its session. Returns whether it lives.
fn is_ready(from_launcher: &OwnedFd) -> Result<bool> {
    let mut error = [0; 4];
    loop {
        match read(from_launcher, &mut error) {
            Err(Errno::INTR) => {}
            Ok(4) => match i32::from_ne_bytes(error) {
                0 => return Ok(true),
                errno => return Err(failed(io::Error::from_raw_os_error(errno))),
            },
            // The launcher has been killed; the wait for its end reports that.
            _ => return Ok(false),
        }
    }
}

/// The process that keeps the terminal.
struct Front<'a> {
    signals: &'a Signals,
    orphans: Orphans,
    launcher: Pid,
    keyboard: Option<Keyboard>,
    /// Where the launcher asks to be stopped, as long as it lives.
    from_launcher: Option<OwnedFd>,
    /// The end of the tether that closes when this process ends.
    to_launcher: OwnedFd,
}

impl Front<'_> {
    /// Waits for the end of the launcher.
    fn run(mut self) -> Result<Outcome> {
        loop {
            self.sleep()?;
            while let Some(signal) = self.signals.next() {
                self.pass_on(signal);
            }
            // First, since a launcher that has ended cannot be continued.
            if let Some(outcome) = self.reap_launcher() {
                return Ok(outcome);
            }
            self.take_request();
            if self.keyboard.as_mut().map(Keyboard::pump) == Some(Typing::Ended) {
                self.keyboard = None;
            }
        }
    }

    fn sleep(&self) -> Result<()> {
        let mut entries = vec![PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN)];
        entries.extend(self.from_launcher.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let typing = self.keyboard.as_ref().map(Keyboard::interest);
        let in_background = matches!(typing, Some(None));
        entries.extend(typing.flatten());
        let again = Timespec { tv_sec: 0, tv_nsec: FOREGROUND_POLL_INTERVAL.subsec_nanos().into() };
        match poll(&mut entries, in_background.then_some(&again)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::system("wait for the launcher", errno)),
        }
    }

    fn pass_on(&self, signal: Signal) {
        if signal != Signal::CHILD {
            // Until its status is taken, no other process can have its number.
            let _ = kill_process(self.launcher, signal);
        }
    }

    /// Stops with the launcher if it asks for that, until this process is continued.
    fn take_request(&mut self) {
        let Some(pipe) = self.from_launcher.as_ref().filter(|pipe| is_readable(pipe)) else {
            return;
        };
        let mut request = [0];
        if read(pipe, &mut request) != Ok(1) {
            // The launcher has ended, or ends.
            self.from_launcher = None;
            return;
        }
        let _ = kill_process(self.launcher, Signal::STOP);
        self.signals.suspend();
        // Only a launcher that has ended does not receive it.
        let _ = write(&self.to_launcher, &[GO_ON]);
        let _ = kill_process(self.launcher, Signal::CONT);
    }

    /// Reaps the launcher if it has ended. Returns its outcome then.
    fn reap_launcher(&mut self) -> Option<Outcome> {
        let (_, status) = waitpid(Some(self.launcher), WaitOptions::NOHANG).ok().flatten()?;
        if let Some(code) = status.exit_status() {
            return Some(Outcome { code: code as u8, cause: None });
        }
        self.orphans.end();
        let signal = status.terminating_signal().unwrap_or_default() as u8;
        let process = self.launcher.as_raw_nonzero().get() as u32;
        let outcome = Outcome::of(Cause::Launcher { process, signal });
        if let Some(cause) = &outcome.cause {
            log_line(format_args!("motet: {cause}"));
        }
        Some(outcome)
    }
}

fn is_readable(pipe: &OwnedFd) -> bool {
    poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&AT_ONCE)) == Ok(1)
}

/// The launcher's connection to its front.
pub(super) struct Tether {
    from_front: OwnedFd,
    to_front: OwnedFd,
    front: Pid,
    /// Whether the standard input is a pipe into which the front writes terminal input.
    is_typed: bool,
}

impl Tether {
    /// Readable when the front has ended.
    pub(super) fn interest(&self) -> PollFd<'_> {
        PollFd::new(&self.from_front, PollFlags::IN)
    }

    /// Whether the front has ended.
    pub(super) fn is_gone(&self) -> bool {
        // The front writes only what `stop` reads.
        is_readable(&self.from_front)
    }

    /// The ranks have started: from now on rank 0 alone reads the terminal input. When it does not
    /// read any more, the front notices it and leaves the remaining input to other programs.
    pub(super) fn give_input(&self) {
        if self.is_typed
            && let Ok(nothing) = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        {
            // If this is refused, the front only reads lines that no process needs.
            let _ = dup2_stdin(nothing);
        }
    }

    /// Stops this process and the front, until the front is continued or has ended.
    pub(super) fn stop(&self) {
        if write(&self.to_front, &[STOP_ME]).is_ok() {
            while read(&self.from_front, &mut [0]) == Err(Errno::INTR) {}
        }
    }
}

/// The main function of the launcher.
fn lead(job: &Job, signals: &Signals, tether: Tether, typed: Option<OwnedFd>) -> ! {
    // The tether reports the end of the front, too; but only a process that is not stopped notices
    // that.
    let _ = set_parent_process_death_signal(Some(Signal::CONT));
    let nice = autogroup::nice();
    let begun = match getppid() {
        parent if parent != Some(tether.front) => Err(Errno::SRCH),
        _ => setsid().map(drop),
    };
    let begun =
        begun.and_then(|()| typed.as_ref().map_or(Ok(()), |typed| dup2_stdin(typed.as_fd())));
    drop(typed);
    // Signals that went to the group of the front: the front has received them, too.
    while signals.next().is_some() {}
    let errno = begun.err().map_or(0, Errno::raw_os_error);
    let _ = write(&tether.to_front, &errno.to_ne_bytes());
    if errno != 0 {
        std::process::exit(1);
    }
    if let Some(nice) = nice.filter(|&nice| nice != 0)
        && let Err(error) = autogroup::set_nice(nice)
    {
        log_line(format_args!(
            "motet: the session of the job has not the nice value {nice}: {error}"
        ));
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| run_alone(job, Some(&tether))));
    let code = match outcome {
        Ok(Ok(outcome)) => outcome.code,
        // No process waits for a message, and none may read it.
        Ok(Err(_)) if tether.is_gone() => 1,
        Ok(Err(error)) => {
            log_line(format_args!("motet: {error}"));
            exit_code(&error)
        }
        Err(_) => PANIC_CODE,
    };
    std::process::exit(code.into())
}
