//! Automatic groups of the scheduler: Linux can share the cores between sessions instead of between
//! processes (`kernel.sched_autogroup_enabled`, `sched(7)`).
//!
//! Each session then has the weight of one process with the nice value of the session, and nice
//! values of processes count only within their session. The groups apply only to processes in the
//! root control group of the `cpu` controller.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::getpriority_process;

/// The root directory of control groups.
const ROOT: &str = "/sys/fs/cgroup";
/// The scheduler's description of the session of this process.
const OWN: &str = "/proc/self/autogroup";
/// Attempts to set a nice value: without special rights the system accepts one in 100 ms, of all
/// processes together.
const OFFERS: usize = 50;
const BETWEEN_OFFERS: Duration = Duration::from_millis(20);

/// Whether the scheduler divides the cores by session for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autogroup {
    /// It does.
    Counts,
    /// The kernel has no such groups.
    Missing,
    /// The groups are switched off.
    Off,
    /// This process is in a control group with a share of its own.
    InControlGroup,
    /// The control groups cannot be seen.
    Unknown,
}

impl Autogroup {
    /// Determines whether it does.
    pub fn find() -> Autogroup {
        let enabled = super::line("/proc/sys/kernel/sched_autogroup_enabled");
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        match enabled.as_deref() {
            None => Autogroup::Missing,
            Some("0") => Autogroup::Off,
            Some(_) => match control_group(&groups, Path::new(ROOT)).as_deref() {
                Some("") => Autogroup::Counts,
                Some(_) => Autogroup::InControlGroup,
                None => Autogroup::Unknown,
            },
        }
    }
}

/// The name of the scheduling group of this process: its control group, or the automatic group of
/// its session. Empty if it is unknown or there are no groups. A yield gives the core only to
/// threads of the same group.
pub(crate) fn scheduling_group() -> String {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    match Autogroup::find() {
        Autogroup::InControlGroup => control_group(&groups, Path::new(ROOT)).unwrap_or_default(),
        Autogroup::Counts => {
            let session = fs::read_to_string(OWN).unwrap_or_default();
            session.split_whitespace().next().unwrap_or_default().to_owned()
        }
        Autogroup::Missing | Autogroup::Off | Autogroup::Unknown => String::new(),
    }
}

impl fmt::Display for Autogroup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Autogroup::Counts => "sessions share the cores (sched_autogroup_enabled is 1)",
            Autogroup::Missing => "processes share the cores: this kernel has no automatic groups",
            Autogroup::Off => "processes share the cores: sched_autogroup_enabled is 0",
            Autogroup::InControlGroup => {
                "processes share the cores of their control group, which has a share of its own"
            }
            Autogroup::Unknown => "unknown: the control groups cannot be seen",
        })
    }
}

/// The control group of the `cpu` controller of a process with these lines of `/proc/PID/cgroup`.
/// Empty if that is the root; `None` if it cannot be seen.
fn control_group(lines: &str, root: &Path) -> Option<String> {
    let group_name = |is_root: bool, path: &str| Some(if is_root { "" } else { path }.to_owned());
    let fields = || lines.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let is_cpu = |kinds: &str| kinds.split(',').any(|kind| kind == "cpu");
    if let Some((kinds, path)) = fields().find(|(kinds, _)| is_cpu(kinds)) {
        // Version 1. In a container `/` may be its own group; the true root has this file.
        let folders = [root.join("cpu"), root.join(kinds)];
        let seen = folders.into_iter().find(|folder| folder.exists());
        return match (path, seen) {
            ("/", Some(folder)) => group_name(folder.join("release_agent").exists(), path),
            ("/", None) => None,
            _ => group_name(false, path),
        };
    }
    let unified = fields().find(|(kinds, _)| kinds.is_empty());
    let Some((_, path)) = unified else { return group_name(true, "") };
    // Version 2: the nearest group for which the controller is enabled. All but the true root have
    // a file that says their type.
    let has_controller = |folder: &Path| {
        let kinds = fs::read_to_string(folder.join("cgroup.controllers")).ok()?;
        Some(kinds.split_ascii_whitespace().any(|kind| kind == "cpu"))
    };
    let mount = Some(root.join("unified")).filter(|folder| folder.exists());
    let mount = mount.unwrap_or_else(|| root.to_owned());
    let own = mount.join(path.trim_start_matches('/'));
    for group in own.ancestors().take_while(|group| group.starts_with(&mount)) {
        match (has_controller(group), group.join("cgroup.type").exists()) {
            (None, _) => return None,
            (Some(_), false) => return group_name(true, ""),
            (Some(true), true) => {
                let inner = group.strip_prefix(&mount).unwrap_or(group);
                return group_name(false, &format!("/{}", inner.display()));
            }
            (Some(false), true) => {}
        }
    }
    None
}

