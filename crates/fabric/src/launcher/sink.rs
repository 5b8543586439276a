//! Non-blocking writer of the launcher's standard output and standard error.
//!
//! The reader may be slow, stopped or dead, and the launcher must still watch the ranks: so it
//! makes no write that could block, and keeps here what it cannot write yet.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, write};
use rustix::termios::isatty;

use crate::printable;

/// Kept bytes from which the launcher reads no more output of the ranks: then their pipes fill, and
/// they wait.
const BUFFERED_MAX_BYTES: usize = 256 << 10;
/// Bytes that a pipe accepts without blocking once `poll` has reported it as writable.
const ATOMIC: usize = 4096;
/// Bytes of one write to a regular file.
const BLOCK: usize = 256 << 10;
/// The source of the launcher's own lines, which is no rank.
const OURSELVES: usize = usize::MAX;

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A terminal, with a user.
    Terminal,
    /// Accepts any number of bytes at once.
    File,
    /// A pipe or a socket.
    Stream,
}

/// The destination of lines.
pub(super) struct Sink {
    file: BorrowedFd<'static>,
    kind: Kind,
    pending: VecDeque<u8>,
    /// Whether the last bytes ended their line, and their source.
    at_line_start: bool,
    last: usize,
    failure: Option<Errno>,
}

impl Sink {
    pub(super) fn new(file: BorrowedFd<'static>) -> Sink {
        let is_file = fstat(file)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        let kind = match () {
            () if isatty(file) => Kind::Terminal,
            () if is_file => Kind::File,
            () => Kind::Stream,
        };
        let pending = VecDeque::new();
        Sink { file, kind, pending, at_line_start: true, last: OURSELVES, failure: None }
    }

    /// Whether two descriptors lead to the same place. Then both need the same sink, or their lines
    /// would be cut into each other.
    pub(super) fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> bool {
        let place = |file| fstat(file).map(|stat| (stat.st_dev, stat.st_ino));
        matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
    }

    /// Whether a user may be waiting for a line that has no end, such as a question.
    pub(super) fn is_terminal(&self) -> bool {
        self.kind == Kind::Terminal
    }

    /// Takes bytes from a source. On a terminal, where a line may be shown before its end arrives,
    /// the line of another source begins on a new line.
    pub(super) fn put(&mut self, source: usize, bytes: &[u8]) {
        let Some(end) = bytes.last() else { return };
        if self.failure.is_some() {
            return;
        }
        if self.is_terminal() && !self.at_line_start && source != self.last {
            self.pending.push_back(b'\n');
        }
        self.pending.extend(bytes);
        self.at_line_start = *end == b'\n';
        self.last = source;
    }

    /// Takes a line of the launcher, which always begins on a new line.
    pub(super) fn say(&mut self, text: &str) {
        if !self.at_line_start {
            self.put(self.last, b"\n");
        }
        self.put(OURSELVES, format!("{}\n", printable(text)).as_bytes());
    }

    /// Writes what can be written now.
    pub(super) fn flush(&mut self) {
        while !self.pending.is_empty() && self.is_ready() {
            let most = if self.kind == Kind::File { BLOCK } else { ATOMIC };
            let (front, _) = self.pending.as_slices();
            match write(self.file, &front[..front.len().min(most)]) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(Errno::INTR) => {}
                // Another process writes here, too, and was faster.
                Err(Errno::AGAIN) => return,
                Err(errno) => self.fail(errno),
            }
        }
    }

    fn is_ready(&self) -> bool {
        let mut entry = [PollFd::from_borrowed_fd(self.file, PollFlags::OUT)];
        self.kind == Kind::File || poll(&mut entry, Some(&AT_ONCE)) == Ok(1)
    }

    /// Records an error: the sink accepts nothing any more.
    fn fail(&mut self, errno: Errno) {
        self.failure = Some(errno);
        self.discard();
    }

    /// Drops the bytes that were not written.
    pub(super) fn discard(&mut self) {
        self.pending = VecDeque::new();
    }

    /// The error because of which nothing can be written any more.
    pub(super) fn failure(&self) -> Option<Errno> {
        self.failure
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether so many bytes are kept that the ranks should wait.
    pub(super) fn is_full(&self) -> bool {
        self.pending.len() >= BUFFERED_MAX_BYTES
    }
}

impl AsFd for Sink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchdog::Watchdog;
    use rustix::pipe::{PipeFlags, pipe_with};
    use std::os::fd::OwnedFd;

    /// A sink into a pipe. The descriptor is never closed, so it may be borrowed for ever.
    fn piped() -> (OwnedFd, Sink) {
        let (end, file) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let file: &'static OwnedFd = Box::leak(Box::new(file));
        (end, Sink::new(file.as_fd()))
    }

    #[test]
    fn a_reader_who_is_slow_blocks_nobody() {
        let _watchdog = Watchdog::start();
        let (end, mut sink) = piped();
        let mut sent = Vec::new();
        for number in 0.. {
            let line = format!("{number}\n");
            sink.put(0, line.as_bytes());
            sent.extend_from_slice(line.as_bytes());
            if number % 100 == 0 {
                sink.flush();
            }
            if sink.is_full() {
                break;
            }
        }
        let mut got = Vec::new();
        let mut buffer = vec![0; 10_000];
        while got.len() < sent.len() {
            sink.flush();
            let read = rustix::io::read(&end, &mut buffer).unwrap();
            got.extend_from_slice(&buffer[..read]);
        }
        assert!(sink.is_empty() && got == sent);
    }

    #[test]
    fn a_reader_who_is_gone_is_noticed() {
        let (end, mut sink) = piped();
        drop(end);
        sink.put(0, b"x\n");
        sink.flush();
        assert_eq!(sink.failure(), Some(Errno::PIPE));
        sink.put(0, b"y\n");
        assert!(sink.is_empty());
    }

    #[test]
    fn what_we_say_begins_on_a_new_line() {
        let (end, mut sink) = piped();
        sink.put(3, b"last words");
        sink.say("motet: over");
        sink.say("motet: really\nover");
        sink.flush();
        let mut buffer = [0; 100];
        let read = rustix::io::read(&end, &mut buffer).unwrap();
        assert_eq!(&buffer[..read], b"last words\nmotet: over\nmotet: really\\nover\n");
    }
}
