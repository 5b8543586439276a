//! Copies the output of the ranks from their pipes to standard output and standard error.

use std::io::Write;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read};

use super::Job;
use super::lines::{LONGEST_LINE, Lines};
use super::sink::Sink;
use crate::{Error, Result};

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// Pipes that are read before another event is handled.
const BATCH: usize = 64;

/// A sink with the pipes that lead to it. One descriptor watches all of them, so that the launcher
/// can ignore all of them while the sink is full.
struct Outlet {
    sink: Sink,
    pipes: OwnedFd,
    /// How many pipes have not ended.
    open: usize,
}

/// One pipe of a rank.
struct Stream {
    pipe: OwnedFd,
    lines: Lines,
    outlet: usize,
}

/// All output of a job.
pub(super) struct Output {
    /// Standard output and standard error, or one outlet for both if they lead to the same place.
    outlets: Vec<Outlet>,
    /// Two streams for each rank; `None` where a pipe has ended.
    streams: Vec<Option<Stream>>,
    label: bool,
    events: Vec<epoll::Event>,
    buffer: Box<[u8]>,
}

impl Output {
    pub(super) fn new(job: &Job) -> Result<Output> {
        // What this process has written before must precede the output of its ranks. If it cannot
        // be written, the sink finds the error later.
        let _ = std::io::stdout().flush();
        let (out, err) = (rustix::stdio::stdout(), rustix::stdio::stderr());
        let mut outlets = vec![Outlet::new(Sink::new(out))?];
        if !Sink::is_same(out, err) {
            outlets.push(Outlet::new(Sink::new(err))?);
        }
        let buffer = vec![0; LONGEST_LINE].into();
        let events = Vec::with_capacity(BATCH);
        Ok(Output { outlets, streams: Vec::new(), label: job.label, events, buffer })
    }

    /// Takes the pipes of the next rank: its standard output and its standard error.
    pub(super) fn add(&mut self, rank: usize, pipes: [OwnedFd; 2]) -> Result<()> {
        let last = self.outlets.len() - 1;
        for (pipe, outlet) in pipes.into_iter().zip([0, last]) {
            let label = if self.label { format!("[{rank}] ") } else { String::new() };
            self.watch(pipe, outlet)
                .map(|pipe| Stream { pipe, lines: Lines::new(label.into_bytes()), outlet })
                .map(|stream| self.streams.push(Some(stream)))
                .map_err(|errno| Error::system("watch the output of a rank", errno))?;
        }
        Ok(())
    }

    fn watch(&mut self, pipe: OwnedFd, outlet: usize) -> rustix::io::Result<OwnedFd> {
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        let token = epoll::EventData::new_u64(self.streams.len() as u64);
        let outlet = &mut self.outlets[outlet];
        epoll::add(&outlet.pipes, &pipe, token, epoll::EventFlags::IN)?;
        outlet.open += 1;
        Ok(pipe)
    }

    /// Adds the events to wait for.
    pub(super) fn interests<'a>(&'a self, entries: &mut Vec<PollFd<'a>>) {
        for outlet in &self.outlets {
            if outlet.open > 0 && !outlet.sink.is_full() {
                entries.push(PollFd::new(&outlet.pipes, PollFlags::IN));
            }
            if !outlet.sink.is_empty() {
                entries.push(PollFd::new(&outlet.sink, PollFlags::OUT));
            }
        }
    }

    /// Copies what can be copied now.
    pub(super) fn pump(&mut self) {
        for index in 0..self.outlets.len() {
            self.outlets[index].sink.flush();
            if self.outlets[index].open > 0 && !self.outlets[index].sink.is_full() {
                self.read_batch(index);
                self.outlets[index].sink.flush();
            }
        }
    }

    fn read_batch(&mut self, outlet: usize) {
        self.events.clear();
        let room = spare_capacity(&mut self.events);
        // An interruption is like no event: the next round handles it.
        let _ = epoll::wait(&self.outlets[outlet].pipes, room, Some(&AT_ONCE));
        for at in 0..self.events.len() {
            self.read_one(self.events[at].data.u64() as usize);
        }
    }

    fn read_one(&mut self, token: usize) {
        let Some(stream) = &mut self.streams[token] else { return };
        let sink = &mut self.outlets[stream.outlet].sink;
        match read(&stream.pipe, &mut self.buffer[..]) {
            Ok(0) => self.close(token),
            Ok(bytes) => {
                stream.lines.push(&self.buffer[..bytes], &mut |line| sink.put(token, line));
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.close(token),
        }
    }

    /// Closes a pipe that has ended, or for which the launcher does not wait any more.
    fn close(&mut self, token: usize) {
        if let Some(mut stream) = self.streams[token].take() {
            let outlet = &mut self.outlets[stream.outlet];
            stream.lines.finish(&mut |line| outlet.sink.put(token, line));
            outlet.open -= 1;
        }
    }

    /// Whether a part of a line is held back from a terminal, whose user may wait for it.
    pub(super) fn holds_question(&self) -> bool {
        // Most often there is no terminal; then the streams need not be checked.
        let mut shown = self.streams.iter().flatten();
        self.outlets.iter().any(|outlet| outlet.sink.is_terminal())
            && shown.any(|stream| {
                stream.lines.holds() && self.outlets[stream.outlet].sink.is_terminal()
            })
    }

    /// Shows on terminals also the lines that have no end yet.
    pub(super) fn show_questions(&mut self) {
        for (token, stream) in self.streams.iter_mut().enumerate() {
            let Some(stream) = stream else { continue };
            let sink = &mut self.outlets[stream.outlet].sink;
            if sink.is_terminal() {
                stream.lines.release(&mut |line| sink.put(token, line));
            }
        }
    }

    /// Prints a line on standard error.
    pub(super) fn say(&mut self, text: &str) {
        if let Some(outlet) = self.outlets.last_mut() {
            outlet.sink.say(text);
        }
    }

    /// The error because of which standard output accepts nothing any more.
    pub(super) fn failure(&self) -> Option<Errno> {
        self.outlets.first().and_then(|outlet| outlet.sink.failure())
    }

    /// Whether output has been written that is not read yet, perhaps because a sink is full.
    pub(super) fn is_behind(&self) -> bool {
        self.outlets.iter().any(|outlet| {
            let mut entry = [PollFd::new(&outlet.pipes, PollFlags::IN)];
            poll(&mut entry, Some(&AT_ONCE)) != Ok(0)
        })
    }

    /// Stops waiting for all pipes.
    pub(super) fn abandon(&mut self) {
        (0..self.streams.len()).for_each(|token| self.close(token));
    }

    /// Drops the output that was not written.
    pub(super) fn discard(&mut self) {
        self.abandon();
        self.outlets.iter_mut().for_each(|outlet| outlet.sink.discard());
    }

    /// Whether all pipes have ended.
    pub(super) fn is_closed(&self) -> bool {
        self.outlets.iter().all(|outlet| outlet.open == 0)
    }

    /// Whether everything has been written.
    pub(super) fn is_written(&self) -> bool {
        self.outlets.iter().all(|outlet| outlet.sink.is_empty())
    }
}

impl Outlet {
    fn new(sink: Sink) -> Result<Outlet> {
        let pipes = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| Error::system("watch the output of the ranks", errno))?;
        Ok(Outlet { sink, pipes, open: 0 })
    }
}
