//! The place that Motet's own launcher has prepared for a process.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::OsString;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::str::FromStr;
use std::sync::Arc;

use rustix::fs::{SealFlags, fcntl_get_seals};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::apart::{RANKS_PER_SEGMENT, ranks_per_segment};
use super::{CHOICE, LAUNCHER, RANK, RANKS, SEGMENT, Seat, take};
use crate::segment::State;
use crate::{Error, Peer, Result, Segment};

/// What the environment says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    rank: usize,
    ranks: usize,
    segment: RawFd,
    launcher: Option<i32>,
}

impl Place {
    pub(super) fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Place>> {
        if [RANK, RANKS, SEGMENT].into_iter().all(|name| variable(name).is_none()) {
            return Ok(None);
        }
        let place = Place {
            rank: number(&variable, RANK)?,
            ranks: number(&variable, RANKS)?,
            segment: number(&variable, SEGMENT)?,
            launcher: variable(LAUNCHER).map(|_| number(&variable, LAUNCHER)).transpose()?,
        };
        if place.rank >= place.ranks {
            let Place { rank, ranks, .. } = place;
            let text = format!("{RANK} is {rank}, which is none of the {ranks} ranks in {RANKS}");
            return Err(Error::Environment(text));
        }
        Ok(Some(place))
    }

    pub(super) fn join(&self) -> Result<Seat> {
        if ranks_per_segment()?.is_some_and(|share| share < self.ranks) {
            return Err(Error::Environment(format!(
                "`motet run` gives all ranks one segment, while {RANKS_PER_SEGMENT} asks for \
                 several: use another launcher (`mpiexec -n {}`), or ranks that are threads",
                self.ranks
            )));
        }
        self.check_segment()?;
        self.die_with_launcher()?;
        // SAFETY: the check has found a segment there. The launcher has opened it for this
        // process, of which nobody but us knows, and `JOINED` lets us pass once.
        let file = unsafe { OwnedFd::from_raw_fd(self.segment) };
        let segment = Segment::attach(rustix::fd::AsFd::as_fd(&file), self.ranks)?;
        let rank = Peer(self.rank as u32);
        if segment.state(rank) != State::Absent {
            let process = segment.process(rank);
            let text = format!("rank {rank} is or was process {process}, so it is not this one");
            return Err(Error::Environment(text));
        }
        // The descriptor closes here. The mapping stays, and no child can inherit anything.
        Ok(take(&Arc::new(segment), self.rank))
    }

    /// Whether the descriptor is what the variable says. It is not in a program that was started
    /// by a rank, since ranks do not hand it on.
    fn check_segment(&self) -> Result<()> {
        let descriptor = self.segment;
        let sealed = (descriptor > 2).then(|| {
            // SAFETY: borrowed for one call, which works on closed descriptors too: it says so.
            let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
            fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
        });
        if sealed == Some(true) {
            return Ok(());
        }
        Err(Error::Environment(format!(
            "not this process: descriptor {descriptor} is not the segment that {SEGMENT} says it \
             is. Unset {RANK}, {RANKS} and {SEGMENT} to run a program apart from the rank that \
             starts it"
        )))
    }

    /// Lets the kernel end this process when the launcher ends without ending it. The launcher
    /// has asked for the same, but some programs lose that when they start.
    fn die_with_launcher(&self) -> Result<()> {
        let parent = || getppid().map(|pid| pid.as_raw_nonzero().get());
        if self.launcher.is_none() || parent() != self.launcher {
            // Started by a script that the launcher has started, whose end must not be ours.
            return Ok(());
        }
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|errno| Error::system("ask to end with the launcher", errno))?;
        if parent() != self.launcher {
            return Err(Error::Environment("the launcher has gone".into()));
        }
        Ok(())
    }
}

