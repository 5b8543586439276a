//! Finds and ends processes that the ranks have started and left behind.
//!
//! A rank may be a script that starts other programs, some of which move to process groups of their
//! own (`timeout` does). While a job runs, the launcher is the parent of every descendant whose own
//! parent has ended, so at the end it finds all of them below itself.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, child_subreaper, getpid,
    kill_process, pidfd_open, set_child_subreaper, wait, waitid,
};

/// Rounds of the search: a process that forks faster than the rounds find its children may escape.
const REAP_ROUNDS_MAX: usize = 50;
/// How long a killed process may take to end, in one round.
const TO_DIE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// How long to wait for a killed process whose end the system does not report.
const MOMENT: Duration = Duration::from_millis(1);

/// Makes this process the parent of all orphans below it, until dropped.
pub(super) struct Orphans {
    former: Option<Pid>,
    /// Children from before the job, which do not belong to it.
    spared: HashSet<i32>,
}

impl Orphans {
    pub(super) fn adopt() -> Orphans {
        let former = child_subreaper().ok().flatten();
        // Without it, orphans get another ancestor, and only those in the group are ended.
        let _ = set_child_subreaper(Some(getpid()));
        let all = if has_children() { processes() } else { Vec::new() };
        let children = all.iter().filter(|process| process.parent == own_number());
        let spared = children.map(|process| process.number).collect();
        Orphans { former, spared }
    }

    /// Kills every descendant.
    pub(super) fn end(&self) {
        for _ in 0..REAP_ROUNDS_MAX {
            reap();
            let left = if has_children() { self.find() } else { Vec::new() };
            if left.is_empty() {
                return;
            }
            let ends: Vec<Option<OwnedFd>> = left.into_iter().map(kill).collect();
            for end in ends.iter().flatten() {
                // Whatever the result, the next round checks again.
                let _ = poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&TO_DIE));
            }
            if ends.iter().any(Option::is_none) {
                thread::sleep(MOMENT);
            }
        }
    }

    fn find(&self) -> Vec<i32> {
        descendants(own_number(), &processes(), &self.spared)
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        let _ = set_child_subreaper(self.former);
    }
}

/// A process and its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    number: i32,
    parent: i32,
}

fn own_number() -> i32 {
    getpid().as_raw_nonzero().get()
}

/// Whether this process has any child, a dead one included. All descendants have an ancestor among
/// its children, so without a child there is nothing to search.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

/// Takes the statuses of all children that have ended.
fn reap() {
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_)) | Err(Errno::INTR)) {}
}

/// Kills a process. Returns a descriptor that becomes readable when it has ended, if the system
/// supports that.
fn kill(number: i32) -> Option<OwnedFd> {
    let process = Pid::from_raw(number)?;
    let end = pidfd_open(process, PidfdFlags::empty()).ok();
    // The process may have ended by itself.
    let _ = kill_process(process, Signal::KILL);
    end
}

/// All processes that are visible in `/proc`.
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(process).collect()
}

fn process(number: i32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{number}/stat")).ok()?;
    parent_of(&stat).map(|parent| Process { number, parent })
}

/// The parent in a line of the form `77 (name) S 1 ...`, where the name may contain any bytes.
fn parent_of(stat: &[u8]) -> Option<i32> {
    let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// All processes below `root`, except those in `spared` and the processes below them.
fn descendants(root: i32, all: &[Process], spared: &HashSet<i32>) -> Vec<i32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = all.iter().filter(|process| process.parent == parent);
        let children = children.map(|process| process.number);
        found.extend(children.filter(|number| !spared.contains(number)));
        next += 1;
    }
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_anything() {
        assert_eq!(parent_of(b"77 (a) b) S 12 3 4\n"), Some(12));
        assert_eq!(parent_of(b"77 (\xff) R 1 77"), Some(1));
        assert_eq!(parent_of(b"77 (a"), None);
        assert_eq!(parent_of(b""), None);
    }

    #[test]
    fn strangers_and_their_children_are_spared() {
        let pairs = [(5, 1), (6, 5), (7, 6), (8, 5), (9, 8), (10, 9), (11, 1), (12, 7)];
        let all = pairs.map(|(number, parent)| Process { number, parent });
        let mut found = descendants(5, &all, &HashSet::from([8]));
        found.sort_unstable();
        assert_eq!(found, [6, 7, 12]);
    }

    #[test]
    fn this_process_is_found() {
        let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        let own = Process { number: own_number(), parent };
        assert!(processes().contains(&own));
    }
}
