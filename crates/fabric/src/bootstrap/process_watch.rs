//! Process watch: each rank watches the process of another rank of its host, if the launcher does
//! not report deaths.
//! Each rank watches one other, the next on the host (the last rank the first), with one thread
//! that checks several times a second. When the watched rank has left in good order or has died,
//! the thread watches the one after it, and so on. So whenever a rank dies and not all die, some
//! living rank watches a dead one.
//!
//! The thread has no descriptors. A rank that has none left still watches, and a program that
//! closes all descriptors (`closefrom`) neither ends a watch nor is taken for dead.
//!
//! When a rank [ends the job](SharedSegment::abort), its launcher should kill all ranks. If the
//! launcher does not, or has ended, the ranks would wait for a rank that has ended without a report
//! of its death; so each process kills itself if nothing has killed it within a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};

use super::process::{Process, has_ended};
use crate::segment::State;
use crate::{Error, Failure, How, Peer, Result, SharedSegment};

/// How often a watcher checks whether the watched rank has left or has died.
const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// How long a process waits to be killed when a rank has ended the job: longer than that rank takes
/// to ask for the end and to end by itself, since launchers report the first rank that ends.
const KILL_TIMEOUT: Duration = Duration::from_secs(4);

/// A rank's watch of another rank. Dropping it ends it.
#[derive(Debug)]
pub(super) struct ProcessWatch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ProcessWatch {
    /// Starts to watch the processes of the ranks of this host, for the rank `me`.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub(super) fn begin(
        segment: Arc<SharedSegment>,
        me: Peer,
        processes: Vec<(Peer, Process)>,
    ) -> Result<Option<ProcessWatch>> {
        if processes.len() < 2 {
            return Ok(None);
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let watcher = Watcher { segment, is_over: is_over.clone() };
        let thread = thread::Builder::new()
            .name("motet watch".into())
            .stack_size(64 << 10)
            .spawn(move || watcher.watch_all(me, &processes))
            .map_err(|error| Error::system("start the thread that watches other ranks", error))?;
        Ok(Some(ProcessWatch { is_over, thread: Some(thread) }))
    }
}

impl Drop for ProcessWatch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

struct Watcher {
    segment: Arc<SharedSegment>,
    is_over: Arc<AtomicBool>,
}

impl Watcher {
    fn watch_all(&self, me: Peer, processes: &[(Peer, Process)]) {
        let after = processes.iter().skip_while(|(rank, _)| *rank != me).skip(1);
        let before = processes.iter().take_while(|(rank, _)| *rank != me);
        for &(peer, process) in after.chain(before) {
            let has_ended = self.watch(peer, process);
            if self.segment.aborted().is_some() {
                return self.wait_to_be_killed(KILL_TIMEOUT, kill_this_process);
            }
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            // A rank that has left may end.
            if has_ended && self.segment.state(peer) != State::Left {
                self.segment.fail(Failure { rank: peer, how: How::Vanished });
            }
        }
    }

    /// A rank has ended the job: calls `kill` after a time limit, unless the watch is over before.
    fn wait_to_be_killed(&self, limit: Duration, kill: impl FnOnce()) {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            thread::sleep(WATCH_PERIOD / 5);
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
        }
        kill();
    }

    /// Returns when a rank has left or ends the job, when the watch is over, or when the process
    /// has ended. Returns `true` only in the last case.
    fn watch(&self, rank: Peer, process: Process) -> bool {
        let goes_on = || {
            let is_over = self.is_over.load(Ordering::Acquire) || self.segment.aborted().is_some();
            !is_over && self.segment.state(rank) != State::Left
        };
        while goes_on() {
            if has_ended(process) {
                return true;
            }
            thread::park_timeout(WATCH_PERIOD);
        }
        false
    }
}

