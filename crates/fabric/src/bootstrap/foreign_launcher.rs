//! The connection of a process to the launcher of another library, from init to finalize.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::JoinedRank;
use super::host_map::{HostMap, RankInfo};
use super::kvs::KeyValueSpace;
use super::process_watch::ProcessWatch;
use super::shared_segment;
use super::simulated_hosts::ranks_per_segment;
use crate::net::{Network, NetworkScope};
use crate::{Peer, Result, SharedSegment, forking};

/// How long who aborts waits for another thread that talks to the launcher.
const ABORT_LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The one of this process: like its environment, its launcher belongs to the process.
static OWN: OnceLock<Arc<ForeignLauncher>> = OnceLock::new();

/// Whether another library's launcher has started this process.
static IS_LAUNCHED: AtomicBool = AtomicBool::new(false);

/// How long who aborts because of a death leaves the launcher to see that by itself. Most do, and
/// then say who has died, and how; others have to be told.
const ABORT_DELAY: Duration = Duration::from_millis(500);
/// How much longer each next rank leaves it, so that one of them tells it, and not all at once.
const ABORT_DELAY_PER_RANK: Duration = Duration::from_millis(100);
/// The most ranks that wait for each other in this way.
const DELAYED_RANKS_MAX: usize = 20;

/// How long what a rank has just written may take to the launcher, which some forget to read once
/// they have been asked to end the job.
const LAST_OUTPUT_DELAY: Duration = Duration::from_millis(30);

/// How long who has asked the launcher to end the job waits to be ended by it. Ranks on other hosts
/// would take the end of this process for a death, if it came before their own.
const LAUNCHER_KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// What a rank has of the launcher of another library: its [`KeyValueSpace`], and where all ranks
/// are.
#[derive(Debug)]
pub struct ForeignLauncher {
    roster: HostMap,
    /// Nothing when the last word has been said.
    ties: Mutex<Option<Ties>>,
    /// Of the process that has been launched; its children by `fork` have another one.
    generation: u32,
}

/// What ends when the last word has been said.
#[derive(Debug)]
struct Ties {
    segment: Arc<SharedSegment>,
    board: Box<dyn KeyValueSpace>,
    vigil: Option<ProcessWatch>,
}

/// What a rank needs of the others.
struct PeerSetup {
    roster: HostMap,
    segment: Arc<SharedSegment>,
    wire: Option<Box<Network>>,
    vigil: Option<ProcessWatch>,
}

impl PeerSetup {
    fn by(board: &mut dyn KeyValueSpace) -> Result<PeerSetup> {
        let mut roster = HostMap::gather(board, &RankInfo::own())?;
        if let Some(share) = ranks_per_segment()? {
            roster.divide(share);
        }
        let segment = shared_segment::enter(board, &roster)?;
        let wire = (roster.hosts() > 1).then(|| {
            let hosts: Vec<_> = (0..roster.ranks()).map(|rank| roster.host(rank)).collect();
            let leaves_host = roster.leaves_host();
            let reach = NetworkScope { hosts: &hosts, leaves_host, writes: None };
            Network::open(board, &segment, reach).map(Box::new)
        });
        let wire = wire.transpose()?;
        let process = |rank: usize| {
            let card = roster.rank_info(rank);
            (Peer(rank as u32), (card.process, card.started))
        };
        let processes = roster.neighbours().into_iter().map(process).collect();
        let vigil = ProcessWatch::begin(segment.clone(), Peer(roster.rank() as u32), processes)?;
        Ok(PeerSetup { roster, segment, wire, vigil })
    }
}

