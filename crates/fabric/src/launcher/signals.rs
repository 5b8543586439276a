//! Receives signals through a descriptor (`signalfd`) while a job runs.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{
    SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH, sigset_t,
};
use rustix::process::{Signal, getpid, kill_process};

use crate::{Error, Result};

/// The signals that a launcher reads.
const WANTED: [libc::c_int; 9] =
    [SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH];

/// Signals that this thread reads from a descriptor instead of running their actions, until
/// dropped.
///
/// Only this thread blocks them: other threads of the program must block them, too, or the signals
/// act there. Losing SIGCHLD that way does no harm, since a pidfd reports the end of a rank.
pub(super) struct Signals {
    descriptor: OwnedFd,
    /// The signals that were blocked before.
    former: Mask,
    /// The action of the program for SIGCHLD.
    former_child: libc::sigaction,
}

/// The signals that a thread blocks.
#[derive(Clone, Copy)]
struct Mask(sigset_t);

impl Signals {
    /// Takes the signals that a launcher reads. A signal that the program ignores stays ignored,
    /// also by the ranks: `nohup` and `&` of a shell require that. A signal that it blocks is read
    /// like the others.
    pub(super) fn take() -> Result<Signals> {
        let failed = |source| Error::System { what: "take over the signals", source };
        // If SIGCHLD were ignored, the kernel would drop the exit statuses of the ranks.
        let former_child = set_action(SIGCHLD, &action(libc::SIG_DFL)).map_err(failed)?;
        let wanted = WANTED.into_iter().filter(|&signal| !is_ignored(signal));
        let mask = Mask::of(wanted);
        // SAFETY: the mask is initialised; -1 asks for a new descriptor.
        let descriptor =
            unsafe { libc::signalfd(-1, &mask.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if descriptor < 0 {
            return Err(failed(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new, so nobody else owns it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let former = mask.change(libc::SIG_BLOCK).map_err(failed)?;
        Ok(Signals { descriptor, former, former_child })
    }

    /// Readable when a signal is pending.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Takes a pending signal.
    pub(super) fn next(&self) -> Option<Signal> {
        let mut record = [0_u8; size_of::<libc::signalfd_siginfo>()];
        let read = rustix::io::read(&self.descriptor, &mut record).ok()?;
        let (number, _) = record[..read].split_first_chunk::<4>()?;
        Signal::from_named_raw(u32::from_ne_bytes(*number) as i32)
    }

    /// Does the default action of SIGTSTP: stops this process, unless its process group is
    /// orphaned.
    pub(super) fn suspend(&self) {
        let mask = Mask::of([SIGTSTP].into_iter());
        // The system refuses a mask only for a wrong first argument, and a process can signal
        // itself.
        let _ = mask.change(libc::SIG_UNBLOCK);
        let _ = kill_process(getpid(), Signal::TSTP);
        let _ = mask.change(libc::SIG_BLOCK);
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Both were in force before, so the kernel accepts them again.
        let _ = self.former.set();
        let _ = set_action(SIGCHLD, &self.former_child);
    }
}

impl Mask {
    fn of(signals: impl Iterator<Item = libc::c_int>) -> Mask {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the pointer is valid for a set, which this call initialises.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        for signal in signals {
            // SAFETY: the set is initialised; a number that is none would only be refused.
            unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
        }
        // SAFETY: initialised above.
        Mask(unsafe { set.assume_init() })
    }

    /// Sets the signals that this thread blocks.
    fn set(&self) -> io::Result<()> {
        self.change(libc::SIG_SETMASK).map(drop)
    }

    /// Changes the mask of this thread. Returns the former mask.
    fn change(&self, how: libc::c_int) -> io::Result<Mask> {
        let mut former = MaybeUninit::uninit();
        // SAFETY: our set is initialised, and there is room for the former one.
        let error = unsafe { libc::pthread_sigmask(how, &self.0, former.as_mut_ptr()) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        // SAFETY: a call that succeeds has written it.
        Ok(Mask(unsafe { former.assume_init() }))
    }
}

/// Unblocks all signals: the state in which a new program should start. The launcher blocks the
/// signals that it reads, and a parent that started it with others blocked (a thread of a server,
/// for example) hardly wants ranks that no signal ends. May be called between fork and exec.
pub(super) fn unblock_all() -> io::Result<()> {
    Mask::of(std::iter::empty()).set()
}

/// Blocks every signal that can be blocked. May be called between fork and exec.
pub(super) fn block_all() {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the pointer is valid for a set, which this call initialises.
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    // SAFETY: initialised by the call above.
    let all = Mask(unsafe { set.assume_init() });
    // It can fail only for a wrong first argument.
    let _ = all.change(libc::SIG_SETMASK);
}

fn is_ignored(signal: libc::c_int) -> bool {
    let mut present = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: no new action is given; there is room for the present one.
    let error = unsafe { libc::sigaction(signal, std::ptr::null(), present.as_mut_ptr()) };
    // SAFETY: a call that succeeds has written it.
    error == 0 && unsafe { present.assume_init() }.sa_sigaction == libc::SIG_IGN
}

fn action(handler: libc::sighandler_t) -> libc::sigaction {
    libc::sigaction {
        sa_sigaction: handler,
        sa_mask: Mask::of(std::iter::empty()).0,
        sa_flags: 0,
        sa_restorer: None,
    }
}

/// Sets the action of a signal. Returns the former action.
fn set_action(signal: libc::c_int, new: &libc::sigaction) -> io::Result<libc::sigaction> {
    let mut former = MaybeUninit::uninit();
    // SAFETY: the new action is the default or was in force before, so it names no function that
    // might be gone; there is room for the former one.
    let error = unsafe { libc::sigaction(signal, new, former.as_mut_ptr()) };
    if error != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a call that succeeds has written it.
    Ok(unsafe { former.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send_self(signal: libc::c_int) {
        // SAFETY: asks for nothing but a number.
        let this = unsafe { libc::pthread_self() };
        // SAFETY: this thread lives, and blocks the signal.
        let error = unsafe { libc::pthread_kill(this, signal) };
        assert_eq!(error, 0);
    }

    #[test]
    fn signals_are_read_and_the_mask_comes_back() {
        let before = Mask::of(std::iter::empty()).change(libc::SIG_BLOCK).unwrap();
        let signals = Signals::take().unwrap();
        assert_eq!(signals.next(), None);
        send_self(SIGUSR1);
        send_self(SIGTERM);
        let mut seen = [signals.next(), signals.next()].map(|signal| signal.map(Signal::as_raw));
        seen.sort();
        assert_eq!(seen, [Some(SIGUSR1), Some(SIGTERM)]);
        drop(signals);
        let after = Mask::of(std::iter::empty()).change(libc::SIG_BLOCK).unwrap();
        for signal in WANTED {
            // SAFETY: both sets are initialised.
            let both = unsafe { libc::sigismember(&before.0, signal) };
            // SAFETY: as above.
            assert_eq!(both, unsafe { libc::sigismember(&after.0, signal) });
        }
    }
}
