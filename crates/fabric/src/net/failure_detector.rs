//! Failure detector: asks ranks on other hosts for a heartbeat, but only those that this rank waits
//! for. Protocol: `README.md`, "Failure detection".

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::control_channel::{ControlChannel, ControlMessage};
use super::fi_endpoint::WaitFd;
use crate::segment::{pack, unpack};
use crate::setting::{self, Seconds};
use crate::{Error, Failure, How, Peer, Result, SharedSegment};

/// The variable with the number of seconds without an answer after which a rank is lost.
pub const PEER_TIMEOUT: &str = "MOTET_PEER_TIMEOUT";
/// The timeout without that variable.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The thread asks each rank that it waits for once per this fraction of the timeout.
const PROBES_PER_TIMEOUT: u32 = 16;
/// A rank that has polled the network this often has seen all that had arrived.
const POLLS_TO_SEE_ALL: u64 = 100;
/// The longest time between two rounds: the report of a death on this host must reach other hosts.
const POLL_PERIOD_MAX: Duration = Duration::from_millis(250);
/// For how long a rank that ends in a failed world waits until all other hosts know of the failure.
const LAST_MESSAGE_TIMEOUT: Duration = Duration::from_millis(500);

/// Reads the timeout from the variable.
///
/// # Errors
/// [`Error::Setting`] if it is no time.
pub fn peer_timeout() -> Result<Duration> {
    let allowed = Seconds::new(0.1, 86_400.0);
    let timeout = setting::variable(PEER_TIMEOUT, |text| allowed.parse(text))?;
    Ok(timeout.unwrap_or(DEFAULT_TIMEOUT))
}

/// The state that a rank and its failure detector share.
pub(super) struct Shared {
    home: Arc<SharedSegment>,
    is_over: AtomicBool,
    /// Whether all ranks on other hosts have been informed of a failure.
    are_notified: AtomicBool,
    begun: Instant,
    /// How often the rank has polled the network.
    polls: AtomicU64,
    peers: Vec<Counts>,
}

/// Counts of the traffic between this rank and another one.
#[derive(Default)]
struct Counts {
    /// Cells for the other rank, and cells that have arrived from it.
    offered: AtomicU64,
    arrived: AtomicU64,
    /// When this rank last recorded that it waits for the other one: milliseconds since `begun`,
    /// plus 1.
    awaited: AtomicU64,
}

impl Shared {
    pub(super) fn note_poll(&self) {
        let polls = self.polls.load(Ordering::Relaxed);
        self.polls.store(polls + 1, Ordering::Relaxed);
    }

    pub(super) fn note_offered(&self, peer: Peer, cells: u64) {
        self.peers[peer.index()].offered.store(cells, Ordering::Relaxed);
    }

    pub(super) fn note_arrived(&self, peer: Peer, cells: u64) {
        self.peers[peer.index()].arrived.store(cells, Ordering::Relaxed);
    }

    /// Records that this rank waits for `peer`.
    pub(super) fn await_peer(&self, peer: Peer) {
        let now = self.begun.elapsed().as_millis() as u64 + 1;
        self.peers[peer.index()].awaited.store(now, Ordering::Relaxed);
    }

    pub(super) fn await_no_more(&self, peer: Peer) {
        self.peers[peer.index()].awaited.store(0, Ordering::Relaxed);
    }

    fn is_awaited(&self, peer: usize, timeout: Duration) -> bool {
        let awaited = self.peers[peer].awaited.load(Ordering::Relaxed);
        let now = self.begun.elapsed().as_millis() as u64 + 1;
        awaited > 0 && now - awaited.min(now) <= timeout.as_millis() as u64
    }
}

/// The failure detector of a rank. Dropping it stops its thread.
pub(super) struct FailureDetector {
    pub(super) shared: Arc<Shared>,
    timeout: Duration,
    last_report: Option<Instant>,
    /// Wakes the thread.
    wait_fd: WaitFd,
    thread: Option<JoinHandle<()>>,
}