/// Kills this process, without its signal handlers and exit handlers.
fn kill_this_process() {
    // A process may send itself a signal.
    let _ = kill_process(getpid(), Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::super::process::started;
    use super::*;
    use crate::segment::Abort;
    use std::process::{Child, Command};

    /// A rank that does nothing; killed when the test is over.
    struct Idler(Child);

    impl Idler {
        fn start() -> Idler {
            Idler(Command::new("sleep").arg("100").spawn().expect("it can be started"))
        }

        fn process(&self) -> Process {
            (self.0.id(), started(self.0.id()).expect("it runs"))
        }

        fn kill(&mut self) {
            self.0.kill().expect("it runs");
            self.0.wait().expect("it is ours");
        }
    }

    impl Drop for Idler {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn own() -> Process {
        (std::process::id(), started(std::process::id()).expect("we run"))
    }

    fn in_order<const N: usize>(processes: [Process; N]) -> Vec<(Peer, Process)> {
        (0..).map(Peer).zip(processes).collect()
    }

    fn world(ranks: usize) -> Arc<SharedSegment> {
        let segment = SharedSegment::private(ranks).expect("there is memory");
        (0..ranks).for_each(|rank| segment.enter(Peer(rank as u32), 1));
        Arc::new(segment)
    }

    fn failure_within(segment: &SharedSegment, limit: Duration) -> Option<Failure> {
        let begun = Instant::now();
        while segment.failure().is_none() && begun.elapsed() < limit {
            thread::sleep(Duration::from_millis(1));
        }
        segment.failure()
    }

    const LONG: Duration = Duration::from_secs(20);
    const SHORT: Duration = Duration::from_millis(50);

    #[test]
    fn the_death_of_the_next_is_told() {
        let (segment, mut next, other) = (world(3), Idler::start(), Idler::start());
        let processes = in_order([other.process(), own(), next.process()]);
        let watch = ProcessWatch::begin(segment.clone(), Peer(1), processes).unwrap();
        assert_eq!(failure_within(&segment, SHORT), None);
        next.kill();
        let failure = Failure { rank: Peer(2), how: How::Vanished };
        assert_eq!(failure_within(&segment, LONG), Some(failure));
        drop(watch);
    }

    #[test]
    fn whom_one_that_has_left_has_watched_is_watched_by_another() {
        let (segment, next, mut last) = (world(3), Idler::start(), Idler::start());
        let processes = in_order([own(), next.process(), last.process()]);
        let watch = ProcessWatch::begin(segment.clone(), Peer(0), processes).unwrap();
        // It has left, but lives on.
        segment.leave(Peer(1));
        last.kill();
        let failure = Failure { rank: Peer(2), how: How::Vanished };
        assert_eq!(failure_within(&segment, LONG), Some(failure));
        drop(watch);
    }

    #[test]
    fn who_has_left_may_end() {
        let (segment, mut next) = (world(2), Idler::start());
        let watch =
            ProcessWatch::begin(segment.clone(), Peer(0), in_order([own(), next.process()]))
                .unwrap();
        segment.leave(Peer(1));
        next.kill();
        assert_eq!(failure_within(&segment, 4 * SHORT), None);
        drop(watch);
    }

    #[test]
    fn a_number_that_another_process_has_now_is_a_death() {
        let (segment, next) = (world(2), Idler::start());
        let (process, start) = next.process();
        let processes = in_order([own(), (process, start - 1)]);
        let watch = ProcessWatch::begin(segment.clone(), Peer(0), processes).unwrap();
        assert!(failure_within(&segment, LONG).is_some());
        drop(watch);
    }

    #[test]
    fn who_is_not_killed_after_an_abort_kills_itself_unless_it_leaves() {
        let kills = |watcher: &Watcher, limit| {
            let mut has_killed = false;
            watcher.wait_to_be_killed(limit, || has_killed = true);
            has_killed
        };
        let (segment, is_over) = (world(2), Arc::new(AtomicBool::new(false)));
        let watcher = Watcher { segment: segment.clone(), is_over: is_over.clone() };
        let next = Idler::start();
        segment.abort(Abort { rank: Peer(1), code: 7 });
        // Although it lives: the watch ends.
        watcher.watch(Peer(1), next.process());
        assert!(kills(&watcher, SHORT));
        is_over.store(true, Ordering::Release);
        assert!(!kills(&watcher, LONG));
        assert_eq!(segment.failure(), None);
    }

    #[test]
    fn a_watch_ends_at_once_and_one_rank_needs_none() {
        let (segment, next) = (world(2), Idler::start());
        let watch =
            ProcessWatch::begin(segment.clone(), Peer(0), in_order([own(), next.process()]))
                .unwrap();
        let begun = Instant::now();
        drop(watch);
        assert!(begun.elapsed() < WATCH_PERIOD);
        assert_eq!(segment.failure(), None);
        assert!(ProcessWatch::begin(world(1), Peer(0), in_order([own()])).unwrap().is_none());
    }
}
