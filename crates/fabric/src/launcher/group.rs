//! The process group of a job, and the guard that outlives the launcher.
//!
//! All ranks, and what they start, are in one process group, so that one system call reaches them
//! all, even while they are starting more. Its leader is the *guard*: a process that ignores all
//! signals and only waits for the other end of a pipe to close, which the kernel does when the
//! launcher is gone, however it went. Then it kills the group, and itself with it. As long as it
//! lives, the number of the group cannot become that of another one.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_current_process_group, kill_process_group,
    setpgid, waitpid,
};

use super::signals;
use crate::{Error, Result};

/// The group of one job. Dropping it kills whatever is in it.
pub(super) struct Group {
    leader: Pid,
    /// The end that closes when we are gone. Nobody else has it: it is closed on exec.
    tether: Option<OwnedFd>,
    ended: bool,
}

impl Group {
    /// Starts the guard. The signals that are forwarded must be blocked already, since until the
    /// guard has left our group they reach it.
    pub(super) fn new() -> Result<Group> {
        let failed = |source| Error::System { what: "start the guard of the ranks", source };
        let (end, tether) = pipe_with(PipeFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?;
        // SAFETY: the child runs `guard` alone, which makes system calls on values it was given:
        // it takes no lock, allocates nothing and never returns, as fork asks where there may be
        // other threads.
        let leader = match unsafe { libc::fork() } {
            0 => guard(end.as_fd()),
            -1 => return Err(failed(io::Error::last_os_error())),
            pid => Pid::from_raw(pid).expect("a process has a number"),
        };
        // The guard does the same; whoever comes first, the group exists from here on.
        let group = Group { leader, tether: Some(tether), ended: false };
        setpgid(Some(leader), Some(leader)).map_err(|errno| failed(errno.into()))?;
        Ok(group)
    }

    /// The process whose number is that of the group.
    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Sends a signal to all in the group. The guard does not mind. Says whether there still is
    /// a group.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        !self.ended && kill_process_group(self.leader, signal).is_ok()
    }

    /// The guard is dead and forgotten: somebody killed it. The number may now become that of
    /// strangers, so it is not used any more.
    pub(super) fn lose(&mut self) {
        self.ended = true;
    }

    /// Kills all in the group, the guard included, and waits for the guard.
    pub(super) fn end(&mut self) {
        self.signal(Signal::KILL);
        // Where there is no group yet, or the signal is refused, the guard ends by this.
        self.tether = None;
        if !self.ended {
            self.ended = true;
            let guard = Some(self.leader);
            while matches!(waitpid(guard, WaitOptions::empty()), Err(Errno::INTR)) {}
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the guard does, all its life. A failure on the way leaves it less quiet or longer with
/// our files, but it still guards.
fn guard(tether: BorrowedFd<'_>) -> ! {
    signals::block_all();
    let _ = setpgid(None, None);
    let _ = rustix::thread::set_name(c"motet-guard");
    // Whoever reads what the launcher writes must see the end when the launcher ends; and the
    // guard's own copy of the other end would keep the pipe open for ever.
    close_all_but(tether);
    let mut byte = [0];
    while rustix::io::read(tether, &mut byte) == Err(Errno::INTR) {}
    // If the system has refused a group of our own, the one in which we are is not ours to kill.
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    // SAFETY: ends the process; needs nothing and returns to nobody.
    unsafe { libc::_exit(0) }
}

/// Closes every descriptor of the guard but one.
fn close_all_but(kept: BorrowedFd<'_>) {
    let kept = kept.as_raw_fd() as libc::c_uint;
    close_range(kept + 1, libc::c_uint::MAX);
    if kept > 0 {
        close_range(0, kept - 1);
    }
}

fn close_range(first: libc::c_uint, last: libc::c_uint) {
    // SAFETY: the guard is about to be alone with one descriptor, which is not in the range; code
    // that owns another one never runs again in this process.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if closed != 0 {
        // A kernel before 5.9. The pipe's other end, at least, is next to ours.
        for descriptor in first..=last.min(first.saturating_add(1023)) {
            // SAFETY: as above.
            unsafe { libc::close(descriptor as libc::c_int) };
        }
    }
}
