//! The event loop of the launcher: watches the ranks until no process of the job is left.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpgid, kill_process, wait, waitpid};

use super::ending::{AFTER_DEATH, AFTER_SIGNAL, Action, Ending};
use super::group::Group;
use super::keyboard::{FOREGROUND_POLL_INTERVAL, Keyboard, Typing};
use super::orphans::Orphans;
use super::outcome::{Cause, Death, Outcome};
use super::output::Output;
use super::session::Tether;
use super::signals::Signals;
use super::start::Started;
use super::worlds::Worlds;
use crate::host::MemoryGroup;
use crate::segment::{Abort, State};
use crate::{Error, Failure, How, Peer, Result};

/// How long all ranks must be quiet before a part of a line is taken for a question.
const QUIET: Duration = Duration::from_millis(100);
/// How long ranks may take to end after an interrupt before the launcher prints how to end them.
const TO_HEED: Duration = Duration::from_secs(1);
/// Ends of ranks that are handled before another event.
const BATCH: usize = 64;
/// How often to ask for the ends of ranks whose ends the system does not report.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// A rank as a process.
struct Rank {
    process: Pid,
    /// Readable when the process has ended, where the system supports that.
    end: Option<OwnedFd>,
    runs: bool,
}

/// The reason of an early end of the job.
enum Reason {
    /// A rank has died, and this many others ran at that time. The segment may record an earlier
    /// death.
    Death { seen: Failure, others: usize },
    /// A rank has ended the job.
    Abort(Abort),
    /// All ranks were sent this signal.
    Signal(Signal),
    /// Nothing can be written to standard output any more.
    Output(Errno),
}

/// A running job. Dropping it ends all its processes.
pub(super) struct Watch<'a> {
    worlds: Worlds,
    signals: &'a Signals,
    group: Group,
    orphans: Orphans,
    output: Output,
    keyboard: Option<Keyboard>,
    ranks: Vec<Rank>,
    /// Ranks that have not ended.
    live: usize,
    /// Reports the ends of all ranks.
    ends: OwnedFd,
    events: Vec<epoll::Event>,
    /// Whether there is a rank whose end the system does not report.
    asks: bool,
    /// Signals that were sent to all ranks.
    forwarded: Vec<Signal>,
    /// When to report that ranks still run although they were interrupted.
    reminder: Option<Instant>,
    reason: Option<Reason>,
    ending: Ending,
    /// Whether ranks had to be asked to end.
    asked: bool,
    memory: Option<Memory>,
    /// The front, if the job has a session of its own.
    front: Option<&'a Tether>,
}

/// The control group of the job, and how many of its processes had been killed before.
struct Memory(MemoryGroup, u64);

impl Memory {
    fn find() -> Option<Memory> {
        let group = MemoryGroup::find()?;
        let kills = group.kills();
        Some(Memory(group, kills))
    }

