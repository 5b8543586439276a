//! The connection of a process to the launcher of another library, from init to finalize.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::JoinedRank;
use super::host_map::{HostMap, RankInfo};
use super::process_watch::ProcessWatch;
use super::settings::ranks_per_segment;
use super::shared_segment;
use crate::kvs::KeyValueSpace;
use crate::net::{Network, NetworkScope};
use crate::{Peer, Result, SharedSegment, forking};

/// How long an abort waits for another thread that talks to the launcher.
const ABORT_LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The connection of this process: like its environment, its launcher belongs to the process.
static OWN: OnceLock<Arc<ForeignLauncher>> = OnceLock::new();

/// Whether another library's launcher has started this process.
static IS_LAUNCHED: AtomicBool = AtomicBool::new(false);

/// How long a rank that aborts because of a death waits for the launcher to notice the death by
/// itself. Most launchers do, and then report which rank has died, and how; the rank must inform
/// the others.
const ABORT_DELAY: Duration = Duration::from_millis(500);
/// How much longer each next rank waits, so that one rank informs the launcher, and not all at
/// once.
const ABORT_DELAY_PER_RANK: Duration = Duration::from_millis(100);
/// The most ranks that delay in this way.
const DELAYED_RANKS_MAX: usize = 20;

/// How long the last output of a rank may take to reach the launcher; some launchers do not read it
/// once they have been asked to end the job.
const LAST_OUTPUT_DELAY: Duration = Duration::from_millis(30);

/// How long a rank that has asked the launcher to end the job waits to be killed. Ranks on other
/// hosts would take the end of this process for a death, if it ended before they do.
const LAUNCHER_KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// The state of a rank for the launcher of another library: its [`KeyValueSpace`], and the hosts of
/// all ranks.
#[derive(Debug)]
pub struct ForeignLauncher {
    host_map: HostMap,
    /// `None` after the last call.
    ties: Mutex<Option<Ties>>,
    /// The fork generation of the process that was launched; its children by `fork` have another
    /// one.
    generation: u32,
}

/// The part that ends with the last call.
#[derive(Debug)]
struct Ties {
    segment: Arc<SharedSegment>,
    kvs: Box<dyn KeyValueSpace>,
    watch: Option<ProcessWatch>,
}

/// What a rank needs to communicate with the others.
struct PeerSetup {
    host_map: HostMap,
    segment: Arc<SharedSegment>,
    network: Option<Box<Network>>,
    watch: Option<ProcessWatch>,
}

impl PeerSetup {
    fn by(kvs: &mut dyn KeyValueSpace) -> Result<PeerSetup> {
        let mut host_map = HostMap::gather(kvs, &RankInfo::own())?;
        if let Some(share) = ranks_per_segment()? {
            host_map.divide(share);
        }
        let segment = shared_segment::enter(kvs, &host_map)?;
        let network = (host_map.hosts() > 1).then(|| {
            let hosts: Vec<_> = (0..host_map.ranks()).map(|rank| host_map.host(rank)).collect();
            let leaves_host = host_map.leaves_host();
            let reach = NetworkScope { hosts: &hosts, leaves_host, writes: None };
            Network::open(kvs, &segment, reach).map(Box::new)
        });
        let network = network.transpose()?;
        let process = |rank: usize| {
            let card = host_map.rank_info(rank);
            (Peer(rank as u32), (card.process, card.started))
        };
        let processes = host_map.neighbours().into_iter().map(process).collect();
        let watch = ProcessWatch::begin(segment.clone(), Peer(host_map.rank() as u32), processes)?;
        Ok(PeerSetup { host_map, segment, network, watch })
    }
}

impl ForeignLauncher {
    /// Learns the hosts of all ranks, and joins the segment of this host.
    ///
    /// # Errors
    /// Those of the key-value space, of the system, and of the network if ranks are on several
    /// hosts.
    pub(super) fn seat(mut kvs: Box<dyn KeyValueSpace>) -> Result<JoinedRank> {
        IS_LAUNCHED.store(true, Ordering::Relaxed);
        let PeerSetup { host_map, segment, network, watch } = match PeerSetup::by(&mut *kvs) {
            Ok(found) => found,
            Err(error) => {
                // If its connection breaks, a launcher ends the job at once, before the user has
                // read the reason. So the connection breaks only when this process ends.
                std::mem::forget(kvs);
                return Err(error);
            }
        };
        let (rank, place) = (Peer(host_map.rank() as u32), host_map.local_rank());
        let ties = Ties { segment: segment.clone(), kvs, watch };
        let generation = forking::generation();
        let launched =
            Arc::new(ForeignLauncher { host_map, ties: Mutex::new(Some(ties)), generation });
        // The process joins once, so no value is set before.
        let _ = OWN.set(launched.clone());
        let is_process = true;
        Ok(JoinedRank { segment, rank, place, is_process, network, launched: Some(launched) })
    }

    /// The hosts of all ranks.
    pub fn host_map(&self) -> &HostMap {
        &self.host_map
    }

    /// The last call: this rank has left the world in good order. The second call does nothing.
    ///
    /// # Errors
    /// Those of the key-value space; its launcher may then take the end of this process for its
    /// death.
    pub fn leave(&self) -> Result<()> {
        let ties = self.ties.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Ties { mut kvs, watch, .. }) = ties else { return Ok(()) };
        drop(watch);
        kvs.finalize()
    }

    fn abort(&self, code: u8, text: &str) {
        let deadline = Instant::now() + ABORT_LOCK_TIMEOUT;
        let mut ties = loop {
            match self.ties.try_lock() {
                Ok(ties) => break ties,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::yield_now(),
                // That thread does not return. This process ends, and the launcher notices that.
                Err(_) => return,
            }
        };
        if let Some(Ties { segment, kvs, .. }) = &mut *ties {
            if segment.failure().is_some() {
                thread::sleep(
                    ABORT_DELAY
                        + ABORT_DELAY_PER_RANK * self.host_map.rank().min(DELAYED_RANKS_MAX) as u32,
                );
            }
            thread::sleep(LAST_OUTPUT_DELAY);
            kvs.abort(code, text);
            thread::sleep(LAUNCHER_KILL_TIMEOUT);
        }
    }
}

/// Asks the launcher of this process to end the whole job with this code, if it is another
/// library's and the process has not left. Returns in any case, and soon: then the process must end
/// with that code by itself. (Motet's own launcher needs no request.)
pub fn abort(code: u8, text: &str) {
    match OWN.get() {
        // A child of the rank by `fork` does not act for the rank.
        Some(launched) if launched.generation != forking::generation() => {}
        Some(launched) => launched.abort(code, text),
        // The process has not joined: its end informs the launcher.
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
