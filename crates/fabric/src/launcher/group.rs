//! The process group of a job, and the guard that outlives the launcher.
//!
//! All ranks, and the processes that they start, are in one process group, so that one system call
//! reaches all of them, even while they start more. Its leader is the *guard*: a process that
//! ignores all signals and only waits until the other end of a pipe closes. The kernel closes it
//! when the launcher has ended, for whatever reason. Then the guard kills the group, and itself
//! with it. As long as it lives, the number of the group cannot become that of another group.

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

/// The group of one job. Dropping it kills all processes in it.
pub(super) struct Group {
    leader: Pid,
    /// The end of the pipe that closes when the launcher ends. No other process has it: it is
    /// closed on exec.
    tether: Option<OwnedFd>,
    ended: bool,
}

impl Group {
    /// Starts the guard. The forwarded signals must be blocked already, since they reach the guard
    /// until it has left the group of the launcher.
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
        // The guard makes the same call; whichever call is first, the group exists from here on.
        let group = Group { leader, tether: Some(tether), ended: false };
        setpgid(Some(leader), Some(leader)).map_err(|errno| failed(errno.into()))?;
        Ok(group)
    }

    /// The process whose number is that of the group.
    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Sends a signal to all processes in the group. The guard ignores it. Returns whether the
    /// group still exists.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        !self.ended && kill_process_group(self.leader, signal).is_ok()
    }

    /// Another process has killed the guard, and its status has been taken. The number of the group
    /// may now become that of another group, so it is not used any more.
    pub(super) fn lose(&mut self) {
        self.ended = true;
    }

    /// Kills all processes in the group, with the guard, and waits for the guard.
    pub(super) fn end(&mut self) {
        self.signal(Signal::KILL);
        // If there is no group yet, or the signal is refused, this ends the guard.
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

/// The main function of the guard. If a step fails, the guard may receive signals or keep files
/// open for longer, but it still guards.
fn guard(tether: BorrowedFd<'_>) -> ! {
    signals::block_all();
    let _ = setpgid(None, None);
    let _ = rustix::thread::set_name(c"motet-guard");
    // The reader of the launcher's output must see its end when the launcher ends; and the guard's
    // own copy of the other end would keep the pipe open for ever.
    close_all_but(tether);
    let mut byte = [0];
    while rustix::io::read(tether, &mut byte) == Err(Errno::INTR) {}
    // If the system has refused a group for the guard, its present group is not its own to kill.
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
        // A kernel before 5.9. At least the other end of the pipe has a number next to this one.
        for descriptor in first..=last.min(first.saturating_add(1023)) {
            // SAFETY: as above.
            unsafe { libc::close(descriptor as libc::c_int) };
        }
    }
}