impl FailureDetector {
    /// Starts the thread, which answers through an endpoint of its own.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses a thread.
    pub(super) fn begin(
        channel: ControlChannel,
        me: Peer,
        home: Arc<SharedSegment>,
        elsewhere: Vec<Peer>,
        timeout: Duration,
    ) -> Result<FailureDetector> {
        let ranks = home.ranks();
        let shared = Arc::new(Shared {
            home,
            is_over: AtomicBool::new(false),
            are_notified: AtomicBool::new(false),
            begun: Instant::now(),
            polls: AtomicU64::new(0),
            peers: (0..ranks).map(|_| Counts::default()).collect(),
        });
        let wait_fd = channel.wait_fd();
        let heartbeats = HeartbeatThread {
            channel,
            shared: Arc::clone(&shared),
            timeout,
            watches: (0..ranks).map(|_| None).collect(),
            unnotified: Vec::new(),
            elsewhere,
            notifies: false,
        };
        let thread = thread::Builder::new()
            .name(format!("motet beat {me}"))
            .spawn(move || heartbeats.beat())
            .map_err(|error| Error::system("start the heartbeat thread of a rank", error))?;
        Ok(FailureDetector { shared, timeout, last_report: None, wait_fd, thread: Some(thread) })
    }

    /// Waits until all ranks on other hosts have been informed of a failure, for a short time at
    /// most.
    pub(super) fn await_last_words(&self) {
        let ends = Instant::now() + LAST_MESSAGE_TIMEOUT;
        while !self.shared.are_notified.load(Ordering::Acquire) && Instant::now() < ends {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How long the failure detector waits for an answer.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether it is time to record again for which ranks this rank waits. `true` once per period.
    pub(super) fn is_time_to_say(&mut self) -> bool {
        let is_time =
            self.last_report.is_none_or(|last| last.elapsed() >= probe_period(self.timeout));
        if is_time {
            self.last_report = Some(Instant::now());
        }
        is_time
    }
}

impl Drop for FailureDetector {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        self.wait_fd.ring();
        if let Some(thread) = self.thread.take() {
            // The thread does not panic; if it did, a second panic would not help.
            let _ = thread.join();
        }
    }
}

/// The time between two rounds.
fn probe_period(timeout: Duration) -> Duration {
    (timeout / PROBES_PER_TIMEOUT).min(POLL_PERIOD_MAX)
}

/// The state of a rank for which this rank waits.
struct Watch {
    /// When it last answered, or when this rank began to wait for it.
    heard: Instant,
    /// Cells on the way to that rank, and from it.
    there: Lag,
    back: Lag,
}

/// Cells on the way to a rank that polls the network now and then.
struct Lag {
    arrived: u64,
    polls: u64,
    since: Instant,
}

impl Lag {
    fn new(arrived: u64, polls: u64) -> Lag {
        Lag { arrived, polls, since: Instant::now() }
    }

    /// Whether no cell has arrived for longer than `timeout`, although cells are on the way, and
    /// the rank has polled often enough.
    fn is_stuck(&mut self, offered: u64, arrived: u64, polls: u64, timeout: Duration) -> bool {
        if arrived >= offered || arrived != self.arrived {
            *self = Lag::new(arrived, polls);
        }
        polls >= self.polls + POLLS_TO_SEE_ALL && self.since.elapsed() > timeout
    }
}

/// The state of the thread of a failure detector.
struct HeartbeatThread {
    channel: ControlChannel,
    shared: Arc<Shared>,
    timeout: Duration,
    watches: Vec<Option<Watch>>,
    /// The ranks on other hosts.
    elsewhere: Vec<Peer>,
    /// Those of them that have not been informed of the failure yet.
    unnotified: Vec<Peer>,
    /// Whether the world has failed, and others are being notified.
    notifies: bool,
}

impl HeartbeatThread {
    fn beat(mut self) {
        let period = probe_period(self.timeout);
        let mut last = Instant::now();
        while !self.shared.is_over.load(Ordering::Acquire) {
            self.listen(period);
            self.spread_failure();
            if last.elapsed() > self.timeout / 2 {
                // This thread had no core, or the process was stopped: the answers may have
                // arrived, unread.
                self.watches.iter_mut().for_each(|watch| *watch = None);
                self.listen(Duration::ZERO);
            }
            last = Instant::now();
            self.ask();
        }
        let ends = Instant::now() + LAST_MESSAGE_TIMEOUT;
        self.spread_failure();
        while !self.unnotified.is_empty() && Instant::now() < ends {
            self.listen(Duration::from_millis(5));
            self.spread_failure();
        }
    }

    /// Handles the messages that arrive within this time.
    fn listen(&mut self, time: Duration) {
        let ends = Instant::now() + time;
        loop {
            let left = ends.saturating_duration_since(Instant::now());
            for (from, word) in self.channel.collect(left) {
                self.handle(from, word);
            }
            let is_over = self.shared.is_over.load(Ordering::Acquire);
            if Instant::now() >= ends || is_over {
                return;
            }
        }
    }

