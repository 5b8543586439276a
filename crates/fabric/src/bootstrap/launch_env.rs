//! The environment variables and descriptor by which Motet's launcher tells a process its rank.

#![allow(unsafe_code)] // listed in docs/unsafe.md

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{SealFlags, fcntl_get_seals};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::settings::{RANKS_PER_SEGMENT, ranks_per_segment};
use super::{CHOICE, JoinedRank, LAUNCHER, RANK, RANKS, SEGMENT, Timeouts, take, variable};
use crate::cma::is_gone;
use crate::segment::{Abort, State};
use crate::setting::{self, Number};
use crate::{Error, Failure, How, Peer, Result, SharedSegment};

/// How often to check whether the launcher has answered.
const WORLD_POLL_PERIOD: Duration = Duration::from_millis(1);
/// Advice for a program whose rank is taken by another process.
const UNSET_REMEDY: &str = "Unset MOTET_RANK, MOTET_RANKS and MOTET_SEGMENT to run a program \
                            apart from the rank that starts it";

/// The content of the environment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LaunchEnv {
    rank: usize,
    ranks: usize,
    segment: RawFd,
    launcher: Option<i32>,
}

impl LaunchEnv {
    pub(super) fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<LaunchEnv>> {
        if [RANK, RANKS, SEGMENT].into_iter().all(|name| variable(name).is_none()) {
            return Ok(None);
        }
        let place = LaunchEnv {
            rank: number(&variable, RANK)?,
            ranks: number(&variable, RANKS)?,
            segment: number(&variable, SEGMENT)?,
            launcher: variable(LAUNCHER).map(|_| number(&variable, LAUNCHER)).transpose()?,
        };
        if place.rank >= place.ranks {
            let LaunchEnv { rank, ranks, .. } = place;
            let text = format!(
                "{RANK} is {rank}, which is none of the {ranks} ranks in {RANKS}. {UNSET_REMEDY}"
            );
            return Err(Error::Environment(text));
        }
        Ok(Some(place))
    }

    pub(super) fn join(&self) -> Result<JoinedRank> {
        if ranks_per_segment()?.is_some_and(|share| share < self.ranks) {
            return Err(Error::Environment(format!(
                "`motet run` gives all ranks one segment, while {RANKS_PER_SEGMENT} asks for \
                 several: use another launcher (`mpiexec -n {}`), or ranks that are threads",
                self.ranks
            )));
        }
        let file = self.segment()?;
        self.die_with_launcher()?;
        let segment = self.world(SharedSegment::attach(file.as_fd(), self.ranks)?)?;
        // The descriptor closes here. The mapping stays, and no child can inherit it.
        Ok(take(&Arc::new(segment), self.rank))
    }

    /// Records that this rank ends the job while it joins its world. Returns whether it is the
    /// first to end the job. A program that a script of the rank runs ends only itself.
    pub(super) fn begins_abort(&self, code: u8) -> Result<bool> {
        let parent = getppid().map(|process| process.as_raw_nonzero().get());
        if self.launcher.is_none() || parent != self.launcher {
            return Ok(true);
        }
        let segment = SharedSegment::attach(self.segment()?.as_fd(), self.ranks)?;
        let rank = Peer(self.rank as u32);
        let has_world = segment.current(rank).is_none() && segment.state(rank) != State::Left;
        Ok(!has_world || segment.abort(Abort { rank, code }))
    }

