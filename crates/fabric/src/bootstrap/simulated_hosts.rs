//! Simulated hosts: ranks of one host communicate over the network, for tests and measurements.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{JoinedRank, KeyValueSpace};
use crate::layout::Layout;
use crate::net::{Network, NetworkScope};
use crate::{Error, Peer, Result, SharedSegment};

/// All ranks of a world whose ranks are threads of this process, but of which only a number of
/// consecutive ranks share a segment. The others communicate over the network; `writes` is as in
/// [`NetworkScope`].
///
/// # Errors
/// [`Error::Ranks`] for an impossible number, [`Error::Network`] if there is no network,
/// [`Error::System`] when memory is refused.
pub fn threads_apart(
    ranks: usize,
    per_host: usize,
    writes: Option<bool>,
) -> Result<Vec<JoinedRank>> {
    let per_host = per_host.clamp(1, ranks.max(1));
    let hosts: Vec<usize> = (0..ranks).map(|rank| rank / per_host).collect();
    let segments = (0..ranks.div_ceil(per_host)).map(|host| {
        let seats = per_host.min(ranks - host * per_host);
        let segment = SharedSegment::private_as(Layout::of_host(ranks, seats)?)?;
        segment.set_local_ranks(ranks);
        Ok(Arc::new(segment))
    });
    let segments = segments.collect::<Result<Vec<_>>>()?;
    let common = Arc::new(Common { ranks, ..Common::default() });
    // They wait for each other, so each needs a thread.
    thread::scope(|scope| {
        let sit = |rank: usize| {
            let mut kvs = Together { rank, common: Arc::clone(&common) };
            let (segment, hosts) = (Arc::clone(&segments[hosts[rank]]), &hosts);
            scope.spawn(move || {
                let reach = NetworkScope { hosts, leaves_host: false, writes };
                let network = Some(Box::new(Network::open(&mut kvs, &segment, reach)?));
                let (rank, place) = (Peer(rank as u32), rank);
                segment.enter(rank, std::process::id());
                Ok(JoinedRank { segment, rank, place, is_process: false, network, launched: None })
            })
        };
        let seats: Vec<_> = (0..ranks).map(sit).collect();
        let joined = seats.into_iter().map(|seat| seat.join());
        joined.map(|seat| seat.expect("opening a network does not panic")).collect()
    })
}

/// The key-value space of ranks that are threads of one process.
#[derive(Debug)]
struct Together {
    rank: usize,
    common: Arc<Common>,
}

#[derive(Debug, Default)]
struct Common {
    ranks: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    values: HashMap<(usize, String), Vec<u8>>,
    /// Ranks that have reached a fence, summed over all fences.
    arrivals: usize,
}

impl Common {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyValueSpace for Together {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.common.ranks
    }

    fn put(&mut self, name: &str, value: &[u8]) -> Result<()> {
        self.common.state().values.insert((self.rank, name.to_owned()), value.to_vec());
        Ok(())
    }

    fn fence(&mut self) -> Result<()> {
        let mut state = self.common.state();
        let all = (state.arrivals / self.common.ranks + 1) * self.common.ranks;
        state.arrivals += 1;
        self.common.changed.notify_all();
        while state.arrivals < all {
            state = self.common.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    fn get(&mut self, rank: usize, name: &str) -> Result<Vec<u8>> {
        let found = self.common.state().values.get(&(rank, name.to_owned())).cloned();
        found.ok_or_else(|| Error::Environment(format!("rank {rank} has not put {name}")))
    }

    fn abort(&mut self, _code: u8, _text: &str) {}

    fn finalize(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_holds_until_all_have_come() {
        let common = Arc::new(Common { ranks: 3, ..Common::default() });
        thread::scope(|scope| {
            for rank in 0..3 {
                let mut kvs = Together { rank, common: Arc::clone(&common) };
                scope.spawn(move || {
                    for round in 0..50_u8 {
                        let name = format!("round-{round}");
                        let told = crate::kvs::all_gather(&mut kvs, &name, &[round, rank as u8]);
                        assert_eq!(told.unwrap()[2], [round, 2]);
                    }
                });
            }
        });
    }
}