impl ForeignLauncher {
    /// Makes the acquaintance of all other ranks, and takes the seat among those of this host.
    ///
    /// # Errors
    /// Those of the key-value space, of the system, and of the network if ranks are on several
    /// hosts.
    pub(super) fn seat(mut board: Box<dyn KeyValueSpace>) -> Result<JoinedRank> {
        IS_LAUNCHED.store(true, Ordering::Relaxed);
        let PeerSetup { roster, segment, wire, vigil } = match PeerSetup::by(&mut *board) {
            Ok(found) => found,
            Err(error) => {
                // A launcher to which the line breaks ends the job at once, before anybody has
                // read why. It breaks when this process ends.
                std::mem::forget(board);
                return Err(error);
            }
        };
        let (rank, place) = (Peer(roster.rank() as u32), roster.local_rank());
        let ties = Ties { segment: segment.clone(), board, vigil };
        let generation = forking::generation();
        let launched =
            Arc::new(ForeignLauncher { roster, ties: Mutex::new(Some(ties)), generation });
        // The process joins once, so this is the only one.
        let _ = OWN.set(launched.clone());
        let is_process = true;
        Ok(JoinedRank { segment, rank, place, is_process, wire, launched: Some(launched) })
    }

    /// Where all ranks are.
    pub fn host_map(&self) -> &HostMap {
        &self.roster
    }

    /// The last word: this rank has left the world in good order. Does nothing the second time.
    ///
    /// # Errors
    /// Those of the key-value space, whose launcher may take the end of this process for its death.
    pub fn leave(&self) -> Result<()> {
        let ties = self.ties.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Ties { mut board, vigil, .. }) = ties else { return Ok(()) };
        drop(vigil);
        board.finalize()
    }

    fn abort(&self, code: u8, text: &str) {
        let deadline = Instant::now() + ABORT_LOCK_TIMEOUT;
        let mut ties = loop {
            match self.ties.try_lock() {
                Ok(ties) => break ties,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::yield_now(),
                // That thread does not come to an end. This process does, and the launcher sees it.
                Err(_) => return,
            }
        };
        if let Some(Ties { segment, board, .. }) = &mut *ties {
            if segment.failure().is_some() {
                thread::sleep(
                    ABORT_DELAY
                        + ABORT_DELAY_PER_RANK * self.roster.rank().min(DELAYED_RANKS_MAX) as u32,
                );
            }
            thread::sleep(LAST_OUTPUT_DELAY);
            board.abort(code, text);
            thread::sleep(LAUNCHER_KILL_TIMEOUT);
        }
    }
}

/// Asks the launcher of this process to end the whole job with this code, if it is another
/// library's and the process has not left. Returns in any case, and soon: then the process is to
/// end with that code by itself. (Our own launcher needs no word.)
pub fn abort(code: u8, text: &str) {
    match OWN.get() {
        // A child that the rank has made by `fork` speaks for itself alone.
        Some(launched) if launched.generation != forking::generation() => {}
        Some(launched) => launched.abort(code, text),
        // It has not come to its seat: the end of the process has to tell the launcher.
        None if IS_LAUNCHED.load(Ordering::Relaxed) => thread::sleep(LAST_OUTPUT_DELAY),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// A launcher that does not let the ranks meet; it hears when the line to it breaks.
    #[derive(Debug)]
    struct Deaf(Arc<AtomicBool>);

    impl Drop for Deaf {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl KeyValueSpace for Deaf {
        fn rank(&self) -> usize {
            0
        }

        fn ranks(&self) -> usize {
            2
        }

        fn put(&mut self, _name: &str, _value: &[u8]) -> Result<()> {
            Ok(())
        }

        fn fence(&mut self) -> Result<()> {
            Err(Error::Environment("rank 1 does not come".into()))
        }

        fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>> {
            Err(Error::Environment(format!("rank {rank} has not put {name}")))
        }

        fn abort(&mut self, _code: u8, _text: &str) {}

        fn finalize(&mut self) -> Result<()> {
            Ok(())
        }
    }

    /// Some launchers end a job as soon as the line to one rank breaks, before it could say why.
    #[test]
    fn who_cannot_join_keeps_the_line_to_the_launcher() {
        let is_broken = Arc::new(AtomicBool::new(false));
        let error = ForeignLauncher::seat(Box::new(Deaf(is_broken.clone()))).unwrap_err();
        assert!(error.to_string().contains("rank 1 does not come"), "{error}");
        assert!(!is_broken.load(Ordering::Relaxed));
    }
}