    /// The file of the segment: the inherited one or, if a parent of this process has closed
    /// descriptors, that of the launcher.
    fn segment(&self) -> Result<OwnedFd> {
        let descriptor = self.segment;
        let is_inherited = descriptor > 2 && {
            // SAFETY: borrowed for one call, which works on closed descriptors too: it says so.
            is_segment(unsafe { BorrowedFd::borrow_raw(descriptor) })
        };
        if is_inherited {
            // SAFETY: there is a segment, which the launcher has opened for this process. Nobody
            // but us knows of it, and `JOINED` lets us pass once.
            return Ok(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
        self.segment_of_launcher(descriptor).map_err(|problem| {
            Error::Environment(format!(
                "not this process: descriptor {descriptor} is not the segment that {SEGMENT} says \
                 it is, and that of the launcher cannot be used ({problem}). Whatever starts a \
                 rank must leave its descriptors open (close_fds=False in Python). {UNSET_REMEDY}"
            ))
        })
    }

    /// The file of a segment that the launcher has open under this number.
    fn segment_of_launcher(&self, number: RawFd) -> std::result::Result<OwnedFd, String> {
        let (path, file) = self.file_of_launcher(number)?;
        if is_segment(file.as_fd()) { Ok(file) } else { Err(format!("{path} is none")) }
    }

    fn file_of_launcher(&self, number: RawFd) -> std::result::Result<(String, OwnedFd), String> {
        let Some(launcher) = self.launcher else { return Err(format!("no {LAUNCHER}")) };
        let path = format!("/proc/{launcher}/fd/{number}");
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => Ok((path, file.into())),
            Err(error) => Err(format!("{path}: {error}")),
        }
    }

    /// The world of this process: the first one, or a later one if earlier programs of this rank
    /// have joined the earlier worlds.
    fn world(&self, first: SharedSegment) -> Result<SharedSegment> {
        let rank = Peer(self.rank as u32);
        let current = first.current(rank);
        let later = current.map(|number| self.later_world(number)).transpose()?;
        let world = later.as_ref().unwrap_or(&first);
        let process = world.process(rank);
        match world.state(rank) {
            State::Absent => Ok(later.unwrap_or(first)),
            State::Left => self.next_world(&first, current),
            State::Present if is_gone(process) => {
                world.fail(Failure { rank, how: How::Vanished });
                Err(Error::Environment(format!(
                    "the program that rank {rank} has run before this one, process {process}, \
                     ended without leaving the world: see what it said"
                )))
            }
            State::Present => Err(Error::Environment(format!(
                "not this process: rank {rank} is process {process}, which has not left the \
                 world. Programs of a rank run one after the other. {UNSET_REMEDY}"
            ))),
        }
    }

    fn later_world(&self, number: RawFd) -> Result<SharedSegment> {
        let failed = |problem| {
            Error::Environment(format!(
                "a program that a rank runs after another one must open what the launcher has for \
                 it ({problem})"
            ))
        };
        SharedSegment::attach(self.segment_of_launcher(number).map_err(failed)?.as_fd(), self.ranks)
    }

    /// Asks the launcher for the world after this one, and waits for it. A rank that is far ahead
    /// of others gets it when the others have advanced.
    fn next_world(&self, first: &SharedSegment, current: Option<RawFd>) -> Result<SharedSegment> {
        let rank = Peer(self.rank as u32);
        let failed = |problem: String| {
            Error::Environment(format!(
                "rank {rank} has run a program before this one, and the launcher has no world for \
                 another ({problem}). Start each program by a launcher of its own"
            ))
        };
        let line = first.request_line().ok_or_else(|| failed("it takes no requests".into()))?;
        let (path, line) = self.file_of_launcher(line).map_err(failed)?;
        let asked = rustix::io::write(&line, &rank.0.to_ne_bytes());
        asked.map_err(|errno| failed(format!("{path}: {errno}")))?;
        let patience = Timeouts::of(variable)?.fence;
        let deadline = Instant::now() + patience;
        loop {
            match first.current(rank).filter(|found| Some(*found) != current) {
                Some(found) => return self.later_world(found),
                None if Instant::now() > deadline => {
                    return Err(failed(format!("it has not answered for {patience:?}")));
                }
                None if self.launcher.is_none_or(|launcher| is_gone(launcher as u32)) => {
                    return Err(Error::Environment(
                        "the launcher has ended; start the job again".into(),
                    ));
                }
                None => thread::sleep(WORLD_POLL_PERIOD),
            }
        }
    }

    /// Makes the kernel end this process when the launcher ends without ending it. The launcher has
    /// made the same request, but some programs lose it when they start.
    fn die_with_launcher(&self) -> Result<()> {
        let parent = || getppid().map(|pid| pid.as_raw_nonzero().get());
        if self.launcher.is_none() || parent() != self.launcher {
            // A script that the launcher has started is the parent; its end must not end this
            // process.
            return Ok(());
        }
        // If the system refuses this, the guard of the launcher ends this process.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        if parent() != self.launcher {
            return Err(Error::Environment("the launcher has ended; start the job again".into()));
        }
        Ok(())
    }
}

/// Whether a file is a segment: no other file here is sealed against shrinking.
fn is_segment(file: BorrowedFd<'_>) -> bool {
    fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
}