    /// The limit of the group, if the kernel has killed a process of it since.
    fn is_full(&self) -> Option<u64> {
        (self.0.kills() > self.1).then_some(self.0.limit)
    }
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        worlds: Worlds,
        signals: &'a Signals,
        orphans: Orphans,
        group: Group,
        output: Output,
        front: Option<&'a Tether>,
    ) -> Result<Watch<'a>> {
        let ends = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| Error::system("watch the ranks", errno))?;
        Ok(Watch {
            worlds,
            signals,
            group,
            orphans,
            output,
            keyboard: None,
            ranks: Vec::new(),
            live: 0,
            ends,
            events: Vec::with_capacity(BATCH),
            asks: false,
            forwarded: Vec::new(),
            reminder: None,
            reason: None,
            ending: Ending::new(),
            asked: false,
            memory: Memory::find(),
            front,
        })
    }

    /// Adds the next rank in the order of numbers.
    pub(super) fn add(&mut self, started: Started) -> Result<()> {
        let rank = self.ranks.len();
        let token = epoll::EventData::new_u64(rank as u64);
        let is_told =
            |end: &OwnedFd| epoll::add(&self.ends, end, token, epoll::EventFlags::IN).is_ok();
        let end = started.end.filter(is_told);
        self.asks |= end.is_none();
        self.ranks.push(Rank { process: started.process, end, runs: true });
        self.live += 1;
        if let Some(input) = started.input {
            self.keyboard = Some(Keyboard::new(input)?);
        }
        self.output.add(rank, [started.output, started.errors])
    }

    /// Waits for the end of the job.
    pub(super) fn run(mut self) -> Result<Outcome> {
        while self.live > 0 || !self.output.is_closed() {
            self.round()?;
        }
        self.sweep();
        let outcome = self.tell()?;
        // Writing the last bytes may have failed; that error is then the only one.
        if outcome.cause.is_some() { Ok(outcome) } else { self.tell() }
    }

    /// Reports why the job ended early, if it did, and waits until all output has been written.
    fn tell(&mut self) -> Result<Outcome> {
        let outcome = self.outcome();
        if let Some(cause) = outcome.cause.as_ref().filter(|cause| !cause.is_quiet()) {
            self.output.say(&format!("motet: {cause}"));
            self.output.pump();
        }
        while !self.output.is_written() {
            self.round()?;
        }
        Ok(outcome)
    }

    fn round(&mut self) -> Result<()> {
        let quiet = self.sleep()?;
        if self.front.is_some_and(Tether::is_gone) {
            // The job ends with its front, and no process waits for its output.
            self.output.discard();
            return Err(Error::system("go on without the process that began", Errno::PIPE));
        }
        if quiet && self.output.holds_question() {
            self.output.show_questions();
        }
        self.worlds.serve();
        self.take_signals();
        self.take_ends();
        self.move_bytes();
        while let Some(action) = self.ending.step(Instant::now()) {
            self.act(action);
        }
        self.remind();
        Ok(())
    }

    /// Sleeps until an event happens or is due. Returns whether nothing has happened.
    fn sleep(&self) -> Result<bool> {
        let mut entries = vec![
            PollFd::from_borrowed_fd(self.signals.descriptor(), PollFlags::IN),
            PollFd::new(&self.ends, PollFlags::IN),
            self.worlds.interest(),
        ];
        entries.extend(self.front.map(Tether::interest));
        self.output.interests(&mut entries);
        let typing = self.keyboard.as_ref().map(Keyboard::interest);
        let in_background = matches!(typing, Some(None));
        entries.extend(typing.flatten());
        let limits = [
            self.ending.due().map(|due| due.saturating_duration_since(Instant::now())),
            self.reminder.map(|due| due.saturating_duration_since(Instant::now())),
            self.output.holds_question().then_some(QUIET),
            in_background.then_some(FOREGROUND_POLL_INTERVAL),
            (self.asks && self.live > 0).then_some(ASK_AGAIN),
        ];
        let limit = limits.into_iter().flatten().min().map(|limit| Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        });
        match poll(&mut entries, limit.as_ref()) {
            Ok(ready) => Ok(ready == 0),
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(Error::system("wait for the ranks", errno)),
        }
    }

    fn take_signals(&mut self) {
        while let Some(signal) = self.signals.next() {
            match signal {
                Signal::CHILD => self.reap_others(),
                Signal::TSTP => self.pause(),
                _ => self.forward(signal),
            }
        }
    }

    /// Forwards a signal. A second interrupt kills the ranks; when only output is left, a request
    /// to end drops it.
    fn forward(&mut self, signal: Signal) {
        let is_first = !self.forwarded.contains(&signal);
        if self.live == 0 && is_request_to_end(signal) {
            self.output.discard();
            self.reason.get_or_insert(Reason::Signal(signal));
        } else if signal == Signal::INT && !is_first {
            self.ending.hurry(Instant::now());
            self.reason.get_or_insert(Reason::Signal(signal));
        } else {
            self.signal_ranks(signal);
        }
        if is_first {
            self.forwarded.push(signal);
            if signal == Signal::INT {
                self.reminder = Some(Instant::now() + TO_HEED);
            }
        }
    }

    /// Reports how to end ranks that an interrupt has not ended, unless they are ending already.
    fn remind(&mut self) {
        if self.reminder.is_none_or(|due| Instant::now() < due) {
            return;
        }
        self.reminder = None;
        if self.live > 0 && self.reason.is_none() {
            let still = match self.live {
                1 => "1 rank still runs".to_owned(),
                live => format!("{live} ranks still run"),
            };
            self.output.say(&format!(
                "motet: {still} although interrupted; a second interrupt (Ctrl-C) kills all at once"
            ));
        }
    }

    /// Stops the ranks and this process, and continues when this process is continued.
    fn pause(&self) {
        self.signal_ranks(Signal::TSTP);
        match self.front {
            Some(front) => front.stop(),
            None => self.signals.suspend(),
        }
        self.signal_ranks(Signal::CONT);
    }

    /// Sends a signal to all ranks and the processes that they have started, and to ranks that have
    /// left the group; those forward it to their own processes as they like.
    fn signal_ranks(&self, signal: Signal) {
        let reached = self.group.signal(signal);
        let leader = Ok(self.group.leader());
        for rank in self.ranks.iter().filter(|rank| rank.runs) {
            if !reached || getpgid(Some(rank.process)) != leader {
                // Until its status is taken, no other process can have its number.
                let _ = kill_process(rank.process, signal);
            }
        }
    }

    fn take_ends(&mut self) {
        self.events.clear();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An interruption is like no event: the next round handles it.
        let _ = epoll::wait(&self.ends, spare_capacity(&mut self.events), Some(&at_once));
        // The ends arrive in the order in which they happened, so the first death is the first
        // here.
        for at in 0..self.events.len() {
            self.take_end(self.events[at].data.u64() as usize);
        }
        if self.asks {
            for rank in 0..self.ranks.len() {
                let Rank { runs, end, .. } = &self.ranks[rank];
                if *runs && end.is_none() {
                    self.take_end(rank);
                }
            }
        }
    }

    /// Takes the status of a rank, if it has ended.
    fn take_end(&mut self, rank: usize) {
        let process = self.ranks[rank].process;
        if let Ok(Some((_, status))) = waitpid(Some(process), WaitOptions::NOHANG) {
            self.ended(rank, status);
        }
    }

    /// Takes the statuses of adopted orphans, of which a long job may have any number.
    fn reap_others(&mut self) {
        self.take_ends();
        while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
            if process == self.group.leader() {
                self.group.lose();
            }
            let is_it = |rank: &Rank| rank.process == process && rank.runs;
            if let Some(rank) = self.ranks.iter().position(is_it) {
                self.ended(rank, status);
            }
        }
    }

    /// Handles the end of a rank.
    fn ended(&mut self, rank: usize, status: WaitStatus) {
        (self.ranks[rank].end, self.ranks[rank].runs) = (None, false);
        self.live -= 1;
        if rank == 0 {
            self.keyboard = None;
        }
        let peer = Peer(rank as u32);
        let state = self.worlds.state(peer);
        match (self.worlds.aborted(), verdict(status, state)) {
            (Some(abort), _) => self.abort(abort),
            (None, Some(how)) => self.died(Failure { rank: peer, how }),
            (None, None) => self.worlds.end(peer),
        }
        if self.live == 0 {
            self.ending.ranks_are_gone(Instant::now());
        }
    }

    /// A rank has ended the job. The launcher ends the others without notifying them.
    fn abort(&mut self, abort: Abort) {
        self.reason.get_or_insert(Reason::Abort(abort));
        self.ending.begin(Instant::now(), Duration::ZERO);
    }

    fn died(&mut self, failure: Failure) {
        self.worlds.fail(failure);
        let of_signal = |&&signal: &&Signal| failure.how == How::Signal(signal.as_raw() as u8);
        let reason = match self.forwarded.iter().find(of_signal) {
            Some(&signal) => Reason::Signal(signal),
            None => Reason::Death { seen: failure, others: self.live },
        };
        self.reason.get_or_insert(reason);
        let all_were_told = self.forwarded.iter().copied().any(is_request_to_end);
        let patience = if all_were_told { AFTER_SIGNAL } else { AFTER_DEATH };
        self.ending.begin(Instant::now(), patience);
    }

    fn move_bytes(&mut self) {
        self.output.pump();
        if let Some(errno) = self.output.failure().filter(|_| self.reason.is_none()) {
            self.reason = Some(Reason::Output(errno));
            self.ending.begin(Instant::now(), Duration::ZERO);
        }
        if self.keyboard.as_mut().map(Keyboard::pump) == Some(Typing::Ended) {
            self.keyboard = None;
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Ask => {
                self.asked = true;
                self.signal_ranks(Signal::TERM);
                // A stopped rank could not react to it.
                self.signal_ranks(Signal::CONT);
            }
            Action::Kill => {
                self.asked = true;
                self.signal_ranks(Signal::KILL);
                self.group.end();
            }
            Action::Sweep => self.sweep(),
            // The reader may take any time for output that was written while the ranks lived.
            Action::Abandon if self.output.is_behind() => self.ending.postpone(Instant::now()),
            Action::Abandon => self.output.abandon(),
        }
    }

    fn sweep(&mut self) {
        self.group.end();
        self.orphans.end();
    }

    fn all_have_left(&self) -> bool {
        let mut ranks = (0..self.ranks.len() as u32).map(Peer);
        ranks.all(|rank| self.worlds.state(rank) == State::Left)
    }

    fn outcome(&self) -> Outcome {
        match self.reason {
            None => Outcome::well(),
            Some(Reason::Abort(Abort { rank, code })) => Outcome::of(Cause::Abort { rank, code }),
            Some(Reason::Signal(signal)) => Outcome::of(Cause::Signal(signal.as_raw() as u8)),
            Some(Reason::Output(errno)) => Outcome::of(Cause::Output(errno.into())),
            Some(Reason::Death { seen, others }) => {
                // The death is not recorded if a rank has aborted at that moment.
                let failure = self.worlds.failure().unwrap_or(seen);
                let rank = failure.rank;
                let process = self.ranks[rank.index()].process.as_raw_nonzero().get() as u32;
                let state = self.worlds.state(rank);
                let orderly = !self.asked && self.all_have_left();
                let ranks = self.ranks.len();
                let full = self.memory.as_ref().and_then(Memory::is_full);
                let death = Death { failure, process, state, orderly, others, ranks, full };
                Outcome::of(Cause::Death(death))
            }
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.sweep();
    }
}

/// How a rank has died, if this was a death: an exit without an error is none, except that of a
/// rank that has joined its world and has not left it.
fn verdict(status: WaitStatus, state: State) -> Option<How> {
    match (status.terminating_signal(), status.exit_status()) {
        (Some(signal), _) => Some(How::Signal(signal as u8)),
        (None, Some(0)) if state != State::Present => None,
        (None, Some(code)) if state == State::Left => Some(How::ExitAfterLeaving(code as u8)),
        (None, code) => Some(How::Exit(code.unwrap_or(0) as u8)),
    }
}

/// Whether a program that receives this signal is expected to end.
fn is_request_to_end(signal: Signal) -> bool {
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM].contains(&signal)
}