/// Takes over the socket that the launcher of another library has opened for this process. No
/// program that this one starts inherits it.
pub(super) fn inherited_socket(descriptor: RawFd) -> Result<OwnedFd> {
    let is_socket = descriptor > 2 && {
        // SAFETY: borrowed for one call, which works on closed descriptors too: it says so.
        let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
        rustix::net::sockopt::socket_type(file).is_ok()
    };
    if !is_socket {
        return Err(Error::Environment(format!(
            "not this process: descriptor {descriptor} is not the socket that PMI_FD says it is. \
             Set {CHOICE}=alone to run a program apart from the rank that starts it"
        )));
    }
    // SAFETY: the launcher has opened it for this process, of which nobody but us knows, and the
    // process joins once. (Another library that speaks PMI may not live in the same process.)
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    fcntl_setfd(&socket, FdFlags::CLOEXEC)
        .map_err(|errno| Error::system("keep the launcher's socket to this process", errno))?;
    Ok(socket)
}

/// A variable that must hold a number.
fn number<T: FromStr>(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Result<T> {
    let Some(text) = variable(name) else {
        let text = format!("{name} is not set, although others of {RANK}, {RANKS}, {SEGMENT} are");
        return Err(Error::Environment(text));
    };
    let text = text.to_string_lossy();
    text.parse().map_err(|_| Error::Environment(format!("{name} is {text:?}, which is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::IntoRawFd;

    /// An environment of just these variables.
    fn holding(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        let pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        move |name| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.into())
    }

    fn found(pairs: &[(&str, &str)]) -> std::result::Result<Option<Place>, String> {
        Place::find(holding(pairs)).map_err(|error| error.to_string())
    }

    #[test]
    fn no_variables_mean_no_launcher() {
        assert_eq!(found(&[]), Ok(None));
        assert_eq!(found(&[("PATH", "/bin"), (LAUNCHER, "5")]), Ok(None));
    }

    #[test]
    fn a_whole_set_makes_a_place() {
        let set = [(RANK, "2"), (RANKS, "4"), (SEGMENT, "7"), (LAUNCHER, "99")];
        let place = Place { rank: 2, ranks: 4, segment: 7, launcher: Some(99) };
        assert_eq!(found(&set), Ok(Some(place)));
        let place = Place { rank: 2, ranks: 4, segment: 7, launcher: None };
        assert_eq!(found(&set[..3]), Ok(Some(place)));
    }

    #[test]
    fn broken_sets_are_refused_with_the_variable_that_is_wrong() {
        let text = found(&[(RANK, "2"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("MOTET_RANKS is not set"), "{text}");
        let text = found(&[(RANK, "two"), (RANKS, "4"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("MOTET_RANK is \"two\""), "{text}");
        let text = found(&[(RANK, "-1"), (RANKS, "4"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("MOTET_RANK is \"-1\""), "{text}");
        let text = found(&[(RANK, "4"), (RANKS, "4"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("none of the 4 ranks"), "{text}");
    }

    fn place(segment: RawFd, rank: usize, ranks: usize) -> Place {
        Place { rank, ranks, segment, launcher: None }
    }

    #[test]
    fn a_place_can_be_taken_once() {
        let (world, file) = Segment::shared(3).unwrap();
        let copy = file.try_clone().unwrap().into_raw_fd();
        let seat = place(copy, 1, 3).join().unwrap();
        assert_eq!((seat.rank, world.state(Peer(1))), (Peer(1), State::Present));
        assert_eq!(world.process(Peer(1)), std::process::id());
        let again = place(file.into_raw_fd(), 1, 3).join().unwrap_err().to_string();
        assert!(again.contains("rank 1 is or was process"), "{again}");
    }

    #[test]
    fn a_descriptor_that_is_no_segment_is_left_alone() {
        let (end, _other) = std::io::pipe().unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&end);
        for wrong in [descriptor, 0, -1, 1_000_000] {
            let text = place(wrong, 0, 1).join().unwrap_err().to_string();
            assert!(text.contains("is not the segment"), "{text}");
        }
        assert!(rustix::io::fcntl_getfd(&end).is_ok(), "it is still open");
    }
}