/// Takes over the socket that the launcher of another library has opened for this process. Programs
/// that this process starts do not inherit it.
pub(super) fn inherited_socket(descriptor: RawFd) -> Result<OwnedFd> {
    let is_socket = descriptor > 2 && {
        // SAFETY: borrowed for one call, which works on closed descriptors too: it says so.
        let file = unsafe { BorrowedFd::borrow_raw(descriptor) };
        rustix::net::sockopt::socket_type(file).is_ok()
    };
    if !is_socket {
        return Err(Error::Environment(format!(
            "not this process: descriptor {descriptor} is not the socket that PMI_FD says it is. \
             Whatever starts a rank must leave its descriptors open (close_fds=False in Python). \
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

/// A variable that must hold a number, which is never negative.
fn number<T: TryFrom<u64>>(
    variable: impl Fn(&str) -> Option<OsString>,
    name: &'static str,
) -> Result<T> {
    let allowed = Number::new("a number");
    let wrong = |error| Error::Environment(format!("{error}. {UNSET_REMEDY}"));
    let number = setting::read(name, variable(name), |text| allowed.parse(text)).map_err(wrong)?;
    number.ok_or_else(|| {
        let text = format!(
            "{name} is not set, although others of {RANK}, {RANKS}, {SEGMENT} are. {UNSET_REMEDY}"
        );
        Error::Environment(text)
    })
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

    fn found(pairs: &[(&str, &str)]) -> std::result::Result<Option<LaunchEnv>, String> {
        LaunchEnv::find(holding(pairs)).map_err(|error| error.to_string())
    }

    #[test]
    fn no_variables_mean_no_launcher() {
        assert_eq!(found(&[]), Ok(None));
        assert_eq!(found(&[("PATH", "/bin"), (LAUNCHER, "5")]), Ok(None));
    }

    #[test]
    fn a_whole_set_makes_a_place() {
        let set = [(RANK, "2"), (RANKS, "4"), (SEGMENT, "7"), (LAUNCHER, "99")];
        let place = LaunchEnv { rank: 2, ranks: 4, segment: 7, launcher: Some(99) };
        assert_eq!(found(&set), Ok(Some(place)));
        let place = LaunchEnv { rank: 2, ranks: 4, segment: 7, launcher: None };
        assert_eq!(found(&set[..3]), Ok(Some(place)));
    }

    #[test]
    fn broken_sets_are_refused_with_the_variable_that_is_wrong() {
        let text = found(&[(RANK, "2"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("MOTET_RANKS is not set"), "{text}");
        let text = found(&[(RANK, "two"), (RANKS, "4"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("MOTET_RANK is `two`; expected a number"), "{text}");
        let text = found(&[(RANK, "-1"), (RANKS, "4"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("MOTET_RANK is `-1`; expected a number"), "{text}");
        let text = found(&[(RANK, "4"), (RANKS, "4"), (SEGMENT, "7")]).unwrap_err();
        assert!(text.contains("none of the 4 ranks"), "{text}");
    }

    fn place(segment: RawFd, rank: usize, ranks: usize) -> LaunchEnv {
        LaunchEnv { rank, ranks, segment, launcher: None }
    }

    #[test]
    fn a_place_can_be_taken_once() {
        let (world, file) = SharedSegment::shared(3).unwrap();
        let copy = file.try_clone().unwrap().into_raw_fd();
        let seat = place(copy, 1, 3).join().unwrap();
        assert_eq!((seat.rank, world.state(Peer(1))), (Peer(1), State::Present));
        assert_eq!(world.process(Peer(1)), std::process::id());
        let again = place(file.into_raw_fd(), 1, 3).join().unwrap_err().to_string();
        assert!(again.contains("not this process: rank 1 is process"), "{again}");
    }

    #[test]
    fn without_a_launcher_that_has_another_world_there_is_one_program() {
        let (world, file) = SharedSegment::shared(2).unwrap();
        world.enter(Peer(0), std::process::id());
        world.leave(Peer(0));
        let copy = || file.try_clone().unwrap().into_raw_fd();
        let told = place(copy(), 0, 2).join().unwrap_err().to_string();
        assert!(told.contains("it takes no requests"), "{told}");
        world.set_request_line(0);
        let told = place(copy(), 0, 2).join().unwrap_err().to_string();
        assert!(told.contains("no MOTET_LAUNCHER") && told.contains("of its own"), "{told}");
    }

    #[test]
    fn a_program_that_crashed_is_named_by_the_next_and_told_to_others() {
        let (world, file) = SharedSegment::shared(2).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        world.enter(Peer(1), child.id());
        let told = place(file.into_raw_fd(), 1, 2).join().unwrap_err().to_string();
        assert!(told.contains("ended without leaving the world"), "{told}");
        assert_eq!(world.failure(), Some(Failure { rank: Peer(1), how: How::Vanished }));
    }

    /// What has closed descriptors, as a wrapper in Python does, finds the launcher's.
    #[test]
    fn a_segment_is_found_in_the_launcher() {
        let (world, file) = SharedSegment::shared(3).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let here = LaunchEnv { launcher: Some(std::process::id() as i32), ..place(number, 1, 3) };
        let found = here.segment_of_launcher(number).unwrap();
        assert!(
            SharedSegment::attach(found.as_fd(), 3).is_ok()
                && world.state(Peer(1)) == State::Absent
        );
        let told = |place: LaunchEnv| place.segment_of_launcher(number).unwrap_err();
        assert_eq!(told(place(number, 1, 3)), "no MOTET_LAUNCHER");
        let gone = LaunchEnv { launcher: Some(i32::MAX), ..place(number, 1, 3) };
        assert!(told(gone).starts_with("/proc/2147483647/fd/"));
        let (end, _other) = std::io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&end);
        let pipe = LaunchEnv { launcher: Some(std::process::id() as i32), ..place(number, 1, 3) };
        assert!(pipe.segment_of_launcher(number).is_err());
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
