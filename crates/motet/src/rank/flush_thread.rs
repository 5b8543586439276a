//! The flush thread sends coalesced messages to other hosts if the rank does not call the library
//! to do so: `fabric/net/README.md`, "The flush thread".
//!
//! A rank that sends short messages one right after the other holds some back, so that several go
//! in one frame, and sends them at its next poll. Messages that the network does not accept at
//! once, such as the first one to a peer, wait for a poll, too. The rank may compute instead: then
//! the flush thread polls, when it finds the same messages for the second time.
//!
//! Waking a thread takes some microseconds of a core, which other threads may want. So the flush
//! thread polls the more seldom the longer the rank has come itself: forgotten messages wait about
//! as long as the rank has been sending, and 2 ms at most. The thread rests while nothing waits.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use motet_fabric::net::FlushSignal;

use super::Shared;

/// The time between the first two polls.
const POLL_PERIOD_MIN: Duration = Duration::from_micros(100);
/// The time between polls doubles up to this.
const POLL_PERIOD_MAX: Duration = Duration::from_millis(1);
/// After so many polls that found nothing the thread rests, and must be called.
const IDLE_POLLS_MAX: u32 = 10;

/// The flush thread of a rank, and the signal by which the rank calls it.
#[derive(Debug)]
pub(super) struct FlushThread {
    held_back: Arc<FlushSignal>,
    /// `None` if no thread could be started: then no message is held back.
    thread: Option<JoinHandle<()>>,
}

impl FlushThread {
    /// Starts the flush thread of a rank.
    pub(super) fn start(shared: &Arc<Shared>, held_back: Arc<FlushSignal>) -> FlushThread {
        let thread = {
            let (shared, held_back) = (Arc::clone(shared), Arc::clone(&held_back));
            let name = format!("motet flush {}", shared.me);
            thread::Builder::new()
                .name(name)
                .spawn(move || shared.run_flush_thread(&held_back))
                .ok()
        };
        FlushThread { held_back, thread }
    }

    /// Ends the flush thread.
    pub(super) fn end(&mut self) {
        self.held_back.end();
        if let Some(thread) = self.thread.take() {
            // The thread does not panic, and if it did the rank has died of that.
            let _ = thread.join();
        }
    }
}

/// The result of a poll of the flush thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlushPoll {
    /// The rank may send the messages itself soon.
    Nothing,
    /// Messages wait, and the rank has not polled since the last poll of the thread.
    Forgotten,
    /// No message has waited for a while.
    Peace,
}

/// The polls of the flush thread since it rested.
#[derive(Debug)]
struct FlushPolls {
    last: Option<u64>,
    idle: u32,
    /// The time to the next poll.
    pause: Duration,
}

impl FlushPolls {
    fn new() -> FlushPolls {
        FlushPolls { last: None, idle: 0, pause: POLL_PERIOD_MIN }
    }

    fn poll(&mut self, newest: Option<u64>) -> FlushPoll {
        let last = std::mem::replace(&mut self.last, newest);
        self.idle = if newest.is_none() { self.idle + 1 } else { 0 };
        let found = match newest {
            Some(_) if newest == last => FlushPoll::Forgotten,
            None if self.idle >= IDLE_POLLS_MAX => FlushPoll::Peace,
            _ => FlushPoll::Nothing,
        };
        let is_forgotten = found == FlushPoll::Forgotten;
        self.pause =
            if is_forgotten { POLL_PERIOD_MIN } else { (2 * self.pause).min(POLL_PERIOD_MAX) };
        found
    }
}

impl Shared {
    /// Runs the flush thread. If it panics, the rank dies.
    fn run_flush_thread(&self, held_back: &FlushSignal) {
        if panic::catch_unwind(AssertUnwindSafe(|| self.flush_forgotten(held_back))).is_err() {
            self.die();
        }
    }

    fn flush_forgotten(&self, held_back: &FlushSignal) {
        held_back.serve();
        while held_back.rest() {
            let mut polls = FlushPolls::new();
            while held_back.pause(polls.pause) {
                match polls.poll(held_back.newest()) {
                    FlushPoll::Nothing => {}
                    FlushPoll::Forgotten => self.engine().endpoint().progress_network(),
                    FlushPoll::Peace => break,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_for_two_checks_is_forgotten() {
        let mut polls = FlushPolls::new();
        for number in 1..100 {
            assert_eq!(polls.poll(Some(number)), FlushPoll::Nothing);
        }
        assert_eq!(polls.poll(Some(99)), FlushPoll::Forgotten);
        assert_eq!(polls.poll(Some(99)), FlushPoll::Forgotten);
        assert_eq!(polls.poll(None), FlushPoll::Nothing);
    }

    #[test]
    fn peace_is_when_nothing_waits_for_a_while() {
        let mut polls = FlushPolls::new();
        for _ in 0..3 {
            for _ in 1..IDLE_POLLS_MAX {
                assert_eq!(polls.poll(None), FlushPoll::Nothing);
            }
            assert_eq!(polls.poll(Some(1)), FlushPoll::Nothing);
        }
        for _ in 1..IDLE_POLLS_MAX {
            assert_eq!(polls.poll(None), FlushPoll::Nothing);
        }
        assert_eq!(polls.poll(None), FlushPoll::Peace);
    }

    #[test]
    fn pauses_grow_while_the_rank_comes() {
        let mut polls = FlushPolls::new();
        let mut pauses = Vec::new();
        for number in 1..10 {
            pauses.push(polls.pause);
            polls.poll(Some(number));
        }
        assert!(pauses.is_sorted());
        assert_eq!((pauses[0], pauses[8]), (POLL_PERIOD_MIN, POLL_PERIOD_MAX));
        assert_eq!(polls.poll(Some(9)), FlushPoll::Forgotten);
        assert_eq!(polls.pause, POLL_PERIOD_MIN);
    }
}
