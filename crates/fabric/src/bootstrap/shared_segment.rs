//! Creates the segment of a host, and shares it with ranks that another library's launcher has
//! started.
//!
//! Here no launcher of Motet passes the segment on. The first rank of the host creates it, without
//! a name as always, and publishes its process and its descriptor; the other ranks take the
//! descriptor over from there, while all ranks wait for each other.

use std::fs::OpenOptions;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_get_seals};
use rustix::process::{ForeignRawFd, Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::host_map::{HostMap, RankInfo};
use crate::copy_bandwidth::CopyBandwidth;
use crate::host;
use crate::kvs::KeyValueSpace;
use crate::layout::Layout;
use crate::segment::State;
use crate::{Error, Peer, Result, SharedSegment};

/// The key under which a leader publishes where its segment is, or why there is none.
const SEGMENT: &str = "segment";
/// How much later than others a rank may return from a fence.
const FENCE_SKEW_MAX: Duration = Duration::from_secs(10);
/// The beginning of the text of a leader that has a segment.
const DESCRIPTOR: &str = "descriptor ";

/// Creates the segment of this host, or takes it over, and enters it. All ranks call this. If it
/// fails on one rank of a host, it fails on all ranks of that host.
///
/// # Errors
/// Memory is refused, or the system does not let ranks share it; and those of the key-value space.
pub(super) fn enter(kvs: &mut dyn KeyValueSpace, host_map: &HostMap) -> Result<Arc<SharedSegment>> {
    let neighbours = host_map.neighbours();
    let (leader, me) = (neighbours[0], Peer(host_map.rank() as u32));
    let leads = host_map.rank() == leader;
    let layout = Layout::of_host(host_map.ranks(), neighbours.len())?;
    let made = leads.then(|| SharedSegment::shared_by(layout, cores(host_map)));
    if let Some(Ok((segment, _))) = &made {
        segment.set_local_ranks(host_map.local_ranks());
        segment.set_spans_scheduling_groups(host_map.spans_scheduling_groups());
        segment.set_prefers_memcpy(CopyBandwidth::measure().prefers_memcpy());
    }
    if let Some(made) = &made {
        let text = match made {
            Ok((_, file)) => format!("{DESCRIPTOR}{}", file.as_raw_fd()),
            Err(error) => error.to_string(),
        };
        kvs.put(SEGMENT, text.as_bytes())?;
    }
    kvs.fence()?;
    let found = match made {
        Some(made) => made,
        None => {
            let text = kvs.get(leader, SEGMENT)?;
            take_over(host_map.rank_info(leader), &String::from_utf8_lossy(&text))
                .and_then(|file| Ok((SharedSegment::attach_as(file.as_fd(), layout)?, file)))
        }
    };
    if let Ok((segment, _)) = &found {
        segment.enter(me, std::process::id());
    }
    // Until all ranks have reached this point, the leader keeps the file open and lives.
    kvs.fence()?;
    let (segment, _file) = found?;
    wait_for_all(&segment, &neighbours)?;
    Ok(Arc::new(segment))
}

/// Waits until all ranks of this host have entered. After a fence they have, unless one has failed;
/// but some servers have fences that return too early.
fn wait_for_all(segment: &SharedSegment, neighbours: &[usize]) -> Result<()> {
    let deadline = Instant::now() + FENCE_SKEW_MAX;
    for &rank in neighbours {
        while segment.state(Peer(rank as u32)) == State::Absent {
            if Instant::now() > deadline {
                let text = format!("rank {rank} has not taken over the segment: see what it says");
                return Err(Error::Environment(text));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}

/// The number of cores that the ranks of this host can use at once. Each rank may be bound to its
/// own cores, while a control group limits the time of all of them.
fn cores(host_map: &HostMap) -> usize {
    let own = host::cores();
    let granted = own.allowed.filter(|&allowed| own.usable < allowed).map(|_| own.usable);
    granted.map_or(host_map.cores(), |granted| granted.min(host_map.cores()))
}

/// Takes over the descriptor that a leader has published.
fn take_over(leader: &RankInfo, text: &str) -> Result<OwnedFd> {
    let number = text.strip_prefix(DESCRIPTOR).and_then(|text| text.parse().ok());
    let Some(descriptor) = number else {
        let text = format!("the first rank of this host could make no segment: {text}");
        return Err(Error::Environment(text));
    };
    let process = leader.process;
    let taken = by_pidfd(process, descriptor).or_else(|first| {
        // Works where the system lets one process look at another but not attach to it.
        by_name(process, descriptor).map_err(|second| {
            Error::Environment(format!(
                "this process may not take over the memory of process {process} (pidfd_getfd: \
                 {first}; /proc/{process}/fd/{descriptor}: {second}). Both must run as the same \
                 user, and without file capabilities or set-user-id"
            ))
        })
    })?;
    match fcntl_get_seals(&taken) {
        Ok(seals) if seals.contains(SealFlags::SHRINK) => Ok(taken),
        _ => Err(Error::Environment(format!(
            "descriptor {descriptor} of process {process} is not the segment that it should be: \
             do all ranks run the same version of Motet?"
        ))),
    }
}

fn by_pidfd(process: u32, descriptor: RawFd) -> std::io::Result<OwnedFd> {
    let process = Pid::from_raw(process as i32).ok_or(rustix::io::Errno::SRCH)?;
    let process = pidfd_open(process, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, descriptor as ForeignRawFd, PidfdGetfdFlags::empty())?)
}

fn by_name(process: u32, descriptor: RawFd) -> std::io::Result<OwnedFd> {
    let path = format!("/proc/{process}/fd/{descriptor}");
    Ok(OpenOptions::new().read(true).write(true).open(path)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_card() -> RankInfo {
        RankInfo::own()
    }

    #[test]
    fn a_segment_is_taken_over_by_pidfd_and_by_name() {
        let (segment, file) = SharedSegment::shared(2).unwrap();
        segment.enter(Peer(1), 77);
        let process = std::process::id();
        let segments = [by_pidfd(process, file.as_raw_fd()), by_name(process, file.as_raw_fd())];
        for taken in segments {
            let other = SharedSegment::attach(taken.unwrap().as_fd(), 2).unwrap();
            assert_eq!(other.process(Peer(1)), 77);
        }
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        let text = |text: &str| take_over(&own_card(), text).unwrap_err().to_string();
        assert!(text("no memory").contains("could make no segment: no memory"));
        assert!(text("descriptor 1000000").contains("may not take over"));
        let (end, _other) = std::io::pipe().unwrap();
        assert!(text(&format!("descriptor {}", end.as_raw_fd())).contains("is not the segment"));
    }
}
