//! Bootstrap: finds out the rank of this process, the size of the world, and the segment of its
//! host.
//!
//! The environment describes ranks that are processes. If Motet's own launcher has started them,
//! three variables contain everything, one of which names an inherited descriptor (`launch_env`).
//! If that descriptor was closed on the way, and for every program of a rank after its first, the
//! process opens the descriptor of the launcher through `/proc`. If the launcher of another library
//! has started the ranks, the environment names its server (`detect`), and the rest comes from that
//! server:
//!
//! ```text
//!   environment --DetectedLauncher--> KeyValueSpace: put, fence, get     (PMI-1, PMI-2 or PMIx)
//!                            |
//!                          HostMap: the host of each rank, from what the ranks publish
//!                            |
//!                          JoinedRank: the segment of this host, made by its first rank
//! ```
//!
//! This module takes over what was inherited, so that programs which a rank starts are not taken
//! for that rank.
//!
//! Reading order: `launch_env`; then `detect`, `pmi`, `pmix`, `host_map`, `shared_segment`,
//! `process_watch` (which notices a death) with `process`, `foreign_launcher`.

mod detect;
mod foreign_launcher;
mod host_map;
mod joined_rank;
mod launch_env;
mod pmi;
mod pmix;
mod process;
mod process_watch;
mod settings;
mod shared_segment;
mod simulated_hosts;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use detect::DetectedLauncher;
pub use foreign_launcher::{ForeignLauncher, abort};
pub use host_map::{HostMap, RankInfo};
pub use joined_rank::JoinedRank;
use joined_rank::take;
use launch_env::LaunchEnv;
pub use pmix::LIBRARY as PMIX_LIBRARY;
pub use settings::{CHOICE, LAUNCH_SECONDS, LAUNCHER, RANK, RANKS, SEGMENT, check_variables};
pub use settings::{RANKS_PER_SEGMENT, ranks_per_segment};
use settings::{Timeouts, variable};
pub use simulated_hosts::threads_apart;

pub use crate::kvs::{KeyValueSpace, NAME_MAX_BYTES, VALUE_MAX_BYTES, all_gather};
use crate::{Error, Result, SharedSegment};

/// Whether this process has joined as the rank that its environment names. The environment belongs
/// to the process, and so does this.
static JOINED: AtomicBool = AtomicBool::new(false);

/// A world of one rank.
///
/// # Errors
/// [`Error::System`] when memory is refused.
pub fn alone() -> Result<JoinedRank> {
    let segment = Arc::new(SharedSegment::private(1)?);
    Ok(JoinedRank { is_process: true, ..take(&segment, 0) })
}

/// All ranks of a world whose ranks are threads of this process.
///
/// # Errors
/// [`Error::Ranks`] for an impossible number, [`Error::System`] when memory is refused.
pub fn threads(ranks: usize) -> Result<Vec<JoinedRank>> {
    let segment = Arc::new(SharedSegment::private(ranks)?);
    Ok((0..ranks).map(|rank| take(&segment, rank)).collect())
}

/// The rank that a launcher has prepared for this process; `None` if there was no launcher.
///
/// Motet's own launcher has precedence over others. With another launcher the call takes as long as
/// the slowest rank needs to reach it.
///
/// # Errors
/// [`Error::Environment`] if a launcher has started this process, but it cannot be one of the
/// launcher's ranks: it already is, another process is, or no server answers. Several processes
/// that each run a world of one by mistake are never intended.
pub fn from_environment() -> Result<Option<JoinedRank>> {
    let place = LaunchEnv::find(variable)?;
    let offer = if place.is_none() { DetectedLauncher::find(variable)? } else { None };
    if place.is_none() && offer.is_none() {
        return Ok(None);
    }
    if JOINED.swap(true, Ordering::AcqRel) {
        return Err(Error::Environment("this process has already joined its world".into()));
    }
    let seat = match (place, offer) {
        (Some(place), _) => place.join().map(Some),
        (None, Some(offer)) => connect(&offer).and_then(ForeignLauncher::seat).map(Some),
        (None, None) => Ok(None),
    };
    if seat.is_err() {
        JOINED.store(false, Ordering::Release);
    }
    seat
}

/// Whether this process, which has joined no world, is the first one to end the job: then it prints
/// why. Motet's own launcher ends the other ranks, with this exit code, and prints nothing.
pub fn begins_abort(code: u8) -> bool {
    let Ok(Some(place)) = LaunchEnv::find(variable) else { return true };
    place.begins_abort(code).unwrap_or(true)
}

/// Whether a launcher has started this process as a rank, or seems to have.
pub fn is_launched() -> bool {
    let offer = || !matches!(DetectedLauncher::find(variable), Ok(None));
    env::var_os(RANK).is_some() || offer()
}

/// Connects to the server of a launcher.
fn connect(offer: &DetectedLauncher) -> Result<Box<dyn KeyValueSpace>> {
    let timeouts = Timeouts::of(variable)?;
    Ok(match offer {
        &DetectedLauncher::First { descriptor, rank, ranks } => {
            let socket = pmi::PmiSocket::new(launch_env::inherited_socket(descriptor)?);
            Box::new(pmi::PmiV1::new(socket, (rank, ranks), timeouts)?)
        }
        DetectedLauncher::FirstAtPort { place, id } => Box::new(pmi::PmiV1::at_port(
            pmi::PmiSocket::connect(place, timeouts.answer)?,
            id,
            timeouts,
        )?),
        DetectedLauncher::Second { descriptor, rank, job } => {
            let socket = pmi::PmiSocket::new(launch_env::inherited_socket(*descriptor)?);
            Box::new(pmi::PmiV2::new(socket, *rank, job.as_deref(), timeouts)?)
        }
        DetectedLauncher::Pmix => Box::new(pmix::Pmix::new(timeouts.fence)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Peer;

    #[test]
    fn threads_sit_in_one_world() {
        use crate::segment::State;
        let seats = threads(3).unwrap();
        assert!(seats.iter().all(|seat| Arc::ptr_eq(&seat.segment, &seats[0].segment)));
        let ranks: Vec<_> = seats.iter().map(|seat| seat.rank.0).collect();
        assert_eq!(ranks, [0, 1, 2]);
        assert!(ranks.iter().all(|&rank| seats[0].segment.state(Peer(rank)) == State::Present));
        assert_eq!(alone().unwrap().segment.ranks(), 1);
        assert!(matches!(threads(0), Err(Error::Ranks { asked: 0, .. })));
    }
}