    fn handle(&mut self, from: Peer, word: ControlMessage) {
        let Some(counts) = self.shared.peers.get(from.index()) else { return };
        match word {
            ControlMessage::Ask => {
                let polls = self.shared.polls.load(Ordering::Relaxed);
                let offered = counts.offered.load(Ordering::Relaxed);
                let arrived = counts.arrived.load(Ordering::Relaxed);
                // If it cannot be sent now, the next question will be answered.
                let _ = self.channel.send(from, ControlMessage::Answer { polls, offered, arrived });
            }
            ControlMessage::Answer { polls, offered, arrived } => {
                let Some(watch) = &mut self.watches[from.index()] else { return };
                watch.heard = Instant::now();
                let ours = counts.offered.load(Ordering::Relaxed);
                let here = counts.arrived.load(Ordering::Relaxed);
                let own_polls = self.shared.polls.load(Ordering::Relaxed);
                if watch.there.is_stuck(ours, arrived, polls, self.timeout)
                    || watch.back.is_stuck(offered, here, own_polls, self.timeout)
                {
                    self.lose(from, How::Cut);
                }
            }
            ControlMessage::Death { failure } => {
                if let Some(failure) = unpack(failure)
                    && self.shared.home.failure().is_none()
                {
                    self.shared.home.fail(failure);
                }
            }
        }
    }

    /// Asks the ranks that this rank waits for, and declares those lost that have not answered for
    /// too long.
    fn ask(&mut self) {
        if self.shared.home.failure().is_some() {
            return;
        }
        // The rank records for which ranks it waits as often as this thread checks, if it gets to
        // it.
        let timeout = 4 * probe_period(self.timeout) + Duration::from_secs(1).min(self.timeout);
        for at in 0..self.elsewhere.len() {
            let peer = self.elsewhere[at];
            if !self.shared.is_awaited(peer.index(), timeout) {
                self.watches[peer.index()] = None;
                continue;
            }
            let counts = &self.shared.peers[peer.index()];
            let arrived = counts.arrived.load(Ordering::Relaxed);
            let polls = self.shared.polls.load(Ordering::Relaxed);
            let watch = self.watches[peer.index()].get_or_insert_with(|| Watch {
                heard: Instant::now(),
                // The first answer corrects these values.
                there: Lag::new(u64::MAX, u64::MAX - POLLS_TO_SEE_ALL),
                back: Lag::new(arrived, polls),
            });
            if watch.heard.elapsed() > self.timeout {
                let seconds = self.timeout.as_secs().clamp(1, 255) as u8;
                return self.lose(peer, How::Silent(seconds));
            }
            let _ = self.channel.send(peer, ControlMessage::Ask);
        }
    }

    /// Declares a rank lost.
    fn lose(&mut self, rank: Peer, how: How) {
        if self.shared.home.failure().is_none() {
            self.shared.home.fail(Failure { rank, how });
        }
    }

    /// Informs all ranks on other hosts when the world has failed.
    fn spread_failure(&mut self) {
        let Some(failure) = self.shared.home.failure() else { return };
        if !self.notifies {
            self.notifies = true;
            self.unnotified = self.elsewhere.clone();
            self.unnotified.retain(|&peer| peer != failure.rank);
        }
        let word = ControlMessage::Death { failure: pack(failure) };
        let channel = &mut self.channel;
        self.unnotified.retain(|&peer| !channel.send(peer, word));
        self.shared.are_notified.store(self.unnotified.is_empty(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_still_is_stuck() {
        let mut lag = Lag::new(0, 0);
        let timeout = Duration::from_millis(20);
        assert!(!lag.is_stuck(5, 1, 0, timeout));
        thread::sleep(2 * timeout);
        assert!(!lag.is_stuck(5, 2, 1000, timeout), "one has come");
        thread::sleep(2 * timeout);
        assert!(!lag.is_stuck(2, 2, 2000, timeout), "all have come");
        thread::sleep(2 * timeout);
        assert!(!lag.is_stuck(3, 2, 3000, Duration::from_secs(60)), "there is time");
        assert!(!lag.is_stuck(3, 2, 2000 + POLLS_TO_SEE_ALL - 1, timeout), "it has hardly looked");
        assert!(lag.is_stuck(3, 2, 2000 + POLLS_TO_SEE_ALL, timeout));
    }
}
