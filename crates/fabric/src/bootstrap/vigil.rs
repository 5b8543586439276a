//! Watching over the ranks of a host when their launcher does not tell of deaths.
//!
//! Each rank watches one other, the next on the host, and the last the first: one descriptor and
//! one sleeping thread for each rank. When the one that is watched has left in good order, the
//! next but one is watched, and so on. So whenever a rank dies and not all die, some rank that
//! lives watches one that has died; and one death is all that has to be found, since the first
//! ends the world of all.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::roster::started;
use crate::segment::State;
use crate::{Error, Failure, How, Peer, Result, Segment};

/// How often a watcher looks whether the one it watches has left, and watches no other any more.
/// A death is seen at once, without looking.
const LOOK: Duration = Duration::from_millis(400);

/// The process of a rank, by its number and when it started.
pub(super) type Process = (Peer, u32, u64);

/// A rank's watch over another. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Vigil {
    bell: Arc<OwnedFd>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Vigil {
    /// Begins to watch over the processes of all ranks of this host, of which this is that of `me`.
    ///
    /// # Errors
    /// The system refuses a descriptor or a thread.
    pub(super) fn begin(
        segment: Arc<Segment>,
        me: Peer,
        processes: Vec<Process>,
    ) -> Result<Option<Vigil>> {
        if processes.len() < 2 {
            return Ok(None);
        }
        let bell = eventfd(0, EventfdFlags::CLOEXEC)
            .map_err(|errno| Error::system("watch over other ranks", errno))?;
        let (bell, is_over) = (Arc::new(bell), Arc::new(AtomicBool::new(false)));
        let watcher = Watcher { segment, bell: bell.clone(), is_over: is_over.clone() };
        let thread = thread::Builder::new()
            .name("motet vigil".into())
            .stack_size(64 << 10)
            .spawn(move || watcher.watch_all(me, &processes))
            .map_err(|error| Error::system("watch over other ranks", error))?;
        Ok(Some(Vigil { bell, is_over, thread: Some(thread) }))
    }
}

impl Drop for Vigil {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // Adding one to a fresh counter does not fail.
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watcher {
    segment: Arc<Segment>,
    bell: Arc<OwnedFd>,
    is_over: Arc<AtomicBool>,
}

impl Watcher {
    fn watch_all(&self, me: Peer, processes: &[Process]) {
        let after = processes.iter().skip_while(|(rank, ..)| *rank != me).skip(1);
        let before = processes.iter().take_while(|(rank, ..)| *rank != me);
        for &(peer, process, start) in after.chain(before) {
            self.watch(peer, process, start);
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            if self.segment.state(peer) != State::Left {
                return self.segment.fail(Failure { rank: peer, how: How::Vanished });
            }
        }
    }

    /// Returns when a rank has ended or left, or when the watch is over.
    fn watch(&self, rank: Peer, process: u32, start: u64) {
        let end = Pid::from_raw(process as i32)
            .and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
        let Some(end) = end else { return };
        // The number may belong to another process by now.
        if started(process) != Some(start) {
            return;
        }
        let limit = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
        while !self.is_over.load(Ordering::Acquire) && self.segment.state(rank) != State::Left {
            let mut both =
                [PollFd::new(&end, PollFlags::IN), PollFd::new(&*self.bell, PollFlags::IN)];
            match poll(&mut both, Some(&limit)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return,
                // The system is short of memory: that is no news of the other rank.
                Err(_) => thread::sleep(LOOK),
            }
        }
    }
}
