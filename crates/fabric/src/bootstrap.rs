//! How a rank learns who it is.
//!
//! Ranks that are processes are told by three variables of their environment, of which one names
//! an inherited descriptor. What was inherited is taken over here, so that programs which a rank
//! starts do not take themselves for that rank.

#![allow(unsafe_code)] // one of the files that ARCHITECTURE.md names

use std::ffi::OsString;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{SealFlags, fcntl_get_seals};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::segment::State;
use crate::{Error, Peer, Result, Segment};

/// The variable that says which rank a process is.
pub const RANK: &str = "MOTET_RANK";
/// The variable that says how many ranks there are.
pub const RANKS: &str = "MOTET_RANKS";
/// The variable that names the descriptor of the segment.
pub const SEGMENT: &str = "MOTET_SEGMENT";
/// The variable that names the process which has started the ranks.
pub const LAUNCHER: &str = "MOTET_LAUNCHER";

/// Whether this process has taken the place that its environment names. The environment belongs
/// to the process, so this does too.
static JOINED: AtomicBool = AtomicBool::new(false);

/// A place in a world.
#[derive(Debug)]
pub struct Seat {
    /// The memory that the ranks share.
    pub segment: Arc<Segment>,
    /// Which of them this is.
    pub rank: Peer,
}

/// A world of one.
///
/// # Errors
/// [`Error::System`] when memory is refused.
pub fn alone() -> Result<Seat> {
    let segment = Arc::new(Segment::private(1)?);
    Ok(take(&segment, 0))
}

/// All seats of a world whose ranks are threads of this process.
///
/// # Errors
/// [`Error::Ranks`] for an impossible number, [`Error::System`] when memory is refused.
pub fn threads(ranks: usize) -> Result<Vec<Seat>> {
    let segment = Arc::new(Segment::private(ranks)?);
    Ok((0..ranks).map(|rank| take(&segment, rank)).collect())
}

fn take(segment: &Arc<Segment>, rank: usize) -> Seat {
    let rank = Peer(rank as u32);
    segment.enter(rank, std::process::id());
    Seat { segment: Arc::clone(segment), rank }
}

/// The seat that a launcher has prepared for this process; nothing if there was no launcher.
///
/// # Errors
/// [`Error::Environment`] if a launcher has been at work but this process cannot be one of its
/// ranks: it already is, another process is, or the launcher was that of another library. A
/// program that several processes run, each for itself by mistake, is never what was meant.
pub fn from_environment() -> Result<Option<Seat>> {
    let variable = |name: &str| std::env::var_os(name);
    let Some(place) = Place::find(variable)? else {
        return match foreign_launcher(variable) {
            Some(text) => Err(Error::Environment(text)),
            None => Ok(None),
        };
    };
    if JOINED.swap(true, Ordering::AcqRel) {
        return Err(Error::Environment("this process has already joined its world".into()));
    }
    let seat = place.join();
    if seat.is_err() {
        JOINED.store(false, Ordering::Release);
    }
    seat.map(Some)
}

/// What the environment says.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    rank: usize,
    ranks: usize,
    segment: RawFd,
    launcher: Option<i32>,
}

impl Place {
    fn find(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Place>> {
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

    fn join(&self) -> Result<Seat> {
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

/// A variable that must hold a number.
fn number<T: FromStr>(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Result<T> {
    let Some(text) = variable(name) else {
        let text = format!("{name} is not set, although others of {RANK}, {RANKS}, {SEGMENT} are");
        return Err(Error::Environment(text));
    };
    let text = text.to_string_lossy();
    text.parse().map_err(|_| Error::Environment(format!("{name} is {text:?}, which is no number")))
}

/// Launchers of other libraries: their name, and the variables that give the number of ranks, of
/// which the first that is set counts. The variable of the rank must be set as well.
const FOREIGN: [(&str, &str, &[&str]); 3] = [
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"]),
    ("a PMI launcher such as mpiexec", "PMI_RANK", &["PMI_SIZE"]),
    ("Slurm's srun", "SLURM_PROCID", &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"]),
];

/// Says which other launcher has started this process as one of several, if one has.
///
/// Running on as a world of one would give as many of them as there are processes, each with the
/// whole work and the same output files.
fn foreign_launcher(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let text = |name: &str| variable(name).map(|text| text.to_string_lossy().into_owned());
    let mut is_single = false;
    for (launcher, rank, sizes) in FOREIGN {
        let size = sizes.iter().find_map(|name| Some((*name, text(name)?)));
        let Some((name, size)) = size.filter(|_| text(rank).is_some()) else { continue };
        if size.trim() != "1" {
            return Some(refusal(launcher, &format!("{name}={size}"), &size));
        }
        is_single = true;
    }
    // PMIx tells the rank only; the number would have to be asked from its server.
    let rank = text("PMIX_RANK").filter(|_| !is_single)?;
    Some(refusal("a PMIx launcher", &format!("PMIX_RANK={rank}"), "N"))
}

fn refusal(launcher: &str, evidence: &str, ranks: &str) -> String {
    format!(
        "by {launcher} ({evidence}), whose ranks Motet cannot connect: start the program with \
         `motet run -n {ranks}` instead"
    )
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
        assert_eq!(foreign_launcher(holding(&[("PATH", "/bin")])), None);
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

    fn refused(pairs: &[(&str, &str)]) -> String {
        foreign_launcher(holding(pairs)).unwrap_or_default()
    }

    #[test]
    fn other_launchers_are_refused_by_name() {
        let text = refused(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]);
        assert!(text.contains("Slurm's srun (SLURM_NTASKS=4)"), "{text}");
        let text = refused(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]);
        assert!(text.contains("mpiexec (PMI_SIZE=2)"), "{text}");
        let text = refused(&[("PMIX_RANK", "0")]);
        assert!(text.contains("a PMIx launcher (PMIX_RANK=0)"), "{text}");
        let text = refused(&[("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "8")]);
        assert!(text.contains("`motet run -n 8`"), "{text}");
    }

    #[test]
    fn a_single_process_of_another_launcher_may_be_alone() {
        assert_eq!(refused(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]), "");
        let step = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "1")];
        assert_eq!(refused(&step), "");
        let step = [("PMIX_RANK", "0"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")];
        assert_eq!(refused(&step), "");
        // Within an allocation, but not started by srun.
        assert_eq!(refused(&[("SLURM_NTASKS", "4")]), "");
    }

    #[test]
    fn threads_sit_in_one_world() {
        let seats = threads(3).unwrap();
        assert!(seats.iter().all(|seat| Arc::ptr_eq(&seat.segment, &seats[0].segment)));
        let ranks: Vec<_> = seats.iter().map(|seat| seat.rank.0).collect();
        assert_eq!(ranks, [0, 1, 2]);
        assert!(ranks.iter().all(|&rank| seats[0].segment.state(Peer(rank)) == State::Present));
        assert_eq!(alone().unwrap().segment.ranks(), 1);
        assert!(matches!(threads(0), Err(Error::Ranks { asked: 0, .. })));
    }
}
