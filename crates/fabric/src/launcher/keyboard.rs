//! Forwards terminal input to rank 0.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::tcgetpgrp;

use crate::{Error, Result};

/// How often to check whether a job in the background has come to the foreground.
pub(super) const FOREGROUND_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// The most bytes in the buffer: more than a line of a terminal.
const BUFFER_BYTES: usize = 4096;

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Copies input from the terminal to rank 0.
pub(super) struct Keyboard {
    rank: OwnedFd,
    typed: Vec<u8>,
}

/// Whether more input may arrive.
#[derive(PartialEq, Eq)]
pub(super) enum Typing {
    /// Perhaps.
    Open,
    /// No: the input has ended, or rank 0 does not read any more.
    Ended,
}

impl Keyboard {
    pub(super) fn new(rank: OwnedFd) -> Result<Keyboard> {
        fcntl_setfl(&rank, OFlags::NONBLOCK)
            .map_err(|errno| Error::system("prepare the input of rank 0", errno))?;
        Ok(Keyboard { rank, typed: Vec::new() })
    }

    /// The event to wait for; `None` while another process group owns the terminal, whose input the
    /// launcher must not take.
    pub(super) fn interest(&self) -> Option<PollFd<'_>> {
        if !self.typed.is_empty() {
            Some(PollFd::new(&self.rank, PollFlags::OUT))
        } else if is_ours() {
            Some(PollFd::from_borrowed_fd(stdin(), PollFlags::IN))
        } else {
            None
        }
    }

    /// Copies what can be copied now.
    pub(super) fn pump(&mut self) -> Typing {
        if self.typed.is_empty() && self.take() == Typing::Ended {
            return Typing::Ended;
        }
        if self.typed.is_empty() {
            return Typing::Open;
        }
        match write(&self.rank, &self.typed) {
            Ok(written) => drop(self.typed.drain(..written)),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return Typing::Ended,
        }
        Typing::Open
    }

    fn take(&mut self) -> Typing {
        let mut entries = [
            PollFd::from_borrowed_fd(stdin(), PollFlags::IN),
            PollFd::new(&self.rank, PollFlags::empty()),
        ];
        if !is_ours() || poll(&mut entries, Some(&AT_ONCE)).is_err() {
            return Typing::Open;
        }
        // Input that rank 0 does not read any more is left to the next program.
        if !entries[1].revents().is_empty() {
            return Typing::Ended;
        }
        if entries[0].revents().is_empty() {
            return Typing::Open;
        }
        let mut buffer = [0; BUFFER_BYTES];
        match read(stdin(), &mut buffer) {
            Ok(0) => Typing::Ended,
            Ok(bytes) => {
                self.typed.extend_from_slice(&buffer[..bytes]);
                Typing::Open
            }
            Err(Errno::INTR | Errno::AGAIN) => Typing::Open,
            Err(_) => Typing::Ended,
        }
    }
}

/// Whether the launcher may read from the terminal without being stopped for it: it is in the
/// foreground, or this is not its controlling terminal.
fn is_ours() -> bool {
    tcgetpgrp(stdin().as_fd()).is_err() || tcgetpgrp(stdin()) == Ok(getpgrp())
}