/// The nice value for a new session of this process: that of the process, or, if it has none, that
/// of its present session. `None` where the kernel has no groups.
pub(crate) fn nice() -> Option<i32> {
    let session = fs::read_to_string(OWN).ok()?;
    let own = getpriority_process(None).unwrap_or(0);
    if own == 0 { session.trim().rsplit_once("nice ")?.1.parse().ok() } else { Some(own) }
}

/// Sets the nice value of the session of this process.
///
/// # Errors
/// The error of the system.
pub(crate) fn set_nice(nice: i32) -> io::Result<()> {
    for _ in 1..OFFERS {
        match fs::write(OWN, nice.to_string()) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(BETWEEN_OFFERS),
            done => return done,
        }
    }
    fs::write(OWN, nice.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::files;

    #[test]
    fn the_root_of_the_first_version_has_a_release_agent() {
        let root = tempfile::tempdir().unwrap();
        let found = |lines: &str| control_group(lines, root.path());
        let at = |group: &str| Some(group.to_owned());
        assert_eq!(found("4:cpu,cpuacct:/\n0::/\n"), None, "no groups are to be seen");
        files(root.path(), &[("cpu,cpuacct/cpu.shares", "1024")]);
        assert_eq!(found("4:cpu,cpuacct:/\n0::/\n"), at("/"), "the root of a container");
        files(root.path(), &[("cpu,cpuacct/release_agent", "")]);
        assert_eq!(found("4:cpu,cpuacct:/\n0::/user\n"), at(""));
        assert_eq!(found("4:cpu,cpuacct:/user\n0::/\n"), at("/user"));
        assert_eq!(found("4:cpuacct:/\n"), at(""), "no controller");
    }

    #[test]
    fn the_nearest_group_of_the_second_version_counts() {
        let root = tempfile::tempdir().unwrap();
        let found = |lines: &str| control_group(lines, root.path());
        let at = |group: &str| Some(group.to_owned());
        assert_eq!(found(""), at(""), "no groups are in use");
        assert_eq!(found("0::/\n"), None, "no groups are to be seen");
        files(
            root.path(),
            &[
                ("cgroup.controllers", "cpu memory\n"),
                ("user/cgroup.controllers", "memory\n"),
                ("user/cgroup.type", "domain\n"),
                ("user/one/cgroup.controllers", "\n"),
                ("user/one/cgroup.type", "domain\n"),
            ],
        );
        assert_eq!(found("0::/\n"), at(""));
        assert_eq!(found("0::/user/one\n"), at(""), "no group has the controller");
        files(root.path(), &[("user/cgroup.controllers", "cpu memory\n")]);
        assert_eq!(found("0::/user\n"), at("/user"));
        assert_eq!(found("0::/user/one\n"), at("/user"), "its parent has it");
        assert_eq!(found("0::/other\n"), None, "a group that is not to be seen");
        files(root.path(), &[("cgroup.type", "domain\n")]);
        assert_eq!(found("0::/\n"), at("/"), "the root of a container");
        files(root.path(), &[("cgroup.controllers", "memory\n")]);
        assert_eq!(found("0::/\n"), None, "what lies above cannot be seen");
    }
}
